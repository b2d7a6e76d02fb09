"""Where the points of every seat came from, and what it decided.

Counted from the choices of games that were played: a compiled function plays them again and reads the engine's own event
log after each step. No event becomes a Python object, and it takes a few microseconds for a deal.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from chicago_env import actions
from chicago_env._jit import jit
from chicago_env.arrays import borrowed
from chicago_env.bits import lowest, popcount
from chicago_env.engine import flow
from chicago_env.engine import log as events
from chicago_env.game import new_states
from chicago_env.setup import NO_DECKS, MatchSetup
from chicago_env.state import ANNOUNCE, CHICAGO, EXCHANGE, FOUR, OPEN_ACCEPT, OPEN_CHOICE
from eval import kernels

Ints = np.ndarray[Any, np.dtype[np.int64]]
Sources = np.ndarray[Any, np.dtype[np.int32]]
"""(N, P, K) int32: of each game and seat what `COLUMNS` names."""

POINTS = (
    "hand_1",  # of the best hand announced after exchange 1
    "hand_2",
    "hand_3",
    "showdown",  # of the best hand after the tricks
    "last_trick",
    "chicago_made",
    "chicago_failed",  # 0 or less
    "breaker",  # for who broke a Chicago
    "penalty",  # for discards under buy stop, 0 or less
    "reset",  # what the resets of others took away; above 0 where a score was below 0
    "fault",  # for failures of the agent, 0 or less
)
"""Columns of points: they add up to what the seat gained."""

COUNTS = (
    "deals",  # deals begun
    "turns_1",  # turns of exchange 1 in which the seat was free to discard
    "turns_2",
    "turns_3",
    "cards_1",  # cards discarded in these
    "cards_2",
    "cards_3",
    "pat_1",  # turns of these in which no card was discarded
    "pat_2",
    "pat_3",
    "open",  # single cards asked for face up
    "accepted",  # and taken
    "nameable",  # turns of an announcing in which the hand could be named
    "named",  # and was
    "best_1",  # times the hand was the best announced after exchange 1
    "best_2",
    "best_3",
    "best_shown",  # times the hand was the best after the tricks
    "last_tricks",  # last tricks that counted
    "tricks",
    "asked",  # times asked for a Chicago
    "called",
    "made",  # Chicagos made
    "resets",  # resets of the others
)
"""Columns of counts."""

COLUMNS = POINTS + COUNTS
"""Names of the K columns."""

_AT = {name: at for at, name in enumerate(COLUMNS)}
_HAND, _LAST_TRICK, _MADE_POINTS = _AT["hand_1"], _AT["last_trick"], _AT["chicago_made"]
_FAILED_POINTS, _BREAKER, _PENALTY, _RESET = _AT["chicago_failed"], _AT["breaker"], _AT["penalty"], _AT["reset"]
_DEALS, _TURNS, _CARDS, _PAT = _AT["deals"], _AT["turns_1"], _AT["cards_1"], _AT["pat_1"]
_OPEN, _ACCEPTED, _NAMEABLE, _NAMED = _AT["open"], _AT["accepted"], _AT["nameable"], _AT["named"]
_BEST, _LAST_TRICKS, _TRICKS = _AT["best_1"], _AT["last_tricks"], _AT["tricks"]
_ASKED, _CALLED, _MADE, _RESETS = _AT["asked"], _AT["called"], _AT["made"], _AT["resets"]
FAULT = _AT["fault"]

VOID = 128
"""Among the choices of a game, 128 + s says that here seat s failed and the deal is void."""

_SHOWDOWN = 3  # after the three announcings

CHUNK = 4096  # games at once: a state takes 1.5 kB


@jit
def _count_decision(g: Any, action: int, bits: int, counts: Any) -> None:
    """Counts what the acting seat is about to do; `bits` says what else it could, as `flow.legal` does."""
    phase, r = int(g["phase"]), int(g["round"])
    if phase == EXCHANGE:
        if bits != 1:  # under buy stop there is nothing to decide
            n = popcount(action - actions.EXCHANGE)
            counts[_TURNS + r] += 1
            counts[_CARDS + r] += n
            counts[_PAT + r] += n == 0
    elif phase == ANNOUNCE:
        counts[_NAMEABLE] += bits > 1
        counts[_NAMED] += action != actions.PASS
    elif phase == CHICAGO:
        counts[_ASKED] += 1
        counts[_CALLED] += action == actions.CALL
    elif phase == OPEN_CHOICE:
        counts[_OPEN] += action == actions.OPEN
    elif phase == OPEN_ACCEPT:
        counts[_ACCEPTED] += action == actions.ACCEPT


@jit
def _count_events(log: Any, slot: int, players: int, scores: Any, counts: Any) -> None:
    """Adds the events in `log` to `counts` (P, K).

    Args:
        log: events of one step.
        slot: where a hand that scores in this step does so: announcing 0 to 2, or 3 for the showdown.
        players: P.
        scores: (P,) or longer, scores before the step; changed.
        counts: (P, K) int32.
    """
    at, last = 1, -1
    while at < log[0]:
        code, seat, value = int(log[at]), int(log[at + 1]), int(log[at + 2])
        at += 4 + int(log[at + 3])
        column = -1
        if code == events.TRICK:
            counts[seat, _TRICKS] += 1
            last = seat
        elif code == events.SCORE_HAND:
            column = _HAND + slot
            counts[seat, _BEST + slot] += 1
        elif code == events.SCORE_LAST_TRICK:
            column = _LAST_TRICK
            counts[seat, _LAST_TRICKS] += 1
        elif code == events.SCORE_CHICAGO:
            # it is made with a trick of the caller's own, and fails by one of somebody else
            column = _MADE_POINTS if seat == last else _FAILED_POINTS
            counts[seat, _MADE] += seat == last
        elif code == events.SCORE_BREAKER:
            column = _BREAKER
        elif code == events.PENALTY:
            column = _PENALTY
        elif code == events.RESET:
            counts[seat, _RESETS] += 1
            for s in range(players):
                if s != seat:
                    counts[s, _RESET] -= scores[s]
                    scores[s] = 0
        elif code == events.DEAL:
            for s in range(players):
                counts[s, _DEALS] += 1
        if column >= 0:
            counts[seat, column] += value
            scores[seat] += value


@jit
def _step(g: Any, action: int, bits: int, decks: Any, log: Any, scores: Any, counts: Any) -> None:
    phase, players = int(g["phase"]), int(g["players"])
    _count_decision(g, action, bits, counts[int(g["to_act"])])
    slot = int(g["round"]) if phase == ANNOUNCE or (phase == FOUR and g["stage"] == 0) else _SHOWDOWN
    for s in range(players):
        scores[s] = g["scores"][s]
    log[0] = 1
    flow.step(g, decks, action, log)
    _count_events(log, slot, players, scores, counts)


@jit
def count_games(
    states: Any, setting: Any, choices: Any, ends: Any, penalty: int, decks: Any, log: Any, counts: Any
) -> None:
    """Plays games again and counts.

    Args:
        states: (N,) records whose rules, players and scores are set.
        setting: (N, 3) int64, seed, first dealer (-1: by the seed) and greatest number of deals of each.
        choices: (M,) uint8, the choices of all games, one after another.
        ends: (N,) int64, where those of each game end.
        penalty: points that a failure costs.
        decks: no decks.
        log: (C,) int32, room for the events of a step.
        counts: (N, P, K) int32, added to.
    """
    states, decks, log, counts = borrowed(states), borrowed(decks), borrowed(log), borrowed(counts)
    scores = np.zeros(6, dtype=np.int64)
    starts = np.zeros((states.shape[0], kernels.START_SIZE), dtype=np.int64)
    saved = np.zeros(counts.shape[1:], dtype=np.int32)
    at = 0
    for i in range(states.shape[0]):
        g, own, start = states[i], counts[i], starts[i]
        start[0] = deal = -1
        log[0] = 1
        flow.start_match(g, int(setting[i, 0]), int(setting[i, 1]), int(setting[i, 2]), decks, log)
        _count_events(log, _SHOWDOWN, int(g["players"]), scores, own)
        base, bits = flow.legal(g)
        while bits != 0:
            if deal != g["deal"]:
                deal = int(g["deal"])
                kernels.note(g, start)
                saved[:, :] = own
            if bits & (bits - 1):
                if at == ends[i]:
                    break
                action = int(choices[at])
                at += 1
            else:
                action = base + lowest(bits)
            if action >= VOID:
                own[:, :] = saved
                own[action - VOID, FAULT] -= penalty
                log[0] = 1
                kernels.void_deal(states, i, starts, action - VOID, penalty, decks, log)
                _count_events(log, _SHOWDOWN, int(g["players"]), scores, own)
            else:
                _step(g, action, bits, decks, log, scores, own)
            base, bits = flow.legal(g)
        at = int(ends[i])


def flattened(setups: Sequence[MatchSetup], choices: Sequence[bytes | bytearray]) -> tuple[Ints, Any, Ints]:
    """`setting`, `choices` and `ends` as `count_games` takes them."""
    setting = [(s.seed, -1 if s.first_dealer is None else s.first_dealer, s.max_deals) for s in setups]
    ends = np.cumsum([len(own) for own in choices], dtype=np.int64)
    return np.array(setting, dtype=np.int64), np.frombuffer(b"".join(choices), dtype=np.uint8), ends


def sources_of(setups: Sequence[MatchSetup], choices: Sequence[bytes | bytearray], penalty: int = 0) -> Sources:
    """Counts what happened in games, by playing them again: some microseconds for a deal.

    Args:
        setups: N setups without given decks, with one number of players.
        choices: of each game, as `GameBatch.choices` has them; a game may be broken off. See `VOID`.
        penalty: points that a failure costs.

    Returns:
        (N, P, K) int32, see `COLUMNS`.
    """
    players = setups[0].players if setups else 0
    counts = np.zeros((len(setups), players, len(COLUMNS)), dtype=np.int32)
    log = np.zeros(events.CAPACITY, dtype=np.int32)
    for low in range(0, len(setups), CHUNK):
        part, made = setups[low : low + CHUNK], choices[low : low + CHUNK]
        setting, joined, ends = flattened(part, made)
        count_games(new_states(part), setting, joined, ends, penalty, NO_DECKS, log, counts[low : low + CHUNK])
    return counts


def points_of(sources: Sources) -> Ints:
    """Points gained by each seat, (N, P) int64, as the columns of points add up."""
    return np.asarray(sources[..., : len(POINTS)].sum(axis=-1, dtype=np.int64))
