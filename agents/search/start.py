"""A first hidden history that agrees with an observation, built backwards in time from the hands of now.

It is no fair sample; `agents.search.worlds` moves on from it to fair ones.
"""

from typing import Any

import numpy as np

from agents.search.history import (
    FIVE,
    TURN_CARD,
    TURN_N,
    TURN_ROUND,
    TURN_SEAT,
    TURN_SHUFFLED,
    TURN_STOCK,
    TURN_TAKEN,
    fits,
    fits_announcing,
    is_sound,
    own_history,
)
from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, SUIT_CARDS, lowest, nth, popcount
from chicago_env.engine.chance import unit
from chicago_env.hands import FLUSH, STRAIGHT, STRAIGHT_FLUSH
from chicago_env.layout import HAND, ROUNDS, SEATS

TRIES = 300
"""Attempts at a first history before giving up."""

_GROUPS = np.array(
    [[1, 1, 1, 1, 1], [2, 1, 1, 1, 0], [2, 2, 1, 0, 0], [3, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1],
     [3, 2, 0, 0, 0], [4, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]],
    dtype=np.int64,
)  # fmt: skip
"""How many cards of each rank make up a hand of each category, in the order in which ranks are compared."""


@jit
def next_unit(stream: Any) -> float:
    """The next number of `stream` (2,) int64: key and count."""
    stream[1] += 1
    return unit(int(stream[0]), int(stream[1]))


@jit
def any_of(mask: int, stream: Any) -> int:
    """A random card of a set that is not empty, as a set."""
    return 1 << nth(mask, int(next_unit(stream) * popcount(mask)))


@jit
def some_of(mask: int, n: int, stream: Any) -> int:
    """A random subset of n cards of a set with at least as many."""
    chosen = 0
    for _ in range(n):
        chosen |= any_of(mask & ~chosen, stream)
    return chosen


@jit
def _pattern(g: Any, r: int, s: int, base: int, free: int, stream: Any) -> int:
    """Five cards of the category that seat `s` named in announcing r, with the ranks it showed; or 0.

    Likely, but not sure, to hold `base` and otherwise cards from `free`.
    """
    category = int(g["announced"][r, s]) - 1
    shown = int(g["ranks_n"][r, s])
    flush = category == FLUSH or category >= STRAIGHT_FLUSH
    suit = int(next_unit(stream) * 4)
    if base:
        suit = lowest(base) & 3
    straight = category == STRAIGHT or category >= STRAIGHT_FLUSH
    top = int(g["ranks"][r, s, 0]) - 1 if shown else 3 + int(next_unit(stream) * 10)
    hand, used = 0, 0
    for k in range(HAND):
        size = int(_GROUPS[category, k])
        if size == 0:
            break
        if straight:
            rank = (top - k) % 13
        elif k < shown:
            rank = int(g["ranks"][r, s, k]) - 1
        elif base & ~hand and next_unit(stream) < 0.5:
            rank = lowest(any_of(base & ~hand, stream)) >> 2
        else:
            cards = free & (SUIT_CARDS << suit) if flush else free
            rank = lowest(any_of(cards, stream)) >> 2 if cards else 0
        if used >> rank & 1:
            return 0
        used |= 1 << rank
        cards = 15 << 4 * rank
        if flush:
            hand |= 1 << (4 * rank + suit)
            continue
        own = base & cards
        more = size - popcount(own)
        if more < 0 or popcount(cards & free) < more:
            return 0
        hand |= own | some_of(cards & free, more, stream)
    return hand


@jit
def _complete_all(g: Any, r: int, s: int, base: int, free: int, stream: Any) -> int:
    """A random one of all ways to fill up to three places of `base` from `free`; 0 if none fits."""
    places = HAND - popcount(base)
    found, result = 0, 0
    a = free
    while a:
        low_a = a & -a
        a ^= low_a
        b = a if places > 1 else 1
        while b:
            low_b = b & -b if places > 1 else 0
            b = b ^ low_b if places > 1 else 0
            c = b if places > 2 else 1
            while c:
                low_c = c & -c if places > 2 else 0
                c = c ^ low_c if places > 2 else 0
                hand = base | low_a | low_b | low_c
                if fits_announcing(g, r, s, hand):
                    found += 1
                    if next_unit(stream) * found < 1:
                        result = hand
    return result


@jit
def _complete(g: Any, t: int, s: int, base: int, free: int, stream: Any) -> int:
    """`base` filled up to five cards from `free` that agree with the announcing before exchange t; 0 if not found."""
    places = HAND - popcount(base)
    if popcount(free) < places:
        return 0
    said = int(g["announced"][t - 1, s]) if t else 0
    shown = int(g["ranks_n"][t - 1, s]) if t else 0
    for _ in range(12 if said < 5 and not shown else 1):
        hand = base | some_of(free, places, stream)
        if t == 0 or fits_announcing(g, t - 1, s, hand):
            return hand
    if said < 2:
        return 0
    if 0 < places <= 2:
        return _complete_all(g, t - 1, s, base, free, stream)
    for _ in range(400 if places else 0):
        hand = _pattern(g, t - 1, s, base, free, stream)
        if hand and base & ~hand == 0 and hand & ~base & ~free == 0 and fits_announcing(g, t - 1, s, hand):
            return hand
    if places == 3:
        return _complete_all(g, t - 1, s, base, free, stream)
    return 0


@jit
def _with_neighbours(g: Any, required: Any, t: int, s: int, hand: int, stream: Any) -> int:
    """Adds to a hand of seat `s` before exchange t what must be in it, for too few cards were discarded in between, because
    of the cards required at other times.
    """
    turned = 0
    for other in range(t - 1, -1, -1):
        turned += max(int(g["exchanged"][other, s]) - 1, 0)
        missing = int(required[other, s]) & ~hand
        hand |= some_of(missing, max(popcount(missing) - turned, 0), stream)
    turned = 0
    for other in range(t + 1, ROUNDS + 1):
        turned += max(int(g["exchanged"][other - 1, s]) - 1, 0)
        missing = int(required[other, s]) & ~hand
        hand |= some_of(missing, max(popcount(missing) - turned, 0), stream)
    return hand


@jit
def _fill(g: Any, required: Any, t: int, s: int, base: int, free: int, stream: Any) -> int:
    """A hand of seat `s` before exchange t that holds `base`, other cards from `free`; 0 if not found.

    It holds what is required then, and enough of what is required earlier for the discards in between.
    """
    hand = _with_neighbours(g, required, t, s, base | int(required[t, s]), stream)
    if popcount(hand) > HAND or hand & ~base & ~free:
        return 0
    return _complete(g, t, s, hand, free & ~hand, stream)


@jit
def _own_gone(turns: Any, first: int, last: int, w: Any) -> int:
    """The observer's discards and the face-up cards not taken in turns `first` to `last` - 1: their place is known."""
    cards = 0
    for i in range(first, last):
        if turns[i, TURN_SEAT] == 0:
            cards |= int(w[int(turns[i, TURN_ROUND]), 0])
        if turns[i, TURN_CARD] >= 0:
            cards |= 1 << int(turns[i, TURN_CARD])
    return cards


@jit
def _epoch(turns: Any, count: int) -> int:
    """First turn whose discards are in the pile after `count` turns: that of the last reshuffle, or 0."""
    for i in range(count - 1, -1, -1):
        if turns[i, TURN_SHUFFLED]:
            return i
    return 0


@jit
def _held_by_others(g: Any, required: Any, t: int, seat: int) -> int:
    """Cards required of other seats before exchange t or earlier."""
    cards = 0
    for s in range(1, int(g["players"])):
        if s != seat:
            for earlier in range(t + 1):
                cards |= int(required[earlier, s])
    return cards


@jit
def _anchor(g: Any, required: Any, stream: Any) -> bool:
    """Gives each seat a whole hand for its best announcement, as if that hand were required: the rest is built around it."""
    taken = int(g["hand"][0]) | int(g["held"][0]) | int(g["pending"])
    for r in range(ROUNDS):
        taken |= int(g["discarded"][r, 0])
    if g["upcard"] >= 0:
        taken |= 1 << int(g["upcard"])
    for s in range(1, int(g["players"])):
        for t in range(ROUNDS + 1):
            taken |= int(required[t, s])
    for said in range(10, 1, -1):
        for s in range(1, int(g["players"])):
            best, higher = -1, False
            for r in range(ROUNDS):
                higher |= g["announced"][r, s] > said
                if g["announced"][r, s] == said and (best < 0 or g["ranks_n"][r, s] >= g["ranks_n"][best, s]):
                    best = r
            if best < 0 or higher or g["shown"][best, s]:
                continue
            base = _with_neighbours(g, required, best + 1, s, int(required[best + 1, s]), stream)
            if popcount(base) > HAND:
                return False
            own = 0
            for t in range(ROUNDS + 1):
                own |= int(required[t, s])
            hand = _complete(g, best + 1, s, base, FULL_DECK & ~(taken & ~own) & ~base, stream)
            if hand == 0:
                return False
            required[best + 1, s] = hand
            taken |= hand
    return True


@jit
def _hands_of_now(g: Any, turns: Any, count: int, required: Any, w: Any, stream: Any) -> int:
    """Hands of the other seats after all turns; the cards that are then in no hand, or -1."""
    free = FULL_DECK & ~int(w[FIVE, 0])
    taboo = _own_gone(turns, 0, count, w)
    players = int(g["players"])
    for s in range(1, players):
        for t in range(ROUNDS, -1, -1):
            taboo |= int(required[t, s])
    last = int(g["r_exchanges"])
    order = int(next_unit(stream) * (players - 1))
    for j in range(players - 1):
        s = 1 + (order + j) % (players - 1)
        own, suits = 0, 0
        for t in range(ROUNDS + 1):
            own |= int(required[t, s])
        for suit in range(4):
            if g["void"][s] >> suit & 1:
                suits |= SUIT_CARDS << suit
        t = 0
        while t < last and g["exchanged"][t, s]:
            t += 1
        allowed = free & ~(taboo & ~own) & ~(suits & ~int(required[last, s]))
        hand = _fill(g, required, t, s, 0, allowed, stream)
        if hand == 0:
            return -1
        w[FIVE, s] = hand
        free &= ~hand
    return free


@jit
def _undo_turn(
    g: Any, turns: Any, i: int, required: Any, w: Any, hands: Any, free: int, drawn: int, stream: Any
) -> tuple[int, int]:
    """Takes turn i of another seat back: (cards in no hand, cards drawn since) before it, or (-1, 0) where it fails.

    `free` are the cards in no hand and not drawn since; it has the discards of this turn.
    """
    s, r, n = int(turns[i, TURN_SEAT]), int(turns[i, TURN_ROUND]), int(turns[i, TURN_N])
    hand = int(hands[s])
    taken = 1 << int(turns[i, TURN_TAKEN]) if turns[i, TURN_TAKEN] >= 0 else 0
    first = _epoch(turns, i)
    # What went to an earlier pile may have come back to this seat, if it has drawn since.
    drew = False
    for j in range(first, i):
        drew |= turns[j, TURN_SEAT] == s and turns[j, TURN_N] > 0
    elsewhere = _own_gone(turns, first if drew else 0, i, w) | _held_by_others(g, required, r, s)
    kept = 0
    for t in range(r + 1):
        kept |= int(required[t, s])
    must = (hand & _own_gone(turns, 0, i, w) & ~kept) | taken
    rest = hand & ~kept & ~must
    more = n - popcount(must)
    if more < 0:
        must, more = taken, n - popcount(taken)
        rest = hand & ~must
    if more > popcount(rest):
        rest = hand & ~must
    if more < 0 or more > popcount(rest):
        return -1, 0
    got = must | some_of(rest, more, stream)
    hand = _fill(g, required, r, s, hand & ~got, free & ~elsewhere, stream)
    if hand == 0:
        return -1, 0
    gone = hand & ~(int(hands[s]) & ~got)
    w[ROUNDS + r, s] = got
    w[r, s] = gone
    hands[s] = hand
    return free & ~gone, drawn


@jit
def _split(turns: Any, i: int, got: int, known: int, stream: Any) -> int:
    """Which of the cards `got` in a turn with a reshuffle came from the old stock."""
    left = int(turns[i, TURN_STOCK])
    card = 1 << int(turns[i, TURN_CARD]) if turns[i, TURN_CARD] >= 0 else 0
    taken = 1 << int(turns[i, TURN_TAKEN]) if turns[i, TURN_TAKEN] >= 0 else 0
    if left and card | taken:
        return card | taken
    rest = got & ~known
    return some_of(rest, min(left, popcount(rest)), stream)


@jit
def _try(g: Any, turns: Any, count: int, required: Any, w: Any, hands: Any, stream: Any) -> bool:
    own_history(g, w)
    free = _hands_of_now(g, turns, count, required, w, stream)
    if free < 0:
        return False
    if g["upcard"] >= 0:
        free &= ~(1 << int(g["upcard"]))
    for s in range(SEATS):
        hands[s] = w[FIVE, s]
    drawn = 0
    for i in range(count - 1, -1, -1):
        s, r = int(turns[i, TURN_SEAT]), int(turns[i, TURN_ROUND])
        card = 1 << int(turns[i, TURN_CARD]) if turns[i, TURN_CARD] >= 0 else 0
        if s == 0:
            if int(w[r, 0]) & ~free:
                return False
            free &= ~int(w[r, 0])
        elif turns[i, TURN_N]:
            free, drawn = _undo_turn(g, turns, i, required, w, hands, free & ~card, drawn, stream)
            if free < 0:
                return False
        free &= ~card
        got = int(w[ROUNDS + r, s]) | card
        if turns[i, TURN_SHUFFLED]:
            known = _own_gone(turns, 0, i, w) | _held_by_others(g, required, r, s)
            old = _split(turns, i, got, known, stream)
            free |= drawn | got & ~old
            drawn = old
        else:
            drawn |= got
    for s in range(1, int(g["players"])):
        if not fits(g, w, s):
            return False
    return is_sound(g, turns, count, w)


@jit
def first_history(g: Any, turns: Any, count: int, required: Any, w: Any, stream: Any) -> bool:
    """Writes a hidden history that agrees with the record `g` into `w` (7, 6); False if none was found."""
    hands = np.zeros(SEATS, dtype=np.int64)
    wanted = np.zeros(required.shape, dtype=np.int64)
    for _ in range(TRIES):
        for t in range(ROUNDS + 1):
            for s in range(SEATS):
                wanted[t, s] = required[t, s]
        if _anchor(g, wanted, stream) and _try(g, turns, count, wanted, w, hands, stream):
            return True
    return False
