"""How fast the arena is: what `chicago eval bench` measures."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from agents import load
from chicago_env.bench import Figure
from chicago_env.vector import BatchEnv
from eval.event import Progress
from eval.ranking import Ranking, rank
from eval.stats import t_quantile

HEURISTICS = ("random", "heuristic:novice", "heuristic:poker", "heuristic:tricks", "heuristic:expert")
CHECKPOINT = "ppo-2p"
MARGIN = 0.01
"""Half the width of the interval of match wins that is aimed at."""

PLAYERS = (2, 4)
"""Numbers of players at which the speed of agents is measured."""

_ROWS = 4096
"""Games that an agent plays at once where its speed is measured."""

_WARM = 0.25
"""Share of the boards after which the clock starts: by then every process has loaded and compiled what it needs."""


def measure(*, quick: bool, workers: int, told: Callable[[str], None]) -> list[Figure]:
    """Plays, and says how fast; `told` hears what is being measured."""
    scale = 10 if quick else 1
    told("heuristics, single deals")
    deals, _ = _timed(HEURISTICS, boards=4000 // scale, matches=0, workers=workers)
    told("heuristics and a checkpoint, whole matches")
    speed, ranking = _timed((*HEURISTICS, CHECKPOINT), boards=0, matches=400 // scale, workers=workers)
    boards = max(_boards_needed(ranking))
    speeds = []
    for players in PLAYERS:
        for name in HEURISTICS:
            told(f"{name}, {players} players")
            speeds.append(
                Figure(
                    f"{name}_{players}",
                    decisions_per_second(name, players, rounds=100 // scale),
                    "decisions/s",
                    200_000.0,
                    f"decisions of {name} at {players} players, {_ROWS:,} games at once",
                )
            )
    pairs = len(HEURISTICS) * (len(HEURISTICS) - 1)  # games of a board: two of each pair
    matches = (len(HEURISTICS) + 1) * len(HEURISTICS)
    return [
        Figure(
            "deals", deals * pairs, "deals/s", 5000.0, f"two-player deals of {len(HEURISTICS)} heuristics, all pairs"
        ),
        Figure(
            "matches", speed * matches, "matches/s", None, "two-player matches of these and a checkpoint, all pairs"
        ),
        Figure(
            "boards", float(boards), "boards", None, f"boards of matches until every pair is known to ±{MARGIN:.0%}"
        ),
        Figure(
            "pairs", boards / speed, "s", 180.0, f"{len(ranking.rows)} agents, all pairs to ±{MARGIN:.0%} of match wins"
        ),
        *speeds,
    ]


def decisions_per_second(name: str, players: int, *, rounds: int) -> float:
    """Decisions per second of an agent that plays itself under `pagat`, on all cores; the engine's own time is left out."""
    agent, rng = load(name), np.random.default_rng(0)
    env = BatchEnv(_ROWS, players=players, rules="pagat", seed=0)
    now = env.reset()
    agent.act(now.observation[:8], now.mask[:8], rng)  # compiled, or loaded
    taken = 0.0
    for _ in range(rounds):
        began = time.perf_counter()
        chosen = agent.act(now.observation, now.mask, rng)
        taken += time.perf_counter() - began
        now = env.step(chosen)
    return _ROWS * rounds / taken


def _timed(names: Sequence[str], *, boards: int, matches: int, workers: int) -> tuple[float, Ranking]:
    """Boards per second once everything is warm, and the ranking."""
    marks: list[tuple[float, int]] = []

    def progress(now: Progress) -> None:
        marks.append((time.perf_counter(), now.done))

    # pieces small enough that all processes are busy to the end
    field = {name: name for name in names}
    ranking = rank(field, boards=boards, matches=matches, workers=workers, rows=2048, progress=progress)
    end, done = marks[-1]
    began, first = next(mark for mark in marks if mark[1] >= _WARM * done)
    return (done - first) / (end - began), ranking


def _boards_needed(ranking: Ranking) -> list[int]:
    """Boards until the interval of each pair is as narrow as asked for: its width goes with one over the root."""
    needed = []
    for pair in ranking.pairs:
        half = pair.wins.half_width or 0.0
        boards = pair.wins.boards
        # the quantile for many boards, not that for those played
        half *= t_quantile(1_000_000) / t_quantile(max(1, boards - 1))
        needed.append(round(boards * (half / MARGIN) ** 2))
    return needed
