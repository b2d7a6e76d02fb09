"""The chance to win a match from given scores: boards of single deals are scored by it, and `train.deal_reward` pays by it.

A match lasts over a hundred decisions and its result is mostly luck; a deal that is judged by the change of the chance to
win says the same in a tenth of the time, and says it where points mislead: near the end a few points are the match, or
nothing. A difference of potentials does not change which policy is best (Ng, Harada and Russell 1999), and over the deals
of a match the changes add up to the win less the chance at its start.
"""

import hashlib
from typing import Any, NamedTuple, Protocol

import numpy as np

from agents.equity import LOGISTIC, POINTS_PER_DEAL, SPREAD_PER_DEAL, kind_of_rules, table_of, write_chances
from chicago_env._jit import jit
from chicago_env.layout import SEATS
from chicago_env.rules import Rules

Array = np.ndarray[Any, Any]


class Equity(Protocol):
    """Gives the chance of each seat to win the match."""

    @property
    def digest(self) -> str:
        """16 hex digits that change with every number it may give; a result names them."""
        ...

    def chances(self, scores: Array, players: Array, dealers: Array) -> Array:
        """(N, P) chances that add up to 1; seats that do not exist have 0.

        Args:
            scores: (N, P) scores before a deal.
            players: (N,) numbers of players.
            dealers: (N,) seat that deals it.
        """
        ...


@jit
def _fill_chances(scores: Any, players: Any, dealers: Any, target: int, kind: int, out: Any) -> None:
    for i in range(scores.shape[0]):
        write_chances(scores[i], int(players[i]), target, int(dealers[i]), kind, out[i])


class MatchEquity:
    """Chances from the tables of `agents.equity`, solved from games under the presets: what everything here is judged by."""

    def __init__(self, rules: Rules) -> None:
        self.target, self.kind = rules.target, kind_of_rules(rules)

    @property
    def digest(self) -> str:
        """As in `Equity`: of target and tables."""
        return digest_of("match", self.target, *(table_of(players, self.kind) for players in range(2, SEATS + 1)))

    def chances(self, scores: Array, players: Array, dealers: Array) -> Array:
        """As in `Equity`."""
        out = np.zeros(scores.shape)
        _fill_chances(np.asarray(scores, dtype=np.int64), players, dealers, self.target, self.kind, out)
        return out


class ClosedEquity:
    """A formula for any number of players (`agents.equity.closed_chance`): what tables are solved from begins with it.

    The chances are the softmax of 1.702 score / spread, which at two players is nearly the normal distribution.
    """

    def __init__(self, rules: Rules) -> None:
        self.target = rules.target

    @property
    def digest(self) -> str:
        """As in `Equity`: of the numbers in the formula."""
        return digest_of("closed", (self.target, POINTS_PER_DEAL, SPREAD_PER_DEAL, LOGISTIC))

    def chances(self, scores: Array, players: Array, dealers: Array) -> Array:
        """As in `Equity`; the dealer is left out of account."""
        there = np.arange(scores.shape[1]) < players[:, None]
        points = np.where(there, scores.astype(np.float64), -np.inf)
        best = points.max(axis=1)
        deals = 1 + np.maximum(self.target - best, 0) / POINTS_PER_DEAL
        scale = LOGISTIC / (SPREAD_PER_DEAL * np.sqrt(deals))
        odds = np.exp((points - best[:, None]) * scale[:, None])
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def digest_of(kind: str, *numbers: Any) -> str:
    """16 hex digits of a kind of equity and what it is made of, arrays or numbers."""
    hashed = hashlib.sha256(kind.encode())
    for some in numbers:
        hashed.update(np.ascontiguousarray(some, dtype="<f8").tobytes())
    return hashed.hexdigest()[:16]


def equity_gains(equity: Equity, starts: Array, gains: Array, dealers: Array, winners: Array, deals: Array) -> Array:
    """Change of each seat's chance to win the match, (N, P) float64; each row adds up to 0.

    A match that was won counts as 1 for its winner. All that it takes is what a stored game has.

    Args:
        equity: the chances.
        starts: (N, P) start scores.
        gains: (N, P) points gained.
        dealers: (N,) seats that dealt first.
        winners: (N,) seats that won the match, -1 where it goes on.
        deals: (N,) deals played.
    """
    starts, dealers, winners = np.asarray(starts), np.asarray(dealers), np.asarray(winners)
    players = starts.shape[1]
    every = np.full(len(starts), players)
    after = equity.chances(starts + gains, every, (dealers + deals) % players)
    won = np.flatnonzero(winners >= 0)
    after[won] = 0.0
    after[won, winners[won]] = 1.0
    return np.asarray(after - equity.chances(starts, every, dealers))


class Deals(NamedTuple):
    """N deals that were played by P players.

    Attributes:
        before: (N, P) scores before.
        after: (N, P) scores after.
        dealers: (N,) seats that dealt.
        winners: (N,) who won the match, -1 where it went on.
    """

    before: Array
    after: Array
    dealers: Array
    winners: Array
