"""Makes `last_trick.npy`: `python -m agents.heuristics.make_last_trick`. Deterministic; some minutes.

A logistic regression of taking the last trick on a hand's cards, for each number of players and of cards left, for who
leads and for the others. The hands are random; at two players the tricks are solved, at more played out by `quick_card`.
"""

from typing import Any

import numpy as np

from agents.heuristics.cardplay import playable
from agents.heuristics.last_trick import FILE, WEIGHTS, features
from agents.heuristics.solve import STACK, leader_takes_last
from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, SUIT_CARDS, highest, lowest, popcount
from chicago_env.engine.chance import key_of, shuffle, unit
from chicago_env.files import replacing
from chicago_env.layout import HAND, SEATS

DEALS, PASSES, RIDGE = 50_000, 6, 1.0


@jit
def quick_card(hand: int, led: int, winning: int) -> int:
    """A card by rule of thumb, for the last trick: low cards go first, the last two tricks are fought for.

    Args:
        hand: own cards.
        led: suit led, -1 when leading.
        winning: card that wins the trick so far; any when leading.
    """
    legal = playable(hand, led)
    few = hand & (hand - 1) & ((hand & (hand - 1)) - 1) == 0  # at most two cards
    if led < 0:
        return highest(hand) if few else lowest(hand)
    if few:
        better = legal & (SUIT_CARDS << led) & ~((1 << (winning + 1)) - 1)
        if better:
            return lowest(better)
    return lowest(legal)


@jit
def last_winner(hands: Any, count: int, leader: int, led: int, winning: int, winner: int, turn: int, left: int) -> int:
    """Plays a sampled world out by `quick_card`; the seat that takes the last trick.

    Args:
        hands: (6,) cards of the seats, changed.
        count: number of players.
        leader: who led the trick in progress.
        led: suit led, -1 if nobody has.
        winning: card that wins so far.
        winner: seat that wins so far.
        turn: cards played to the trick in progress.
        left: tricks left, that one included.
    """
    while left > 0:
        while turn < count:
            seat = (leader + turn) % count
            card = quick_card(hands[seat], led, winning)
            hands[seat] ^= 1 << card
            if led < 0:
                led, winning, winner = card & 3, card, seat
            elif card & 3 == led and card > winning:
                winning, winner = card, seat
            turn += 1
        leader, led, turn = winner, -1, 0
        left -= 1
    return winner


@jit
def _sample(count: int, size: int, leads: bool, deals: int, rows: Any, won: Any) -> None:
    """Writes features and result of seat 0: (N, WEIGHTS) and (N,).

    Hands are of better cards than chance gives: low cards are passed over more often than not while there are enough.
    """
    deck = np.zeros(52, dtype=np.int64)
    hands = np.zeros(SEATS, dtype=np.int64)
    stack = np.empty(STACK, dtype=np.int64)
    for i in range(deals):
        for card in range(52):
            deck[card] = card
        key = key_of(count, i, size, int(leads))
        shuffle(deck, 52, key)
        top, draw = 0, 52
        for seat in range(count):
            hands[seat] = 0
            while popcount(hands[seat]) < size:
                card = deck[top]
                top += 1
                draw += 1
                if 52 - top < size * (count - seat) or unit(key, draw) < 0.35 + 0.65 * (card >> 2) / 12:
                    hands[seat] |= 1 << card
        hidden = FULL_DECK & ~hands[0]
        # what has been played, and three to nine own discards, have been seen
        seen = min(count * (HAND - size) + 3 + int(unit(key, 202) * 7), 52 - top)
        for k in range(52 - seen, 52):
            hidden &= ~(1 << deck[k])
        features(hands[0], hidden, rows[i])
        if count == 2:
            first, second = (hands[0], hands[1]) if leads else (hands[1], hands[0])
            won[i] = leader_takes_last(first, second, stack) == leads
        else:
            leader = 0 if leads else 1 + int(unit(key, 200) * (count - 1))
            won[i] = last_winner(hands, count, leader, -1, 0, 0, 0, size) == 0


def fit(rows: Any, won: Any) -> Any:
    """Weights of a logistic regression by Newton's method."""
    weights = np.zeros(rows.shape[1])
    for _ in range(PASSES):
        chance = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (won - chance) - RIDGE * weights
        hessian = (rows * (chance * (1 - chance))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(hessian, gradient)
    return weights


def main() -> None:
    """Writes the file."""
    table = np.zeros((SEATS - 1, HAND, 2, WEIGHTS))
    for place in np.ndindex(table.shape[:-1]):
        rows, won = np.zeros((DEALS, WEIGHTS)), np.zeros(DEALS)
        _sample(place[0] + 2, place[1] + 1, place[2] == 1, DEALS, rows, won)
        table[place] = fit(rows, won)
    with replacing(FILE) as file:
        np.save(file, table.astype(np.float32), allow_pickle=False)


if __name__ == "__main__":
    main()
