"""Exact odds of drawing cards: what a hand becomes when some of its cards are kept and others drawn from unseen ones.

Hands are counted by class: category and first rank compared (the pair, the higher pair of two, the three or four, the top
card of a straight, a flush or a high-card hand), `class = 13 * category + rank`, 0 to 129, larger is better. All draws
of a kind are counted at once, by how many cards of each rank are unseen, and flushes by suit: pricing all 32 subsets of a
hand takes some 13 microseconds, where going through its two million draws would take as many milliseconds.
"""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, SUIT_CARDS, lowest, popcount, select
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
    ranks = cards >> suit & SUIT_CARDS
    ranks = (ranks | ranks >> 3) & 0x0303030303030303
    ranks = (ranks | ranks >> 6) & 0x000F000F000F000F
    ranks = (ranks | ranks >> 12) & 0x000000FF000000FF
    return (ranks | ranks >> 24) & 0x1FFF


@jit
def _by_rank(cards: int) -> int:
    """How many cards of each rank are in a set, four bits for each rank."""
    pairs = cards - (cards >> 1 & 0x5555555555555)
    return (pairs & 0x3333333333333) + (pairs >> 2 & 0x3333333333333)


@jit
def _without(sums: Any, left: int, k: int) -> float:
    """The k-th elementary symmetric sum, k <= 3, of numbers among which `left` is, without it; `sums`: those with it."""
    result = 1.0
    for i in range(1, k + 1):
        result = sums[i] - left * result
    return result


@jit
def _add_high_cards(held: int, left: int, n: int, sums: Any, out: Any) -> None:
    """Hands without a pair, straights among them: by top card, then straights moved to their class."""
    sums[0] = 1.0  # symmetric sums over the free ranks passed so far
    sums[1:] = 0.0
    top, ranks, free = -1, 0, 0
    for rank in range(13):
        if held >> 4 * rank & 15:
            top = rank
            ranks |= 1 << rank
        elif left >> 4 * rank & 15:
            free |= 1 << rank
    if top >= 0:
        rest = free & ((1 << top) - 1)
    else:
        rest = 0
    while rest:
        ways = left >> 4 * lowest(rest) & 15
        rest &= rest - 1
        for k in range(n, 0, -1):
            sums[k] += ways * sums[k - 1]
    if top >= 0:
        out[13 * HIGH_CARD + top] += sums[n]
    rest = free >> (top + 1) << (top + 1) if n > 0 else 0
    while rest:
        rank = lowest(rest)
        rest &= rest - 1
        ways = left >> 4 * rank & 15
        out[13 * HIGH_CARD + rank] += ways * sums[n - 1]
        for k in range(n, 0, -1):
            sums[k] += ways * sums[k - 1]
    for i in range(10):
        window = int(_WINDOWS[i])
        lacks = window & ~ranks
        if window & ranks == ranks and lacks & ~free == 0:
            total = 1.0
            while lacks:
                total *= left >> 4 * lowest(lacks) & 15
                lacks &= lacks - 1
            out[13 * HIGH_CARD + int(HIGHEST[window])] -= total
            out[13 * STRAIGHT + i + 3] += total


@jit
def _add_two_groups(groups: int, ranks: int, held: int, left: int, n: int, singles: int, pairs: Any, out: Any) -> None:
    """Two pairs and full houses.

    Args:
        groups: ranks of which two or more are held, as bits.
        ranks: ranks that are held.
        held: cards held of each rank, four bits each.
        left: cards unseen of each rank, four bits each.
        n: cards drawn.
        singles: unseen cards of ranks that are not held.
        pairs: (13,) float64, scratch: ways to draw what a pair of the rank lacks.
        out: (CLASSES,), added to.
    """
    for rank in range(13):
        short = 2 - (held >> 4 * rank & 15)
        pairs[rank] = CHOOSE[left >> 4 * rank & 15, short] if 0 <= short <= n else 0.0
    rest = ranks
    while rest:  # one of the two ranks is held, or both
        first = lowest(rest)
        rest &= rest - 1
        for second in range(13):
            if pairs[second] == 0.0 or second == first or (ranks >> second & 1 and second < first):
                continue
            if groups & ~(1 << first | 1 << second):
                continue
            more = n - 4 + (held >> 4 * first & 15) + (held >> 4 * second & 15)
            if 0 <= more <= 1:
                ways = pairs[first] * pairs[second]
                if more == 1:
                    ways *= singles - (0 if ranks >> second & 1 else left >> 4 * second & 15)
                out[13 * TWO_PAIR + max(first, second)] += ways
    if n >= 4 and groups == 0:  # neither is
        total, taken = 0.0, 0.0
        for rank in range(13):
            if ranks >> rank & 1:
                continue
            own = left >> 4 * rank & 15
            ways = total if n == 4 else total * (singles - own) - taken
            out[13 * TWO_PAIR + rank] += ways * pairs[rank]
            total += pairs[rank]
            taken += pairs[rank] * own
    if ranks & (ranks - 1) & ((ranks & (ranks - 1)) - 1):
        return  # three ranks are held
    for first in range(13):
        lacks = 3 - (held >> 4 * first & 15)
        others = ranks & ~(1 << first)
        if lacks < 0 or lacks > n or others & (others - 1):
            continue
        ways = CHOOSE[left >> 4 * first & 15, lacks]
        if ways == 0.0:
            continue
        if others:
            second = lowest(others)
            if lacks + 2 - (held >> 4 * second & 15) == n:
                out[13 * FULL_HOUSE + first] += ways * pairs[second]
        elif lacks + 2 == n:
            for second in range(13):
                if second != first:
                    out[13 * FULL_HOUSE + first] += ways * pairs[second]


@jit
def _add_by_rank(kept: int, unseen: int, n: int, work: Any, out: Any) -> None:
    """Adds the number of ways to each class, as if there were no flushes, to `out`.

    The ranks of a pair, three or four are gone through; what is left to draw are single cards of other ranks, whose ways
    are symmetric sums of the numbers of unseen cards of each rank.
    """
    held, left = _by_rank(kept), _by_rank(unseen)
    free = work[0]  # symmetric sums over the ranks that are not held
    free[0] = 1.0
    free[1:] = 0.0
    ranks, groups = 0, 0
    for rank in range(13):
        have = held >> 4 * rank & 15
        if have == 0:
            ways = left >> 4 * rank & 15
            for k in range(n, 0, -1):
                free[k] += ways * free[k - 1]
        else:
            ranks |= 1 << rank
            groups |= int(have > 1) << rank
    if groups == 0:
        _add_high_cards(held, left, n, work[1], out)
    for rank in range(13):
        if groups & ~(1 << rank):
            continue
        own, ways_left = held >> 4 * rank & 15, left >> 4 * rank & 15
        for size in range(max(own, 2), 5):
            rest = n - (size - own)
            if rest < 0:
                break
            ways = CHOOSE[ways_left, size - own] * (free[rest] if own else _without(free, ways_left, rest))
            out[13 * (PAIR if size == 2 else THREE if size == 3 else FOUR) + rank] += ways
    _add_two_groups(groups, ranks, held, left, n, int(free[1]), work[2], out)


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
    work = np.empty((3, 13), dtype=np.float64)
    _add_by_rank(kept, unseen, n, work, out)
    for suit in range(4):
        if kept & ~(SUIT_CARDS << suit) == 0:
            _move_flushes(kept, unseen, n, suit, out)
    total = CHOOSE[popcount(unseen), n]
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


@jit
def two_draw_odds(kept: int, unseen: int, values: Any, out: Any) -> None:
    """Chance of each class after two draws, the second made by `best_keep`.

    Every first draw is gone through, so it takes C(unseen, drawn) times as long as pricing a hand: some milliseconds for
    one card, a second for three. The cards that the second exchange discards cannot be drawn again.

    Args:
        kept: the cards kept at the first exchange, as a set.
        unseen: as in `draw_odds`.
        values: (CLASSES,) value of ending up with each class.
        out: (CLASSES,) float64, written.
    """
    odds = np.empty(CLASSES, dtype=np.float64)
    n = 5 - popcount(kept)
    pool = np.empty(52, dtype=np.int64)
    size = 0
    rest = unseen
    while rest:
        pool[size] = lowest(rest)
        size += 1
        rest &= rest - 1
    picks = np.arange(5)
    out[:] = 0.0
    total = 0.0
    while True:
        hand = kept
        for i in range(n):
            hand |= 1 << pool[picks[i]]
        best_keep(hand, unseen & ~hand, values, odds)
        for i in range(CLASSES):
            out[i] += odds[i]
        total += 1.0
        i = n - 1  # the next combination
        while i >= 0 and picks[i] == size - n + i:
            i -= 1
        if i < 0:
            break
        picks[i] += 1
        for k in range(i + 1, n):
            picks[k] = picks[k - 1] + 1
    for i in range(CLASSES):
        out[i] /= total


def category_odds(odds: Any) -> Any:
    """(..., CLASSES) chances summed up by category: (..., 10)."""
    return odds.reshape(*odds.shape[:-1], 10, 13).sum(axis=-1)


def unseen_of(*seen: int) -> int:
    """All cards but those of the sets given."""
    cards = FULL_DECK
    for some in seen:
        cards &= ~some
    return cards
