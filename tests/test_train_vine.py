"""Going back to decisions: which answers are compared, what they are found to be worth, and what is learned from that."""

import numpy as np
import pytest
import torch

from agents.networks import NetworkConfig
from chicago_env import BatchEnv, Rules
from chicago_env.actions import ANNOUNCE, NUM_ACTIONS, PLAY
from chicago_env.kernels.single import legal
from chicago_env.state import OVER
from eval.equity import ClosedEquity
from train.branches import played_out
from train.deal_reward import DealReward
from train.envs import SelfPlayVecEnv
from train.guests import LEARNER, Guests
from train.ppo import SelfPlayPPO
from train.vine import Compared, draw_answers

torch.set_num_threads(1)


def lowest(masks):
    return masks.argmax(axis=1)


def highest(masks):
    return NUM_ACTIONS - 1 - masks[:, ::-1].argmax(axis=1)


def always(choose):
    return lambda branches, seats, observations, masks: choose(masks)


class Lowest:
    name = "lowest"

    def act(self, observations, masks, rng, /):
        return lowest(masks)


def make_env(reward: str, players: int = 3, rows: int = 16, scale: float = 1.0) -> SelfPlayVecEnv:
    batch = BatchEnv(rows, players, seed=5, max_deals=1, start_scores=52, num_threads=1,
                     reward="win" if reward == "equity" else reward)  # fmt: skip
    return SelfPlayVecEnv(batch, DealReward([ClosedEquity(Rules())]) if reward == "equity" else None, scale)


def make_model(*, suits: bool = False, vine: int = 64, guests: Guests | None = None, rows: int = 64) -> SelfPlayPPO:
    network = NetworkConfig((Rules(),), (2,), (32,), canonical_suits=suits)
    return SelfPlayPPO(make_env("equity", 2, rows), network, seed=3, vine=vine, vine_answers=3, learning_rate=1e-3,
                       n_steps=8, batch_size=256, n_epochs=1, gamma=1.0, gae_lambda=0.8, guests=guests)  # fmt: skip


def rollout(model: SelfPlayPPO) -> None:
    _, callback = model._setup_learn(10**9, None)
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)


def paid_until_the_end(env: SelfPlayVecEnv, choose, first) -> np.ndarray:
    """(B, P) what every seat is paid in each row until its episode ends; `first` (B,) are the first actions."""
    total, live, actions = np.zeros((env.num_envs, env.players)), np.ones(env.num_envs, dtype=bool), first
    while live.any():
        step = env.play(actions)
        total[live] += step.rewards[live]
        live &= ~step.done
        actions = choose(step.mask)
    return total


@pytest.mark.parametrize("reward", ["equity", "points", "placement"])
@pytest.mark.parametrize("before", [0, 9, 40])
def test_a_branch_is_worth_what_the_batch_pays_for_the_same_actions(reward, before) -> None:
    env = make_env(reward, scale=0.5 if reward != "equity" else 1.0)
    step = env.begin()
    for _ in range(before):
        step = env.play(highest(step.mask))
    saved, rows = env.get_state(), np.arange(env.num_envs)
    positions = env.batch.states(rows)
    untouched = positions.copy()
    answers = [lowest(step.mask), highest(step.mask)]
    parents = np.tile(rows, 2)
    worth = env.worth(played_out(positions, parents, np.concatenate(answers), always(highest)), parents)
    paid = []
    for first in answers:
        env.set_state({name: array.copy() for name, array in saved.items()})
        paid.append(paid_until_the_end(env, highest, first))
    assert (positions == untouched).all()
    difference = worth[: len(rows), : env.players] - worth[len(rows) :, : env.players]
    assert np.abs(difference).max() > 0.01
    assert np.allclose(difference, paid[0] - paid[1], atol=1e-5)
    assert (env.batch.states(rows) != positions).any()


def test_branches_are_the_same_however_many_are_played_together(monkeypatch) -> None:
    env = make_env("points")
    step = env.begin()
    positions, rows = env.batch.states(np.arange(16)), np.repeat(np.arange(16), 3)

    def by_number(branches, seats, observations, masks):
        return np.where(branches % 3 == seats, lowest(masks), highest(masks))

    together = played_out(positions, rows, lowest(step.mask)[rows], by_number)
    assert len({state.tobytes() for state in together}) > 32  # branches of one position end differently
    monkeypatch.setattr("train.branches._ROWS", 7)
    assert (played_out(positions, rows, lowest(step.mask)[rows], by_number) == together).all()


def test_answers_are_legal_different_and_mostly_the_probable_ones() -> None:
    rng = np.random.default_rng(0)
    probabilities = np.array([0.9, 0.09, 0.01, 0.0, 0.0])
    masks = np.tile(np.array([True, True, True, False, True]), (20_000, 1))
    logs = np.where(masks, np.log(np.maximum(probabilities, 1e-6)), -1e9)
    answers = draw_answers(logs, masks, 2, rng)
    assert (answers[:, 0] != answers[:, 1]).all()
    assert not (answers == 3).any()
    share = [(answers == a).any(axis=1).mean() for a in range(5)]
    assert share[0] > share[1] > share[2] > share[4] > 0
    weights = np.exp(logs[0] / 3) * masks[0]
    first = weights / weights.sum()
    expected = first[0] + sum(first[a] * first[0] / (1 - first[a]) for a in (1, 2, 4))
    assert abs(share[0] - expected) < 0.02


def test_where_there_are_fewer_answers_the_rest_is_none() -> None:
    masks = np.array([[True, False, True, False], [True, True, True, True]])
    answers = draw_answers(np.zeros((2, 4)), masks, 3, np.random.default_rng(0))
    assert sorted(answers[0]) == [-1, 0, 2]
    assert (answers[1] >= 0).all()


@pytest.mark.parametrize("suits", [False, True])
def test_what_is_compared_is_legal_and_measured_from_the_policys_mean(suits, monkeypatch) -> None:
    model = make_model(suits=suits)
    with torch.no_grad():
        model.policy.net.policy_head.bias[16:ANNOUNCE] = -9  # exchanges that discard the fifth card
    rollout(model)
    vine = model.vine
    assert vine is not None
    for kept in vine._kept:
        for record, told, answers in zip(kept.records, kept.told, kept.answers, strict=True):
            base, bits = legal(np.array([record]))
            chosen = told[answers >= 0]
            assert all(bits >> int(action - base) & 1 for action in chosen)
            assert len(set(chosen)) == len(chosen) >= 2
            plays = answers >= PLAY  # cards may have other suits, but keep their ranks
            assert ((told - PLAY) // 4 == (answers - PLAY) // 4)[plays].all()
            assert (told == answers)[~plays & (answers >= ANNOUNCE)].all()
    own = np.concatenate([kept.records["to_act"] for kept in vine._kept])
    assert set(own) == {0, 1}

    def worth(ended, rows):
        """What branch n pays seat s is known: (n mod 7) (s + 1)."""
        assert (ended["phase"] == OVER).all()
        assert len(ended) == len(rows)
        return (np.arange(len(ended)) % 7)[:, None] * np.arange(1.0, 7.0)

    monkeypatch.setattr(model.env, "worth", worth)
    compared = vine.compare(model.env, None, 1)
    assert compared is not None
    answers, advantages = compared.answers.numpy(), compared.advantages.numpy()
    assert answers.shape == (64, 3) == advantages.shape
    there = answers >= 0
    assert np.take_along_axis(compared.masks.numpy(), answers.clip(0), axis=1)[there].all()
    with torch.no_grad():
        table = model.policy.log_probabilities(compared.inputs, compared.masks)[0].numpy()
    shares = np.where(there, np.exp(np.take_along_axis(table, answers.clip(0), axis=1)), 0)
    shares /= shares.sum(axis=1, keepdims=True)
    values = np.zeros(answers.shape)
    values[there] = np.arange(there.sum()) % 7
    values *= own[:, None] + 1
    expected = np.where(there, values - (shares * values).sum(axis=1, keepdims=True), 0)
    assert np.allclose(advantages, expected, atol=1e-4)
    exchanges = there & (answers < ANNOUNCE)
    assert exchanges.any()
    assert (answers[exchanges] < 16).all()  # the others are less probable than LEAST_EXCHANGE
    assert vine.compare(model.env, None, 1) is None  # nothing is kept twice


def test_answers_differ_in_what_they_are_worth() -> None:
    model = make_model()
    rollout(model)
    assert model.vine is not None
    compared = model.vine.compare(model.env, None, 1)
    assert compared is not None
    assert (compared.advantages.abs() > 1e-4).any(dim=1).float().mean() > 0.2


def test_the_policy_moves_to_answers_that_are_worth_more() -> None:
    model = make_model()
    rollout(model)
    assert model.vine is not None
    compared = model.vine.compare(model.env, model.guests, model.num_timesteps)
    assert compared is not None
    answers = compared.answers
    best = torch.where(answers >= 0, compared.advantages, -torch.inf).argmax(dim=1, keepdim=True)
    told = torch.full_like(compared.advantages, -1.0).scatter_(1, best, 1.0) * (answers >= 0)

    def share() -> torch.Tensor:
        """(64,) of the best answer, among those that were compared."""
        with torch.no_grad():
            table = model.policy.log_probabilities(compared.inputs, compared.masks)[0]
        logs = torch.where(answers >= 0, table.gather(1, answers.clamp(min=0)), -torch.inf)
        return torch.softmax(logs, dim=1).gather(1, best).squeeze(1)

    before = share()
    figures = [
        model.vine.learn(
            Compared(compared.inputs, compared.masks, answers, told),
            scale=1.0,
            entropy=0.0,
            rate=3e-3,
            size=32,
            epochs=1,
            max_norm=0.5,
        )["train/vine_gain"]
        for _ in range(60)
    ]
    after = share()
    assert (after > before).float().mean() > 0.9
    assert after.mean() > before.mean() + 0.2
    assert figures[-1] > figures[0]


def test_before_the_first_step_the_gain_is_none() -> None:
    """Advantages are measured from the mean of the policy that played, which is still the one there is."""
    model = make_model()
    rollout(model)
    assert model.vine is not None
    compared = model.vine.compare(model.env, model.guests, model.num_timesteps)
    assert compared is not None
    options = {"scale": 1.0, "entropy": 0.0, "rate": 3e-3, "size": None, "max_norm": 0.5}
    figures = model.vine.learn(compared, epochs=1, **options)
    assert figures["train/vine_gain"] == pytest.approx(0, abs=1e-6)
    assert model.vine.learn(compared, epochs=20, **options)["train/vine_gain"] > 0.01 * figures["train/vine_spread"]


def test_guests_play_their_own_seats_on(monkeypatch) -> None:
    seats = np.full(64, 2)
    model = make_model(guests=Guests((), 0.0, seats, regulars=[Lowest()], regular_share=0.75))
    rollout(model)
    vine = model.vine
    assert vine is not None
    assert model.guests is not None
    with_guest = {row for kept in vine._kept for row in kept.rows[kept.guests != LEARNER].tolist()}
    alone = {row for kept in vine._kept for row in kept.rows[kept.guests == LEARNER].tolist()}
    assert with_guest
    assert alone
    assert max(with_guest) < 48 <= min(alone)
    for kept in vine._kept:  # where a guest sits, the learner has one seat
        assert (kept.records["to_act"] == model.guests._own[kept.rows])[kept.guests != LEARNER].all()
    beside = np.concatenate([kept.guests for kept in vine._kept])
    own = np.concatenate([kept.records["to_act"] for kept in vine._kept])
    asked = []
    answer, play_out = model.guests.answer, played_out

    def played_and_watched(positions, parents, answers, choose):
        def watched(branches, seats, observations, masks):
            at = parents[branches]
            expected = (beside[at] != LEARNER) & (seats != own[at])
            actions = choose(branches, seats, observations, masks)
            assert (actions == lowest(masks))[expected].all()
            asked.append((expected.sum(), len(expected)))
            return actions

        return play_out(positions, parents, answers, watched)

    def only_guests(actions, who, observations, masks, key):
        before = actions.copy()
        answer(actions, who, observations, masks, key)
        assert (actions == before)[who == LEARNER].all()

    monkeypatch.setattr("train.vine.played_out", played_and_watched)
    monkeypatch.setattr(model.guests, "answer", only_guests)
    assert vine.compare(model.env, model.guests, 1) is not None
    theirs, every = np.sum(asked, axis=0)
    assert 0.2 < theirs / every < 0.6


def test_updates_log_what_was_found_and_change_only_with_a_vine() -> None:
    trained = {}
    for vine in (0, 64):
        model = make_model(vine=vine)
        logged: dict[str, float] = {}
        model._setup_learn(10**9, None)
        rollout(model)
        model.logger.record = lambda name, value, *_, into=logged, **__: into.__setitem__(name, value)  # type: ignore[method-assign]
        model.train()
        trained[vine] = model.policy.net.policy_head.weight.detach().clone()
        assert ("train/vine_gain" in logged) == bool(vine)
        assert not vine or logged["train/vine_spread"] > 0
    assert not torch.equal(trained[0], trained[64])
