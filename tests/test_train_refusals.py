"""What a run refuses before it trains."""

import pytest
import torch

from agents.checkpoint import SUFFIX
from agents.networks import MAX_LAYERS, MAX_WIDTH
from chicago_env.errors import UsageError
from tests.train_runs import TINY, replaced
from train import config as config_module
from train import run as run_module
from train.cli import run as chicago
from train.config import STATE, read_config
from train.run import train


def test_a_folder_that_holds_a_run_is_left_alone(tmp_path) -> None:
    train(replaced(steps=256), tmp_path, threads=1)
    before = (tmp_path / STATE).read_bytes()
    with pytest.raises(UsageError, match="holds a run already"):
        train(TINY, tmp_path)
    assert (tmp_path / STATE).read_bytes() == before
    with pytest.raises(UsageError, match="no run to resume"):
        train(TINY, tmp_path / "other", resume=True)
    with pytest.raises(UsageError, match=r"resumed as it began: hidden is \[16\] there, not \[4, 4\]"):
        train(replaced(steps=256, hidden=[4, 4]), tmp_path, resume=True)
    assert not (tmp_path / "other").exists()


def test_a_folder_that_cannot_be_written_is_told_before_training(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(run_module, "make_model", lambda _: pytest.fail("training began"))
    (tmp_path / "file").write_text("")
    assert chicago(["train", "--steps", "256", "--out", str(tmp_path / "file" / "run")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(tmp_path / "file") in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--players", "7"], "players"),
        (["--rules", "paget"], "did you mean pagat"),
        (["--minutes", "1", "--steps", "5"], "minutes or steps, not both"),
        (["--name", "../x"], "no plain file name"),
        (["--hidden", "0"], "hidden: 0 is not within"),
        (["--critic-hidden", "0"], "critic_hidden: 0 is not within"),
        (["--locations", "-1"], "locations: -1.0 is not within"),
        (["--gae-lambda", "2"], "gae_lambda: 2.0 is not within 0 to 1"),
        (["--learning-rate", "nan"], "learning_rate: nan is not within"),
        (["--seed", "-1"], "seed: -1"),
        (["--reward", "fame"], "reward"),
        (["--device", "tpu"], "device"),
        (["--nonsense"], "nonsense"),
        (["--teacher-share", "0.3"], "teacher_share says nothing without teacher"),
        (["--reward", "points", "--equity-rounds", "2"], "equity_rounds says nothing without reward equity"),
        (["--points-scale", "5"], "points_scale says nothing without reward points"),
        (["--critic-hidden", "64"], "critic_hidden says nothing without critic state"),
        (["--vine-answers", "3"], "vine_answers says nothing without vine"),
        (["--past-snapshots", "3"], "past_snapshots says nothing without past_share"),
        (["--envs", "8", "--rollout", "4", "--vine", "33"], "vine: 33 are more than the 32 decisions of an update"),
    ],
)
def test_bad_options_are_told_in_one_line(options, message, capsys) -> None:
    assert chicago(["train", *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"learning_rat": 1}', "did you mean learning_rate"),
        ('{"envs": "many"}', "config.json"),
        ('{"envs": 0}', "envs: 0 is not within"),
        ("[]", "JSON object"),
        ("{", "cannot be read"),
        ("[" * 200_000, "cannot be read"),
        ('{"reward": "pints"}', "reward: 'pints' is not one of equity, points, win"),
        ('{"precision": "bf16"}', "precision"),
        ('{"epochs": true}', "epochs: True is not a whole number"),
        ('{"rollout": 3.5}', r"rollout: 3\.5 is not a whole number"),
        ('{"eval_matches": 1.5}', "eval_matches"),
        ('{"hidden": [8.5]}', "hidden: .* is not a tuple of whole numbers"),
        ('{"hidden": 512}', "hidden"),
        ('{"hidden": [8, 8, 8, 8, 8, 8, 8, 8, 8]}', "hidden: 1 to 8 layers"),
        ('{"critic_hidden": []}', "critic_hidden: 1 to 8 layers"),
        ('{"clip": null}', "clip: None is not a number"),
        ('{"minutes": "20"}', "minutes"),
        ('{"name": 5}', "name: 5 is not text"),
        ('{"name": "a\\u0000"}', "no plain file name"),
        ('{"name": "a\\udcff"}', "no plain file name"),
        (f'{{"name": "{"a" * 300}"}}', "no plain file name"),
        ('{"name": "State"}', "is taken"),
        ('{"opponents": ["random"]}', "opponents and opponent_share: give both or neither"),
        ('{"opponent_share": 0.1}', "opponents and opponent_share: give both or neither"),
        ('{"opponents": ["random"], "opponent_share": -1}', "opponent_share: -1 is not within 0 to 1"),
        ('{"opponents": ["random", "random"], "opponent_share": 0.1}', "opponents: 'random random': .* none twice"),
        ('{"opponents": ["random"], "opponent_share": 0.6, "past_share": 0.5}', "more than 1 together"),
    ],
)
def test_configurations_with_mistakes_are_refused(tmp_path, text, message) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_config(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(tmp_path / "missing")


@pytest.mark.parametrize("option", ["teacher", "opponents", "init"])
def test_an_agent_for_another_game_is_refused_before_anything_is_written(option, tmp_path, capsys) -> None:
    words = ["--opponent-share", "0.5"] if option == "opponents" else []
    out = tmp_path / "run"
    assert chicago(["train", "--players", "3", f"--{option}", "ppo-2p", *words, "--out", str(out)]) == 2
    assert "ppo-2p" in capsys.readouterr().err
    assert not list(out.iterdir())


def test_limits_of_layers_are_those_of_networks() -> None:
    assert config_module._MAX_LAYERS == MAX_LAYERS
    assert ("hidden", 1, MAX_WIDTH) in config_module._RANGES
    assert config_module._SUFFIX == SUFFIX


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threads", "0"], "threads: 0"),
        (["--threads", "5000"], "threads: 5000"),
        (["--device", "cuda"], "cuda is not available"),
    ],
)
def test_what_the_machine_has_not_is_told_before_the_folder_is_made(
    options, message, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert chicago(["train", *options, "--steps", "256", "--out", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_folder_in_the_place_of_a_file_is_told_before_training(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(run_module, "make_model", lambda _: pytest.fail("training began"))
    (tmp_path / "agent.safetensors").mkdir()
    with pytest.raises(OSError, match=r"agent\.safetensors"):
        train(TINY, tmp_path)


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 5 bytes")]
)
def test_too_little_memory_is_told(error, tmp_path, monkeypatch) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(run_module, "make_model", fail)
    with pytest.raises(UsageError, match="memory does not suffice"):
        train(TINY, tmp_path)
    error = RuntimeError("another")
    with pytest.raises(RuntimeError, match="another"):
        train(TINY, tmp_path)
