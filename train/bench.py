"""How fast this machine trains: what `chicago bench train` measures, all in one run."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import chicago_env  # noqa: F401 - registers the environment
from agents import load
from train.build import compile_for, make_model, network_of, use_bfloat16
from train.config import TrainConfig
from train.policy import ChicagoPolicy
from train.ppo import SelfPlayPPO

SHARE, TIMES = 0.75, 10.0
"""Goals: share of the network's bound, times the decisions of a plain MaskablePPO."""

_PLAIN_ENVS, _PLAIN_STEPS, _PLAIN_BATCH = 8, 256, 256


class Speeds(NamedTuple):
    """What was measured, in decisions per second but for `parts`.

    Attributes:
        training: decisions collected and learned from.
        bound: the same if nothing but the network's passes and the optimizer took time.
        plain: sb3-contrib's MaskablePPO with DummyVecEnv over the Gymnasium environment, same network and epochs.
        parts: share of the training's time by what it was spent on.
    """

    training: float
    bound: float
    plain: float
    parts: dict[str, float]


def _updates(model: SelfPlayPPO, number: int) -> float:
    """Seconds that so many rollouts and updates take."""
    began = time.perf_counter()
    model.learn(number * model.n_steps * model.n_envs, reset_num_timesteps=False)
    return time.perf_counter() - began


def _bound(model: SelfPlayPPO, updates: int) -> float:
    """Seconds of the passes through the network alone, on what the last rollout holds."""
    buffer, policy = model.rollout_buffer, model.policy
    parts = list(buffer.get(model.batch_size))
    began = time.perf_counter()
    for _ in range(updates):
        with torch.inference_mode():
            for t in range(model.n_steps):
                policy.net(buffer.input_table[t])
        for _ in range(model.n_epochs):
            for part in parts:
                logits, values = policy.net(part.observations)
                loss = logits.square().mean() + values.square().mean()
                policy.optimizer.zero_grad()
                loss.backward()
                policy.optimizer.step()
    return time.perf_counter() - began


def _plain(config: TrainConfig, rollouts: int) -> float:
    """Decisions per second of the plain learner."""
    options: Any = {"players": config.players[0], "rules": config.rules[0], "reward": "points", "max_deals": 1}

    def make() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("chicago_env/Chicago-v0", opponents=[load("random")] * (config.players[0] - 1), **options)

    model = MaskablePPO(
        ChicagoPolicy,
        DummyVecEnv([make] * _PLAIN_ENVS),
        n_steps=_PLAIN_STEPS,
        batch_size=_PLAIN_BATCH,
        n_epochs=config.epochs,
        policy_kwargs={"config": network_of(config), "bfloat16": use_bfloat16(config)},
        device=config.device,
    )
    model.learn(_PLAIN_STEPS * _PLAIN_ENVS)
    began = time.perf_counter()
    model.learn(rollouts * _PLAIN_STEPS * _PLAIN_ENVS, reset_num_timesteps=False)
    return rollouts * _PLAIN_STEPS * _PLAIN_ENVS / (time.perf_counter() - began)


def measure(config: TrainConfig, updates: int = 8, report: Callable[[str], None] = lambda _: None) -> Speeds:
    """Trains for some updates, three times with the bound in between, so that both see the same machine.

    Args:
        config: what is trained; its budget is not used.
        updates: updates of each measurement.
        report: told what is going on.
    """
    report("compiling")
    model = make_model(config)
    compile_for(model)
    _updates(model, 2)
    model.seconds = dict.fromkeys(model.seconds, 0.0)
    trained = bound = 0.0
    for turn in range(3):
        report(f"training, {turn + 1} of 3")
        trained += _updates(model, updates)
        report(f"the network alone, {turn + 1} of 3")
        bound += _bound(model, updates)
    decisions = 3 * updates * model.n_steps * model.n_envs
    report("plain MaskablePPO")
    parts = {name: seconds / trained for name, seconds in model.seconds.items() if seconds}
    parts["other"] = max(0.0, 1 - sum(parts.values()))
    return Speeds(decisions / trained, decisions / bound, _plain(config, 2), parts)
