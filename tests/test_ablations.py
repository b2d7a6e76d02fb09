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
        assert differs == set(changes)
        seen.append(found["name"])
    assert len(set(seen)) == len(VARIANTS)


def test_the_table_is_written_and_finished_runs_are_kept(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(ablations, "BASE", dataclasses.replace(BASE, teacher=None, **SMALL))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- generated: ablations -->\n<!-- end -->\nafter\n", "utf-8")
    words = ["--steps", "512", "--boards", "3", "--folder", str(tmp_path / "runs"), "--page", str(page), "--variants"]
    assert main([*words, "seed 2"]) == 0
    lines = page.read_text("utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert [line.split(" |")[0] for line in lines if line.startswith("| ")] == ["| variant", "| base", "| seed 2"]
    assert "0.000512 million decisions" in page.read_text("utf-8")
    checkpoint = tmp_path / "runs" / "seed-2" / "seed-2.safetensors"
    made = checkpoint.stat().st_mtime_ns
    assert main([*words, "seed 2", "average .99"]) == 0
    assert checkpoint.stat().st_mtime_ns == made
    found = json.loads((tmp_path / "runs" / "average-.99" / "result.json").read_text("utf-8"))
    assert found["steps"] == 512
    assert found["boards"] == found["wins"]["base"][0] == found["wins"]["expert"][0] == 3
    capsys.readouterr()


def test_what_cannot_be_is_told_before_anything_is_trained(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing generated", "utf-8")
    with pytest.raises(UsageError, match="there is no other"):
        main(["--variants", "other", "--page", str(page)])
    with pytest.raises(ValueError, match="no place for the table"):
        main(["--page", str(page), "--folder", str(tmp_path / "runs")])
    assert not (tmp_path / "runs").exists()
