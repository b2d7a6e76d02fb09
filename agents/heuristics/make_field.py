"""Makes `field.npy`: `python -m agents.heuristics.make_field`. Deterministic; a minute.

Single hands are drawn three times with 47 unseen cards, always for the most points (rules `pagat`, two players), given a
field of players who do the same: a few rounds, each with the field of the one before, from hands as dealt.
"""

from typing import Any

import numpy as np

from agents.heuristics.drawing import best_for_points
from agents.heuristics.field import FIELD, FILE, Field
from agents.odds import CLASSES, class_of, draw_odds
from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, popcount, select
from chicago_env.engine.chance import key_of, shuffle
from chicago_env.files import replacing
from chicago_env.layout import HAND, ROUNDS
from chicago_env.rules import Rules

HANDS, PASSES = 300_000, 4


@jit
def _play(hands: int, key: int, values: Any, step: Any, exchanged: Any) -> None:
    """Counts what `hands` hands become; `values` (3, CLASSES) by exchange, the other arrays as in `FIELD`."""
    deck = np.zeros(52, dtype=np.int64)
    for i in range(hands):
        for card in range(52):
            deck[card] = card
        shuffle(deck, 52, key_of(key, 0, i, 0))
        hand, top, gone = 0, HAND, 0
        for k in range(HAND):
            hand |= 1 << deck[k]
        for r in range(ROUNDS):
            before = class_of(hand)
            discards = best_for_points(hand, FULL_DECK & ~hand & ~gone, values[r])
            out = select(hand, discards)
            gone |= out
            hand &= ~out
            while popcount(hand) < HAND:
                hand |= 1 << deck[top]
                top += 1
            after = class_of(hand)
            step[before, after] += 1
            exchanged[r, before // 13, popcount(discards), after] += 1


def _values(field: Field) -> Any:
    """(3, CLASSES) points to be expected after each exchange, as `write_points` has it."""
    rules = Rules()
    points = np.array(rules.hand_points, dtype=np.float64)
    values = np.zeros((ROUNDS, CLASSES))
    for r in range(ROUNDS):
        for t in range(r, ROUNDS):
            weight = rules.scored_exchanges[t] + (t == ROUNDS - 1)
            values[r] += weight * points @ (field.now[0, t] if t == r else field.later[0, t - r, t])
    return values


def main() -> None:
    """Writes the file."""
    odds = np.zeros(CLASSES)
    table = np.zeros(1, dtype=FIELD)
    draw_odds(0, FULL_DECK, odds)
    table["dealt"] = odds
    table["next"] = np.eye(CLASSES)
    table["exchanged"][0, :, 0, 0] = table["dealt"]
    for number in range(PASSES):
        step, exchanged = np.zeros((CLASSES, CLASSES)), np.zeros((ROUNDS, 10, HAND + 1, CLASSES))
        _play(HANDS, number, _values(Field(table[0])), step, exchanged)
        step += 1e-3 * np.eye(CLASSES)  # classes that never came up stay as they are
        table["next"] = step / step.sum(axis=1, keepdims=True)
        table["exchanged"] = exchanged / HANDS
    with replacing(FILE) as file:
        np.save(file, table, allow_pickle=False)


if __name__ == "__main__":
    main()
