"""Rewards against their formulas, with numbers worked out by hand."""

import numpy as np
import pytest

from chicago_env.errors import SetupError
from chicago_env.game import Game
from chicago_env.rewards import PLACEMENT, POINTS, WIN, reward_kind, save_scores, write_rewards

THIRD = 1 / 3


def rewards(kind: int, before: list[int], after: list[int], winner: int | None, reason: int) -> list[float]:
    game = Game(len(before), scores=before)
    state = game.copy().state
    kept = np.zeros(6, dtype=np.int64)
    save_scores(state, kept)
    state["scores"][: len(after)] = after
    state["winner"] = -1 if winner is None else winner
    state["reason"] = reason
    out = np.full(6, 9, dtype=np.float32)
    write_rewards(state, kind, kept, out)
    assert (out[len(before) :] == 0).all()
    return [float(x) for x in out[: len(before)]]


@pytest.mark.parametrize(
    ("kind", "before", "after", "winner", "reason", "expected"),
    [
        (WIN, [50, 0], [53, 0], 0, 1, [1, -1]),
        (WIN, [0, 50, 0, 0], [0, 53, 0, 0], 1, 1, [-THIRD, 1, -THIRD, -THIRD]),
        (WIN, [0, 50, 0, 0], [0, 53, 0, 0], None, 3, [0, 0, 0, 0]),  # truncated
        (WIN, [0, 50], [0, 60], None, 0, [0, 0]),  # not over
        (PLACEMENT, [0, 0, 0], [10, 53, 20], 1, 1, [-1, 1, 0]),
        (PLACEMENT, [0, 0, 0], [10, 30, 60], 0, 2, [1, -1, 0]),  # an instant winner comes first whatever the scores
        (PLACEMENT, [0, 0, 0, 0], [7, 7, 7, 55], 3, 1, [-THIRD, -THIRD, -THIRD, 1]),
        (PLACEMENT, [0, 0, 0], [9, 9, 5], None, 3, [0.5, 0.5, -1]),
        (PLACEMENT, [0, 0], [9, 5], None, 0, [0, 0]),
        (POINTS, [0, 0], [5, 0], None, 0, [5, -5]),
        (POINTS, [10, 10, 10], [13, 10, 10], None, 0, [3, -1.5, -1.5]),
        (POINTS, [10, 20, 30], [18, 0, 0], 0, 2, [8 + 25, -20 - (8 - 30) / 2, -30 - (8 - 20) / 2]),  # a reset
    ],
)
def test_rewards(
    kind: int, before: list[int], after: list[int], winner: int | None, reason: int, expected: list[float]
) -> None:
    given = rewards(kind, before, after, winner, reason)
    assert given == pytest.approx(expected, abs=1e-6)
    assert sum(given) == pytest.approx(0, abs=1e-5)


def test_names_of_rewards() -> None:
    assert [reward_kind(name) for name in ("win", "placement", "points")] == [WIN, PLACEMENT, POINTS]
    for bad in ("Win", "", None, 3):
        with pytest.raises(SetupError, match="win, placement, points"):
            reward_kind(bad)
