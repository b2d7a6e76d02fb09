"""The chance to win a match from given scores; `train.deal_reward` makes rewards of single deals of it.

A match lasts over a hundred decisions and its result is mostly luck; a deal whose reward is the change of the chance to
win tells the learner the same in a tenth of the time. A difference of potentials does not change which policy is best
(Ng, Harada and Russell 1999).
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from agents.equity import LOGISTIC, POINTS_PER_DEAL, SPREAD_PER_DEAL
from chicago_env.rules import Rules

Array = np.ndarray[Any, Any]


class Equity(Protocol):
    """Gives the chance of each seat to win the match."""

    def chances(self, scores: Array, players: Array, dealers: Array) -> Array:
        """(N, P) chances that add up to 1; seats that do not exist have 0.

        Args:
            scores: (N, P) scores before a deal.
            players: (N,) numbers of players.
            dealers: (N,) seat that deals it.
        """
        ...


class ClosedEquity:
    """A formula for any number of players: the lead, measured in what luck can still change.

    With n deals to come, the difference of two seats moves by about `SPREAD_PER_DEAL` times the root of n; the leader
    is at the target after about (target - score) / `POINTS_PER_DEAL` deals, and one deal at least is played. The
    chances are the softmax of 1.702 score / spread, which at two players is nearly the normal distribution.
    """

    def __init__(self, rules: Rules) -> None:
        self.target = rules.target

    def chances(self, scores: Array, players: Array, dealers: Array) -> Array:
        """As in `Equity`; the dealer is left out of account."""
        there = np.arange(scores.shape[1]) < players[:, None]
        points = np.where(there, scores.astype(np.float64), -np.inf)
        best = points.max(axis=1)
        deals = 1 + np.maximum(self.target - best, 0) / POINTS_PER_DEAL
        scale = LOGISTIC / (SPREAD_PER_DEAL * np.sqrt(deals))
        odds = np.exp((points - best[:, None]) * scale[:, None])
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


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
