"""Result stores: what is in them, that nothing is lost, that the same games are the same bytes, that nothing is believed."""

import dataclasses
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.registry import AgentSpecError
from eval import rank
from eval.boards import KINDS
from eval.plan import check_plan
from eval.ranking import ranking_of
from eval.scores import scores_of
from eval.store import Store, StoreError
from eval.store.schema import TABLES
from train.cli import run

BOTH = {name: name for name in ("random", "heuristic:novice")}
SMALL = {"boards": 12, "matches": 3, "max_deals": 4, "seed": 2}
ROOT = Path(__file__).parent.parent
WORDS = [
    "eval",
    "rank",
    *BOTH,
    "--boards",
    "12",
    "--matches",
    "3",
    "--max-deals",
    "4",
    "--seed",
    "2",
    "--max-faults",
    "0",
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rank(BOTH, **SMALL, store=tmp_path / "games.db")
    return tmp_path / "games.db"


def entries(path: Path) -> list[str]:
    return sorted(os.listdir(path.parent))


# --- the same games are the same bytes --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 10, 10_000])
def test_bytes_do_not_depend_on_how_many_games_run_at_once(store: Path, tmp_path: Path, rows: int) -> None:
    again = tmp_path / "again.db"
    rank(BOTH, **SMALL, store=again, rows=rows)
    assert again.read_bytes() == store.read_bytes()
    assert entries(store) == ["again.db", "games.db"]


def test_a_store_gives_the_ranking_that_was_printed(store: Path) -> None:
    plain = rank(BOTH, **SMALL)
    with Store.reading(store) as kept:
        assert ranking_of(kept).to_json() == plain.to_json()
    assert rank(BOTH, **SMALL, store=store).to_json() == plain.to_json()


def test_what_is_there_is_not_played_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.read_bytes(), store.stat().st_mtime_ns
    monkeypatch.setattr("eval.jobs.play_games", lambda *_args, **_options: pytest.fail("played"))
    rank(BOTH, **SMALL, store=store)
    assert (store.read_bytes(), store.stat().st_mtime_ns) == before


def test_a_run_that_was_broken_off_goes_on(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval import jobs

    play, left, broken = jobs.play_games, [3], tmp_path / "broken.db"

    def breaking(*args, **options):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return play(*args, **options)

    monkeypatch.setattr(jobs, "play_games", breaking)
    for turn in range(20):
        left[0] = 1 + turn % 2
        try:
            rank(BOTH, **SMALL, store=broken, rows=6)
        except KeyboardInterrupt:
            with Store.reading(broken) as kept:
                games = sum(len(kept.played(kind).boards) for kind in KINDS)
            assert games > turn
        else:
            break
    assert turn >= 3
    assert broken.read_bytes() == store.read_bytes()


@pytest.mark.parametrize("what", ["boards", "agents"])
def test_more_may_be_asked_for(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval import jobs

    three = {**BOTH, "heuristic:poker": "heuristic:poker"}
    whole, grown = tmp_path / "whole.db", tmp_path / "grown.db"
    rank(three, **SMALL, store=whole)
    less = {"boards": 5, "matches": 0} if what == "boards" else {}
    rank(three if what == "boards" else BOTH, **{**SMALL, **less}, store=grown)
    before, played, play = grown.stat().st_size, [0], jobs.play_games

    def counting(agents, setups, *args, **options):
        played[0] += len(setups)
        return play(agents, setups, *args, **options)

    monkeypatch.setattr(jobs, "play_games", counting)
    ranking = rank(three, **SMALL, store=grown)
    assert grown.read_bytes() == whole.read_bytes()
    assert grown.stat().st_size >= before
    assert played[0] == ((7 + 3) * 6 if what == "boards" else 15 * 4)
    assert ranking.to_json() == rank(three, **SMALL).to_json()


@pytest.mark.parametrize("kills", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_at_any_moment_it_ends_with_the_same_bytes(kills: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.kill_runs", str(tmp_path), str(kills), "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    killed, through = map(int, done.stdout.split()[-2:])
    assert killed >= kills
    assert through >= 1


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 3}, "seed: 2 in the store, 3 asked for"),
        ({"boards": 11}, "boards: 12 in the store, 11 asked for"),
        ({"matches": 2}, "matches: 3 in the store, 2 asked for"),
        ({"rules": "race"}, "rules: pagat in the store, race asked for"),
        ({"players": 3}, "players: 2 in the store, 3 asked for"),
        ({"max_deals": 5}, "max_deals: 4 in the store, 5 asked for"),
        ({"field": "tables"}, "field: pairs in the store, tables asked for"),
        ({"max_faults": 7}, "max_faults: 0 in the store, 7 asked for"),
    ],
)
def test_another_event_is_refused_with_what_differs(store: Path, changed: dict, words: str) -> None:
    before = store.read_bytes()
    with pytest.raises(StoreError, match=words):
        rank(BOTH, **{**SMALL, **changed}, store=store)
    assert store.read_bytes() == before
    assert entries(store) == ["games.db"]


def test_other_agents_are_refused(store: Path) -> None:
    with pytest.raises(
        StoreError, match="agents: random, heuristic:novice in the store, heuristic:novice, random asked"
    ):
        rank(dict(reversed(BOTH.items())), **SMALL, store=store)
    with pytest.raises(StoreError, match="agent heuristic:novice is not the one of the store"):
        rank({"random": "random", "heuristic:novice": "heuristic:poker"}, **SMALL, store=store)
    with pytest.raises(StoreError, match="needs agents that are named by a spec"):
        rank({"random": agents.load("random")}, store=store)


def test_a_checkpoint_is_known_by_its_content(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from agents.checkpoint import read_checkpoint, save_checkpoint

    source = ROOT / "checkpoints" / "ppo-2p.safetensors"
    path = tmp_path / "mine.safetensors"
    path.write_bytes(source.read_bytes())
    (entrant,) = check_plan({"mine": str(path)}).entrants
    net, info = read_checkpoint(source)
    save_checkpoint(path, net, dataclasses.replace(info, seed=info.seed + 1))
    (changed,) = check_plan({"mine": str(path)}).entrants
    assert entrant.files.keys() == changed.files.keys() == {str(path)}
    assert entrant.files != changed.files
    assert entrant.steps == changed.steps == info.steps
    (named,) = check_plan({"mine": "ppo-2p"}).entrants
    assert list(named.files.values()) == list(entrant.files.values())
    (greedy,) = check_plan({"mine": "ppo-2p?greedy=yes"}).entrants
    assert (greedy.steps, list(greedy.files.values())) == (named.steps, list(named.files.values()))


def test_a_program_is_known_by_its_files_and_limits(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text("1")
    bots = {"quick": "exec:python3 bot.py", "slow": "exec?move=5&bank=60:python3 bot.py --bot.py"}
    quick, slow = (entrant.to_dict() for entrant in check_plan(bots).entrants)
    assert (quick["limits"]["move"], quick["limits"]["bank"]) == (1, 10)
    assert (slow["limits"]["move"], slow["limits"]["bank"]) == (5, 60)
    assert quick["files"].keys() == slow["files"].keys() == {"bot.py"}
    (tmp_path / "bot.py").write_text("2")
    changed, _ = (entrant.to_dict() for entrant in check_plan(bots).entrants)
    assert changed["files"] != quick["files"]
    assert {**changed, "files": 0} == {**quick, "files": 0}
    with pytest.raises(AgentSpecError, match="a bot is written exec:COMMAND"):
        check_plan({"none": "exec:"})


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "text":
        data = bytearray(b"not a database, but longer than its header would be\n" * 9)
    elif how == "empty":
        data = bytearray()
    elif how == "header alone":
        data = data[:100]
    elif how == "cut":
        data = data[: len(data) // 2]
    elif how == "application":
        data[68:72] = b"\0\0\0\0"
    elif how == "version":
        data[60:64] = (99).to_bytes(4, "big")
    elif how == "page":
        data[4096 * 3 : 4096 * 3 + 600] = bytes(600)
    path.write_bytes(data)
    if how.startswith("sql:"):
        with sqlite3.connect(path) as connection:
            connection.execute(how.removeprefix("sql:"))
        connection.close()


DAMAGES = [
    ("text", "is no result store"),
    ("empty", "is no result store"),
    ("header alone", "is damaged"),
    ("cut", "is damaged"),
    ("application", "an SQLite database of something else"),
    ("version", "is a result store of version 99; this program knows version 2"),
    ("page", "is damaged"),
    ("sql:CREATE TABLE more (x)", "does not have the tables"),
    ("sql:DROP TABLE faults", "does not have the tables"),
    ("sql:CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END", "does not have the tables"),
    ("sql:UPDATE frame SET value = '{'", "no JSON"),
    ("sql:UPDATE frame SET value = '{}'", "its plan is incomplete"),
    ("sql:UPDATE frame SET value = printf('%.*c', 2000000, 'x')", "too long"),
    ("sql:DELETE FROM agents", "table agents has no row"),
    ("sql:UPDATE games SET gains = x'00'", "gains of a wrong size"),
    ("sql:UPDATE games SET lineup = x'0009' WHERE board = 0 AND lineup = x'0001'", "an agent that there is not"),
    ("sql:UPDATE games SET winner = 2", "a winner has no seat"),
    ("sql:UPDATE games SET sources = x'000000'", "sources of a wrong size"),
]


@pytest.mark.parametrize(("how", "words"), DAMAGES, ids=[how[:30] for how, _ in DAMAGES])
def test_a_store_that_is_no_store_is_refused_in_a_line_and_left_as_it_is(
    store: Path, how: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(store, how)
    before = store.read_bytes()
    for command in (["eval", "show", str(store)], [*WORDS, "--store", str(store)]):
        assert run(command) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert len(shown.err.splitlines()) == 1
        assert words in shown.err
        assert str(store) in shown.err
        assert store.read_bytes() == before
        assert entries(store) == ["games.db"]


def test_impossible_rows_are_found_before_anything_is_written(store: Path) -> None:
    damage(store, "sql:UPDATE games SET winner = 2")
    before = store.read_bytes()
    with pytest.raises(StoreError, match="a winner has no seat"):
        rank(BOTH, **{**SMALL, "boards": 20}, store=store)
    assert store.read_bytes() == before


def test_a_damaged_store_with_a_journal_is_left_as_it_is(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("UPDATE runs SET value = value || ' '")
    connection.commit()
    copies = {name: (store.parent / name).read_bytes() for name in ("games.db", "games.db-wal")}
    connection.close()
    copies["games.db"] = copies["games.db"][:8000]
    (store.parent / "games.db-shm").unlink(missing_ok=True)
    for name, data in copies.items():
        (store.parent / name).write_bytes(data)
    with pytest.raises(StoreError, match="is damaged"):
        rank(BOTH, **SMALL, store=store)
    assert {name: (store.parent / name).read_bytes() for name in entries(store)} == copies


def test_two_runs_do_not_write_to_one_store(store: Path) -> None:
    before = store.read_bytes()
    more = check_plan(BOTH, **{**SMALL, "boards": 20})
    with Store.playing(store, more), pytest.raises(StoreError, match="in use by another run"):
        rank(BOTH, **{**SMALL, "boards": 20}, store=store)
    rank(BOTH, **{**SMALL, "boards": 20}, store=store)
    assert store.read_bytes() != before


@pytest.mark.parametrize("path", ["/nowhere/at/all.db", "/proc/games.db", "folder"])
def test_a_path_that_cannot_be_written_is_one_line(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("eval.jobs.play_games", lambda *_args, **_options: pytest.fail("played"))
    assert run([*WORDS, "--store", path]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert path.rpartition("/")[0] in error
    assert os.listdir(tmp_path) == ["folder"]


LIMITED = """
import resource, signal, sys
from train.cli import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
sys.exit(run(sys.argv[2:]))
"""


def test_a_full_disk_is_one_line_and_what_was_played_is_kept(store: Path, tmp_path: Path) -> None:
    assert hasattr(resource, "RLIMIT_FSIZE")
    full = tmp_path / "full.db"
    words = [*WORDS, "--store", str(full), "--rows", "2"]
    seen = set()
    for limit in (4_000, 21_000, 40_000, 90_000):  # the new file, its first games, the journal, ...
        command = [sys.executable, "-c", LIMITED, str(limit), *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
        seen.add(done.returncode)
        if done.returncode:
            assert done.returncode == 2, done.stderr
            assert len(done.stderr.splitlines()) == 1, done.stderr
            assert str(full) in done.stderr
        if full.exists():
            with Store.reading(full) as kept:
                assert kept.names == list(BOTH)
    assert 2 in seen
    assert run(words) == 0
    assert full.read_bytes() == store.read_bytes()


# --- workers ----------------------------------------------------------------------------------------------------------


def test_worker_processes_give_the_same_bytes(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    ranking = rank(BOTH, **SMALL, store=other, workers=2, rows=6)
    assert other.read_bytes() == store.read_bytes()
    assert ranking.speeds["heuristic:novice"] is not None


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    from eval import workers
    from eval.event import Event

    plan = check_plan(BOTH, **SMALL)
    kept = Store.in_memory(plan)
    event, made = Event(plan, kept, rows=2), []  # far more jobs than may be finished ahead
    original = workers.Workers.play

    def killing(self, *args):
        for number, pair in enumerate(original(self, *args)):
            made.extend(w.process for w in self._workers if w.process not in made)
            for worker in self._workers if number == 0 else self._workers[:1] if number == 3 else ():
                os.kill(worker.process.pid, signal.SIGKILL)
            yield pair

    workers.Workers.play = killing
    try:
        event.play({}, 2)
    finally:
        workers.Workers.play = original
    assert ranking_of(kept).to_json() == rank(BOTH, **SMALL).to_json()
    assert len(made) >= 3
    assert not any(process.is_alive() for process in made)


# --- tables of many ---------------------------------------------------------------------------------------------------

FOUR = {name: name for name in ("random", "heuristic:novice", "heuristic:poker", "heuristic:tricks")}


def test_tables_seat_different_agents_in_all_rotations(tmp_path: Path) -> None:
    plan = check_plan(FOUR, players=3, field="tables", boards=400)
    seating = plan.seating("deal", 0, 400)
    assert seating.shape == (400, 3, 3)
    assert (np.sort(seating, axis=2) == np.sort(seating[:, :1], axis=2)).all()
    assert all(len(set(table)) == 3 for table in seating[:, 0].tolist())
    assert (np.sort(seating, axis=1) == np.sort(seating[:, :, :1], axis=1)).all()
    # every agent at 3/4 of the tables: within 4 standard errors
    counts = np.bincount(seating[:, 0].reshape(-1), minlength=4)
    assert np.abs(counts - 300).max() < 4 * (400 * 3 / 16) ** 0.5
    assert (plan.seating("deal", 100, 120) == seating[100:120]).all()
    ranking = rank(FOUR, players=3, field="tables", boards=60, matches=20, max_deals=40, store=tmp_path / "t.db")
    assert sum(row.wins.mean * row.games for row in ranking.rows) == pytest.approx(
        sum(row.games for row in ranking.rows) / 3, rel=0.05
    )
    assert ranking.rows[-1].name == "random"
    best = ranking.rows[0].name
    pair = next(p for p in ranking.pairs if {p.first, p.second} == {best, "random"})
    assert (pair.points.mean > 0) == (pair.first == best)


def test_the_first_against_all() -> None:
    ranking = rank(FOUR, field="first", boards=8, matches=2, max_deals=4)
    assert [(pair.first, pair.second) for pair in ranking.pairs] == [("random", name) for name in list(FOUR)[1:]]
    whole = rank(FOUR, boards=8, matches=2, max_deals=4)
    assert all(pair in whole.pairs for pair in ranking.pairs)


def test_a_mean_over_opponents_not_met_everywhere_has_the_right_variance() -> None:
    """Against the same computed pair by pair."""
    rng = np.random.default_rng(0)
    plan = check_plan(dict.fromkeys("abc", "random"), boards=30, matches=0)
    kept = Store.in_memory(plan)
    rank_games = kept.played("deal")
    assert len(rank_games.boards) == 0
    from eval.event import Event

    Event(plan, kept, rows=100).play(dict.fromkeys("abc", _Noise()))
    played = kept.played("deal")
    keep = ~((played.lineups.max(axis=1) == 2) & (played.boards >= 20))  # c plays 20 boards
    part = played._replace(**{name: getattr(played, name)[keep] for name in played._fields})
    scores = scores_of("deal", part, 3, tables=False)
    ab, ac = scores.meetings[0, 1].points_by_board, scores.meetings[0, 2].points_by_board
    assert (len(ab), len(ac)) == (30, 20)
    values = scores.points[:, 0]
    assert values.mean() == pytest.approx((ab.mean() + ac.mean()) / 2)
    influence = (ab - ab.mean()) / 30 / 2
    influence[:20] += (ac - ac.mean()) / 20 / 2
    assert values.var(ddof=1) / 30 == pytest.approx((influence**2).sum() * 30 / 29)
    assert rng is not None


class _Noise:
    name = "noise"

    def act(self, observations, masks, rng):
        return (rng.random(masks.shape) * masks).argmax(axis=1)


# --- the plan in the file ---------------------------------------------------------------------------------------------


def test_the_file_is_plain_sqlite(store: Path) -> None:
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_schema"))
    assert TABLES.items() <= tables.items()
    assert connection.execute("SELECT count(*) FROM games").fetchone() == (2 * 15,)
    frame = json.loads(connection.execute("SELECT value FROM frame").fetchone()[0])
    assert frame["rules"] == "pagat"
    assert frame["versions"]["layout_hash"]
    connection.close()
