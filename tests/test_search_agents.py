"""The search agents: legal, reproducible, independent of batch and threads, and blind to cards they have not seen."""

import random  # noqa: TID251  # keyed chance is what is tested

import numpy as np
import pytest
import torch

import agents
from agents import AgentSpecError
from agents.heuristics.expert import decide
from agents.heuristics.novice import NoviceAgent
from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet
from agents.search import pimc
from agents.search.pimc import PimcAgent, candidates, new_work, stages
from agents.search.policy import LEAST, SearchPolicyAgent
from agents.search.rebuild import rebuilt
from chicago_env import parse_rules
from chicago_env.engine.chance import key_of, unit
from chicago_env.game import Game
from chicago_env.setup import MatchSetup
from chicago_env.state import PHASES
from eval.play import play_games
from eval.rng import RowRng
from tests.hidden_cards import strong, with_other_hidden_cards
from tests.play import PLAYERS, RULE_SETS, variant_specs
from tests.test_observation import arranged

SMALL = PimcAgent(budget=16)


def rows_of(games: list[Game]) -> tuple[np.ndarray, np.ndarray]:
    seen = [game.observe() for game in games]
    return np.stack([o for o, _ in seen]), np.stack([m for _, m in seen])


def rng_of(keys: list[int]) -> RowRng:
    return RowRng(np.array(keys, dtype=np.int64))


def moments(players: int, specs: tuple[str, ...], seed: int, every: int = 3) -> list[Game]:
    """Games at decisions of all kinds."""
    found = []
    for i, rules in enumerate(specs):
        rng = random.Random(seed + i)
        kinds = ["four"] if "choose" in rules else None
        game = arranged(players, rules, seed + i, deals=2, **({"kinds": kinds} if kinds else {}))
        while not game.over:
            if len(game.legal_actions()) > 1 and (rng.randrange(every) == 0 or game.phase == "four"):
                found.append(game.copy())
            game.step(strong(game, rng))
    return found


@pytest.mark.parametrize("players", PLAYERS)
def test_every_kind_of_decision_is_answered(players: int) -> None:
    games = moments(players, (*RULE_SETS, *["family+four=choose"] * 6), players)
    assert {game.phase for game in games} == set(PHASES) - {"over"}
    observations, masks = rows_of(games)
    answer = agents.ask(SMALL, observations, masks, rng_of(list(range(len(games)))))
    again = SMALL.act(observations, masks, rng_of(list(range(len(games)))))
    assert (answer == again).all()


@pytest.mark.slow
def test_every_variant_is_played() -> None:
    for i, rules in enumerate(variant_specs()):
        setup = MatchSetup.make(2 + i % 5, rules, seed=i, max_deals=1)
        seating = np.zeros((1, setup.players), dtype=np.int64)
        played = play_games({"search:pimc": SMALL}, [setup], np.zeros(1, dtype=np.int64), seating, 3)
        assert played.deals[0] == 1


def test_rows_do_not_depend_on_their_batch() -> None:
    games = moments(3, RULE_SETS, 40, 9)
    observations, masks = rows_of(games)
    keys = list(range(len(games)))
    together = SMALL.act(observations, masks, rng_of(keys))
    order = random.Random(0).sample(keys, len(keys))
    assert (SMALL.act(observations[order], masks[order], rng_of(order)) == together[order]).all()
    for row in keys[::5]:
        assert SMALL.act(observations[row : row + 1], masks[row : row + 1], rng_of([row]))[0] == together[row]


def test_unseen_cards_do_not_matter() -> None:
    games = moments(4, RULE_SETS, 60, 6)
    rng = random.Random(1)
    twins = [with_other_hidden_cards(game, game.seat, rng) for game in games]
    keys = list(range(len(games)))
    assert (SMALL.act(*rows_of(games), rng_of(keys)) == SMALL.act(*rows_of(twins), rng_of(keys))).all()


def test_a_larger_budget_changes_the_answer_somewhere() -> None:
    games = moments(2, RULE_SETS, 80, 4)
    keys = list(range(len(games)))
    observations, masks = rows_of(games)
    small, large = (
        SMALL.act(observations, masks, rng_of(keys)),
        PimcAgent(budget=64).act(observations, masks, rng_of(keys)),
    )
    assert (small != large).any()


def test_exchanges_looked_at_are_the_given_one_and_the_likeliest() -> None:
    # a full house is kept; from a pair of aces the three others go
    for hand, likeliest in (("8C 8D 8H KC KS", 0), ("2C 7D TH AC AS", 0b00111)):
        names = hand.split()
        deck = ["3C", "4C", "5C", "6C", "9D", *names]
        table = [deck[i + 5 * s] for i in range(5) for s in range(2)]
        rest = [r + s for r in "23456789TJQKA" for s in "CDHS" if r + s not in deck]
        game = Game(2, "pagat", decks=[table + rest], first_dealer=1)
        game.step(0)
        chosen = np.zeros(64, dtype=np.int64)
        known = rebuilt(game.observation()[None])
        for first in (likeliest, 0b01001):
            n = candidates(known.states[0], first, pimc.EXCHANGES, new_work().scratch, chosen)
            assert n == pimc.EXCHANGES
            assert chosen[0] == first
            assert likeliest in chosen[:2]
            assert len(set(chosen[:n].tolist())) == n


@pytest.mark.parametrize(("actions", "sizes"), [(8, [8, 4, 2]), (5, [5, 3, 2]), (3, [3, 2]), (2, [2])])
def test_the_worse_half_is_left_out_until_two_are_left(actions: int, sizes: list[int]) -> None:
    plan = stages(actions, 480)
    assert [size for size, _ in plan] == sizes
    assert 470 <= sum(size * count for size, count in plan) <= 480


def test_the_choice_of_the_expert_stands_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    games = moments(2, ("pagat",) * 4, 30)
    keys = list(range(len(games)))
    observations, masks = rows_of(games)
    chance = [unit(key_of(int(key), pimc._EXPERT, 0, 0), 0) for key in pimc.keys_of(rng_of(keys), len(games))]
    expert = np.array([decide(*row) for row in zip(observations, masks, chance, strict=True)])
    differing = []
    for doubt in (0.0, 1e9):
        monkeypatch.setattr(pimc, "DOUBT", doubt)
        differing.append((SMALL.act(observations, masks, rng_of(keys)) != expert).mean())
    # without a doubt are only those that gain as much in every world
    assert differing[1] <= 0.05 < differing[0]


def test_a_sure_win_is_taken() -> None:
    """The last card but one of the last deal: who keeps the ace takes the last trick, five points and the match."""
    deck_of = ["AS", "2C", "3D", "4C", "6H"], ["KS", "2D", "3C", "5D", "7H"]
    table = [deck_of[s][i] for i in range(5) for s in range(2)]
    rest = [r + s for r in "23456789TJQKA" for s in "CDHS" if r + s not in table]
    game = Game(2, "pagat", decks=[table + rest], first_dealer=1, scores=[47, 47])
    while game.phase != "play":
        game.step(game.legal_actions()[0])
    for card in ("6H", "7H", "2D", "3D", "2C", "3C"):
        game.step(50 + "23456789TJQKA".index(card[0]) * 4 + "CDHS".index(card[1]))
    assert game.seat == 1
    game.step(50 + 4 * 3 + 1)  # 5D; seat 0 holds AS and 4C
    observations, masks = rows_of([game])
    answer = PimcAgent(budget=64).act(observations, masks, rng_of([3]))[0]
    assert game.text_of(int(answer)) == "play 4C"


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("search:pimc?budget=2", "8 to"),
        ("search:pimc?budget=x", "not allowed"),
        ("search:pimc?rollout=nobody", "expert, habits, novice"),
        ("search:pimc?time=3", "unknown option"),
        ("search:policy?checkpoint=random", "no checkpoint"),
        ("search:policy?step=-1", "0 to"),
    ],
)
def test_wrong_specs_say_what_is_wrong(spec: str, part: str) -> None:
    with pytest.raises(AgentSpecError, match=part):
        agents.load(spec)


@pytest.mark.parametrize("rollout", ["habits", "novice"])
def test_others_can_play_the_worlds_out(rollout: str) -> None:
    games = moments(2, RULE_SETS, 90, 9)
    observations, masks = rows_of(games)
    agent = agents.load(f"search:pimc?budget=16&rollout={rollout}")
    agents.ask(agent, observations, masks, rng_of(list(range(len(games)))))


# --- search:policy ---


@pytest.fixture(scope="module")
def searcher():
    return agents.load("search:policy?budget=24")


def pagat_moments(seed: int) -> list[Game]:
    return moments(2, ("pagat",) * 4, seed, 3)


def test_the_improved_policy_is_a_policy_and_stays_mixed(searcher) -> None:
    mixed = 0
    for i, game in enumerate(pagat_moments(7)):
        observations, masks = rows_of([game])
        policy = searcher.policy(rebuilt(observations), observations, masks, i, new_work())
        assert policy.sum() == pytest.approx(1)
        assert (policy[masks[0] == 0] == 0).all()
        mixed += (policy > 0.01).sum() > 1
    assert mixed > 5


def test_without_a_step_it_is_its_network() -> None:
    agent = agents.load("search:policy?budget=24&step=0")
    for i, game in enumerate(pagat_moments(9)):
        observations, masks = rows_of([game])
        policy = agent.policy(rebuilt(observations), observations, masks, i, new_work())
        expected = agent.blueprint.probabilities(observations, masks)[0]
        if game.phase == "exchange" and (expected >= LEAST).sum() == 1:
            pass  # nothing to search
        elif game.phase == "exchange":
            expected[expected < LEAST] = 0
        else:
            expected[masks[0] > 0] = np.maximum(expected[masks[0] > 0], LEAST)
        np.testing.assert_allclose(policy, expected / expected.sum(), atol=1e-12)


def test_its_rows_do_not_depend_on_their_batch(searcher) -> None:
    games = pagat_moments(11)
    observations, masks = rows_of(games)
    keys = list(range(len(games)))
    together = agents.ask(searcher, observations, masks, rng_of(keys))
    for row in keys[::3]:
        assert searcher.act(observations[row : row + 1], masks[row : row + 1], rng_of([row]))[0] == together[row]


def test_unseen_cards_do_not_matter_to_it(searcher) -> None:
    games = pagat_moments(13)
    rng = random.Random(1)
    twins = [with_other_hidden_cards(game, game.seat, rng) for game in games]
    keys = list(range(len(games)))
    assert (searcher.act(*rows_of(games), rng_of(keys)) == searcher.act(*rows_of(twins), rng_of(keys))).all()


def test_a_location_head_says_where_its_worlds_have_cards() -> None:
    """An opponent that is believed to hold spades, and one that is believed to hold clubs."""
    net = PolicyValueNet(NetworkConfig((parse_rules("pagat"),), (2,), (8,), locations=True))
    games = pagat_moments(15)
    policies = []
    for suit in (0, 3):
        with torch.no_grad():
            bias = net.location_head.bias.view(2, 13, 4)
            bias.zero_()
            bias[1, :, suit] = 8.0
        searcher = SearchPolicyAgent(NetworkAgent(net), budget=200)
        for i, game in enumerate(games):
            observations, masks = rows_of([game])
            policies.append(searcher.policy(rebuilt(observations), observations, masks, i, new_work()))
    clubs, spades = np.split(np.stack(policies), 2)
    assert (np.abs(clubs - spades).max(axis=1) > 0.1).mean() > 0.3


@pytest.mark.slow
def test_it_beats_the_novice_clearly() -> None:
    boards = 60
    setups = [
        MatchSetup.make(2, "pagat", seed=i, max_deals=1, first_dealer=i % 2) for i in range(boards) for _ in (0, 1)
    ]
    seating = np.array([[0, 1], [1, 0]] * boards)
    named = {"search:pimc": PimcAgent(budget=100), "heuristic:novice": NoviceAgent()}
    gains = play_games(named, setups, np.arange(2 * boards) // 2, seating, 5).gains
    mine = np.where(seating == 0, gains, -gains).sum(axis=1).reshape(boards, 2).mean(axis=1)
    assert mine.mean() > 0
