"""Programs as agents: they play as agents in the process do, and whatever they do wrong is recorded while the event goes on."""

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import agents
from agents import AgentError, AgentSpecError
from agents.bots.agent import BotAgent
from chicago_env.game import Game
from chicago_env.setup import MatchSetup
from eval.faults import FAULT_PENALTY
from eval.play import Games, play_games
from tests.bots.common import EXAMPLES, PYTHON, First, bad_bot, processes_with, reference_bot
from tests.test_eval_play import small_event
from train.cli import run

RANDOM = agents.load("random")


def play(bot: agents.Agent, event: tuple, **options) -> Games:
    setups, boards, seating = event
    try:
        return play_games({"a": RANDOM, "bot": bot}, setups, boards, seating, 17, **options)
    finally:
        if isinstance(bot, BotAgent):
            bot.close()


@pytest.mark.parametrize(
    ("players", "rules", "kind"),
    [(2, "pagat", "deal"), (3, "open-card", "match"), (6, "race", "deal"), (4, "family", "match")],
)
def test_a_program_plays_as_the_same_agent_in_the_process(players: int, rules: str, kind) -> None:
    event = small_event(players, rules, kind, 3)
    inside = play(First(), event, keep_choices=True)
    outside = play(bad_bot("none", move=30), event, keep_choices=True)
    assert (outside.gains == inside.gains).all()
    assert (outside.winner == inside.winner).all()
    assert outside.choices == inside.choices
    assert outside.faults == ()


def test_a_program_answers_without_following() -> None:
    bot = reference_bot()
    observations, masks = zip(
        *(Game(players, rules, seed=players).observe() for players in range(2, 7) for rules in ("pagat", "race")),
        strict=True,
    )
    answers = agents.ask(bot, np.array(observations), np.array(masks), np.random.default_rng(1))
    again = agents.ask(bot, np.array(observations), np.array(masks), np.random.default_rng(2))
    assert (answers == again).all()
    assert isinstance(bot, BotAgent)
    bot.close()


STATUS = {
    "crash": "ERROR", "exit": "ERROR", "signal": "ERROR", "close": "ERROR", "hang": "TIMEOUT", "burn": "TIMEOUT",
    **dict.fromkeys(
        ("flood", "lines", "garbage", "empty", "text", "list", "deep", "number", "nan", "float", "null", "true", "illegal",
         "range", "negative", "word", "turn", "key", "kind", "missing", "double", "twice"), "INVALID"),
}  # fmt: skip


@pytest.mark.parametrize(("what", "status"), STATUS.items())
def test_every_fault_is_recorded(what: str, status: str) -> None:
    bot = bad_bot(what, 6)
    games = play(bot, small_event(2, "pagat", "deal", 3), on_fault="forfeit", max_faults=4)
    assert games.faults
    for fault in games.faults:
        assert (fault.agent, fault.status) == ("bot", status), fault
        assert fault.reason
        assert bool(fault.line) == (status == "INVALID" and what != "empty"), fault
        assert fault.line.isprintable() or not fault.line
        if not games.forfeited[fault.game].any():
            assert games.gains[fault.game, fault.seat] == -FAULT_PENALTY
    assert bot.runs >= len(games.faults)


@pytest.mark.parametrize(("what", "status"), [("silent", "TIMEOUT"), ("old", "INVALID")])
def test_a_bot_that_does_not_greet_is_out(what: str, status: str) -> None:
    games = play(bad_bot(what, start=0.5), small_event(2, "pagat", "match", 3), on_fault="forfeit", max_faults=2)
    assert [fault.status for fault in games.faults] == [status] * 2
    assert games.forfeited.any()


def test_faults_cost_the_deal_and_no_more() -> None:
    """What is won after a fault counts, and results do not depend on how many games went on at once."""
    setups, boards, seating = event = small_event(2, "pagat", "match", 3)
    options = {"on_fault": "forfeit", "max_faults": None}
    whole = play(bad_bot("garbage", 25, move=20), event, **options)
    assert len(whole.faults) > 0
    for i in range(0, len(setups), 2):
        alone = play(
            bad_bot("garbage", 25, move=20), (setups[i : i + 1], boards[i : i + 1], seating[i : i + 1]), **options
        )
        assert (alone.gains[0] == whole.gains[i]).all()
        assert [f._replace(game=i) for f in alone.faults] == [f for f in whole.faults if f.game == i]


def test_without_forfeits_a_fault_is_raised() -> None:
    with pytest.raises(AgentError, match=r"not legal") as caught:
        play(bad_bot("illegal", 3), small_event(2, "pagat", "deal", 2))
    assert caught.value.status == "INVALID"


def test_the_bank_pays_for_late_answers_until_it_is_used_up() -> None:
    code = (
        "import sys, json, time\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if m['type'] == 'hello': a = {'type': 'hello', 'protocol': 1, 'name': 'late', 'version': '1'}\n"
        "    elif m['type'] == 'act': time.sleep(0.3); a = {'type': 'action', 'turn': m['turn'], 'action': m['legal'][0]['id']}\n"
        "    else: continue\n"
        "    print(json.dumps(a), flush=True)\n"
    )
    from agents.bots.limits import Limits

    setups = [MatchSetup.make(2, "pagat", seed=1, max_deals=1)]
    event = setups, np.arange(1), np.array([[0, 1]])
    patient = play(BotAgent([sys.executable, "-c", code], Limits(move=0.05, bank=60)), event, on_fault="forfeit")
    assert patient.faults == ()
    hasty = play(BotAgent([sys.executable, "-c", code], Limits(move=0.05, bank=0.4)), event, on_fault="forfeit")
    assert [fault.status for fault in hasty.faults] == ["TIMEOUT"]
    assert hasty.faults[0].decision == 1  # the first late answer was paid for


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("exec:", "no command"),
        ("exec", "no command"),
        ("exec:'unfinished", "No closing quotation"),
        ("exec:no-such-program-here x", "no program 'no-such-program-here'"),
        ("exec?move=x:true", "option move: 'x' is not allowed: a number is needed"),
        ("exec?memory=1.5:true", "option memory: '1.5' is not allowed: a whole number is needed"),
        ("exec?move=0:true", "option move"),
        ("exec?memory=nan:true", "option memory"),
        ("exec?speed=1:true", "unknown option 'speed'"),
        ("exec?move=1&move=2:true", "given twice"),
    ],
)
def test_bad_specs(spec: str, words: str) -> None:
    with pytest.raises(AgentSpecError, match=words):
        agents.load(spec)


def test_specs() -> None:
    bot = agents.load("exec?move=2.5&bank=7&memory=300:sh -c 'a b' *.py")
    assert isinstance(bot, BotAgent)
    assert bot.command[1:] == ["-c", "a b", "*.py"]
    assert (bot.limits.move, bot.limits.bank, bot.limits.memory) == (2.5, 7, 300)
    assert isinstance(pickle.loads(pickle.dumps(bot)), BotAgent)  # noqa: TID251  # made here, and sent to workers so
    assert agents.load("exec:true --weights x.safetensors").name == "exec:true --weights x.safetensors"


def torture(games: int, every: int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    what = "crash,exit,garbage,illegal,flood,lines,children,turn,double,hang,signal,twice"
    setups = [MatchSetup.make(2, "pagat", seed=seed, max_deals=1) for seed in range(games)]
    event = setups, np.arange(games), np.tile([[0, 1], [1, 0]], (games // 2, 1))
    result = play(bad_bot(what, every, move=0.5, bank=0), event, on_fault="forfeit", max_faults=None)
    assert (result.deals == 1).all()
    assert not result.forfeited.any()
    faulty = {fault.game for fault in result.faults}
    assert len(faulty) == len(result.faults) > games // 100
    assert {fault.status for fault in result.faults} == {"ERROR", "INVALID", "TIMEOUT"}
    for fault in result.faults:
        assert fault.agent == "bot"
        assert event[2][fault.game, fault.seat] == 1
        assert result.gains[fault.game].tolist() == [-FAULT_PENALTY if s == fault.seat else 0 for s in range(2)]
    clean = [i for i in range(games) if i not in faulty]
    plain = play(First(), event)
    assert (result.gains[clean] == plain.gains[clean]).all()
    assert processes_with(str(tmp_path)) == []
    assert list(tmp_path.glob("chicago-bot-*")) == []


def test_torture_short(tmp_path, monkeypatch) -> None:
    torture(200, 12, tmp_path, monkeypatch)


@pytest.mark.slow
def test_torture(tmp_path, monkeypatch) -> None:
    torture(10_000, 150, tmp_path, monkeypatch)


@pytest.mark.slow
def test_the_command_line_takes_a_program(tmp_path) -> None:
    spec = f"exec:{PYTHON} {EXAMPLES / 'bot.py'}"
    done = subprocess.run(
        [sys.executable, "-c", "from train.cli import main; main()", "eval", "rank", spec, "random",
         "--boards", "4", "--matches", "2"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent.parent), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert processes_with(str(tmp_path)) == []


def test_a_program_that_cannot_greet_is_refused_before_anything_is_played(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spec = f"exec:{PYTHON} nothing-like-it.py"
    rest = ["--boards", "2", "--matches", "0"]
    for words in (
        ["eval", "match", spec, "random", *rest],
        ["eval", "sprt", "random", spec],
        ["play", "--against", spec],
    ):
        assert run(words) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        last = shown.err.splitlines()[-1]
        assert f"agent {spec} does not say hello: ended with exit code 2; last on its standard error: " in last
        assert "nothing-like-it.py': [Errno 2]" in last
    assert processes_with(str(tmp_path)) == []


COMPLAINS = (
    "import sys\nsys.stderr.write('oh no\\n')\nfor line in sys.stdin:\n"
    "    hello = 'hello' in line\n"
    '    print(\'{"type":"hello","protocol":1,"name":"x","version":"1"}\' if hello else \'x\', flush=True)\n'
)
"""A bot that greets, writes to its standard error and answers nonsense."""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_ranking_names_the_logs_of_programs_that_failed(workers: int, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "bot.py").write_text(COMPLAINS)
    spec = f"exec:{PYTHON} {tmp_path / 'bot.py'}"
    words = ["--boards", "2", "--matches", "0", "--rows", "2", "--workers", str(workers)]
    assert run(["eval", "rank", spec, "random", *words]) == 0
    said = capsys.readouterr().err.splitlines()
    told = [line.rpartition(": ")[2] for line in said if line.startswith(f"standard error of {spec}: ")]
    # which of two processes plays what is chance: one may have had nothing to do
    assert 1 <= len(set(told)) == len(told) <= workers
    for log in told:
        assert set(Path(log).read_text().split("\n")) == {"oh no", ""}


def test_an_error_names_the_line_and_the_log(tmp_path) -> None:
    log = tmp_path / "log"
    bot = BotAgent([sys.executable, "-c", COMPLAINS], log=str(log), name="bot")
    observation, mask = Game(2, "pagat", seed=1).observe()
    with pytest.raises(AgentError) as caught:
        bot.act(observation[None], mask[None], np.random.default_rng(1))
    assert str(caught.value).startswith("agent bot, row 0: not JSON")
    assert str(caught.value).endswith(f"; it wrote: x; its standard error: {log}")
    bot.close()
