"""The results of a ranking, and how they are written as JSON."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from eval.ratings import Rating
from eval.stats import Estimate
from eval.store import Fault
from eval.variance import VarianceFactors

FORMAT, VERSION = "chicago-ranking", 3


@dataclasses.dataclass(frozen=True)
class PairResult:
    """How two agents did against each other, from the view of the first.

    Attributes:
        first: name of the first agent.
        second: name of the second.
        points: points per deal: mean of the first agent's seats less the mean of the second's.
        wins: share of matches won by a seat of the first agent; a truncated match is shared out over all seats.
        games: numbers of games: deals, matches, matches won by either and truncated.
        equity: change of the chance to win the match, per deal, of all seats of the first agent; match wins per deal.
        corrected: as `points`, less the luck of the draw (`eval.luck`); None where it was not measured.
        variance_factors: how many times as many independent games each figure would need for the same interval.
    """

    first: str
    second: str
    points: Estimate
    wins: Estimate
    games: Mapping[str, int]
    variance_factors: VarianceFactors
    equity: Estimate
    corrected: Estimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "first": self.first,
            "second": self.second,
            "points_per_deal": self.points.to_dict(),
            "corrected_points_per_deal": None if self.corrected is None else self.corrected.to_dict(),
            "match_wins": self.wins.to_dict(),
            "equity_per_deal": self.equity.to_dict(),
            "games": dict(self.games),
            "variance_factors": self.variance_factors.to_dict(),
        }


@dataclasses.dataclass(frozen=True)
class Row:
    """An agent's line in the table: means over all other agents, each pair weighing the same; see `PairResult`.

    `sources` has the sums of `eval.sources.COLUMNS` over all its seats in single deals, or in matches where there are no
    single deals.
    """

    name: str
    points: Estimate
    wins: Estimate
    rating: Rating | None
    games: int
    equity: Estimate
    sources: Mapping[str, int]
    corrected: Estimate | None = None


@dataclasses.dataclass(frozen=True)
class Result:
    """What a ranking found.

    Attributes:
        config: what was asked for, as JSON has it.
        rows: the table, best first.
        pairs: every pair, in the order in which the agents were given.
        speeds: decisions per second of each agent, None where it was not asked. Measured, so not part of `to_dict`.
        seconds: wall clock time of the whole; as `speeds`.
        faults: what agents did wrong, game by game.
        cycles: names of agents each of whom beats the next, and the last the first, clear of noise.
    """

    config: Mapping[str, Any]
    rows: tuple[Row, ...]
    pairs: tuple[PairResult, ...]
    speeds: Mapping[str, float | None]
    seconds: float
    faults: tuple[Fault, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()

    def pair(self, first: str, second: str) -> PairResult:
        """The result of two agents, in the order in which they were given to `rank`.

        Raises:
            KeyError: no such pair.
        """
        for result in self.pairs:
            if (result.first, result.second) == (first, second):
                return result
        raise KeyError((first, second))

    def to_dict(self) -> dict[str, Any]:
        """Everything but times, as JSON has it: the same for the same arguments, on any number of rows at a time."""
        table = [
            {
                "agent": row.name,
                "match_wins": row.wins.to_dict(),
                "points_per_deal": row.points.to_dict(),
                "corrected_points_per_deal": None if row.corrected is None else row.corrected.to_dict(),
                "rating": None if row.rating is None else row.rating._asdict(),
                "equity_per_deal": row.equity.to_dict(),
                "games": row.games,
                "sources": dict(row.sources),
            }
            for row in self.rows
        ]
        faults = [fault._asdict() for fault in self.faults]
        head = {"format": FORMAT, "version": VERSION, **self.config}
        pairs = [pair.to_dict() for pair in self.pairs]
        cycles = [list(cycle) for cycle in self.cycles]
        return {**head, "table": table, "pairs": pairs, "cycles": cycles, "faults": faults}

    def to_json(self) -> str:
        """`to_dict` as text, with a line break at the end."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
