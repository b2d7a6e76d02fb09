"""Exact odds of drawing cards: what a hand becomes when some of its cards are kept and others drawn from unseen ones.

Hands are counted by class: category and first rank compared (the pair, the higher pair of two, the three or four, the top
card of a straight, a flush or a high-card hand), `class = 13 * category + rank`, 0 to 129, larger is better. All draws
of a kind are counted at once, by how many cards of each rank are unseen, and flushes by suit: pricing all 32 subsets of a
hand takes a tenth of a millisecond instead of the five that two million hands would need.
"""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, popcount, select
from chicago_env.hands import (
    FLUSH,
    FOUR,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    ROYAL,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
    hand_value,
)

CLASSES = 130
"""Classes of hands: 10 categories with 13 ranks each; not all of them exist."""

SUBSETS = 32
"""Subsets of a hand that can be kept."""

_RANK_SETS = 1 << 13


def _rank_set_tables() -> tuple[np.ndarray[Any, np.dtype[np.int8]], np.ndarray[Any, np.dtype[np.int8]]]:
    """For each set of ranks as 13 bits: the highest of it, and the top of the straight that five ranks make, or -1."""
    highest = np.full(_RANK_SETS, -1, dtype=np.int8)
    for ranks in range(1, _RANK_SETS):
        highest[ranks] = ranks.bit_length() - 1
    straight = np.full(_RANK_SETS, -1, dtype=np.int8)
    for top in range(3, 13):
        straight[straight_ranks(top)] = top
    return highest, straight


def straight_ranks(top: int) -> int:
    """The ranks of the straight with this top card, as 13 bits; the ace is low where the five tops."""
    return 0b1_0000_0000_1111 if top == 3 else 0b11111 << (top - 4)


HIGHEST, STRAIGHT_TOP = _rank_set_tables()
_WINDOWS = np.array([straight_ranks(top) for top in range(3, 13)], dtype=np.int64)
CHOOSE = np.array(
    [[float(np.prod(range(n - k + 1, n + 1)) / np.prod(range(1, k + 1))) for k in range(6)] for n in range(53)]
)
"""Binomial coefficients (53, 6)."""


@jit
def class_of(mask: int) -> int:
    """Class of a hand of five cards."""
    value = hand_value(mask)
    return 13 * (value >> 20) + (value >> 16 & 15)


@jit
def suit_ranks(cards: int, suit: int) -> int:
    """The ranks of one suit in a set of cards, as 13 bits."""
    ranks = 0
    for rank in range(13):
        ranks |= (cards >> (4 * rank + suit) & 1) << rank
    return ranks


@jit
def _class_of_ranks(one: int, two: int, three: int, four: int) -> int:
    """Class of five cards whose suits do not count; the sets hold the ranks that occur at least once, twice, …"""
    if two == 0:
        straight = int(STRAIGHT_TOP[one])
        return 13 * STRAIGHT + straight if straight >= 0 else 13 * HIGH_CARD + int(HIGHEST[one])
    if four:
        return 13 * FOUR + int(HIGHEST[four])
    if three:
        return 13 * (FULL_HOUSE if two != three else THREE) + int(HIGHEST[three])
    return 13 * (TWO_PAIR if two & (two - 1) else PAIR) + int(HIGHEST[two])


@jit
def _add_by_rank(kept: int, unseen: int, n: int, out: Any) -> float:
    """Adds the number of ways to each class, as if there were no flushes, to `out`; returns the number of all ways."""
    left = np.zeros(13, dtype=np.int64)  # unseen cards of each rank
    one = np.zeros(6, dtype=np.int64)
    two = np.zeros(6, dtype=np.int64)
    three = np.zeros(6, dtype=np.int64)
    four = np.zeros(6, dtype=np.int64)
    for rank in range(13):
        left[rank] = popcount(unseen >> 4 * rank & 15)
        held = popcount(kept >> 4 * rank & 15)
        bit = 1 << rank
        one[0] |= bit if held > 0 else 0
        two[0] |= bit if held > 1 else 0
        three[0] |= bit if held > 2 else 0
        four[0] |= bit if held > 3 else 0
    if n == 0:
        out[_class_of_ranks(one[0], two[0], three[0], four[0])] += 1.0
        return 1.0
    # Draws as ranks in rising order, depth first; a rank's k-th copy multiplies the ways by (left - k + 1) / k.
    rank_at = np.zeros(6, dtype=np.int64)
    copies = np.zeros(6, dtype=np.int64)
    ways = np.ones(6, dtype=np.float64)
    depth, rank, total = 0, 0, 0.0
    while True:
        if rank == 13:
            if depth == 0:
                return total
            depth -= 1
            rank = rank_at[depth] + 1
            continue
        k = copies[depth] + 1 if depth and rank_at[depth - 1] == rank else 1
        if k > left[rank]:
            rank += 1
            continue
        bit = 1 << rank
        w = ways[depth] * (left[rank] - k + 1) / k
        a, b, c, d = one[depth], two[depth], three[depth], four[depth]
        d |= c & bit
        c |= b & bit
        b |= a & bit
        a |= bit
        if depth + 1 == n:
            out[_class_of_ranks(a, b, c, d)] += w
            total += w
            rank += 1
            continue
        rank_at[depth] = rank
        depth += 1
        one[depth], two[depth], three[depth], four[depth] = a, b, c, d
        ways[depth], copies[depth] = w, k


@jit
def _move_flushes(kept: int, unseen: int, n: int, suit: int, out: Any) -> None:
    """Moves the hands of one suit to the classes of flushes; `kept` has cards of that suit only."""
    held, free = suit_ranks(kept, suit), suit_ranks(unseen, suit)
    top = int(HIGHEST[held])
    below = 0
    for rank in range(13):
        ways = 0.0
        if rank == top:  # every card drawn is lower
            ways = CHOOSE[below, n]
        elif free >> rank & 1 and rank > top and n > 0:
            ways = CHOOSE[below, n - 1]
        out[13 * HIGH_CARD + rank] -= ways
        out[13 * FLUSH + rank] += ways
        below += free >> rank & 1
    for i in range(10):
        window = int(_WINDOWS[i])
        if window & held == held and window & ~held & ~free == 0:
            # counted above as a high card and a flush, by its top card; the ace of a straight to the five
            high = int(HIGHEST[window])
            out[13 * HIGH_CARD + high] += 1.0
            out[13 * FLUSH + high] -= 1.0
            out[13 * STRAIGHT + i + 3] -= 1.0
            out[13 * (ROYAL if i == 9 else STRAIGHT_FLUSH) + i + 3] += 1.0


@jit
def draw_odds(kept: int, unseen: int, out: Any) -> None:
    """Chance of each class when the hand is filled up to five cards with unseen ones, all draws equally likely.

    Args:
        kept: 0 to 5 cards, as a set.
        unseen: the cards that may be drawn, as a set; at least as many as are drawn, none of them kept.
        out: (CLASSES,) float64, written.
    """
    for i in range(CLASSES):
        out[i] = 0.0
    n = 5 - popcount(kept)
    total = _add_by_rank(kept, unseen, n, out)
    for suit in range(4):
        if kept & ~(0x1111111111111 << suit) == 0:
            _move_flushes(kept, unseen, n, suit, out)
    for i in range(CLASSES):
        out[i] /= total


@jit
def subset_odds(hand: int, unseen: int, out: Any) -> None:
    """`draw_odds` of every subset of a hand.

    Args:
        hand: five cards, as a set.
        unseen: as in `draw_odds`.
        out: (SUBSETS, CLASSES) float64, written; row i keeps the cards whose bit in i is 0, as exchange action i does.
    """
    for discards in range(SUBSETS):
        draw_odds(hand & ~select(hand, discards), unseen, out[discards])


@jit
def best_keep(hand: int, unseen: int, values: Any, out: Any) -> int:
    """The exchange action with the highest expected value, the first of equals.

    Args:
        hand: five cards, as a set.
        unseen: as in `draw_odds`.
        values: (CLASSES,) value of ending up with each class.
        out: (CLASSES,) float64, written: the odds of that exchange.
    """
    odds = np.zeros(CLASSES, dtype=np.float64)
    best, chosen = -np.inf, 0
    for discards in range(SUBSETS):
        draw_odds(hand & ~select(hand, discards), unseen, odds)
        value = 0.0
        for i in range(CLASSES):
            value += odds[i] * values[i]
        if value > best:
            best, chosen = value, discards
            out[:] = odds
    return chosen


def category_odds(odds: Any) -> Any:
    """(..., CLASSES) chances summed up by category: (..., 10)."""
    return odds.reshape(*odds.shape[:-1], 10, 13).sum(axis=-1)


def unseen_of(*seen: int) -> int:
    """All cards but those of the sets given."""
    cards = FULL_DECK
    for some in seen:
        cards &= ~some
    return cards
