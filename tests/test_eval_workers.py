"""Worker processes of the arena: none outlives the command, however it ends, and faults count as on one process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.bots.supervisor import descendants, parents
from eval import Ranking, rank
from eval.boards import KINDS
from eval.store import Store, StoreError

ROOT = Path(__file__).parent.parent
BOTS = Path(__file__).parent / "bots"
PATIENCE = 500.0
"""Seconds after which a test fails."""

Process = tuple[int, str]
"""Its id and when it began, in clock ticks: ids are given again."""


def processes(pids: list[int]) -> set[Process]:
    """Those that are there."""
    found = set()
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] not in {"Z", "X"}:
            found.add((pid, words[19]))
    return found


def wait_until(what: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def games_in(store: Path) -> int:
    """Games that are written down; 0 where a run is writing just now."""
    try:
        with Store.reading(store) as kept:
            return sum(len(kept.played(kind).boards) for kind in KINDS)
    except (StoreError, OSError):
        return 0


class Gated:
    """`chicago eval rank` with two workers, whose bots stop in the middle of an event until a gate is opened."""

    def __init__(self, folder: Path) -> None:
        self.waiting = folder / "waiting"
        self.waiting.mkdir()
        self.running: list[subprocess.Popen[str]] = []
        # Each bot gets through a board at least, and through fewer than may be played ahead of one that waits.
        bot = f"exec?bank=6000&start=600:{sys.executable} {BOTS / 'gate_bot.py'} {self.waiting} 40"
        self.words = ["eval", "rank", bot, "random", "--boards", "20", "--matches", "1", "--max-deals", "2"]

    def command(self, store: Path, workers: int) -> list[str]:
        return [
            sys.executable,
            "-m",
            *self.words,
            "--rows",
            "2",
            "--workers",
            str(workers),
            "--store",
            str(store),
        ]

    def begin(self, store: Path) -> tuple["subprocess.Popen[str]", set[Process]]:
        """The command in a session of its own, and all processes below it when both bots wait."""
        command = self.command(store, 2)
        running = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.running.append(running)
        wait_until(lambda: running.poll() is not None or (len(os.listdir(self.waiting)) == 2 and games_in(store)))
        assert running.poll() is None, running.communicate()
        below = processes(descendants(running.pid))
        commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid, _ in below]
        assert sum(b"multiprocessing.spawn" in command for command in commands) == 2
        assert sum(b"gate_bot" in command for command in commands) >= 2
        return running, below

    def finish(self, store: Path, workers: int = 2) -> bytes:
        """What the store is when the command has come to its end."""
        (self.waiting / "open").touch()
        command = self.command(store, workers)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return store.read_bytes()


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[Gated]:
    made = Gated(tmp_path)
    yield made
    for running in made.running:  # where a test failed
        running.kill()


def test_ctrl_c_leaves_no_process_and_the_same_command_goes_on(gated: Gated, tmp_path: Path) -> None:
    store = tmp_path / "games.db"
    running, below = gated.begin(store)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = running.communicate(timeout=PATIENCE)
    direct = {pid for pid, parent in parents().items() if parent == running.pid}
    assert not direct
    assert (running.returncode, out, err) == (130, "", "chicago: interrupted\n")
    wait_until(lambda: not below & processes([pid for pid, _ in below]))
    assert 0 < games_in(store) < 2 * (20 + 1)
    assert gated.finish(store) == gated.finish(tmp_path / "whole.db", workers=1)


def test_workers_end_with_a_parent_that_is_killed(gated: Gated, tmp_path: Path) -> None:
    store = tmp_path / "games.db"
    running, below = gated.begin(store)
    running.kill()
    running.communicate(timeout=PATIENCE)
    assert running.returncode == -signal.SIGKILL
    wait_until(lambda: not below & processes([pid for pid, _ in below]))
    assert gated.finish(store)


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_faults", [3, 1000])
def test_faults_are_the_same_on_several_workers(max_faults: int, tmp_path: Path) -> None:
    bad = f"exec?bank=6000&start=600:{sys.executable} {BOTS / 'bad_bot.py'} crash,illegal,garbage 13"
    field = {"bad": bad, "random": "random", "worse": bad.replace(" 13", " 7")}

    def play(workers: int) -> tuple[Ranking, bytes]:
        path = tmp_path / f"{workers}.db"
        ranking = rank(
            field, boards=6, matches=2, max_deals=2, max_faults=max_faults, rows=6, workers=workers, store=path
        )
        return ranking, path.read_bytes()

    (alone, one), (together, three) = play(1), play(3)
    assert one == three
    assert together.to_json() == alone.to_json()
    counts = {name: sum(fault.agent == name for fault in alone.faults) for name in field}
    with Store.reading(tmp_path / "3.db") as kept:
        forfeited = any(kept.played(kind).forfeited.any() for kind in KINDS)
    if max_faults == 3:
        assert counts == {"bad": 3, "random": 0, "worse": 3}
        assert forfeited
    else:
        assert {fault.status for fault in alone.faults} == {"ERROR", "INVALID"}
        assert min(counts["bad"], counts["worse"]) > 5
        assert not forfeited
