"""Seats that other agents play in a self-play batch, and the imitation of a teacher."""

import numpy as np
import pytest
import torch

from agents import load
from agents.networks import NetworkConfig
from chicago_env import BatchEnv, Rules
from chicago_env.errors import SetupError
from eval.equity import ClosedEquity
from train.deal_reward import DealReward
from train.envs import SelfPlayVecEnv
from train.guests import LEARNER, Guests
from train.ppo import SelfPlayPPO

torch.set_num_threads(1)


class First:
    """Takes the first legal action, and counts the rows."""

    name = "first"

    def __init__(self) -> None:
        self.rows = 0

    def act(self, observations, masks, rng):
        self.rows += len(masks)
        return masks.argmax(axis=1)


def make_model(share: float, agents, players: int = 2, **options) -> SelfPlayPPO:
    batch = BatchEnv(32, players, seed=1, max_deals=1, start_scores=52, num_threads=1)
    guests = Guests(agents, share, batch.seats, seed=4)
    values = {"n_steps": 24, "batch_size": 128, "n_epochs": 2, "gamma": 1.0, "gae_lambda": 0.8, **options}
    env = SelfPlayVecEnv(batch, DealReward([ClosedEquity(Rules())]))
    return SelfPlayPPO(env, NetworkConfig((Rules(),), (players,), (32,)), seed=3, guests=guests, **values)


def rollout(model: SelfPlayPPO) -> None:
    _, callback = model._setup_learn(10**9, None)
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)


@pytest.mark.parametrize("players", [2, 4])
def test_only_the_learner_learns(players) -> None:
    first = First()
    model = make_model(0.5, [first], players)
    rollout(model)
    buffer = model.rollout_buffer
    own = np.arange(32) % players
    learner = (buffer.seat_table == own) | (np.arange(32) >= 16)
    assert (buffer.learn_table == learner).all()
    assert first.rows == (~learner).sum() > 0
    assert learner.ravel()[buffer.usable.numpy()].all()


def test_a_guest_stays_for_a_game() -> None:
    batch = BatchEnv(64, 3, seed=2, max_deals=1, num_threads=1)
    guests = Guests([First(), First(), First()], 0.75, batch.seats, seed=1)
    step = batch.reset()
    guests.begin(0)
    seen, now = set(), guests.get_state()["guest"]
    assert (now[48:] == LEARNER).all()
    assert set(now[:48]) == {0, 1, 2}
    for number in range(1, 120):
        at = guests.at(step)
        assert (at[step.seat == np.arange(64) % 3] == LEARNER).all()
        actions = step.mask.argmax(axis=1)
        step = batch.step(actions)
        guests.draw(step.done, number)
        before, now = now, guests.get_state()["guest"]
        assert (before[~step.done] == now[~step.done]).all()
        seen |= set(np.flatnonzero(before != now).tolist())
    assert len(seen) > 40


def test_regulars_have_rows_of_their_own() -> None:
    """A half of the rows for two regulars, a quarter for who is added later, the learner alone in the rest."""
    regulars, added = [First(), First()], First()
    seats = np.full(64, 2)
    guests = Guests([], 0.25, seats, seed=1, regulars=regulars, regular_share=0.5)
    guests.begin(0)
    now = guests.get_state()["guest"]
    assert set(now[:32]) == {0, 1}
    assert (now[32:] == LEARNER).all()
    guests.agents.append(added)
    guests.draw(np.ones(64, dtype=np.bool_), 1)
    now = guests.get_state()["guest"]
    assert set(now[:32]) == {0, 1}
    assert (now[32:48] == 2).all()
    assert (now[48:] == LEARNER).all()
    step = BatchEnv(64, 2, seed=2, num_threads=1).reset()
    at = guests.at(step)
    guests.play(np.zeros(64, dtype=np.int64), at, step, 1)
    assert [agent.rows for agent in (*regulars, added)] == [(at == index).sum() for index in range(3)]
    assert all(agent.rows for agent in (*regulars, added))
    guests.set_state({"guest": np.full(64, 2)})
    with pytest.raises(SetupError, match="not there"):
        guests.set_state({"guest": np.full(64, 3)})


def test_the_smallest_share_is_a_row() -> None:
    guests = Guests([], 0.0, np.full(8, 2), regulars=[First()], regular_share=0.001)
    guests.begin(0)
    assert guests.get_state()["guest"].tolist() == [0] + [LEARNER] * 7


def test_without_guests_the_learner_plays_everywhere() -> None:
    model = make_model(1.0, [])
    rollout(model)
    assert model.rollout_buffer.learn_table.all()


def test_guests_are_seated_again() -> None:
    seats = np.full(8, 2)
    guests, twin = (Guests([First(), First()], 1.0, seats) for _ in range(2))
    guests.begin(0)
    twin.set_state(guests.get_state())
    assert (twin.get_state()["guest"] == guests.get_state()["guest"]).all()
    with pytest.raises(SetupError, match="not there"):
        Guests([First()], 1.0, seats).set_state({"guest": np.full(8, 1)})
    with pytest.raises(SetupError, match="another run"):
        twin.set_state({"guest": np.zeros(7, dtype=np.int64)})


def test_a_teacher_is_imitated() -> None:
    """The network comes to name what the teacher does, and the teacher plays in half of the rows."""
    model = make_model(0.0, [], teacher=load("heuristic:novice"), teacher_share=1.0, learning_rate=3e-3, vf_coef=0.5)
    agreement = []
    for _ in range(12):
        rollout(model)
        model.train()
        agreement.append(model.logger.name_to_value["train/imitation_agreement"])
    assert agreement[0] < 0.35
    assert agreement[-1] > 0.6


def test_after_the_teacher_comes_self_play() -> None:
    model = make_model(0.0, [], teacher=load("heuristic:novice"), teacher_share=0.25)
    rollout(model)
    assert model._imitated
    model._current_progress_remaining = 0.7
    rollout(model)
    assert not model._imitated
    model.train()
    assert "train/approx_kl" in model.logger.name_to_value


def test_only_the_largest_advantages_are_learned_from() -> None:
    model = make_model(0.0, [], advantage_share=0.25)
    rollout(model)
    some = np.abs(model.rollout_buffer.advantages)
    model.rollout_buffer.share = 1.0
    values = torch.zeros(32), np.zeros(32, dtype=np.int64)
    model.rollout_buffer.finish(*values)
    every = np.abs(model.rollout_buffer.advantages)
    assert len(some) == pytest.approx(len(every) / 4, abs=2)
    model.rollout_buffer.share = 0.25
    model.rollout_buffer.finish(*values)
    some = np.abs(model.rollout_buffer.advantages)
    np.testing.assert_allclose(np.sort(some), np.sort(every)[-len(some) :])
