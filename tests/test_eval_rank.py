"""Rankings: what they compute, that they are the same however they are played, the command line and the report."""

import base64
import dataclasses
import html.parser
import json
import os
import re
import sys
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import agents
from agents.registry import REGISTRY, Entry, checkpoints
from chicago_env.errors import MissingExtra, RulesError, SetupError
from chicago_env.layout import layout_hash
from chicago_env.records import read_records, verify_record
from eval import Progress, Ranking, rank
from eval.commands.outputs import by_name, name_of
from eval.entrants import entrant_of
from eval.plan import check_plan
from eval.play import Games
from eval.ranking import ranking_of
from eval.scores import score_games
from eval.sources import COLUMNS, POINTS
from eval.store import Store
from eval.tables import oriented
from train.cli import run

RANDOM = agents.load("random")
NOVICE = agents.load("heuristic:novice")


class First:
    """Takes the first legal action."""

    name = "first"

    def act(self, observations, masks, rng):
        return masks.argmax(axis=1)


THREE = {"random": RANDOM, "novice": NOVICE, "first": First()}


@pytest.fixture(scope="module")
def three() -> Ranking:
    return rank(THREE, boards=60, matches=12, max_deals=30, seed=4)


# --- scores -----------------------------------------------------------------------------------------------------------


def test_scores_of_two_player_games() -> None:
    gains, winners = np.array([[5, 2], [5, 2], [-15, 0], [1, 1]]), np.array([0, 0, 1, -1])
    is_first = np.array([[True, False], [False, True], [True, False], [False, True]])
    points, wins, winner = score_games(gains, winners, is_first)
    assert points.tolist() == [3, -3, -15, 0]
    assert wins.tolist() == [2, 0, 0, 1]  # halves
    assert winner.tolist() == [0, 1, 1, -1]


def test_scores_of_one_against_three() -> None:
    gains, winners = np.array([[6, 1, 2, 3], [6, 1, 2, 3], [0, 0, 5, 0], [0, 0, 5, 0]]), np.array([0, 0, -1, -1])
    is_first = np.array([[True, False, False, False], [False, True, True, True]] * 2)
    points, wins, winner = score_games(gains, winners, is_first)
    # three times the difference of the means: 6 - 2 and 2 - 6; 0 - 5/3 and 5/3 - 0
    assert points.tolist() == [12, -12, -5, 5]
    # quarters; nobody's win is shared out over the seats
    assert wins.tolist() == [4, 0, 1, 3]
    assert winner.tolist() == [0, 1, -1, -1]


# --- rankings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 5])
def test_an_agent_against_itself_is_exactly_even_on_every_board(players: int) -> None:
    twins = {"a": RANDOM, "b": agents.load("random")}
    ranking = rank(twins, players=players, boards=20, matches=5, max_deals=5)
    (pair,) = ranking.pairs
    assert pair.points == (20, 0, 0, 0)
    assert pair.wins.mean == 0.5
    assert pair.equity == (20, 0, 0, 0)
    assert ranking.rows[0].sources == ranking.rows[1].sources
    assert pair.games["deals"] == 20 * (2 if players == 2 else 2 * players)
    assert pair.games["won_by_first"] == pair.games["won_by_second"]
    assert [row.points.mean for row in ranking.rows] == [0, 0]


@pytest.mark.parametrize("players", [2, 4])
def test_novice_beats_random(players: int) -> None:
    ranking = rank({"random": RANDOM, "novice": NOVICE}, players=players, boards=300, matches=40, max_deals=60)
    best, worst = ranking.rows
    assert (best.name, worst.name) == ("novice", "random")
    assert best.points.low is not None
    assert best.points.low > 2
    assert best.wins.low is not None
    assert best.wins.low > 0.7
    assert worst.points.mean == -(best.points.mean or 0)
    assert best.rating is not None
    assert best.rating.elo > 100
    assert best.equity.low is not None
    assert best.equity.low > 0
    assert best.equity.mean == pytest.approx(-(worst.equity.mean or 0))
    assert sum(best.sources[name] for name in POINTS) - sum(worst.sources[name] for name in POINTS) > 0


def test_every_pair_is_seen_from_both_sides(three: Ranking) -> None:
    assert [(pair.first, pair.second) for pair in three.pairs] == [
        ("random", "novice"),
        ("random", "first"),
        ("novice", "first"),
    ]
    by_name = {row.name: row for row in three.rows}
    for name, row in by_name.items():
        points = [
            pair.points.mean * (1 if pair.first == name else -1)
            for pair in three.pairs
            if name in (pair.first, pair.second)
        ]
        assert row.points.mean == pytest.approx(sum(points) / 2)
        assert row.points.boards == 60
        wins = [
            pair.wins.mean if pair.first == name else 1 - pair.wins.mean
            for pair in three.pairs
            if name in (pair.first, pair.second)
        ]
        assert row.wins.mean == pytest.approx(sum(wins) / 2)
        assert row.games == 2 * 2 * (60 + 12)
    assert sum(row.points.mean for row in three.rows) == pytest.approx(0)
    assert [row.wins.mean for row in three.rows] == sorted((row.wins.mean for row in three.rows), reverse=True)
    for pair in three.pairs:
        games = pair.games
        assert games["matches"] == 24 == games["won_by_first"] + games["won_by_second"] + games["truncated"]
        assert pair is three.pair(pair.first, pair.second)
    with pytest.raises(KeyError):
        three.pair("first", "random")


def test_the_matrix_shows_the_row_against_the_column(three: Ranking) -> None:
    pair = three.pair("random", "novice")
    assert oriented(three, "random", "novice") == (pair.wins.mean, pair.points.mean)
    assert oriented(three, "novice", "random") == (1 - (pair.wins.mean or 0), -(pair.points.mean or 0))
    assert oriented(three, "novice", "novice") == (None, None)


@pytest.mark.parametrize("rows", [1, 7, 50, 10_000])
def test_the_result_does_not_depend_on_how_many_games_run_at_once(three: Ranking, rows: int) -> None:
    assert rank(THREE, boards=60, matches=12, max_deals=30, seed=4, rows=rows).to_json() == three.to_json()


def test_pairs_play_the_same_boards_whoever_else_takes_part(three: Ranking) -> None:
    two = rank({"random": RANDOM, "first": First()}, boards=60, matches=12, max_deals=30, seed=4)
    assert two.pairs == (three.pair("random", "first"),)


def test_cycles_are_named() -> None:
    names = ["a", "b", "c"]
    plan = check_plan(dict.fromkeys(names, RANDOM), boards=0, matches=40)
    with closing(Store.in_memory(plan)) as store:
        seating = plan.seating("match", 0, 40).reshape(-1, 2)
        pairs = np.sort(seating, axis=1)
        won = np.where((pairs == [0, 2]).all(axis=1), 2, pairs[:, 0])  # a beats b beats c beats a
        n = len(seating)
        games = Games(
            np.zeros((n, 2), np.int64),
            (seating == won[:, None]).argmax(axis=1),
            np.zeros(n, bool),
            np.ones(n, np.int64),
            np.zeros((n, 2, len(COLUMNS)), np.int32),
            [],
            (),
            np.zeros((n, 2), bool),
        )
        store.add(0, "match", np.repeat(np.arange(40), 6), seating, games)
        ranking = ranking_of(store)
    assert ranking.cycles == (("a", "b", "c"),)
    assert "cycle: a beats b beats c beats a" in ranking.text()
    assert ranking.to_dict()["cycles"] == [names]
    assert [row.rating.elo for row in ranking.rows if row.rating] == pytest.approx([0, 0, 0], abs=1e-6)


def test_seeds_give_different_boards(three: Ranking) -> None:
    assert rank(THREE, boards=60, matches=12, max_deals=30, seed=5).pairs != three.pairs


def test_the_anchor_moves_ratings_alone(three: Ranking) -> None:
    moved = rank(THREE, boards=60, matches=12, max_deals=30, seed=4, anchor="novice")
    assert moved.pairs == three.pairs
    for before, after in zip(three.rows, moved.rows, strict=True):
        assert before.rating is not None
        assert after.rating is not None
        novice = next(row.rating.elo for row in three.rows if row.name == "novice" and row.rating)
        assert after.rating.elo == pytest.approx(before.rating.elo - novice, abs=1e-6)


@pytest.mark.parametrize(
    ("names", "boards", "matches"),
    [(["a"], 5, 5), (["a", "b"], 0, 0), (["a", "b"], 1, 1), (["a", "b"], 0, 3), (["a", "b", "c"], 3, 0)],
)
def test_small_rankings_have_defined_results(names: list[str], boards: int, matches: int, tmp_path: Path) -> None:
    ranking = rank(dict.fromkeys(names, RANDOM), boards=boards, matches=matches, max_deals=3)
    data = json.loads(ranking.to_json(), parse_constant=lambda word: pytest.fail(f"{word} in the JSON"))
    assert len(data["table"]) == len(names)
    assert "nan" not in ranking.text().lower()
    assert all(name in ranking.text() for name in names)
    page = ranking.write_report(tmp_path).read_text()
    assert "nan" not in re.sub(r'src="[^"]*"', "", page).lower()


def test_one_agent_has_met_nobody() -> None:
    (row,) = rank({"a": RANDOM}, boards=5, matches=5).rows
    assert (row.points.boards, row.points.mean) == (0, None)
    assert row.wins == (0, None, 0, 1)
    assert row.games == 0


def test_impossible_arguments_are_named() -> None:
    for options, words in [
        ({"boards": -1}, "boards"),
        ({"matches": 1.5}, "matches"),
        ({"seed": -1}, "seed"),
        ({"rows": 0}, "rows"),
        ({"max_deals": 0}, "max_deals"),
        ({"anchor": "nobody"}, "anchor: 'nobody' is none of the agents"),
    ]:
        with pytest.raises(SetupError, match=words):
            rank({"a": RANDOM}, **options)
    with pytest.raises(SetupError, match="agents: none given"):
        rank({})
    for options in ({"players": 7}, {"rules": "poker"}):
        with pytest.raises(RulesError):
            rank({"a": RANDOM}, **options)


def test_scipy_and_choix_are_asked_for_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    monkeypatch.setattr("eval.jobs.play_games", lambda *_args, **_options: pytest.fail("played"))
    with pytest.raises(MissingExtra, match=r"chicago-env\[eval\]"):
        rank({"a": RANDOM, "b": RANDOM})


def test_matplotlib_is_asked_for_before_anything_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eval.jobs.play_games", lambda *_args, **_options: pytest.fail("played"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["eval", "rank", "random", "random", "--out", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.startswith(
        "chicago: error: matplotlib is not installed; pip install 'chicago-env[eval]'"
    )


def test_without_matplotlib_the_numbers_are_kept(
    three: Ranking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra):
        three.write_report(tmp_path)
    assert (tmp_path / "ranking.json").read_text() == three.to_json()


def test_progress_is_told() -> None:
    seen: list[Progress] = []
    rank({"a": RANDOM, "b": NOVICE}, boards=30, matches=5, max_deals=3, rows=20, progress=seen.append)
    for kind, total in (("deal", 30), ("match", 5)):
        done = [progress.done for progress in seen if progress.kind == kind]
        assert done == sorted(done)
        assert done[-1] == total
        assert len(set(done)) > 3
        assert {progress.total for progress in seen if progress.kind == kind} == {total}


def test_records_of_every_game_are_handed_out() -> None:
    records: list[dict] = []
    ranking = rank({"a": RANDOM, "b": NOVICE}, players=3, boards=4, matches=2, max_deals=3, on_record=records.append)
    assert len(records) == 6 * (4 + 2)
    assert ranking.pairs == rank({"a": RANDOM, "b": NOVICE}, players=3, boards=4, matches=2, max_deals=3).pairs
    for record in records:
        verify_record(record)
        assert set(record["names"]) == {"a", "b"}
    deals = [record for record in records if record["max_deals"] == 1]
    assert len(deals) == 24
    gained = 0.0
    for record in deals:
        points = [end - start for end, start in zip(record["result"]["scores"], record["start_scores"], strict=True)]
        of_a = [gain for gain, name in zip(points, record["names"], strict=True) if name == "a"]
        of_b = [gain for gain, name in zip(points, record["names"], strict=True) if name == "b"]
        gained += sum(of_a) / len(of_a) - sum(of_b) / len(of_b)
    assert ranking.pair("a", "b").points.mean == pytest.approx(gained / 24)


def test_the_json_says_what_was_played(three: Ranking) -> None:
    data = three.to_dict()
    assert (data["format"], data["version"]) == ("chicago-ranking", 3)
    assert data["versions"]["layout_hash"] == layout_hash()
    assert data["rules"] == "pagat"
    assert data["rules_fields"]["target"] == 52
    assert (data["players"], data["boards"], data["matches"], data["seed"], data["max_deals"]) == (2, 60, 12, 4, 30)
    assert data["agents"] == list(THREE)
    assert "speed" not in three.to_json()


# --- the report -------------------------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """Checks nesting, and collects ids and whatever else the page would load."""

    VOID = frozenset({"meta", "img", "br", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in {"src", "href", "srcset"}:
                self.loads.append(str(value))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_report_is_one_page_that_loads_nothing(three: Ranking, tmp_path: Path) -> None:
    page = three.write_report(tmp_path / "new" / "folder")
    assert sorted(os.listdir(page.parent)) == [
        "intervals.png",
        "pairs.png",
        "ranking.html",
        "ranking.json",
        "sources.png",
    ]
    assert (page.parent / "ranking.json").read_text() == three.to_json()
    parsed = Page()
    parsed.feed(page.read_text("utf-8"))
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    prefix = "data:image/svg+xml;base64,"
    assert len(parsed.loads) == 3
    for load in parsed.loads:
        assert load.startswith(prefix)
        assert ElementTree.fromstring(base64.b64decode(load.removeprefix(prefix))).tag.endswith("}svg")
    text = " ".join(parsed.text)
    assert "http" not in text
    assert "chicago eval rank random novice first --players 2 --rules pagat --boards 60 --matches 12 --seed 4" in text
    for row in three.rows:
        assert f"{100 * (row.wins.mean or 0):.1f} [" in text
    for name in ("intervals.png", "pairs.png", "sources.png"):
        assert (page.parent / name).read_bytes().startswith(b"\x89PNG")


def test_checkpoints_over_training_are_drawn_where_there_are_several(three: Ranking, tmp_path: Path) -> None:
    steps = {"random": None, "novice": 2_000_000, "first": 1_000_000}
    entrants = [{"name": name, "spec": name, "files": {}, "steps": steps[name]} for name in steps]
    drawn = dataclasses.replace(three, config={**three.config, "entrants": entrants})
    page = drawn.write_report(tmp_path)
    assert "Checkpoints over training" in page.read_text("utf-8")
    assert (tmp_path / "learning.png").read_bytes().startswith(b"\x89PNG")
    assert "Checkpoints over training" not in three.write_report(tmp_path / "none").read_text("utf-8")
    assert not (tmp_path / "none" / "learning.png").exists()


def test_names_cannot_write_into_the_page(tmp_path: Path) -> None:
    hostile = '<script>alert("x")</script>'
    names = (hostile, "$x_1$ & [bold]", r"$\frac{$")  # the last is no formula that could be drawn
    ranking = rank(dict.fromkeys(names, RANDOM), boards=2, matches=2, max_deals=2)
    page = ranking.write_report(tmp_path).read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "[bold]" in ranking.text()


# --- the command line -------------------------------------------------------------------------------------------------

SMALL = ("--boards", "6", "--matches", "2", "--max-deals", "5")


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, data, records = tmp_path / "report", tmp_path / "result.json", tmp_path / "games.jsonl"
    words = ["eval", "rank", "random", "heuristic:novice", "random", *SMALL]
    assert run([*words, "--out", str(out), "--json", str(data), "--records", str(records)]) == 0
    shown = capsys.readouterr()
    assert all(name in shown.out for name in ("random", "heuristic:novice", "random#2"))
    assert str(out / "ranking.html") in shown.err
    assert (out / "ranking.json").read_bytes() == data.read_bytes()
    result = json.loads(data.read_text())
    assert result["agents"] == ["random", "heuristic:novice", "random#2"]
    assert sum(1 for _ in read_records(records)) == 3 * 2 * (6 + 2)
    assert run([*words, "--json", "-", "--rows", "5"]) == 0
    assert capsys.readouterr().out == data.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no agents given"),
        (["nobody"], "agent 'nobody': no agent of that name"),
        (["random", "--rules", "poker"], "poker"),
        (["random", "--players", "9"], "players: 9"),
        (["random", "--boards", "-3"], "boards: -3"),
        (["random", "--boards", "many"], "--boards"),
        (["random", "--json", "/nowhere/at/all.json"], "/nowhere/at"),
        (["random", "--records", "/nowhere/at/all.jsonl"], "/nowhere/at"),
        (["random", "--records", "games.txt"], "games.txt"),
    ],
)
def test_bad_input_is_one_line_and_an_exit_code(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["eval", "rank", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert message in shown.err
    assert os.listdir(tmp_path) == []


def test_two_results_in_one_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for words, message in (
        (["--json", "a.jsonl", "--records", str(tmp_path / "a.jsonl")], "two results"),
        (["--out", "d", "--json", "d/ranking.json"], "two results"),
        (["--out", "d", "--json", "d/../d/pairs.png"], "two results"),
        (["--out", "d", "--json", "d"], "two results"),
        (["--json", ""], "Is a directory"),
        (["--json", "."], "Is a directory"),
    ):
        assert run(["eval", "rank", "random", "random", *SMALL, *words]) == 2
        assert message in capsys.readouterr().err
        assert os.listdir(tmp_path) == []
    (tmp_path / "d" / "ranking.json").mkdir(parents=True)
    assert run(["eval", "rank", "random", "random", *SMALL, "--out", "d"]) == 2
    assert "Is a directory" in capsys.readouterr().err


def test_bad_arguments_make_no_files_and_an_empty_one_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ["--out", "x/y", "--records", "r.jsonl"]
    assert run(["eval", "rank", "random", "random", "--boards", "-1", *files]) == 2
    assert os.listdir(tmp_path) == []
    with monkeypatch.context() as patch:
        patch.setattr("eval.jobs.play_games", lambda *_args, **_options: (_ for _ in ()).throw(SetupError("no")))
        assert run(["eval", "rank", "random", "random", *SMALL, *files]) == 2
    assert os.listdir(tmp_path) == []
    (tmp_path / "r.jsonl").touch()
    assert run(["eval", "rank", "random", "random", *SMALL, *files]) == 0
    assert sum(1 for _ in read_records("r.jsonl")) == 2 * (6 + 2)
    assert (tmp_path / "x" / "y" / "ranking.html").exists()


def test_names_that_utf_8_cannot_write_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.jobs.play_games", lambda *_args, **_options: pytest.fail("played"))
    for name in (1, None, "\udcff.safetensors"):
        with pytest.raises(SetupError, match="is no name"):
            rank({name: RANDOM, "b": RANDOM})


def test_a_demo_that_could_not_be_ranked_trains_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("train.run.train", lambda *_args, **_options: pytest.fail("trained"))
    assert run(["demo", "--boards", "-1", "--out", str(tmp_path / "demo")]) == 2
    assert "boards: -1" in capsys.readouterr().err
    assert not (tmp_path / "demo").exists()


def test_what_is_there_already_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = tmp_path / "games.jsonl"
    records.write_text("mine\n")
    assert run(["eval", "rank", "random", *SMALL, "--records", str(records)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert records.read_text() == "mine\n"


def test_a_broken_agent_ends_the_event_and_nothing_written_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Tiring:
        name = "tiring"
        left = 60

        def act(self, observations, masks, rng):
            self.left -= 1
            return masks.argmax(axis=1) if self.left > 0 else np.full(len(masks), 999)

    monkeypatch.setitem(REGISTRY, "tiring", Entry("for tests", Tiring))
    old = tmp_path / "ranking.json"
    old.write_text("old")
    records = tmp_path / "games.jsonl"
    words = ["eval", "rank", "random", "tiring", *SMALL, "--rows", "2", "--max-faults", "0"]
    assert run([*words, "--out", str(tmp_path), "--records", str(records)]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("chicago: error: agent tiring, row 0: act() returned action 999")
    assert len(shown.err.splitlines()) == 1
    assert old.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["games.jsonl", "ranking.json"]
    whole = [verify_record(line.record) for line in read_records(records)]
    assert whole


def test_a_folder_that_cannot_be_written_is_seen_before_anything_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eval.jobs.play_games", lambda *_args, **_options: pytest.fail("played"))
    (tmp_path / "file").write_text("")
    for option in ("--out", "--json", "--records"):
        assert run(["eval", "rank", "random", "random", option, str(tmp_path / "file" / "x.jsonl")]) == 2
        error = capsys.readouterr().err
        assert str(tmp_path / "file") in error
        assert len(error.splitlines()) == 1


def test_names_of_agents_on_the_command_line() -> None:
    specs = ["a/x.safetensors", "b/x.safetensors", "random", "a/x.safetensors", "c/random.safetensors", "random"]
    named = by_name(specs, "")
    names = ["x", "b/x.safetensors", "random", "x#2", "c/random.safetensors", "random#2"]
    assert list(named.items()) == list(zip(names, specs, strict=True))
    assert [name_of(agent, named) for agent in ("x", "b/x.safetensors", "a/x.safetensors", "none")] == [
        "x", "b/x.safetensors", "x", "none",
    ]  # fmt: skip
    for count in range(1, len(specs)):
        assert list(by_name(specs[:count], "")) == names[:count]


def test_a_checkpoint_by_path_may_be_an_option_of_an_agent_that_plays(tmp_path) -> None:
    path = tmp_path / "mine.safetensors"
    path.write_bytes(checkpoints()["ppo-2p"].read_bytes())
    spec = f"search:policy?budget=8&checkpoint={path}"
    assert list(by_name([spec, str(path), f"exec:./bot {path}"], "")) == [spec, "mine", f"exec:./bot {path}"]
    found = entrant_of(spec, spec)
    assert list(found.files) == [str(path)]
    assert found.steps is None
    out = tmp_path / "out.json"
    assert run(["eval", "rank", spec, "random", "--boards", "2", "--matches", "0", "--json", str(out)]) == 0
    assert json.loads(out.read_text())["agents"][0] == spec
