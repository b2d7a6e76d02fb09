"""A bot's process: started below a supervisor, spoken to line by line, and ended with all that it started."""

import contextlib
import dataclasses
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.base import Status
from agents.bots.limits import Limits

SUPERVISOR = Path(__file__).with_name("supervisor.py")

MAX_LINE = 1024
"""Bytes of a line from a bot, its end not counted."""

MAX_SHOWN = 200
"""Characters of an offending line that are kept."""

_CHUNK = 65536
_GRACE_SECONDS = 1.0
_DEATH_SECONDS = 15.0


class BotFailure(Exception):
    """What a bot did wrong.

    Attributes:
        status: `ERROR`, `INVALID` or `TIMEOUT`.
        reason: what it is, in words.
        line: the line at fault, printable and cut; empty where there is none.
        turn: number of the `act` that was to be answered, where there was one.
        stderr: the last lines that this run of the bot wrote to standard error, printable and cut.
    """

    turn: int | None = None
    stderr: Sequence[str] = ()

    def __init__(self, status: Status, reason: str, line: bytes = b"") -> None:
        super().__init__(status, reason, line)
        self.status: Status = status
        self.reason = reason
        self.line = printable(line)


def printable(line: bytes) -> str:
    """At most `MAX_SHOWN` characters for people: what is not printable ASCII is escaped, so no terminal is steered by it."""
    text = line[: MAX_SHOWN + 1].decode("latin-1")
    shown = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in text)
    return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."


def resolve_command(words: Sequence[str]) -> list[str]:
    """The command with its program found and paths made absolute, for it runs in a folder of its own.

    A word that names a file or folder that exists, seen from here, becomes its absolute path.

    Raises:
        FileNotFoundError: no such program, or one that cannot be run; the message says why.
    """
    program = shutil.which(words[0])
    if program is None:
        raise FileNotFoundError(_no_program(words[0]))
    interpreter = _interpreter(program)
    if interpreter and not os.path.exists(interpreter):
        more = "; the line ends with a carriage return, as under Windows" if interpreter.endswith("\r") else ""
        raise FileNotFoundError(f"{words[0]!r}: its first line names {interpreter!r}, which is not there{more}")
    rest = [os.path.abspath(w) if w and not w.startswith("-") and os.path.exists(w) else w for w in words[1:]]
    return [os.path.abspath(program), *rest]


def _no_program(word: str) -> str:
    path = Path(word)
    if path.is_dir():
        return f"no program {word!r}: it is a folder"
    if os.sep in word:
        return f"{word!r} is not executable (chmod +x)" if path.is_file() else f"no program {word!r}"
    if path.is_file():
        more = "" if os.access(path, os.X_OK) else ", which is not executable yet (chmod +x)"
        return f"no program {word!r} in PATH; the one in this folder is written ./{word}{more}"
    return f"no program {word!r} in PATH"


def _interpreter(program: str) -> str:
    """What the first line of a script names to run it; empty for other programs."""
    try:
        with open(program, "rb") as file:
            line = file.readline(256)
    except OSError:  # may be run and not read
        return ""
    if not line.startswith(b"#!"):
        return ""
    # blanks and tabs alone part words: for the system a carriage return belongs to the name
    return os.fsdecode(re.split(rb"[ \t]", line[2:].strip(b" \t\n"))[0])


@dataclasses.dataclass
class _Pipes:
    """File descriptors of this side."""

    to_bot: int
    from_bot: int
    control: int
    status: int

    def close(self) -> None:
        for fd in (self.control, self.to_bot, self.from_bot, self.status):
            os.close(fd)


class BotProcess:
    """One run of a bot. Every method but `kill` raises `BotFailure` for what the bot does wrong."""

    def __init__(self, argv: Sequence[str], limits: Limits, log: Path) -> None:
        """Starts it.

        Args:
            argv: program and arguments as `resolve_command` gives them.
            limits: what it may use.
            log: file for its standard error.

        Raises:
            OSError: no process could be started.
        """
        self._owner = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="chicago-bot-")
        self._out = bytearray()
        self._in = bytearray()
        self._lines: deque[tuple[bytes, float]] = deque()
        self._flood = False
        self._ended = False
        self.killed = False
        to_child, self_write = os.pipe()
        self_read, from_child = os.pipe()
        control_read, control = os.pipe()
        status, status_write = os.pipe()
        self._pipes = _Pipes(self_write, self_read, control, status)
        config = {
            "argv": list(argv),
            "folder": self._folder,
            "env": {
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": self._folder,
                "TMPDIR": self._folder,
                "LANG": "C.UTF-8",
            },
            "limits": dataclasses.asdict(limits),
            "log": str(log),
            "control": control_read,
            "status": status_write,
        }
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), json.dumps(config)],
                stdin=to_child,
                stdout=from_child,
                stderr=subprocess.DEVNULL,
                pass_fds=(control_read, status_write),
                start_new_session=True,
                env={},
            )
        except OSError:
            self._pipes.close()
            os.rmdir(self._folder)
            raise
        finally:
            for fd in (to_child, from_child, control_read, status_write):
                os.close(fd)
        for fd in (self_write, self_read):
            os.set_blocking(fd, False)

    # --- lines -------------------------------------------------------------------------------------------------------

    def send(self, line: bytes, *, later: bool = False) -> None:
        """Queues a line, its end included; unless `later` is set, writes and reads what goes without waiting."""
        self._out += line
        if not later:
            self._pump(0)

    def close_input(self) -> None:
        """Ends the bot's standard input, after what is queued."""
        self._pump(0)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._pipes.to_bot, inheritable=False)
        os.close(null)

    def unasked(self) -> bytes | None:
        """What the bot has written that nobody has taken: a line, or a part of one."""
        self._pump(0)
        if self._lines:
            return self._lines[0][0]
        return bytes(self._in) or None

    def read_line(self, deadline: float, what: str = "answer in time") -> tuple[bytes, float]:
        """The next line without its end, and when it came (as `time.monotonic` counts).

        Args:
            deadline: until when.
            what: what is waited for, and how long, in words.

        Raises:
            BotFailure: no line until `deadline`, the bot ended, or the line is too long.
        """
        while not self._lines:
            if self._flood:
                reason = f"a line of more than {MAX_LINE} bytes"
                raise BotFailure("INVALID", reason, bytes(self._in[: MAX_SHOWN + 1]))
            if self._ended:
                raise BotFailure("ERROR", self._why_ended(), bytes(self._in))
            left = deadline - time.monotonic()
            # What came while nobody looked is there without waiting, and its own time decides whether it is late.
            if not self._pump(max(0.0, min(left, 60.0))) and left <= 0:
                raise BotFailure("TIMEOUT", f"no {what}: {self._why_silent()}", bytes(self._in))
        return self._lines.popleft()

    def _pump(self, seconds: float) -> bool:
        """Writes and reads what can be, after waiting for that for at most `seconds`; whether anything was read."""
        read = False
        pipes = self._pipes
        poll = select.poll()
        # Nothing more is read than the lines awaited could need: who floods fills its own pipe.
        wants = not self._ended and not self._flood and len(self._lines) <= _CHUNK // MAX_LINE
        if wants:
            poll.register(pipes.from_bot, select.POLLIN)
        if self._out:
            poll.register(pipes.to_bot, select.POLLOUT)
        elif not wants:
            return False
        for fd, _ in poll.poll(seconds * 1000):
            if fd == pipes.to_bot:
                self._write()
            else:
                read = True
                self._read()
        return read

    def _write(self) -> None:
        try:
            written = os.write(self._pipes.to_bot, memoryview(self._out)[:_CHUNK])
        except BlockingIOError:
            return
        except OSError:  # nobody reads any more: what it still wrote counts, and then its end
            self._out.clear()
            return
        del self._out[:written]

    def _read(self) -> None:
        try:
            data = os.read(self._pipes.from_bot, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._ended = True
            return
        now = time.monotonic()
        *lines, rest = (bytes(self._in) + data).split(b"\n")
        for line in lines:
            if len(line) > MAX_LINE:
                self._in = bytearray(line)
                self._flood = True
                return
            self._lines.append((line, now))
        self._in = bytearray(rest)
        self._flood = len(rest) > MAX_LINE

    # --- the end -----------------------------------------------------------------------------------------------------

    def _report(self, seconds: float) -> dict[str, Any]:
        """What the supervisor says at its end; empty if it says nothing."""
        data = b""
        until = time.monotonic() + seconds
        while not data.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._pipes.status], [], [], left)[0]:
                break
            part = os.read(self._pipes.status, 4096)
            if not part:
                break
            data += part
        try:
            report = json.loads(data)
        except ValueError:
            return {}
        return report if isinstance(report, dict) else {}

    def _why_silent(self) -> str:
        if self._in:
            count = len(self._in)
            return f"{count} byte{'' if count == 1 else 's'} came, but no line feed, which ends a line"
        return "nothing came; output must be flushed after every line"

    def _why_ended(self) -> str:
        report = self._report(_GRACE_SECONDS)
        if "exec" in report:
            return f"the program cannot be run: {os.strerror(int(report['exec']))}"
        if "limit" in report:
            return str(report["limit"])
        if "signal" in report:
            number = int(report["signal"])
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(number).name}"
            return f"ended by signal {number}"
        if "exit" in report:
            return f"ended with exit code {report['exit']}"
        return "closed its standard output"

    def quit(self, line: bytes) -> None:
        """Says a last line and gives the bot a moment to end by itself; then it is killed."""
        if self.foreign or self.killed:
            return
        self.send(line)
        until = time.monotonic() + _GRACE_SECONDS
        while not self._has_ended() and time.monotonic() < until:
            self._lines.clear()
            self._in.clear()
            self._flood = False
            self._pump(0.05)
        self.kill()

    def _has_ended(self) -> bool:
        return self._ended

    @property
    def foreign(self) -> bool:
        """It belongs to another process, of which this one is a fork."""
        return os.getpid() != self._owner

    def kill(self) -> None:
        """Ends the bot and all that it started; returns when they have ended. May be called again."""
        if self.killed or self.foreign:
            return
        self.killed = True
        os.close(self._pipes.control)
        try:
            code = self._supervisor.wait(_DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            code = self._supervisor.wait()
        for fd in (self._pipes.to_bot, self._pipes.from_bot, self._pipes.status):
            os.close(fd)
        if code:  # it did not come to clearing up: somebody killed it
            sweep(self._folder)
            shutil.rmtree(self._folder, ignore_errors=True)


def sweep(folder: str) -> None:
    """Kills every process that has `folder` as home, or works in it: what a bot leaves that killed its supervisor."""
    mark = f"HOME={folder}".encode()
    until = time.monotonic() + _DEATH_SECONDS
    while time.monotonic() < until:
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                at = os.readlink(f"/proc/{name}/cwd")
                environ = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
                if mark in environ or at.startswith(folder):
                    found.append(int(name))
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
