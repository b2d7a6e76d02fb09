"""Small training runs for tests."""

from pathlib import Path

import pytest
import torch

import agents
from train.config import TrainConfig
from train.run import train

ROOT = Path(__file__).resolve().parent.parent
STEPS = 6 * 32 * 8
TINY = TrainConfig(steps=STEPS, hidden=(16,), envs=32, rollout=8, minibatch=64, eval_matches=0, save_seconds=0)


def replaced(**changes: object) -> TrainConfig:
    return TrainConfig.from_dict({**TINY.to_dict(), **changes})


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(agents.load(str(folder / "agent.safetensors")).net.state_dict())


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


class Killed(Exception):
    """Breaks a run off as a kill would: nothing is saved any more."""


def break_off(folder: Path, config: TrainConfig, after: int) -> None:
    """Trains until `after` updates are reported, and dies there."""
    reports = []

    def on_progress(now: object) -> None:
        reports.append(now)
        if len(reports) > after:
            raise Killed

    with pytest.raises(Killed):
        train(config, folder, threads=1, on_progress=on_progress)
