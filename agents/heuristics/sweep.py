"""The chance to take all tricks, counted over the cards that are not seen."""

import numpy as np

from agents.odds import CHOOSE
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, lowest, popcount


@jit
def above(mine: int, unseen: int) -> int:
    """How many unseen cards are higher than all of `mine` of their suit, of suits in `mine`: whoever has one can beat me."""
    reached = mine | mine >> 4  # spread downwards, through all suits at once
    reached |= reached >> 8
    reached |= reached >> 16
    reached |= reached >> 32
    return popcount(unseen & (reached & 15) * SUIT_CARDS & ~reached)


@jit
def lead_sweep(mine: int, unseen: int, n: int, opponents: int) -> float:
    """Chance that who leads with `mine` takes n tricks, as many as it has cards, from opponents with n unseen cards each.

    I lead my cards of a suit from the top. An opponent with m of them follows with the lowest and keeps the highest for
    as long as it can: it beats me if that one is higher than my m-th, or my last if I have fewer; never if I have none.
    Counted exactly for one opponent, but that nobody is ever squeezed out of a card that would win; of several as if
    their hands did not depend on each other.
    """
    # ways to hold 0 to 5 cards of the suits so far that beat none of mine: a convolution over suits, in registers
    s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0
    for suit in range(4):
        own, theirs = mine & (SUIT_CARDS << suit), unseen & (SUIT_CARDS << suit)
        below = theirs
        if own:
            top = 1 << highest(own)
            own, below = own ^ top, theirs & (top - 1)
        w1 = CHOOSE[popcount(below), 1]
        if own:
            top = 1 << highest(own)
            own, below = own ^ top, theirs & (top - 1)
        w2 = CHOOSE[popcount(below), 2]
        if own:
            top = 1 << highest(own)
            own, below = own ^ top, theirs & (top - 1)
        w3 = CHOOSE[popcount(below), 3]
        if own:
            top = 1 << highest(own)
            own, below = own ^ top, theirs & (top - 1)
        w4 = CHOOSE[popcount(below), 4]
        if own:
            below = theirs & ((1 << highest(own)) - 1)
        w5 = CHOOSE[popcount(below), 5]
        s5 += w1 * s4 + w2 * s3 + w3 * s2 + w4 * s1 + w5
        s4 += w1 * s3 + w2 * s2 + w3 * s1 + w4
        s3 += w1 * s2 + w2 * s1 + w3
        s2 += w1 * s1 + w2
        s1 += w1
    good = 1.0 if n == 0 else s1 if n == 1 else s2 if n == 2 else s3 if n == 3 else s4 if n == 4 else s5
    return float((good / CHOOSE[popcount(unseen), n]) ** opponents)


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
