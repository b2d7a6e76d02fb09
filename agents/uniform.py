"""The agent `random`: every legal action is as likely as any other."""

from typing import Any

import numpy as np

from agents.base import Actions, Masks, Observations, Rng
from chicago_env._jit import jit


@jit
def pick_uniformly(masks: Any, fractions: Any, actions: Any) -> None:
    """Writes the legal action at `fractions[i]` in [0, 1) of the ascending list of row i into `actions` (B,) int64."""
    for i in range(masks.shape[0]):
        count = 0
        for a in range(masks.shape[1]):
            count += masks[i, a] != 0
        left = int(fractions[i] * count)
        for a in range(masks.shape[1]):
            if masks[i, a] != 0:
                if left == 0:
                    actions[i] = a
                    break
                left -= 1


class RandomAgent:
    """Picks uniformly among the legal actions."""

    name = "random"

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`."""
        actions = np.zeros(len(masks), dtype=np.int64)
        pick_uniformly(masks, rng.random(len(masks)), actions)
        return actions
