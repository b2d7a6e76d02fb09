"""What a bot is allowed: clocks, sizes and numbers, and how a spec writes them."""

import dataclasses
import math
import shlex
from collections.abc import Callable
from typing import Any

PREFIX = "exec"


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a bot (docs/bot-protocol.md).

    Attributes:
        move: seconds for each answer that cost nothing.
        bank: seconds for each match out of which longer answers are paid.
        start: seconds from the start of the program to its hello.
        cpu: seconds of processor time of each process of the bot.
        memory: MiB, of each process and of all together.
        processes: processes at a time.
        files: open files of each process.
        disk: MiB, size of a file it writes.
    """

    move: float = 1.0
    bank: float = 10.0
    start: float = 20.0
    cpu: int = 3600
    memory: int = 1024
    processes: int = 32
    files: int = 256
    disk: int = 64


_RANGES: dict[str, tuple[float, float]] = {
    "move": (0.001, 86400),
    "bank": (0, 86400),
    "start": (0.01, 3600),
    "cpu": (1, 1 << 30),
    "memory": (16, 1 << 24),
    "processes": (1, 100_000),
    "files": (8, 1 << 20),
    "disk": (0, 1 << 24),
}


def _reader(field: str, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    low, high = _RANGES[field]

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(f"a {'whole number' if kind is int else 'number'} is needed") from None
        if not math.isfinite(value) or not low <= value <= high:
            raise ValueError(f"{low:g} to {high:g} is allowed")
        return value

    return read


READERS: dict[str, Callable[[str], Any]] = {
    **{f.name: _reader(f.name, type(f.default)) for f in dataclasses.fields(Limits)},
    "log": str,
}
"""Reads the text of each option of a spec; raises ValueError."""


def split_spec(spec: str) -> tuple[str | None, str]:
    """The options and the command of `exec:COMMAND` or `exec?OPTIONS:COMMAND`: the first colon ends the options."""
    head, _, command = spec.partition(":")
    _, mark, options = head.partition("?")
    return options if mark else None, command


def split_command(command: str) -> list[str]:
    """The words of a command, by the quoting rules of the shell; nothing else of a shell is understood.

    Raises:
        ValueError: a quotation that does not end, or no words.
    """
    words = shlex.split(command)
    if not words or not words[0]:
        raise ValueError("no command is given")
    if any("\0" in word for word in words):
        raise ValueError("a word of the command has a null character")
    return words
