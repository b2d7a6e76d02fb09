"""Kills a ranking at random moments, `python -m tests.kill_runs FOLDER KILLS SEED`, and runs it again until it is through.

Prints how many kills there were and how many results, each the same bytes as that of a run that nobody killed. A child is
made by fork, so that each run takes a fraction of a second.
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from eval.ranking import rank

FIELD = {name: name for name in ("random", "heuristic:novice")}
OPTIONS = {"boards": 60, "matches": 8, "max_deals": 6, "rows": 16, "seed": 3, "luck": True}


def play(store: Path, after: float | None) -> bool:
    """Plays in a child that is killed after so many seconds; whether it came to the end."""
    child = os.fork()
    if not child:
        code = 1
        try:
            rank(FIELD, store=store, **OPTIONS)
            code = 0
        finally:
            os._exit(code)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a run failed")
    return os.WIFEXITED(status)


def main(folder: Path, kills: int, seed: int) -> None:
    rank(FIELD, boards=2, matches=1, max_deals=2)  # compiles before anything is measured
    started = time.perf_counter()
    assert play(folder / "whole.db", None)
    takes = time.perf_counter() - started
    wanted = (folder / "whole.db").read_bytes()
    rng = np.random.default_rng(seed)
    killed = through = 0
    while killed < kills:
        store = folder / "killed.db"
        store.unlink(missing_ok=True)
        while not play(store, rng.uniform(0, takes) if killed < kills else None):
            killed += 1
        assert store.read_bytes() == wanted, "other bytes"
        left = sorted(os.listdir(folder))
        assert left == ["killed.db", "whole.db"], left
        through += 1
    sys.stdout.write(f"{killed} {through}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
