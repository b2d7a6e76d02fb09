"""Advantages along each seat's own decisions."""

import numpy as np
import pytest

from train.advantages import seat_advantages

GAMMA, LAMBDA = 0.9, 0.8


def test_three_seats_by_hand() -> None:
    """One row, seven steps: seats 0 1 2 0 1, the end, then seats 2 0; seat 1 acts after them."""
    seats = np.array([0, 1, 2, 0, 1, 2, 0])[:, None]
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])[:, None]
    dones = np.array([0, 0, 0, 0, 1, 0, 0], dtype=bool)[:, None]
    rewards = np.zeros((7, 1, 3))
    rewards[0, 0] = [1, 0, -1]  # before seat 2 has made any decision: nobody's
    rewards[1, 0] = [2, -2, 0]
    rewards[4, 0] = [10, -5, -5]
    rewards[5, 0] = [0, 0, 4]
    result = seat_advantages(
        values, seats, rewards, dones, np.array([8.0]), np.array([1]), gamma=GAMMA, gae_lambda=LAMBDA
    )
    fourth = 10 - 4  # seat 0: paid at the end, when seat 1 acted
    fifth = -5 - 5  # seat 1: the last act
    third = -5 - 3  # seat 2: its only decision before the end
    first = (1 + 2) + GAMMA * 4 - 1 + GAMMA * LAMBDA * fourth
    second = -2 + GAMMA * 5 - 2 + GAMMA * LAMBDA * fifth
    assert result.advantages[:, 0].tolist() == pytest.approx([first, second, third, fourth, fifth, 0, 0])
    # what seats 2 and 0 get for the last two decisions is not known yet: only seat 1 is about to act
    assert result.complete[:, 0].tolist() == [True] * 5 + [False] * 2


def test_an_unfinished_decision_is_the_next_value_of_the_one_before() -> None:
    seats = np.array([0, 1, 0])[:, None]
    values = np.array([1.0, 2.0, 3.0])[:, None]
    rewards = np.zeros((3, 1, 2))
    rewards[:, 0, 0] = [5, 7, 11]
    dones = np.zeros((3, 1), dtype=bool)
    result = seat_advantages(
        values, seats, rewards, dones, np.array([9.0]), np.array([1]), gamma=GAMMA, gae_lambda=LAMBDA
    )
    assert result.advantages[:, 0].tolist() == pytest.approx([5 + 7 + GAMMA * 3 - 1, GAMMA * 9 - 2, 0])
    assert result.complete[:, 0].tolist() == [True, True, False]


@pytest.mark.parametrize(("players", "winner"), [(p, w) for p in range(2, 7) for w in range(p)])
def test_every_seat_sees_its_own_sign(players, winner) -> None:
    seats = np.arange(players)[:, None]
    rewards = np.zeros((players, 1, players))
    rewards[-1, 0] = -1 / (players - 1)
    rewards[-1, 0, winner] = 1
    dones = np.zeros((players, 1), dtype=bool)
    dones[-1] = True
    result = seat_advantages(
        np.zeros((players, 1)), seats, rewards, dones, np.zeros(1), np.zeros(1, dtype=int), gamma=1.0, gae_lambda=1.0
    )
    assert (result.advantages[:, 0] > 0).tolist() == [seat == winner for seat in range(players)]
    assert result.complete.all()


def _slowly(values, seats, rewards, dones, last_value, last_seat):
    """One row, seat by seat, from the definition."""
    steps, players = rewards.shape
    advantages, complete = np.zeros(steps), np.zeros(steps, dtype=bool)
    for seat in range(players):
        mine = [t for t in range(steps) if seats[t] == seat]
        following = None  # (its advantage, or 0 where it is unknown)
        for t in reversed(mine):
            later = [u for u in mine if u > t]
            limit = later[0] if later else steps
            end = next((u for u in range(t, limit) if dones[u]), None)
            if end is not None:
                advantages[t] = rewards[t : end + 1, seat].sum() - values[t]
                complete[t] = True
            elif later or last_seat == seat:
                after = values[later[0]] if later else last_value
                tail = following if later else 0.0
                paid = rewards[t:limit, seat].sum()
                advantages[t] = paid + GAMMA * after - values[t] + GAMMA * LAMBDA * tail
                complete[t] = True
            following = advantages[t]
    return advantages, complete


def test_many_rows_against_the_definition() -> None:
    rng = np.random.default_rng(0)
    steps, rows, players = 40, 30, 4
    seats = rng.integers(players, size=(steps, rows))
    values = rng.normal(size=(steps, rows))
    rewards = rng.normal(size=(steps, rows, players))
    dones = rng.random((steps, rows)) < 0.1
    last_values, last_seats = rng.normal(size=rows), rng.integers(players, size=rows)
    result = seat_advantages(values, seats, rewards, dones, last_values, last_seats, gamma=GAMMA, gae_lambda=LAMBDA)
    for row in range(rows):
        advantages, complete = _slowly(
            values[:, row], seats[:, row], rewards[:, row], dones[:, row], last_values[row], last_seats[row]
        )
        np.testing.assert_allclose(result.advantages[:, row], advantages, atol=1e-5)
        assert (result.complete[:, row] == complete).all()
    assert 0 < (~result.complete).sum() <= rows * (players - 1)
