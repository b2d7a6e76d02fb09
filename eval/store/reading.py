"""What a store holds: its plan, its games and what went wrong in them. Nothing here writes."""

import dataclasses
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eval.boards import KINDS, Kind
from eval.plan import Plan
from eval.store.schema import ORDER, StoreError

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

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
        luck: (N, P) int64, what is to be taken off the points of each seat, in parts of a point (`eval.luck.UNIT`); (N, 0)
            where it was not measured.
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
    luck: Ints


@dataclasses.dataclass
class Contents:
    """A store as far as it is read.

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

    def close(self) -> None:
        """Lets go of the store."""
        self._connection.close()

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
            "SELECT seed, board, lineup, gains, winner, truncated, deals, sources, forfeited, luck FROM games WHERE kind = ? "
            f"ORDER BY {ORDER['games']}",
            (KINDS.index(kind),),
        ).fetchall()
        n, players = len(rows), self.players
        columns = list(zip(*rows, strict=True)) if rows else [()] * 10
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
        measured = kind == "deal" and self.frame["luck"] is not None
        luck = self._array(columns[9], players if measured else 0, "<i4", "luck")
        return Played(seeds, boards, lineups, gains, winner, truncated != 0, deals, sources, forfeited, luck)

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


def content_of(path: Path, connection: sqlite3.Connection) -> tuple[dict[str, Any], list[Any], list[Any]]:
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
        and isinstance(frame[0].get("luck", 0), str | None)
        and all(_has(agent, name=str, files=dict) for agent in agents)
        and all(_has(run, agents=list, field=str, boards=int, matches=int, seed=int) for run in runs)
        and agents
        and runs
    ):
        raise StoreError(path, "is damaged: its plan is incomplete")
    return frame[0], agents, runs


def _has(value: object, **fields: type) -> bool:
    return isinstance(value, dict) and all(type(value.get(name)) is kind for name, kind in fields.items())
