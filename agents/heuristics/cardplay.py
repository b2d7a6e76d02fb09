"""Which card to play: at two players judged over sampled hands of the other, each of them solved; at more counted."""

from typing import Any

import numpy as np

from agents.heuristics.last_trick import last_trick_chance
from agents.heuristics.reading import cards, known, place, players
from agents.heuristics.solve import STACK, equals, leader_takes_all, leader_takes_last
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest, popcount
from chicago_env.engine.chance import key_of, unit
from chicago_env.layout import AT, TRICKS

WORLDS = np.array([12, 12, 20, 40, 1], dtype=np.int64)
"""Samples, by trick: the more cards are left, the longer each takes."""


@jit
def playable(hand: int, led: int) -> int:
    """The cards of `hand` that may be played; `led`: suit led, -1 when leading."""
    following = hand & (SUIT_CARDS << led) if led >= 0 else 0
    return following or hand


@jit
def _deal(pool: Any, size: int, base: int, need: int, voids: int, key: int, start: int, picks: Any) -> int:
    """Shuffles the pool with `size` numbers of `key` from `start`, and returns `base` with `need` cards of it.

    Args:
        pool: (52,) cards that may be dealt, changed.
        size: their number.
        base: cards of the hand that are known.
        need: cards to add.
        voids: bits of suits that the hand has not.
        key: of the chance.
        start: numbers of `key` used before.
        picks: (52,) int64, scratch.
    """
    for i in range(size):  # apart from the swaps, so that the numbers are made several at once
        picks[i] = i + int(unit(key, start + i) * (size - i))
    for i in range(size):
        j = picks[i]
        card = pool[i]
        pool[i] = pool[j]
        pool[j] = card
    hand, short = base, need
    for i in range(size):
        if short == 0:
            return hand
        if voids >> (pool[i] & 3) & 1 == 0:
            hand |= 1 << pool[i]
            short -= 1
    for i in range(size):  # only suits are left that it has shown not to hold: impossible, but it must have cards
        if short == 0:
            break
        if hand >> pool[i] & 1 == 0:
            hand |= 1 << pool[i]
            short -= 1
    return hand


@jit
def best_card(legal: int, values: Any) -> int:
    """The card with the highest of `values` (52,), of equals the lowest."""
    best, chosen = -1.0, lowest(legal)
    while legal:
        card = lowest(legal)
        legal &= legal - 1
        if values[card] > best:
            best, chosen = values[card], card
    return chosen


@jit
def count_cards(o: Any, legal: int, hand: int, hidden: int, values: Any) -> None:
    """Writes the chance to take the last trick after each legal card into `values` (52,), by counting.

    The card takes its trick unless a player to come holds a higher one of the suit; the next trick is led by who takes
    this one; from there on `last_trick_chance` goes.
    """
    count = players(o)
    trick = place(o, AT.trick, TRICKS)
    led = place(o, AT.led_suit, 4)
    winning = place(o, AT.winning_card, 52)
    turn = popcount(cards(o, AT.trick_cards))
    coming = (count - 1 - turn) * (TRICKS - trick)  # cards of the players to come
    total = popcount(hidden)
    while legal:
        card = lowest(legal)
        legal &= legal - 1
        bit = 1 << card
        takes = 1.0
        if led >= 0 and (card & 3 != led or card < winning):
            takes = 0.0
        elif coming > 0:
            above = popcount(hidden & (SUIT_CARDS << (card & 3)) & -bit)
            for i in range(min(coming, total)):
                takes *= max(total - above - i, 0) / (total - i)
        left = hand ^ bit
        if left == 0:
            values[card] = takes
            continue
        value = 0.0
        if takes > 0.0:
            value += takes * last_trick_chance(left, hidden, True, count)
        if takes < 1.0:
            value += (1.0 - takes) * last_trick_chance(left, hidden, False, count)
        values[card] = value


@jit
def choose_card(o: Any, legal: int, hand: int, hidden: int, aim: int, u: float) -> int:
    """The card that does best at two players over sampled hands of the other; of equals the lowest.

    Args:
        o: observation row of two players, in play.
        legal: cards that may be played.
        hand: own cards.
        hidden: cards not seen.
        aim: 0 to take the last trick, 1 to take all that are left, 2 to keep the caller from that.
        u: number in [0, 1), from which all samples follow.
    """
    trick = place(o, AT.trick, TRICKS)
    led = place(o, AT.led_suit, 4)
    winning = place(o, AT.winning_card, 52)
    turn = int(led >= 0)
    table = 1 << winning if turn else 0
    key = key_of(int(u * (1 << 52)), AT.plays, trick, turn)
    pool = np.empty(52, dtype=np.int64)
    picks = np.empty(52, dtype=np.int64)
    size = 0
    rest = hidden
    while rest:
        pool[size] = lowest(rest)
        size += 1
        rest &= rest - 1
    base = known(o, 1)
    need = TRICKS - trick - turn - popcount(base)
    voids = 0
    for suit in range(4):
        voids |= int(o[AT.void + 4 + suit]) << suit
    good = np.zeros(52, dtype=np.int64)
    stack = np.empty(STACK, dtype=np.int64)
    candidates = legal  # cards that may yet turn out the best
    worlds = WORLDS[trick]
    for world in range(worlds):
        theirs = _deal(pool, size, base, need, voids, key, world * size, picks)
        same = equals(hand, theirs | table)
        rest = candidates
        while rest:
            card = lowest(rest)
            rest ^= 1 << card
            won = _two_players(hand, theirs, card, led, winning, aim, stack)
            good[card] += won
            other = hand & (SUIT_CARDS << (card & 3)) & -(2 << card)
            while other & -other & same:  # the next of the suit does the same
                if rest & other & -other:
                    rest ^= other & -other
                    good[lowest(other)] += won
                other &= other - 1
        left = worlds - 1 - world
        if left > world:  # nobody can be behind by as much
            continue
        best = best_card(candidates, good)
        rest = candidates ^ (1 << best)
        while rest:
            card = lowest(rest)
            rest ^= 1 << card
            if good[card] + left < good[best] + int(card > best):
                candidates ^= 1 << card
        if candidates & (candidates - 1) == 0:
            break
    return best_card(candidates, good)


@jit
def _two_players(mine: int, theirs: int, card: int, led: int, winning: int, aim: int, stack: Any) -> int:
    """1 if `card` reaches the aim in a world of two players, both playing as well as they can."""
    bit = 1 << card
    if led >= 0:
        wins = card & 3 == led and card > winning
        if mine == bit:
            return int(wins)
        if aim == 0:
            if wins:
                return int(leader_takes_last(mine ^ bit, theirs, stack))
            return int(not leader_takes_last(theirs, mine ^ bit, stack))
        if aim == 1:
            return int(wins and leader_takes_all(mine ^ bit, theirs, stack))
        return int(wins or not leader_takes_all(theirs, mine ^ bit, stack))
    suit = SUIT_CARDS << (card & 3)
    if aim != 0 and theirs & suit > bit:
        return 0
    answers = playable(theirs, card & 3) & ~equals(theirs, mine)
    while answers:
        answer = answers & -answers
        answers ^= answer
        beaten = answer & suit and answer > bit
        if mine == bit:
            if beaten:
                return 0
            continue
        if aim == 0:
            if beaten:
                good = not leader_takes_last(theirs ^ answer, mine ^ bit, stack)
            else:
                good = leader_takes_last(mine ^ bit, theirs ^ answer, stack)
        else:
            good = leader_takes_all(mine ^ bit, theirs ^ answer, stack)
        if not good:
            return 0
    return 1


@jit
def legal_cards(o: Any, mask: Any) -> int:
    """The cards that may be played, as a set."""
    legal, rest = 0, cards(o, AT.hand)
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        if mask[A.PLAY + card]:
            legal |= 1 << card
    return legal
