"""Sampled worlds: the observer cannot tell them from its own, each could have been dealt and played just so."""

import random  # noqa: TID251  # keyed chance is what is tested
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.search.habits import log_exchange
from agents.search.worlds import worlds_of
from chicago_env.bits import select
from chicago_env.game import Game, cards_of
from chicago_env.hands import hand_value
from chicago_env.kernels import single
from chicago_env.layout import BLOCKS, OBSERVATION_SIZE, slice_of
from chicago_env.state import PHASES, STATE
from tests.hidden_cards import strong
from tests.oracle.random_rules import random_rules
from tests.play import PLAYERS, RULE_SETS, variant_specs
from tests.test_observation import arranged
from tests.worlds import Told, replay

ENOUGH = {2: 0.99, 3: 0.99, 4: 0.97, 5: 0.92, 6: 0.6}
"""Share of decisions of wild play, with rare hands, for which a world must be found, by number of players."""


def seen(world: np.void) -> tuple[np.ndarray, np.ndarray]:
    observation = np.empty(OBSERVATION_SIZE, dtype=np.uint8)
    mask = np.empty(102, dtype=np.int8)
    single.view(np.array([world], dtype=STATE), 0, observation, mask)
    return observation, mask


def check(game: Game, actions: list[int], n: int, key: int) -> int:
    """Checks n worlds of the seat to act; returns how many there are."""
    expected = game.observe()
    worlds = worlds_of(expected[0], n, key)
    for world in worlds:
        found = seen(world)
        names = [b.name for b in BLOCKS if (expected[0][slice_of(b.name)] != found[0][slice_of(b.name)]).any()]
        assert not names, f"{game!r}: {names}"
        assert (expected[1] == found[1]).all()
        if game.deal == 0:
            twin = replay(world, game, actions)
            assert twin.seat == 0
            assert (twin.observation() == expected[0]).all(), f"{game!r} played again"
            assert [twin.hand(s) for s in range(game.players)] == [cards_of(h) for h in world["hand"][: game.players]]
            assert int(twin.state["pile"]) == int(world["pile"])
    return len(worlds)


def play_and_check(game: Game, rng: random.Random, n: int, phases: Counter) -> None:
    actions: list[int] = []
    while not game.over:
        if len(game.legal_actions()) > 1:
            phases[game.phase, check(game, actions, n, rng.randrange(1 << 60)) == n] += 1
        actions.append(strong(game, rng))
        game.step(actions[-1])


@pytest.mark.parametrize("players", PLAYERS)
def test_worlds_are_as_observed_and_could_have_come_about(players: int) -> None:
    phases: Counter[tuple[str, bool]] = Counter()
    for i, rules in enumerate(RULE_SETS):
        play_and_check(arranged(players, rules, seed=100 * players + i, deals=2), random.Random(i), 2, phases)
    for i in range(8):
        game = arranged(players, "family+four=choose", seed=i, kinds=["four"])
        play_and_check(game, random.Random(i), 2, phases)
    assert {phase for phase, _ in phases} == set(PHASES) - {"over"}
    found = sum(n for (_, ok), n in phases.items() if ok)
    assert found / phases.total() >= ENOUGH[players]


@pytest.mark.slow
@pytest.mark.parametrize("players", PLAYERS)
def test_worlds_of_every_variant(players: int) -> None:
    phases: Counter[tuple[str, bool]] = Counter()
    for i, rules in enumerate(variant_specs()):
        play_and_check(arranged(players, rules, seed=i), random.Random(i), 1, phases)
    found = sum(n for (_, ok), n in phases.items() if ok)
    assert found / phases.total() >= ENOUGH[players]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 30), st.integers(2, 6))
def test_worlds_under_any_rules(seed: int, players: int) -> None:
    rng = random.Random(seed)
    play_and_check(arranged(players, random_rules(rng), seed, max_deals=3), rng, 1, Counter())


def test_worlds_differ_and_depend_on_their_key_alone() -> None:
    game = Game(3, "pagat", seed=4)
    for _ in range(2):
        game.step(7)
    observation = game.observation()
    first, again, other = (worlds_of(observation, 20, key) for key in (1, 1, 2))
    assert (first.view(np.uint8) == again.view(np.uint8)).all()
    assert (first["hand"] != other["hand"]).any()
    assert len({int(hand) for hand in first["hand"][:, 1]}) > 15


def test_likelier_hands_come_more_often() -> None:
    """The hand of one opponent that has discarded three, against all hands weighted by how likely they discard three."""
    deck = [4, 0, 8, 1, 17, 2, 22, 3, 27, 5, *range(30, 45)]
    deck += [card for card in range(52) if card not in deck]
    game = Game(2, "pagat", decks=[deck], first_dealer=1)
    own = int(game.state["hand"][1])
    game.step(0b10101)
    assert game.seat == 1
    worlds = worlds_of(game.observation(), 1600, 5)
    first = [Told(w, game).first_hand(1) for w in worlds]
    first = [sum(1 << card for card in hand) for hand in first]
    found = np.bincount([hand_value(hand) >> 20 for hand in first], minlength=10)[:4] / len(worlds)

    rng = np.random.default_rng(3)
    unseen = [card for card in range(52) if not own >> card & 1]
    record, scratch = worlds[0], np.zeros(64)
    expected, aces = np.zeros(10), 0.0
    for _ in range(6000):
        hand = sum(1 << int(card) for card in rng.choice(unseen, 5, replace=False))
        weight = sum(
            np.exp(log_exchange(record, 0, 1, hand, select(hand, picks), scratch))
            for picks in range(32)
            if picks.bit_count() == 3
        )
        expected[hand_value(hand) >> 20] += weight
        aces += weight * (hand >> 48).bit_count()
    aces /= expected.sum()
    assert np.abs(found - expected[:4] / expected.sum()).max() < 0.05
    assert abs(np.mean([(hand >> 48).bit_count() for hand in first]) - aces) < 0.08
    assert found[1] > 0.6  # by chance alone 42 % would hold a pair


def test_hands_are_drawn_by_the_odds_of_their_cards() -> None:
    """Cards with odds of their own, five of them: sums over all hands are elementary symmetric polynomials."""
    game = Game(2, "pagat", seed=6)
    own = game.hand(game.seat)
    rng = np.random.default_rng(2)
    odds = np.zeros((6, 52))
    odds[1] = rng.normal(0, 2, 52)
    worlds = worlds_of(game.observation(), 3200, 5, odds)
    found = (worlds["hand"][:, 1, None] >> np.arange(52) & 1).mean(axis=0)
    unseen = [card for card in range(52) if card not in own]
    weights = np.exp(odds[1, unseen])

    def hands(weights: np.ndarray, size: int) -> float:
        sums = np.zeros(size + 1)
        sums[0] = 1
        for weight in weights:
            sums[1:] += weight * sums[:-1]
        return float(sums[size])

    expected = np.zeros(52)
    for i, card in enumerate(unseen):
        expected[card] = weights[i] * hands(np.delete(weights, i), 4) / hands(weights, 5)
    assert expected.max() > 0.5
    np.testing.assert_allclose(found, expected, atol=0.06)
