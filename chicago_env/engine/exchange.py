"""One turn of an exchange (docs/rules.md §2.1): penalty, broken hand, open card, draw."""

from typing import Any

from chicago_env._jit import inlined, jit
from chicago_env.bits import card_list, popcount, select
from chicago_env.engine.deal import draw
from chicago_env.engine.log import EXCHANGE as EXCHANGE_EVENT
from chicago_env.engine.log import OPEN, PENALTY, SHOW, add_card, add_cards, add_list, emit, position
from chicago_env.hands import group_of, hand_value
from chicago_env.state import (
    OPEN_ACCEPT,
    OPEN_ACCEPTED,
    OPEN_CHOICE,
    OPEN_CLOSED,
    OPEN_DECLINED,
    OPEN_OPEN,
    PENALTY_ALL,
)


@jit
def under_stop(g: Any, seat: int) -> bool:
    """Whether `seat` is under buy stop in this deal."""
    return int(g["stopped"]) >> seat & 1 == 1


@jit
def _pay_penalty(g: Any, seat: int, log: Any) -> None:
    amount = int(g["r_penalty"])
    if amount == PENALTY_ALL:
        amount = max(int(g["scores"][seat]), 0)
    g["scores"][seat] -= amount
    emit(log, PENALTY, seat, -amount)


@jit
def _show_broken(g: Any, seat: int, group: int, log: Any) -> None:
    r = int(g["round"])
    g["breaker"][r] = seat + 1
    g["broken"][r] = card_list(group)
    event = position(log)
    emit(log, SHOW, seat, 0)
    add_cards(log, event, group)


@inlined
def _end_turn(g: Any, seat: int, log: Any) -> bool:
    r = int(g["round"])
    received = 0
    event = position(log)
    emit(log, EXCHANGE_EVENT, seat, int(g["drawn_n"]))
    add_list(log, event, int(g["discarded"][seat, r]))
    for i in range(int(g["drawn_n"])):
        card = int(g["drawn"][i])
        received |= 1 << card
        add_card(log, event, card)
    if received:
        g["received"][seat, r] = card_list(received)
        g["hand"][seat] |= received
        g["value"][seat] = hand_value(int(g["hand"][seat]))
    g["pile"] |= g["pending"]
    g["pending"] = 0
    g["drawn_n"] = 0
    g["upcard"] = -1
    return True


@inlined
def _draw_unseen(g: Any, seat: int, n: int, log: Any) -> bool:
    for _ in range(n):
        card = draw(g, seat, log)
        g["drawn"][int(g["drawn_n"])] = card
        g["drawn_n"] += 1
    return _end_turn(g, seat, log)


@inlined
def discard(g: Any, picks: int, log: Any) -> bool:
    """Discards the cards at the positions `picks` of the sorted hand and draws; True when the turn is over."""
    seat, r = int(g["to_act"]), int(g["round"])
    hand = int(g["hand"][seat])
    chosen = select(hand, picks)
    n = popcount(chosen)
    g["exchanged"][r] |= 1 << (6 * seat + n)
    if n == 0:
        return _end_turn(g, seat, log)
    if under_stop(g, seat):
        _pay_penalty(g, seat, log)
    if g["r_show_broken"] and g["scored_seat"] == seat:
        group = group_of(hand, int(g["value"][seat]))
        if group & chosen:
            _show_broken(g, seat, group, log)
    g["hand"][seat] = hand & ~chosen
    g["known"][seat] = 0  # which of the cards that were known have gone is not public
    g["discarded"][seat, r] = card_list(chosen)
    g["discards"][seat] |= chosen
    g["pending"] = chosen
    if n == 1 and g["r_open_card"]:
        g["phase"] = OPEN_CHOICE
        return False
    return _draw_unseen(g, seat, n, log)


@jit
def _set_open(g: Any, seat: int, state: int) -> None:
    r = int(g["round"])
    g["open"][r] = int(g["open"][r]) & ~(15 << 4 * seat) | 1 << (4 * seat + state)


@jit
def choose_open(g: Any, is_open: bool, log: Any) -> bool:
    """Closed: draws unseen. Open: turns up the top card of the stock. True when the turn is over."""
    seat, r = int(g["to_act"]), int(g["round"])
    if not is_open:
        _set_open(g, seat, OPEN_CLOSED)
        return _draw_unseen(g, seat, 1, log)
    _set_open(g, seat, OPEN_OPEN)
    card = draw(g, seat, log)
    g["upcard"] = card
    g["open_card"][r] |= (card + 1) << 8 * seat
    g["phase"] = OPEN_ACCEPT
    return False


@jit
def take_upcard(g: Any, accept: bool, log: Any) -> bool:
    """Accepts or declines the face-up card; the turn is over either way."""
    seat = int(g["to_act"])
    card = int(g["upcard"])
    event = position(log)
    emit(log, OPEN, seat, 1 if accept else 0)
    add_card(log, event, card)
    if accept:
        _set_open(g, seat, OPEN_ACCEPTED)
        g["known"][seat] = 1 << card
        g["drawn"][0] = card
        g["drawn_n"] = 1
        return _end_turn(g, seat, log)
    _set_open(g, seat, OPEN_DECLINED)
    g["pending"] |= 1 << card  # not to be drawn again in this turn, even after a reshuffle
    return _draw_unseen(g, seat, 1, log)
