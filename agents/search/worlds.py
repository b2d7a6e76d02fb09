"""Samples whole games that a seat cannot tell from the one it sits in, each as likely as what the others did makes it.

A Markov chain over hidden histories (`agents.search.history`). Its moves exchange the names of cards, for the whole deal
or from some time on, within one hand, or one pile at a reshuffle; all of them are as likely there as back, and all
histories with the same public numbers of cards are equally likely before anybody decides anything. So Metropolis' rule
with the likelihood of what the other seats did (`agents.search.habits`), or with what a network believes of where cards
are (`agents.locations.log_odds`), leads to the right distribution.
"""

import math
from typing import Any

import numpy as np

from agents.base import Floats, Observations
from agents.search.habits import log_likelihood
from agents.search.history import (
    FIVE,
    MAX_TURNS,
    ROWS,
    TURN_CARD,
    TURN_ROUND,
    TURN_SEAT,
    TURN_SHUFFLED,
    TURN_TAKEN,
    fits,
    hand_at,
    list_turns,
    required_cards,
)
from agents.search.rebuild import States, in_tricks, rebuilt
from agents.search.start import any_of, first_history, next_unit, some_of
from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, SUIT_CARDS, card_list, lowest, popcount
from chicago_env.engine.chance import shuffle
from chicago_env.hands import hand_value
from chicago_env.layout import CARDS, ROUNDS, SEATS, TRICKS
from chicago_env.state import STATE

CHAIN, BURN_IN, THINNING = 16, 200, 24
"""Worlds of one chain, its steps before the first of them, and between two of them."""

SCRATCH = 64

BY_HABIT = np.zeros((0, CARDS))
"""In place of log odds: hands are as likely as what was done with them."""


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
def _open_cards(turns: Any, first: int) -> int:
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
    if pair & _open_cards(turns, i + 1):
        return False
    _rename(w, turns, i, lowest(pair), lowest(pair & (pair - 1)), False)
    return True


@jit
def _first_names(w: Any, turns: Any, players: int, stream: Any) -> bool:
    """Exchanges two cards of one hand as dealt, from the deal on: which of them was discarded."""
    s = 1 + int(next_unit(stream) * (players - 1))
    pair = some_of(hand_at(w, s, 0), 2, stream)
    if pair & _open_cards(turns, 0):
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
    if pair & _open_cards(turns, i):
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
def _propose(w: Any, turns: Any, players: int, hidden: int, shuffled: bool, stream: Any) -> bool:
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


@jit
def _log_belief(g: Any, w: Any, s: int, odds: Any, scratch: Any) -> float:
    """Log likelihood of what seat s holds and did in `w`, but for a constant; `odds` as in `sample_worlds`."""
    if odds.shape[0] == 0:
        return float(log_likelihood(g, w, s, scratch))
    total, rest = 0.0, int(w[FIVE, s])
    while rest:
        total += odds[s, lowest(rest)]
        rest &= rest - 1
    return total


@jit
def _accept(g: Any, w: Any, new: Any, odds: Any, likelihood: Any, scratch: Any, stream: Any) -> bool:
    """Metropolis' rule between `w` and `new`; `likelihood` (6,) by seat follows."""
    change = 0.0
    fresh = np.zeros(SEATS)
    for s in range(int(g["players"])):
        fresh[s] = likelihood[s]
        same = True
        for i in range(ROWS):
            same &= w[i, s] == new[i, s]
        if same:
            continue
        if s == 0 or not fits(g, new, s):
            return False
        fresh[s] = _log_belief(g, new, s, odds, scratch)
        change += fresh[s] - likelihood[s]
    if change < 0 and next_unit(stream) >= math.exp(change):
        return False
    for s in range(SEATS):
        likelihood[s] = fresh[s]
    return True


@jit
def _walk(g: Any, turns: Any, w: Any, hidden: int, odds: Any, likelihood: Any, steps: int, scratch: Any,
          stream: Any) -> None:  # fmt: skip
    """Some steps of the chain."""
    new = np.zeros(w.shape, dtype=np.int64)
    players, shuffled = int(g["players"]), g["reshuffles"] > 0
    for _ in range(steps):
        for i in range(ROWS):
            for s in range(SEATS):
                new[i, s] = w[i, s]
        proposed = _propose(new, turns, players, hidden, shuffled, stream)
        if proposed and _accept(g, w, new, odds, likelihood, scratch, stream):
            for i in range(ROWS):
                for s in range(SEATS):
                    w[i, s] = new[i, s]


@jit
def _hidden_cards(turns: Any, w: Any) -> int:
    """Cards that the observer never had and that never lay face up on the stock."""
    cards = FULL_DECK & ~_open_cards(turns, 0)
    for i in range(ROWS):
        cards &= ~int(w[i, 0])
    return cards


@jit
def fill_world(g: Any, turns: Any, w: Any, out: Any, stream: Any) -> None:
    """Writes the cards of a hidden history into `out`, a `STATE` of what is known, with a stock in random order."""
    players = int(g["players"])
    pile, pending = 0, int(g["pending"])
    first = 0
    for i in range(turns.shape[0]):
        if turns[i, TURN_SHUFFLED]:
            first = i
    for i in range(first, turns.shape[0]):
        pile |= int(w[int(turns[i, TURN_ROUND]), int(turns[i, TURN_SEAT])])
        if turns[i, TURN_CARD] >= 0:
            pile |= 1 << int(turns[i, TURN_CARD])
    upcard = 1 << int(g["upcard"]) if g["upcard"] >= 0 else 0
    pile &= ~(pending | upcard)
    stock = FULL_DECK & ~(pile | pending | upcard)
    for s in range(players):
        five = int(w[FIVE, s])
        stock &= ~five
        out["discards"][s] = 0
        for r in range(ROUNDS):
            out["discarded"][s, r] = card_list(int(w[r, s]))
            out["received"][s, r] = card_list(int(w[ROUNDS + r, s]))
            out["discards"][s] |= w[r, s]
        hand = five
        for t in range(TRICKS):
            if g["plays"][t, s]:
                hand &= ~(1 << (int(g["plays"][t, s]) - 1))
        out["hand"][s] = hand
        out["held"][s] = five if in_tricks(g) else 0
        if s:
            out["value"][s] = hand_value(five)
    out["pile"] = pile
    # Each seat draws from places of its own: what one discards does not change what another draws.
    deck, n, first = out["deck"], 0, 5 * players
    cards = np.zeros(52, dtype=np.int8)
    rest = stock
    while rest:
        cards[n] = lowest(rest)
        rest &= rest - 1
        n += 1
    stream[1] += 1
    key = int(stream[0]) ^ int(stream[1]) << 32
    shuffle(cards, n, key)
    for i in range(52):
        deck[i] = cards[i - first] if 0 <= i - first < n else 0
    out["seed"] = key
    out["listed"] = 0
    out["taken"] = -1 << (first + n) if first + n < 63 else 0
    for s in range(SEATS):
        out["draws"][s] = 0
    out["stock_at"] = 0


@jit
def sample_worlds(g: Any, worlds: Any, odds: Any, stream: Any) -> int:
    """Fills records `worlds` (W,) of `STATE`, copies of what is known, with hidden cards.

    Args:
        g: what the observer knows, a record of `FACTS`; the observer is seat 0.
        worlds: (W,) copies of the record of `STATE` that says the same.
        odds: (6, 52) log odds that each seat holds each card, for a hand the sum of its cards'; or `BY_HABIT`.
        stream: (2,) int64, key of all chance, and 0.

    Returns:
        W, or 0 if none were found.
    """
    table = np.zeros((MAX_TURNS, 7), dtype=np.int64)
    turns = table[: list_turns(g, table)]
    required = np.zeros((ROUNDS + 1, SEATS), dtype=np.int64)
    required_cards(g, required)
    w = np.zeros((ROWS, SEATS), dtype=np.int64)
    likelihood, scratch = np.zeros(SEATS), np.zeros(SCRATCH)
    for i in range(worlds.shape[0]):
        if i % CHAIN == 0:
            if not first_history(g, turns, turns.shape[0], required, w, stream):
                if i == 0:
                    return 0
                for j in range(i, worlds.shape[0]):  # rare: go on with the last chain
                    hidden = _hidden_cards(turns, w)
                    _walk(g, turns, w, hidden, odds, likelihood, THINNING, scratch, stream)
                    fill_world(g, turns, w, worlds[j], stream)
                return int(worlds.shape[0])
            for s in range(1, int(g["players"])):
                likelihood[s] = _log_belief(g, w, s, odds, scratch)
        hidden = _hidden_cards(turns, w)
        _walk(g, turns, w, hidden, odds, likelihood, THINNING if i % CHAIN else BURN_IN, scratch, stream)
        fill_world(g, turns, w, worlds[i], stream)
    return int(worlds.shape[0])


def copies(states: States, n: int) -> States:
    """(n,) copies of a record (1,)."""
    return np.repeat(states.view(np.uint8).reshape(1, STATE.itemsize), n, axis=0).view(STATE).reshape(n)


def worlds_of(observation: Observations, n: int, key: int, odds: Floats = BY_HABIT) -> States:
    """Up to n sampled games that the acting seat of `observation` (D,) cannot tell from its own; the seat is seat 0.

    `odds` as in `sample_worlds`.

    Returns:
        (n,) records, or (0,) where no agreeing cards were found, which happens only after very odd play.

    Raises:
        ObservationError: the observation holds impossible rules.
    """
    known = rebuilt(observation[None])
    worlds = copies(known.states, n)
    found = sample_worlds(known.facts[0], worlds, odds, np.array([key, 0], dtype=np.int64))
    return worlds[:found]
