"""`chicago bot-check`: reference bots pass, broken ones are told what is wrong, with the message that showed it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents.bots import cli
from agents.bots.check import check_bot
from agents.bots.limits import Limits
from chicago_env.errors import UsageError
from tests.bots.common import EXAMPLES, HERE, PYTHON

PATIENT = Limits(move=20, bank=60)


def reference(language: str, tmp_path: Path) -> list[str]:
    if language == "python":
        return [sys.executable, "-I", "-S", str(EXAMPLES / "bot.py")]
    needed = {"node": "node", "c": "gcc"}[language]
    if shutil.which(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if language == "node":
        return ["node", str(EXAMPLES / "bot.js")]
    made = tmp_path / "bot"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, EXAMPLES / "bot.c"], check=True)
    return [str(made)]


@pytest.mark.parametrize("language", ["python", "node", "c"])
def test_reference_bots_pass(language: str, tmp_path) -> None:
    report = check_bot(reference(language, tmp_path), PATIENT)
    assert report.failures == []
    assert report.ok
    assert report.notes == []
    assert all(count > 0 for kind, count in report.kinds.items() if kind != "over")
    assert report.name is not None
    assert report.name.startswith("reference-")


def test_reference_bots_are_short() -> None:
    assert {path.suffix: len(path.read_text().splitlines()) < 100 for path in EXAMPLES.iterdir()} == {
        ".py": True, ".js": True, ".c": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("what", "status", "words"),
    [
        ("garbage", "INVALID", "not UTF-8"),
        ("illegal", "INVALID", "not legal"),
        ("crash", "ERROR", "exit code 1"),
        ("turn", "INVALID", "'turn' is not"),
        ("twice", "INVALID", ""),
        ("old", "INVALID", "protocol is not 1"),
    ],
)
def test_broken_bots_are_caught_with_the_message_that_showed_it(what: str, status: str, words: str) -> None:
    report = check_bot([sys.executable, str(HERE / "bad_bot.py"), what, "5"], PATIENT)
    assert not report.ok
    failure = report.failures[0]
    assert failure.status == status
    assert words in failure.reason
    assert failure.message is not None
    assert failure.message["type"] == ("hello" if what == "old" else "act")
    json.dumps(report.to_json())


def test_a_bot_that_does_not_end_is_told_so() -> None:
    report = check_bot([sys.executable, str(HERE / "bad_bot.py"), "stays", "1"], PATIENT)
    assert {failure.check for failure in report.failures} == {"the end"}
    assert len(report.failures) == 2


def test_the_command(capsys) -> None:
    bad = f"exec?move=20:{PYTHON} {HERE / 'bad_bot.py'} word 7"
    assert cli.run(cli.Config(bad, json=True)) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert told["failures"][0]["message"]["legal"]
    assert "fold" in told["failures"][0]["line"]
    assert cli.run(cli.Config(bad)) == 1
    assert "is no action" in capsys.readouterr().out
    with pytest.raises(UsageError, match="no program"):
        cli.run(cli.Config("nothing-like-it"))
