"""The critic that sees every card: what it is shown, what it is for, and that nothing of it is left in what plays."""

import numpy as np
import pytest
import torch

from agents.checkpoint import read_tensors
from agents.networks import NetworkConfig
from chicago_env import BatchEnv, Rules
from chicago_env.layout import AT, CARDS, HIDDEN_SIZE
from eval.equity import ClosedEquity
from train import state
from train.advantages import seat_advantages
from train.config import STATE, TrainConfig
from train.critic import hidden_columns
from train.deal_reward import DealReward
from train.envs import SelfPlayVecEnv
from train.ppo import SelfPlayPPO, TrainingDiverged
from train.run import train

torch.set_num_threads(1)

TINY = {
    "steps": 1024,
    "hidden": [16],
    "envs": 32,
    "rollout": 8,
    "minibatch": 64,
    "eval_matches": 0,
}


def make_model(
    players: int = 2, *, suits: bool = False, critic: tuple[int, ...] | None = (64,), **options
) -> SelfPlayPPO:
    batch = BatchEnv(64, players, seed=1, max_deals=1, start_scores=52, num_threads=1)
    env = SelfPlayVecEnv(batch, DealReward([ClosedEquity(Rules())]))
    values = {"n_steps": 32, "batch_size": 256, "n_epochs": 1, "gamma": 1.0, "gae_lambda": 0.8, **options}
    network = NetworkConfig((Rules(),), (players,), (32,), canonical_suits=suits)
    return SelfPlayPPO(env, network, seed=3, critic=critic, learning_rate=1e-3, **values)


def rollout(model: SelfPlayPPO) -> None:
    _, callback = model._setup_learn(10**9, None)
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)


@pytest.mark.parametrize("suits", [False, True])
@pytest.mark.parametrize("players", [2, 4])
def test_it_sees_the_hidden_cards_of_each_decision_under_the_networks_names(players, suits) -> None:
    model = make_model(players, suits=suits)
    shown, hidden = [], []
    play = model.env.play

    def noted(actions):
        shown.append(model.env.last)
        hidden.append(model.env.batch.hidden())
        return play(actions)

    model.env.play = noted  # type: ignore[method-assign]
    rollout(model)
    buffer = model.rollout_buffer
    at = {int(column): i for i, column in enumerate(model._columns)}
    own = buffer.input_table[:, :, [at[AT.hand + card] for card in range(CARDS)]].numpy()
    played = buffer.input_table[:, :, [at[AT.played + card] for card in range(CARDS)]].numpy()
    cards = buffer.hidden_table.numpy().reshape(*own.shape[:2], players + 1, CARDS)
    everywhere = cards.sum(axis=2) + own + played
    assert everywhere.max() == 1  # under other names some cards would be in two places
    told = np.stack(hidden)[:, :, hidden_columns(players)].reshape(cards.shape)
    assert (cards.sum(axis=3) == told.sum(axis=3)).all()
    assert suits or (cards == told).all()
    assert (np.delete(np.stack(hidden), hidden_columns(players), axis=2) == 0).all()


def test_its_columns_are_all_cards_that_players_can_hold() -> None:
    assert hidden_columns(6).tolist() == list(range(HIDDEN_SIZE))
    assert len(hidden_columns(2)) == 3 * CARDS


def test_advantages_and_returns_are_measured_by_it() -> None:
    model = make_model()
    rollout(model)
    buffer, critic = model.rollout_buffer, model.critic
    with torch.inference_mode():
        values = critic.net(buffer.input_table.flatten(0, 1), buffer.hidden_table.flatten(0, 1))
        own = model.policy.net(buffer.input_table.flatten(0, 1))[1]
        view = model._view(model.env.last)
        last = critic.net(view.inputs, model._hidden(view))
    torch.testing.assert_close(buffer.value_table.flatten(), values, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(buffer.value_table.flatten(), own, atol=1e-2)
    expected, complete = seat_advantages(
        buffer.value_table.numpy(), buffer.seat_table, buffer.reward_table, buffer.done_table, last.numpy(),
        model.env.last.seat, gamma=1.0, gae_lambda=0.8,
    )  # fmt: skip
    np.testing.assert_allclose(buffer.advantages, expected[complete], atol=1e-5)


def test_it_learns_what_the_hidden_cards_decide() -> None:
    """More of the returns than the network's own values explain, which see one hand only; and those are learned too."""
    model = make_model(n_epochs=4)
    model.learn(20 * 2048, log_interval=10**6)
    logged = model.logger.name_to_value
    assert logged["train/critic_loss"] < 0.9 * logged["train/value_loss"]
    own = make_model(n_epochs=4)
    rollout(own)
    own.train()
    assert logged["train/value_loss"] < 0.5 * own.logger.name_to_value["train/value_loss"]


def test_it_is_in_the_state_of_the_run_and_in_no_checkpoint(tmp_path) -> None:
    train(TrainConfig.from_dict({**TINY, "critic": "state", "critic_hidden": [8]}), tmp_path / "a", threads=1)
    train(TrainConfig.from_dict(TINY), tmp_path / "b", threads=1)
    saved = {name: read_tensors(tmp_path / name / STATE, state.FORMAT, state.VERSION)[1] for name in "ab"}
    assert any(name.startswith("critic.adam.") for name in saved["a"])
    assert not any(name.startswith("critic.") for name in saved["b"])
    names = [set(read_tensors(tmp_path / name / "agent.safetensors", "chicago-checkpoint", 1)[1]) for name in "ab"]
    assert names[0] == names[1]
    first = {name: make_model(critic=critic).policy.net.state_dict() for name, critic in (("a", (64,)), ("b", None))}
    assert all(torch.equal(first["a"][name], first["b"][name]) for name in first["a"])


def test_weights_of_it_that_are_not_finite_stop_the_training() -> None:
    model = make_model()
    rollout(model)
    with torch.no_grad():
        model.critic.net.value_head.weight[0, 0] = torch.nan
    with pytest.raises(TrainingDiverged, match=r"weights critic\.hidden\.0\.weight are no longer finite"):
        model.train()
