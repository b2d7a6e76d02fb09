"""Writes what a seat may know (docs/rules.md §6) into the vector that `chicago_env.layout` describes."""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import lowest
from chicago_env.hands import group_of
from chicago_env.layout import (
    AT,
    CARDS,
    HAND,
    OBSERVATION_SIZE,
    ROUNDS,
    RULES_AT,
    RULES_SIZE,
    SCORE_OFFSET,
    SEATS,
    SMALL_OFFSET,
    TRICKS,
)
from chicago_env.state import ANNOUNCE, OPEN_ACCEPT, OPEN_CHOICE, OVER, PLAY

_FULL = (1 << CARDS) - 1
_HANDS_AT = OBSERVATION_SIZE
_STOCK_AT = _HANDS_AT + (SEATS - 1) * CARDS
_PILE_AT = _STOCK_AT + CARDS
_SCORE_LIMIT = SCORE_OFFSET - 1


@jit
def _bits(out: Any, at: int, mask: int) -> None:
    while mask:
        out[at + lowest(mask)] = 1
        mask &= mask - 1


@jit
def _cards(out: Any, at: int, mask: int) -> None:
    while mask:
        out[at] = lowest(mask) + 1
        at += 1
        mask &= mask - 1


@jit
def _own_cards(g: Any, seat: int, out: Any) -> None:
    hand = int(g["hand"][seat])
    _bits(out, AT.hand, hand)
    rest, i = hand, 0
    while rest:
        card = lowest(rest)
        out[AT.hand_ranks + 13 * i + (card >> 2)] = 1
        out[AT.hand_suits + 4 * i + (card & 3)] = 1
        rest &= rest - 1
        i += 1
    phase = int(g["phase"])
    drawing = (phase == OPEN_CHOICE or phase == OPEN_ACCEPT) and g["to_act"] == seat
    if not drawing:
        value = int(g["value"][seat])
        out[AT.category + (value >> 20)] = 1
        if i == HAND:
            group = group_of(hand, value)
            rest, i = hand, 0
            while rest:
                if group & rest & -rest:
                    out[AT.group + i] = 1
                rest &= rest - 1
                i += 1
    discards = 0
    for r in range(int(g["round"]) + 1):
        gone = int(g["discarded"][r, seat])
        discards |= gone
        _cards(out, AT.discards_by_round + HAND * r, gone)
        _cards(out, AT.draws_by_round + HAND * r, int(g["received"][r, seat]))
    _bits(out, AT.discards, discards)


@jit
def _relative(g: Any, seat: int, s: int) -> int:
    """Seat `s` as seen from `seat`."""
    return s - seat if s >= seat else s - seat + int(g["players"])


@jit
def _exchange_history(g: Any, r: int, seat: int, out: Any) -> None:
    players = int(g["players"])
    s, at = seat, r * SEATS
    for _ in range(players):
        # Without branches: these are a coin toss for the processor, and there are many. 0, not yet, writes a 0.
        count = int(g["exchanged"][r, s])
        out[AT.exchanged + 6 * at + max(count, 1) - 1] = min(count, 1)
        at += 1
        s = s + 1 if s + 1 < players else 0
    if g["r_open_card"]:
        for j in range(players):
            s = seat + j if seat + j < players else seat + j - players
            at = r * SEATS + j
            if g["open"][r, s]:
                out[AT.open + 4 * at + int(g["open"][r, s]) - 1] = 1
                out[AT.open_card + at] = g["open_card"][r, s]
    if g["reshuffles"]:
        for j in range(players):
            s = seat + j if seat + j < players else seat + j - players
            out[AT.reshuffled + r * SEATS + j] = g["reshuffled"][r, s]
    breaker = int(g["breaker"][r]) - 1
    if breaker >= 0:
        out[AT.breaker + (r - 1) * SEATS + _relative(g, seat, breaker)] = 1
        _cards(out, AT.broken + (r - 1) * HAND, int(g["broken"][r]))


@jit
def _announce_history(g: Any, r: int, seat: int, out: Any) -> None:
    players = int(g["players"])
    s, at = seat, r * SEATS
    for _ in range(players):
        announced = int(g["announced"][r, s])
        out[AT.announced + 10 * at + max(announced, 1) - 1] = min(announced, 1)
        at += 1
        s = s + 1 if s + 1 < players else 0
    standing = int(g["standing"][r]) - 1
    if standing < 0:
        return
    out[AT.standing + r * SEATS + _relative(g, seat, standing)] = 1
    out[AT.tied + r] = g["tied"][r]
    if g["four"][r]:
        out[AT.four + 2 * r + int(g["four"][r]) - 1] = 1
    if not g["compared"][r]:
        return
    for j in range(players):
        s = seat + j if seat + j < players else seat + j - players
        at = r * SEATS + j
        _cards(out, AT.shown + at * HAND, int(g["shown"][r, s]))
        for k in range(int(g["ranks_n"][r, s])):
            out[AT.shown_ranks + at * HAND + k] = g["ranks"][r, s, k]
        out[AT.shown_suit + at] = g["suit"][r, s]


@jit
def _rounds(g: Any, seat: int, out: Any) -> None:
    scored = int(g["r_scored"])
    for r in range(int(g["round"]) + 1):
        _exchange_history(g, r, seat, out)
        if scored >> r & 1:
            _announce_history(g, r, seat, out)
    if g["phase"] == ANNOUNCE and g["best"]:
        out[AT.best + int(g["best"]) - 1] = 1
    if g["upcard"] >= 0:
        out[AT.upcard + int(g["upcard"])] = 1


@jit
def _tricks(g: Any, seat: int, out: Any) -> None:
    players, trick = int(g["players"]), int(g["trick"])
    for t in range(min(trick + 1, TRICKS)):
        s = seat
        for j in range(players):
            card = int(g["plays"][t, s])
            out[AT.plays + t * SEATS + j] = card
            if card:
                out[AT.played + card - 1] = 1
                if t == trick:
                    out[AT.trick_cards + card - 1] = 1
            s = s + 1 if s + 1 < players else 0
        if g["winners"][t]:
            out[AT.winners + t * SEATS + _relative(g, seat, int(g["winners"][t]) - 1)] = 1
    if g["phase"] == PLAY:
        out[AT.trick + trick] = 1
    led = int(g["led"])
    if led >= 0:
        out[AT.led_suit + led] = 1
        out[AT.winning_card + int(g["win_card"])] = 1
        out[AT.winning_seat + _relative(g, seat, int(g["win_seat"]))] = 1


@jit
def _seats(g: Any, seat: int, out: Any) -> None:
    players = int(g["players"])
    s = seat
    stopped, attempted, succeeded = int(g["stopped"]), int(g["attempted"]), int(g["succeeded"])
    for j in range(players):
        score = int(g["scores"][s])
        out[AT.scores + j] = min(max(score + SMALL_OFFSET, 0), 255)
        exact = min(max(score, -_SCORE_LIMIT), _SCORE_LIMIT) + SCORE_OFFSET
        for k in range(4):
            out[AT.scores_exact + 4 * j + k] = exact >> (24 - 8 * k) & 255
        out[AT.stopped + j] = stopped >> s & 1
        out[AT.attempted + j] = attempted >> s & 1
        out[AT.succeeded + j] = succeeded >> s & 1
        asked = int(g["asked"][s])
        out[AT.asked + 2 * j + max(asked, 1) - 1] = min(asked, 1)
        _bits(out, AT.known + CARDS * j, int(g["known"][s]))
        void = int(g["void"][s])
        for k in range(4):
            out[AT.void + 4 * j + k] = void >> k & 1
        s = s + 1 if s + 1 < players else 0
    out[AT.dealer + _relative(g, seat, int(g["dealer"]))] = 1
    out[AT.leader + _relative(g, seat, int(g["leader"]))] = 1
    if g["to_act"] >= 0:
        out[AT.to_act + _relative(g, seat, int(g["to_act"]))] = 1
    if g["caller"] >= 0:
        out[AT.caller + _relative(g, seat, int(g["caller"]))] = 1
    out[AT.failed] = g["failed"]


@jit
def observe(g: Any, seat: int, out: Any) -> None:
    """Writes the observation of `seat` into `out` (D,) uint8, every entry of it."""
    for i in range(RULES_AT):
        out[i] = 0
    phase = int(g["phase"])
    if phase != OVER:
        out[AT.phase + phase] = 1
    out[AT.round + int(g["round"])] = 1
    out[AT.players + int(g["players"]) - 2] = 1
    _own_cards(g, seat, out)
    _rounds(g, seat, out)
    if phase == PLAY or g["trick"]:
        _tricks(g, seat, out)
    _seats(g, seat, out)
    if g["four"][ROUNDS]:
        out[AT.four + 2 * ROUNDS + int(g["four"][ROUNDS]) - 1] = 1
    out[AT.stock] = g["stock_n"]
    deal = min(int(g["deal"]), 65535)
    left = min(int(g["max_deals"]) - 1 - int(g["deal"]), 65535)
    out[AT.deal] = deal >> 8
    out[AT.deal + 1] = deal & 255
    out[AT.deals_left] = left >> 8
    out[AT.deals_left + 1] = left & 255
    for i in range(RULES_SIZE):
        out[RULES_AT + i] = g["r_block"][i]


@jit
def observe_state(g: Any, seat: int, out: Any) -> None:
    """Writes the full information, seen from `seat`, into `out` (STATE_SIZE,) uint8: the observation, then
    `layout.STATE_BLOCKS`.
    """
    observe(g, seat, out)
    for i in range(_HANDS_AT, out.shape[0]):
        out[i] = 0
    players = int(g["players"])
    stock = _FULL & ~int(g["pile"]) & ~int(g["pending"])
    for j in range(players):
        s = (seat + j) % players
        hand = int(g["hand"][s])
        stock &= ~hand
        if j:
            _bits(out, _HANDS_AT + CARDS * (j - 1), hand)
        for t in range(TRICKS):
            if g["plays"][t, s]:
                stock &= ~(1 << (int(g["plays"][t, s]) - 1))
    if g["upcard"] >= 0:
        stock &= ~(1 << int(g["upcard"]))
    _bits(out, _STOCK_AT, stock)
    _bits(out, _PILE_AT, int(g["pile"]))


Observation = np.ndarray[Any, np.dtype[np.uint8]]
