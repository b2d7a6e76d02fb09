"""Writing files so that nothing is lost, and reading those of strangers within bounds."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO


def check_writable(path: str | os.PathLike[str]) -> None:
    """Finds out whether `replacing` can write a file, which stays as it is.

    Raises:
        OSError: as there.
    """
    with suppress(_Tried), replacing(path):
        raise _Tried


class _Tried(Exception):
    """A file could be written."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends, and is gone if it ends with an exception.

    It is written beside `path`, brought to the disk and then renamed, so that a kill at any moment leaves a whole file.

    Raises:
        OSError: the folder is not there or cannot be written, or the disk is full; the error names `path`.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with naming(path), os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes files that only their owner may read
        os.replace(name, path)
        _sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Adds `path` to an error of the system that names no file, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise


def _sync_folder(folder: Path) -> None:
    """Brings the renaming to the disk too, where the system lets folders be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_json(path: str | os.PathLike[str], most: int) -> Any:
    """What a JSON file of at most `most` bytes holds, numbers that are not finite left out.

    Raises:
        OSError: it cannot be read.
        ValueError: it is larger, no JSON in UTF-8, or made to take memory (`crowded`).
    """
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"larger than {most:,} bytes")
    if crowded(data):
        raise ValueError("nothing but lists and objects")
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def crowded(data: bytes) -> bool:
    """Whether JSON consists of lists and objects to such a share as only a file made to take memory has.

    An empty list is 3 bytes of a file and 64 of memory. What this project writes has a bracket in every 7 bytes at most.
    """
    return data.count(b"[") + data.count(b"{") > _FEW + len(data) // 5


_FEW = 1000
