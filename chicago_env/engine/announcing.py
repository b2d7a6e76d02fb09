"""Announcing, comparison of equal categories and what it makes public (docs/rules.md §2.2)."""

from typing import Any

from chicago_env._jit import inlined, jit
from chicago_env.bits import card_list
from chicago_env.engine.log import ANNOUNCE as ANNOUNCE_EVENT
from chicago_env.engine.log import SHOW, add_cards, emit, position
from chicago_env.engine.scoring import compare
from chicago_env.hands import RANKS_COMPARED, suit_key


@jit
def may_name(g: Any, seat: int) -> bool:
    """Whether the hand of `seat` may be named: a pair or better, not lower than the highest named so far."""
    category = int(g["value"][seat]) >> 20
    return category >= 1 and category >= g["best"]


@jit
def _show_cards(g: Any, seat: int, log: Any) -> None:
    r = int(g["round"])
    if g["shown"][r, seat]:
        return
    hand = int(g["hand"][seat])
    g["shown"][r, seat] = card_list(hand)
    g["known"][seat] = hand
    event = position(log)
    emit(log, SHOW, seat, 0)
    add_cards(log, event, hand)


@jit
def _show_ranks(g: Any, seat: int, n: int, with_suit: bool) -> None:
    r = int(g["round"])
    value = int(g["value"][seat])
    for k in range(n):
        g["ranks"][r, seat] |= (1 + (value >> (16 - 4 * k) & 15)) << 8 * k
    if with_suit:
        g["suit"][r] |= (1 + (suit_key(int(g["hand"][seat]), value, g["r_suit_rank"]) & 3)) << 8 * seat


@jit
def _reveal(g: Any, standing: int, seat: int, log: Any) -> None:
    if not g["r_reveal_ranks"]:
        _show_cards(g, standing, log)
        _show_cards(g, seat, log)
        return
    a, b = int(g["value"][standing]), int(g["value"][seat])
    n = int(RANKS_COMPARED[a >> 20])
    for k in range(n):
        if a >> (16 - 4 * k) & 15 != b >> (16 - 4 * k) & 15:
            n = k + 1
            break
    with_suit = a == b and g["r_suits"] == 1
    _show_ranks(g, standing, n, with_suit)
    _show_ranks(g, seat, n, with_suit)


@inlined
def announce(g: Any, category: int, log: Any) -> None:
    """The acting seat passes (0) or names the category of its hand; equal categories are compared at once."""
    seat, r = int(g["to_act"]), int(g["round"])
    g["announced"][r] |= 1 << (10 * seat + category)
    emit(log, ANNOUNCE_EVENT, seat, category)
    if category == 0:
        return
    if category > g["best"]:
        g["best"] = category
        g["standing"][r] = seat + 1
        g["tied"][r] = 0
        return
    standing = int(g["standing"][r]) - 1
    _reveal(g, standing, seat, log)
    order = compare(g, int(g["hand"][seat]), int(g["value"][seat]), int(g["hand"][standing]), int(g["value"][standing]))
    if order > 0:
        g["standing"][r] = seat + 1
        g["tied"][r] = 0
    elif order == 0:
        g["tied"][r] = 1
