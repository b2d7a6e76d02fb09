"""The examples run, each with a tiny budget, and what is shipped is as its page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agents
from agents.checkpoint import read_checkpoint, read_info
from agents.registry import CHECKPOINTS, checkpoints
from chicago_env.errors import UsageError
from eval import rank
from train import catalogue
from train.config import TrainConfig, read_config
from train.run import train

ROOT = Path(__file__).resolve().parent.parent


def run_example(name: str, *words: str, cwd: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:chicago_env", str(ROOT / "examples" / name), *words],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_self_play(tmp_path) -> None:
    assert "mine" in run_example("self_play.py", "40000", cwd=tmp_path)
    assert read_info(tmp_path / "runs" / "self-play-40000" / "mine.safetensors").steps >= 40_000


@pytest.mark.slow
def test_plain_maskable_ppo(tmp_path) -> None:
    assert "points a deal against the novice" in run_example("train_with_maskable_ppo.py", "2048", cwd=tmp_path)


@pytest.mark.slow
def test_a_loop_over_the_pettingzoo_environment(tmp_path) -> None:
    lines = run_example("pettingzoo_loop.py", "40", cwd=tmp_path).splitlines()
    assert [line.split(",")[0] for line in lines] == ["20 matches", "40 matches"]
    assert all(re.search(r" \d{3} decisions, loss -?\d+\.\d+$", line) for line in lines)


@pytest.mark.slow
def test_a_checkpoint_as_opponent(tmp_path) -> None:
    assert re.search(
        r"won \d+ of 10 matches against ppo-2p", run_example("load_checkpoint_as_opponent.py", cwd=tmp_path)
    )


def test_the_page_of_checkpoints_is_up_to_date(capsys) -> None:
    assert catalogue.main(["--check"]) == 0
    assert not capsys.readouterr().out


def test_shipped_checkpoints_are_complete() -> None:
    assert checkpoints()
    for name, path in checkpoints().items():
        info = read_info(path)
        config = read_config(CHECKPOINTS / f"{name}.json")
        told = dict(info.training)
        assert told.pop("algorithm") == "self-play PPO"
        assert TrainConfig.from_dict(told) == config
        assert (config.name, config.seed) == (name, info.seed)
        for game in info.ratings["games"]:
            assert set(game["against"]) == set(catalogue.OPPONENTS)
        assert path.stat().st_size < 5e6
        assert (CHECKPOINTS / f"{name}.log.jsonl").stat().st_size < 2e5


def test_the_shipped_checkpoint_beats_the_first_agents() -> None:
    for opponent in ("random", "heuristic:novice"):
        field = {"ppo-2p": agents.load("ppo-2p"), opponent: agents.load(opponent)}
        pair = rank(field, boards=300, matches=100, seed=77).pairs[0]
        assert pair.points.low > 0
        assert pair.wins.low > 0.5


def test_a_run_is_taken_in_with_its_ratings(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(catalogue, "BOARDS", 4)
    monkeypatch.setattr(catalogue, "MATCHES", 4)
    config = TrainConfig(name="tiny", steps=3 * 256, hidden=(16,), envs=32, rollout=8, minibatch=64, eval_matches=0)
    train(config, tmp_path / "run", threads=1)
    shelf = tmp_path / "checkpoints"
    shelf.mkdir()
    target = catalogue.add(tmp_path / "run", shelf)
    assert target == shelf / "tiny.safetensors"
    info = read_info(target)
    wins = info.ratings["games"][0]["against"]["random"]["match_wins"]
    assert wins["boards"] == 4
    assert len((shelf / "tiny.log.jsonl").read_text().splitlines()) == 3
    text = (shelf / "README.md").read_text()
    assert 'agents.load("tiny")' in text
    assert f"{wins['mean']:.1%} [{wins['low']:.1%}, {wins['high']:.1%}]" in text
    assert (
        "chicago train --envs 32 --eval-matches 0 --hidden 16 --minibatch 64 --name tiny --rollout 8 --steps 768"
        in text
    )


def test_a_run_that_became_weaker_is_not_taken_in(tmp_path, monkeypatch) -> None:
    config = TrainConfig(
        name="tiny", steps=3 * 256, hidden=(16,), envs=32, rollout=8, minibatch=64, eval_matches=0,
        past_share=0.5, past_snapshots=1,
    )  # fmt: skip
    train(config, tmp_path / "run", threads=1)
    shelf = tmp_path / "checkpoints"
    shelf.mkdir()

    def rated(high: float):
        past = {"boards": 9, "mean": high - 0.02, "low": high - 0.04, "high": high}
        against = {"heuristic:expert": {"match_wins": past}}
        return lambda agent, info, snapshots: (
            {"seed": len(snapshots), "games": [{"players": 2, "rules": "pagat", "against": against, "past": past}]}
        )

    monkeypatch.setattr(catalogue, "rate", rated(0.469))
    with pytest.raises(UsageError, match=r"2 players, pagat: the checkpoint wins 44\.9% .* less than 47%"):
        catalogue.add(tmp_path / "run", shelf)
    assert list(shelf.iterdir()) == []
    monkeypatch.setattr(catalogue, "rate", rated(0.471))
    assert read_info(catalogue.add(tmp_path / "run", shelf)).ratings["seed"] == 1

    # ranked again: what it won against its past, and its weights, are as before
    def rated_anew(agent, info):
        return {
            "seed": 7,
            "games": [{"players": 2, "rules": "pagat", "against": rated(0.6)(agent, info, ())["games"][0]["against"]}],
        }

    before, _ = read_checkpoint(shelf / "tiny.safetensors")
    monkeypatch.setattr(catalogue, "rate", rated_anew)
    after, info = read_checkpoint(catalogue.rate_again("tiny", shelf))
    assert info.ratings["seed"] == 7
    assert info.ratings["games"][0]["past"]["high"] == 0.471
    assert all((value == after.state_dict()[name]).all() for name, value in before.state_dict().items())
    assert "58.0% [56.0%, 60.0%]" in (shelf / "README.md").read_text()
    with pytest.raises(UsageError, match="no checkpoint of that name"):
        catalogue.rate_again("other", shelf)
