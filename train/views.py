"""What the learner's network sees of a step, and what its actions mean in the game.

Letters: B batch, F inputs of the network, A actions.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from agents.networks import NetworkConfig
from agents.suits import canonical, renamed_actions, renamed_cards
from chicago_env.vector import Step

Array = np.ndarray[Any, Any]


class View(NamedTuple):
    """One step of a batch as the network sees it.

    Attributes:
        inputs: (B, F) uint8.
        masks: (B, A) bool, in the network's numbering of actions.
        actions: (B, A) int64, the game's number of each of the network's actions; None where they are the same.
        suits: (B, 4) int64, the network's name of each suit; None where they are the same.
    """

    inputs: Tensor
    masks: Tensor
    actions: Array | None
    suits: Array | None

    def renamed(self, cards: Array) -> Array:
        """Something said of cards (B, N 52) with the network's names of suits."""
        return cards if self.suits is None else np.asarray(renamed_cards(cards, self.suits))

    def to_game(self, chosen: Array) -> Array:
        """(B,) the game's numbers of actions (B,) that the network chose."""
        return chosen if self.actions is None else self.actions[np.arange(len(chosen)), chosen]

    def from_game(self, told: Array) -> Array:
        """Inverse of `to_game`."""
        return told if self.actions is None else renamed_actions(self.actions, told)


def view_of(step: Step, config: NetworkConfig, columns: Array, device: torch.device) -> View:
    """A step as a network of `config`, with inputs `columns` (F,), sees it."""
    observations, masks, actions, suits = step.observation, step.mask, None, None
    if config.canonical_suits:
        observations, masks, actions, suits = canonical(observations, masks)
    inputs = torch.from_numpy(observations.take(columns, axis=1)).to(device)
    return View(inputs, torch.from_numpy(masks).to(device) != 0, actions, suits)
