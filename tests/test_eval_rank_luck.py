"""Rankings with points less the luck of the draw: what they are, that they are kept, added up, refused and shown."""

import csv
import io
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import agents
from eval import rank
from eval.boards import board_root, make_board, setup_of
from eval.equity import digest_of
from eval.luck import DIGEST, UNIT, corrections_of, luck_of
from eval.plan import check_plan
from eval.play import play_games
from eval.ranking import ranking_of, scores_of_store
from eval.sources import VOID
from eval.stats import mean_interval, variance_factor
from eval.store import Store, StoreError
from eval.tables import points_text
from tests.test_eval_variance import meeting_of
from train.cli import run

BOTH = {name: name for name in ("heuristic:novice", "heuristic:poker")}
SMALL = {"boards": 12, "matches": 2, "max_deals": 4, "seed": 2}
WORDS = ["--boards", "12", "--matches", "2", "--max-deals", "4", "--seed", "2"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("luck") / "games.db"
    rank(BOTH, **SMALL, luck=True, store=path)
    return path


# --- what it is -------------------------------------------------------------------------------------------------------


def test_corrected_points_by_hand() -> None:
    """Gains less luck, game by game; the factor has the independent games as they were, without correction."""
    seating = [[0, 1], [1, 0]]
    luck = np.array([[2, 0], [0, 0], [0, 0], [0, 1]]) * UNIT
    dealt = meeting_of("deal", seating, [[3, 0], [2, 1], [1, 0], [0, 5]], [-1] * 4, luck=luck)
    assert dealt.points_by_board.tolist() == [1, 3]  # 3, -1 and 1, 5
    assert dealt.corrected_by_board.tolist() == [0, 2.5]  # 1, -1 and 1, 4
    luck = np.zeros((6, 3), np.int64)
    luck[range(6), [0, 2, 1] * 2] = np.array([2, 0, 1, 0, 0, 0]) * UNIT  # what agent 0 had
    seating = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    sat = meeting_of("deal", seating, [[0, 0, 0]] * 6, [-1] * 6, tables=True, luck=luck)
    assert sat.corrected_by_board.tolist() == [-1, 0]
    # one seat of three: its 1.5 points of luck in one of six games, and as much of one of the other two
    one = np.zeros((6, 3), np.int64)
    one[0] = [0, 0, 3 * UNIT // 2]  # lineup 001
    assert meeting_of(
        "deal", sorted({(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)}),
        [[0, 0, 0]] * 6, [-1] * 6, luck=one,
    ).corrected_by_board.tolist() == [1.5 / 6]  # fmt: skip


def test_the_mean_stays_and_less_is_left() -> None:
    """On 2,000 boards: what was taken off is 0 within its interval, and the corrected interval is narrower."""
    plan = check_plan(BOTH, boards=2000, matches=0, seed=8, luck=True)
    from eval.event import Event

    with closing(Store.in_memory(plan)) as kept:
        Event(plan, kept, rows=4096).play({name: agents.load(name) for name in BOTH})
        meeting = scores_of_store(kept, "deal").meetings[0, 1]
        (pair,) = ranking_of(kept).pairs
    off = mean_interval(meeting.points_by_board - meeting.corrected_by_board)
    assert off.half_width is not None
    assert 0 < abs(off.mean or 0) < 1.5 * off.half_width  # nearly 3 standard errors
    assert pair.corrected == mean_interval(meeting.corrected_by_board)
    assert pair.corrected.half_width < 0.9 * (pair.points.half_width or 0)
    factors = pair.variance_factors
    assert factors.corrected == variance_factor(meeting.points, meeting.corrected_by_board)
    assert factors.corrected > 1.3 * (factors.points or 0)


@pytest.mark.parametrize(("players", "field"), [(2, "pairs"), (3, "pairs"), (3, "tables")])
def test_the_same_agent_twice_stays_exactly_even(players: int, field: str) -> None:
    names = "abc" if field == "tables" else "ab"
    ranking = rank(
        dict.fromkeys(names, "heuristic:poker"), players=players, field=field, boards=30, matches=0, luck=True
    )
    for pair in ranking.pairs:
        assert pair.corrected == (30, 0, 0, 0)
        assert pair.variance_factors.corrected is None
    for row in ranking.rows:
        assert row.corrected is not None
        assert row.corrected[:2] == (30, pytest.approx(0, abs=1e-12))


class Failing:
    """Plays as another agent, but answers what is not allowed where it draws for the second time, with good luck."""

    name = "failing"

    def __init__(self) -> None:
        self.agent = agents.load("heuristic:poker")
        self.calls = 0

    def act(self, observations, masks, rng):
        actions = np.array(self.agent.act(observations, masks, rng))
        self.calls += 1
        if self.calls == 4:
            actions[0] = 999
        return actions


def test_a_void_deal_is_corrected_until_the_fault_and_a_forfeited_game_not_at_all() -> None:
    plan = check_plan(BOTH, boards=1, matches=0, luck=True)
    root, seating = board_root(0, "deal"), np.array([[0, 1], [1, 0]])
    setups = [setup_of(make_board(root, 0, "deal", 2, plan.rules), 2, plan.rules)] * 2

    def played(most: int):
        pair = {"failing": Failing(), "other": agents.load("heuristic:poker")}
        return play_games(
            pair, setups, np.zeros(2, np.int64), seating, root, luck=True, on_fault="forfeit", max_faults=most
        )

    whole = play_games(
        {"a": agents.load("heuristic:poker"), "b": agents.load("heuristic:poker")},
        setups, np.zeros(2, np.int64), seating, root, luck=True, keep_choices=True,
    )  # fmt: skip
    assert whole.luck is not None
    assert (whole.luck == corrections_of(luck_of(setups, whole.choices))).all()
    void = played(10)
    (fault,) = void.faults
    assert void.luck is not None
    before = whole.choices[fault.game]
    cuts = [
        corrections_of(luck_of(setups[:1], [before[:n] + bytes([VOID])]))[0].tolist() for n in range(len(before) + 1)
    ]
    assert void.luck[fault.game].tolist() in cuts
    assert (void.luck[fault.game] != whole.luck[fault.game]).any()
    assert void.luck[1 - fault.game].tolist() == whole.luck[1 - fault.game].tolist()
    given_up = played(1)
    assert given_up.forfeited.any()
    assert given_up.luck is not None
    assert (given_up.luck[given_up.forfeited.any(axis=1)] == 0).all()


# --- the store --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"rows": 1}, {"rows": 7}, {"workers": 2, "rows": 6}])
def test_the_bytes_do_not_depend_on_rows_and_workers(store: Path, options: dict, tmp_path: Path) -> None:
    again = tmp_path / "again.db"
    rank(BOTH, **SMALL, luck=True, store=again, **options)
    assert again.read_bytes() == store.read_bytes()


def test_more_boards_may_be_asked_for_and_the_file_says_all(store: Path, tmp_path: Path) -> None:
    grown = tmp_path / "grown.db"
    rank(BOTH, **{**SMALL, "boards": 5, "matches": 0}, luck=True, store=grown)
    ranking = rank(BOTH, **SMALL, luck=True, store=grown)
    assert grown.read_bytes() == store.read_bytes()
    with Store.reading(store) as kept:
        assert ranking_of(kept).to_json() == ranking.to_json() == rank(BOTH, **SMALL, luck=True).to_json()
        assert kept.frame["luck"] == DIGEST
        assert kept.played("deal").luck.shape == (24, 2)
        assert kept.played("match").luck.shape == (4, 0)


def test_luck_adds_and_changes_nothing_else(store: Path) -> None:
    with Store.reading(store) as kept:
        data = ranking_of(kept).to_dict()
    plain = rank(BOTH, **SMALL).to_dict()
    assert (data.pop("luck"), plain.pop("luck")) == (DIGEST, None)
    for one, other in zip([*data["table"], *data["pairs"]], [*plain["table"], *plain["pairs"]], strict=True):
        assert one.pop("corrected_points_per_deal")["boards"] == 12
        assert other.pop("corrected_points_per_deal") is None
    for result, known in ((data, True), (plain, False)):
        assert (result["pairs"][0]["variance_factors"].pop("corrected") is not None) == known
    assert data == plain


def test_other_values_or_none_are_refused(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, other, out = tmp_path / "plain.db", tmp_path / "other.db", tmp_path / "out.db"
    before = store.read_bytes()
    rank(BOTH, **SMALL, store=plain)
    changed = digest_of("luck", 1.0)
    monkeypatch.setattr("eval.plan.DIGEST", changed)
    rank(BOTH, **SMALL, luck=True, store=other)
    for options, words in (
        ({"luck": True}, f"luck: {DIGEST} in the store, {changed} asked for"),
        ({}, f"luck: {DIGEST} in the store, none asked for"),
    ):
        with pytest.raises(StoreError, match=words):
            rank(BOTH, **SMALL, **options, store=store)
    with pytest.raises(StoreError, match=f"luck: none in the store, {changed} asked for"):
        rank(BOTH, **SMALL, luck=True, store=plain)
    for second, said in ((other, changed), (plain, "none")):
        assert run(["eval", "merge", str(out), str(store), str(second)]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert f"luck: {DIGEST} there, {said} here" in error
        assert not out.exists()
    assert store.read_bytes() == before


def test_stores_merge(store: Path, tmp_path: Path) -> None:
    other, merged, same = (tmp_path / name for name in ("other.db", "merged.db", "same.db"))
    rank(dict(reversed(BOTH.items())), **{**SMALL, "seed": 9}, luck=True, store=other)
    assert run(["eval", "merge", str(same), str(store), str(store)]) == 0
    assert same.read_bytes() == store.read_bytes()
    assert run(["eval", "merge", str(merged), str(store), str(other)]) == 0
    with Store.reading(merged) as kept, Store.reading(store) as one, Store.reading(other) as two:
        pair, first, second = ranking_of(kept).pairs[0], ranking_of(one).pairs[0], ranking_of(two).pairs[0]
    assert None not in (pair.corrected, first.corrected, second.corrected)
    assert pair.corrected.boards == 24
    assert pair.corrected.mean == pytest.approx((first.corrected.mean - second.corrected.mean) / 2)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE games SET luck = x'00'", "luck of a wrong size"),
        ("UPDATE games SET luck = x'0000000000000000' WHERE kind = 1", "luck of a wrong size"),
        ("UPDATE frame SET value = json_remove(value, '$.luck')", "its plan is incomplete"),
    ],
)
def test_damage_is_one_line(
    store: Path, tmp_path: Path, sql: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(store.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql)
        connection.commit()
    assert run(["eval", "show", str(path)]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert words in error


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_table_the_report_and_the_comparison_have_it(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", "show", str(store), "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    page = (tmp_path / "ranking.html").read_text("utf-8")
    with Store.reading(store) as kept:
        ranking = ranking_of(kept)
    (pair,) = ranking.pairs
    assert pair.corrected is not None
    assert f"{points_text(pair.points)}  {points_text(pair.corrected)}" in shown
    for row in ranking.rows:
        assert row.corrected is not None
        assert any(
            line.startswith(row.name) and line.rstrip().endswith(points_text(row.corrected))
            for line in shown.splitlines()
        )
        assert f"<td>{points_text(row.points)}</td><td>{points_text(row.corrected)}</td>" in page
    factor = f"{pair.variance_factors.corrected:.2f}"
    assert factor in shown
    assert f"<td>{factor}</td>" in page
    assert "less luck" in page
    assert "--max-faults 0 --luck" in page
    assert run(["eval", "compare", str(store), str(store)]) == 0
    assert "less luck" in capsys.readouterr().out
    assert run(["eval", "compare", str(store), str(tmp_path / "ranking.json"), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)["agents"][0]
    assert line["corrected_points_per_deal"]["mean"] == 0


def test_without_luck_nothing_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = rank(BOTH, **SMALL, store=tmp_path / "plain.db")
    assert "luck" not in ranking.text()
    assert "less luck" not in ranking.write_report(tmp_path / "report").read_text("utf-8")
    plain = str(tmp_path / "plain.db")
    assert run(["eval", "export", plain, "--csv", "-"]) == 0
    assert "luck" not in capsys.readouterr().out.splitlines()[0]
    assert run(["eval", "compare", plain, plain]) == 0
    assert "luck" not in capsys.readouterr().out


def test_it_is_exported(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "export", str(store), "--json", "-"]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    assert run(["eval", "export", str(store), "--csv", "-"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    with Store.reading(store) as kept:
        luck = kept.played("deal").luck
    assert [game["luck"] for game in games if game["kind"] == "deal"] == (luck / UNIT).tolist()
    assert {game["luck"] for game in games if game["kind"] == "match"} == {None}
    assert [float(line["luck"]) for line in lines if line["kind"] == "deal"] == (luck / UNIT).reshape(-1).tolist()
    assert {line["luck"] for line in lines if line["kind"] == "match"} == {""}


@pytest.mark.parametrize("command", ["rank", "match"])
def test_the_commands_take_it(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", command, *BOTH, *WORDS, "--luck", "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["luck"] == DIGEST
    assert data["table"][0]["corrected_points_per_deal"]["boards"] == 12
    assert os.listdir(tmp_path) == []
