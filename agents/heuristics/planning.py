"""Which cards to exchange with the whole deal in mind: points of hands, the last trick, and the chance of a Chicago."""

from typing import Any

import numpy as np

from agents.heuristics.drawing import best_for_points, sensible, worth
from agents.heuristics.field import FIELDS
from agents.heuristics.last_trick import partial_chance
from agents.heuristics.outlook import POINT, QUIET, TRICK, TRICK_GAIN, final_value
from agents.heuristics.reading import hand_points
from agents.odds import CLASSES, class_of, draw_odds
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest, popcount, positions, select
from chicago_env.engine.chance import key_of, unit
from chicago_env.hands import group_of, hand_value
from chicago_env.layout import AT, HAND

FIELD_WINS = FIELDS.wins

SAMPLES = 20
_KEPT = 8  # sets of cards whose keeping is tried
_DRAWN = 15  # cards that three exchanges may draw
_HIGH = np.array([8, 9, 10], dtype=np.int64)  # ranks worth keeping for a Chicago with 1, 2, 3 exchanges to come
_PATIENCE = np.array([1.0, 0.6, 0.4])  # share of a card's worth for the last trick with 0, 1, 2 exchanges to come
_DEPTH_RISK = np.array([1.0, 0.4, 0.12, 0.03, 0.01])  # an opponent must hold as many cards of the suit


@jit
def by_points(outlook: Any, points: Any, hand: int, hidden: int, count: int, leads: bool, to_come: int) -> int:
    """The exchange with the most expected worth: points by exact odds, the last trick by an estimate.

    Args:
        outlook: its parts POINT and TRICK are used: what a point and the last trick are worth.
        points: (CLASSES,) expected points of each class, from `write_points`.
        hand: five cards.
        hidden: cards not seen.
        count: number of players.
        leads: whether seat 0 leads the first trick.
        to_come: exchanges after this one.
    """
    odds = np.empty(CLASSES, dtype=np.float64)
    group = group_of(hand, hand_value(hand))
    best, chosen = -1.0, 0
    for discards in range(1 << HAND):
        kept = hand & ~select(hand, discards)
        if sensible(hand, group, kept) or highest_cards(hand, group, kept):
            trick = partial_chance(kept, hidden, leads, count)
            value = outlook[POINT] * worth(kept, hidden, points, odds) + _PATIENCE[to_come] * outlook[TRICK] * trick
            if value > best:
                best, chosen = value, discards
    return chosen


@jit
def by_outlook(outlook: Any, hand: int, hidden: int, count: int, leads: bool) -> int:
    """The last exchange: the best for the chance to win the match if nobody calls a Chicago.

    Args:
        outlook: as filled.
        hand: five cards.
        hidden: cards not seen.
        count: number of players.
        leads: whether seat 0 leads the first trick.
    """
    odds = np.empty(CLASSES, dtype=np.float64)
    group = group_of(hand, hand_value(hand))
    best, chosen = -1.0, 0
    for discards in range(1 << HAND):
        kept = hand & ~select(hand, discards)
        if sensible(hand, group, kept) or highest_cards(hand, group, kept):
            draw_odds(kept, hidden, odds)
            trick = partial_chance(kept, hidden, leads, count)
            value = 0.0
            for i in range(CLASSES):
                value += odds[i] * (outlook[QUIET + i] + trick * outlook[TRICK_GAIN + i])
            if value > best:
                best, chosen = value, discards
    return chosen


@jit
def highest_cards(hand: int, group: int, kept: int) -> bool:
    """Whether `kept` are the highest cards of the hand, or its group and the highest of the others."""
    gone = hand & ~kept
    if kept == 0 or gone == 0:
        return True
    return gone < (kept & -kept)


@jit
def _safety(card: int, mine: int, hidden: int, count: int) -> float:
    """Roughly the chance that a card takes its trick when led after the higher ones of its suit."""
    suit = SUIT_CARDS << (card & 3)
    above = -(1 << card) & suit
    higher = popcount(hidden & above)
    depth = popcount(mine & above) - 1
    risk = 1.0 - max(1.0 - 5.0 * (count - 1) / popcount(hidden), 0.0) ** higher
    return float(1.0 - _DEPTH_RISK[depth] * risk)


@jit
def keep_for_tricks(hand: int, to_come: int) -> int:
    """The cards to keep for a Chicago with so many exchanges to come, this one included."""
    return int(hand & ~((1 << 4 * _HIGH[to_come - 1]) - 1))


@jit
def keep_for_points(hand: int) -> int:
    """What makes the hand, or its high cards."""
    group = group_of(hand, hand_value(hand))
    return group or hand & ~((1 << 40) - 1)


@jit
def _hand_worth(o: Any, outlook: Any, hand: int, count: int, r: int) -> float:
    """What a hand may score when announced after exchange r."""
    of_class = class_of(hand)
    return float(outlook[POINT] * (hand_points(o, of_class // 13) * FIELD_WINS[count - 2, r, of_class]))


@jit
def by_samples(
    o: Any,
    outlook: Any,
    points: Any,
    hand: int,
    hidden: int,
    count: int,
    leads: bool,
    r: int,
    exchanges: int,
    scored: int,
    u: float,
) -> int:
    """The exchange that is best over sampled draws where a Chicago may be called as first to lead.

    Args:
        o: observation row.
        outlook: as filled.
        points: (CLASSES,) expected points of each class, from `write_points`.
        hand: five cards.
        hidden: cards not seen.
        count: number of players.
        leads: whether seat 0 leads the first trick if nobody calls.
        r: the exchange in progress.
        exchanges: number of exchanges.
        scored: bit r: hands are announced after exchange r.
        u: number in [0, 1), from which the samples follow.
    """
    tries = np.zeros(_KEPT, dtype=np.int64)
    values = np.zeros((_KEPT, 2), dtype=np.float64)
    tried = _write_tries(hand, hidden, count, points, tries)
    pool = np.empty(52, dtype=np.int64)
    size, rest = 0, hidden
    while rest:
        pool[size] = lowest(rest)
        size += 1
        rest &= rest - 1
    drawn = min(_DRAWN, size)
    first = np.zeros(_DRAWN + 1, dtype=np.int64)  # the first cards of the pool, by their number
    key = key_of(int(u * (1 << 52)), AT.exchanged, r, 0)
    modes = 1 if r == exchanges - 1 else 2
    for sample in range(SAMPLES):
        for i in range(drawn):
            j = i + int(unit(key, sample * _DRAWN + i) * (size - i))
            card = pool[i]
            pool[i] = pool[j]
            pool[j] = card
        for i in range(_DRAWN):
            first[i + 1] = first[i] | (1 << pool[i] if i < drawn else 0)
        for k in range(tried):
            missing = HAND - popcount(tries[k])
            filled = tries[k] | first[missing]
            scores = _hand_worth(o, outlook, filled, count, r) if scored >> r & 1 else 0.0
            for mode in range(modes):
                cards, at, value = filled, missing, scores
                for t in range(r + 1, exchanges):
                    cards = keep_for_tricks(cards, exchanges - t) if mode == 0 else keep_for_points(cards)
                    end = at + HAND - popcount(cards)
                    cards |= first[end] ^ first[at]
                    at = end
                    if scored >> t & 1:
                        value += _hand_worth(o, outlook, cards, count, t)
                values[k, mode] += value + final_value(outlook, cards, hidden & ~first[at], count, leads, True, True)
    best, chosen = -1.0, 0
    for k in range(tried):
        value = max(values[k, 0], values[k, 1]) if modes == 2 else values[k, 0]
        if value > best:
            best, chosen = value, positions(hand, hand & ~tries[k])
    return chosen


@jit
def _add_try(tries: Any, n: int, kept: int) -> int:
    for i in range(n):
        if tries[i] == kept:
            return n
    tries[n] = kept
    return n + 1


@jit
def _write_tries(hand: int, hidden: int, count: int, points: Any, tries: Any) -> int:
    """Writes the sets of cards to try; returns their number."""
    left, kept, n = hand, 0, 0
    tries[n] = 0
    n += 1
    while left:
        best, chosen = -1.0, 0
        rest = left
        while rest:
            card = lowest(rest)
            rest &= rest - 1
            safe = _safety(card, hand, hidden, count) + 0.001 * (card >> 2)
            if safe > best:
                best, chosen = safe, card
        left ^= 1 << chosen
        kept |= 1 << chosen
        tries[n] = kept
        n += 1
    n = _add_try(tries, n, hand & ~select(hand, best_for_points(hand, hidden, points)))
    n = _add_try(tries, n, group_of(hand, hand_value(hand)))
    return n
