"""Plays many games in lock-step: at every step each agent is called once, on all the rows in which it is to act."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent, ask
from chicago_env.setup import MatchSetup
from chicago_env.state import REASONS
from chicago_env.vector import GameBatch
from eval.rng import RowRng, decision_keys

Ints = np.ndarray[Any, np.dtype[np.int64]]


class Games(NamedTuple):
    """How games ended.

    Attributes:
        gains: (N, P) int64, points gained by each seat, final less start score.
        winner: (N,) int64, seat, or -1: the match was truncated, or a single deal won it for nobody.
        truncated: (N,) bool.
        deals: (N,) int64, deals played.
        choices: of each game, for records; empty unless asked for.
    """

    gains: Ints
    winner: Ints
    truncated: np.ndarray[Any, np.dtype[np.bool_]]
    deals: Ints
    choices: list[bytes]


@dataclass
class Clock:
    """How long agents thought. Measured, and so no part of any result.

    An agent's first call does not count: it may compile or load what later calls use.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    decisions: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, seconds: float, decisions: int) -> None:
        """Counts one call."""
        if name not in self.decisions:
            seconds, decisions = 0.0, 0
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.decisions[name] = self.decisions.get(name, 0) + decisions

    def speed(self, name: str) -> float | None:
        """Decisions per second spent in the agent; None if it was not asked twice."""
        seconds = self.seconds.get(name, 0.0)
        return self.decisions[name] / seconds if seconds > 0 else None


def play_games(
    agents: Mapping[str, Agent],
    setups: Sequence[MatchSetup],
    boards: Ints,
    seating: Ints,
    root: int,
    *,
    clock: Clock | None = None,
    keep_choices: bool = False,
    on_finished: Callable[[int], None] | None = None,
) -> Games:
    """Plays every game to its end. Decisions with one legal action are not asked for.

    The numbers that an agent gets from its rng are keyed by (root, board, seat, number of the seat's decision in this
    game): they do not depend on what else is in the batch.

    Args:
        agents: agents by name; `seating` counts them in this order.
        setups: N setups with one number of players.
        boards: (N,) number of each game's board.
        seating: (N, P) index of the agent in each seat.
        root: root key of the agents' chance.
        clock: takes the times, if given.
        keep_choices: keep what a record needs.
        on_finished: called after every step with the number of games that are over.

    Raises:
        AgentError: an agent failed, or answered with what is not allowed.
    """
    names = list(agents)
    clock = Clock() if clock is None else clock
    batch = GameBatch(setups, keep_choices=keep_choices)
    decisions = np.zeros(seating.shape, dtype=np.int64)
    live = batch.live
    while len(live):
        seats = batch.seats(live)
        to_act = seating[live, seats]
        for index, name in enumerate(names):
            mine = np.flatnonzero(to_act == index)
            if not len(mine):
                continue
            rows, at = live[mine], seats[mine]
            observations, masks = batch.observe(rows)
            keys = np.empty(len(rows), dtype=np.int64)
            decision_keys(root, boards[rows], at, decisions[rows, at], keys)
            started = time.perf_counter()
            actions = ask(agents[name], observations, masks, RowRng(keys), name=name)
            clock.add(name, time.perf_counter() - started, len(rows))
            decisions[rows, at] += 1
            batch.step(rows, actions)
        live = batch.live
        if on_finished is not None:
            on_finished(len(batch) - len(live))
    players = seating.shape[1]
    states = batch.states
    starts = np.array([setup.scores for setup in setups], dtype=np.int64).reshape(seating.shape)
    return Games(
        gains=states["scores"][:, :players] - starts,
        winner=states["winner"].copy(),
        truncated=states["reason"] == REASONS.index("truncated"),
        deals=states["deal"] + 1,
        choices=[bytes(c) for c in batch.choices] if batch.choices is not None else [],
    )
