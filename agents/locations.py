"""Where the cards are that a seat has not seen: what it knows for certain, and what a head of a network learns from.

Places: j is the hand of the seat j to the left of the observer, 0 is no hand: stock or discards. A place of its own is not
needed for the own hand and for cards played, which everybody sees.

Letters: B batch, D observation, H hidden cards, P places, as many as players.
"""

from typing import Any

import numpy as np

from chicago_env.layout import AT, CARDS, ROUNDS, SEATS

Array = np.ndarray[Any, Any]

SEEN = 255
"""In place of the place of a card that is no question."""

LEAST = 1e-3
"""Probability below which a place is not believed to be ruled out: a head may be sure and wrong."""


def _sets(observations: Array, at: int, count: int = 1) -> Array:
    """(B, 52) bool: in any of `count` sets of cards from `at` on."""
    table = observations[:, at : at + CARDS * count].reshape(len(observations), count, CARDS)
    return np.asarray(table.any(axis=1))


def unseen(observations: Array) -> Array:
    """(B, 52) bool: cards of which the observer (B, D) does not know where they are.

    Its own discards it knows, until a stock was made of discards again.
    """
    reshuffled = np.asarray(observations[:, AT.reshuffled : AT.reshuffled + ROUNDS * SEATS].any(axis=1))
    seen = _sets(observations, AT.hand) | _sets(observations, AT.played) | _sets(observations, AT.upcard)
    seen |= _sets(observations, AT.known, SEATS) | (_sets(observations, AT.discards) & ~reshuffled[:, None])
    return ~seen


def places(observations: Array, hidden: Array) -> Array:
    """(B, 52) uint8: the place of every unseen card, and `SEEN` for the others.

    Args:
        observations: (B, D) uint8.
        hidden: (B, H) uint8, as `BatchEnv.hidden` gives it.
    """
    hands = hidden[:, : CARDS * (SEATS - 1)].reshape(len(hidden), SEATS - 1, CARDS)
    found = np.zeros((len(hidden), CARDS), dtype=np.uint8)
    for j in range(1, SEATS):
        found += np.uint8(j) * hands[:, j - 1]
    return np.where(unseen(observations), found, np.uint8(SEEN))


def possible(observations: Array, count: int) -> Array:
    """(B, 52, P) bool: the places, `count` of them, that the observer cannot rule out; none for its own hand.

    A card that it knows has one place. A seat that has shown to be void of a suit holds none of it.
    """
    rows = len(observations)
    known = observations[:, AT.known : AT.known + CARDS * SEATS].reshape(rows, SEATS, CARDS) != 0
    held = known[:, :count].transpose(0, 2, 1).copy()
    held[:, :, 0] = ~(known.any(axis=1) | _sets(observations, AT.hand))
    void = observations[:, AT.void : AT.void + 4 * SEATS].reshape(rows, SEATS, 1, 4) != 0
    void = np.broadcast_to(void, (rows, SEATS, CARDS // 4, 4)).reshape(rows, SEATS, CARDS)
    free = ~void[:, :count].transpose(0, 2, 1)
    players = observations[:, AT.players : AT.players + SEATS - 1].argmax(axis=1) + 2
    free &= np.arange(count) < players[:, None, None]
    free[:, :, 0] = True
    return np.where(unseen(observations)[:, :, None], free, held)


def log_odds(locations: Array) -> Array:
    """(6, 52) float64: log odds of each seat's hand against no hand for each card, 0 for the observer and who is not there.

    Independent cards with these odds, given how many each hand has, are what samples of hands are drawn by.

    Args:
        locations: (52, P) probability of each place, as `NetworkAgent.locations` gives them for one observation.
    """
    sure = np.log(np.maximum(locations, LEAST))
    odds = np.zeros((SEATS, CARDS))
    odds[1 : locations.shape[1]] = (sure[:, 1:] - sure[:, :1]).T
    return odds
