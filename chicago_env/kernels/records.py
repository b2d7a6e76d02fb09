"""Entry points for records: playing a match again from its choices, and following the events that a record gives."""

from typing import Any

from chicago_env import actions
from chicago_env._jit import jit
from chicago_env.bits import popcount, positions
from chicago_env.engine import flow
from chicago_env.engine.log import ANNOUNCE as ANNOUNCE_EVENT
from chicago_env.engine.log import CHICAGO as CHICAGO_EVENT
from chicago_env.engine.log import DEAL_END, OPEN, PENALTY, RESHUFFLE, SHOW
from chicago_env.engine.log import EXCHANGE as EXCHANGE_EVENT
from chicago_env.engine.log import FOUR as FOUR_EVENT
from chicago_env.engine.log import PLAY as PLAY_EVENT
from chicago_env.state import ANNOUNCE, CHICAGO, EXCHANGE, FOUR, OPEN_ACCEPT, OPEN_CHOICE, OVER

DEAL_OVER, DIFFERENT, MISSING, ILLEGAL, TOO_MANY = range(5)
"""How `follow_deal` ends: the deal is over and agrees; an event differs; the script ends too early; an event says no
action, or one that is not legal; the deal is over and the script goes on."""


@jit
def replay(states: Any, decks: Any, choices: Any, at: int, decisions: int, log: Any, room: int) -> int:
    """Goes on in `states[0]` with `choices` (N,) uint8 from index `at`, playing forced decisions by itself.

    Stops at the decision with index `decisions` (-1: at none), when the choices are used up, at an illegal one, when
    the match is over, or when the log has less than `room` words left. Returns the index of the next choice.
    """
    g = states[0]
    while log[0] + room < log.shape[0] and g["decisions"] != decisions:
        action = flow.forced(g)
        if action < 0:
            if at >= choices.shape[0] or not flow.is_legal(g, int(choices[at])):
                break
            action = int(choices[at])
            at += 1
        flow.step(g, decks, action, log)
    return at


@jit
def _next_of_turn(script: Any, at: int, code: int) -> int:
    """Where the next event of kind `code` of an exchange turn stands, -1 if the turn ends without one."""
    while at < script.shape[0]:
        found = int(script[at])
        if found == code:
            return at
        if found != PENALTY and found != SHOW and found != RESHUFFLE and found != OPEN:
            return -1
        at += 4 + int(script[at + 3])
    return -1


@jit
def _prescribe_reshuffle(g: Any, script: Any, at: int) -> None:
    """Sets the order of a reshuffle that the script has in this turn, if it is one of the cards to be shuffled."""
    event = _next_of_turn(script, at, RESHUFFLE)
    g["next_stock_n"] = 0
    if event < 0:
        return
    n = int(script[event + 3])
    mask = 0
    for i in range(n):
        mask |= 1 << int(script[event + 4 + i])
    if mask != g["pile"] or popcount(mask) != n:
        return
    for i in range(n):
        g["next_stock"][i] = script[event + 4 + i]
    g["next_stock_n"] = n


@jit
def _action_of(g: Any, script: Any, at: int) -> int:
    """The action that the script says is taken now, -1 if it says none. Whether it is legal is not looked at."""
    phase = int(g["phase"])
    seat = int(g["to_act"])
    if phase == EXCHANGE or phase == OPEN_CHOICE or phase == OPEN_ACCEPT:
        event = _next_of_turn(script, at, EXCHANGE_EVENT)
        if event < 0 or script[event + 1] != seat:
            return -1
        _prescribe_reshuffle(g, script, at)
        if phase == EXCHANGE:
            chosen = 0
            for i in range(int(script[event + 2])):
                chosen |= 1 << int(script[event + 4 + i])
            if chosen & ~int(g["hand"][seat]):
                return -1
            return actions.EXCHANGE + positions(int(g["hand"][seat]), chosen)
        event = _next_of_turn(script, at, OPEN)
        if phase == OPEN_CHOICE:
            return actions.CLOSED if event < 0 else actions.OPEN
        return actions.OPEN_ACCEPT + int(script[event + 2]) if event >= 0 else -1
    code, value = int(script[at]), int(script[at + 2])
    if script[at + 1] != seat:
        return -1
    if phase == ANNOUNCE and code == ANNOUNCE_EVENT:
        return actions.ANNOUNCE + value
    if phase == FOUR and code == FOUR_EVENT:
        return actions.FOUR + value
    if phase == CHICAGO and code == CHICAGO_EVENT:
        return actions.CHICAGO + value
    if code == PLAY_EVENT:
        return actions.PLAY + int(script[at + 4])
    return -1


@jit
def _same_event(script: Any, at: int, log: Any, entry: int) -> bool:
    n = int(log[entry + 3])
    if script[at] != log[entry] or script[at + 2] != log[entry + 2] or script[at + 3] != n:
        return False
    if log[entry] != RESHUFFLE and script[at + 1] != log[entry + 1]:  # records do not say who draws
        return False
    for i in range(4, 4 + n):  # noqa: SIM110 - numba compiles no generators
        if script[at + i] != log[entry + i]:
            return False
    return True


@jit
def follow_deal(states: Any, decks: Any, script: Any, log: Any, where: Any) -> int:
    """Plays one deal as its events say, and compares what comes about with them.

    Args:
        states: (1,) record, at the start of a deal.
        decks: as in `flow.step`.
        script: (N,) int32, the events of the deal in the form of the event log; cards of a SHOW and discards ascending.
        log: (L,) int32, room for one deal and the start of the next.
        where: (2,) int64; where the comparison stopped: word of the script, word of the log.

    Returns:
        DEAL_OVER, or what is wrong: DIFFERENT (the event at `where` should be the one of the log), MISSING (so should
        one after the end of the script), ILLEGAL (the event at `where` is no action that may be taken now), TOO_MANY.
    """
    g = states[0]
    deal = g["deal"]
    log[0] = 1
    at, entry = 0, 1
    while True:
        while entry < log[0] and log[entry] != DEAL_END:
            where[0] = at
            where[1] = entry
            if at >= script.shape[0]:
                return MISSING
            if not _same_event(script, at, log, entry):
                return DIFFERENT
            n = 4 + int(log[entry + 3])
            at += n
            entry += n
        where[0] = at
        where[1] = entry
        if g["phase"] == OVER or g["deal"] != deal:
            return DEAL_OVER if at == script.shape[0] else TOO_MANY
        action = -1
        if at < script.shape[0]:
            action = _action_of(g, script, at)
        if not flow.is_legal(g, action):
            return ILLEGAL
        flow.step(g, decks, action, log)
