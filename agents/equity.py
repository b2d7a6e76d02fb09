"""The chance to win a match from given scores."""

from typing import Any

import numpy as np

from chicago_env._jit import jit

POINTS_PER_DEAL = 6.5
"""Mean gain of the leader in a deal, points: what brings a match closer to its end."""

SPREAD_PER_DEAL = 11.0
"""Standard deviation of the difference of two seats' gains in a deal, points (9 to 13 measured at two players)."""

LOGISTIC = 1.702
"""The logistic function of 1.702 x is the normal distribution function of x within .01."""


@jit
def win_chance(scores: Any, count: int, target: int, seat: int) -> float:
    """Chance of a seat to win the match, before a deal.

    Args:
        scores: (count,) or longer, numbers.
        count: number of players.
        target: score at which the match can be won; who has it wins, of several the one with most.
        seat: whose chance.
    """
    best, others = scores[seat], 0
    for s in range(count):
        best = max(best, scores[s])
    if best >= target:
        if scores[seat] < best:
            return 0.0
        for s in range(count):
            others += int(scores[s] == best)
        return 1.0 / others
    deals = 1.0 + (target - best) / POINTS_PER_DEAL
    scale = LOGISTIC / (SPREAD_PER_DEAL * np.sqrt(deals))
    total = 0.0
    for s in range(count):
        total += 1.0 if s == seat else np.exp((scores[s] - scores[seat]) * scale)
    return 1.0 / total
