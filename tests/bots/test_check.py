"""`chicago bot-check`: reference bots pass, broken ones are told what is wrong, with the message that showed it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents.bots import cli
from agents.bots.check import (
    MOST_FAILURES,
    MOST_OF_A_CHECK,
    MOST_TIMEOUTS,
    check_bot,
)
from agents.bots.limits import Limits
from agents.bots.situations import PLAYERS, RULES, situations
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
        ("empty", "INVALID", "an empty line"),
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
    assert len({failure.kind for failure in report.failures}) == len(report.failures)
    times = sum(failure.times for failure in report.failures)
    assert times <= MOST_FAILURES
    assert report.unchecked
    assert (failure.stderr[-1:] == ["ZeroDivisionError"]) == (what == "crash")


def test_what_is_not_checked_is_said_and_a_mistake_is_shown_once() -> None:
    report = check_bot([sys.executable, str(HERE / "bad_bot.py"), "illegal", "1"], PATIENT)
    (failure,) = report.failures
    assert failure.checks == {
        "slow: one question at a time, in pieces": MOST_OF_A_CHECK, "every kind of decision": MOST_OF_A_CHECK,
        "the same, many at once": MOST_FAILURES - 2 * MOST_OF_A_CHECK,
    }  # fmt: skip
    questions = len([s for rules in RULES for players in PLAYERS for s in situations(rules, players)])
    assert report.unchecked[1] == f"every kind of decision: {questions - MOST_OF_A_CHECK} of {questions} questions"
    assert report.unchecked[3:] == [
        "the same questions again", "matches side by side", "started anew in the middle of matches", "the end",
    ]  # fmt: skip


def test_timeouts_end_it_soon() -> None:
    report = check_bot([sys.executable, str(HERE / "bad_bot.py"), "hang", "1"], Limits(move=0.3, bank=0.1))
    (failure,) = report.failures
    assert (failure.status, failure.times) == ("TIMEOUT", MOST_TIMEOUTS)
    assert "every kind of decision" in report.unchecked
    silent = check_bot([sys.executable, str(HERE / "bad_bot.py"), "silent", "1"], Limits(start=0.3))
    assert [failure.reason[:30] for failure in silent.failures] == ["no hello within 0.3 s (start):"]
    assert len(silent.unchecked) == 7


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
    told = capsys.readouterr().out
    assert "is no action" in told
    assert "not checked, because of them:\n" in told
    sent = next(line for line in told.splitlines() if line.startswith("  it was sent: "))
    assert sent.startswith('  it was sent: {"type":"act","turn":')
    assert '"legal":[{"id":' in sent
    with pytest.raises(UsageError, match="no program"):
        cli.run(cli.Config("nothing-like-it"))
    assert cli.run(cli.Config(f"{PYTHON} -c 'raise SystemExit(3)'")) == 1
    told = capsys.readouterr().out
    assert "exit code 3" in told
    assert told.endswith("\n1 failure\n")
