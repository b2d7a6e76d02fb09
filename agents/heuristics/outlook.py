"""How the rest of a deal changes the chance to win the match: the hand's points, the last trick, a Chicago.

An `Outlook` is a flat array that the functions below fill and read; `AT_...` are its parts. Chances are of seat 0.
"""

from typing import Any

import numpy as np

from agents.equity import closed_chance
from agents.heuristics.beliefs import write_belief
from agents.heuristics.last_trick import last_trick_chance
from agents.heuristics.reading import flag_at, hand_points, number_at, players, rule, score, target
from agents.heuristics.sweep import above, follow_sweep, lead_sweep
from agents.odds import CHOOSE, CLASSES, class_of
from chicago_env._jit import jit
from chicago_env.bits import popcount
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
QUIET = CLASSES  # by class: the chance to win the match if nobody calls and another takes the last trick
TRICK_GAIN = 2 * CLASSES  # by class: what taking it oneself adds
MADE = 3 * CLASSES  # by class: the chance to win the match if a Chicago is called and made
FAILED = 4 * CLASSES  # the same if it fails
POINT = FAILED + 1  # what a point of a hand is worth
TRICK = POINT + 1  # what the last trick is worth
SIZE = TRICK + 1

# Parts of the terms: what of rules and scores an outlook needs, as numbers.
_POINTS = 0  # by category
_SCORES = 10  # by seat
_COUNT = _SCORES + SEATS
_GOAL, _PAST, _HAND_FIRST, _LAST, _BARRED = range(_COUNT + 1, _COUNT + 6)
_WON, _RESET = _BARRED + 1, _BARRED + 2  # bit per category: wins the match at once, resets the others
_TERMS = _RESET + 1

_FAILED_TRICK = 0.4  # chance to take the last trick when a Chicago has failed and the play goes on
_USUAL = 2  # category of the hand that beats one's own
_DENIAL = 0.7  # a hand that is the best keeps another from most of what it would score


@jit
def write_terms(o: Any, terms: Any) -> None:
    """Writes the terms (_TERMS,) int64 from an observation row."""
    count = players(o)
    terms[_COUNT], terms[_GOAL], terms[_LAST] = count, target(o), rule(o, _LAST_TRICK)
    terms[_PAST], terms[_HAND_FIRST] = int(o[_FIRST_PAST]), int(o[_SHOWDOWN_FIRST])
    won, barred = 0, 0
    for category in range(10):
        terms[_POINTS + category] = hand_points(o, category)
        won |= int(category > 0 and o[_INSTANT + category - 1] == 1) << category
    for seat in range(SEATS):
        terms[_SCORES + seat] = score(o, seat) if seat < count else 0
        lacks = (o[_NEEDS_ATTEMPT] and not o[AT.attempted + seat]) or (o[_NEEDS_SUCCESS] and not o[AT.succeeded + seat])
        barred |= int(lacks) << seat
    terms[_WON], terms[_BARRED] = won, barred
    terms[_RESET] = int(o[_FOUR_RESETS]) << FOUR | int(o[_ROYAL_RESETS]) << ROYAL


@jit
def _chance(terms: Any, scores: Any) -> float:
    """Chance to win the match with these scores, which are changed; who may not win yet does not."""
    count, goal, barred = terms[_COUNT], terms[_GOAL], terms[_BARRED]
    if barred:
        for seat in range(count):
            if barred >> seat & 1:
                scores[seat] = min(scores[seat], goal - 1.0)
    return closed_chance(scores, count, goal, 0)


@jit
def chance_after(terms: Any, own: int, hand_seat: int, category: int, trick_seat: int, scores: Any) -> float:
    """Chance to win the match after a deal whose last points are these.

    Args:
        terms: from `write_terms`.
        own: points that seat 0 gets before them.
        hand_seat: who scores for the best hand, -1 for nobody.
        category: of that hand.
        trick_seat: who scores for the last trick, -1 for nobody.
        scores: (6,) float64, scratch.
    """
    goal, first_past, barred = terms[_GOAL], terms[_PAST] == 1, terms[_BARRED]
    for seat in range(terms[_COUNT]):
        scores[seat] = terms[_SCORES + seat]
    scores[0] += own
    if first_past and own > 0 and scores[0] >= goal and barred & 1 == 0:
        return 1.0
    for step in range(2):
        if (step == 0) == (terms[_HAND_FIRST] == 1):
            if hand_seat < 0 or category == 0:
                continue
            if terms[_WON] >> category & 1:
                return 1.0 if hand_seat == 0 else 0.0
            scores[hand_seat] += terms[_POINTS + category]
            if terms[_RESET] >> category & 1:
                for seat in range(terms[_COUNT]):
                    if seat != hand_seat:
                        scores[seat] = 0.0
            scorer = hand_seat
        else:
            if trick_seat < 0:
                continue
            scores[trick_seat] += terms[_LAST]
            scorer = trick_seat
        if first_past and scores[scorer] >= goal and barred >> scorer & 1 == 0:
            return 1.0 if scorer == 0 else 0.0
    return _chance(terms, scores)


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
    terms = np.empty(_TERMS, dtype=np.int64)
    write_terms(o, terms)
    count = terms[_COUNT]
    others = count - 1
    scores = np.empty(SEATS, dtype=np.float64)
    best = np.empty(CLASSES, dtype=np.float64)
    _write_best(o, count, best)
    below = 0.0
    for i in range(CLASSES):
        out[WINS + i] = below + best[i] / 2
        below += best[i]
    for trick in range(2):
        above = 0.0
        for category in range(9, -1, -1):
            mine, theirs = 0.0, 0.0
            for seat in range(1, count):
                taker = 0 if trick else seat
                mine += chance_after(terms, 0, 0, category, taker, scores) / others
                theirs += chance_after(terms, 0, seat, category, taker, scores) / others
            for i in range(13 * category + 12, 13 * category - 1, -1):
                half = best[i] / 2
                value = (out[WINS + i] - half) * mine + half * (mine + theirs) + above
                above += best[i] * theirs
                if trick:
                    out[TRICK_GAIN + i] = value - out[QUIET + i]
                else:
                    out[QUIET + i] = value
    _write_chicago(o, terms, scores, out)
    write_worth(terms, scores, out)


@jit
def _write_chicago(o: Any, terms: Any, scores: Any, out: Any) -> None:
    """What a Chicago made and a failed one leave; a call, or success, lifts the bar for who needs it to win."""
    barred = terms[_BARRED]
    terms[_BARRED] = barred & ~1
    taker, hand = 0 if o[_SUCCESS_TRICK] else -1, o[_SUCCESS_HAND] == 1
    points = rule(o, _CHICAGO)
    other = chance_after(terms, points, 1 if hand else -1, _USUAL, taker, scores)
    own = 0.0
    for category in range(10):
        if hand or category == 0:  # without points for the hand, its category does not matter
            own = chance_after(terms, points, 0 if hand else -1, category, taker, scores)
        for i in range(13 * category, 13 * (category + 1)):
            out[MADE + i] = out[WINS + i] * own + (1 - out[WINS + i]) * other
    if o[_NEEDS_SUCCESS]:
        terms[_BARRED] = barred
    lost = -rule(o, _PENALTY)
    breaker = rule(o, _BREAKER)
    best = 1 if o[_FAILURE_HAND] else -1
    terms[_SCORES + 1] += breaker
    if o[_FAILURE_TRICK]:
        out[FAILED] = _FAILED_TRICK * chance_after(terms, lost, best, _USUAL, 0, scores)
        out[FAILED] += (1 - _FAILED_TRICK) * chance_after(terms, lost, best, _USUAL, 1, scores)
    else:
        out[FAILED] = chance_after(terms, lost, best, _USUAL, -1, scores)
    terms[_SCORES + 1] -= breaker
    terms[_BARRED] = barred


@jit
def write_worth(terms: Any, scores: Any, out: Any) -> None:
    """Fills what a point and the last trick are worth, alone, into an outlook."""
    count = terms[_COUNT]
    step = 3
    now = chance_after(terms, 0, -1, 0, -1, scores)
    out[POINT], out[TRICK] = 0.0, 0.0
    for seat in range(count):
        terms[_SCORES + seat] += step
        change = chance_after(terms, 0, -1, 0, -1, scores) - now
        terms[_SCORES + seat] -= step
        out[POINT] += change / step if seat == 0 else -_DENIAL * change / (step * (count - 1))
        change = chance_after(terms, 0, -1, 0, seat, scores) - now
        out[TRICK] += change if seat == 0 else -change / (count - 1)


@jit
def write_slopes(o: Any, out: Any) -> None:
    """Fills the parts POINT and TRICK of an outlook alone."""
    terms = np.empty(_TERMS, dtype=np.int64)
    scores = np.empty(SEATS, dtype=np.float64)
    write_terms(o, terms)
    write_worth(terms, scores, out)


@jit
def reset_pays(o: Any) -> bool:
    """Whether the reset of a four of a kind is better than its points."""
    terms = np.empty(_TERMS, dtype=np.int64)
    scores = np.empty(SEATS, dtype=np.float64)
    write_terms(o, terms)
    points = chance_after(terms, 0, 0, FOUR, -1, scores)
    for seat in range(1, SEATS):
        terms[_SCORES + seat] = 0
    return chance_after(terms, 0, -1, 0, -1, scores) > points


@jit
def _against_players(counted: float, count: int) -> float:
    """Chance of a Chicago against players, who hold better cards than chance gives, from the one counted over all cards.

    A line in log odds, read off 2,000 calls at each of 2, 3 and 4 players in play between experts.
    """
    if counted <= 0.0 or counted >= 1.0:
        return counted
    odds = counted / (1.0 - counted)
    shift = 0.58 if count == 2 else 0.39 * 0.78 ** (count - 3)  # exp(-0.55), exp(-0.95), and exp(-0.25) for each more
    odds = shift * odds ** (0.8 if count == 2 else 1.15)
    return float(odds / (1.0 + odds))


_BINS = 64


def _upper() -> np.ndarray[Any, np.dtype[np.float64]]:
    """(5, _BINS + 1) by number of players less 2: no chance counted in a bin makes a Chicago more likely than this."""
    edges = np.minimum(np.arange(1, _BINS + 2) / _BINS, 1.0)
    return np.array([[_against_players(float(edge), count) + 1e-9 for edge in edges] for count in range(2, 7)])


_UPPER = _upper()


@jit
def sweep_chance(hand: int, hidden: int, count: int, leads: bool) -> float:
    """Chance to make a Chicago with five cards; `leads`: who calls leads the first trick."""
    if leads:
        return _against_players(lead_sweep(hand, hidden, 5, count - 1), count)
    return _against_players(follow_sweep(hand, hidden, 5, count - 1), count)


@jit
def call_value(outlook: Any, of_class: int, chance: float) -> float:
    """Chance to win the match after calling a Chicago that is made with this chance."""
    return float(chance * outlook[MADE + of_class] + (1 - chance) * outlook[FAILED])


@jit
def quiet_value(outlook: Any, of_class: int, trick: float) -> float:
    """Chance to win the match if nobody calls; `trick`: chance to take the last trick."""
    return float(outlook[QUIET + of_class] + trick * outlook[TRICK_GAIN + of_class])


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
    value = quiet_value(outlook, of_class, last_trick_chance(hand, hidden, leads, count))
    if may_call and first:
        pays = outlook[MADE + of_class] < outlook[FAILED]  # to fail
        # what is quickly counted first: the chance that nobody has a card above all of mine of its suit
        total = popcount(hidden)
        most = _UPPER[count - 2, int(CHOOSE[total - above(hand, hidden), 5] / CHOOSE[total, 5] * _BINS)]
        if not pays and call_value(outlook, of_class, most) <= value:
            return value
        counted = lead_sweep(hand, hidden, 5, count - 1)
        # powers take long, and mostly even the most that the call can be worth is less
        most = _UPPER[count - 2, int(counted * _BINS)]
        if pays or call_value(outlook, of_class, most) > value:
            value = max(value, call_value(outlook, of_class, _against_players(counted, count)))
    elif may_call:
        value = max(value, call_value(outlook, of_class, 0.0))
    return value
