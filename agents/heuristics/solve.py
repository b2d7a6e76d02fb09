"""The tricks at two players with both hands known: who takes the last one, and whether one takes them all.

A card is not tried if the hand has a lower one of its suit with none of the other hand's between: both do the same.
"""

from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest


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


@jit
def leader_takes_last(leads: int, follows: int) -> bool:
    """Whether who leads, with the hand `leads`, takes the last trick against `follows`, a hand of as many cards."""
    if leads & (leads - 1) == 0:
        card = lowest(leads)
        return not (follows > leads and lowest(follows) & 3 == card & 3)
    tries = distinct(leads, leads, follows)
    while tries:
        lead = tries & -tries
        tries ^= lead
        suit = SUIT_CARDS << (lowest(lead) & 3)
        answers = follows & suit
        answers = distinct(follows, answers or follows, leads)
        good = True
        while answers and good:
            answer = answers & -answers
            answers ^= answer
            if answer & suit and answer > lead:
                good = not leader_takes_last(follows ^ answer, leads ^ lead)
            else:
                good = leader_takes_last(leads ^ lead, follows ^ answer)
        if good:
            return True
    return False


@jit
def leader_takes_all(leads: int, follows: int) -> bool:
    """Whether who leads takes every trick against `follows`, a hand of as many cards."""
    if leads == 0:
        return True
    tries = distinct(leads, leads, follows)
    while tries:
        lead = tries & -tries
        tries ^= lead
        suit = SUIT_CARDS << (lowest(lead) & 3)
        following = follows & suit
        if following > lead:  # the highest of the suit beats it
            continue
        answers = distinct(follows, following or follows, leads)
        good = True
        while answers and good:
            answer = answers & -answers
            answers ^= answer
            good = leader_takes_all(leads ^ lead, follows ^ answer)
        if good:
            return True
    return False
