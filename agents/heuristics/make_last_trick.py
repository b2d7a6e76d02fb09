"""Makes `last_trick.npy`: `python -m agents.heuristics.make_last_trick`. Deterministic; a minute.

A logistic regression of taking the last trick on a hand's cards, for the leader of the first trick and for the others, at
each number of players: random hands, at two players solved, at more played out by `quick_card`.
"""

from typing import Any

import numpy as np

from agents.heuristics.cardplay import last_winner
from agents.heuristics.last_trick import FILE, WEIGHTS, features
from agents.heuristics.solve import leader_takes_last
from chicago_env._jit import jit
from chicago_env.bits import popcount
from chicago_env.engine.chance import key_of, shuffle, unit
from chicago_env.files import replacing
from chicago_env.layout import HAND, SEATS

DEALS, PASSES, RIDGE = 200_000, 8, 1.0


@jit
def _sample(count: int, deals: int, rows: Any, won: Any) -> None:
    """Writes features and result of seat 0, which leads in every second deal; (N, WEIGHTS) and (N,).

    Hands are of better cards than chance gives: of ten cards for each seat the lower ones go more often than not.
    """
    deck = np.zeros(52, dtype=np.int64)
    hands = np.zeros(SEATS, dtype=np.int64)
    for i in range(deals):
        for card in range(52):
            deck[card] = card
        key = key_of(count, i, 0, 0)
        shuffle(deck, 52, key)
        top, draw = 0, 52
        for seat in range(count):
            hands[seat] = 0
            while popcount(hands[seat]) < HAND:
                card = deck[top]
                top += 1
                draw += 1
                if 52 - top < HAND * (count - seat) or unit(key, draw) < 0.35 + 0.65 * (card >> 2) / 12:
                    hands[seat] |= 1 << card
        leads = i & 1
        features(hands[0], leads == 1, rows[i])
        if count == 2:
            first, second = (hands[0], hands[1]) if leads else (hands[1], hands[0])
            won[i] = leader_takes_last(first, second) == (leads == 1)
        else:
            leader = 0 if leads else 1 + int(unit(key, 200) * (count - 1))
            won[i] = last_winner(hands, count, leader, -1, 0, 0, 0, HAND) == 0


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
    table = np.zeros((SEATS - 1, WEIGHTS))
    for count in range(2, SEATS + 1):
        rows, won = np.zeros((DEALS, WEIGHTS)), np.zeros(DEALS)
        _sample(count, DEALS, rows, won)
        table[count - 2] = fit(rows, won)
    with replacing(FILE) as file:
        np.save(file, table.astype(np.float32), allow_pickle=False)


if __name__ == "__main__":
    main()
