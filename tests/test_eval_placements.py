"""Placements, Plackett-Luce ratings and cycles: closed forms, another library, degenerate cases, simulated events."""

import itertools
import math

import numpy as np
import pytest

from eval.boards import lineups as lineups_of
from eval.cycles import clear_wins, cycles_of
from eval.placements import places_of, plackett_luce
from eval.ratings import ELO, PRIOR, bradley_terry
from tests.test_eval_stats import shares_of


def test_the_winner_is_first_then_the_score_counts() -> None:
    scores = np.array([[60, 55, 20, 55], [60, 55, 20, 55], [10, 10, 10, 10]])
    assert places_of(scores, np.array([1, -1, -1])).tolist() == [[1, 0, 3, 2], [0, 1, 3, 1], [0, 0, 0, 0]]


def draw(elo: list[float], games: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Places (N, P) of games with these agents in their seats, from the model: Gumbel noise on log strengths."""
    value = np.array(elo)[games] / ELO + rng.gumbel(size=games.shape)
    return np.asarray((value[:, None, :] > value[:, :, None]).sum(axis=2))


def tables(agents: int, players: int, boards: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Lineups of random tables in all rotations, and their boards."""
    who = np.stack([rng.permutation(agents)[:players] for _ in range(boards)])
    turned = np.stack([np.roll(who, turn, axis=1) for turn in range(players)], axis=1)
    return turned.reshape(-1, players), np.repeat(np.arange(boards), players)


def test_the_same_as_another_library() -> None:
    choix = pytest.importorskip("choix")
    rng = np.random.default_rng(0)
    games, boards = tables(5, 4, 150, rng)
    places = draw([0, 100, -100, 250, 30], games, rng)
    rankings = [[int(agent) for agent in game[np.argsort(place)]] for game, place in zip(games, places, strict=True)]
    pairs = [list(pair) for pair in itertools.permutations(range(5), 2)]
    # their rankings have no weights: four games a board, so two wins of a pair weigh as half a board
    expected = choix.opt_rankings(5, rankings + pairs * round(4 * PRIOR)) * ELO
    found = [rating.elo for rating in plackett_luce(games, places, boards, 5, 0, 0)]
    np.testing.assert_allclose(found, expected - expected[0], atol=0.01)


def test_two_players_are_rated_as_by_bradley_terry() -> None:
    shares = shares_of([0, 80, -50], 200, 3)
    games, places, boards = [], [], []
    for board in range(200):
        for a, b in itertools.combinations(range(3), 2):
            wins = round(2 * shares[board, a, b])
            for game in range(2):
                games.append((a, b))
                places.append((0, 1) if game < wins else (1, 0))
                boards.append(board * 3 + a + b)
    found = plackett_luce(np.array(games), np.array(places), np.array(boards), 3, 1, 0)
    expected = bradley_terry(shares, 1, 0)
    assert [rating.elo for rating in found] == pytest.approx([rating.elo for rating in expected], abs=1e-2)


def test_a_tie_is_half_of_either_order() -> None:
    games, boards = np.array([[0, 1, 2]] * 2), np.array([0, 0])
    tied = plackett_luce(games, np.array([[0, 0, 2]] * 2), boards, 3, 2, 0)
    both = plackett_luce(games, np.array([[0, 1, 2], [1, 0, 2]]), boards, 3, 2, 0)
    assert [rating.elo for rating in tied] == pytest.approx([rating.elo for rating in both], abs=1e-6)
    assert tied[0].elo == pytest.approx(tied[1].elo)


@pytest.mark.parametrize("players", [3, 4, 6])
def test_an_agent_in_several_seats(players: int) -> None:
    """One against the others and the other way round, as pairs play: the rating they were drawn from is found."""
    rng = np.random.default_rng(players)
    games = np.tile(np.array(lineups_of(players)), (3000, 1))
    places = draw([0, 60], games, rng)
    rating = plackett_luce(games, places, np.repeat(np.arange(3000), 2 * players), 2, 0, 0)[1]
    assert rating.low < 60 < rating.high
    assert rating.high - rating.low < 20


def test_neither_the_order_of_boards_nor_of_seats_matters() -> None:
    rng = np.random.default_rng(5)
    games, boards = tables(4, 3, 60, rng)
    places = draw([0, 50, 100, -70], games, rng)
    found = [rating.elo for rating in plackett_luce(games, places, boards, 4, 0, 0)]
    order, seats = rng.permutation(len(games)), rng.permutation(3)
    other = plackett_luce(games[order][:, seats], places[order][:, seats], boards[order], 4, 0, 0)
    assert [rating.elo for rating in other] == pytest.approx(found, abs=1e-6)


def test_degenerate_placements_are_defined() -> None:
    none = np.zeros((0, 3), dtype=np.int64)
    assert plackett_luce(none, none, none[:, 0], 1, 0, 0) == [(0, 0, 0)]
    assert plackett_luce(none, none, none[:, 0], 3, 0, 0) == [(0, 0, 0)] * 3
    games = np.tile(np.array(lineups_of(3)), (50, 1))
    boards = np.repeat(np.arange(50), 6)
    won = plackett_luce(games, np.argsort(np.argsort(games, axis=1, kind="stable"), axis=1), boards, 2, 1, 0)
    assert np.isfinite(won).all()
    assert won[0].elo > 300
    assert won[1] == (0, 0, 0)
    same = plackett_luce(games, np.zeros_like(games), boards, 2, 0, 0)
    assert np.allclose(same, 0, atol=1e-6)
    # an agent that never played has the rating that half a win says, with the others
    alone = plackett_luce(games, np.zeros_like(games), boards, 3, 0, 0)
    assert np.allclose([rating.elo for rating in alone], 0, atol=1e-6)


def coverage(players: int, boards: int, events: int) -> np.ndarray:
    """Share of simulated events in which the interval of each agent but the anchor held the truth."""
    truth = [0.0, 70.0, -40.0, 150.0]
    held = np.zeros((events, 3))
    for i in range(events):
        rng = np.random.default_rng([players, boards, i])
        if players == 2:
            ratings = bradley_terry(shares_of(truth, boards, 7_000_000 + i), 0, i)
        else:
            games, which = tables(4, players, boards, rng)
            ratings = plackett_luce(games, draw(truth, games, rng), which, 4, 0, i)
        held[i] = [rating.low <= true <= rating.high for rating, true in zip(ratings[1:], truth[1:], strict=True)]
    return np.asarray(held.mean(axis=0))


@pytest.mark.parametrize("players", [2, 3])
def test_intervals_of_ratings_hold_the_truth(players: int) -> None:
    """95 %, in 40 events, three ratings each; the slow test below looks closer."""
    assert coverage(players, 150, 40).mean() > 0.88


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_intervals_of_ratings_hold_the_truth_in_many_events(players: int) -> None:
    assert ((found := coverage(players, 200, 1000)) >= 0.93).all(), found
    assert (found <= 0.97).all(), found


# --- cycles -----------------------------------------------------------------------------------------------------------


def beaten(*pairs: tuple[int, int], agents: int) -> np.ndarray:
    beats = np.zeros((agents, agents), dtype=bool)
    for a, b in pairs:
        beats[a, b] = True
    return beats


def test_cycles_are_named_once() -> None:
    assert cycles_of(beaten(agents=0)) == cycles_of(beaten(agents=1)) == []
    assert cycles_of(beaten((0, 1), (1, 2), (0, 2), agents=3)) == []
    assert cycles_of(beaten((2, 1), (1, 0), (0, 2), agents=3)) == [(0, 2, 1)]
    four = beaten((0, 1), (1, 2), (2, 3), (3, 0), agents=5)
    assert cycles_of(four) == [(0, 1, 2, 3)]
    four[1, 3] = True  # a shorter way
    assert cycles_of(four) == [(0, 1, 3), (0, 1, 2, 3)]
    two = beaten((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), agents=6)
    assert cycles_of(two) == [(0, 1, 2), (3, 4, 5)]


def test_only_what_is_clear_of_noise_is_a_win() -> None:
    rng = np.random.default_rng(1)
    even = {pair: (rng.random(400) < 0.5).astype(float) for pair in itertools.combinations(range(4), 2)}
    assert not clear_wins(even, 4).any()
    chances = zip(even, (0.65, 0.35, 0.5, 0.65, 0.5, 0.5), strict=True)
    cycle = {pair: (rng.random(400) < share).astype(float) for pair, share in chances}
    assert cycles_of(clear_wins(cycle, 4)) == [(0, 1, 2)]
    assert not clear_wins({(0, 1): np.zeros(0)}, 2).any()
    assert not clear_wins({(0, 1): np.ones(1)}, 2).any()
    assert clear_wins({(0, 1): np.ones(50)}, 2).tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("agents", [6])
def test_a_false_cycle_is_hardly_ever_named(agents: int) -> None:
    """All agents even: with 95 % no pair at all looks clear."""
    clear = 0
    for i in range(200):
        rng = np.random.default_rng(i)
        shares = {pair: rng.integers(0, 3, 200) / 2 for pair in itertools.combinations(range(agents), 2)}
        clear += bool(clear_wins(shares, agents).any())
    assert clear < 0.05 * 200 + 3 * math.sqrt(200 * 0.05 * 0.95)
