"""Canonical suits: games that differ in the names of suits alone look the same, whatever is shown in them."""

import dataclasses
import random  # noqa: TID251  # which permutation is tested is no chance of a game
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet
from agents.suits import SHOWN_SUITS, SUIT_RANKS, canonical, renamed_actions, renamed_cards
from chicago_env import BatchEnv, Game, parse_rules
from chicago_env.actions import ANNOUNCE, NUM_ACTIONS, PLAY, discard_action
from chicago_env.cards import SUITS
from chicago_env.errors import SetupError
from chicago_env.layout import AT, CARDS, OBSERVATION_SIZE, SMALL_OFFSET, slice_of
from tests.hidden_cards import strong

DECKS = 12

Suits = Sequence[int]


def card_under(suits: Suits, card: int) -> int:
    return card & ~3 | int(suits[card & 3])


def action_under(suits: Suits, action: int, hand: Sequence[int]) -> int:
    """An action of a seat that holds `hand`, when suit s is called `suits[s]`."""
    if action >= PLAY:
        return PLAY + card_under(suits, action - PLAY)
    if action >= ANNOUNCE:
        return action
    gone = [card_under(suits, card) for i, card in enumerate(sorted(hand)) if action >> i & 1]
    return discard_action([card_under(suits, card) for card in hand], gone)


class Story:
    """A deal, its actions and the hands that they were taken with; `retold` plays it with other names of suits."""

    def __init__(self, players: int, rules: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.deck = self.rng.sample(range(52), 52)
        self.seed, self.players, self.rules = seed, players, parse_rules(rules)
        self.game = self.new(range(4))
        self.actions: list[tuple[int, list[int]]] = []

    def new(self, suits: Suits) -> Game:
        deck = [card_under(suits, card) for card in self.deck]
        order = self.rules.suit_order
        if order is not None:
            order = "".join(SUITS[suits[SUITS.index(suit)]] for suit in order)
        rules = dataclasses.replace(self.rules, suit_order=order)
        return Game(self.players, rules, seed=self.seed, decks=[deck], max_deals=1)

    def step(self, action: int) -> None:
        self.actions.append((action, self.game.hand(self.game.seat)))
        self.game.step(action)

    @property
    def comparable(self) -> bool:
        """A stock that is shuffled again is so by card ids."""
        return not self.game.over and not int(self.game.state["reshuffled"])

    def retold(self, suits: Suits) -> Game:
        twin = self.new(suits)
        for action, hand in self.actions:
            twin.step(action_under(suits, action, hand))
        return twin

    def other_suits(self) -> list[int]:
        return self.rng.sample(range(4), 4)


def seen(*games: Game) -> tuple[np.ndarray, np.ndarray]:
    pairs = [game.observe(game.seat) for game in games]
    return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])


@pytest.mark.parametrize(
    ("players", "rules", "blocks"),
    [
        (2, "pagat", "discards_by_round draws_by_round plays known void winning_card shown"),
        (2, "pagat+open_card=yes+show_broken=yes", "plays broken open_card upcard"),
        (3, "race+tie_reveal=ranks", "shown_ranks plays"),
        (3, "open-card+tie_reveal=ranks", "shown_ranks plays rule_numbers"),
        (4, "open-card", "upcard plays rule_numbers"),
        (5, "family", "known plays"),
    ],
)
def test_the_same_game_under_other_names_looks_the_same(players, rules, blocks) -> None:
    """And what it looks like is the game under the names that are given: nothing is lost or made up.

    `blocks` are those that must have been seen with something in them.
    """
    shown: np.ndarray | int = 0
    for seed in range(DECKS):
        story = Story(players, rules, seed)
        while story.comparable:
            twin = story.retold(story.other_suits())
            observations, masks = seen(story.game, twin)
            found = canonical(observations, masks)
            assert (found.observations[0] == found.observations[1]).all()
            assert (found.masks[0] == found.masks[1]).all()
            suits = found.suits[0].tolist()
            renamed, own_mask = seen(story.retold(suits))
            assert (renamed[0] == found.observations[0]).all()
            assert (own_mask[0] == found.masks[0]).all()
            hand = story.game.hand(story.game.seat)
            for action in story.game.legal_actions():
                same = renamed_actions(found.actions[:1], np.array([action]))
                assert same.tolist() == [action_under(suits, action, hand)]
            shown = shown | observations[0].astype(np.int64)
            story.step(strong(story.game, story.rng))
    assert isinstance(shown, np.ndarray)
    assert [name for name in blocks.split() if not shown[slice_of(name)].any()] == []


def test_the_order_puts_the_suit_led_and_then_long_suits_first() -> None:
    step = BatchEnv(64, 2, seed=1).reset()
    found = canonical(step.observation, step.mask)
    hands = found.observations[:, AT.hand : AT.hand + CARDS].reshape(-1, 13, 4)
    assert (np.diff(hands.sum(axis=1, dtype=np.int64), axis=1) <= 0).all()
    story = Story(2, "pagat", 3)
    while story.game.phase != "play" or story.game.state["led"] < 0:
        story.step(strong(story.game, story.rng))
    assert canonical(*seen(story.game)).observations[0, slice_of("led_suit")].tolist() == [1, 0, 0, 0]


def test_ranks_of_suits_go_with_their_names() -> None:
    rules = ["pagat", "open-card+suits=DCSH"] * 8
    env = BatchEnv(16, 3, rules, seed=1)
    step, rng = env.reset(), np.random.default_rng(0)
    names = set()
    for _ in range(60):
        found = canonical(step.observation, step.mask)
        ranks = slice(SUIT_RANKS, SUIT_RANKS + 4)
        assert (found.observations[::2, ranks] == step.observation[::2, ranks]).all()
        renamed = np.take_along_axis(found.observations[1::2, ranks], found.suits[1::2], axis=1)
        assert (renamed == SMALL_OFFSET + np.array([2, 3, 0, 1])).all()
        names |= set(map(tuple, found.suits[1::2].tolist()))
        assert (np.sort(found.actions, axis=1) == np.arange(102)).all()
        assert (np.sort(found.suits, axis=1) == np.arange(4)).all()
        step = env.step((step.mask * rng.random(step.mask.shape)).argmax(axis=1))
    assert len(names) == 24


def test_suits_shown_go_with_their_names() -> None:
    """By hand: hands that tie but for their suits are too rare to wait for."""
    env = BatchEnv(24, 3, "open-card", seed=1)
    step = env.reset()
    shown = np.random.default_rng(0).integers(5, size=(24, SHOWN_SUITS[1] - SHOWN_SUITS[0]))
    step.observation[:, slice(*SHOWN_SUITS)] = shown
    found = canonical(step.observation, step.mask)
    names = np.hstack([np.zeros((24, 1), dtype=np.int64), found.suits + 1])
    assert (found.observations[:, slice(*SHOWN_SUITS)] == np.take_along_axis(names, shown, axis=1)).all()
    assert (found.suits != np.arange(4)).any()


def test_suits_that_only_the_rules_tell_apart_come_in_their_order() -> None:
    row = np.zeros((1, OBSERVATION_SIZE), dtype=np.uint8)
    row[0, SUIT_RANKS : SUIT_RANKS + 4] = SMALL_OFFSET + np.array([0, 2, 3, 1])
    assert canonical(row, np.ones((1, NUM_ACTIONS), dtype=np.int8)).suits.tolist() == [[3, 1, 0, 2]]


def test_cards_are_renamed_as_in_the_observation() -> None:
    step = BatchEnv(16, 2, seed=1).reset()
    found = canonical(step.observation, step.mask)
    hands, renamed = (some[:, AT.hand : AT.hand + CARDS] for some in (step.observation, found.observations))
    assert (renamed_cards(np.hstack([hands, hands]), found.suits) == np.hstack([renamed, renamed])).all()


def sharp_agent(*, canonical_suits: bool, greedy: bool = False) -> NetworkAgent:
    config = NetworkConfig((parse_rules("pagat"),), (2,), (32,), canonical_suits=canonical_suits)
    net = PolicyValueNet(config)
    net.initialize(torch.Generator().manual_seed(0))
    with torch.no_grad():
        net.policy_head.weight *= 1000
    return NetworkAgent(net, greedy=greedy)


class Numbers:
    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, size, /):
        return np.full(size, self.number)


@pytest.mark.parametrize("greedy", [False, True])
def test_an_agent_chooses_the_same_under_other_names(greedy) -> None:
    """Whole deals: the choice under other names is that action under other names, or one that no name tells from it."""
    agent, plain = (sharp_agent(canonical_suits=each, greedy=greedy) for each in (True, False))
    differs = False
    for seed in range(2 * DECKS):
        story = Story(2, "pagat", seed)
        while story.comparable:
            suits, number = story.other_suits(), Numbers(story.rng.random())
            twin = story.retold(suits)
            hand = story.game.hand(story.game.seat)
            (one, mask), (other, other_mask) = seen(story.game), seen(twin)
            choice = agent.act(one, mask, number)
            choice_there = agent.act(other, other_mask, number)
            assert mask[0, choice[0]]
            assert other_mask[0, choice_there[0]]
            here, there = canonical(one, mask), canonical(other, other_mask)
            assert renamed_actions(here.actions, choice) == renamed_actions(there.actions, choice_there)
            if len(set(suits_apart(here.observations[0]))) == 4:
                assert choice_there[0] == action_under(suits, int(choice[0]), hand)
                chances = agent.probabilities(one, mask)[0]
                chances_there = agent.probabilities(other, other_mask)[0]
                for action in story.game.legal_actions():
                    assert chances[action] == chances_there[action_under(suits, action, hand)]
            expected = action_under(suits, int(plain.act(one, mask, number)[0]), hand)
            differs |= plain.act(other, other_mask, number)[0] != expected
            story.step(int(choice[0]))
    assert differs  # without canonical suits this does not hold


def suits_apart(observation: np.ndarray) -> list[bytes]:
    """Something of each suit by which they may be told apart; where two are alike they may still differ elsewhere."""
    sets = [observation[at : at + CARDS].reshape(13, 4) for at in (AT.hand, AT.played, AT.discards)]
    return [np.stack([each[:, suit] for each in sets]).tobytes() for suit in range(4)]


def test_a_network_for_canonical_suits_takes_no_others() -> None:
    agent = sharp_agent(canonical_suits=True)
    step = BatchEnv(4, 2, seed=1).reset()
    with pytest.raises(SetupError, match="suits in canonical order"):
        agent.net(torch.from_numpy(step.observation))
