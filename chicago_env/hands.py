"""Values of five-card hands (docs/rules.md §1), for sets of cards as 52-bit masks."""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest

HIGH_CARD, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH, ROYAL = range(10)

RANKS_COMPARED = np.array([5, 4, 3, 3, 1, 5, 2, 2, 1, 1], dtype=np.int8)
"""How many ranks decide between two hands of one category: (10,) int8."""

_WHOLE_HAND = 1 << STRAIGHT | 1 << FLUSH | 1 << FULL_HOUSE | 1 << STRAIGHT_FLUSH | 1 << ROYAL


def _pattern_tables() -> tuple[np.ndarray[Any, np.dtype[np.int8]], np.ndarray[Any, np.dtype[np.int8]]]:
    """Category and order of comparison for each of the 16 patterns of equal neighbours among five sorted ranks.

    Bit i of the pattern: the i-th and the next card of the hand, sorted by rank, have equal rank. The order is of places
    in the sorted hand, 5 for none.
    """
    category = np.zeros(16, dtype=np.int8)
    order = np.full((16, 5), 5, dtype=np.int8)
    shapes = {(1, 1, 1, 1, 1): HIGH_CARD, (2, 1, 1, 1): PAIR, (2, 2, 1): TWO_PAIR, (3, 1, 1): THREE, (3, 2): FULL_HOUSE,
              (4, 1): FOUR}  # fmt: skip
    for pattern in range(15):  # 15 would be five of a kind
        groups: list[list[int]] = [[0]]
        for i in range(4):
            if pattern >> i & 1:
                groups[-1].append(i + 1)
            else:
                groups.append([i + 1])
        groups.sort(key=lambda g: (len(g), g[-1]), reverse=True)
        category[pattern] = shapes[tuple(len(g) for g in groups)]
        for k, group in enumerate(groups):
            order[pattern, k] = group[-1]
    return category, order


_CATEGORY, _ORDER = _pattern_tables()


@jit
def hand_value(mask: int) -> int:
    """Value of five cards: larger is better, equal is an exact tie (suits do not count).

    `category << 20 | r1 << 16 | r2 << 12 | …`, the ranks in the order in which they are compared (groups first); there
    are 7,462 different values.
    """
    c0 = lowest(mask)
    rest = mask & (mask - 1)
    c1 = lowest(rest)
    rest &= rest - 1
    c2 = lowest(rest)
    rest &= rest - 1
    c3 = lowest(rest)
    rest &= rest - 1
    c4 = lowest(rest)
    r0, r1, r2, r3, r4 = c0 >> 2, c1 >> 2, c2 >> 2, c3 >> 2, c4 >> 2
    pattern = int(r0 == r1) | int(r1 == r2) << 1 | int(r2 == r3) << 2 | int(r3 == r4) << 3
    ranks = r0 | r1 << 4 | r2 << 8 | r3 << 12 | r4 << 16
    compared = 0
    for k in range(5):
        compared |= (ranks >> 4 * int(_ORDER[pattern, k]) & 15) << (16 - 4 * k)
    flush = mask & ~(SUIT_CARDS << (c0 & 3)) == 0
    wheel = r4 == 12 and r3 == 3
    if pattern == 0 and (r4 - r0 == 4 or wheel):
        top = 3 if wheel else r4
        category = STRAIGHT if not flush else ROYAL if top == 12 else STRAIGHT_FLUSH
        return category << 20 | top << 16
    return (FLUSH if flush else int(_CATEGORY[pattern])) << 20 | compared


@jit
def category_of(value: int) -> int:
    """Category id of a hand value."""
    return value >> 20


@jit
def group_of(mask: int, value: int) -> int:
    """The cards that make the category (docs/rules.md §2.1, broken hand): all five of a straight, flush, full house,
    straight flush or royal flush; the four, the three, both pairs or the pair; nothing of a high-card hand.
    """
    category = value >> 20
    # Without branches: what a hand is, is a toss-up for the processor.
    whole = -(_WHOLE_HAND >> category & 1)
    first = -int(category != HIGH_CARD) & 15 << 4 * (value >> 16 & 15)
    second = -int(category == TWO_PAIR) & 15 << 4 * (value >> 12 & 15)
    return mask & (whole | first | second)


@jit
def suit_key(mask: int, value: int, suit_ranks: Any) -> int:
    """Best suit in the highest group of the hand (docs/rules.md §1): `suit_rank << 2 | suit`, larger is better.

    The highest group is the pair, the higher pair of two, the three, the four, or the top card of a straight, a flush
    or a high-card hand. `suit_ranks`: (4,) ranks by suit, larger is better.
    """
    cards = mask & (15 << 4 * (value >> 16 & 15))
    best = 0
    while cards:
        suit = lowest(cards) & 3
        best = max(best, int(suit_ranks[suit]) << 2 | suit)
        cards &= cards - 1
    return best


@jit
def hand_values(masks: Any, out: Any) -> None:
    """`hand_value` of each of `masks` (N,) int64, written to `out` (N,) int64."""
    for i in range(masks.shape[0]):
        out[i] = hand_value(masks[i])
