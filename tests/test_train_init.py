"""Runs that begin with the weights of a checkpoint, and what they play against."""

from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.checkpoint import read_info
from chicago_env import BatchEnv
from chicago_env.errors import SetupError, UsageError
from tests.train_runs import TINY, break_off, replaced, same, weights
from train.config import TrainConfig
from train.run import train


def test_a_run_begins_with_the_weights_of_a_checkpoint(tmp_path) -> None:
    train(replaced(steps=256), tmp_path / "a", threads=1)
    first = str(tmp_path / "a" / "agent.safetensors")
    train(replaced(init=first, learning_rate=0.0), tmp_path / "b", threads=1)
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert read_info(tmp_path / "b" / "agent.safetensors").parent == first
    break_off(tmp_path / "c", replaced(init=first), after=2)
    train(replaced(init=first), tmp_path / "d", threads=1)
    Path(first).unlink()  # a run that goes on does not need it
    train(TrainConfig(), tmp_path / "c", resume=True, threads=1)
    assert same(weights(tmp_path / "c"), weights(tmp_path / "d"))
    with pytest.raises(UsageError, match="no checkpoint"):
        train(replaced(init="random"), tmp_path / "e", threads=1)
    with pytest.raises(UsageError, match=r"layers of \(512, 256\)"):
        train(replaced(init="ppo-2p"), tmp_path / "f", threads=1)
    for other in ({"players": (3,)}, {"rules": ("race",)}):
        with pytest.raises(UsageError, match="none of the games"):
            train(replaced(init=str(tmp_path / "d" / "agent.safetensors"), **other), tmp_path / "f", threads=1)


def test_canonical_suits_are_what_is_learned_and_what_plays(tmp_path) -> None:
    train(replaced(suits="canonical"), tmp_path / "a", threads=1)
    train(TINY, tmp_path / "b", threads=1)
    assert not same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert read_info(tmp_path / "a" / "agent.safetensors").network.canonical_suits
    assert not read_info(tmp_path / "b" / "agent.safetensors").network.canonical_suits
    with pytest.raises(UsageError, match="suits in canonical order alone: --suits canonical"):
        train(replaced(init=str(tmp_path / "a" / "agent.safetensors")), tmp_path / "c", threads=1)
    given = replaced(init=str(tmp_path / "b" / "agent.safetensors"), suits="canonical", learning_rate=0.0)
    train(given, tmp_path / "d", threads=1)
    assert same(weights(tmp_path / "b"), weights(tmp_path / "d"))


def test_a_network_for_more_games_plays_the_old_ones_alike(tmp_path) -> None:
    train(replaced(steps=256), tmp_path / "a", threads=1)
    first = tmp_path / "a" / "agent.safetensors"
    more = replaced(init=str(first), players=(2, 4), rules=("pagat", "open-card"), learning_rate=0.0, steps=256)
    train(more, tmp_path / "b", threads=1)
    small, large = (agents.load(str(tmp_path / name / "agent.safetensors")) for name in "ab")
    assert large.net.inputs > small.net.inputs
    batch = BatchEnv(64, 2, "pagat", 5)
    step = batch.reset()
    with torch.no_grad():
        for _ in range(60):
            for ours, theirs in zip(
                *(agent.net(torch.from_numpy(step.observation)) for agent in (small, large)), strict=True
            ):
                assert torch.allclose(ours, theirs, atol=1e-5)
            step = batch.step(step.mask.argmax(axis=1))


@pytest.mark.parametrize(
    ("players", "rules"), [((2,), ("open-card",)), ((3,), ("pagat",)), ((2, 3), ("open-card", "family"))]
)
def test_a_network_for_fewer_games_plays_them_alike(players, rules, tmp_path) -> None:
    most = {"players": (2, 3, 6), "rules": ("pagat", "open-card", "race"), "steps": 288, "locations": 0.1}
    train(replaced(**most), tmp_path / "a", threads=1)
    fewer = {"players": players, "rules": rules, "learning_rate": 0.0, "steps": 256, "locations": 0.1}
    train(replaced(init=str(tmp_path / "a" / "agent.safetensors"), **fewer), tmp_path / "b", threads=1)
    large, small = (agents.load(str(tmp_path / name / "agent.safetensors")) for name in "ab")
    assert small.net.inputs < large.net.inputs
    batch = BatchEnv(64, players[0], rules[0], 5)
    step = batch.reset()
    with torch.no_grad():
        for _ in range(60):
            seen = torch.from_numpy(step.observation)
            for ours, theirs in zip(small.net(seen), large.net(seen), strict=True):
                assert torch.allclose(ours, theirs, atol=1e-5)
            known = large.locations(step.observation)[:, :, : players[-1]]
            np.testing.assert_allclose(small.locations(step.observation), known, atol=1e-5)
            step = batch.step(step.mask.argmax(axis=1))


def test_opponents_that_do_not_play_the_games_are_refused(tmp_path) -> None:
    config = replaced(players=[2, 3], opponents=["ppo-2p-long"], opponent_share=0.5)
    with pytest.raises(SetupError, match="ppo-2p-long"):
        train(config, tmp_path, threads=1)
