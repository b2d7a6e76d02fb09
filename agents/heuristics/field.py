"""What hands players have after each exchange, and what a hand may become, as tables.

They stem from players who draw for points (`agents.heuristics.make_field` plays them), and serve as the field: how likely
a hand is to be the best. A class is one of `agents.odds`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from agents.odds import CLASSES
from chicago_env.layout import ROUNDS, SEATS

Floats = np.ndarray[Any, np.dtype[np.float64]]

FILE = Path(__file__).parent / "field.npy"

FIELD = np.dtype(
    [
        ("dealt", np.float32, CLASSES),  # chance of each class when dealt
        (
            "next",
            np.float32,
            (CLASSES, CLASSES),
        ),  # chance of each class after one more exchange of a hand of that class
        # chance of (category before, cards exchanged, class after) for each exchange
        ("exchanged", np.float32, (ROUNDS, 10, 6, CLASSES)),
    ]
)
"""The tables, one record."""


def below(chances: Floats) -> Floats:
    """Chance that a hand of each class beats one drawn from `chances` (..., 130); one of its own class counts by half."""
    return np.asarray(np.cumsum(chances, axis=-1) - chances / 2)


class Field:
    """The tables as the heuristics use them.

    Attributes:
        dealt: (130,) chance of each class when dealt.
        exchanged: (3, 10, 6, 130) chance of category before, cards exchanged and class after, for each exchange.
        after: (3, 130) chance of each class after each exchange.
        wins: (5, 3, 130) chance that a hand of each class is the best of 2 to 6 players after each exchange.
        now: (5, 3, 10, 130) the same where the class is of that category, else 0.
        later: (5, 3, 3, 10, 130) chance to hold a hand of that category, and the best, after exchange t, when a hand of
            each class is exchanged k more times, by [players - 2, k, t]; k from 1.
    """

    def __init__(self, table: np.ndarray[Any, Any]) -> None:
        self.dealt = table["dealt"].astype(np.float64)
        step = table["next"].astype(np.float64)
        self.exchanged = table["exchanged"].astype(np.float64)
        self.after = self.exchanged.sum(axis=(1, 2))
        one = below(self.after)
        self.wins = np.stack([one**others for others in range(1, SEATS)])
        category = np.arange(10)[:, None] == np.arange(CLASSES) // 13
        self.now = self.wins[:, :, None, :] * category
        self.later = np.zeros((SEATS - 1, ROUNDS, ROUNDS, 10, CLASSES))
        power = step
        for k in range(1, ROUNDS):
            self.later[:, k] = self.now @ power.T
            power = power @ step


FIELDS = Field(np.load(FILE, allow_pickle=False)[0])
