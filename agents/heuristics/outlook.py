"""How the rest of a deal changes the chance to win the match: the hand's points, the last trick, a Chicago.

An `Outlook` is a flat array that the functions below fill and read; `AT_...` are its parts. Chances are of seat 0.
"""

from typing import Any

import numpy as np

from agents.equity import win_chance
from agents.heuristics.beliefs import write_belief
from agents.heuristics.last_trick import last_trick_chance
from agents.heuristics.reading import flag_at, hand_points, number_at, players, rule, score, target
from agents.heuristics.sweep import follow_sweep, lead_sweep
from agents.odds import CLASSES, class_of
from chicago_env._jit import jit
from chicago_env.hands import FOUR, ROYAL
from chicago_env.layout import AT, SEATS

_FIRST_PAST, _SHOWDOWN_FIRST = flag_at("first_past"), flag_at("showdown_first")
_SUCCESS_TRICK, _SUCCESS_HAND = flag_at("success_last_trick"), flag_at("success_hand")
_FAILURE_TRICK, _FAILURE_HAND = flag_at("failure_last_trick"), flag_at("failure_hand")
_INSTANT = flag_at("instant_1")
_FOUR_RESETS, _ROYAL_RESETS = flag_at("four_reset"), flag_at("royal_resets")
_NEEDS_ATTEMPT, _NEEDS_SUCCESS = flag_at("needs_attempt"), flag_at("needs_success")
_LAST_TRICK, _CHICAGO = number_at("last_trick_points"), number_at("chicago_points")
_PENALTY, _BREAKER = number_at("chicago_penalty"), number_at("chicago_breaker_points")

# Parts of an outlook.
WINS = 0  # by class of the own hand: the chance that it is the best
QUIET = CLASSES  # by class: the chance to win the match if nobody calls, without and with the last trick
MADE = 3 * CLASSES  # by class: the same if a Chicago is called and made
FAILED = 4 * CLASSES  # the same if it fails
POINT = FAILED + 1  # what a point of a hand is worth
TRICK = POINT + 1  # what the last trick is worth
SIZE = TRICK + 1

_FAILED_TRICK = 0.4  # chance to take the last trick when a Chicago has failed and the play goes on
_USUAL_POINTS = 2  # of the hand that beats one's own
_DENIAL = 0.7  # a hand that is the best keeps another from most of what it would score


@jit
def write_scores(o: Any, scores: Any) -> None:
    """Writes the scores (6,) float64."""
    for seat in range(SEATS):
        scores[seat] = float(score(o, seat)) if seat < players(o) else 0.0


@jit
def ineligible(o: Any) -> int:
    """Bit per seat: it may not win yet, for it has called, or made, no Chicago."""
    bits = 0
    for seat in range(SEATS):
        if o[_NEEDS_ATTEMPT] and not o[AT.attempted + seat]:
            bits |= 1 << seat
        if o[_NEEDS_SUCCESS] and not o[AT.succeeded + seat]:
            bits |= 1 << seat
    return bits


@jit
def _chance(scores: Any, count: int, goal: int, barred: int) -> float:
    for seat in range(count):
        if barred >> seat & 1:
            scores[seat] = min(scores[seat], goal - 1.0)
    return win_chance(scores, count, goal, 0)


@jit
def chance_after(
    o: Any, scores: Any, own: float, barred: int, hand_seat: int, category: int, trick_seat: int, scratch: Any
) -> float:
    """Chance to win the match after a deal whose last points are these.

    Args:
        o: observation row, for the rules.
        scores: (6,) scores now; not changed.
        own: points that seat 0 gets before them.
        barred: seats that may not win, `ineligible`.
        hand_seat: who scores for the best hand, -1 for nobody.
        category: of that hand.
        trick_seat: who scores for the last trick, -1 for nobody.
        scratch: (6,) float64.
    """
    count, goal = players(o), target(o)
    first_past = o[_FIRST_PAST] == 1
    for seat in range(SEATS):
        scratch[seat] = scores[seat]
    scratch[0] += own
    if first_past and own > 0 and scratch[0] >= goal and barred & 1 == 0:
        return 1.0
    for step in range(2):
        if (step == 0) == (o[_SHOWDOWN_FIRST] == 1):
            if hand_seat < 0 or category == 0:
                continue
            if o[_INSTANT + category - 1]:
                return 1.0 if hand_seat == 0 else 0.0
            scratch[hand_seat] += hand_points(o, category)
            if (category == FOUR and o[_FOUR_RESETS]) or (category == ROYAL and o[_ROYAL_RESETS]):
                for seat in range(count):
                    if seat != hand_seat:
                        scratch[seat] = 0.0
            scorer = hand_seat
        else:
            if trick_seat < 0:
                continue
            scratch[trick_seat] += rule(o, _LAST_TRICK)
            scorer = trick_seat
        if first_past and scratch[scorer] >= goal and barred >> scorer & 1 == 0:
            return 1.0 if scorer == 0 else 0.0
    return _chance(scratch, count, goal, barred)


@jit
def _write_best(o: Any, count: int, best: Any) -> None:
    """Writes the chance of each class to be the best of the other hands into `best` (CLASSES,)."""
    belief = np.empty(CLASSES, dtype=np.float64)
    best[:] = 1.0
    for seat in range(1, count):
        write_belief(o, seat, belief)
        total = 0.0
        for i in range(CLASSES):
            total += belief[i]
            best[i] *= total
    for i in range(CLASSES - 1, 0, -1):
        best[i] -= best[i - 1]


@jit
def write_outlook(o: Any, out: Any) -> None:
    """Fills an outlook (SIZE,) float64 from an observation row before the tricks."""
    count = players(o)
    others = count - 1
    barred = ineligible(o)
    scores = np.empty(SEATS, dtype=np.float64)
    scratch = np.empty(SEATS, dtype=np.float64)
    best = np.empty(CLASSES, dtype=np.float64)
    write_scores(o, scores)
    _write_best(o, count, best)
    below = 0.0
    for i in range(CLASSES):
        out[WINS + i] = below + best[i] / 2
        below += best[i]
    mine = np.empty(10, dtype=np.float64)
    theirs = np.empty(10, dtype=np.float64)
    for trick in range(2):
        for category in range(10):
            mine[category], theirs[category] = 0.0, 0.0
            for seat in range(1, count):
                taker = 0 if trick else seat
                mine[category] += chance_after(o, scores, 0.0, barred, 0, category, taker, scratch) / others
                theirs[category] += chance_after(o, scores, 0.0, barred, seat, category, taker, scratch) / others
        above = 0.0
        for i in range(CLASSES - 1, -1, -1):
            category = i // 13
            even = best[i] * (mine[category] + theirs[category]) / 2
            out[QUIET + 2 * i + trick] = (out[WINS + i] - best[i] / 2) * mine[category] + even + above
            above += best[i] * theirs[category]
    _write_chicago(o, scores, barred, scratch, out)
    _write_worth(o, scores, barred, scratch, out)


@jit
def _write_chicago(o: Any, scores: Any, barred: int, scratch: Any, out: Any) -> None:
    made = rule(o, _CHICAGO)
    taker = 0 if o[_SUCCESS_TRICK] else -1
    free = barred & ~1
    other = chance_after(o, scores, made, free, 1 if o[_SUCCESS_HAND] else -1, _USUAL_POINTS, taker, scratch)
    for category in range(10):
        own = chance_after(o, scores, made, free, 0 if o[_SUCCESS_HAND] else -1, category, taker, scratch)
        for i in range(13 * category, 13 * (category + 1)):
            out[MADE + i] = out[WINS + i] * own + (1 - out[WINS + i]) * other
    lost = -float(rule(o, _PENALTY))
    free = barred & ~1 if o[_NEEDS_ATTEMPT] else barred
    breaker = rule(o, _BREAKER)
    hand = 1 if o[_FAILURE_HAND] else -1
    scores[1] += breaker
    if o[_FAILURE_TRICK]:
        out[FAILED] = _FAILED_TRICK * chance_after(o, scores, lost, free, hand, _USUAL_POINTS, 0, scratch)
        out[FAILED] += (1 - _FAILED_TRICK) * chance_after(o, scores, lost, free, hand, _USUAL_POINTS, 1, scratch)
    else:
        out[FAILED] = chance_after(o, scores, lost, free, hand, _USUAL_POINTS, -1, scratch)
    scores[1] -= breaker


@jit
def _write_worth(o: Any, scores: Any, barred: int, scratch: Any, out: Any) -> None:
    count = players(o)
    step = 3.0
    for seat in range(SEATS):
        scratch[seat] = scores[seat]
    now = _chance(scratch, count, target(o), barred)
    out[POINT], out[TRICK] = 0.0, 0.0
    for seat in range(count):
        for other in range(SEATS):
            scratch[other] = scores[other]
        scratch[seat] += step
        change = _chance(scratch, count, target(o), barred) - now
        out[POINT] += change / step if seat == 0 else -_DENIAL * change / (step * (count - 1))
        change = chance_after(o, scores, 0.0, barred, -1, 0, seat, scratch) - now
        out[TRICK] += change if seat == 0 else -change / (count - 1)


@jit
def sweep_chance(hand: int, hidden: int, count: int, leads: bool) -> float:
    """Chance to make a Chicago with five cards; `leads`: who calls leads the first trick."""
    if leads:
        return lead_sweep(hand, hidden, 5, count - 1)
    return follow_sweep(hand, hidden, 5, count - 1)


@jit
def call_value(outlook: Any, of_class: int, chance: float) -> float:
    """Chance to win the match after calling a Chicago that is made with this chance."""
    return float(chance * outlook[MADE + of_class] + (1 - chance) * outlook[FAILED])


@jit
def quiet_value(outlook: Any, of_class: int, trick: float) -> float:
    """Chance to win the match if nobody calls; `trick`: chance to take the last trick."""
    at = QUIET + 2 * of_class
    return float((1 - trick) * outlook[at] + trick * outlook[at + 1])


@jit
def final_value(outlook: Any, hand: int, hidden: int, count: int, leads: bool, first: bool, may_call: bool) -> float:
    """Chance to win the match with five cards for the tricks, calling a Chicago if that is better.

    Args:
        outlook: as filled.
        hand: five cards.
        hidden: cards not seen.
        count: number of players.
        leads: seat 0 leads the first trick if nobody calls.
        first: it leads the first trick if it calls; if not, a Chicago is taken to fail.
        may_call: it may call.
    """
    of_class = class_of(hand)
    value = quiet_value(outlook, of_class, last_trick_chance(hand, leads, count))
    if may_call:
        chance = lead_sweep(hand, hidden, 5, count - 1) if first else 0.0
        value = max(value, call_value(outlook, of_class, chance))
    return value
