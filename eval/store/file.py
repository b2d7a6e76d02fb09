"""A store that is open: made, gone on with, written to, and sealed when all is played."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np

from chicago_env.files import naming
from eval.boards import KINDS, Kind
from eval.plan import Plan
from eval.play import Games
from eval.sources import Sources
from eval.store.building import beside, building, fill, make, put
from eval.store.going_on import check_continues
from eval.store.reading import Contents, Ints, content_of
from eval.store.schema import ORDER, StoreError, checked, connect, is_sealed, naming_errors

_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * 12)})"
_FAULT = f"INSERT INTO faults VALUES ({', '.join('?' * 11)})"


class Store(Contents):
    """The games of an event, in a file or in memory; for its attributes see `Contents`."""

    # --- opening ------------------------------------------------------------------------------------------------------

    @classmethod
    def in_memory(cls, plan: Plan) -> "Store":
        """An empty store for `plan`, gone when it is closed."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        frame, agents, runs = plan.frame(), [entrant.to_dict() for entrant in plan.entrants], [plan.run()]
        fill(connection, frame, agents, runs)
        return cls(None, frame, agents, runs, connection)

    @classmethod
    @contextmanager
    def reading(cls, path: str | os.PathLike[str]) -> Iterator["Store"]:
        """A store as it is, for reading. The file is checked first, and never changed.

        Raises:
            StoreError: no store, or a damaged one.
            OSError: it cannot be read.
        """
        path = Path(path)
        with checked(path) as connection:
            yield cls(path, *content_of(path, connection), connection)

    @classmethod
    @contextmanager
    def playing(cls, path: str | os.PathLike[str], plan: Plan) -> Iterator["Store"]:
        """The store of `plan`: made if there is no file, gone on with if there is. It is sealed when all is played.

        Games in it are kept where `plan` asks for the same or for more: more boards, or further agents at the end of
        the list.

        Raises:
            StoreError: the file is no store, damaged, in use, or holds something else; it is left as it was.
            OSError: it cannot be read or written.
        """
        path = Path(path)
        if any(entrant.spec is None for entrant in plan.entrants):
            raise StoreError(path, "a store needs agents that are named by a spec, not objects")
        if not os.path.lexists(path):
            make(path, plan)
        with cls.reading(path) as found:
            check_continues(found, plan)
            for kind in KINDS:
                found.played(kind)  # rows that are impossible are found before anything is written
            complete = not any(found.missing(plan, kind) for kind in KINDS)
            if complete and is_sealed(path) and found.runs == [plan.run()]:
                yield found
                return
        with naming_errors(path), closing(connect(path, "mode=rw")) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            store = cls(path, *content_of(path, connection), connection)
            store._extend(plan)
            yield store
            if not any(store.missing(plan, kind) for kind in KINDS):
                store.seal()

    # --- writing ------------------------------------------------------------------------------------------------------

    def add(self, seed: int, kind: Kind, boards: Ints, seating: Ints, games: Games) -> None:
        """Writes games down, all of them or none.

        Args:
            seed: seed of the event.
            kind: single deals or matches.
            boards: (N,) number of each game's board.
            seating: (N, P) number of the agent in each seat.
            games: how they ended.
        """
        number = KINDS.index(kind)
        lineups = seating.astype("u1")
        gains = games.gains.astype("<i4")
        sources = _packed(games.sources)
        choices: Sequence[bytes] = games.choices or [b""] * len(boards)
        luck = [b""] * len(boards) if games.luck is None else [own.tobytes() for own in games.luck.astype("<i4")]
        forfeited = games.forfeited @ (1 << np.arange(seating.shape[1]))
        numbers = np.stack([games.winner, games.truncated, games.deals, forfeited], axis=1).tolist()
        rows = [
            (
                seed,
                number,
                board,
                lineups[i].tobytes(),
                gains[i].tobytes(),
                *numbers[i],
                sources[i],
                luck[i],
                choices[i],
            )
            for i, board in enumerate(boards.tolist())
        ]
        faults: list[tuple[object, ...]] = []
        counted: dict[int, int] = {}
        for fault in games.faults:
            i = fault.game
            counted[i] = counted.get(i, -1) + 1
            faults.append((*rows[i][:4], counted[i], *fault[1:2], *fault[3:]))
        with self._transaction():
            self._connection.executemany(_INSERT, rows)
            self._connection.executemany(_FAULT, faults)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with naming_errors(self.path or "memory"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite rolls back by itself after some errors
                    self._connection.execute("ROLLBACK")
                raise

    def seal(self) -> None:
        """Writes the file anew, every row in its order: the same games are the same bytes, however they came about.

        The new file takes the place of the old one at once, so that a kill leaves either.
        """
        assert self.path is not None
        with naming_errors(self.path):
            place = self._write_anew(self.path)
            # the journal goes first, for it would be worked into the new file
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        with naming(self.path):
            os.replace(place, self.path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to a new file, sealed.

        Raises:
            StoreError: there is a file already, or it cannot be written.
            OSError: it cannot be written.
        """
        path = Path(path)
        if os.path.lexists(path):
            raise StoreError(path, "is there already")
        with naming_errors(path):
            place = self._write_anew(path)
        os.replace(place, path)

    def _write_anew(self, path: Path) -> Path:
        """A file beside `path` with every row in its order."""
        place = beside(path)
        with building(place) as out:
            fill(out, self.frame, self.agents, self.runs)
            out.execute("BEGIN")
            for table in ("games", "faults"):
                rows = self._connection.execute(f"SELECT * FROM {table} ORDER BY {ORDER[table]}")
                marks = ", ".join("?" * len(rows.description))
                out.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            out.execute("COMMIT")
        return place

    def take_rows(self, other: "Store", numbers: Sequence[int]) -> None:
        """Takes the games and faults of another store, whose agent i is number `numbers[i]` here.

        Raises:
            StoreError: the other store has another result of a game that is here already.
        """
        renumber = bytes(numbers).ljust(256, b"\0")
        for table, keys in (("games", 4), ("faults", 5)):
            where = " AND ".join(f"{name} = ?" for name in ORDER[table].split(", "))
            marks = None
            for row in other._connection.execute(f"SELECT * FROM {table} ORDER BY {ORDER[table]}"):
                mine = (*row[:3], row[3].translate(renumber), *row[4:])
                found = self._connection.execute(f"SELECT * FROM {table} WHERE {where}", mine[:keys]).fetchone()
                if found is None:
                    marks = marks or ", ".join("?" * len(row))
                    self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", mine)
                elif found != mine:
                    names = ", ".join(self.names[agent] for agent in mine[3])
                    raise StoreError(
                        other.path,
                        f"has another result of the same game: seed {row[0]}, {KINDS[row[1]]} board {row[2]}, {names}",
                    )

    def _extend(self, plan: Plan) -> None:
        agents, runs = [entrant.to_dict() for entrant in plan.entrants], [plan.run()]
        if (agents, runs) == (self.agents, self.runs):
            return
        with self._transaction():
            put(self._connection, "agents", agents[len(self.agents) :], len(self.agents))
            self._connection.execute("DELETE FROM runs")
            put(self._connection, "runs", runs, 0)
        self.agents, self.runs = agents, runs


def _packed(sources: Sources) -> list[bytes]:
    """Sources (N, P, K) of each game in integers of as many bytes as its largest one needs."""
    count = len(sources)
    flat = sources.reshape(count, -1).astype(np.int64)
    largest = np.maximum(flat.max(axis=1, initial=0), -1 - flat.min(axis=1, initial=0))
    blobs = [b""] * count
    for low, high, dtype in ((0, 1 << 7, "<i1"), (1 << 7, 1 << 15, "<i2"), (1 << 15, 1 << 31, "<i4")):
        mine = np.flatnonzero((largest >= low) & (largest < high))
        for i, row in zip(mine.tolist(), flat[mine].astype(dtype), strict=True):
            blobs[i] = row.tobytes()
    return blobs
