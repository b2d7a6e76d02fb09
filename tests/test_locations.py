"""The location head: what it is taught is true, what its agent says is possible, and it learns."""

import dataclasses
import random  # noqa: TID251  # which action is tried is no chance of a game

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from agents.checkpoint import read_checkpoint
from agents.locations import SEEN, log_odds, places, possible, unseen
from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet
from agents.suits import canonical
from chicago_env import BatchEnv, Game, Rules, parse_rules
from chicago_env.cli import told
from chicago_env.errors import SetupError
from chicago_env.game import cards_of
from chicago_env.layout import CARDS, OBSERVATION_SIZE
from chicago_env.state import PHASES, STATE
from eval import belief_figures
from eval.equity import ClosedEquity
from tests.hidden_cards import seen_by, strong
from train.build import begin_with, make_model
from train.config import TrainConfig
from train.deal_reward import DealReward
from train.envs import SelfPlayVecEnv
from train.policy import ChicagoPolicy, location_loss
from train.ppo import SelfPlayPPO
from train.run import train

torch.set_num_threads(1)

CONFIG = NetworkConfig((Rules(),), (2, 3), (32,), locations=True)


def make_agent(config: NetworkConfig = CONFIG, gain: float = 100.0) -> NetworkAgent:
    net = PolicyValueNet(config)
    net.initialize(torch.Generator().manual_seed(0))
    with torch.no_grad():
        net.location_head.weight *= gain
    return NetworkAgent(net)


def make_learner(**options) -> SelfPlayPPO:
    batch = BatchEnv(64, 2, seed=1, max_deals=1, start_scores=52, num_threads=1)
    env = SelfPlayVecEnv(batch, DealReward([ClosedEquity(Rules())]))
    config = dataclasses.replace(CONFIG, players=(2,), **options.pop("network", {}))
    values = {"n_steps": 16, "batch_size": 256, "n_epochs": 1, "gamma": 1.0, "locations": 0.5, **options}
    return SelfPlayPPO(env, config, seed=3, learning_rate=1e-3, **values)


def batch_after(steps: int, players: int = 2, rows: int = 64) -> tuple[BatchEnv, np.ndarray, np.ndarray]:
    env, rng = BatchEnv(rows, players, seed=5), np.random.default_rng(0)
    step = env.reset()
    for _ in range(steps):
        step = env.step((step.mask * rng.random(step.mask.shape)).argmax(axis=1))
    return env, step.observation, step.mask


# --- what is known and what is taught ---------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize("rules", ["pagat", "open-card", "family+show_broken=yes"])
def test_places_are_those_of_the_game_and_nothing_true_is_ruled_out(players, rules) -> None:
    asked = told = ruled_out = 0
    for seed in range(8):
        game, rng = Game(players, parse_rules(rules), seed=seed, max_deals=1), random.Random(seed)
        while not game.over:
            seat = game.seat
            state, observation = game.full_state()[None], game.observation()[None]
            found = places(observation, state[:, OBSERVATION_SIZE:])[0]
            open_, allowed = unseen(observation)[0], possible(observation, players)[0]
            assert ((found == SEEN) == ~open_).all()
            hands = [cards_of(int(game.state["hand"][(seat + j) % players])) for j in range(players)]
            for card in range(CARDS):
                place = next((j for j in range(players) if card in hands[j]), 0)
                if card in hands[0]:
                    assert not open_[card]
                    assert not allowed[card].any()
                    continue
                assert allowed[card, place]
                if open_[card]:
                    assert found[card] == place
                    ruled_out += int((~allowed[card]).sum())
                else:
                    assert allowed[card].sum() == 1
                    told += place > 0
            assert set(range(CARDS)) - seen_by(game, seat) <= set(np.flatnonzero(open_).tolist())
            asked += int(open_.sum())
            game.step(strong(game, rng))
    assert asked
    assert told
    assert ruled_out


def test_the_learner_is_taught_the_places_under_the_names_that_its_network_sees() -> None:
    for suits in (False, True):
        model = make_learner(network={"canonical_suits": suits})
        shown = []
        play = model.env.play

        def noted(actions, model=model, shown=shown, play=play):
            shown.append((model.env.last, model.env.batch.hidden()))
            return play(actions)

        model.env.play = noted  # type: ignore[method-assign]
        _, callback = model._setup_learn(10**9, None)
        model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
        for t, (step, hidden) in enumerate(shown):
            truth = places(step.observation, hidden)
            names = canonical(step.observation, step.mask).suits if suits else np.tile(np.arange(4), (64, 1))
            for row in range(64):
                for card in range(CARDS):
                    name = card & ~3 | names[row, card & 3]
                    assert model.rollout_buffer.place_table[t, row, name] == truth[row, card]


# --- what an agent says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suits", [False, True])
@pytest.mark.parametrize("players", [2, 3])
def test_an_agent_says_what_is_certain_and_shares_out_the_rest_as_its_network_does(players, suits) -> None:
    agent = make_agent(dataclasses.replace(CONFIG, canonical_suits=suits))
    for steps in (0, 4, 9):
        _, observations, masks = batch_after(steps, players)
        found, allowed = agent.locations(observations), possible(observations, 3)
        assert found.shape == (64, CARDS, 3)
        assert (found[~allowed] == 0).all()
        sums = found.sum(axis=2)
        np.testing.assert_allclose(sums, allowed.any(axis=2))
        assert (found[:, :, players:] == 0).all()
        own, _, _, names = canonical(observations, masks)
        inputs = own if suits else observations
        with torch.inference_mode():
            features = agent.net.features(torch.from_numpy(inputs[:, agent.net.columns.numpy()]))
            logits = agent.net.location_logits(features).transpose(1, 2).double().numpy()
        for row in range(8):
            for card in np.flatnonzero(unseen(observations)[row]):
                name = card & ~3 | names[row, card & 3] if suits else card
                weights = np.exp(logits[row, name]) * allowed[row, card]
                np.testing.assert_allclose(found[row, card], weights / weights.sum(), atol=1e-9)


def test_odds_are_those_of_a_hand_against_no_hand() -> None:
    places = np.full((CARDS, 3), [0.5, 0.25, 0.25])
    places[7] = 0, 1, 0
    places[8] = 0
    odds = log_odds(places)
    assert odds.shape == (6, CARDS)
    assert (odds[[0, 3, 4, 5]] == 0).all()
    np.testing.assert_allclose(odds[1:3, 0], np.log(0.5))
    np.testing.assert_allclose(odds[1:3, 7], [-np.log(1e-3), 0])
    np.testing.assert_allclose(odds[1:3, 8], 0)


def test_an_agent_refuses_what_it_cannot_say() -> None:
    _, observations, _ = batch_after(0)
    with pytest.raises(SetupError, match="no location head"):
        NetworkAgent(PolicyValueNet(dataclasses.replace(CONFIG, locations=False))).locations(observations)
    with pytest.raises(SetupError, match="expected"):
        make_agent().locations(observations[:, :9])
    with pytest.raises(SetupError, match="not for 4"):
        make_agent().locations(batch_after(0, players=4)[1])


# --- learning ---------------------------------------------------------------------------------------------------------


def test_the_loss_is_the_mean_surprise_over_unseen_cards() -> None:
    logits = torch.zeros(2, 3, CARDS)
    logits[0, :, 7] = torch.tensor([1e-9, 2.0, 1.0]).log()
    told = torch.full((2, CARDS), SEEN, dtype=torch.uint8)
    assert location_loss(logits, told) == 0
    told[0, 7], told[1, 8] = 1, 2
    expected = -(np.log(2 / 3) + np.log(1 / 3)) / 2
    assert location_loss(logits, told).item() == pytest.approx(expected)


def test_its_gradient_joins_that_of_the_learner_with_its_weight() -> None:
    model = make_learner()
    _, callback = model._setup_learn(10**9, None)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    part = next(iter(model.rollout_buffer.get(None)))
    weights = model.policy.net.hidden[0].weight

    def gradient(weight: float) -> torch.Tensor:
        model.policy.locations = weight
        _, log_probs, _ = model.policy.evaluate_actions(part.observations, part.actions, part.action_masks)
        return torch.autograd.grad(log_probs.mean(), weights)[0]

    features = model.policy.net.features(part.observations["inputs"])
    own = location_loss(model.policy.net.location_logits(features), part.observations["places"])
    (alone,) = torch.autograd.grad(own, weights)
    assert alone.abs().max() > 0
    torch.testing.assert_close(gradient(0.7) - gradient(0.0), 0.7 * alone, atol=1e-7, rtol=1e-3)


def test_it_learns_where_cards_are() -> None:
    """More than how many cards are where: in nats, on decisions that it has not learned from."""
    model = make_learner(n_epochs=4)
    model.learn(1, log_interval=10**6)
    first = model.logger.name_to_value["train/location_loss"]
    model.learn(40 * 1024, log_interval=10**6)
    assert model.logger.name_to_value["train/location_loss"] < 0.7 * first
    assert model.policy.location_losses == []
    model.collect_rollouts(model.env, model._setup_learn(10**9, None)[1], model.rollout_buffer, model.n_steps)
    inputs, truth = (
        table.flatten(0, 1) for table in (model.rollout_buffer.input_table, model.rollout_buffer.place_table)
    )
    with torch.inference_mode():
        loss = location_loss(model.policy.net.location_logits(model.policy.net.features(inputs)), truth).item()
    share = (truth[truth != SEEN] == 1).float().mean().item()
    assert loss < 0.97 * -(share * np.log(share) + (1 - share) * np.log(1 - share))


def test_only_a_learner_that_knows_all_cards_trains_it() -> None:
    for network, weight in ((CONFIG, 0.0), (dataclasses.replace(CONFIG, locations=False), 0.1)):
        with pytest.raises(SetupError, match="locations: weight"):
            SelfPlayPPO(SelfPlayVecEnv(BatchEnv(4, 2)), network, locations=weight)
    env = SelfPlayVecEnv(BatchEnv(4, 2, reward="points"))
    plain = MaskablePPO(ChicagoPolicy, env, policy_kwargs={"config": CONFIG}, n_steps=8, batch_size=16, device="cpu")
    with pytest.raises(SetupError, match="SelfPlayPPO only"):
        plain.learn(64)


def test_without_it_the_first_weights_are_the_same() -> None:
    with_it, without = make_learner(), make_learner(network={"locations": False}, locations=0.0)
    state = with_it.policy.net.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in without.policy.net.state_dict().items())


def test_a_run_may_begin_with_a_checkpoint_with_or_without_it(tmp_path) -> None:
    tiny = {"steps": 256, "hidden": [16], "envs": 32, "rollout": 8, "minibatch": 64, "eval_matches": 0}
    for name, weight in (("with", 0.1), ("without", 0.0)):
        train(TrainConfig.from_dict({**tiny, "name": name, "locations": weight}), tmp_path / name, threads=1)
        for players in ([2], [2, 3]):
            for ours in (0.1, 0.0):
                model = make_model(TrainConfig.from_dict({**tiny, "players": players, "locations": ours}))
                before = {key: tensor.clone() for key, tensor in model.policy.net.state_dict().items()}
                begin_with(model, str(tmp_path / name / f"{name}.safetensors"))
                agent = NetworkAgent(model.play_net())
                _, observations, masks = batch_after(3)
                small = NetworkAgent(read_checkpoint(tmp_path / name / f"{name}.safetensors")[0])
                np.testing.assert_allclose(
                    agent.probabilities(observations, masks), small.probabilities(observations, masks), atol=1e-6
                )
                if ours and weight:
                    np.testing.assert_allclose(
                        agent.locations(observations)[:, :, :2], small.locations(observations), atol=1e-6
                    )
                elif ours:
                    assert torch.equal(model.policy.net.location_head.weight, before["location_head.weight"])


# --- how good beliefs are ---------------------------------------------------------------------------------------------


def test_beliefs_are_measured_card_by_card() -> None:
    found = belief_figures.surprises(make_agent(gain=1.0), 2, "pagat", 4, 40, 3)
    size = len(found["kind"])
    assert {"exchange", "play"} <= set(found["kind"]) <= set(PHASES)
    for name in (belief_figures.SIZES, belief_figures.HEAD, belief_figures.HEAD_WORLDS, belief_figures.HABIT_WORLDS):
        assert found[name].shape == (size,)
        assert (found[name] >= 0).all()
        assert np.isfinite(found[name]).all()
    # of 47 unseen cards 5 are in the other hand
    assert found[belief_figures.SIZES][0] == pytest.approx(-(5 / 47 * np.log(5 / 47) + 42 / 47 * np.log(42 / 47)))
    lines = belief_figures.table(found).splitlines()
    assert sum(int(line.split("|")[2]) for line in lines[2:]) == size


def test_shares_of_worlds_are_probabilities() -> None:
    worlds = np.zeros(3, dtype=STATE)
    worlds["hand"][:, 1] = [1, 1, 2]
    found = belief_figures.shares(worlds, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[:3, 1], [2.5 / 4, 1.5 / 4, 0.5 / 4])


def test_a_network_without_a_head_has_no_beliefs_to_measure(capsys) -> None:
    with pytest.raises(SystemExit):
        belief_figures.main(["ppo-2p"])
    assert "ppo-2p has no location head" in capsys.readouterr().err


def test_beliefs_in_a_game_that_the_network_does_not_play_are_told_in_one_line(monkeypatch, capsys) -> None:
    monkeypatch.setattr(belief_figures, "load", lambda _: make_agent())
    for words in (["--players", "4"], ["--deals", "0"], ["--rules", "nosuch"]):
        assert told(lambda words=words: belief_figures.main(["x", *words])) == 2
        assert capsys.readouterr().err.count("\n") == 1
