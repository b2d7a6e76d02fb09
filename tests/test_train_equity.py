"""Chances to win from given scores, and the rewards made of them."""

import numpy as np
import pytest

from agents import load
from chicago_env import BatchEnv, Rules
from train.equity import ClosedEquity, DealReward

EQUITY = ClosedEquity(Rules())


def chances(*scores: int, seats: int | None = None) -> list[float]:
    table = np.array([scores])
    return EQUITY.chances(table, np.array([seats or len(scores)]), np.zeros(1, dtype=int))[0].tolist()


@pytest.mark.parametrize("scores", [(0, 0), (51, 3), (-40, 20, 20), (10, 20, 30, 40), (0, 0, 0, 0, 0, 51), (60, 5)])
def test_chances_are_chances(scores) -> None:
    found = chances(*scores)
    assert sum(found) == pytest.approx(1)
    assert np.argsort(found, kind="stable").tolist() == np.argsort(scores, kind="stable").tolist()
    assert all(0 <= chance <= 1 for chance in found)


def test_a_lead_counts_more_near_the_end() -> None:
    assert chances(0, 0) == [0.5, 0.5]
    assert chances(10, 0)[0] < chances(30, 20)[0] < chances(50, 40)[0] < 1


def test_seats_that_do_not_exist_have_no_chance() -> None:
    assert chances(10, 20, 0, 0, seats=2) == [*chances(10, 20), 0, 0]


@pytest.mark.parametrize("players", [2, 3, 5])
def test_rewards_of_deals(players) -> None:
    """Zero-sum, only at the end of a deal, the change of the chance, and 1 in all from a sure loss to a win."""
    batch = BatchEnv(64, players, seed=5, max_deals=1, start_scores=52)
    reward, agent, rng = DealReward(EQUITY), load("random"), np.random.default_rng(0)
    step = batch.reset()
    reward.begin(batch)
    factor, wins = players / (players - 1), 0
    for _ in range(150):
        starts, dealers = batch.scores, batch.dealers
        step = batch.step(agent.act(step.observation, step.mask, rng))
        rewards = reward.of(batch, step)
        assert not rewards[~step.done].any()
        np.testing.assert_allclose(rewards.sum(axis=1), 0, atol=1e-6)
        for row in np.flatnonzero(step.done):
            outcome = batch.outcome
            setup = batch._setup_of(row, int(batch._episodes[row]) - 1)
            before = EQUITY.chances(np.array([setup.scores]), np.array([players]), dealers[:1])[0]
            winner = int(outcome.winner[row])
            after = EQUITY.chances(outcome.scores[row : row + 1], np.array([players]), dealers[:1])[0]
            if winner >= 0:
                wins += 1
                after = np.eye(players)[winner]
            np.testing.assert_allclose(rewards[row], factor * (after - before), atol=1e-5)
            assert starts.shape == (64, players)
    assert wins > 10


def test_rows_with_other_numbers_of_players() -> None:
    batch = BatchEnv(6, [2, 3, 4] * 2, seed=1, max_deals=1, start_scores=52)
    reward, agent, rng = DealReward(EQUITY), load("random"), np.random.default_rng(0)
    step = batch.reset()
    reward.begin(batch)
    paid = np.zeros((6, 4))
    for _ in range(200):
        step = batch.step(agent.act(step.observation, step.mask, rng))
        rewards = reward.of(batch, step)
        np.testing.assert_allclose(rewards.sum(axis=1), 0, atol=1e-6)
        paid += np.abs(rewards)
    assert (paid > 0).tolist() == [[seat < seats for seat in range(4)] for seats in batch.seats]
