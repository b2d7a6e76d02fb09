"""Intervals and ratings against closed forms, in degenerate cases, and in simulated events."""

import math

import numpy as np
import pytest

from eval.ratings import PRIOR, bradley_terry
from eval.stats import Estimate, mean_interval, share_interval, t_quantile, variance_factor


def test_quantiles_of_students_t() -> None:
    # Tables: t(.975; 1) = 12.706, t(.975; 9) = 2.262, t(.995; 4) = 4.604; one degree of freedom is Cauchy's distribution
    assert t_quantile(1) == pytest.approx(math.tan(0.475 * math.pi))
    assert t_quantile(9) == pytest.approx(2.262157, abs=1e-6)
    assert t_quantile(4, 0.99) == pytest.approx(4.604095, abs=1e-6)
    assert t_quantile(10**7) == pytest.approx(1.959964, abs=1e-5)


def test_the_interval_of_a_mean_is_its_formula() -> None:
    # mean 3, squared deviations 4 + 1 + 0 + 1 + 4, s² = 10/4, t(.975; 4) = 2.776445
    estimate = mean_interval([1, 2, 3, 4, 5])
    half = 2.776445 * math.sqrt(2.5 / 5)
    assert (estimate.boards, estimate.mean) == (5, 3)
    assert estimate.low == pytest.approx(3 - half, abs=1e-5)
    assert estimate.high == pytest.approx(3 + half, abs=1e-5)
    assert estimate.half_width == pytest.approx(half, abs=1e-5)


def test_the_interval_of_a_share_is_that_of_two_more_boards() -> None:
    values = [1.0, 0.5, 0.5, 1.0, 0.0, 1.0, 0.5, 1.0]
    more = mean_interval([*values, 0.0, 1.0])
    estimate = share_interval(values)
    assert estimate == Estimate(8, sum(values) / 8, more.low, more.high)


def test_degenerate_means_are_defined() -> None:
    assert mean_interval([]) == Estimate(0, None, None, None)
    assert mean_interval([2.5]) == Estimate(1, 2.5, None, None)
    assert mean_interval([0.0] * 9) == Estimate(9, 0, 0, 0)
    assert mean_interval([]).half_width is None


def test_degenerate_shares_are_defined() -> None:
    assert share_interval([]) == Estimate(0, None, 0, 1)
    for value in (0.0, 0.5, 1.0):
        assert share_interval([value]) == Estimate(1, value, 0, 1)
    for n in (2, 5, 50, 5000):
        won, lost = share_interval([1.0] * n), share_interval([0.0] * n)
        assert (won.mean, won.high) == (1, 1)
        assert (lost.mean, lost.low) == (0, 0)
        assert won.low == pytest.approx(1 - (lost.high or 0))
        # three in n: the upper limit of no event in n, with 95 %
        if n >= 50:
            assert 2.5 / n < (lost.high or 0) < 3.5 / n


def test_variance_factor_of_known_games() -> None:
    chance = np.random.default_rng(0)
    alone = chance.normal(size=(20_000, 2))
    assert variance_factor(alone, alone.mean(axis=1)) == pytest.approx(1, abs=0.05)
    # cards (sd 3) that cancel when the seats are changed, and chance of its own (sd 1): (9 + 1)/1
    cards = 3 * chance.normal(size=(20_000, 1)) * [[1, -1]]
    both = cards + alone
    assert variance_factor(both, both.mean(axis=1)) == pytest.approx(10, rel=0.05)
    assert variance_factor(np.zeros((5, 2)), np.zeros(5)) is None
    assert variance_factor(np.zeros((1, 2)), np.zeros(1)) is None


def simulated_boards(chance: np.random.Generator, boards: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Points and shares of wins by board, of boards whose two games share their cards; and the true means."""
    cards = chance.normal(size=(boards, 1)) * 4
    points = 0.7 + cards * [[1, -0.5]] + chance.standard_t(5, size=(boards, 2)) * 3
    won = chance.random((boards, 2)) < 1 / (1 + np.exp(-(0.8 + 0.5 * np.sign(cards) * [[1, -1]])))
    truth = (1 / (1 + math.exp(-1.3)) + 1 / (1 + math.exp(-0.3))) / 2
    return points.mean(axis=1), won.mean(axis=1), 0.7, truth


@pytest.mark.parametrize("boards", [60, 400])
def test_intervals_hold_the_truth_as_often_as_they_say(boards: int) -> None:
    """95 %: of 1,000 simulated events 93 to 97 % (the binomial's own sd is .7 %)."""
    chance = np.random.default_rng(boards)
    held = np.zeros((1000, 2))
    for i in range(1000):
        points, won, mean, share = simulated_boards(chance, boards)
        for k, (estimate, truth) in enumerate(((mean_interval(points), mean), (share_interval(won), share))):
            assert estimate.low is not None
            assert estimate.high is not None
            held[i, k] = estimate.low <= truth <= estimate.high
    assert (held.mean(axis=0) > 0.93).all()
    assert (held.mean(axis=0) < 0.975).all()


def test_games_of_one_board_are_not_taken_for_independent() -> None:
    """Boards of two games that always agree: an interval over games would be too narrow by √2."""
    values = np.random.default_rng(2).normal(size=200)
    by_game = mean_interval(np.repeat(values, 2))
    by_board = mean_interval(values)
    assert by_board.half_width is not None
    assert by_game.half_width is not None
    assert by_board.half_width / by_game.half_width == pytest.approx(2**0.5, rel=0.01)


# --- ratings ----------------------------------------------------------------------------------------------------------


def shares_of(elo: list[float], boards: int, seed: int | None) -> np.ndarray:
    """Shares of wins of a round robin, drawn, or (without seed) as expected."""
    rating = np.array(elo)
    expected = 1 / (1 + 10 ** ((rating[None] - rating[:, None]) / 400))
    k = len(elo)
    shares = np.zeros((boards, k, k))
    chance = np.random.default_rng(seed)
    for a in range(k):
        for b in range(a + 1, k):
            games = chance.random((boards, 2)) < expected[a, b]
            shares[:, a, b] = expected[a, b] if seed is None else games.mean(axis=1)
            shares[:, b, a] = 1 - shares[:, a, b]
    return shares


def test_two_players_are_rated_by_their_odds() -> None:
    shares = np.zeros((100, 2, 2))
    shares[:75, 0, 1] = 1
    shares[75:, 1, 0] = 1
    ratings = bradley_terry(shares, 1, 0)
    assert ratings[0].elo == pytest.approx(400 * math.log10((75 + PRIOR) / (25 + PRIOR)), abs=1e-3)
    assert ratings[1] == (0, 0, 0)


def test_true_ratings_are_found_again() -> None:
    truth = [0.0, 120.0, -75.0, 300.0]
    for rating, true in zip(bradley_terry(shares_of(truth, 4000, None), 0, 0), truth, strict=True):
        assert rating.elo == pytest.approx(true, abs=1)
    for rating, true in zip(bradley_terry(shares_of(truth, 2000, 5), 0, 0), truth, strict=True):
        assert rating.low <= true <= rating.high
        assert rating.high - rating.low < 60


def test_the_order_of_boards_does_not_matter() -> None:
    shares = shares_of([0, 50, 100], 300, 1)
    ratings = bradley_terry(shares, 0, 0)
    shuffled = bradley_terry(np.random.default_rng(0).permutation(shares), 0, 0)
    assert [r.elo for r in shuffled] == pytest.approx([r.elo for r in ratings], abs=1e-6)


def test_degenerate_ratings_are_defined() -> None:
    assert bradley_terry(np.zeros((5, 1, 1)), 0, 0) == [(0, 0, 0)]
    none = bradley_terry(np.zeros((0, 3, 3)), 0, 0)
    assert np.allclose(none, 0, atol=1e-6)
    won = np.zeros((50, 2, 2))
    won[:, 0, 1] = 1
    ratings = bradley_terry(won, 1, 0)
    assert np.isfinite(ratings).all()
    assert ratings[0].elo == pytest.approx(400 * math.log10(101), abs=1e-3)
    even = np.full((50, 3, 3), 0.5)
    assert np.allclose(bradley_terry(even, 0, 0), 0, atol=1e-6)


def test_a_cycle_is_even() -> None:
    shares = np.zeros((60, 3, 3))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        shares[:, a, b] = 1
    assert np.allclose([rating.elo for rating in bradley_terry(shares, 0, 0)], 0, atol=1e-3)
