"""The tricks at two players with both hands known: who takes the last one, and whether one takes them all.

A card is not tried if the hand has a lower one of its suit with none of the other hand's between: both do the same.
"""

from typing import Any

from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest
from chicago_env.layout import HAND


@jit
def distinct(own: int, playable: int, other: int) -> int:
    """The cards of `playable`, part of the hand `own`, that differ against the hand `other`: of equals the lowest."""
    chosen = 0
    for suit in range(4):
        cards = playable & (SUIT_CARDS << suit)
        theirs = other & (SUIT_CARDS << suit)
        previous = 0
        while cards:
            card = cards & -cards
            cards ^= card
            if previous == 0 or theirs & (card - 1) & ~(previous - 1):
                chosen |= card
            previous = card
    return chosen


_LEADS, _FOLLOWS, _TRIES, _LEAD, _ANSWERS, _TURNED, _FIELDS = range(7)  # what a level of the search keeps
STACK = _FIELDS * HAND
"""Size of the scratch that a search needs."""

_ENTER, _NEXT_LEAD, _NEXT_ANSWER, _UP = range(4)


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
            if leads & (leads - 1) == 0:
                good = not (follows > leads and (lowest(follows) - lowest(leads)) & 3 == 0)
                step = _UP
            else:
                stack[at + _TRIES] = distinct(leads, leads, follows)
                step = _NEXT_LEAD
        elif step == _NEXT_LEAD:
            tries = stack[at + _TRIES]
            if tries == 0:
                good, step = False, _UP
                continue
            lead = tries & -tries
            stack[at + _TRIES] = tries ^ lead
            follows = stack[at + _FOLLOWS]
            following = follows & (SUIT_CARDS << (lowest(lead) & 3))
            if every and following > lead:  # the highest of the suit beats it
                continue
            stack[at + _LEAD] = lead
            stack[at + _ANSWERS] = distinct(follows, following or follows, stack[at + _LEADS])
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
