"""Prints the table of docs/evaluation.md on the sequential test: `python -m eval.sprt_figures`.

How often it errs and how many boards it takes, in simulated runs. Boards are drawn from the values of boards that two
agents of like style played, shifted to the difference in question; with equal agents every value is as likely as its
opposite.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents import load
from agents.base import Actions, Agent, Masks, Observations, Rng
from chicago_env.cli import told
from chicago_env.docs import FOLDER, filled
from chicago_env.files import replacing
from eval.sequential import Design, log_ratios, wins_of_elo
from eval.sprt import Boards, board_values, make_plan

PAGE = FOLDER / "evaluation.md"
NAME = "sprt"
DIFFERENCES = (0.0, 5.0, 10.0, 20.0, 40.0)

Floats = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


class Mixture:
    """Plays as one agent with a given chance at each decision, else as another: for agents that differ by a little."""

    def __init__(self, often: str, seldom: str, chance: float) -> None:
        self.name = f"{often}, {chance:.0%} {seldom}"
        self._often, self._seldom, self._chance = load(often), load(seldom), chance

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`."""
        seldom = rng.random(len(masks)) < self._chance
        one = self._often.act(observations, masks, rng)
        other = self._seldom.act(observations, masks, rng)
        return np.where(seldom, other, one)


class Outcomes(NamedTuple):
    """Simulated runs of a test.

    Attributes:
        first: share of runs with the verdict "the first is better".
        equivalent: share with "equivalent".
        second: share with "the second is better".
        boards: mean number of boards.
    """

    first: float
    equivalent: float
    second: float
    boards: float


def simulate(design: Design, draw: Draw, runs: int, seed: int) -> Outcomes:
    """Runs a test many times, all of them side by side.

    Args:
        design: the test.
        draw: gives values of boards, of the shape asked for.
        runs: number of runs.
        seed: of the runs.
    """
    rng = np.random.default_rng(seed)
    low, high = design.bounds
    total, squares = np.zeros(runs), np.zeros(runs)
    given_up = np.zeros((2, runs), dtype=np.bool_)
    verdict, taken = np.full(runs, -1), np.full(runs, design.cap)
    open_runs = np.arange(runs)
    for boards in range(design.look, design.cap + 1, design.look):
        values = draw(rng, (len(open_runs), design.look))
        total[open_runs] += values.sum(axis=1)
        squares[open_runs] += (values * values).sum(axis=1)
        ratios = np.stack(log_ratios(boards, total[open_runs], squares[open_runs], design.margin))
        won = (ratios >= high) & ~given_up[:, open_runs]
        given_up[:, open_runs] |= ratios <= low
        found = np.where(won[0], 0, np.where(won[1], 2, np.where(given_up[:, open_runs].all(axis=0), 1, -1)))
        over = found >= 0
        verdict[open_runs[over]], taken[open_runs[over]] = found[over], boards
        open_runs = open_runs[~over]
        if not len(open_runs):
            break
    first, equivalent, second = (float((verdict == which).mean()) for which in range(3))
    return Outcomes(first, equivalent, second, float(taken.mean()))


def resampled(values: Floats, mean: float) -> Draw:
    """Draws from `values` (n,) with signs at random, shifted to a mean."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        found = values[rng.integers(len(values), size=shape)] * rng.choice([-1.0, 1.0], size=shape)
        return np.asarray(found + mean)

    return draw


def play_boards(first: Agent, second: Agent, boards: int, players: int, seed: int) -> Floats:
    """(n,) values of boards of single deals between two agents."""
    plan = make_plan("first", "second", players=players, seed=seed, look=boards, cap=boards)
    return board_values(Boards(plan, {"first": first, "second": second}, 200).play(0, {}).values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=4000, help="boards played between each two agents")
    parser.add_argument("--runs", type=int, default=10_000, help="simulated runs of each kind")
    parser.add_argument("--seed", type=int, default=1, help="root of all chance")
    given = parser.parse_args(arguments)
    page = PAGE.read_text("utf-8")
    filled(page, NAME, "")
    plan = make_plan("first", "second")
    lines = [
        "| boards of | sd of a board | difference, Elo | first better | equivalent | second better | boards, mean |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    pairs = (
        (Mixture("heuristic:novice", "heuristic:poker", 0.3), load("heuristic:novice")),
        (load("heuristic:poker"), load("heuristic:novice")),
    )
    for first, second in pairs:
        values = play_boards(first, second, given.boards, 2, given.seed)
        values -= values.mean()
        for elo in DIFFERENCES:
            mean = wins_of_elo(elo) / plan.scale
            runs = given.runs if elo in {0.0, plan.elo} else max(1, given.runs // 10)
            found = simulate(plan.design, resampled(values, mean), runs, given.seed)
            shares = " | ".join(f"{100 * share:.2f} %" for share in found[:3])
            name = f"{first.name} against {second.name}".replace("heuristic:", "")
            lines.append(f"| {name} | {values.std():.3f} | {elo:g} | {shares} | {found.boards:,.0f} |")
            sys.stderr.write(lines[-1] + "\n")
    text = "\n".join(
        [f"{given.runs:,} runs for 0 and {plan.elo:g} Elo, a tenth for others; seed {given.seed}.", "", *lines]
    )
    with replacing(PAGE) as file:
        file.write(filled(page, NAME, text).encode())
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
