"""Makes the learner of a run from its configuration."""

from pathlib import Path

import numpy as np
import torch

from agents import load
from agents.base import Agent
from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet
from agents.suits import canonical, renamed_cards
from chicago_env.errors import UsageError
from chicago_env.notation import parse_rules
from chicago_env.opponents import check_game
from chicago_env.setup import MAX_DEALS
from chicago_env.vector import BatchEnv
from eval.equity import MatchEquity
from train.branches import final_rewards, played_out
from train.config import TrainConfig
from train.deal_reward import DealLog, DealReward
from train.envs import SelfPlayVecEnv
from train.guests import Guests
from train.ppo import SelfPlayPPO

_SCORES_SPREAD = 52  # start scores of single deals are drawn from 0 … 51, less where the target is lower
_LOCATIONS = "location_head."
_LOGGED_DEALS = 400_000  # the last deals, of all kinds of games, from which the chance to win is solved


def use_bfloat16(config: TrainConfig) -> bool:
    """Whether the hidden layers are computed in bfloat16."""
    if config.precision != "auto":
        return config.precision == "bfloat16"
    return config.device == "cuda" or _bfloat16_pays()


def _bfloat16_pays(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this processor multiplies bfloat16 faster than float32.

    With AMX it does, and AMD's do with AVX-512 alone. Intel's without AMX (virtual machines hide it) take nearly twice as long
    for it as for float32. Nothing is timed: the same machine must always give the same weights.
    """
    if torch.cpu._is_amx_tile_supported():
        return True
    try:
        amd = "AuthenticAMD" in cpuinfo.read_text()
    except OSError:
        return False
    return amd and torch.cpu._is_avx512_bf16_supported()


def network_of(config: TrainConfig) -> NetworkConfig:
    """Shape of the network of a run."""
    return NetworkConfig(
        tuple(parse_rules(rules) for rules in config.rules),
        tuple(sorted(config.players)),
        config.hidden,
        canonical_suits=config.suits == "canonical",
        locations=config.locations > 0,
    )


def make_env(config: TrainConfig) -> SelfPlayVecEnv:
    """The games of a run: every kind in every so manieth row."""
    games = [(players, parse_rules(rules)) for players, rules in config.games]
    if config.envs < len(games):
        raise UsageError(f"envs: {config.envs} are fewer than the {len(games)} kinds of games")
    kinds = np.arange(config.envs) % len(games)
    single = config.reward != "win"
    batch = BatchEnv(
        config.envs,
        [games[kind][0] for kind in kinds],
        [games[kind][1] for kind in kinds],
        config.seed,
        reward="points" if config.reward == "points" else "win",
        start_scores=min(_SCORES_SPREAD, *(rules.target for _, rules in games)) if single else 0,
        max_deals=1 if single else MAX_DEALS,
    )
    reward = None
    if config.reward == "equity":
        logs = [DealLog(max(1, _LOGGED_DEALS // len(games)), players) for players, _ in games]
        reward = DealReward([MatchEquity(rules) for _, rules in games], kinds, logs if config.equity_rounds else ())
    return SelfPlayVecEnv(batch, reward, scale=1 / config.points_scale if config.reward == "points" else 1.0)


def agent_for(config: TrainConfig, spec: str) -> Agent:
    """A fixed opponent of a run, or its teacher.

    Raises:
        AgentSpecError: no agent of that name.
        CheckpointError: a damaged file.
        SetupError: an agent that does not play a kind of game of the run.
    """
    agent = load(spec)
    for players, rules in config.games:
        check_game(agent, players, parse_rules(rules))
    return agent


def make_model(config: TrainConfig, guests: Guests | None = None) -> SelfPlayPPO:
    """The learner of a run, at its start.

    Args:
        config: configuration of the run.
        guests: who else plays; by default a table without guests, to which snapshots of the past may be added, where the
            configuration asks for it.
    """
    env = make_env(config)
    if guests is None and (config.past_share or config.opponents):
        guests = Guests(
            (),
            config.past_share,
            env.batch.seats,
            config.seed,
            regulars=[agent_for(config, name) for name in config.opponents],
            regular_share=config.opponent_share,
        )
    return SelfPlayPPO(
        env,
        network_of(config),
        seed=config.seed,
        ent_coef=lambda left: config.entropy_end + (config.entropy - config.entropy_end) * left,
        exploration=config.exploration,
        teacher=None if config.teacher is None else agent_for(config, config.teacher),
        teacher_share=config.teacher_share,
        guests=guests,
        average=config.average,
        advantage_share=config.advantage_share,
        critic=config.critic_hidden if config.critic == "state" else None,
        vine=config.vine,
        vine_answers=config.vine_answers,
        learning_rate=lambda left: config.learning_rate * left,
        n_steps=config.rollout,
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        vf_coef=config.value_coefficient,
        max_grad_norm=config.max_grad_norm,
        locations=config.locations,
        bfloat16=use_bfloat16(config),
        device=config.device,
    )


def compile_for(model: SelfPlayPPO) -> None:
    """Compiles what a run needs of engine, suits, vine, teacher and guests, before the clock starts."""
    batch = BatchEnv(1, 2)
    step = batch.step(batch.reset().mask.argmax(axis=1))
    if model.policy.net.config.canonical_suits:
        renamed_cards(batch.hidden(), canonical(step.observation, step.mask).suits)
    if model.vine is not None:
        one = np.zeros(1, dtype=np.int64)
        ended = played_out(
            batch.states(one), one, step.mask.argmax(axis=1), lambda _b, _s, _o, masks: masks.argmax(axis=1)
        )
        if model.env.reward is None:
            final_rewards(ended, model.env.batch.reward)
    others = [] if model.guests is None else [*model.guests.regulars, *model.guests.agents]
    for agent in ([] if model.teacher is None else [model.teacher]) + others:
        if not isinstance(agent, NetworkAgent):  # compiles nothing, and may be made for other games
            agent.act(step.observation, step.mask, np.random.default_rng(0))


def begin_with(model: SelfPlayPPO, spec: str) -> None:
    """Puts the weights of a checkpoint into a model.

    Raises:
        UsageError: no checkpoint, or one of another network.
        AgentSpecError: no agent of that name.
        CheckpointError: a damaged file.
    """
    agent = load(spec)
    if not isinstance(agent, NetworkAgent):
        raise UsageError(f"init: {spec!r} is no checkpoint")
    net = model.policy.net
    ours, theirs = net.config, agent.net.config
    if theirs.hidden != ours.hidden:
        raise UsageError(f"init: {spec} has layers of {theirs.hidden}, not of {ours.hidden}")
    if set(theirs.rules).isdisjoint(ours.rules) or set(theirs.players).isdisjoint(ours.players):
        raise UsageError(f"init: {spec} is for none of the games that this run trains")
    if (
        theirs.canonical_suits and not ours.canonical_suits
    ):  # it knows one order of suits only; the others know this one too
        raise UsageError(f"init: {spec} sees suits in canonical order alone: --suits canonical")
    net.load_state_dict(_fitted(agent.net, net))


def _fitted(old: PolicyValueNet, new: PolicyValueNet) -> dict[str, torch.Tensor]:
    """The weights of a network in the shape of one with the same layers, made for other games: in those of both, both play alike.

    What only the new one sees gets weights of 0. What only the old one sees never varies in the games of the new one and is
    added to the bias. A location head that only one of them has is left as it is, or out.
    """
    state = dict(old.state_dict())
    weight, bias = state["hidden.0.weight"], state["hidden.0.bias"]
    first = torch.zeros(len(weight), new.inputs)
    both = torch.isin(old.columns, new.columns)
    first[:, torch.isin(new.columns, old.columns)] = weight[:, both]
    example = BatchEnv(1, new.config.players[0], new.config.rules[0], seed=0).reset().observation
    constant = (torch.from_numpy(example)[0, old.columns] * old.gain + old.shift).masked_fill(both, 0)
    heads = {name: tensor.clone() for name, tensor in new.state_dict().items() if name.startswith(_LOCATIONS)}
    for name, tensor in heads.items():
        if old.config.locations:  # places come first in it: those of seats that only one of them has are the last
            known = min(len(tensor), len(state[name]))
            tensor.zero_()[:known] = state[name][:known]
    state = {name: tensor for name, tensor in state.items() if not name.startswith(_LOCATIONS)}
    return state | {"hidden.0.weight": first, "hidden.0.bias": bias + weight @ constant} | heads
