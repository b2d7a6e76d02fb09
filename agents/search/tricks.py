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

from agents.equity import kind_of_game, write_chances
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
def seat_values(g: Any, dealer: int, out: Any) -> None:
    """Writes each seat's chance to win the match, after a deal, into `out` (6,) float64; `dealer` dealt that deal."""
    players = int(g["players"])
    if g["winner"] >= 0:
        for s in range(players):
            out[s] = 1.0 if g["winner"] == s else 0.0
    else:
        write_chances(g["scores"], players, int(g["r_target"]), (dealer + 1) % players, kind_of_game(g), out)


@jit
def _finish(raw: Any, states: Any, at: int, decks: Any, log: Any, out: Any) -> None:
    """Values after the last card of `states[at]`, which is lost; `states[at + 1]` is overwritten.

    `raw` are the bytes of `states`.
    """
    g = states[at]
    dealer = int(g["dealer"])
    # as in the engine: a Chicago that failed in the very last trick, with nothing scored after a failure, ends the deal
    g["stage"] = 1 if not g["failed"] or g["r_failure"] else 4
    flow._after_tricks(g, decks, log)
    if g["phase"] != FOUR or g["stage"] == 0 or g["reason"]:
        seat_values(g, dealer, out)
        return
    owner = int(g["to_act"])
    raw[at + 1] = raw[at]
    flow.step(states[at + 1], decks, actions.RESET, log)
    reset = np.zeros(SEATS)
    seat_values(states[at + 1], dealer, reset)
    flow.step(g, decks, actions.POINTS, log)
    seat_values(g, dealer, out)
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
                seat_values(states[1], int(g["dealer"]), at_once[breaker])
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


_MINE, _THEIRS, _SEAT, _TABLE, _TRICK, _FAILED, _BREAKER, _OPTIONS = range(8)  # of a frame of `_duel`
_ALPHA, _BETA, _BEST = range(3)


@jit
def _enter(frame: Any, bounds: Any, twos: int) -> None:
    """Lists what may be played in a frame of `_duel`."""
    mine, table = int(frame[_MINE]), int(frame[_TABLE])
    options, others = mine, int(frame[_THEIRS])
    if table >= 0:
        following = mine & (SUIT_CARDS << (table & 3))
        if following:
            options = following
        others |= 1 << table
    frame[_OPTIONS] = distinct(options, mine, others, twos)
    bounds[_BEST] = -1.0 if frame[_SEAT] == 0 else 2.0


@jit
def _take(frame: Any, bounds: Any, value: float) -> None:
    """Gives a frame of `_duel` the value of one of its cards."""
    if frame[_SEAT] == 0:
        bounds[_BEST] = max(bounds[_BEST], value)
        bounds[_ALPHA] = max(bounds[_ALPHA], value)
    else:
        bounds[_BEST] = min(bounds[_BEST], value)
        bounds[_BETA] = min(bounds[_BETA], value)


@jit
def _duel(setting: Any, ends: Any, at_once: Any, mine: int, theirs: int, seat: int, table: int, trick: int) -> float:
    """Value for seat 0 at two players, `seat` to play from `mine` against `theirs`; `table`: the card led, or -1.

    Alpha-beta on a stack: numba cannot keep functions that call themselves.
    """
    frames = np.zeros((2 * TRICKS + 1, 8), dtype=np.int64)
    bounds = np.zeros((2 * TRICKS + 1, 3))
    twos = int(setting[2])
    frames[0, _MINE], frames[0, _THEIRS], frames[0, _SEAT] = mine, theirs, seat
    frames[0, _TABLE], frames[0, _TRICK] = table, trick
    bounds[0, _ALPHA], bounds[0, _BETA] = -1.0, 2.0
    _enter(frames[0], bounds[0], twos)
    d = 0
    while True:
        f = frames[d]
        if f[_OPTIONS] == 0 or bounds[d, _ALPHA] >= bounds[d, _BETA]:
            if d == 0:
                return float(bounds[0, _BEST])
            d -= 1
            _take(frames[d], bounds[d], bounds[d + 1, _BEST])
            continue
        led, options = int(f[_TABLE]), int(f[_OPTIONS])
        card = highest(options) if led < 0 else lowest(options)
        f[_OPTIONS] = options & ~(1 << card)
        rest, now = int(f[_MINE]) & ~(1 << card), int(f[_SEAT])
        child = frames[d + 1]
        child[_MINE], child[_THEIRS], child[_SEAT] = f[_THEIRS], rest, 1 - now
        child[_TABLE], child[_TRICK], child[_FAILED], child[_BREAKER] = card, f[_TRICK], f[_FAILED], f[_BREAKER]
        if led >= 0:
            wins = card & 3 == led & 3 and card > led
            winner = now if wins else 1 - now
            what, lost, broke = _after_trick(
                setting, at_once, int(f[_TRICK]), int(f[_FAILED]), int(f[_BREAKER]), winner
            )
            if what == 1:
                _take(f, bounds[d], at_once[winner, 0])
                continue
            if what == 2:
                two = int(twos and (card if wins else led) >> 2 == 0)
                _take(f, bounds[d], ends[end_index(lost, broke, winner, two), 0])
                continue
            if winner == now:
                child[_MINE], child[_THEIRS], child[_SEAT] = rest, f[_THEIRS], now
            child[_TABLE], child[_TRICK], child[_FAILED], child[_BREAKER] = -1, f[_TRICK] + 1, lost, broke
        bounds[d + 1, _ALPHA], bounds[d + 1, _BETA] = bounds[d, _ALPHA], bounds[d, _BETA]
        d += 1
        _enter(frames[d], bounds[d], twos)


_WHO, _LED, _TOP, _TOP_SEAT, _TURN, _AT, _LOST, _BROKE, _LEFT, _CARD, _FRESH = range(11)  # of a frame of `_everybody`


@jit
def _open_frame(frame: Any, hands: Any, players: int, twos: int) -> None:
    """Lists what may be played in a frame of `_everybody`."""
    seat, led = int(frame[_WHO]), int(frame[_LED])
    mine = int(hands[seat])
    options = mine
    if led >= 0 and mine & (SUIT_CARDS << led):
        options = mine & (SUIT_CARDS << led)
    others = 1 << int(frame[_TOP]) if led >= 0 else 0
    for s in range(players):
        if s != seat:
            others |= int(hands[s])
    frame[_LEFT] = distinct(options, mine, others, twos)
    frame[_FRESH] = 1


@jit
def _keep_better(frame: Any, own: Any, found: Any, players: int) -> None:
    """Gives a frame of `_everybody` the values of one of its cards."""
    if frame[_FRESH] or found[int(frame[_WHO])] > own[int(frame[_WHO])]:
        for s in range(players):
            own[s] = found[s]
    frame[_FRESH] = 0


@jit
def _everybody(setting: Any, ends: Any, at_once: Any, hands: Any, g: Any, values: Any) -> None:
    """Values of all seats when each plays for itself, from where `g` is, written to `values[0]`.

    `hands` (6,) come back as they were; `values`: (depths, 6). On a stack, as `_duel`.
    """
    players, twos = int(setting[0]), int(setting[2])
    frames = np.zeros((SEATS * TRICKS + 1, 11), dtype=np.int64)
    frames[0, _WHO], frames[0, _LED], frames[0, _TOP] = g["to_act"], g["led"], g["win_card"]
    frames[0, _TOP_SEAT], frames[0, _TURN], frames[0, _AT] = g["win_seat"], g["turn"], g["trick"]
    _open_frame(frames[0], hands, players, twos)
    d = 0
    while True:
        f = frames[d]
        seat = int(f[_WHO])
        if f[_LEFT] == 0:
            if d == 0:
                return
            d -= 1
            f = frames[d]
            hands[int(f[_WHO])] |= 1 << int(f[_CARD])
            _keep_better(f, values[d], values[d + 1], players)
            continue
        card, led = lowest(int(f[_LEFT])), int(f[_LED])
        f[_LEFT] &= f[_LEFT] - 1
        f[_CARD] = card
        child = frames[d + 1]
        for i in range(11):
            child[i] = f[i]
        if led < 0:
            child[_LED], child[_TOP], child[_TOP_SEAT] = card & 3, card, seat
        elif card & 3 == led and card > f[_TOP]:
            child[_TOP], child[_TOP_SEAT] = card, seat
        child[_WHO] = (seat + 1) % players
        child[_TURN] = f[_TURN] + 1
        if child[_TURN] == players:
            winner = int(child[_TOP_SEAT])
            what, lost, broke = _after_trick(setting, at_once, int(f[_AT]), int(f[_LOST]), int(f[_BROKE]), winner)
            if what:
                two = int(twos and int(child[_TOP]) >> 2 == 0)
                source = at_once[winner] if what == 1 else ends[end_index(lost, broke, winner, two)]
                _keep_better(f, values[d], source, players)
                continue
            child[_WHO], child[_LED], child[_TURN], child[_AT] = winner, -1, 0, f[_AT] + 1
            child[_LOST], child[_BROKE] = lost, broke
        hands[seat] &= ~(1 << card)
        d += 1
        _open_frame(frames[d], hands, players, twos)


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
    setting = np.zeros(4, dtype=np.int64)
    setting[0] = players
    setting[1] = -1 if g["failed"] else g["caller"]
    setting[2] = g["r_two_doubles"]
    setting[3] = g["r_breaker"] != 0
    if players == 2:
        table = int(g["win_card"]) if g["led"] >= 0 else -1
        value = _duel(setting, ends, at_once, int(g["hand"][seat]), int(g["hand"][1 - seat]), seat, table, trick)
        values[0, 0] = value
        values[0, 1] = 1 - value
        return
    _everybody(setting, ends, at_once, g["hand"].copy(), g, values)
