"""Moves of the Markov chain over hidden histories, see `agents.search.worlds`: each exchanges names of cards.

A move is as likely as its reverse.
"""

from typing import Any

import numpy as np

from agents.search.history import FIVE, ROWS, TURN_CARD, TURN_ROUND, TURN_SEAT, TURN_SHUFFLED, TURN_TAKEN, hand_at
from agents.search.start import any_of, next_unit, some_of
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest, popcount
from chicago_env.hands import hand_value
from chicago_env.layout import ROUNDS, SEATS


@jit
def _rename(w: Any, turns: Any, first: int, a: int, b: int, received_first: bool) -> None:
    """Exchanges cards a and b in everything after turn `first` (-1: in the whole deal), and in the hands of now.

    With `received_first` the cards drawn in that turn count as after it.
    """
    both = 1 << a | 1 << b
    for s in range(SEATS):
        x = int(w[FIVE, s]) & both
        if x and x != both:
            w[FIVE, s] ^= both
    for i in range(max(first, 0), turns.shape[0]):
        s, r = int(turns[i, TURN_SEAT]), int(turns[i, TURN_ROUND])
        if i > first:
            x = int(w[r, s]) & both
            if x and x != both:
                w[r, s] ^= both
        if i > first or received_first:
            x = int(w[ROUNDS + r, s]) & both
            if x and x != both:
                w[ROUNDS + r, s] ^= both


@jit
def open_cards(turns: Any, first: int) -> int:
    """Face-up cards of turns from `first` on."""
    cards = 0
    for i in range(first, turns.shape[0]):
        for column in (TURN_CARD, TURN_TAKEN):
            if turns[i, column] >= 0:
                cards |= 1 << int(turns[i, column])
    return cards


@jit
def _pile_at(turns: Any, i: int, w: Any) -> int:
    """The pile that was shuffled in turn i."""
    cards = 0
    for j in range(i - 1, -1, -1):
        cards |= int(w[int(turns[j, TURN_ROUND]), int(turns[j, TURN_SEAT])])
        if turns[j, TURN_CARD] >= 0:
            cards |= 1 << int(turns[j, TURN_CARD])
        if turns[j, TURN_SHUFFLED]:
            break
    return cards


@jit
def _two_names(w: Any, turns: Any, hidden: int, stream: Any) -> bool:
    """Exchanges two cards the observer never had, at least one of which another seat had."""
    had = 0
    for s in range(1, SEATS):
        for i in range(ROWS):
            had |= int(w[i, s])
    had &= hidden
    if had == 0:
        return False
    a = any_of(had, stream)
    b = any_of(hidden, stream)
    if a == b:
        return False
    _rename(w, turns, -1, lowest(a), lowest(b), True)
    return True


@jit
def _later_names(w: Any, turns: Any, stream: Any) -> bool:
    """Exchanges two cards of one hand from some turn on: which of them was kept."""
    i = int(next_unit(stream) * turns.shape[0])
    s = int(turns[i, TURN_SEAT])
    if s == 0:
        return False
    pair = some_of(hand_at(w, s, int(turns[i, TURN_ROUND]) + 1), 2, stream)
    if pair & open_cards(turns, i + 1):
        return False
    _rename(w, turns, i, lowest(pair), lowest(pair & (pair - 1)), False)
    return True


@jit
def _first_names(w: Any, turns: Any, players: int, stream: Any) -> bool:
    """Exchanges two cards of one hand as dealt, from the deal on: which of them was discarded."""
    s = 1 + int(next_unit(stream) * (players - 1))
    pair = some_of(hand_at(w, s, 0), 2, stream)
    if pair & open_cards(turns, 0):
        return False
    _rename(w, turns, -1, lowest(pair), lowest(pair & (pair - 1)), True)
    return True


@jit
def _pile_names(w: Any, turns: Any, stream: Any) -> bool:
    """Exchanges two cards of a pile from its reshuffle on."""
    i = int(next_unit(stream) * turns.shape[0])
    if not turns[i, TURN_SHUFFLED]:
        return False
    pile = _pile_at(turns, i, w)
    if popcount(pile) < 2:
        return False
    pair = some_of(pile, 2, stream)
    if pair & open_cards(turns, i):
        return False
    _rename(w, turns, i, lowest(pair), lowest(pair & (pair - 1)), True)
    return True


@jit
def _other_rank(w: Any, turns: Any, players: int, hidden: int, stream: Any) -> bool:
    """Gives all cards of one rank in some hand another rank: so pairs move, and full houses."""
    s = 1 + int(next_unit(stream) * (players - 1))
    hand = hand_at(w, s, int(next_unit(stream) * (ROUNDS + 1)))
    rank = lowest(any_of(hand, stream)) >> 2
    other = int(next_unit(stream) * 13)
    mine, theirs = hand & (15 << 4 * rank), 15 << 4 * other
    if other == rank or hand & theirs or mine & ~hidden:
        return False
    while mine:
        b = any_of(theirs, stream)
        theirs &= ~b
        if b & ~hidden:
            return False
        _rename(w, turns, -1, lowest(mine), lowest(b), True)
        mine &= mine - 1
    return True


@jit
def _other_straight(w: Any, turns: Any, players: int, hidden: int, stream: Any) -> bool:
    """Gives five cards of one suit another suit, or five in a row other ranks."""
    s = 1 + int(next_unit(stream) * (players - 1))
    hand = hand_at(w, s, int(next_unit(stream) * (ROUNDS + 1)))
    value = hand_value(hand)
    by_suit = next_unit(stream) < 0.5
    suit, top = int(next_unit(stream) * 4), 3 + int(next_unit(stream) * 10)
    own_top = value >> 16 & 15
    own_suit = lowest(hand) & 3
    if by_suit and (hand & ~(SUIT_CARDS << own_suit) or suit == own_suit):
        return False
    if not by_suit and (value >> 20 not in (4, 8, 9) or top == own_top):
        return False
    old, new = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
    rest, i, target = hand, 0, 0
    while rest:
        card = lowest(rest)
        rank = card >> 2
        if by_suit:
            new[i] = 4 * rank + suit
        else:
            # place in the row, the ace of A-2-3-4-5 being the last
            down = own_top - rank if rank <= own_top else 4
            new[i] = 4 * ((top - down) % 13) + (card & 3)
        old[i] = card
        target |= 1 << int(new[i])
        rest &= rest - 1
        i += 1
    if target & hand or (target | hand) & ~hidden:
        return False
    for k in range(5):
        _rename(w, turns, -1, int(old[k]), int(new[k]), True)
    return True


@jit
def propose(w: Any, turns: Any, players: int, hidden: int, shuffled: bool, stream: Any) -> bool:
    """Changes `w` by a random move; False if that move is not possible."""
    x = next_unit(stream)
    if shuffled:
        if x < 0.25:
            return _pile_names(w, turns, stream)
        x = (x - 0.25) / 0.75
    if x < 0.5:
        return _two_names(w, turns, hidden, stream)
    if x < 0.65 and turns.shape[0]:
        return _later_names(w, turns, stream)
    if x < 0.75:
        return _first_names(w, turns, players, stream)
    if x < 0.95:
        return _other_rank(w, turns, players, hidden, stream)
    return _other_straight(w, turns, players, hidden, stream)
