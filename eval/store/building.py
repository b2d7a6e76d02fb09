"""Files that are made whole beside the place where they are to be, and then put there at once."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from eval.plan import Plan
from eval.store.schema import connect, create, naming_errors


def beside(path: Path) -> Path:
    """Where a file is built that is to take the place of `path`."""
    return path.with_name(f".{path.name}.chicago-new")


@contextmanager
def building(place: Path) -> Iterator[sqlite3.Connection]:
    """A new database at `place`, on the disk when the block ends, gone if it ends with an exception."""
    for old in (place, place.with_name(f"{place.name}-journal")):  # left by a kill
        old.unlink(missing_ok=True)
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # an error of the system names it
        with closing(connect(place, "mode=rw")) as out:
            out.execute("PRAGMA journal_mode = OFF")
            out.execute("PRAGMA synchronous = OFF")
            yield out
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        place.unlink(missing_ok=True)
        raise


def make(path: Path, plan: Plan) -> None:
    """An empty store for `plan`: there whole, or not at all."""
    place = beside(path)
    try:
        with naming_errors(path), building(place) as out:
            fill(out, plan.frame(), [entrant.to_dict() for entrant in plan.entrants], [plan.run()])
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    os.replace(place, path)


def fill(connection: sqlite3.Connection, frame: object, agents: Iterable[object], runs: Iterable[object]) -> None:
    """Makes the tables of an empty database, without games."""
    create(connection)
    connection.execute("BEGIN")
    connection.execute("INSERT INTO frame VALUES (?)", (_text(frame),))
    put(connection, "agents", agents, 0)
    put(connection, "runs", runs, 0)
    connection.execute("COMMIT")


def put(connection: sqlite3.Connection, table: str, values: Iterable[object], first: int) -> None:
    """Writes down values of a table as JSON, numbered from `first`."""
    rows = [(number, _text(value)) for number, value in enumerate(values, first)]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
