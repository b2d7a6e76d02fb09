"""What all heuristics share: a compiled kernel over rows, split over the cores."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from agents.base import Actions, Floats, Masks, Observations, Rng
from chicago_env.pool import default_threads, run_chunks


class Heuristic:
    """An agent made of a kernel that decides rows one by one.

    Attributes:
        name: name of the agent.
        rows: `rows(observations, masks, chance, actions, low, high)` writes the actions of rows `low` to `high`;
            `chance` is (B,) float64, one number in [0, 1) for each row.
        uses_chance: whether the kernel looks at `chance`; if not, none is drawn.
    """

    name: ClassVar[str]
    rows: ClassVar[Callable[..., None]]
    uses_chance: ClassVar[bool] = False

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`."""
        count = len(masks)
        actions = np.empty(count, dtype=np.int64)
        chance: Floats = rng.random(count) if self.uses_chance else np.zeros(count)
        rows = type(self).rows

        def part(low: int, high: int) -> None:
            rows(observations, masks, chance, actions, low, high)

        run_chunks(part, count, default_threads())
        return actions
