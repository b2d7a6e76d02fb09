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


class Guests:
    """Who sits beside the learner, in the first rows of a batch.

    In a row with guests the learner keeps one seat, and one guest, drawn anew for every episode, plays all others: never
    are they exchanged inside a game.

    Attributes:
        agents: those who may be drawn; agents may be added at any time.
        rows: number of rows with guests.
        seated: whether rows have begun.
    """

    def __init__(self, agents: Sequence[Agent], share: float, seats: Array, seed: int = 0) -> None:
        """Makes the table.

        Args:
            agents: the guests; while there are none the learner plays everywhere.
            share: share of the rows, 0 to 1.
            seats: (B,) number of players of each row.
            seed: of all chance.
        """
        self.agents = list(agents)
        self.rows = round(share * len(seats))
        self.seated = False
        self._seed = seed
        self._own = np.arange(len(seats)) % seats
        self._guest = np.full(len(seats), LEARNER, dtype=np.int64)

    def at(self, step: Step) -> Array:
        """(B,) index of the guest to act in each row, or `LEARNER`."""
        return np.where(step.seat == self._own, LEARNER, self._guest)

    def begin(self, number: int) -> None:
        """Draws a guest for every row; `number` of decisions so far makes the chance of this call its own."""
        self.seated = True
        self.draw(np.ones(len(self._guest), dtype=np.bool_), number)

    def draw(self, done: Array, number: int) -> None:
        """Draws a guest for each row that starts an episode, where `done` (B,); see `begin`."""
        if not self.rows or not self.agents:
            return
        rng = np.random.default_rng((self._seed, number, 0))
        drawn = rng.integers(len(self.agents), size=self.rows)
        self._guest[: self.rows] = np.where(done[: self.rows], drawn, self._guest[: self.rows])

    def play(self, actions: Array, at: Array, step: Step, number: int) -> None:
        """Writes the guests' actions into `actions` (B,), where `at` (see the method) names one."""
        if not self.rows:
            return
        for index in np.unique(at[: self.rows]):
            if index == LEARNER:
                continue
            rows = np.flatnonzero(at == index)
            rng = np.random.default_rng((self._seed, number, 1, int(index)))
            actions[rows] = ask(self.agents[index], step.observation[rows], step.mask[rows], rng)

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
        if ((guest < LEARNER) | (guest >= len(self.agents))).any():
            raise SetupError("the saved table of guests names some that are not there")
        self._guest, self.seated = guest.copy(), True
