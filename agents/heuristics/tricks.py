"""The agent `heuristic:tricks`: draws for points and the last trick together, and counts cards for it.

- Exchange: as `heuristic:poker`, plus what the last trick is worth times the chance to take it with the cards kept, by a
  formula of how many unseen cards are higher than each, in which suits, and who leads (`agents.heuristics.last_trick`); a
  card kept counts less while exchanges are to come. So an ace stays at the last exchange where a kicker would go.
- Tricks: for each card the chance that it takes this trick, counted over unseen cards, and for either outcome the chance
  to take the last trick with what is left, leading or not. So it throws low cards early and fights for the fourth trick.
- Everything else as `heuristic:poker`: Chicago only when it cannot fail. Knows nothing of the score.
"""

from typing import Any

import numpy as np

from agents.heuristics import poker
from agents.heuristics.base import Heuristic
from agents.heuristics.cardplay import best_card, count_cards, legal_cards
from agents.heuristics.drawing import write_points
from agents.heuristics.outlook import POINT, SIZE, TRICK
from agents.heuristics.planning import by_points
from agents.heuristics.reading import (
    EXCHANGE,
    PLAY,
    cards,
    current_round,
    exchanges,
    number_at,
    phase,
    players,
    rule,
    scored,
    unseen,
)
from agents.odds import CLASSES
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.layout import AT

_LAST_TRICK = number_at("last_trick_points")


@jit
def _exchange(o: Any) -> int:
    count, r, rounds = players(o), current_round(o), exchanges(o)
    points = np.empty(CLASSES, dtype=np.float64)
    outlook = np.zeros(SIZE, dtype=np.float64)
    write_points(o, count, r, rounds, scored(o), points)
    outlook[POINT], outlook[TRICK] = 1.0, float(rule(o, _LAST_TRICK))
    leads = o[AT.leader] == 1
    return A.EXCHANGE + by_points(outlook, points, cards(o, AT.hand), unseen(o), count, leads, rounds - 1 - r)


@jit
def decide(o: Any, mask: Any, u: float) -> int:
    """The action for an observation row (D,) and its mask (A,); no chance, so that `u` does not matter."""
    now = phase(o)
    if now == EXCHANGE and not o[AT.stopped]:
        return _exchange(o)
    if now == PLAY:
        legal = legal_cards(o, mask)
        values = np.empty(52, dtype=np.float64)
        count_cards(o, legal, cards(o, AT.hand), unseen(o), values)
        return A.PLAY + best_card(legal, values)
    return poker.decide(o, mask, u)


@jit
def decide_rows(observations: Any, masks: Any, chance: Any, actions: Any, low: int, high: int) -> None:
    """Writes the action of rows `low` to `high` into `actions` (B,) int64; `chance`: (B,) numbers in [0, 1)."""
    for i in range(low, high):
        actions[i] = decide(observations[i], masks[i], chance[i])


class TricksAgent(Heuristic):
    """The agent `heuristic:tricks`; the module says how it plays. It uses no chance."""

    name = "heuristic:tricks"
    rows = staticmethod(decide_rows)
