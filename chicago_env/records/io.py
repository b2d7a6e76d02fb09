"""Files of match records: one record a line (JSON Lines), `.jsonl` or `.jsonl.gz` (docs/record-format.md)."""

import codecs
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, NoReturn, Self

from chicago_env.errors import RecordError
from chicago_env.files import crowded, naming, replacing

MAX_LINE = 16 << 20
"""Limit of the bytes of one record."""

_SUFFIXES = (".jsonl", ".jsonl.gz")
_GZIP_LEVEL = 6
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 16
_BLANK = " \t\r\n"

Path_ = str | os.PathLike[str]


class RecordLine(NamedTuple):
    """A record as it stands in a file.

    Attributes:
        line: number of the line, from 1.
        record: what the line says; whether it is a match is for `verify_record` to tell.
    """

    line: int
    record: dict[str, Any]


def _is_gzip(path: Path) -> bool:
    """Whether the name says so.

    Raises:
        RecordError: the name ends in neither `.jsonl` nor `.jsonl.gz`.
    """
    if not path.name.endswith(_SUFFIXES):
        raise RecordError(f"a file of records is named *{' or *'.join(_SUFFIXES)}", file=str(path))
    return path.name.endswith(".gz")


def _line_of(record: Mapping[str, Any]) -> bytes:
    if not isinstance(record, Mapping):
        raise RecordError("a record is a JSON object")
    try:
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"not to be written as JSON: {error}") from None
    if len(line) > MAX_LINE:
        raise RecordError(f"longer than {MAX_LINE:,} bytes")
    try:
        _parse(line, "", 0)
    except RecordError as error:  # fractions, two names that are written alike
        raise RecordError(f"not to be read again: {error.reason}") from None
    return line


def write_records(path: Path_, records: Iterable[Mapping[str, Any]]) -> int:
    """Writes a file of records as a whole: it is there complete, or what was there before is left as it was.

    Args:
        path: `*.jsonl` or `*.jsonl.gz`; a file of that name is replaced.
        records: the records.

    Returns:
        How many records were written.

    Raises:
        RecordError: another kind of name, or a record that is no JSON object as reading takes it.
        OSError: the file cannot be written.
    """
    packed = _is_gzip(Path(path))
    count = 0
    with (
        replacing(path) as raw,
        gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) if packed else nullcontext(raw) as file,
    ):
        for record in records:
            file.write(_line_of(record))
            count += 1
    return count


class RecordWriter:
    """Appends records to a file, each a whole line that is there once `write` returns.

    A last record that was broken off, by a kill or a full disk, is cut off when the file is opened again; the records
    before it are kept. A file that ends in anything else is refused and left as it is. Packed files get one gzip member
    for each record, which every reader joins by itself.
    """

    def __init__(self, path: Path_, *, sync: bool = False) -> None:
        """Opens, or makes, the file.

        Args:
            path: `*.jsonl` or `*.jsonl.gz`.
            sync: wait for the disk after every record, not only at the end.

        Raises:
            RecordError: another kind of name, or a file that does not end as one of records does.
            OSError: the file cannot be written.
        """
        self.path = Path(path)
        self._packed = _is_gzip(self.path)
        self._sync = sync
        self._file: BinaryIO = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - closed by `close`
        try:
            (_mend_gzip if self._packed else _mend)(self._file, self.path)
        except BaseException:
            self._file.close()
            raise

    def write(self, record: Mapping[str, Any]) -> None:
        """Appends one record.

        Raises:
            RecordError: a record that is no JSON object, or a writer that was closed.
            OSError: it cannot be written; the file is cut back to what it was.
        """
        data = _line_of(record)
        if self._file.closed:
            raise RecordError("the writer is closed", file=str(self.path))
        if self._packed:
            data = gzip.compress(data, _GZIP_LEVEL, mtime=0)
        size = self._file.seek(0, io.SEEK_END)
        with naming(self.path):
            try:
                if self._file.write(data) != len(data):
                    raise OSError(f"{self.path}: the record could not be written as a whole")
            except BaseException:
                with suppress(OSError):
                    self._file.truncate(size)
                raise
            if self._sync:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Waits until everything is on the disk."""
        if not self._file.closed:
            try:
                with naming(self.path):
                    os.fsync(self._file.fileno())
            finally:
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _no_continuing(path: Path, reason: str) -> RecordError:
    return RecordError(f"cannot be continued: {reason}", file=str(path))


def _last_line(file: BinaryIO, path: Path) -> bytes:
    """What stands after the last end of a line."""
    start = file.seek(0, io.SEEK_END)
    parts: list[bytes] = []
    size = 0
    while start > 0:
        step = min(start, _CHUNK)
        start -= step
        file.seek(start)
        part = file.read(step)
        found = part.rfind(b"\n")
        parts.append(part[found + 1 :])
        size += len(parts[-1])
        if size > MAX_LINE:
            raise _no_continuing(path, f"the last line is longer than {MAX_LINE:,} bytes")
        if found >= 0:
            break
    return b"".join(reversed(parts))


def _mend(file: BinaryIO, path: Path) -> None:
    """Cuts off a last record that was broken off; ends the line if only its end is missing.

    Raises:
        RecordError: the file ends in something else.
    """
    file.seek(0)
    if file.read(2) == _GZIP_MAGIC:
        raise _no_continuing(path, "it is packed with gzip, and its name does not say so")
    tail = _last_line(file, path)
    if not tail:
        return
    if _is_broken_off(tail):
        file.truncate(file.seek(0, io.SEEK_END) - len(tail))
        return
    if tail.strip():
        try:
            _parse(tail, str(path), 0)
        except RecordError as error:
            raise _no_continuing(path, f"the last line is no record ({error.reason})") from None
    file.write(b"\n")


def _is_broken_off(tail: bytes) -> bool:
    """Whether a line is the beginning of a JSON object: wrong only in that it ends too early."""
    if not tail.lstrip(_BLANK.encode()).startswith(b"{"):
        return False
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(tail).strip(_BLANK)  # a character may be broken off
        _DECODER.decode(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        return error.msg != "Extra data" and (
            error.msg.startswith("Unterminated string")
            or any(word.startswith(rest) for word in ("true", "false", "null", "-", ","))
            or ("escape" in error.msg and len(rest) < len("\\u0000"))
        )
    except (ValueError, RecursionError):
        return False
    return False


def _mend_gzip(file: BinaryIO, path: Path) -> None:
    """Cuts off a last gzip member that is not whole; ends the last line if only its end is missing.

    Raises:
        RecordError: the damage is of another kind, so that whole records might be lost.
    """
    file.seek(0)
    if not _GZIP_MAGIC.startswith(file.read(2)):
        raise _no_continuing(path, "it is not packed with gzip, and its name says so")
    file.seek(0)
    whole = consumed = 0
    unpacker = zlib.decompressobj(wbits=31)
    lines = 0  # in the member in progress
    first = b""  # byte of that member
    last = b"\n"  # byte of the members before it
    end = b""  # last byte of that member so far
    for chunk in iter(lambda: file.read(_CHUNK), b""):
        data = chunk
        consumed += len(chunk)
        while data:
            try:
                unpacked = unpacker.decompress(data)
            except zlib.error as error:
                raise _no_continuing(path, f"damaged gzip file ({error})") from None
            lines += unpacked.count(b"\n")
            first, end = first or unpacked[:1], unpacked[-1:] or end
            data = b""
            if unpacker.eof:
                data = unpacker.unused_data
                whole = consumed - len(data)
                unpacker = zlib.decompressobj(wbits=31)
                lines, first, last, end = 0, b"", end or last, b""
    # a member of `RecordWriter` is one line, and so is a record's
    if whole < consumed and (lines > 1 or first not in {b"", b"{"} or last != b"\n"):
        raise _no_continuing(path, "the gzip file is broken off")
    if whole < consumed:
        file.truncate(whole)
    elif last != b"\n":
        file.write(gzip.compress(b"\n", _GZIP_LEVEL, mtime=0))


@contextmanager
def _opened(source: Path_ | BinaryIO) -> Iterator[tuple[BinaryIO, str]]:
    """The unpacked bytes of a file, and its name."""
    with ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            raw: Any = stack.enter_context(open(source, "rb"))
            name = os.fspath(source)
        else:
            raw, name = source, str(getattr(source, "name", "-"))
            if not callable(getattr(raw, "readinto", None)):
                raise RecordError(f"a {type(raw).__name__} is neither a path nor a binary stream")
        if not isinstance(raw, io.BufferedReader):
            raw = io.BufferedReader(raw)
        if raw.peek(2)[:2] == _GZIP_MAGIC:
            raw = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
        yield raw, name


def read_records(source: Path_ | BinaryIO, *, max_line: int = MAX_LINE) -> Iterator[RecordLine]:
    """Reads records, one at a time, from a file that may be packed with gzip. Empty lines are passed over.

    Args:
        source: path of a file, or a binary stream.
        max_line: limit of the bytes of one line, unpacked.

    Yields:
        Each line's number and record.

    Raises:
        RecordError: a line that is too long, broken off or not a strict JSON object (no duplicate names, no fractions,
            no NaN); a damaged gzip file. It names file and line. Or the source is neither path nor binary stream.
        OSError: the file cannot be read.
    """
    number = 0
    with _opened(source) as (file, name):
        while True:
            number += 1
            try:
                line = file.readline(max_line + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise RecordError(f"damaged gzip file: {error}", file=name, line=number) from None
            if not line:
                return
            if len(line) > max_line:
                raise RecordError(f"longer than {max_line:,} bytes", file=name, line=number)
            if line.strip():
                yield RecordLine(number, _parse(line, name, number))


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is not an integer")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"the name {twice[:40]!r} is there twice")
    return result


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_refuse, parse_constant=_refuse)


def _parse(line: bytes, file: str, number: int) -> dict[str, Any]:
    if crowded(line):
        raise RecordError("not a record: more lists and objects than one can have", file=file, line=number)
    try:
        record = _DECODER.decode(line.decode("utf-8").strip(_BLANK))
    except json.JSONDecodeError as error:
        cut = "" if line.endswith(b"\n") else "; the line seems to be broken off"
        raise RecordError(f"not JSON: {error.msg} at column {error.colno}{cut}", file=file, line=number) from None
    except RecursionError:
        raise RecordError("nested too deeply", file=file, line=number) from None
    except ValueError as error:
        raise RecordError(f"not a record: {error}", file=file, line=number) from None
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object", file=file, line=number)
    return record
