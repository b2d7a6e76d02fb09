"""The models of how players act, and how they are fitted."""

import numpy as np
import pytest

from agents.search.habits import call_chance, keep_utilities
from agents.search.make_habits import chances, decisions, fit, play
from agents.uniform import RandomAgent
from chicago_env.bits import select
from chicago_env.game import Game
from chicago_env.state import CHICAGO, EXCHANGE, PLAY


def cards(text: str) -> int:
    return sum(1 << ("23456789TJQKA".index(rank) * 4 + "CDHS".index(suit)) for rank, suit in text.split())


def test_fitting_finds_the_weights_that_the_choices_came_from() -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(20_000, 4, 3)).astype(np.float32)
    options = rng.integers(2, 5, len(features))
    weights = np.array([1.0, -2.0, 0.5])
    p = chances(features, options, weights)
    taken = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)
    assert (taken < options).all()
    np.testing.assert_allclose(fit(features, options, taken), weights, atol=0.06)


def test_decisions_are_read_from_games() -> None:
    states, taken, deal = play(RandomAgent(), 3, 40, 5)
    for phase in (EXCHANGE, CHICAGO, PLAY):
        found = decisions(states, taken, deal, phase)
        assert len(found.taken) == (states["phase"] == phase).sum() > 10
        assert ((found.taken >= 0) & (found.taken < found.options)).all()
        rows = np.arange(len(found.taken))
        assert np.isfinite(found.features).all()
        assert found.features[rows, found.options - 1].any(axis=1).all()


@pytest.mark.parametrize(
    ("hand", "kept"),
    [("8C 8D 8H KC KS", "8C 8D 8H KC KS"), ("2C 7D TH AC AS", "AC AS"), ("2C 5C 8C JC QC", "2C 5C 8C JC QC")],
)
def test_the_likeliest_exchange_is_the_usual_one(hand: str, kept: str) -> None:
    scratch = np.zeros(64)
    keep_utilities(Game(2, "pagat", seed=0).state, 0, 0, cards(hand), scratch)
    gone = select(cards(hand), int(scratch[:32].argmax()))
    assert cards(hand) & ~gone == cards(kept)


def test_who_falls_behind_calls_a_chicago_with_anything() -> None:
    scratch = np.zeros(64)
    weak = cards("2C 5D 8H 9S JD")
    chance = [call_chance(Game(2, "pagat", seed=0, scores=s).state, 0, weak, scratch) for s in ([20, 20], [16, 51])]
    assert chance[0] < 0.15
    assert chance[1] > 2 * chance[0]
    strong = cards("AC KC QC AD AH")
    assert call_chance(Game(2, "pagat", seed=0, scores=[20, 20], first_dealer=1).state, 0, strong, scratch) > 0.6
