"""Tables of figures: nothing is cut, however narrow it is."""

import io
import re

import pytest
from rich.console import Console

from chicago_env.figures import FigureTable, output_console, wrapped

NAMES = [
    "random",
    "heuristic:novice",
    "exec?move=5&bank=60:perl -w /home/somebody/a_folder/with-a-long-name/mybot.pl --fast",
]
FIGURES = ["81.2 [33.1, 100.0]", "+13.96 ± 2.53", "-10.5 ± 3.8", "1208 [-1117, 1294]", "4,250,000"]


def printed(width: int) -> list[str]:
    table = FigureTable(
        "2 players, pagat: 1,000 boards", ["match wins\n%", "points", "equity", "Elo", "moves/s"], names="agent"
    )
    for name in NAMES:
        table.add(name, FIGURES)
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(table)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 1000])
def test_no_figure_and_no_letter_of_a_name_is_cut(width: int) -> None:
    lines = printed(width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    for figure in FIGURES:
        assert text.count(figure) == len(NAMES)
    assert "…" not in text
    blank = re.compile(r"\s")
    assert blank.sub("", "2 players, pagat: 1,000 boards") in blank.sub("", text)
    without = blank.sub("", re.sub("|".join(map(re.escape, FIGURES)), "", text))
    assert all(blank.sub("", name) in without for name in NAMES)


def test_one_table_where_there_is_room_and_several_where_there_is_not() -> None:
    assert sum("agent" in line for line in printed(1000)) == 1
    assert sum("agent" in line for line in printed(120)) == 1
    assert sum("agent" in line for line in printed(40)) > 2


def test_names_break_at_marks() -> None:
    assert wrapped("heuristic:novice", 12) == "heuristic:\nnovice"
    assert wrapped("exec:perl /tmp/mybot.pl", 12) == "exec:perl\n/tmp\n/mybot.pl"
    assert wrapped("abcdefghij", 4) == "abcd\nefgh\nij"
    assert wrapped("short", 12) == "short"


def test_a_pipe_is_as_wide_as_is_needed(monkeypatch, capsys) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    output_console().print("x" * 500)
    assert capsys.readouterr().out == "x" * 500 + "\n"
    monkeypatch.setenv("COLUMNS", "60")
    output_console().print("x" * 500)
    assert capsys.readouterr().out.startswith("x" * 60 + "\n")
