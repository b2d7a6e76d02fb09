"""Where the standard error of bots is kept: a file for each bot, in a folder whose number and size of files is bounded."""

import contextlib
import itertools
import os
import tempfile
from pathlib import Path

from agents.bots.process import printable

KEPT = 20
"""Logs of programs that have ended that are kept, the newest ones; empty ones are not."""

KEPT_BYTES = 16 << 20
"""Bytes of them all."""

FULL = 2 << 20
"""Bytes of a log after which the next run of its bot begins it anew."""

_TAIL = 8192
_PREFIX = "chicago-bots-"
_numbers = itertools.count()


def log_file(program: str, path: str | None = None) -> Path:
    """Where the standard error of a bot goes: the file asked for, or a new one in the folder for logs, which is tidied."""
    if path is not None:
        return Path(path).absolute()
    folder = Path(tempfile.gettempdir()) / f"{_PREFIX}{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid():  # also where it is a link of somebody else
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    clear(folder)
    return folder / f"{Path(program).name}-{os.getpid()}-{next(_numbers)}.log"


def clear(folder: Path) -> None:
    """Removes logs of programs that have ended: empty ones, and the oldest beyond `KEPT` and `KEPT_BYTES`."""
    ended = []
    for path in folder.glob("*-*-*.log"):
        owner = path.stem.split("-")[-2]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            with contextlib.suppress(OSError):
                found = path.stat()
                ended.append((found.st_mtime, found.st_size, path))
    total = count = 0
    for _, size, path in sorted(ended, reverse=True):
        if size and count < KEPT and total + size <= KEPT_BYTES:
            count, total = count + 1, total + size
        else:
            path.unlink(missing_ok=True)


def begin(log: Path) -> None:
    """Before a run of a bot: a log in the folder for logs that is full is emptied. One that was asked for is not."""
    if log.parent.name.startswith(_PREFIX) and written(log) > FULL:
        with contextlib.suppress(OSError):
            os.truncate(log, 0)


def written(log: Path) -> int:
    """Bytes in a log."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def last_lines(log: Path, start: int, most: int = 3) -> list[str]:
    """The last lines in a log that are not blank, none of before byte `start`; printable and cut."""
    try:
        with log.open("rb") as file:
            file.seek(max(start, written(log) - _TAIL))
            lines = file.read(_TAIL).splitlines()
    except OSError:
        return []
    return [printable(line.strip()) for line in lines if line.strip()][-most:]


def tidy(log: Path) -> None:
    """Removes a log without a word in it."""
    with contextlib.suppress(OSError):
        if log.is_file() and not log.stat().st_size:
            log.unlink()
