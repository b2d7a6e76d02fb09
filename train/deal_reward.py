"""Rewards of single deals: the change of the chance to win the match."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chicago_env.errors import SetupError
from chicago_env.vector import BatchEnv, Step
from eval.equity import Deals, Equity
from eval.solved_equity import SolvedEquity

Array = np.ndarray[Any, Any]


class DealLog:
    """The last deals that were played, up to a number."""

    def __init__(self, capacity: int, players: int) -> None:
        self._table = np.zeros((capacity, 2 * players + 2), dtype=np.int32)
        self._count = np.zeros(1, dtype=np.int64)

    def __len__(self) -> int:
        return min(int(self._count[0]), len(self._table))

    def add(self, deals: Deals) -> None:
        """Keeps deals; the oldest go."""
        rows = np.column_stack([deals.before, deals.after, deals.dealers, deals.winners])
        at = (self._count[0] + np.arange(len(rows))) % len(self._table)
        self._table[at] = rows
        self._count += len(rows)

    def deals(self) -> Deals:
        """What is kept."""
        rows = self._table[: len(self)].astype(np.int64)
        players = (rows.shape[1] - 2) // 2
        return Deals(rows[:, :players], rows[:, players : 2 * players], rows[:, -2], rows[:, -1])

    def get_state(self) -> dict[str, Array]:
        """Everything, as arrays."""
        return {"deals": self._table[: len(self)].copy(), "deal_count": self._count.copy()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Goes on where `get_state` was called.

        Raises:
            SetupError: arrays of another shape or type.
        """
        deals, count = state["deals"], state["deal_count"]
        fits = deals.dtype == np.int32 and deals.ndim == 2 and deals.shape[1] == self._table.shape[1]
        if not fits or count.shape != (1,) or len(deals) != min(max(int(count[0]), 0), len(self._table)):
            raise SetupError("the saved log of deals is of another run")
        self._table[: len(deals)] = deals
        self._count = count.astype(np.int64)


class DealReward:
    """Pays every seat, at the end of an episode of one deal, the change of its chance to win the match.

    The chance is written as the mean `win` reward: 1 for a sure winner, -1/(P-1) for a sure loser. With two players
    that is twice the change of the chance. A match won pays as a chance of 1.

    Attributes:
        equities: the chances for each kind of game in the batch; `use` changes them.
        logs: the last deals of each kind, where they are kept.
    """

    def __init__(self, equities: Sequence[Equity], kinds: Array | None = None, logs: Sequence[DealLog] = ()) -> None:
        """Takes what it pays by.

        Args:
            equities: chances for each kind of game: a number of players under a rule set.
            kinds: (B,) kind of each row; all of the first kind by default.
            logs: keeps the last deals of each kind, if given.
        """
        self.equities = list(equities)
        self.logs = list(logs)
        self._kinds = kinds
        self._scores: Array = np.zeros((0, 0), dtype=np.int64)
        self._before: Array = np.zeros((0, 0))
        self._dealers: Array = np.zeros(0, dtype=np.int64)

    def begin(self, batch: BatchEnv) -> None:
        """Notes from where each row starts; to be called after a reset."""
        if self._kinds is None:
            self._kinds = np.zeros(batch.num_envs, dtype=np.int64)
        self._scores, self._dealers = batch.scores, batch.dealers
        self._before = self._chances(self._scores, batch.seats, self._dealers, self._kinds)

    def _chances(self, scores: Array, players: Array, dealers: Array, kinds: Array) -> Array:
        """(N, P) chances, each row by the equity of its kind."""
        chances = np.zeros(scores.shape)
        for kind, equity in enumerate(self.equities):
            rows = np.flatnonzero(kinds == kind)
            if len(rows):
                count = int(players[rows[0]])
                chances[rows, :count] = equity.chances(scores[rows, :count], players[rows], dealers[rows])
        return chances

    def _after(self, scores: Array, winners: Array, dealers: Array, players: Array, kinds: Array) -> Array:
        """(N, P) chances after deals by `dealers` (N,), with `winners` (N,) of the match, or -1."""
        after = self._chances(scores, players, (dealers + 1) % players, kinds)
        won = np.flatnonzero(winners >= 0)
        after[won] = 0
        after[won, winners[won]] = 1
        return after

    def worth(self, states: Array, rows: Array) -> Array:
        """(N, P) what each seat is paid for a deal that ended as records `states` (N,) say, up to what was there before it.

        Args:
            states: records at the end of a deal, played on from `rows` (N,) of the batch.
            rows: rows of the batch.
        """
        assert self._kinds is not None, "no deal has begun"
        players = states["players"]
        scores = states["scores"][:, : self._scores.shape[1]]
        after = self._after(scores, states["winner"], states["dealer"], players, self._kinds[rows])
        return np.asarray(after * (players / (players - 1))[:, None])

    def use(self, batch: BatchEnv, kind: int, equity: Equity) -> None:
        """Other chances for a kind of game, from now on and for the deals in progress."""
        self.equities[kind] = equity
        assert self._kinds is not None
        self._before = self._chances(self._scores, batch.seats, self._dealers, self._kinds)

    def get_state(self) -> dict[str, Array]:
        """What a resumed run needs, as arrays: where each row's deal began, chances that were solved, and the logs."""
        state = {"scores": self._scores.copy(), "chances": self._before.copy()}
        for kind, equity in enumerate(self.equities):
            if isinstance(equity, SolvedEquity):
                state.update({f"{kind}.knots": equity.knots.copy(), f"{kind}.table": equity.table.copy()})
        for kind, log in enumerate(self.logs):
            state.update({f"{kind}.{name}": array for name, array in log.get_state().items()})
        return state

    def set_state(self, batch: BatchEnv, state: Mapping[str, Array]) -> None:
        """Goes on where `get_state` was called, in a batch that does.

        Raises:
            SetupError: arrays of another shape or type.
        """
        shape = (batch.num_envs, batch.players)
        for name, dtype in (("scores", np.int64), ("chances", np.float64)):
            array = state.get(name)
            if array is None or array.shape != shape or array.dtype != dtype:
                raise SetupError(f"the saved state of rewards has no {name} of {np.dtype(dtype)} {shape}")
        for kind, log in enumerate(self.logs):
            log.set_state({name: state[f"{kind}.{name}"] for name in ("deals", "deal_count")})
        for kind in range(len(self.equities)):
            if f"{kind}.table" in state:
                self.equities[kind] = SolvedEquity(state[f"{kind}.knots"].copy(), state[f"{kind}.table"].copy())
        if self._kinds is None:
            self._kinds = np.zeros(batch.num_envs, dtype=np.int64)
        self._scores, self._before, self._dealers = state["scores"].copy(), state["chances"].copy(), batch.dealers

    def of(self, batch: BatchEnv, step: Step) -> Array:
        """Rewards (B, P) float32 of a step."""
        rewards = np.zeros(step.rewards.shape, dtype=np.float32)
        ended = np.flatnonzero(step.done)
        if not len(ended):
            return rewards
        assert self._kinds is not None
        players, kinds = batch.seats[ended], self._kinds[ended]
        outcome = batch.outcome
        scores, winners = outcome.scores[ended], outcome.winner[ended]
        for kind, log in enumerate(self.logs):
            rows = np.flatnonzero(kinds == kind)
            if len(rows):
                count, at = int(players[rows[0]]), ended[rows]
                log.add(Deals(self._scores[at, :count], scores[rows, :count], self._dealers[at], winners[rows]))
        after = self._after(scores, winners, self._dealers[ended], players, kinds)
        # the mean win reward is (P c - 1) / (P - 1): its change needs no constant, and seats that do not exist get 0
        change = after - self._before[ended]
        rewards[ended] = change * (players / (players - 1))[:, None]
        self._scores[ended], self._dealers[ended] = batch.scores[ended], batch.dealers[ended]
        self._before[ended] = self._chances(self._scores[ended], players, self._dealers[ended], kinds)
        return rewards
