"""The exchange for points: which cards to keep, by exact odds."""

from typing import Any

import numpy as np

from agents.heuristics.field import FIELDS
from agents.heuristics.reading import hand_points
from agents.odds import CLASSES, draw_odds
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, lowest, popcount, select
from chicago_env.hands import group_of, hand_value
from chicago_env.layout import HAND

NOW, LATER = FIELDS.now, FIELDS.later


@jit
def write_points(o: Any, count: int, r: int, exchanges: int, scored: int, values: Any) -> None:
    """Writes the points to be expected from holding a hand of each class after exchange r, exchanges to come included.

    Args:
        o: observation row, for the points of each category.
        count: number of players.
        r: the exchange, from 0.
        exchanges: number of exchanges in the deal.
        scored: bits of exchanges after which hands are announced.
        values: (CLASSES,) float64, written.
    """
    values[:] = 0.0
    for category in range(1, 10):
        points = hand_points(o, category)
        if points == 0:
            continue
        for t in range(r, exchanges):
            weight = points * ((scored >> t & 1) + int(t == exchanges - 1))
            if weight == 0:
                continue
            row = NOW[count - 2, t, category] if t == r else LATER[count - 2, t - r, t, category]
            first = 13 * category if t == r else 0
            last = first + 13 if t == r else CLASSES
            for i in range(first, last):
                values[i] += weight * row[i]


@jit
def worth(kept: int, unseen: int, values: Any, odds: Any) -> float:
    """Expected value of a hand whose cards `kept` are kept, by exact odds.

    Args:
        kept: cards kept.
        unseen: cards that may be drawn.
        values: (CLASSES,) value of each class.
        odds: (CLASSES,) float64, scratch: the odds are left there.
    """
    draw_odds(kept, unseen, odds)
    value = 0.0
    for i in range(CLASSES):
        value += odds[i] * values[i]
    return value


@jit
def one_suit(cards: int) -> bool:
    """Whether all cards of a set that is not empty are of one suit."""
    return cards & ~(SUIT_CARDS << (lowest(cards) & 3)) == 0


@jit
def near_straight(cards: int) -> bool:
    """Whether four cards become a straight with some fifth one."""
    low, high = lowest(cards) >> 2, highest(cards) >> 2
    if high == 12 and low <= 3:  # the ace is low
        rest = cards & ((1 << 48) - 1)
        low, high = -1, highest(rest) >> 2 if rest else 12
    ranks = 0
    rest = cards
    while rest:
        ranks |= 1 << (lowest(rest) >> 2)
        rest &= rest - 1
    return high - low <= 4 and popcount(ranks) == 4


@jit
def sensible(hand: int, group: int, kept: int) -> bool:
    """Whether it is worth pricing to keep these cards; the others are hardly ever the best for points.

    Args:
        hand: five cards.
        group: the cards of it that make a pair or better.
        kept: some of them.
    """
    n = HAND - popcount(kept)
    if n == 0 or n == HAND:
        return True
    if n == 1 and (one_suit(kept) or near_straight(kept)):
        return True
    if group == 0:
        return (n == 2 and one_suit(kept)) or hand & ~kept < (kept & -kept)  # of one suit, or the highest cards
    size = popcount(group)
    if size == 4 and n == 3 and kept & ~group == 0:  # one of two pairs
        return kept & (kept - 1) & 15 << (highest(kept) & ~3) != 0
    return size < HAND and kept & group == group


@jit
def best_for_points(hand: int, unseen: int, values: Any) -> int:
    """The exchange action with the highest expected value, among the sensible ones.

    Args:
        hand: five cards.
        unseen: cards that may be drawn.
        values: (CLASSES,) value of each class after the exchange, from `write_points`.
    """
    odds = np.empty(CLASSES, dtype=np.float64)
    group = group_of(hand, hand_value(hand))
    best, chosen = -1.0, 0
    for discards in range(1 << HAND):
        kept = hand & ~select(hand, discards)
        if sensible(hand, group, kept):
            value = worth(kept, unseen, values, odds)
            if value > best:
                best, chosen = value, discards
    return chosen
