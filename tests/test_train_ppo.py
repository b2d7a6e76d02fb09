"""The learner: what it keeps, that the first pass changes nothing about probabilities, and that it learns."""

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import agents
from agents.networks import NetworkAgent, NetworkConfig, masked_log_probabilities
from agents.suits import canonical, renamed_actions
from chicago_env import BatchEnv, Rules
from chicago_env.errors import IllegalAction, SetupError
from chicago_env.gym_vector import ChicagoVectorEnv
from eval.equity import ClosedEquity
from train import build
from train.config import TrainConfig
from train.deal_reward import DealReward
from train.envs import SelfPlayVecEnv
from train.opponents import OpponentVecEnv
from train.policy import ChicagoPolicy, entropy_of, mean_log_probability
from train.ppo import SelfPlayPPO, TrainingDiverged

torch.set_num_threads(1)


def make_model(
    players: int = 2, envs: int = 16, hidden: tuple[int, ...] = (32,), canonical_suits: bool = False, **options
) -> SelfPlayPPO:
    batch = BatchEnv(envs, players, seed=1, max_deals=1, start_scores=52, num_threads=1)
    env = SelfPlayVecEnv(batch, DealReward([ClosedEquity(Rules())]))
    values = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "gamma": 1.0, "gae_lambda": 0.8, **options}
    network = NetworkConfig((Rules(),), (players,), hidden, canonical_suits)
    return SelfPlayPPO(env, network, seed=3, **values)


def rollout(model: SelfPlayPPO) -> None:
    """One rollout without an update."""
    _, callback = model._setup_learn(10**9, None)
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)


@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize("bfloat16", [False, True])
@pytest.mark.parametrize("canonical_suits", [False, True])
def test_the_first_pass_finds_the_probabilities_of_the_rollout(players, bfloat16, canonical_suits) -> None:
    model = make_model(players, bfloat16=bfloat16, canonical_suits=canonical_suits)
    rollout(model)
    for batch in model.rollout_buffer.get(None):
        values, log_probs, _ = model.policy.evaluate_actions(batch.observations, batch.actions, batch.action_masks)
        ratio = torch.exp(log_probs - batch.old_log_prob)
        tolerance = 0.02 if bfloat16 else 1e-5
        torch.testing.assert_close(ratio, torch.ones_like(ratio), atol=tolerance, rtol=0)
        torch.testing.assert_close(values.flatten(), batch.old_values, atol=10 * tolerance, rtol=0)


def test_the_very_first_minibatch_of_an_update_has_ratio_one() -> None:
    """Seen from inside the update: no learning has happened, so that nothing is clipped and the divergence is 0."""
    model = make_model(batch_size=None, n_epochs=1)
    rollout(model)
    model.train()
    assert model.logger.name_to_value["train/approx_kl"] == pytest.approx(0, abs=1e-8)
    assert model.logger.name_to_value["train/clip_fraction"] == 0
    assert model.logger.name_to_value["train/policy_gradient_loss"] == pytest.approx(0, abs=1e-6)


def test_minibatches_hold_every_complete_decision_once_with_its_own_mask() -> None:
    model = make_model(3)
    rollout(model)
    buffer = model.rollout_buffer
    batches = list(buffer.get(64))
    sizes = [len(batch.actions) for batch in batches]
    assert sum(sizes) == len(buffer.usable)
    assert max(sizes) <= 64
    assert max(sizes) - min(sizes) <= 1
    for batch in batches:
        assert batch.action_masks.gather(1, batch.actions[:, None]).all()
        assert batch.observations.dtype == torch.uint8
        torch.testing.assert_close(batch.returns - batch.advantages, batch.old_values, atol=1e-5, rtol=0)
    returns = torch.cat([batch.returns for batch in batches]).sort().values
    np.testing.assert_allclose(returns, np.sort(buffer.returns), atol=1e-6)
    # at most the last decisions of the two seats that are not about to act are left out
    assert 16 * 16 - 2 * 16 <= len(buffer.usable) < 16 * 16
    seats = buffer.seat_table.flatten()[buffer.usable]
    assert np.bincount(seats).min() > 40


def test_returns_have_the_sign_of_the_seats_result() -> None:
    """With lambda 1 and values of 0, the advantage of every decision is what its seat is paid at the end of the deal."""
    model = make_model(3, envs=32, n_steps=64, gae_lambda=1.0)
    with torch.no_grad():
        model.policy.net.value_head.weight.zero_()
    rollout(model)
    buffer = model.rollout_buffer
    table = np.full(buffer.seat_table.shape, np.nan)
    table.flat[buffer.usable.numpy()] = buffer.advantages
    seen = set()
    for row in range(32):
        ends = np.flatnonzero(buffer.done_table[:, row])
        for start, end in zip([0, *(ends[:-1] + 1)], ends, strict=False):
            for t in range(start, end + 1):
                seat = buffer.seat_table[t, row]
                assert table[t, row] == pytest.approx(buffer.reward_table[end, row, seat], abs=1e-6)
                seen.add((int(seat), bool(table[t, row] > 0)))
    assert seen == {(seat, won) for seat in range(3) for won in (False, True)}


def test_exploration_pulls_up_an_action_that_is_never_taken() -> None:
    """Where the gradient of the entropy has died out, that of the mean log probability has not."""
    masks = torch.tensor([[True, True, False], [True, True, True]])
    logits = torch.tensor([[12.0, 0.0, 5.0], [12.0, 0.0, 0.0]], requires_grad=True)
    table = masked_log_probabilities(logits, masks)
    means = mean_log_probability(table, masks)
    torch.testing.assert_close(means, torch.tensor([-6.0, -8.0]), atol=1e-3, rtol=0)
    (slope,) = torch.autograd.grad(means.sum(), logits, retain_graph=True)
    torch.testing.assert_close(slope[0], torch.tensor([-0.5, 0.5, 0.0]), atol=1e-3, rtol=0)
    (faded,) = torch.autograd.grad(entropy_of(table).sum(), logits)
    assert 0 < faded[0, 1] < 1e-3


def test_exploration_counts_beside_the_entropy() -> None:
    plain, curious = make_model(), make_model(exploration=0.5)
    batch = BatchEnv(8, 2, seed=1).reset()
    obs, masks, *_ = plain._view(batch)
    actions = masks.int().argmax(dim=1)
    table, _ = plain.policy.log_probabilities(obs, masks)
    entropy, bonus = (model.policy.evaluate_actions(obs, actions, masks)[2] for model in (plain, curious))
    torch.testing.assert_close(bonus, entropy + 0.5 * mean_log_probability(table, masks))


def test_under_a_flat_policy_the_entropy_is_that_of_the_legal_actions() -> None:
    masks = torch.rand((50, 102), generator=torch.Generator().manual_seed(0)) < 0.2
    masks[:, 7] = True
    table = masked_log_probabilities(torch.zeros(50, 102), masks)
    torch.testing.assert_close(entropy_of(table).exp(), masks.sum(dim=1).float())
    assert not table.exp()[~masks].any()


def test_actions_are_drawn_by_their_probabilities_and_by_the_own_generator_alone() -> None:
    model = make_model()
    policy = model.policy
    table = torch.log(torch.tensor([0.5, 0.3, 0.2, 0.0])).repeat(20_000, 1)
    before = torch.get_rng_state()
    shares = torch.bincount(policy.choose(table), minlength=4) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.5, 0.3, 0.2, 0.0]), atol=0.02, rtol=0)
    assert torch.equal(torch.get_rng_state(), before)
    assert policy.choose(table, deterministic=True).unique().tolist() == [0]


def test_no_global_generator_is_used() -> None:
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002 - looked at
    model = make_model()
    model.learn(512)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.random.get_state()[1].tolist() == numpy_state  # noqa: NPY002 - as above


def test_no_action_without_a_mask() -> None:
    model = make_model()
    observations = torch.from_numpy(np.asarray(model.env.reset()))
    with pytest.raises(SetupError, match="action_masks"):
        model.policy(observations)
    with pytest.raises(SetupError, match="action_masks: shape"):
        model.policy(observations, action_masks=np.ones((16, 5)))
    with pytest.raises(SetupError, match="without action masks"):
        model.learn(512, use_masking=False)
    actions, _ = model.predict(np.asarray(model.env.reset()), action_masks=model.env.action_masks())
    assert model.env.action_masks()[np.arange(16), actions].all()


def test_with_canonical_suits_the_rollout_holds_what_the_network_sees_and_the_game_gets_its_own_actions() -> None:
    model = make_model(canonical_suits=True)
    played, shown = [], []
    play = model.env.play

    def noted(actions):
        shown.append(model.env.last)
        played.append(actions.copy())
        return play(actions)

    model.env.play = noted  # type: ignore[method-assign]
    rollout(model)
    buffer = model.rollout_buffer
    for t, (step, actions) in enumerate(zip(shown, played, strict=True)):
        found = canonical(step.observation, step.mask)
        assert (buffer.input_table[t].numpy() == found.observations[:, model._columns]).all()
        assert (buffer.mask_table[t].numpy() == (found.masks != 0)).all()
        assert (renamed_actions(found.actions, actions) == buffer.action_table[t].numpy()).all()
    assert (np.stack(played) != buffer.action_table.numpy()).any()


def test_with_canonical_suits_a_teacher_is_told_of_the_game_and_taught_under_other_names() -> None:
    teacher = agents.load("heuristic:novice")
    model = make_model(canonical_suits=True, teacher=teacher, teacher_share=1.0, n_steps=8)
    shown = []
    play = model.env.play
    model.env.play = lambda actions: (shown.append(model.env.last), play(actions))[1]  # type: ignore[method-assign]
    rollout(model)
    for t, step in enumerate(shown):
        told = teacher.act(step.observation, step.mask, np.random.default_rng((3, 16 * t)))
        found = canonical(step.observation, step.mask)
        assert (renamed_actions(found.actions, told) == model.rollout_buffer.action_table[t].numpy()).all()


@pytest.mark.parametrize("where", ["weights", "rewards"])
def test_what_is_not_finite_stops_the_training(where, monkeypatch) -> None:
    model = make_model()
    if where == "weights":
        with torch.no_grad():
            model.policy.net.value_head.weight[0, 0] = torch.nan
    else:
        play = model.env.play
        monkeypatch.setattr(model.env, "play", lambda a: (s := play(a))._replace(rewards=s.rewards + np.nan))
    with pytest.raises(TrainingDiverged, match="no longer finite"):
        model.learn(2000)


def test_schedules_follow_steps_or_a_given_budget() -> None:
    model = make_model(ent_coef=lambda left: left, learning_rate=lambda left: left / 1000)
    model.learn(4 * 256)
    assert model.ent_coef == 0
    model = make_model(ent_coef=lambda left: left)
    model.budget = lambda: 0.25
    model.learn(256)
    assert model.ent_coef == 0.25


def test_a_rollout_beyond_the_end_does_no_harm() -> None:
    model = make_model(ent_coef=lambda left: left, learning_rate=lambda left: left)
    before = {name: tensor.clone() for name, tensor in model.policy.net.state_dict().items()}
    model.learn(1)  # the smallest rollout is larger
    assert model.ent_coef == 0
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.policy.net.state_dict().items())


def test_whatever_the_network_says_illegal_actions_have_no_probability() -> None:
    logits = torch.full((4, 102), -3e9)
    masks = torch.zeros((4, 102), dtype=torch.bool)
    masks[:, 5] = True
    assert masked_log_probabilities(logits, masks).exp()[:, 5].tolist() == [1, 1, 1, 1]


def test_callbacks_see_every_step_and_may_stop() -> None:
    class Counter(BaseCallback):
        def _on_step(self) -> bool:
            return self.n_calls < 20

    counter = Counter()
    model = make_model()
    model.learn(10**6, callback=counter)
    assert (counter.n_calls, model.num_timesteps) == (20, 20 * 16)


def test_only_a_self_play_environment_is_taken() -> None:
    with pytest.raises(SetupError, match="SelfPlayVecEnv"):
        SelfPlayPPO(against_random(2), NetworkConfig((Rules(),), (2,), (8,)))


def test_an_agent_taken_from_a_model_does_not_change_with_it() -> None:
    model = make_model(learning_rate=1e-2)
    agent = NetworkAgent(model.play_net())
    before = {name: tensor.clone() for name, tensor in agent.net.state_dict().items()}
    model.learn(1024)
    for name, tensor in agent.net.state_dict().items():
        assert torch.equal(tensor, before[name])
        assert not torch.equal(tensor, model.policy.net.state_dict()[name])


def test_it_learns() -> None:
    """After 160,000 decisions it is surer of what it does, and beats random play by far."""
    from eval import rank

    model = make_model(envs=256, hidden=(128,), n_steps=32, batch_size=2048, n_epochs=2, learning_rate=2.5e-3)
    model.learn(1, log_interval=10**6)
    first = model.logger.name_to_value["rollout/entropy_share"]
    model.learn(160_000, log_interval=10**6)
    assert model.logger.name_to_value["rollout/entropy_share"] < 0.9 * first
    field = {"trained": NetworkAgent(model.play_net()), "random": agents.load("random")}
    pair = rank(field, boards=100, matches=100, seed=1).pairs[0]
    assert pair.wins.low > 0.8
    assert pair.points.low > 1


def tables(num_envs: int) -> ChicagoVectorEnv:
    return ChicagoVectorEnv(num_envs, agents.load("random"), reward="points", max_deals=1)


def against_random(num_envs: int) -> OpponentVecEnv:
    return OpponentVecEnv(tables(num_envs))


# --- vector environments ----------------------------------------------------------------------------------------------


def test_self_play_shows_the_seat_to_act_and_pays_all() -> None:
    batch = BatchEnv(8, 3, seed=5, reward="points")
    env, twin = SelfPlayVecEnv(batch, scale=0.5), BatchEnv(8, 3, seed=5, reward="points")
    assert (np.asarray(env.reset()) == twin.reset().observation).all()
    agent, rng = agents.load("random"), np.random.default_rng(0)
    for _ in range(200):
        actions = agent.act(env.last.observation, env.last.mask, rng)
        step, expected = env.play(actions), twin.step(actions)
        assert (env.action_masks() == (expected.mask != 0)).all()
        assert (step.observation == expected.observation).all()
        np.testing.assert_allclose(step.rewards, 0.5 * expected.rewards)


def test_masks_need_a_reset() -> None:
    for env in (SelfPlayVecEnv(BatchEnv(2, 2)), against_random(2)):
        with pytest.raises(SetupError, match="reset"):
            env.action_masks()
        env.reset()
        assert env.action_masks().any(axis=1).all()
        assert [mask.tolist() for mask in env.env_method("action_masks", indices=[1])] == [
            env.action_masks()[1].tolist()
        ]
        assert env.has_attr("players")


def test_against_opponents_it_is_the_gymnasium_environment() -> None:
    env, twin = OpponentVecEnv(tables(6), seed=5), tables(6)
    shown, told = twin.reset(seed=5)
    assert (np.asarray(env.reset()) == shown).all()
    agent, rng, returns, ended = agents.load("random"), np.random.default_rng(0), np.zeros(6), 0
    for _ in range(60):
        assert (env.action_masks() == (told["action_mask"] != 0)).all()
        actions = agent.act(shown, told["action_mask"], rng)
        observation, rewards, dones, infos = env.step(actions)
        shown, paid, terminations, truncations, told = twin.step(actions)
        assert (observation == shown).all()
        assert (rewards == paid).all()
        assert (dones == (terminations | truncations)).all()
        returns += paid
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
            assert truncations[row]
            assert "TimeLimit.truncated" not in infos[row]
            assert infos[row]["scores"] == told["final_info"]["scores"][row].tolist()
            assert infos[row]["opponents"] == ("random",)
            assert (infos[row]["terminal_observation"] == told["final_obs"][row]).all()
            returns[row] = 0
            ended += 1
    assert ended > 10


def test_against_opponents_the_same_seed_gives_the_same_games() -> None:
    def play(seed: int) -> list[float]:
        env = OpponentVecEnv(tables(4), seed=seed)
        env.reset()
        rng = np.random.default_rng(0)
        masks = (rng.random((60, 102)) for _ in range(60))
        return [r for noise in masks for r in env.step((env.action_masks() * noise[:4]).argmax(axis=1))[1].tolist()]

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_an_illegal_action_is_refused() -> None:
    for env in (SelfPlayVecEnv(BatchEnv(2, 2)), against_random(2)):
        env.reset()
        with pytest.raises(IllegalAction):
            env.step(np.array([101, 101]))


@pytest.mark.parametrize("kind", ["own policy", "MlpPolicy"])
def test_plain_maskable_ppo_takes_both_environments(kind) -> None:
    for env in (
        SelfPlayVecEnv(BatchEnv(4, 2, reward="points")),
        OpponentVecEnv(tables(4)),
    ):
        options = {"n_steps": 8, "batch_size": 16, "n_epochs": 1, "device": "cpu"}
        if kind == "own policy":
            network = NetworkConfig((Rules(),), (2,), (8,))
            model = MaskablePPO(ChicagoPolicy, env, policy_kwargs={"config": network}, **options)
        else:
            model = MaskablePPO("MlpPolicy", env, seed=0, **options)
        model.learn(64)
        assert model.num_timesteps == 64


@pytest.mark.parametrize(
    ("vendor", "amx", "avx", "pays"),
    [
        ("AuthenticAMD", False, True, True),
        ("AuthenticAMD", False, False, False),
        ("GenuineIntel", False, True, False),
        ("GenuineIntel", True, True, True),
        (None, False, True, False),
    ],
)
def test_bfloat16_is_used_where_it_is_faster(vendor, amx, avx, pays, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx)
    info = tmp_path / "cpuinfo"
    if vendor is not None:
        info.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\n", "utf-8")
    assert build._bfloat16_pays(info) is pays
    for precision, used in (("bfloat16", True), ("float32", False)):
        assert build.use_bfloat16(TrainConfig(precision=precision)) is used
