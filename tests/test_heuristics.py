"""What all built-in agents share: legal, unmoved by other rows and by hidden cards, under all rules, in every decision."""

import random  # noqa: TID251 - the choices of a test

import numpy as np
import pytest

from agents import load
from agents.registry import REGISTRY
from chicago_env.game import Game
from chicago_env.layout import AT
from chicago_env.setup import MatchSetup
from chicago_env.vector import GameBatch
from tests.hidden_cards import strong, with_other_hidden_cards
from tests.play import PLAYERS, RULE_SETS, variant_specs

AGENTS = {name: load(name) for name in REGISTRY if name.startswith("heuristic:")}
EXCHANGE, OPEN_CHOICE, OPEN_ACCEPT, ANNOUNCE, FOUR, CHICAGO, PLAY = range(7)


class Fixed:
    """Numbers that belong to a row, whatever the batch: the agents' chance in these tests."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def random(self, size: int) -> np.ndarray:
        assert size == len(self.numbers)
        return self.numbers


def visit(name: str, setups: list[MatchSetup], steps: int, seed: int) -> set[int]:
    """Lets an agent play, now and then against its will; the phases in which it was asked."""
    agent, batch = AGENTS[name], GameBatch(setups)
    rng = np.random.default_rng(seed)
    phases: set[int] = set()
    for _ in range(steps):
        live = batch.live
        if not len(live):
            break
        observations, masks = batch.observe(live)
        phases |= set(observations[:, AT.phase : AT.phase + 7].argmax(axis=1).tolist())
        numbers = rng.random(len(live))
        chosen = agent.act(observations, masks, Fixed(numbers))
        assert (masks[np.arange(len(live)), chosen] == 1).all()
        order = rng.permutation(len(live))
        again = agent.act(observations[order], masks[order], Fixed(numbers[order]))
        assert (again == chosen[order]).all()
        other = (masks * rng.random(masks.shape)).argmax(axis=1)
        batch.step(live, np.where(rng.random(len(live)) < 0.3, other, chosen))
    return phases


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("name", AGENTS)
def test_every_decision_of_all_rules(name: str, players: int) -> None:
    seen: set[int] = set()
    for rules in RULE_SETS:
        setups = [MatchSetup.make(players, rules, seed=seed, max_deals=4) for seed in range(30)]
        high = [MatchSetup.make(players, rules, seed=seed, max_deals=2, scores=[30] * players) for seed in range(30)]
        seen |= visit(name, setups + high, 150, players)
    assert {EXCHANGE, OPEN_CHOICE, OPEN_ACCEPT, ANNOUNCE, CHICAGO, PLAY} <= seen


@pytest.mark.parametrize("name", AGENTS)
def test_the_choice_at_a_four_of_a_kind(name: str) -> None:
    setups = [MatchSetup.make(2, "pagat+four=choose", seed=seed, max_deals=3) for seed in range(1500)]
    assert FOUR in visit(name, setups, 120, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", AGENTS)
def test_every_variant(name: str) -> None:
    for i, rules in enumerate(variant_specs()):
        visit(name, [MatchSetup.make(2 + i % 5, rules, seed=seed, max_deals=2) for seed in range(6)], 120, i)


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("players", [2, 4])
def test_no_choice_depends_on_hidden_cards(rules: str, players: int) -> None:
    rng = random.Random(players)
    phases = set()
    for seed in range(12):
        game = Game(players, rules, seed=seed, scores=[seed % 3 * 20] * players, max_deals=1)
        while not game.over:
            observation, mask = game.observe()
            twin = with_other_hidden_cards(game, game.seat, rng)
            other, other_mask = twin.observe(game.seat)
            phases.add(game.phase)
            numbers = Fixed(np.array([rng.random()]))
            for agent in AGENTS.values():
                here = agent.act(observation[None], mask[None], numbers)
                assert here == agent.act(other[None], other_mask[None], numbers)
            game.step(strong(game, rng))
    assert {"exchange", "play"} <= phases
