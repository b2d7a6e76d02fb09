"""The agent `heuristic:poker`: draws for the most points by exact odds, and plays everything else as a novice does.

- Exchange: of all sensible subsets of its hand it keeps the one with the most points to be expected from this and all later
  exchanges. The odds of the next draw are exact (`agents.odds`, its own discards and all cards shown are known to be gone);
  what comes after follows from tables by class of hand, as does the chance that a hand is the best (`agents.heuristics.field`).
- Face-up card: asks for it; accepts it if it is worth more than an unseen card.
- Under buy stop it keeps all. Announcing, four of a kind, Chicago and tricks are the novice's: it names what it has, calls
  only what cannot fail, plays its highest card when that wins.

Knows nothing of the score, and takes everybody to draw as it does itself.
"""

from typing import Any

import numpy as np

from agents.heuristics import novice
from agents.heuristics.base import Heuristic
from agents.heuristics.drawing import best_for_points, worth, write_points
from agents.heuristics.reading import (
    EXCHANGE,
    OPEN_ACCEPT,
    cards,
    current_round,
    exchanges,
    phase,
    players,
    scored,
    unseen,
)
from agents.odds import CLASSES, class_of
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.layout import AT


@jit
def accepts(o: Any, values: Any) -> bool:
    """Whether the face-up card is worth at least an unseen one; `values` as in `best_for_points`."""
    hand = cards(o, AT.hand)
    odds = np.empty(CLASSES, dtype=np.float64)
    return bool(values[class_of(hand | cards(o, AT.upcard))] >= worth(hand, unseen(o), values, odds))


@jit
def decide(o: Any, mask: Any, u: float) -> int:
    """The action for an observation row (D,) and its mask (A,); no chance, so that `u` does not matter."""
    now = phase(o)
    if (now == EXCHANGE and not o[AT.stopped]) or now == OPEN_ACCEPT:
        values = np.empty(CLASSES, dtype=np.float64)
        write_points(o, players(o), current_round(o), exchanges(o), scored(o), values)
        if now == OPEN_ACCEPT:
            return A.ACCEPT if accepts(o, values) else A.DECLINE
        return A.EXCHANGE + best_for_points(cards(o, AT.hand), unseen(o), values)
    return novice.decide(o, mask, u)


@jit
def decide_rows(observations: Any, masks: Any, chance: Any, actions: Any, low: int, high: int) -> None:
    """Writes the action of rows `low` to `high` into `actions` (B,) int64; `chance`: (B,) numbers in [0, 1)."""
    for i in range(low, high):
        actions[i] = decide(observations[i], masks[i], chance[i])


class PokerAgent(Heuristic):
    """The agent `heuristic:poker`; the module says how it plays. It uses no chance."""

    name = "heuristic:poker"
    rows = staticmethod(decide_rows)
