"""A person at the table: answers of every kind, whole matches from a pipe and in a terminal, hints, records."""

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

import agents
from agents.play import LeftError, Screen, Session, addressed, choice_text, read_answer
from chicago_env.actions import ANNOUNCE, CALL, NO_CALL, OPEN, PASS, PLAY
from chicago_env.cards import CARD_NAMES, parse_cards
from chicago_env.cli import BAD_INPUT, INTERRUPTED, OK
from chicago_env.errors import ActionError
from chicago_env.game import Game
from chicago_env.records import read_records, record_of_game, verify_record
from chicago_env.rules import PRESETS
from train.cli import run

ROOT = Path(__file__).resolve().parent.parent
HAND = parse_cards("2C 7D TH QH AS")
PLAYS = [PLAY + card for card in HAND]
ALL = list(range(32))


@pytest.mark.parametrize(
    ("text", "legal", "exchange", "action"),
    [
        ("0", ALL, True, 0),
        (" KEEP  all ", ALL, True, 0),
        ("k", ALL, True, 0),
        ("1", ALL, True, 1),
        ("13", ALL, True, 5),
        ("3, 1", ALL, True, 5),
        ("12345", ALL, True, 31),
        ("2c as", ALL, True, 17),
        ("discard 7D", ALL, True, 2),
        ("1", PLAYS, False, PLAYS[0]),
        ("5", PLAYS, False, PLAYS[4]),
        ("as", PLAYS, False, PLAYS[4]),
        ("play AS", PLAYS, False, PLAYS[4]),
        ("pass", [PASS, ANNOUNCE + 1], False, PASS),
        ("pair", [PASS, ANNOUNCE + 1], False, ANNOUNCE + 1),
        ("2", [PASS, ANNOUNCE + 1], False, ANNOUNCE + 1),
        ("call chicago", [NO_CALL, CALL], False, CALL),
        ("open", [OPEN - 1, OPEN], False, OPEN),
    ],
)
def test_answers(text, legal, exchange, action) -> None:
    assert read_answer(text, legal, HAND, exchange=exchange) == action


@pytest.mark.parametrize(
    ("text", "legal", "exchange"),
    [
        ("6", ALL, True),
        ("11", ALL, True),
        ("3D", ALL, True),
        ("2C 2C", ALL, True),
        ("discard", ALL, True),
        ("31", [0], True),
        ("0", PLAYS, False),
        ("6", PLAYS, False),
        ("999", PLAYS, False),
        ("²", PLAYS, False),
        ("-1", PLAYS, False),
        ("3D", PLAYS, False),
        ("pair", PLAYS, False),
        ("nonsense" * 100, PLAYS, False),
        ("\x00\x1b[2J", ALL, True),
    ],
)
def test_answers_that_mean_nothing(text, legal, exchange) -> None:
    with pytest.raises(ActionError) as caught:
        read_answer(text, legal, HAND, exchange=exchange)
    assert len(str(caught.value)) < 1200


class Answers(Screen):
    """A person who answers at random, now and then with nonsense."""

    def __init__(self, seed: int, width: int = 100, encoding: str = "utf-8") -> None:
        self.raw = io.BytesIO()
        file = io.TextIOWrapper(self.raw, encoding, newline="\n")
        super().__init__(Console(file=file, width=width, highlight=False, force_terminal=False))
        self.rng = np.random.default_rng(seed)
        self.asked = 0

    def ask(self, prompt: str) -> str:
        self.asked += 1
        kinds = ["?", "t", "", "x", *[str(n) for n in range(1, 8)], "0", "13", "245"]
        return str(self.rng.choice(kinds, p=[0.03] * 4 + [0.88 / 10] * 10))

    @property
    def text(self) -> str:
        self.console.file.flush()
        return self.raw.getvalue().decode(self.console.file.encoding)


def session(screen, players=2, rules="pagat", seed=0, own=0, deals=2, hints=("heuristic:novice",)):
    game = Game(players, rules, seed=seed, max_deals=deals, scores=[20] * players)
    novice = agents.load("heuristic:novice")
    names = ["you" if seat == own else f"novice {seat}" for seat in range(players)]
    others = {seat: novice for seat in range(players) if seat != own}
    return Session(game, own, others, names, {name: agents.load(name) for name in hints}, screen)


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize(
    "rules", [*sorted(PRESETS), "open-card+four=choose+show_broken=yes+penalty=all+chicago_from=none"]
)
def test_whole_matches_under_all_rules(rules, players) -> None:
    width = (40, 60, 80, 100)[players % 4]
    screen = Answers(players, width)
    one = session(screen, players, rules, seed=players, own=players - 1)
    one.play()
    assert one.game.over
    assert screen.asked > 3
    assert verify_record(record_of_game(one.game, one.names)).deals <= 2
    lines = screen.text.splitlines()
    assert max(map(len, lines)) <= width
    assert any("The match is over" in line for line in lines)


def test_nothing_hidden_is_shown() -> None:
    """With the others' cards dealt anew, a person who keeps all sees the same up to the first thing that may differ."""
    decks = []
    for order in (1, -1):
        deck = list(range(52))
        others = [card for i, card in enumerate(deck[:10]) if i % 2]
        for place, card in zip(range(1, 10, 2), others[::order], strict=True):
            deck[place] = card
        decks.append(deck)

    def shown(deck):
        screen = Answers(0)
        one = session(screen)
        one.game = Game(2, "pagat", seed=0, decks=[deck], first_dealer=1, max_deals=1)
        screen.ask = lambda prompt: (_ for _ in ()).throw(LeftError)
        with pytest.raises(LeftError):
            one.play()
        return screen.text, [CARD_NAMES[card] for card in one.game.hand(1)]

    (first, hidden), (second, _) = map(shown, decks)
    assert first == second
    symbols = [name[0] + "♣♦♥♠"["CDHS".index(name[1])] for name in hidden]
    assert not any(symbol in first for symbol in symbols)


def test_hints_change_nothing() -> None:
    class Asking(Answers):
        def __init__(self, often: bool) -> None:
            super().__init__(0)
            self.often, self.turn = often, False

        def ask(self, prompt):
            self.turn = not self.turn
            return "?" if self.often and self.turn else "1"

    records = []
    for often in (True, False):
        screen = Asking(often)
        one = session(screen, 3, seed=8, hints=("random",))
        one.others = {seat: agents.load("random") for seat in one.others}  # which needs chance, as the hints do
        one.play()
        records.append(record_of_game(one.game))
        assert ("random: " in screen.text) == often
    assert records[0] == records[1]


def test_a_hint_of_a_network_has_chances_and_one_that_fails_says_so() -> None:
    def once(players):
        screen = Answers(0)
        given = iter(["?", "q"])
        screen.ask = lambda prompt: next(given)
        one = session(screen, players, seed=1, hints=("ppo-2p",))
        with pytest.raises(LeftError):
            one.play()
        return screen.text

    assert re.search(r"ppo-2p: (keep all|discard [^%]*) \d+%", once(2))
    assert "ppo-2p: act() raised SetupError: ppo-2p is made for 2 players, not for 3" in once(3)


def test_a_terminal_without_suits_gets_letters() -> None:
    screen = Answers(1, encoding="ascii")
    one = session(screen, 4, "open-card")
    one.play()
    assert re.search(r"\b[2-9TJQKA][cdhs]\b", screen.text)
    assert "?" not in screen.text.replace("hint", "").replace("? for a", "").replace(
        "as in 1 3; 0 keeps all. ?", ""
    ).replace("which?", "").replace("card?", "").replace("Chicago?", "").replace("all?", "")


def test_a_person_is_spoken_to() -> None:
    for told, said in {
        "you passes": "you pass",
        "you keeps all": "you keep all",
        "you does not call Chicago": "you do not call Chicago",
        "you +5 for the last trick": "you +5 for the last trick",
        "novice passes": "novice passes",
    }.items():
        assert addressed(Text(told)).plain == said


def test_cards_have_the_colours_of_their_suits() -> None:
    text = choice_text(5, HAND)
    assert text.plain == "discard 2♣ T♥"
    assert {str(span.style) for span in text.spans} >= {"green", "red"}


# --- the command ------------------------------------------------------------------------------------------------------


def piped(monkeypatch, capsys, answers: str, *words: str):
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    code = run(["play", "--seed", "3", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_match_from_a_pipe(monkeypatch, capsys, tmp_path) -> None:
    file = tmp_path / "mine.jsonl"
    words = ["--against", "random", "heuristic:novice", "--rules", "race", "--deals", "1", "--record", str(file)]
    for _ in range(2):
        code, out, err = piped(monkeypatch, capsys, "1\n" * 99, *words)
        assert (code, err) == (OK, "")
        assert "Undecided" in out or "You have" in out
    records = [record for _, record in read_records(file)]
    assert len(records) == 2
    assert records[0] == records[1]
    assert sorted(records[0]["names"]) == ["novice", "random", "you"]
    assert verify_record(records[0]).deals == 1
    assert "\x1b" not in out


def test_a_program_at_the_table_has_a_short_name_and_its_fault_is_told_plainly(monkeypatch, capsys) -> None:
    bot = f"exec?move=20:{sys.executable} -W ignore {Path(__file__).parent / 'bots' / 'bad_bot.py'}"
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = piped(monkeypatch, capsys, "0\nq\n", "--against", f"{bot} none 1", "--seed", "1", "--seat", "1")
    assert code == OK
    assert "  bad_bot keeps all" in out
    assert "│      bad_bot D " in out
    code, _, err = piped(monkeypatch, capsys, "0\n" * 9, "--against", f"{bot} word 1", "--seed", "1", "--seat", "1")
    assert code == BAD_INPUT
    assert re.search(
        r"error: agent exec\?move.* word 1: 'action': 'fold' is no action; .*; this ends the match; it wrote: ", err
    )
    assert "row" not in err


def test_the_end_of_input_leaves_the_table_and_keeps_the_record(monkeypatch, capsys, tmp_path) -> None:
    file = tmp_path / "mine.jsonl.gz"
    for answers in ("", "1\n", "1\n?\nq\n1\n"):
        code, out, err = piped(monkeypatch, capsys, answers, "--against", "heuristic:novice", "--record", str(file))
        assert (code, err) == (OK, "")
        assert "Left in deal 1. Points: " in out
    assert [record["result"] for _, record in read_records(file)] == [None] * 3


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--against", "nobody"], "no agent of that name"),
        (["--against", "random", "--hint", "nobody"], "no agent of that name"),
        (["--against", "random", "random", "--players", "4"], "one or 3 are needed"),
        (["--against", "random", "--players", "7"], "players"),
        (["--against", "random", "--rules", "x"], "pagat"),
        (["--against", "random", "--seat", "2"], "seat"),
        (["--against", "random", "--seed", "-1"], "seed"),
        (["--against", "random", "--deals", "0"], "max_deals"),
        (["--against", "random", "--record", "x.txt"], "jsonl"),
        (["--against", "random", "--record", "no/x.jsonl"], "No such file"),
        (["--against", "random", "--name", ""], "name"),
        (["--against", "ppo-2p", "ppo-2p"], "made for 2 players"),
    ],
)
def test_bad_input_is_told_before_anything_is_asked(monkeypatch, capsys, words, text) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(["play", *words]) == BAD_INPUT
    told = capsys.readouterr()
    assert text in told.err
    assert "Discard which" not in told.out


IN_A_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from train.cli import main; main()"


def in_a_terminal(words, steps, columns="60", **environment):
    """Runs the command in a pseudo-terminal; `steps` are (what to wait for, what to type). Gives its output and code."""
    own, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_TERMINAL, "play", *words],
        stdin=other, stdout=other, stderr=other, cwd=ROOT, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": columns, "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(other)
    seen, end = b"", time.monotonic() + 120
    try:
        for awaited, typed in [*steps, (None, b"")]:
            start = len(seen)
            while awaited is None or awaited not in seen[start:]:
                assert time.monotonic() < end, seen.decode()
                if select.select([own], [], [], 1)[0]:
                    try:
                        data = os.read(own, 65536)
                    except OSError:  # the other end is closed
                        data = b""
                    if not data:
                        break
                    seen += data
            if typed:
                os.write(own, typed)
        return seen.decode(), process.wait(20)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(own)


def test_a_terminal_and_ctrl_c(tmp_path) -> None:
    file = tmp_path / "mine.jsonl"
    words = ["--against", "heuristic:novice", "--seed", "3", "--record", str(file)]
    out, code = in_a_terminal(words, [(b"\n> ", b"?\r"), (b"expert: ", b"12\r"), (b"> ", b"\x03")])
    assert code == INTERRUPTED
    assert "chicago: interrupted" in out
    assert "Traceback" not in out
    assert "\x1b[3" in out
    ((_, record),) = read_records(file)
    assert [event[0] for event in record["deals"][0]["events"]].count("exchange") >= 1


def test_a_terminal_without_colour_and_ctrl_d() -> None:
    out, code = in_a_terminal(["--against", "heuristic:novice"], [(b"\n> ", b"\x04")], NO_COLOR="1")
    assert code == OK
    assert "Left in deal 1" in out
    assert not re.search("\x1b\\[(?:[0-9;]*;)?(?:3[0-9]|4[0-9]|9[0-9])", out)
