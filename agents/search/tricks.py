"""The tricks with open cards, solved exactly: values are chances to win the match, for two players by alpha-beta.

With more players every seat maximises its own chance (max^n; Luckhardt and Irani 1986): ties go to the first card tried,
so that there other solutions are as good. What comes after the last card (Chicago, last trick, showdown) is asked from the
engine once for each way a deal may end, and stands in a table.

Open cards flatter: a player who sees all hands may play in each world what suits that world (strategy fusion; Frank and
Basin 1998). So a solution is an estimate of a world's value, not a plan.
"""

import math
from typing import Any

import numpy as np

from agents.equity import win_chance
from chicago_env import actions
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, lowest, popcount
from chicago_env.engine import flow
from chicago_env.engine.log import SCORE_BREAKER, SCORE_CHICAGO
from chicago_env.engine.scoring import score
from chicago_env.layout import SEATS, TRICKS
from chicago_env.state import FOUR, PLAY

LINES = 2000
"""Most orders of play, with more than two players, for which tricks are solved."""

ENDS = 2 * SEATS * SEATS * 2
"""Ways a deal may end: Chicago failed or not, who broke it, who takes the last trick, and whether with a two."""


@jit
def end_index(failed: int, breaker: int, last: int, two: int) -> int:
    """Index of a way to end in a table of ends."""
    return ((failed * SEATS + breaker) * SEATS + last) * 2 + two


@jit
def seat_values(g: Any, out: Any) -> None:
    """Writes each seat's chance to win the match, after a deal, into `out` (6,) float64."""
    players = int(g["players"])
    for s in range(players):
        if g["winner"] >= 0:
            out[s] = 1.0 if g["winner"] == s else 0.0
        else:
            out[s] = win_chance(g["scores"], players, int(g["r_target"]), s)


@jit
def _finish(raw: Any, states: Any, at: int, decks: Any, log: Any, out: Any) -> None:
    """Values after the last card of `states[at]`, which is lost; `states[at + 1]` is overwritten.

    `raw` are the bytes of `states`.
    """
    g = states[at]
    # as in the engine: a Chicago that failed in the very last trick, with nothing scored after a failure, ends the deal
    g["stage"] = 1 if not g["failed"] or g["r_failure"] else 4
    flow._after_tricks(g, decks, log)
    if g["phase"] != FOUR or g["stage"] == 0 or g["reason"]:
        seat_values(g, out)
        return
    owner = int(g["to_act"])
    raw[at + 1] = raw[at]
    flow.step(states[at + 1], decks, actions.RESET, log)
    reset = np.zeros(SEATS)
    seat_values(states[at + 1], reset)
    flow.step(g, decks, actions.POINTS, log)
    seat_values(g, out)
    if reset[owner] > out[owner]:
        for s in range(SEATS):
            out[s] = reset[s]


@jit
def _fail(g: Any, breaker: int, log: Any) -> bool:
    """The Chicago fails; True if the deal ends there."""
    caller = int(g["caller"])
    g["failed"] = 1
    score(g, caller, -int(g["r_chicago_penalty"]), SCORE_CHICAGO, log)
    if g["r_breaker"] and not g["reason"]:
        score(g, breaker, int(g["r_breaker"]), SCORE_BREAKER, log)
    return bool(g["reason"] or g["r_failure"] == 0)


@jit
def fill_ends(raw: Any, states: Any, decks: Any, log: Any, ends: Any, at_once: Any) -> None:
    """Prices every way in which the deal in `states[0]`, which is in its tricks, may end.

    Args:
        raw: (4, bytes of a record) uint8, the memory of `states`.
        states: (4,) records; all but the first are overwritten.
        decks: no decks.
        log: an empty log.
        ends: (ENDS, 6) float64, written: values by seat, by `end_index`.
        at_once: (6, 6) float64, written: values where the deal ends as soon as that seat breaks the Chicago; NaN where it
            goes on.
    """
    g = states[0]
    players, caller = int(g["players"]), int(g["caller"])
    open_chicago = caller >= 0 and not g["failed"]
    for breaker in range(players):
        at_once[breaker, 0] = math.nan
        if breaker and (not open_chicago or not g["r_breaker"]):
            for k in range(SEATS):
                at_once[breaker, k] = at_once[0, k]
            continue
        if open_chicago:
            raw[1] = raw[0]
            if _fail(states[1], breaker, log):
                seat_values(states[1], at_once[breaker])
    for failed in range(2):
        if failed and not open_chicago:
            break
        for breaker in range(players if failed and g["r_breaker"] else 1):
            if failed and not math.isnan(at_once[breaker, 0]):
                continue
            for last in range(players):
                if open_chicago and not failed and last != caller:
                    continue
                for two in range(2 if g["r_two_doubles"] else 1):
                    raw[1] = raw[0]
                    end = states[1]
                    if failed:
                        _fail(end, breaker, log)
                    end["trick"] = TRICKS
                    end["phase"] = PLAY
                    end["win_seat"] = last
                    end["win_card"] = 0 if two else 51
                    _finish(raw, states, 1, decks, log, ends[end_index(failed, breaker, last, two)])


@jit
def distinct(cards: int, own: int, others: int, twos: int) -> int:
    """The cards of `cards`, part of the hand `own`, that differ: one of those with none of `others` in between.

    `twos`: 1 where a two counts double at the end, and so is like no other card.
    """
    chosen = 0
    for suit in range(4):
        mine = own & (SUIT_CARDS << suit)
        if mine & (mine - 1) == 0:
            chosen |= mine & cards
            continue
        theirs = others & (SUIT_CARDS << suit)
        previous = 0
        while mine:
            card = mine & -mine
            mine ^= card
            if not card & cards:
                continue
            if previous == 0 or theirs & (card - 1) & ~(previous - 1) or (twos and previous < 16):
                chosen |= card
            previous = card
    return chosen


@jit
def _after_trick(
    setting: Any, at_once: Any, trick: int, failed: int, breaker: int, winner: int
) -> tuple[int, int, int]:
    """(what, failed, breaker) after a trick: what is 0 when play goes on, 1 when the deal ends with a value of `at_once`,
    2 with one of the table of ends.
    """
    caller = int(setting[1])
    if caller >= 0 and not failed and winner != caller:
        if not math.isnan(at_once[winner, 0]):
            return 1, 1, winner
        failed = 1
        breaker = winner if setting[3] else 0
    return 2 if trick + 1 == TRICKS else 0, failed, breaker


@jit
def _duel(setting: Any, ends: Any, at_once: Any, mine: int, theirs: int, seat: int, table: int, trick: int, failed: int,
          breaker: int, alpha: float, beta: float) -> float:  # fmt: skip
    """Value for seat 0 at two players, `seat` to play from `mine` against `theirs`; `table`: the card led, or -1.

    Fail-soft alpha-beta: exact between `alpha` and `beta`, else a bound.
    """
    twos, nobody = int(setting[2]), int(setting[4]) - 1
    options = mine
    others = theirs
    if table >= 0:
        following = mine & (SUIT_CARDS << (table & 3))
        if following:
            options = following
        others |= 1 << table
    options = distinct(options, mine, others, twos)
    best = -1.0 if seat == 0 else 2.0
    while options:
        card = highest(options) if table < 0 else lowest(options)
        options &= ~(1 << card)
        rest = mine & ~(1 << card)
        if table < 0:
            value = _duel(setting, ends, at_once, theirs, rest, 1 - seat, card, trick, failed, breaker, alpha, beta)
        else:
            wins = card & 3 == table & 3 and card > table
            winner = seat if wins else 1 - seat
            what, lost, broke = _after_trick(setting, at_once, trick, failed, breaker, winner)
            if what == 1:
                value = at_once[winner, 0]
            elif what == 2:
                two = int(twos and (card if wins else table) >> 2 == 0)
                value = ends[end_index(lost, broke, winner, two), 0]
            elif winner == seat:
                value = _duel(setting, ends, at_once, rest, theirs, seat, nobody, trick + 1, lost, broke, alpha, beta)
            else:
                value = _duel(
                    setting, ends, at_once, theirs, rest, 1 - seat, nobody, trick + 1, lost, broke, alpha, beta
                )
        if seat == 0:
            best = max(best, value)
            alpha = max(alpha, value)
        else:
            best = min(best, value)
            beta = min(beta, value)
        if alpha >= beta:
            break
    return float(best)


@jit
def _everybody(setting: Any, ends: Any, at_once: Any, hands: Any, seat: int, led: int, top: int, top_seat: int,
               turn: int, trick: int, failed: int, breaker: int, values: Any, depth: int) -> None:  # fmt: skip
    """Values of all seats when each plays for itself, written to `values[depth]`; `hands` (6,) come back as they were.

    `values`: (depths, 6); `led`: the suit led, or -1; `top`, `top_seat`: the card that wins the trick so far, and whose.
    """
    players, twos, none = int(setting[0]), int(setting[2]), int(setting[4])
    nobody = none - 1
    mine = int(hands[seat])
    options = mine
    if led >= 0 and mine & (SUIT_CARDS << led):
        options = mine & (SUIT_CARDS << led)
    others = 1 << top if led >= 0 else 0
    for s in range(players):
        if s != seat:
            others |= int(hands[s])
    options = distinct(options, mine, others, twos)
    first = True
    while options:
        card = lowest(options)
        options &= options - 1
        hands[seat] = mine & ~(1 << card)
        now_led, now_top, now_seat = led, top, top_seat
        if led < 0:
            now_led, now_top, now_seat = card & 3, card, seat
        elif card & 3 == led and card > top:
            now_top, now_seat = card, seat
        below = values[depth + 1]
        if turn + 1 < players:
            _everybody(setting, ends, at_once, hands, (seat + 1) % players, now_led, now_top, now_seat,
                       turn + 1, trick, failed, breaker, values, depth + 1)  # fmt: skip
        else:
            what, lost, broke = _after_trick(setting, at_once, trick, failed, breaker, now_seat)
            if what == 0:
                _everybody(setting, ends, at_once, hands, now_seat, nobody, nobody, nobody,
                           none, trick + 1, lost, broke, values, depth + 1)  # fmt: skip
            else:
                two = int(twos and now_top >> 2 == 0)
                source = at_once[now_seat] if what == 1 else ends[end_index(lost, broke, now_seat, two)]
                for s in range(players):
                    below[s] = source[s]
        if first or below[seat] > values[depth, seat]:
            for s in range(players):
                values[depth, s] = below[s]
        first = False
    hands[seat] = mine


@jit
def is_solvable(g: Any) -> bool:
    """Whether the tricks of `g`, which is in them, can be solved at once."""
    players = int(g["players"])
    if players == 2:
        return True
    lines = 1.0
    for s in range(players):
        for k in range(2, popcount(int(g["hand"][s])) + 1):
            lines *= k
            if lines > LINES:
                return False
    return True


@jit
def solve(raw: Any, states: Any, decks: Any, log: Any, ends: Any, at_once: Any, values: Any) -> None:
    """Solves the tricks of `states[0]`; writes the values of the seats into `values[0]`.

    Args:
        raw: (4, bytes of a record) uint8, the memory of `states`.
        states: (4,) records; all but the first are overwritten.
        decks: no decks.
        log: an empty log.
        ends: (ENDS, 6) float64, overwritten.
        at_once: (6, 6) float64, overwritten.
        values: (31, 6) float64, overwritten.
    """
    g = states[0]
    fill_ends(raw, states, decks, log, ends, at_once)
    players, seat, trick = int(g["players"]), int(g["to_act"]), int(g["trick"])
    setting = np.zeros(5, dtype=np.int64)
    setting[0] = players
    setting[1] = -1 if g["failed"] else g["caller"]
    setting[2] = g["r_two_doubles"]
    setting[3] = g["r_breaker"] != 0
    # Numbers written out would give recursive functions a type of their own, which numba cannot keep.
    none, nobody = int(setting[4]), int(setting[4]) - 1
    low, high = float(nobody), float(none + 2)
    led, top, top_seat = int(g["led"]), int(g["win_card"]), int(g["win_seat"])
    if players == 2:
        table = top if led >= 0 else nobody
        mine, theirs = int(g["hand"][seat]), int(g["hand"][1 - seat])
        value = _duel(setting, ends, at_once, mine, theirs, seat, table, trick, none, none, low, high)
        values[0, 0] = value
        values[0, 1] = 1 - value
        return
    hands = g["hand"].copy()
    _everybody(setting, ends, at_once, hands, seat, led, top, top_seat, int(g["turn"]), trick, none, none, values, none)
