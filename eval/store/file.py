"""A store that is open: what it holds, what is still to be played, and how games are written down."""

import dataclasses
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chicago_env.files import naming
from eval.boards import KINDS, Kind
from eval.plan import Plan
from eval.play import Games
from eval.sources import Sources
from eval.store.schema import (
    ORDER,
    TABLES,
    StoreError,
    check_header,
    checked,
    connect,
    create,
    is_sealed,
    naming_errors,
)

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * 11)})"
_FAULT = f"INSERT INTO faults VALUES ({', '.join('?' * 11)})"
_ITEMS = {1: "<i1", 2: "<i2", 4: "<i4"}


class Fault(NamedTuple):
    """Something that an agent did wrong; columns of the table `faults`, with names in place of numbers."""

    seed: int
    kind: Kind
    board: int
    lineup: tuple[int, ...]
    seat: int
    agent: str
    status: str
    deal: int
    decision: int
    reason: str
    line: str


class Played(NamedTuple):
    """Games of one kind as a store holds them, in order of seed, board and lineup.

    Attributes:
        seeds: (N,) int64, seed of the event.
        boards: (N,) int64, number of the board.
        lineups: (N, P) int64, number of the agent in each seat.
        gains: (N, P) int64, points gained by each seat.
        winner: (N,) int64, seat, or -1.
        truncated: (N,) bool.
        deals: (N,) int64, deals played.
        sources: (N, P, K) int64, where points came from, by the columns of the frame.
        forfeited: (N, P) bool, seats that forfeit the game.
    """

    seeds: Ints
    boards: Ints
    lineups: Ints
    gains: Ints
    winner: Ints
    truncated: Bools
    deals: Ints
    sources: Ints
    forfeited: Bools


@dataclasses.dataclass
class Store:
    """The games of an event, in a file or in memory.

    Attributes:
        path: the file; None in memory.
        frame: what all games share (`Plan.frame`).
        agents: who takes part, by number, as JSON has it (`Entrant.to_dict`).
        runs: what was asked for (`Plan.run`).
    """

    path: Path | None
    frame: dict[str, Any]
    agents: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    _connection: sqlite3.Connection

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
            yield cls(path, *_content(path, connection), connection)

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
            _make(path, plan)
        with cls.reading(path) as found:
            found._check_continues(plan)
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
            store = cls(path, *_content(path, connection), connection)
            store._extend(plan)
            yield store
            if not any(store.missing(plan, kind) for kind in KINDS):
                store.seal()

    def close(self) -> None:
        """Lets go of the store."""
        self._connection.close()

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Names of the agents, by number."""
        return [agent["name"] for agent in self.agents]

    @property
    def players(self) -> int:
        """P, seats at a table."""
        return int(self.frame["players"])

    def missing(self, plan: Plan, kind: Kind) -> dict[int, int]:
        """Boards of a kind that are not complete, with the number of games there are of each."""
        rows = self._connection.execute(
            "SELECT board, count(*) FROM games WHERE seed = ? AND kind = ? GROUP BY board",
            (plan.seed, KINDS.index(kind)),
        )
        there = dict(rows)
        return {n: there.get(n, 0) for n in range(plan.total(kind)) if there.get(n, 0) < plan.games_of_board}

    def lineups_of(self, seed: int, kind: Kind, board: int) -> set[bytes]:
        """The games of a board that have been played."""
        rows = self._connection.execute(
            "SELECT lineup FROM games WHERE seed = ? AND kind = ? AND board = ?", (seed, KINDS.index(kind), board)
        )
        return {lineup for (lineup,) in rows}

    def played(self, kind: Kind) -> Played:
        """All games of a kind.

        Raises:
            StoreError: what a row holds is impossible.
        """
        rows = self._connection.execute(
            "SELECT seed, board, lineup, gains, winner, truncated, deals, sources, forfeited FROM games WHERE kind = ? "
            f"ORDER BY {ORDER['games']}",
            (KINDS.index(kind),),
        ).fetchall()
        n, players = len(rows), self.players
        columns = list(zip(*rows, strict=True)) if rows else [()] * 9
        seeds, boards, winner, truncated, deals, bits = (
            np.array(columns[i], dtype=np.int64) for i in (0, 1, 4, 5, 6, 8)
        )
        lineups = self._array(columns[2], players, "u1", "lineup")
        if (lineups >= len(self.agents)).any():
            raise StoreError(self.path, "is damaged: a lineup has an agent that there is not")
        if (winner < -1).any() or (winner >= players).any():
            raise StoreError(self.path, "is damaged: a winner has no seat")
        gains = self._array(columns[3], players, "<i4", "gains")
        width = len(self.frame["sources"])
        sources = self._sources(columns[7], players * width).reshape(n, players, width)
        forfeited = (bits[:, None] >> np.arange(players)) & 1 != 0
        return Played(seeds, boards, lineups, gains, winner, truncated != 0, deals, sources, forfeited)

    def _array(self, blobs: Sequence[bytes], width: int, dtype: str, what: str) -> Ints:
        size = width * np.dtype(dtype).itemsize
        if any(len(blob) != size for blob in blobs):
            raise StoreError(self.path, f"is damaged: {what} of a wrong size")
        return np.frombuffer(b"".join(blobs), dtype).astype(np.int64).reshape(len(blobs), width)

    def _sources(self, blobs: Sequence[bytes], width: int) -> Ints:
        out = np.zeros((len(blobs), width), dtype=np.int64)
        sizes = np.array([len(blob) for blob in blobs], dtype=np.int64)
        left = len(blobs) if width else 0
        for item, dtype in _ITEMS.items() if width else ():
            mine = np.flatnonzero(sizes == item * width)
            joined = b"".join(blobs[i] for i in mine.tolist())
            out[mine] = np.frombuffer(joined, dtype).reshape(len(mine), width)
            left -= len(mine)
        if left or (not width and sizes.any()):
            raise StoreError(self.path, "is damaged: sources of a wrong size")
        return out

    def faults(self) -> list[Fault]:
        """What went wrong, in order of seed, kind, board and lineup."""
        rows = self._connection.execute(f"SELECT * FROM faults ORDER BY {ORDER['faults']}")
        try:
            return [
                Fault(seed, KINDS[kind], board, (*lineup,), seat, self.names[lineup[seat]], *rest)
                for seed, kind, board, lineup, _, seat, *rest in rows
            ]
        except IndexError:
            raise StoreError(self.path, "is damaged: a fault of an agent that there is not") from None

    def faults_before(self, seed: int, kind: Kind, board: int) -> dict[str, int]:
        """Faults of each agent in the boards of an event that come before one, single deals first."""
        rows = self._connection.execute(
            "SELECT lineup, seat FROM faults WHERE seed = ? AND (kind, board) < (?, ?)",
            (seed, KINDS.index(kind), board),
        )
        return dict(Counter(self.names[lineup[seat]] for lineup, seat in rows))

    def choices(self) -> Iterator[tuple[int, Kind, int, list[int], bytes]]:
        """Seed, kind, board, lineup and choices of every game, in order: what records are made of."""
        rows = self._connection.execute(
            f"SELECT seed, kind, board, lineup, choices FROM games ORDER BY {ORDER['games']}"
        )
        for seed, kind, board, lineup, choices in rows:
            yield seed, KINDS[kind], board, list(lineup), choices

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
        forfeited = games.forfeited @ (1 << np.arange(seating.shape[1]))
        numbers = np.stack([games.winner, games.truncated, games.deals, forfeited], axis=1).tolist()
        rows = [
            (seed, number, board, lineups[i].tobytes(), gains[i].tobytes(), *numbers[i], sources[i], choices[i])
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
        place = _beside(path)
        with _building(place) as out:
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

    # --- going on -----------------------------------------------------------------------------------------------------

    def _check_continues(self, plan: Plan) -> None:
        """Makes sure that the games of the store are games of `plan`, none too many.

        Raises:
            StoreError: they are not; it says what differs.
        """
        differ = differences(self.frame, plan.frame())
        if len(self.runs) > 1:
            differ.append("it was merged from several events, which are not gone on with")
        else:
            run, asked = self.runs[0], plan.run()
            differ += differences({k: run[k] for k in ("seed", "field")}, {k: asked[k] for k in ("seed", "field")})
            differ += [
                f"{k}: {run[k]} in the store, {asked[k]} asked for" for k in ("boards", "matches") if run[k] > asked[k]
            ]
            given = [entrant.to_dict() for entrant in plan.entrants]
            if run != asked and self.faults():
                differ.append(
                    "agents failed in it, and what they forfeit hangs on the order of games: it is not extended"
                )
            fixed = len(given) if plan.field == "tables" else len(self.agents)
            if self.names != [agent["name"] for agent in given[:fixed]]:
                differ.append(f"agents: {', '.join(self.names)} in the store, {', '.join(plan.names)} asked for")
            else:
                differ += [
                    f"agent {mine['name']} is not the one of the store: another spec or another file"
                    for mine, theirs in zip(self.agents, given, strict=False)
                    if mine != theirs
                ]
        if differ:
            raise StoreError(self.path, f"holds something else than what is asked for ({'; '.join(differ)})")

    def _extend(self, plan: Plan) -> None:
        agents, runs = [entrant.to_dict() for entrant in plan.entrants], [plan.run()]
        if (agents, runs) == (self.agents, self.runs):
            return
        with self._transaction():
            _put(self._connection, "agents", agents[len(self.agents) :], len(self.agents))
            self._connection.execute("DELETE FROM runs")
            _put(self._connection, "runs", runs, 0)
        self.agents, self.runs = agents, runs


def differences(
    there: dict[str, Any], asked: dict[str, Any], sides: tuple[str, str] = ("in the store", "asked for")
) -> list[str]:
    """What differs between two frames, in words; `sides` says what they are."""
    found = []
    for key in dict.fromkeys([*there, *asked]):
        mine, theirs = there.get(key), asked.get(key)
        if mine == theirs or key == "rules_fields":
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict):
            found += [f"{key}: {words}" for words in differences(mine, theirs, sides)]
        else:
            found.append(f"{key}: {mine} {sides[0]}, {theirs} {sides[1]}")
    return found


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


def _beside(path: Path) -> Path:
    """Where a file is built that is to take the place of `path`."""
    return path.with_name(f".{path.name}.chicago-new")


@contextmanager
def _building(place: Path) -> Iterator[sqlite3.Connection]:
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


def _make(path: Path, plan: Plan) -> None:
    """An empty store for `plan`: there whole, or not at all."""
    place = _beside(path)
    try:
        with naming_errors(path), _building(place) as out:
            fill(out, plan.frame(), [entrant.to_dict() for entrant in plan.entrants], [plan.run()])
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    os.replace(place, path)


def fill(connection: sqlite3.Connection, frame: object, agents: Iterable[object], runs: Iterable[object]) -> None:
    """Makes the tables of an empty database, without games."""
    create(connection)
    connection.execute("BEGIN")
    connection.execute("INSERT INTO frame VALUES (?)", (_text(frame),))
    _put(connection, "agents", agents, 0)
    _put(connection, "runs", runs, 0)
    connection.execute("COMMIT")


def _put(connection: sqlite3.Connection, table: str, values: Iterable[object], first: int) -> None:
    rows = [(number, _text(value)) for number, value in enumerate(values, first)]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _content(path: Path, connection: sqlite3.Connection) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Frame, agents and runs, checked for what the program relies on."""
    read = {}
    for table in ("frame", "agents", "runs"):
        rows = connection.execute(f"SELECT value FROM {table} ORDER BY {ORDER[table]}").fetchall()
        try:
            read[table] = [json.loads(text) for (text,) in rows]
        except (ValueError, RecursionError):
            raise StoreError(path, f"is damaged: table {table} has no JSON") from None
    frame, agents, runs = read["frame"], read["agents"], read["runs"]
    if not (
        len(frame) == 1
        and _has(frame[0], players=int, rules=str, rules_fields=dict, versions=dict, max_deals=int, sources=list)
        and 2 <= frame[0]["players"] <= 6
        and all(isinstance(column, str) for column in frame[0]["sources"])
        and all(_has(agent, name=str, files=dict) for agent in agents)
        and all(_has(run, agents=list, field=str, boards=int, matches=int, seed=int) for run in runs)
        and agents
        and runs
    ):
        raise StoreError(path, "is damaged: its plan is incomplete")
    return frame[0], agents, runs


def _has(value: object, **fields: type) -> bool:
    return isinstance(value, dict) and all(type(value.get(name)) is kind for name, kind in fields.items())


__all__ = ["TABLES", "Fault", "Played", "Store", "check_header", "differences"]
