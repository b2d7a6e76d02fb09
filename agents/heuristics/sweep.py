"""The chance to take all tricks, counted over the cards that are not seen."""

from typing import Any

import numpy as np

from agents.odds import CHOOSE
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, lowest, popcount


@jit
def _suit_ways(mine: int, theirs: int, n: int, ways: Any) -> None:
    """Writes into `ways` (6,) how many sets of 0 … n cards of a suit's unseen ones `theirs` do not beat `mine` in it.

    I lead my cards of the suit from the top. An opponent with m of them follows with the lowest and keeps the highest for
    as long as it can: it beats me if that one is higher than my m-th, or my last if I have fewer.
    """
    held, total = popcount(mine), popcount(theirs)
    rest = mine
    top = 0
    for m in range(n + 1):
        if m == 0:
            ways[m] = 1.0
        elif held == 0:
            ways[m] = CHOOSE[total, m]
        else:
            if rest:
                top = highest(rest)
                rest ^= 1 << top
            ways[m] = CHOOSE[popcount(theirs & ((1 << top) - 1)), m]


@jit
def lead_sweep(mine: int, unseen: int, n: int, opponents: int) -> float:
    """Chance that who leads with `mine` takes n tricks, as many as it has cards, from opponents with n unseen cards each.

    Counted exactly for one opponent, but that nobody is ever squeezed out of a card that would win; of several as if
    their hands did not depend on each other.
    """
    ways = np.empty(6, dtype=np.float64)
    sums = np.zeros(6, dtype=np.float64)
    sums[0] = 1.0
    for suit in range(4):
        _suit_ways(mine & (SUIT_CARDS << suit), unseen & (SUIT_CARDS << suit), n, ways)
        for total in range(n, -1, -1):
            new = 0.0
            for m in range(total + 1):
                new += ways[m] * sums[total - m]
            sums[total] = new
    return float((sums[n] / CHOOSE[popcount(unseen), n]) ** opponents)


LEAD_WEIGHTS = np.exp(0.25 * (np.arange(52) // 4 - 12))
"""How likely a card is to be led against a Chicago: high cards are."""


@jit
def follow_sweep(mine: int, unseen: int, n: int, opponents: int) -> float:
    """As `lead_sweep` where an opponent leads the first trick."""
    total, good = 0.0, 0.0
    rest = unseen
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        weight = LEAD_WEIGHTS[card]
        total += weight
        above = mine & (SUIT_CARDS << (card & 3)) & -(1 << card)
        if above:
            used = above & -above if opponents == 1 else 1 << highest(above)
            good += weight * lead_sweep(mine ^ used, unseen ^ (1 << card), n - 1, opponents)
    return good / total if total > 0 else 0.0
