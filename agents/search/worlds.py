"""Samples whole games that a seat cannot tell from the one it sits in, each as likely as what the others did makes it.

A Markov chain over hidden histories (`agents.search.history`). Its moves (`agents.search.moves`) exchange the names of cards,
for the whole deal or from some time on, within one hand, or one pile at a reshuffle; all of them are as likely there as back,
and all histories with the same public numbers of cards are equally likely before anybody decides anything. So Metropolis' rule
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
    fits,
    list_turns,
    required_cards,
)
from agents.search.moves import open_cards, propose
from agents.search.rebuild import States, in_tricks, rebuilt
from agents.search.start import first_history, next_unit
from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, card_list, lowest
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
        proposed = propose(new, turns, players, hidden, shuffled, stream)
        if proposed and _accept(g, w, new, odds, likelihood, scratch, stream):
            for i in range(ROWS):
                for s in range(SEATS):
                    w[i, s] = new[i, s]


@jit
def _hidden_cards(turns: Any, w: Any) -> int:
    """Cards that the observer never had and that never lay face up on the stock."""
    cards = FULL_DECK & ~open_cards(turns, 0)
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
