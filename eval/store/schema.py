"""What a store looks like, and the checks that a file passes before it is opened."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from chicago_env.errors import FileError

APPLICATION_ID = 0x43686367
"""`Chcg`, in the header of the file."""

VERSION = 2
"""Of the tables below; SQLite's `user_version`."""

MAX_JSON = 1 << 20
"""Bytes of a JSON text in a store."""

_HEADER = 100
_MAGIC = b"SQLite format 3\0"

TABLES = {
    # what all games share: versions, players, rules, ...
    "frame": "CREATE TABLE frame (value TEXT NOT NULL) STRICT",
    # who takes part, numbered from 0
    "agents": "CREATE TABLE agents (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT",
    # what was asked for; several in a store that was merged
    "runs": "CREATE TABLE runs (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT",
    # kind 0 single deal, 1 match; lineup: P bytes, number of the agent in each seat; gains: P int32; sources: P·K
    # integers of 1, 2 or 4 bytes; luck: P int32, what is taken off the points of each seat, where it was measured; choices:
    # what a record needs. All little-endian. forfeited: bit s set if seat s forfeits.
    "games": (
        "CREATE TABLE games (seed INTEGER NOT NULL, kind INTEGER NOT NULL CHECK (kind IN (0, 1)), "
        "board INTEGER NOT NULL CHECK (board >= 0), lineup BLOB NOT NULL, gains BLOB NOT NULL, "
        "winner INTEGER NOT NULL, truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)), "
        "deals INTEGER NOT NULL CHECK (deals >= 0), forfeited INTEGER NOT NULL CHECK (forfeited >= 0), "
        "sources BLOB NOT NULL, luck BLOB NOT NULL, choices BLOB NOT NULL, "
        "PRIMARY KEY (seed, kind, board, lineup)) STRICT, WITHOUT ROWID"
    ),
    # what went wrong in a game, and whose fault it was
    "faults": (
        "CREATE TABLE faults (seed INTEGER NOT NULL, kind INTEGER NOT NULL, board INTEGER NOT NULL, "
        "lineup BLOB NOT NULL, number INTEGER NOT NULL, seat INTEGER NOT NULL, status TEXT NOT NULL, "
        "deal INTEGER NOT NULL, decision INTEGER NOT NULL, reason TEXT NOT NULL, line TEXT NOT NULL, "
        "PRIMARY KEY (seed, kind, board, lineup, number)) STRICT, WITHOUT ROWID"
    ),
}
"""Every table by name. A store has these and nothing else."""

ORDER = {
    "frame": "rowid",
    "agents": "id",
    "runs": "id",
    "games": "seed, kind, board, lineup",
    "faults": "seed, kind, board, lineup, number",
}
"""The order of each table's rows in the file."""


class StoreError(FileError):
    """A result store that is damaged, foreign, in use, full, or about something else."""


_REASONS = {
    sqlite3.SQLITE_BUSY: "is in use by another run",
    sqlite3.SQLITE_LOCKED: "is in use by another run",
    sqlite3.SQLITE_FULL: "the disk is full; what was played so far is kept, and the same command goes on from there",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_NOTADB: "is damaged",
}


@contextmanager
def naming_errors(path: object) -> Iterator[None]:
    """Turns errors of SQLite into a `StoreError` that says in a line what is wrong with `path`."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details
        if code == sqlite3.SQLITE_IOERR:
            reason = f"cannot be read or written ({getattr(error, 'sqlite_errorname', 'I/O error')}); is the disk full?"
        else:
            reason = _REASONS.get(code, str(error))
        raise StoreError(path, reason) from error
    except UnicodeDecodeError as error:  # what SQLite says of a damaged file quotes it
        raise StoreError(path, "is damaged") from error


def create(connection: sqlite3.Connection) -> None:
    """Makes the tables of an empty database."""
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("PRAGMA encoding = 'UTF-8'")
    connection.execute("PRAGMA auto_vacuum = NONE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for sql in TABLES.values():
        connection.execute(sql)


def connect(path: str | os.PathLike[str], how: str) -> sqlite3.Connection:
    """A connection to a file, with transactions by hand; `how` is what stands after `?` in its URI."""
    uri = f"{Path(path).absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.5)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def check_header(path: Path) -> None:
    """Looks at the first bytes of a file, and opens nothing.

    Raises:
        StoreError: not a store, or one of another version.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEADER)
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        raise StoreError(path, "is no result store")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise StoreError(path, "is an SQLite database of something else, no result store")
    version = int.from_bytes(head[60:64], "big")
    if version != VERSION:
        raise StoreError(path, f"is a result store of version {version}; this program knows version {VERSION}")


def is_sealed(path: Path) -> bool:
    """Whether the file is in its final form: complete, without a journal beside it."""
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\1\1" and not _beside(path)


def _beside(path: Path) -> list[Path]:
    """Journals that belong to the file, with something in them."""
    journals = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    return [journal for journal in journals if journal.exists() and journal.stat().st_size]


@contextmanager
def checked(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads a store, after every check. The file and what is beside it are left as they are.

    A run that was killed leaves a journal. SQLite would work it in on opening: so the check is made on a copy then.

    Raises:
        StoreError: not a store, another version, or damaged.
        OSError: it cannot be read.
    """
    check_header(path)
    with tempfile.TemporaryDirectory(prefix="chicago-") as folder:
        journals = _beside(path)
        place, how = path, "mode=ro&immutable=1"
        if journals:
            place, how = Path(folder) / path.name, "mode=rw"
            for file in (path, *journals):
                shutil.copyfile(file, place.with_name(file.name))
        with naming_errors(path), closing(connect(place, how)) as connection:
            _check_content(path, connection, in_use=bool(journals))
            yield connection


def _check_content(path: Path, connection: sqlite3.Connection, *, in_use: bool) -> None:
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
    if dict(found) != TABLES or len(found) != len(TABLES):
        raise StoreError(path, "does not have the tables of a result store")
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        hint = ", or another run is writing to it" if in_use else ""
        raise StoreError(path, f"is damaged{hint}: {' '.join(str(said).split())}")
    for table in ("frame", "agents", "runs"):
        (longest,) = connection.execute(f"SELECT max(length(CAST(value AS BLOB))) FROM {table}").fetchone()
        if longest is None or longest > MAX_JSON:
            raise StoreError(path, f"is damaged: table {table} has {'no row' if longest is None else 'too long a row'}")
