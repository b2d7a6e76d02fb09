"""What each option is worth: every variant is a possible run that differs from the base, and finished ones are kept."""

import dataclasses
import json
from pathlib import Path

import pytest

from chicago_env.errors import UsageError
from train import ablations
from train.ablations import BASE, VARIANTS, config_of, main

SMALL = {"hidden": (16,), "envs": 32, "rollout": 8, "minibatch": 64}


def test_every_variant_differs_in_its_option_alone() -> None:
    base = config_of("base", 1000).to_dict()
    seen = []
    for variant, changes in VARIANTS.items():
        found = config_of(variant, 1000).to_dict()
        differs = {name for name in base if found[name] != base[name]} - {"name"}
        assert differs == {name for name in changes if changes[name] != base[name]}
        seen.append(found["name"])
    assert len(set(seen)) == len(VARIANTS)


@pytest.fixture
def small(monkeypatch) -> None:
    monkeypatch.setattr(ablations, "BASE", dataclasses.replace(BASE, teacher=None, teacher_share=0.1, **SMALL))
    kept = {name: VARIANTS[name] for name in ("seed 2", "average .99")}
    monkeypatch.setattr(ablations, "VARIANTS", kept)


def test_the_table_is_made_and_finished_runs_are_kept(small, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "runs"
    words = ["--steps", "512", "--boards", "3", "--folder", str(folder)]
    assert main([*words, "--variants", "seed 2"]) == 0
    table = capsys.readouterr().out
    assert [line.split(" |")[0] for line in table.splitlines() if line.startswith("| ")] == [
        "| variant", "| base", "| seed 2",
    ]  # fmt: skip
    assert "0.000512 million decisions" in table
    checkpoint = folder / "seed-2" / "seed-2.safetensors"
    made = checkpoint.stat().st_mtime_ns
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- generated: ablations -->\n<!-- end -->\nafter\n", "utf-8")
    assert main([*words, "--page", str(page)]) == 0
    assert checkpoint.stat().st_mtime_ns == made
    lines = page.read_text("utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert sum(line.startswith(("| base", "| seed 2", "| average .99")) for line in lines) == 3
    found = json.loads((folder / "average-.99" / "result.json").read_text("utf-8"))
    assert found["steps"] == 512
    assert found["boards"] == found["wins"]["base"][0] == found["wins"]["expert"][0] == 3


def test_results_are_of_the_base_that_is_there(small, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "runs"
    words = ["--steps", "512", "--boards", "3", "--folder", str(folder), "--variants", "seed 2"]
    assert main(words) == 0
    before = json.loads((folder / "seed-2" / "result.json").read_text("utf-8"))
    other = (folder / "seed-2" / "seed-2.safetensors").read_bytes()
    (folder / "base" / "base.safetensors").write_bytes(other)
    assert main(words) == 0
    after = json.loads((folder / "seed-2" / "result.json").read_text("utf-8"))
    assert after["played"] != before["played"]
    assert after["wins"]["base"][1] == 0.5  # against itself
    capsys.readouterr()


def test_runs_of_another_budget_are_refused(small, tmp_path: Path, capsys) -> None:
    words = ["--boards", "3", "--folder", str(tmp_path), "--variants", "seed 2"]
    assert main([*words, "--steps", "512"]) == 0
    with pytest.raises(UsageError, match=r"base holds a run of another kind \(steps 512, not 1024\)"):
        main([*words, "--steps", "1024"])
    capsys.readouterr()


def test_what_cannot_be_is_told_before_anything_is_trained(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing generated", "utf-8")
    with pytest.raises(UsageError, match="there is no other"):
        main(["--variants", "other"])
    with pytest.raises(UsageError, match="a page takes the table of all variants"):
        main(["--variants", "seed 2", "--page", str(page)])
    with pytest.raises(UsageError, match="no place for the table"):
        main(["--page", str(page), "--folder", str(tmp_path / "runs")])
    assert not (tmp_path / "runs").exists()
