"""Plays many games in lock-step: at every step each agent is called once, on all the rows in which it is to act."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from agents.base import Actions, Agent, AgentError, Follower, Masks, Observations, ask
from chicago_env.game import NO_LOG
from chicago_env.setup import NO_DECKS, MatchSetup
from chicago_env.state import REASONS
from chicago_env.vector import GameBatch
from eval import kernels
from eval.faults import FAULT_PENALTY, MAX_FAULTS, Fault, Referee, ask_rows, check_one
from eval.following import SEATS, Following
from eval.luck import corrections_of, luck_of
from eval.rng import RowRng, decision_keys
from eval.sources import FAULT, VOID, Sources, sources_of

Ints = np.ndarray[Any, np.dtype[np.int64]]


class Games(NamedTuple):
    """How games ended.

    Attributes:
        gains: (N, P) int64, points gained by each seat, final less start score.
        winner: (N,) int64, seat, or -1: the match was truncated, or a single deal won it for nobody.
        truncated: (N,) bool.
        deals: (N,) int64, deals played.
        sources: (N, P, K) int32, points of each seat by source and counts of its decisions, `eval.sources.COLUMNS`.
        choices: of each game, for records; empty unless asked for. A game with a void deal, or that is forfeited, has no
            record, and b"" here.
        faults: the failures of agents, by game and in their order there (docs/evaluation.md).
        forfeited: (N, P) bool, seats that forfeit the game; no such game counts as played.
        luck: (N, P) int64, what is to be taken off the points of each seat for the luck of the draw, in parts of a point
            (`eval.luck.UNIT`); of a void deal until the fault, 0 where a game is forfeited. None unless asked for.
    """

    gains: Ints
    winner: Ints
    truncated: np.ndarray[Any, np.dtype[np.bool_]]
    deals: Ints
    sources: Sources
    choices: list[bytes]
    faults: tuple[Fault, ...]
    forfeited: np.ndarray[Any, np.dtype[np.bool_]]
    luck: Ints | None = None


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


OnFault = Literal["raise", "forfeit"]


def play_games(
    agents: Mapping[str, Agent],
    setups: Sequence[MatchSetup],
    boards: Ints,
    seating: Ints,
    root: int,
    *,
    clock: Clock | None = None,
    keep_choices: bool = False,
    luck: bool = False,
    on_finished: Callable[[int], None] | None = None,
    on_fault: OnFault = "raise",
    max_faults: int | None = MAX_FAULTS,
    faults_before: Mapping[str, int] | None = None,
) -> Games:
    """Plays every game to its end. Decisions with one legal action are not asked for.

    The numbers that an agent gets from its rng are keyed by (root, board, seat, number of the seat's decision in this
    game): they do not depend on what else is in the batch. An agent that follows games (`agents.base.Follower`) is told
    what happens in them, and is asked through its `Table`.

    Args:
        agents: agents by name; `seating` counts them in this order.
        setups: N setups with one number of players.
        boards: (N,) number of each game's board.
        seating: (N, P) index of the agent in each seat.
        root: root key of the agents' chance.
        clock: takes the times, if given.
        keep_choices: keep what a record needs.
        luck: measure the luck of the draw.
        on_finished: called after every step with the number of games that are over.
        on_fault: `raise` lets the `AgentError` of an agent that fails end everything. `forfeit` makes the deal void,
            takes `FAULT_PENALTY` points from the seat, and plays on with the next deal (docs/evaluation.md).
        max_faults: with `forfeit`, faults of an agent after which it forfeits the rest, games counted in the order
            given; None: never.
        faults_before: faults that agents had in earlier games of the event.

    Raises:
        AgentError: an agent failed, or answered with what is not allowed, and `on_fault` is `raise`.
    """
    event = _Event(agents, setups, boards, seating, root, keep_choices, Clock() if clock is None else clock)
    event.luck = luck
    event.referee = None if on_fault == "raise" else Referee(list(agents), seating, max_faults, faults_before)
    try:
        event.start()
        while len(live := event.live()):
            event.step(live)
            if on_finished is not None:
                on_finished(len(setups) - len(event.live()))
    finally:
        event.close()
    return event.games()


class _Event:
    """Games in lock-step."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        setups: Sequence[MatchSetup],
        boards: Ints,
        seating: Ints,
        root: int,
        keep_choices: bool,
        clock: Clock,
    ) -> None:
        self.agents = list(agents.values())
        self.names = list(agents)
        self.setups = setups
        self.boards = boards
        self.seating = seating
        self.root = root
        self.clock = clock
        self.referee: Referee | None = None
        self.luck = False
        self.keep_choices = keep_choices
        self.batch = GameBatch(setups, skip_forced=False)
        self.choices = [bytearray() for _ in setups]
        self.decisions = np.zeros(seating.shape, dtype=np.int64)
        self.starts = np.full((len(setups), kernels.START_SIZE), -1, dtype=np.int64)
        self.tables = {i: agent.sit() for i, agent in enumerate(self.agents) if isinstance(agent, Follower)}
        self.following: Following | None = None

    def start(self) -> None:
        batch, every = self.batch, np.arange(len(self.batch))
        if self.tables:
            self.following = Following(
                self.tables, batch.states, self.setups, self.starts, self.seating, self.boards, self.root
            )
            every = np.flatnonzero(~self.following.rows)
        kernels.play_forced(batch.states, every, self.starts, NO_DECKS, NO_LOG)

    def close(self) -> None:
        if self.following is not None:
            if self.referee is not None:
                for row in np.flatnonzero(self.referee.out & self.following.rows).tolist():
                    self.following.forfeit(row)
            self.following.close()

    def live(self) -> Ints:
        """Games that are to be played on."""
        live = self.batch.live
        return live if self.referee is None else live[~self.referee.out[live]]

    def step(self, live: Ints) -> None:
        """Every agent is asked once, in all its rows of `live`."""
        seats = self.batch.seats(live)
        to_act = self.seating[live, seats]
        for index in range(len(self.agents)):
            mine = np.flatnonzero(to_act == index)
            if len(mine):
                self._ask(index, live[mine], seats[mine])

    def _ask(self, index: int, rows: Ints, seats: Ints) -> None:
        observations, masks = self.batch.observe(rows)
        started = time.perf_counter()
        if index in self.tables:
            actions, errors, answered = self._ask_table(index, rows, seats, observations, masks)
            rows, seats, actions = rows[:answered], seats[:answered], actions[:answered]
        else:
            keys = np.empty(len(rows), dtype=np.int64)
            decision_keys(self.root, self.boards[rows], seats, self.decisions[rows, seats], keys)
            if self.referee is None:
                actions = ask(self.agents[index], observations, masks, RowRng(keys), name=self.names[index])
                errors = {}
            else:
                actions, errors = ask_rows(self.agents[index], observations, masks, keys, self.names[index])
        self.clock.add(self.names[index], time.perf_counter() - started, len(rows))
        if errors:
            self._fail(index, rows, seats, errors)
            good = np.array([i not in errors for i in range(len(rows))])
            rows, seats, actions = rows[good], seats[good], actions[good]
        self.decisions[rows, seats] += 1
        self._carry_out(rows, actions)

    def _ask_table(
        self, index: int, rows: Ints, seats: Ints, observations: Observations, masks: Masks
    ) -> tuple[Actions, dict[int, AgentError], int]:
        """Actions, errors, and how many rows were answered: after many failures the rest waits."""
        most = 1 if self.referee is None else self.referee.faults_left(index)
        answers = self.tables[index].decide((rows * SEATS + seats).tolist(), observations, masks, most)
        answered = next((i for i, answer in enumerate(answers) if answer is None), len(rows))
        checked = [check_one(self.names[index], a, m) for a, m in zip(answers[:answered], masks, strict=False)]
        errors = {i: answer for i, answer in enumerate(checked) if isinstance(answer, AgentError)}
        if self.referee is None and errors:
            raise next(iter(errors.values()))
        actions = np.array([0 if isinstance(a, AgentError) else a for a in checked], dtype=np.int64)
        return actions, errors, answered

    def _fail(self, index: int, rows: Ints, seats: Ints, errors: Mapping[int, AgentError]) -> None:
        assert self.referee is not None  # errors are raised otherwise
        states = self.batch.states
        faults = []
        for i, error in errors.items():
            row, seat = int(rows[i]), int(seats[i])
            deal, decision = int(states["deal"][row]), int(self.decisions[row, seat])
            name, reason = self.names[index], error.reason
            faults.append(Fault(row, seat, name, error.status, deal, decision, reason, error.line))
            self.decisions[row, seat] += 1
            self.choices[row].append(VOID + seat)
            kernels.void_deal(states, row, self.starts, seat, FAULT_PENALTY, NO_DECKS, NO_LOG)
            if self.following is not None and self.following.rows[row]:
                self.following.after_void(row, seat, FAULT_PENALTY)
            else:
                kernels.play_forced(states, np.array([row]), self.starts, NO_DECKS, NO_LOG)
        self.referee.add(faults)

    def _carry_out(self, rows: Ints, actions: Actions) -> None:
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            self.choices[row].append(action)
        if self.following is not None:
            followed = self.following.rows[rows]
            for row, action in zip(rows[followed].tolist(), actions[followed].tolist(), strict=True):
                self.following.step(row, action)
            rows, actions = rows[~followed], actions[~followed]
        kernels.step_noting(self.batch.states, rows, actions, self.starts, NO_DECKS, NO_LOG)

    def games(self) -> Games:
        """How it all ended."""
        states, players = self.batch.states, self.seating.shape[1]
        starts = np.array([setup.scores for setup in self.setups], dtype=np.int64).reshape(self.seating.shape)
        gains = states["scores"][:, :players] - starts
        winner, deals = states["winner"].copy(), np.asarray(states["deal"] + 1)
        truncated = np.asarray(states["reason"] == REASONS.index("truncated"))
        faults: tuple[Fault, ...] = ()
        forfeited = np.zeros(self.seating.shape, dtype=np.bool_)
        sources = sources_of(self.setups, self.choices, FAULT_PENALTY)
        choices = [bytes(c) for c in self.choices] if self.keep_choices else []
        luck = corrections_of(luck_of(self.setups, self.choices)) if self.luck else None
        if self.referee is not None:
            faults, forfeited = self.referee.faults, self.referee.forfeited
            for row in np.flatnonzero(self.referee.out).tolist():
                single = self.setups[row].max_deals == 1
                gains[row] = -FAULT_PENALTY * forfeited[row]
                winner[row] = -1 if single else self.referee.winner(row)
                truncated[row] = winner[row] < 0
                deals[row] = 0
                sources[row] = 0
                sources[row, :, FAULT] = gains[row]
                if luck is not None:
                    luck[row] = 0  # how far it was played depends on what else was in the batch
            if choices:
                for row in {*np.flatnonzero(self.referee.out).tolist(), *(fault.game for fault in faults)}:
                    choices[row] = b""
        return Games(gains, winner, truncated, deals, sources, choices, faults, forfeited, luck)
