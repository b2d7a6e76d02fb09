"""The solver of the tricks against brute force through the engine."""

import random  # noqa: TID251  # keyed chance is what is tested
from collections.abc import Iterator

import numpy as np
import pytest

from agents.equity import kind_of_game, write_chances
from agents.search.tricks import ENDS, is_solvable, solve
from chicago_env.game import NO_LOG
from chicago_env.kernels import single
from chicago_env.setup import NO_DECKS
from chicago_env.state import FOUR, OVER, PLAY, STATE
from tests.hidden_cards import strong
from tests.play import RULE_SETS
from tests.test_observation import arranged

RULES = (*RULE_SETS, "pagat+chicago_from=0+two_doubles=yes", "family+breaker=8+two_doubles=yes", "race+four=choose")


def values_of(states: np.ndarray) -> list[float]:
    g = states[0]
    players, chances = int(g["players"]), np.zeros(6)
    if g["winner"] >= 0:
        return [float(g["winner"] == s) for s in range(players)]
    second = (int(g["first_dealer"]) + 1) % players  # positions are of the first deal
    write_chances(g["scores"], players, int(g["r_target"]), second, kind_of_game(g), chances)
    return chances[:players].tolist()


def brute(states: np.ndarray, deal: int, nodes: list[int]) -> list[float]:
    """Every line of play; whoever is to act takes what is best for itself, the lowest action of equals."""
    nodes[0] += 1
    g = states[0]
    if g["phase"] == OVER or g["deal"] != deal:
        return values_of(states)
    assert g["phase"] in {PLAY, FOUR}
    base, bits = single.legal(states)
    seat, best = int(g["to_act"]), []
    for i in range(64):
        if bits >> i & 1:
            after = states.view(np.uint8).copy().view(STATE)
            single.step(after, NO_DECKS, base + i, NO_LOG)
            found = brute(after, deal, nodes)
            if not best or found[seat] > best[seat]:
                best = found
    return best


def solution(states: np.ndarray) -> list[float]:
    work = np.zeros(4, dtype=STATE)
    raw = work.view(np.uint8).reshape(4, STATE.itemsize)
    raw[0] = states.view(np.uint8)
    values = np.zeros((31, 6))
    solve(raw, work, NO_DECKS, NO_LOG, np.full((ENDS, 6), np.nan), np.zeros((6, 6)), values)
    assert (raw[0] == states.view(np.uint8)).all()
    return values[0, : int(states["players"][0])].tolist()


def positions(players: int, seed: int, most: int) -> Iterator[np.ndarray]:
    """Records in the tricks with at most `most` cards in the hand of the seat to act."""
    rng = random.Random(seed)
    while True:
        seed += 1
        game = arranged(players, rng.choice(RULES), seed)
        while not game.over and game.deal == 0:
            if game.phase == "play" and len(game.hand(game.seat)) <= most and is_solvable(game.state):
                yield game._states.view(np.uint8).copy().view(STATE)
            game.step(49 if game.phase == "chicago" and rng.random() < 0.5 else strong(game, rng))


def check(players: int, count: int, most: int, seed: int) -> None:
    differ, called = 0, 0
    for _, states in zip(range(count), positions(players, seed, most), strict=False):
        expected = brute(states, int(states["deal"][0]), [0])
        assert solution(states) == pytest.approx(expected, abs=1e-12)
        differ += len(set(expected)) > 1
        called += int(states["caller"][0]) >= 0
    assert differ > 0.9 * count
    assert called > 0.1 * count


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_solutions_are_those_of_brute_force(players: int) -> None:
    check(players, 400, 3, 7)


@pytest.mark.slow
def test_ten_thousand_solutions_at_two_players() -> None:
    check(2, 10_000, 3, 100)


@pytest.mark.slow
def test_whole_hands_at_two_players() -> None:
    check(2, 12, 5, 10_000)
