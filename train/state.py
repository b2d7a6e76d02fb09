"""The state of a run in one file, without pickles: a run taken up from it goes on exactly as if never interrupted."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agents.checkpoint import load_weights, read_tensors, write_tensors
from chicago_env.errors import CheckpointError, ChicagoError
from chicago_env.setup import check_int
from train.ppo import SelfPlayPPO

FORMAT, VERSION = "chicago-training", 1

Json = dict[str, Any]

_GAMES, _ADAM, _NET, _AVERAGE, _GUESTS = "games.", "adam.", "net.", "average.", "guests."
_CRITIC, _CRITIC_ADAM, _VINE_ADAM = "critic.net.", "critic.adam.", "vine.adam."
_MAX_COUNT = 1 << 60


def save_state(path: Path, model: SelfPlayPPO, about: Json) -> None:
    """Writes weights, optimizer, generators, games and counters, with `about`, JSON that the caller needs again.

    Raises:
        OSError: the file cannot be written.
    """
    tensors: dict[str, Tensor] = {_NET + name: tensor for name, tensor in model.policy.net.state_dict().items()}
    tensors.update(_optimizer_tensors(_ADAM, model.policy.optimizer))
    if model.critic is not None:
        tensors.update({_CRITIC + name: tensor for name, tensor in model.critic.net.state_dict().items()})
        tensors.update(_optimizer_tensors(_CRITIC_ADAM, model.critic.optimizer))
    if model.vine is not None:
        tensors.update(_optimizer_tensors(_VINE_ADAM, model.vine.optimizer))
    for name, array in model.env.get_state().items():
        tensors[_GAMES + name] = torch.from_numpy(array)
    for name, tensor in (model.averaged or {}).items():
        tensors[_AVERAGE + name] = tensor
    if model.guests is not None:
        tensors.update({_GUESTS + name: torch.from_numpy(a) for name, a in model.guests.get_state().items()})
    tensors["generator.policy"] = model.policy.generator.get_state()
    tensors["generator.minibatches"] = model.rollout_buffer.generator.get_state()
    counters = {"steps": model.num_timesteps, "updates": model._n_updates}
    write_tensors(path, {"format": FORMAT, "version": VERSION, "counters": counters, "about": about}, tensors)


def load_state(path: Path, model: SelfPlayPPO) -> Json:
    """Puts what `save_state` wrote into a model made with the same configuration; gives back `about`.

    Raises:
        CheckpointError: no such file, damaged, or of another configuration; the model may be half changed.
    """
    metadata, tensors = read_tensors(path, FORMAT, VERSION)
    try:
        counters, about = metadata["counters"], metadata["about"]
        load_weights(path, model.policy.net, _part(tensors, _NET))
        _load_optimizer(model.policy.optimizer, _part(tensors, _ADAM))
        if model.critic is not None:
            model.critic.net.load_state_dict(_like(model.critic.net.state_dict(), _part(tensors, _CRITIC)))
            _load_optimizer(model.critic.optimizer, _part(tensors, _CRITIC_ADAM))
        if model.vine is not None:
            _load_optimizer(model.vine.optimizer, _part(tensors, _VINE_ADAM))
        if model.averaged is not None:
            model.averaged = _like(model.averaged, _part(tensors, _AVERAGE))
        if model.guests is not None:
            model.guests.set_state({name: np.asarray(t.numpy()) for name, t in _part(tensors, _GUESTS).items()})
        model.policy.generator.set_state(tensors["generator.policy"])
        model.rollout_buffer.generator.set_state(tensors["generator.minibatches"])
        model.env.set_state({name: np.asarray(t.numpy()) for name, t in _part(tensors, _GAMES).items()})
        model.num_timesteps, model._n_updates = (
            check_int(name, counters[name], 0, _MAX_COUNT) for name in ("steps", "updates")
        )
    except CheckpointError:
        raise
    except (LookupError, TypeError, ValueError, RuntimeError, OverflowError, AttributeError, ChicagoError) as error:
        raise CheckpointError(path, f"does not fit this run: {error}") from None
    assert model.env.last is not None
    model._last_obs = model.env.last.observation
    return dict(about)


def read_about(path: Path) -> Json:
    """What the caller of `save_state` wrote beside the state.

    Raises:
        CheckpointError: no such file, damaged, or one that says nothing.
    """
    about = read_tensors(path, FORMAT, VERSION)[0].get("about")
    if not isinstance(about, dict):
        raise CheckpointError(path, "does not fit this run: it says nothing about it")
    return about


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _like(expected: dict[str, Tensor], found: dict[str, Tensor]) -> dict[str, Tensor]:
    if {name: t.shape for name, t in found.items()} != {name: t.shape for name, t in expected.items()}:
        raise ValueError("weights of another network")
    return found


def _optimizer_tensors(prefix: str, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimizer knows of each weight, by name."""
    state = optimizer.state_dict()["state"]
    return {f"{prefix}{i}.{name}": torch.as_tensor(v) for i, values in state.items() for name, v in values.items()}


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = tensor
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for number, values in state.items():
        for name, tensor in values.items():
            if name != "step" and tensor.shape != weights[number].shape:
                raise ValueError(f"optimizer state {number}.{name} has shape {tuple(tensor.shape)}")
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
