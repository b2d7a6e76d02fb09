"""Whole runs: exact resume, interruptions, bad input, what is written."""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

import agents
from agents.checkpoint import read_info, read_tensors, write_tensors
from chicago_env.cli import told
from chicago_env.errors import CheckpointError
from eval.stats import Estimate
from tests.train_runs import ROOT, STEPS, TINY, Killed, break_off, replaced, same, weights
from train import callback, catalogue, state
from train.cli import run as chicago
from train.config import STATE, TrainConfig, read_config
from train.ppo import SelfPlayPPO, TrainingDiverged
from train.run import train


@pytest.mark.parametrize(("reward", "rounds"), [("equity", 0), ("equity", 2), ("points", 0), ("win", 0)])
def test_a_run_that_was_killed_goes_on_to_the_same_weights(tmp_path, reward, rounds) -> None:
    config = replaced(reward=reward, equity_rounds=rounds, players=[3], seed=5)
    train(config, tmp_path / "whole", threads=1)
    break_off(tmp_path / "broken", config, after=2)
    assert read_info(tmp_path / "broken" / "agent.safetensors").steps < STEPS
    assert not same(weights(tmp_path / "broken"), weights(tmp_path / "whole"))
    result = train(TrainConfig(), tmp_path / "broken", resume=True, threads=1)
    assert result.finished
    assert result.steps == STEPS
    assert same(weights(tmp_path / "broken"), weights(tmp_path / "whole"))


EVERYTHING = {
    "players": [2, 3],
    "rules": ["pagat", "race"],
    "teacher": "heuristic:novice",
    "teacher_share": 0.3,
    "equity_rounds": 2,
    "average": 0.9,
    "advantage_share": 0.5,
    "opponents": ["heuristic:tricks", "random"],
    "opponent_share": 0.25,
    "past_share": 0.5,
    "past_snapshots": 3,
    "suits": "canonical",
    "critic": "state",
    "critic_hidden": [8],
    "locations": 0.1,
    "vine": 40,
}


def test_a_run_with_everything_goes_on_to_the_same_weights(tmp_path) -> None:
    config = replaced(**EVERYTHING)
    train(config, tmp_path / "whole", threads=1)
    hashes = {path.name: path.read_bytes() for path in (tmp_path / "whole" / "past").iterdir()}
    assert sorted(hashes) == ["001.safetensors", "002.safetensors", "003.safetensors"]
    assert len(set(hashes.values())) == 3
    for after in (1, 4):  # while it imitates, and with guests from the past
        folder = tmp_path / f"broken-{after}"
        break_off(folder, config, after=after)
        kept = {path: path.read_bytes() for path in (folder / "past").glob("*")}
        train(TrainConfig(), folder, resume=True, threads=1)
        assert same(weights(folder), weights(tmp_path / "whole"))
        assert all(path.read_bytes() == data for path, data in kept.items())  # later training leaves them alone


def test_a_missing_snapshot_is_told(tmp_path) -> None:
    config = replaced(**EVERYTHING)
    break_off(tmp_path, config, after=5)
    (tmp_path / "past" / "001.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"001\.safetensors"):
        train(TrainConfig(), tmp_path, resume=True, threads=1)


def test_the_past_and_every_kind_of_game_are_evaluated(tmp_path) -> None:
    few = {**EVERYTHING, "players": [2], "equity_rounds": 0, "past_snapshots": 1}
    train(replaced(**few, eval_matches=1, eval_opponents=["random"]), tmp_path, threads=1)
    last = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])
    for kind in ("2_pagat", "2_race"):
        assert 0 <= last[f"eval/wins_past_min_{kind}"] <= 1
        assert 0 <= last[f"eval/wins_random_{kind}_low"] <= last[f"eval/wins_random_{kind}"]


def test_averaged_weights_are_what_is_saved(tmp_path) -> None:
    train(TINY, tmp_path / "plain", threads=1)
    train(replaced(average=0.9), tmp_path / "averaged", threads=1)
    plain, averaged = (
        read_tensors(tmp_path / name / STATE, state.FORMAT, state.VERSION)[1] for name in ("plain", "averaged")
    )
    trained = "net.policy_head.weight"
    assert torch.equal(plain[trained], averaged[trained])  # the average changes nothing that is learned
    assert torch.equal(averaged["average.policy_head.weight"], weights(tmp_path / "averaged")["policy_head.weight"])
    assert not torch.equal(averaged[trained], averaged["average.policy_head.weight"])


def test_the_chance_to_win_is_solved_when_it_is_time(tmp_path, monkeypatch) -> None:
    at = []
    solve = callback.solve_equity
    monkeypatch.setattr(
        callback, "solve_equity", lambda deals, *rest: at.append(len(deals.winners)) or solve(deals, *rest)
    )
    train(replaced(equity_rounds=2), tmp_path / "a", threads=1)
    assert len(at) == 2
    assert 0 < at[0] < at[1]
    train(TINY, tmp_path / "b", threads=1)
    assert len(at) == 2
    assert not same(weights(tmp_path / "a"), weights(tmp_path / "b"))


def test_seeds_count(tmp_path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(replaced(seed=seed, steps=256), tmp_path / name, threads=1)
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not same(weights(tmp_path / "a"), weights(tmp_path / "c"))


def test_the_log_has_each_step_once_after_a_resume(tmp_path) -> None:
    config = replaced(save_seconds=1e6)
    train(config, tmp_path / "whole", threads=1)

    def steps(folder: Path) -> list[float]:
        return [json.loads(line)["steps"] for line in (folder / "log.jsonl").read_text().splitlines()]

    broken = tmp_path / "broken"
    reports = []

    def on_progress(now: object) -> None:
        reports.append(now)
        if len(reports) == 3:  # what follows is not saved: the log is ahead of the state
            callback.RunCallback.save = lambda self: None  # type: ignore[method-assign]
        if len(reports) == 5:
            raise Killed

    original = callback.RunCallback.save
    try:
        with pytest.raises(Killed):
            train(TINY, broken, threads=1, on_progress=on_progress)
    finally:
        callback.RunCallback.save = original  # type: ignore[method-assign]
    with (broken / "log.jsonl").open("a") as file:
        file.write('{"steps": 1, "cut o')
    assert len(steps_or_cut(broken)) > 3
    train(TrainConfig(), broken, resume=True, threads=1)
    assert steps(broken) == steps(tmp_path / "whole") == [256 * (i + 1) for i in range(6)]


def steps_or_cut(folder: Path) -> list[str]:
    return (folder / "log.jsonl").read_text().splitlines()


def test_what_a_run_writes(tmp_path) -> None:
    folder = tmp_path / "new" / "run"
    reports = []
    config = replaced(name="mine", eval_seconds=1, eval_matches=2, steps=256 * 40, seed=9)
    result = train(config, folder, threads=1, on_progress=reports.append)
    assert result.checkpoint == folder / "mine.safetensors"
    info = read_info(result.checkpoint)
    assert (info.steps, info.seed, info.network.hidden) == (256 * 40, 9, (16,))
    assert info.training == {"algorithm": "self-play PPO", **config.to_dict()}
    assert read_config(folder / "config.json") == config
    assert any((folder / "tensorboard").iterdir())
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert len(lines) == 41
    assert lines[-1]["steps"] == lines[-2]["steps"]
    assert "eval/wins_novice" in lines[-1]  # what the run has come to
    # an update is logged with the rollout after it
    expected = {"steps", "rollout/entropy_share", "train/approx_kl", "train/clip_fraction", "train/explained_variance"}
    assert expected | {"train/ent_coef", "time/decisions_per_second"} <= set(lines[1])
    assert 0 < lines[0]["rollout/entropy_share"] <= 1.0001
    assert [report.done for report in reports] == sorted(report.done for report in reports)
    assert reports[-1].done == 1
    assert agents.load(str(result.checkpoint)).name == "mine"


def test_evaluations_are_logged_and_change_nothing(tmp_path, monkeypatch) -> None:
    train(TINY, tmp_path / "without", threads=1)
    clock = iter(range(10**6))
    monkeypatch.setattr(callback.time, "monotonic", lambda: float(next(clock)))
    train(replaced(eval_seconds=1, eval_matches=3), tmp_path / "with", threads=1)
    assert same(weights(tmp_path / "without"), weights(tmp_path / "with"))
    lines = [json.loads(line) for line in (tmp_path / "with" / "log.jsonl").read_text().splitlines()]
    seen = [line for line in lines if "eval/wins_novice" in line]
    assert len(seen) >= 3
    for name in TrainConfig().eval_opponents:
        short = name.rpartition(":")[2]
        line = seen[0]
        assert 0 <= line[f"eval/wins_{short}_low"] <= line[f"eval/wins_{short}"] <= line[f"eval/wins_{short}_high"] <= 1


def final(folder: Path) -> list[float]:
    """The results against the novice that a run has logged for its end."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [line["eval/wins_novice"] for line in lines if line["steps"] == STEPS and "eval/wins_novice" in line]


def test_the_last_evaluation_is_no_training_and_is_made_up_where_it_was_cut_off(tmp_path, monkeypatch) -> None:
    config = replaced(eval_matches=2)
    calls = []

    def slow(self, *_: object) -> Estimate:
        calls.append(self.evaluations)
        time.sleep(0.5)
        return Estimate(2, 0.6, 0.5, 0.7)

    def cut(self, *_: object) -> Estimate:
        raise Killed

    def interrupted(self, *_: object) -> Estimate:
        self.interrupted = True
        return slow(self)

    monkeypatch.setattr(callback.RunCallback, "_match", cut)
    with pytest.raises(Killed):
        train(config, tmp_path, threads=1)
    monkeypatch.setattr(callback.RunCallback, "_match", interrupted)
    before = train(TrainConfig(), tmp_path, resume=True, threads=1)
    assert (before.finished, before.steps, len(calls), final(tmp_path)) == (False, STEPS, 1, [])
    monkeypatch.setattr(callback.RunCallback, "_match", slow)
    notes = []
    result = train(TrainConfig(), tmp_path, resume=True, threads=1, on_progress=lambda now: notes.append(now.note))
    assert (result.finished, result.resumed_at, final(tmp_path)) == (True, STEPS, [0.6])
    assert result.seconds < before.seconds + 0.5
    assert notes[-2:] == ["evaluating", "60 % against novice, 60 % against expert"]
    assert train(TrainConfig(), tmp_path, resume=True, threads=1).finished
    assert (len(calls), final(tmp_path)) == (3, [0.6])


def test_of_several_kinds_of_games_the_bar_says_the_range(tmp_path, monkeypatch) -> None:
    wins = iter([0.3, 0.4, 0.52, 0.41])
    monkeypatch.setattr(callback.RunCallback, "_match", lambda *_: Estimate(2, next(wins), 0.2, 0.6))
    notes = []
    config = replaced(steps=256, players=[2, 3], eval_matches=2)
    train(config, tmp_path, threads=1, on_progress=lambda now: notes.append(now.note))
    assert notes[-1] == "30 to 52 % against novice, 40 to 41 % against expert"


def test_every_update_of_a_run_learns(tmp_path) -> None:
    """The last one too: schedules stand where its rollout began."""
    rates = []
    train(TINY, tmp_path, threads=1, on_progress=lambda _: rates.append(weights(tmp_path)["policy_head.weight"]))
    assert len(rates) == 7
    assert not any(torch.equal(one, next_) for one, next_ in itertools.pairwise(rates))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    logged = [line["train/learning_rate"] for line in lines if "train/learning_rate" in line]
    assert logged == pytest.approx([TINY.learning_rate * (1 - i / 6) for i in range(len(logged))])


def test_a_budget_in_minutes_ends_by_the_clock(tmp_path) -> None:
    config = replaced(steps=None, minutes=0.02)
    result = train(config, tmp_path, threads=1)
    assert result.finished
    assert result.seconds >= 1.2
    before = weights(tmp_path)
    assert train(TrainConfig(), tmp_path, resume=True, threads=1).finished
    assert same(weights(tmp_path), before)


# --- bad input and interruptions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("envs", "rollout", "minibatch"), [(1, 2, 2), (1, 3, 2), (3, 3, 2)])
def test_the_smallest_rollouts_train(envs, rollout, minibatch, tmp_path) -> None:
    config = replaced(envs=envs, rollout=rollout, minibatch=minibatch, steps=300, learning_rate=1e-3)
    assert train(config, tmp_path, threads=1).finished


def test_another_configuration_in_the_folder_is_refused(tmp_path) -> None:
    train(replaced(steps=256), tmp_path, threads=1)
    path = tmp_path / "config.json"
    data = json.loads(path.read_text())
    for change in ({"gamma": 0.5}, {"eval_matches": 3}, {"steps": 512}):
        path.write_text(json.dumps({**data, **change}))
        with pytest.raises(CheckpointError, match=f"another configuration: {next(iter(change))} was"):
            train(TrainConfig(), tmp_path, resume=True, threads=1)


def test_a_field_that_is_newer_than_the_run_has_its_default(tmp_path) -> None:
    train(replaced(steps=256), tmp_path, threads=1)
    resigned(tmp_path / STATE, lambda data: data["about"]["config"].pop("exploration"))
    assert train(TrainConfig(), tmp_path, resume=True, threads=1).finished


def resigned(path: Path, change) -> None:
    metadata, tensors = read_tensors(path, state.FORMAT, state.VERSION)
    change(metadata)
    write_tensors(path, metadata, tensors)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("counters", "steps", 10**400),
        ("counters", "steps", -1),
        ("counters", "updates", "many"),
        ("about", "seconds", "long"),
        ("about", "seconds", -1),
        ("about", "evaluations", 1.5),
        ("about", "equity_rounds", 10**400),
        ("about", "config", None),
    ],
)
def test_signed_states_that_make_no_sense_are_refused(part, name, value, tmp_path) -> None:
    train(replaced(steps=256), tmp_path, threads=1)
    resigned(tmp_path / STATE, lambda data: data[part].update({name: value}))
    with pytest.raises(CheckpointError, match=STATE):
        train(TrainConfig(), tmp_path, resume=True, threads=1)


def test_a_damaged_log_does_not_keep_a_run_from_going_on(tmp_path) -> None:
    break_off(tmp_path, TINY, after=2)
    with (tmp_path / "log.jsonl").open("ab") as file:
        file.write(b"\xff\xfe\n" + b"[" * 200_000 + b'\n{"steps": 1' + b"0" * 400 + b"}\n")
    assert train(TrainConfig(), tmp_path, resume=True, threads=1).finished
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["steps"] for line in lines] == [256 * (i + 1) for i in range(6)]


def test_the_catalogue_tells_what_is_wrong_in_one_line(tmp_path, capsys) -> None:
    for words in (["add", str(tmp_path)], ["rate", "nobody"]):
        assert told(lambda words=words: catalogue.main(words)) == 2
        assert capsys.readouterr().err.count("\n") == 1
    for words, code in ((["nonsense"], 2), (["add", "--help"], 0)):
        with pytest.raises(SystemExit) as stopped:
            catalogue.main(words)
        assert stopped.value.code == code
    assert "folder of the run" in capsys.readouterr().out


def test_a_damaged_state_is_refused(tmp_path) -> None:
    train(replaced(steps=256), tmp_path, threads=1)
    data = (tmp_path / STATE).read_bytes()
    for damaged in (data[:-1], data[:1000], b"", data[:-5000] + bytes([data[-5000] ^ 1]) + data[-4999:]):
        (tmp_path / STATE).write_bytes(damaged)
        with pytest.raises(CheckpointError):
            train(TrainConfig(), tmp_path, resume=True, threads=1)
    (tmp_path / STATE).write_bytes((tmp_path / "agent.safetensors").read_bytes())
    with pytest.raises(CheckpointError, match="not a chicago-training file"):
        train(TrainConfig(), tmp_path, resume=True, threads=1)


def test_a_state_of_another_run_is_refused(tmp_path) -> None:
    train(replaced(steps=256), tmp_path / "a", threads=1)
    for name, changes in (("players", {"players": [3]}), ("hidden", {"hidden": [8]}), ("envs", {"envs": 16})):
        train(replaced(steps=256, **changes), tmp_path / name, threads=1)
        (tmp_path / name / STATE).write_bytes((tmp_path / "a" / STATE).read_bytes())
        with pytest.raises(CheckpointError):
            train(TrainConfig(), tmp_path / name, resume=True, threads=1)


def test_a_run_that_diverges_keeps_the_state_before(tmp_path, monkeypatch) -> None:
    update = SelfPlayPPO.train
    calls = []

    def poisoned(self: SelfPlayPPO) -> None:
        calls.append(self)
        if len(calls) == 3:
            with torch.no_grad():
                self.policy.net.value_head.bias[0] = torch.nan
        update(self)

    monkeypatch.setattr(SelfPlayPPO, "train", poisoned)
    with pytest.raises(TrainingDiverged, match=STATE):
        train(TINY, tmp_path, threads=1)
    monkeypatch.setattr(SelfPlayPPO, "train", update)
    assert read_info(tmp_path / "agent.safetensors").steps == 2 * 256
    assert train(TrainConfig(), tmp_path, resume=True, threads=1).finished


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, capsys) -> None:
    out = tmp_path / "run"

    def interrupt() -> None:
        while not (out / "log.jsonl").exists() or not (out / "log.jsonl").read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    options = ["--steps", "10000000", "--hidden", "16", "--envs", "32", "--rollout", "8", "--eval-matches", "0"]
    assert chicago(["train", *options, "--threads", "1", "--out", str(out)]) == 130
    thread.join()
    assert f"chicago train --resume --out {out}" in capsys.readouterr().out
    steps = read_info(out / "agent.safetensors").steps
    assert 0 < steps < 10_000_000
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_a_kill_loses_nothing_that_was_saved(tmp_path) -> None:
    command = [sys.executable, "-m", "train", "--steps", "10000000", "--hidden", "16", "--envs", "32", "--rollout", "8"]
    command += ["--eval-matches", "0", "--save-seconds", "0", "--threads", "1", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = tmp_path / "run" / "log.jsonl"
    while not log.exists() or len(log.read_text().splitlines()) < 20:
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    steps = read_info(tmp_path / "run" / "agent.safetensors").steps
    assert steps > 0
    break_reports = []

    def stop(now) -> None:
        break_reports.append(now)
        if len(break_reports) > 3:
            raise Killed

    with pytest.raises(Killed):
        train(TrainConfig(), tmp_path / "run", resume=True, threads=1, on_progress=stop)
    # The checkpoint is written before the state: a kill between the two leaves the state one saving behind.
    assert break_reports[0].steps in {steps - 256, steps}
    assert break_reports[-1].steps == break_reports[0].steps + 3 * 256


def test_json_output(tmp_path, capsys) -> None:
    options = ["--steps", "256", "--hidden", "16", "--envs", "32", "--rollout", "8", "--eval-matches", "0"]
    assert chicago(["train", *options, "--json", "--threads", "1", "--out", str(tmp_path / "r")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["steps"] == 256
    assert Path(result["checkpoint"]).exists()
