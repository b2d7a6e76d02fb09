"""The chance to win a match from given scores, and rewards for single deals made of it.

A match lasts over a hundred decisions and its result is mostly luck; a deal whose reward is the change of the chance to
win tells the learner the same in a tenth of the time. A difference of potentials does not change which policy is best
(Ng, Harada and Russell 1999).
"""

from typing import Any, Protocol

import numpy as np

from agents.equity import LOGISTIC, POINTS_PER_DEAL, SPREAD_PER_DEAL
from chicago_env.errors import SetupError
from chicago_env.rules import Rules
from chicago_env.vector import BatchEnv, Step

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


class DealReward:
    """Pays every seat, at the end of an episode of one deal, the change of its chance to win the match.

    The chance is written as the mean `win` reward: 1 for a sure winner, -1/(P-1) for a sure loser. With two players
    that is twice the change of the chance. A match won pays as a chance of 1.
    """

    def __init__(self, equity: Equity) -> None:
        self.equity = equity
        self._before: Array = np.zeros((0, 0))
        self._dealers: Array = np.zeros(0, dtype=np.int64)

    def begin(self, batch: BatchEnv) -> None:
        """Notes from where each row starts; to be called after a reset."""
        self._dealers = batch.dealers
        self._before = self.equity.chances(batch.scores, batch.seats, self._dealers)

    def get_state(self) -> Array:
        """(B, P) float64, the chances at the start of each row's deal: scores change in the middle of one."""
        return self._before.copy()

    def set_state(self, batch: BatchEnv, state: Array) -> None:
        """Goes on where `get_state` was called, in a batch that does.

        Raises:
            SetupError: an array of another shape or type.
        """
        shape = (batch.num_envs, batch.players)
        if state.shape != shape or state.dtype != np.float64:
            raise SetupError(f"the saved state of rewards is {state.dtype} {state.shape}, not float64 {shape}")
        self._before, self._dealers = state.copy(), batch.dealers

    def of(self, batch: BatchEnv, step: Step) -> Array:
        """Rewards (B, P) float32 of a step."""
        rewards = np.zeros(step.rewards.shape, dtype=np.float32)
        ended = np.flatnonzero(step.done)
        if not len(ended):
            return rewards
        players = batch.seats[ended]
        outcome = batch.outcome
        after = self.equity.chances(outcome.scores[ended], players, (self._dealers[ended] + 1) % players)
        winners = outcome.winner[ended]
        won = np.flatnonzero(winners >= 0)
        after[won] = 0
        after[won, winners[won]] = 1
        # the mean win reward is (P c - 1) / (P - 1): its change needs no constant, and seats that do not exist get 0
        change = after - self._before[ended]
        rewards[ended] = change * (players / (players - 1))[:, None]
        self._dealers[ended] = batch.dealers[ended]
        self._before[ended] = self.equity.chances(batch.scores[ended], players, self._dealers[ended])
        return rewards
