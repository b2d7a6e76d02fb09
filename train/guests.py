"""Guests: seats of a self-play batch that other agents play, and from whose decisions nothing is learned."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.base import Agent, ask
from chicago_env.errors import SetupError
from chicago_env.vector import Step

Array = np.ndarray[Any, Any]

LEARNER = -1
"""In place of the index of a guest: the learner plays."""


def _rows(share: float, rows: int) -> int:
    """A share of the rows, one at least."""
    return max(1, round(share * rows)) if share else 0


class Guests:
    """Who sits beside the learner, in the first rows of a batch.

    In a row with guests the learner keeps one seat, and one guest, drawn anew for every episode, plays all others: never
    are they exchanged inside a game. Regulars, who never change, have rows of their own, before those of the other guests.

    Attributes:
        regulars: those who are drawn for the first rows.
        agents: those who are drawn for the rows after them; agents may be added at any time.
        rows: number of rows with guests, regulars or others.
        seated: whether rows have begun.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        share: float,
        seats: Array,
        seed: int = 0,
        *,
        regulars: Sequence[Agent] = (),
        regular_share: float = 0.0,
    ) -> None:
        """Makes the table.

        Args:
            agents: the guests; while there are none the learner plays their rows alone.
            share: share of the rows, 0 to 1.
            seats: (B,) number of players of each row.
            seed: of all chance.
            regulars: guests with rows of their own.
            regular_share: share of those rows; both shares together are at most 1.
        """
        self.regulars, self.agents = tuple(regulars), list(agents)
        self._regular_rows = _rows(regular_share, len(seats)) if regulars else 0
        self.rows = min(self._regular_rows + _rows(share, len(seats)), len(seats))
        self.seated = False
        self._seed = seed
        self._own = np.arange(len(seats)) % seats
        self._guest = np.full(len(seats), LEARNER, dtype=np.int64)

    def at(self, step: Step) -> Array:
        """(B,) index of the guest to act in each row, or `LEARNER`."""
        return np.where(step.seat == self._own, LEARNER, self._guest)

    @property
    def beside(self) -> Array:
        """(B,) index of the guest that sits in each row, or `LEARNER`."""
        return self._guest.copy()

    def begin(self, number: int) -> None:
        """Draws a guest for every row; `number` of decisions so far makes the chance of this call its own."""
        self.seated = True
        self.draw(np.ones(len(self._guest), dtype=np.bool_), number)

    def draw(self, done: Array, number: int) -> None:
        """Draws a guest for each row that starts an episode, where `done` (B,); see `begin`."""
        rng = np.random.default_rng((self._seed, number, 0))
        first = len(self.regulars)
        for rows, low, count in (
            (slice(self._regular_rows, self.rows), first, len(self.agents)),
            (slice(self._regular_rows), 0, first),
        ):
            if count and len(self._guest[rows]):
                drawn = low + rng.integers(count, size=len(self._guest[rows]))
                self._guest[rows] = np.where(done[rows], drawn, self._guest[rows])

    def play(self, actions: Array, at: Array, step: Step, number: int) -> None:
        """Writes the guests' actions into `actions` (B,), where `at` (see the method) names one."""
        if self.rows:
            self.answer(actions, at, step.observation, step.mask, (number, 1))

    def answer(self, actions: Array, at: Array, observations: Array, masks: Array, key: tuple[int, ...]) -> None:
        """Writes into `actions` (N,) what the guests named by `at` (N,) do, wherever they are asked.

        Args:
            actions: changed where `at` names a guest.
            at: index of a guest, or `LEARNER`.
            observations: (N, D) uint8.
            masks: (N, A) int8.
            key: makes the chance of this call its own.
        """
        everybody = (*self.regulars, *self.agents)
        for index in np.unique(at):
            if index == LEARNER:
                continue
            rows = np.flatnonzero(at == index)
            rng = np.random.default_rng((self._seed, *key, int(index)))
            actions[rows] = ask(everybody[index], observations[rows], masks[rows], rng)

    def get_state(self) -> dict[str, Array]:
        """Who sits where, as an array."""
        return {"guest": self._guest.copy()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Goes on where `get_state` was called, with the same agents.

        Raises:
            SetupError: an array of another shape, or with agents that are not there.
        """
        guest = state["guest"]
        if guest.shape != self._guest.shape or guest.dtype != np.int64:
            raise SetupError("the saved table of guests is of another run")
        if ((guest < LEARNER) | (guest >= len(self.regulars) + len(self.agents))).any():
            raise SetupError("the saved table of guests names some that are not there")
        self._guest, self.seated = guest.copy(), True
