"""What the command line is made of: finding a command, reading its options, and saying in one line what went wrong.

`train.cli` has the list of all commands and says how to add one. Nothing here imports a command before it is to run, so
that `chicago --help` is quick.
"""

import contextlib
import importlib
import importlib.util
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from chicago_env.errors import ChicagoError, MissingExtra, UsageError
from chicago_env.rules import suggestion

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; done, and the answer is no (a check failed); could not be done; stopped with Ctrl-C."""

EXTRAS = {
    **dict.fromkeys(("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors"), "train"),
    **dict.fromkeys(("scipy", "choix", "matplotlib", "jinja2"), "eval"),
    **dict.fromkeys(("onnx", "onnxscript", "onnxruntime"), "onnx"),
}
"""The extra of `chicago-env` that installs each optional package."""

_FRAME = "\u2500\u2502\u256d\u256e\u256f\u2570 +|-"
"""What tyro draws frames with, on terminals with and without box characters."""


_NO_MEMORY = re.compile("can't allocate memory|out of memory", re.IGNORECASE)
"""What torch says, in a `RuntimeError`."""


class Command(NamedTuple):
    """A command of the command line.

    Attributes:
        name: one or two words, e.g. `bench` or `records verify`.
        module: the module that has `Config`, a frozen dataclass with a help text for each field, and
            `run(config) -> int`, which returns an exit code.
        help: one line for the list of commands.
    """

    name: str
    module: str
    help: str


def main(commands: Sequence[Command], argv: Sequence[str], *, version: str | None = None) -> int:
    """Runs the command that the first words of `argv` name.

    Args:
        commands: every command there is; one whose module is not installed is not offered.
        argv: words after the name of the program.
        version: what `--version` says.

    Returns:
        An exit code. What goes wrong is told in one line on standard error.
    """
    for name in ("stdout", "stderr"):  # None where the caller has closed them
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for the rest of the process
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # a stream put in its place need not know how
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without suit symbols is no error
    offered = [command for command in commands if _exists(command.module)]
    return told(lambda: _dispatch(offered, list(argv), version))


def told(command: Callable[[], int]) -> int:
    """Runs a command, and tells what goes wrong in one line on standard error.

    Args:
        command: gives its exit code.

    Returns:
        That exit code, or the one of what went wrong.
    """
    try:
        code = command()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone: nothing is left to say, not even when Python flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in EXTRAS:
            raise
        return _say(f"error: {MissingExtra(package, EXTRAS[package])}", BAD_INPUT)
    except (ChicagoError, OSError) as error:
        return _say(f"error: {error}", BAD_INPUT)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not _NO_MEMORY.search(str(error)):
            raise
        return _say(f"error: not enough memory{f': {error}' if str(error) else ''}", BAD_INPUT)


def print_json(data: object) -> None:
    """Writes `data` to standard output as one line of strict JSON."""
    print(json.dumps(data, ensure_ascii=False, allow_nan=False))


def _say(message: str, code: int) -> int:
    print(f"chicago: {' '.join(message.split())}", file=sys.stderr)
    return code


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _dispatch(commands: list[Command], argv: list[str], version: str | None) -> int:
    if argv == ["--version"] and version is not None:
        print(f"chicago-env {version}")
        return OK
    for command in commands:
        words = command.name.split()
        if argv[: len(words)] == words:
            module = importlib.import_module(command.module)
            return int(module.run(_read_options(module, command.name, argv[len(words) :])))
    group = argv[:1] if argv and any(c.name.startswith(f"{argv[0]} ") for c in commands) else []
    offered = [c for c in commands if c.name.split()[: len(group)] == group]
    rest = argv[len(group) :]
    if not rest or rest[0] in {"-h", "--help"}:
        _list(offered, group)
        return OK if rest or not group else BAD_INPUT
    names = dict.fromkeys(command.name.split()[len(group)] for command in offered)
    raise UsageError(f"no command {' '.join([*group, rest[0]])!r}{suggestion(rest[0], names)}")


def _list(commands: list[Command], group: list[str]) -> None:
    from rich.console import Console  # noqa: PLC0415 - not needed to run a command
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table.grid(padding=(0, 3))
    for command in commands:
        table.add_row(Text(f"  {command.name}", style="bold"), Text(command.help))
    console = Console(highlight=False)
    console.print(Text(f"usage: {' '.join(['chicago', *group])} COMMAND [OPTIONS]\n"))
    console.print(table)
    console.print(Text("\n`chicago COMMAND --help` lists the options of a command."))


def _first_paragraph(frame: str) -> str:
    """The text of a frame of tyro's down to its first rule, in one line."""
    words: list[str] = []
    for line in frame.splitlines()[1:]:  # the first line is the upper edge with the title
        if line.strip(_FRAME):
            words += line.strip("\u2502|").split()
        elif words:
            break
    return " ".join(words).replace(" ,", ",") or "impossible options"


@contextlib.contextmanager
def _one_line_of_error(prog: str) -> Iterator[None]:
    """Turns the framed text with which tyro refuses options into a `UsageError` of one line."""
    caught = io.StringIO()
    try:
        with contextlib.redirect_stderr(caught):
            yield
    except SystemExit as stop:
        if stop.code in {0, None}:
            raise
        raise UsageError(f"{_first_paragraph(caught.getvalue())}; see {prog} --help") from None
    sys.stderr.write(caught.getvalue())


def _read_options(module: ModuleType, name: str, args: list[str]) -> Any:
    import tyro  # noqa: PLC0415 - not needed for the list of commands

    prog = f"chicago {name}"
    with _one_line_of_error(prog):
        return tyro.cli(module.Config, prog=prog, args=args, config=(tyro.conf.FlagCreatePairsOff,))
