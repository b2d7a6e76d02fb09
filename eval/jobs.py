"""Pieces of an event: the games that are still to be played, and their play."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from eval.boards import KINDS, board_root, make_board, setup_of
from eval.plan import Plan, Unit
from eval.play import Clock, Games, play_games
from eval.store import Store

Ints = np.ndarray[Any, np.dtype[np.int64]]


class Job(NamedTuple):
    """Games of a unit that are still to be played.

    Attributes:
        unit: the unit.
        boards: (N,) int64, number of each game's board.
        seating: (N, P) int64, number of the agent in each seat.
        faults: faults that each agent, by name, had in earlier units.
    """

    unit: Unit
    boards: Ints
    seating: Ints
    faults: Mapping[str, int]


def play_job(
    plan: Plan,
    agents: Mapping[str, Agent],
    job: Job,
    clock: Clock,
    on_finished: Callable[[int], None] | None = None,
) -> Games:
    """Plays the games of a job.

    Raises:
        AgentError: an agent failed, or answered with what is not allowed, and the plan does not let it forfeit.
    """
    kind = job.unit.kind
    root = board_root(plan.seed, kind)
    setups = {
        number: setup_of(
            make_board(root, number, kind, plan.players, plan.rules, plan.max_deals), plan.players, plan.rules
        )
        for number in np.unique(job.boards).tolist()
    }
    return play_games(
        agents,
        [setups[number] for number in job.boards.tolist()],
        job.boards,
        job.seating,
        root,
        clock=clock,
        keep_choices=plan.records,
        luck=plan.luck and kind == "deal",
        on_finished=on_finished,
        on_fault="forfeit" if plan.max_faults else "raise",
        max_faults=plan.max_faults,
        faults_before=job.faults,
    )


def jobs_of(plan: Plan, store: Store, rows: int) -> list[Job]:
    """What is still to be played, in order."""
    jobs = []
    missing = {kind: store.missing(plan, kind) for kind in KINDS}
    for unit in plan.units(rows):
        there = {n: missing[unit.kind][n] for n in range(unit.low, unit.high) if n in missing[unit.kind]}
        if not there:
            continue
        games, players = plan.games_of_board, plan.players
        boards = np.repeat(np.arange(unit.low, unit.high), games)
        seating = plan.seating(unit.kind, unit.low, unit.high).reshape(len(boards), players)
        keep = np.isin(boards, list(there))
        for number in (n for n, count in there.items() if count):
            played = store.lineups_of(plan.seed, unit.kind, number)
            for i in np.flatnonzero(boards == number).tolist():
                keep[i] = seating[i].astype("u1").tobytes() not in played
        jobs.append(Job(unit, boards[keep], np.ascontiguousarray(seating[keep]), {}))
    return jobs
