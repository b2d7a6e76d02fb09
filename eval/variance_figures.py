"""Prints the table of docs/evaluation.md on what boards save: `python -m eval.variance_figures`.

Single deals from 0-0, which is every other board of a ranking. How much is saved depends on how alike two agents are, so the
pairs go from a near twin to a network against a heuristic.
"""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from contextlib import closing

import numpy as np

from agents import load
from agents.base import Agent
from chicago_env.cli import told
from chicago_env.docs import FOLDER, filled
from chicago_env.files import replacing
from eval.event import Event
from eval.plan import check_plan
from eval.ranking import scores_of_store
from eval.scores import NO_MEETING, Meeting
from eval.sprt_figures import Mixture
from eval.store import Store
from eval.variance import VarianceFactors, factors_of

PAGE = FOLDER / "evaluation.md"
NAME = "variance"
NETWORKS = {2: "ppo-2p-canonical", 4: "ppo-all-canonical"}
"""The network of each number of players."""


def pairs_of(players: int) -> list[tuple[Agent, Agent]]:
    """The pairs that are measured."""
    novice, poker, tricks, expert = (load(f"heuristic:{name}") for name in ("novice", "poker", "tricks", "expert"))
    network = load(NETWORKS[players])
    twin = Mixture("heuristic:novice", "heuristic:poker", 0.3)
    return [(twin, novice), (poker, novice), (tricks, poker), (expert, tricks), (network, tricks), (network, expert)]


def from_nothing(meeting: Meeting, numbers: np.ndarray) -> Meeting:
    """The boards from 0-0 alone, which have even numbers.

    Args:
        meeting: single deals of two agents.
        numbers: (n,) number of each board of the event.
    """
    even = numbers[meeting.boards] % 2 == 0
    return dataclasses.replace(
        meeting,
        boards=meeting.boards[even],
        points=meeting.points[even],
        shares=meeting.shares[even],
        even=meeting.even[even],
        winner=meeting.winner[even],
        equity=meeting.equity[even],
        corrected=None if meeting.corrected is None else meeting.corrected[even],
    )


def measured(first: Agent, second: Agent, players: int, boards: int, seed: int) -> VarianceFactors:
    """Variance factors of single deals from 0-0 between two agents."""
    both = {first.name: first, second.name: second}
    plan = check_plan(both, players=players, boards=2 * boards, matches=0, seed=seed, luck=True)
    with closing(Store.in_memory(plan)) as store:
        Event(plan, store, rows=4096).play(both)
        scores = scores_of_store(store, "deal")
    return factors_of(from_nothing(scores.meetings[0, 1], scores.keys[:, 1]), NO_MEETING)


def variance_table(boards: int, seed: int) -> str:
    """All pairs at 2 and 4 players, as a Markdown table."""
    lines = [
        f"`pagat`, {boards:,} boards from 0–0, seed {seed}.",
        "",
        "| agents | players | points | less the luck of the draw | match equity |",
        "|---|---|---|---|---|",
    ]
    for players in NETWORKS:
        for first, second in pairs_of(players):
            found = measured(first, second, players, boards, seed)
            cells = ["–" if factor is None else f"{factor:.2f}" for factor in found[1:]]
            names = " against ".join(name.replace("heuristic:", "") for name in (first.name, second.name))
            lines.append(f"| {names} | {players} | {' | '.join(cells)} |")
            sys.stderr.write(lines[-1] + "\n")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=4000, help="boards from 0-0 of each pair")
    parser.add_argument("--seed", type=int, default=0, help="root of all chance")
    given = parser.parse_args(arguments)
    page = PAGE.read_text("utf-8")
    filled(page, NAME, "")  # finds out before anything is played whether the page has a place for it
    table = variance_table(given.boards, given.seed)
    with replacing(PAGE) as file:
        file.write(filled(page, NAME, table).encode())
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
