"""How fast this machine plays: what `chicago bench` measures. Each figure is the best of several short runs.

The best run, not the mean: other work on the machine only ever makes a run slower.
"""

import copy
import os
import platform
import random  # noqa: TID251 - the cheapest choice there is: the loop is measured, not the generator
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from chicago_env.actions import NUM_ACTIONS
from chicago_env.chicago_v0 import raw_env
from chicago_env.game import NO_LOG, Game, new_states
from chicago_env.kernels import batch as kernels
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.pool import default_threads, run_chunks
from chicago_env.setup import NO_DECKS, MatchSetup
from chicago_env.vector import BatchEnv

RUNS = 5


class Figure(NamedTuple):
    """One measured figure.

    Attributes:
        name: key in the JSON.
        value: what was measured.
        unit: its unit.
        goal: the project's goal, a least or, for times, a greatest value.
        text: what was done.
    """

    name: str
    value: float
    unit: str
    goal: float | None
    text: str

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.unit.endswith("/s") else self.value <= self.goal


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": default_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _best(run: Callable[[], float], runs: int = RUNS) -> float:
    return max(run() for _ in range(runs))


def fused(players: int, rules: str, threads: int, decisions: int) -> float:
    """Decisions/s of uniformly random play in one compiled loop for each thread, observation and mask written for each."""
    rows = max(threads, 1) * 128
    states = new_states([MatchSetup.make(players, rules)] * rows)
    every = np.arange(rows)
    kernels.start_rows(states, every, every, every * 0 - 1, every * 0 + 200, NO_DECKS, False, NO_LOG)
    observation = np.empty((rows, OBSERVATION_SIZE), dtype=np.uint8)
    mask = np.empty((rows, NUM_ACTIONS), dtype=np.int8)
    steps = max(decisions // rows, 1)
    calls = iter(range(1 << 30))

    def run() -> float:
        key = next(calls)
        start = time.perf_counter()
        run_chunks(
            lambda low, high: kernels.play_uniformly(
                states, low, high, steps, key, NO_DECKS, observation, mask, NO_LOG
            ),
            rows,
            threads,
            min_rows=32,  # each plays for long: more parts than threads, as in a large batch
        )
        return rows * steps / (time.perf_counter() - start)

    run()
    return _best(run)


def batch(num_envs: int, players: int, rules: str, steps: int) -> tuple[float, float]:
    """Decisions/s of `BatchEnv.step` alone, and of the loop with the choice of a random legal action in it."""
    env = BatchEnv(num_envs, players, rules, seed=0, skip_forced=False)
    now = env.reset()
    calls = 0

    def run(chosen_too: bool) -> float:
        nonlocal now, calls
        took = 0.0
        start = time.perf_counter()
        for _ in range(steps):
            calls += 1
            actions = kernels.choose_uniformly(now.mask, calls)
            before = time.perf_counter()
            now = env.step(actions)
            took += time.perf_counter() - before
        return num_envs * steps / (time.perf_counter() - start if chosen_too else took)

    run(False)
    return _best(lambda: run(False)), _best(lambda: run(True))


def aec_loop(env: Any, decisions: int, rng: random.Random) -> None:
    """The loop that PettingZoo documents, with `last()` and a masked random action, until `decisions` have been made."""
    made = 0
    while made < decisions:
        env.reset(seed=made)
        for _agent in env.agent_iter():
            observation, _reward, termination, truncation, _info = env.last()
            if termination or truncation:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(rng.random() * len(legal))]))
            made += 1
            if made == decisions:
                break


def aec(players: int, rules: str, decisions: int) -> float:
    """Decisions/s of `aec_loop` over `raw_env`."""
    env = raw_env(players=players, rules=rules)
    rng = random.Random(0)

    def run() -> float:
        start = time.perf_counter()
        aec_loop(env, decisions, rng)
        return decisions / (time.perf_counter() - start)

    run()
    return _best(run)


def deep_copy(players: int, rules: str, copies: int) -> float:
    """Microseconds for `copy.deepcopy` of a game in the middle of a deal."""
    game = Game(players, rules, seed=0)
    while game.phase != "play":
        game.step(game.legal_actions()[0])

    def run() -> float:
        start = time.perf_counter()
        for _ in range(copies):
            copy.deepcopy(game)
        return -(time.perf_counter() - start) / copies * 1e6

    return -_best(run)


_FIRST_STEP = """
import time
start = time.perf_counter()
from chicago_env import chicago_v0
env = chicago_v0.env(players=4)
env.reset(seed=0)
env.step(0)
print(time.perf_counter() - start)
"""


def starts() -> tuple[float, float]:
    """Seconds of import and first step in a new process: never compiled here before, and the next time."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"CHICAGO_CACHE_DIR": folder}

        def run() -> float:
            result = subprocess.run(
                [sys.executable, "-c", _FIRST_STEP], env=environment, capture_output=True, text=True, check=True
            )
            return float(result.stdout)

        return run(), min(run() for _ in range(3))


def measure(quick: bool, progress: Callable[[str], None]) -> list[Figure]:
    """All figures.

    Args:
        quick: a tenth of the decisions, and no compilation, to see that it runs; the figures are rough.
        progress: told what is measured next.
    """
    scale = 1 if quick else 10
    threads = default_threads()
    found: list[Figure] = []

    def add(name: str, value: float, unit: str, goal: float | None, text: str) -> None:
        found.append(Figure(name, value, unit, goal, text))

    if not quick:
        progress("first start")
        first, later = starts()
        add("first_start", first, "s", 60, "import and first step where nothing is compiled yet")
        add("later_start", later, "s", 2, "import and first step, later")
    for players in (2, 3, 4, 5, 6):
        progress(f"fused play, {players} players")
        value = fused(players, "pagat", threads, 500_000 * scale)
        goal = 8e6 if players == 4 else None
        add(
            f"fused_{players}p", value, "decisions/s", goal, f"fused uniform play, {players} players, {threads} threads"
        )
    progress("batch")
    alone, with_choice = batch(4096, 4, "pagat", 10 * scale)
    add("batch_4096", alone, "decisions/s", 4e6, "BatchEnv.step, B = 4096, 4 players")
    add("batch_4096_loop", with_choice, "decisions/s", None, "the same with random actions chosen in the loop")
    progress("AEC loop")
    add(
        "aec",
        aec(4, "pagat", 5_000 * scale),
        "decisions/s",
        5e4,
        "raw_env, last() and a masked random action, 4 players",
    )
    progress("deep copy")
    add("deepcopy", deep_copy(4, "pagat", 1_000 * scale), "µs", 20, "copy.deepcopy of a game in the tricks, 4 players")
    return found
