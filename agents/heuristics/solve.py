"""The tricks at two players with both hands known: who takes the last one, and whether one takes them all.

A card is not tried if the hand has a lower one of its suit with none of the other hand's between: both do the same (`equals`).
"""

from typing import Any

from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, lowest
from chicago_env.layout import HAND


@jit
def equals(own: int, other: int) -> int:
    """The cards of the hand `own` that do as a lower one of their suit does, with none of the hand `other` between."""
    # the place above each own card, spread upwards through all suits at once while nobody's card is in the way
    spread, free = own << 4, ~(own | other)
    spread |= (spread & free) << 4
    free &= free >> 4
    spread |= (spread & free) << 8
    free &= free >> 8
    spread |= (spread & free) << 16
    free &= free >> 16
    spread |= (spread & free) << 32
    return spread & own


_LEADS, _FOLLOWS, _TRIES, _LEAD, _ANSWERS, _TURNED, _FIELDS = range(7)  # what a level of the search keeps
STACK = _FIELDS * HAND
"""Size of the scratch that a search needs."""

_ENTER, _NEXT_LEAD, _NEXT_ANSWER, _UP = range(4)


@jit
def _two_each(leads: int, follows: int, every: bool) -> bool:
    """`_solve` for two cards each, without branches: the lead a, keeping b, against c and d; or b, keeping a."""
    a, b, c, d = lowest(leads), highest(leads), lowest(follows), highest(follows)
    ac, ad, bc, bd = (a ^ c) & 3 == 0, (a ^ d) & 3 == 0, (b ^ c) & 3 == 0, (b ^ d) & 3 == 0
    # whether the card that is kept is good enough where c or d answers: one of its suit decides, if not the first trick
    if every:
        a_c, a_d = not ((ac & (c > a)) | (bd & (d > b))), not ((ad & (d > a)) | (bc & (c > b)))
        b_c, b_d = not ((bc & (c > b)) | (ad & (d > a))), not ((bd & (d > b)) | (ac & (c > a)))
    else:
        a_c, a_d = (bd & (b > d)) | (not (bd | (ac & (c > a)))), (bc & (b > c)) | (not (bc | (ad & (d > a))))
        b_c, b_d = (ad & (a > d)) | (not (ad | (bc & (c > b)))), (ac & (a > c)) | (not (ac | (bd & (d > b))))
    # c may not be played where d alone follows suit, and the other way round
    first = (a_c | (ad & (not ac))) & (a_d | (ac & (not ad)))
    return bool(first | ((b_c | (bd & (not bc))) & (b_d | (bc & (not bd)))))


@jit
def _solve(leads: int, follows: int, every: bool, stack: Any) -> bool:
    """Whether who leads takes the last trick, or every trick.

    Depth first on a stack: compiled functions that call themselves crash when loaded from their cache.
    """
    at, step, good = 0, _ENTER, False
    stack[_LEADS], stack[_FOLLOWS] = leads, follows
    while True:
        if step == _ENTER:
            leads, follows = stack[at + _LEADS], stack[at + _FOLLOWS]
            more = leads & (leads - 1)
            if more == 0:
                good = not (follows > leads and (lowest(follows) - lowest(leads)) & 3 == 0)
                step = _UP
            elif more & (more - 1) == 0:
                good, step = _two_each(leads, follows, every), _UP
            else:
                stack[at + _TRIES] = leads & ~equals(leads, follows)
                step = _NEXT_LEAD
        elif step == _NEXT_LEAD:
            tries = stack[at + _TRIES]
            if tries == 0:
                good, step = False, _UP
                continue
            lead = tries & -tries
            stack[at + _TRIES] = tries ^ lead
            leads, follows = stack[at + _LEADS], stack[at + _FOLLOWS]
            following = follows & (SUIT_CARDS << (lowest(lead) & 3))
            if every and following > lead:  # the highest of the suit beats it
                continue
            stack[at + _LEAD] = lead
            stack[at + _ANSWERS] = (following or follows) & ~equals(follows, leads)
            step = _NEXT_ANSWER
        elif step == _NEXT_ANSWER:
            answers = stack[at + _ANSWERS]
            if answers == 0:
                good, step = True, _UP
                continue
            answer = answers & -answers
            stack[at + _ANSWERS] = answers ^ answer
            lead = stack[at + _LEAD]
            leads, follows = stack[at + _LEADS] ^ lead, stack[at + _FOLLOWS] ^ answer
            turned = answer > lead and (lowest(answer) - lowest(lead)) & 3 == 0
            stack[at + _TURNED] = int(turned)
            at += _FIELDS
            stack[at + _LEADS], stack[at + _FOLLOWS] = (follows, leads) if turned else (leads, follows)
            step = _ENTER
        else:
            if at == 0:
                return good
            at -= _FIELDS
            if stack[at + _TURNED]:
                good = not good
            step = _NEXT_ANSWER if good else _NEXT_LEAD


@jit
def leader_takes_last(leads: int, follows: int, stack: Any) -> bool:
    """Whether who leads, with the hand `leads`, takes the last trick against `follows`, a hand of as many cards.

    `stack` is scratch, (STACK,) int64: to allocate it takes as long as some of the searches.
    """
    return _solve(leads, follows, False, stack)


@jit
def leader_takes_all(leads: int, follows: int, stack: Any) -> bool:
    """Whether who leads takes every trick against `follows`, a hand of as many cards; `stack` as above."""
    return _solve(leads, follows, True, stack)
