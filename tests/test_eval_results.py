"""What is made of stores: one of several, files for other programs, comparisons, matches."""

import csv
import io
import json
import re
import sqlite3
from pathlib import Path

import pytest

from chicago_env.records import read_records, verify_record
from eval import rank
from eval.ranking import ranking_of
from eval.sources import POINTS
from eval.store import Store, StoreError
from train.cli import run

BOTH = {name: name for name in ("random", "heuristic:novice")}
SMALL = {"boards": 12, "matches": 3, "max_deals": 4, "seed": 2}
WORDS = ["eval", "rank", *BOTH, "--boards", "12", "--matches", "3", "--max-deals", "4", "--seed", "2"]
THREE = (*BOTH, "heuristic:poker")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rank(BOTH, **SMALL, store=tmp_path / "games.db")
    return tmp_path / "games.db"


def test_stores_of_other_seeds_and_agents_merge(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    three = {**BOTH, "heuristic:poker": "heuristic:poker"}
    other, more, merged = tmp_path / "other.db", tmp_path / "more.db", tmp_path / "merged.db"
    rank(BOTH, **{**SMALL, "seed": 9}, store=other)
    rank({name: three[name] for name in ("heuristic:poker", "random")}, **SMALL, store=more)
    assert run(["eval", "merge", str(merged), str(store), str(other), str(more), str(store)]) == 0
    with Store.reading(merged) as kept, Store.reading(store) as first:
        assert kept.names == ["random", "heuristic:novice", "heuristic:poker"]
        assert len(kept.runs) == 3
        assert len(kept.played("deal").boards) == 3 * 24
        ranking = ranking_of(kept)
        assert ranking.pair("random", "heuristic:novice").points.boards == 24
        pair = rank({name: three[name] for name in ("random", "heuristic:poker")}, **SMALL).pairs[0]
        assert ranking.pair("random", "heuristic:poker") == pair
        assert len(ranking.pairs) == 2
        assert ranking_of(first).pair("random", "heuristic:novice").points.boards == 12
    assert run(["eval", "show", str(merged)]) == 0
    assert "heuristic:poker" in capsys.readouterr().out
    assert run(["eval", "merge", str(merged), str(store)]) == 2
    assert "is there already" in capsys.readouterr().err
    with pytest.raises(StoreError, match="merged from several events"):
        rank(three, **SMALL, store=merged)
    # merged with itself, a store is what it was
    assert run(["eval", "merge", str(tmp_path / "same.db"), str(store), str(store)]) == 0
    assert (tmp_path / "same.db").read_bytes() == store.read_bytes()


def test_stores_that_contradict_each_other_do_not_merge(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, out = tmp_path / "changed.db", tmp_path / "out.db"
    changed.write_bytes(store.read_bytes())
    with sqlite3.connect(changed) as connection:
        connection.execute("UPDATE games SET deals = deals + 1 WHERE kind = 1 AND board = 2")
    connection.close()
    race = tmp_path / "race.db"
    rank(BOTH, **SMALL, rules="race", store=race)
    for path, words in (
        (changed, "has another result of the same game: seed 2, match board 2"),
        (race, r"does not fit .*\(rules: pagat there, race here"),
    ):
        assert run(["eval", "merge", str(out), str(store), str(path)]) == 2
        assert re.search(words, capsys.readouterr().err)
        assert not out.exists()


def test_games_are_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, records = tmp_path / "games.db", tmp_path / "games.jsonl"
    assert run([*WORDS, "--store", str(path), "--keep-records"]) == 0
    capsys.readouterr()
    assert run(["eval", "export", str(path), "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in data["agents"]] == list(BOTH)
    assert len(data["games"]) == 30
    assert data["faults"] == []
    assert run(["eval", "export", str(path), "--csv", "-", "--records", str(records)]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(lines) == 60
    gains = {name: sum(int(line["gain"]) for line in lines if line["agent"] == name) for name in BOTH}
    for name, gain in gains.items():
        number = list(BOTH).index(name)
        assert gain == sum(
            game["gains"][seat] for game in data["games"] for seat in (0, 1) if game["lineup"][seat] == number
        )
        assert gain == sum(int(line[column]) for line in lines if line["agent"] == name for column in POINTS)
    checked = [verify_record(line.record) for line in read_records(records)]
    assert len(checked) == 30
    plain = tmp_path / "plain.jsonl"
    rank(BOTH, **SMALL, store=tmp_path / "none.db")
    assert run(["eval", "export", str(tmp_path / "none.db"), "--records", str(plain)]) == 2
    assert "keeps no records" in capsys.readouterr().err
    assert not plain.exists()


def test_results_are_compared(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, text = tmp_path / "other.db", tmp_path / "first.json"
    text.write_text(rank(BOTH, **SMALL).to_json())
    rank({"random": "random", "heuristic:poker": "heuristic:poker"}, **SMALL, store=other)
    assert run(["eval", "compare", str(store), str(other), "--json"]) == 0
    paired = json.loads(capsys.readouterr().out)
    assert paired["differences"] == [
        "agent heuristic:novice is in the first only",
        "agent heuristic:poker is in the second only",
    ]
    (line,) = paired["agents"]
    assert line["agent"] == "random"
    assert line["points_per_deal"]["boards"] == 12
    assert run(["eval", "compare", str(text), str(other), "--json"]) == 0
    (apart,) = json.loads(capsys.readouterr().out)["agents"]
    assert apart["points_per_deal"]["mean"] == pytest.approx(line["points_per_deal"]["mean"])
    assert apart["points_per_deal"]["boards"] == 0
    assert run(["eval", "compare", str(store), str(store)]) == 0
    assert "+0.00 [+0.00, +0.00]*" in capsys.readouterr().out
    text.write_text("{}")
    assert run(["eval", "compare", str(text), str(store)]) == 2
    assert "is not the JSON of a ranking" in capsys.readouterr().err


def test_a_match_seats_one_agent_in_each_seat(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--matches", "2", "--max-deals", "3", "--json", "-"]
    assert run(["eval", "match", *THREE, *few]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["players"], data["field"], data["matches"]) == (3, "tables", 2)
    assert [row["games"] for row in data["table"]] == [6, 6, 6]
    assert run(["eval", "match", "random", "random", "--players", "4", *few]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["players"], data["field"], data["pairs"][0]["match_wins"]["mean"]) == (4, "pairs", 0.5)
    for words in (["random"], [*THREE, "--players", "4"]):
        assert run(["eval", "match", *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_bench_says_how_fast_and_how_many_boards(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eval.bench.HEURISTICS", tuple(BOTH))
    monkeypatch.setattr("eval.bench.CHECKPOINT", "heuristic:poker")
    assert run(["eval", "bench", "--quick", "--workers", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    figures = {figure["name"]: figure["value"] for figure in data["figures"]}
    speeds = [f"{name}_{players}" for players in (2, 4) for name in BOTH]
    assert list(figures) == ["deals", "matches", "boards", "pairs", *speeds]
    assert all(1000 < figures[name] < 1e9 for name in speeds)
    assert figures["deals"] > 0
    # a pair's board is in [0, 1]: never more than this many for ±1 %, and not few among three agents
    assert 100 < figures["boards"] <= 0.25 * (1.97 / 0.01) ** 2 * 1.3
    assert figures["pairs"] > 0
