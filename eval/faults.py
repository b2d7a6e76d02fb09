"""Agents that fail: what it costs them, and when they are out (docs/evaluation.md)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from agents.base import Actions, Agent, AgentError, Masks, Observations, Status, ask
from chicago_env.actions import NUM_ACTIONS
from eval.rng import RowRng

Ints = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

FAULT_PENALTY = 15
"""Points that a fault costs the seat, in every rule set: as much as a Chicago that fails in the presets."""

MAX_FAULTS = 10
"""Faults of an agent in an event after which it forfeits the rest, unless something else is asked for."""


class Fault(NamedTuple):
    """One failure of an agent.

    Attributes:
        game: index of the game.
        seat: the seat at fault.
        agent: name of the agent that sits there.
        status: `ERROR`, `INVALID` or `TIMEOUT`, see `agents.base.Status`.
        deal: index of the deal in the game, from 0; it is void.
        decision: number of the decision of this seat in this game, from 0.
        reason: what is wrong, in words.
        line: what a program wrote that is at fault, printable and cut.
    """

    game: int
    seat: int
    agent: str
    status: Status
    deal: int
    decision: int
    reason: str
    line: str = ""


class Recorded(Protocol):
    """What every record of a fault has."""

    @property
    def agent(self) -> str: ...  # noqa: D102 - as in `Fault`
    @property
    def status(self) -> str: ...  # noqa: D102 - as above
    @property
    def reason(self) -> str: ...  # noqa: D102 - as above


def faults_text(names: Iterable[str], faults: Sequence[Recorded]) -> list[str]:
    """How often which agents failed, and how first: a line for each that did."""
    lines = []
    for name in names:
        mine = [fault for fault in faults if fault.agent == name]
        if mine:
            counts = ", ".join(f"{n} {status}" for status, n in sorted(Counter(f.status for f in mine).items()))
            times = "once" if len(mine) == 1 else f"{len(mine)} times"
            lines.append(f"{name} failed {times} ({counts}), first: {mine[0].reason}")
    return lines


Logs = dict[str, set[Path]]
"""Standard error of programs that played, by name of the agent: a file for each process that had one."""


def logs_of(agents: Mapping[str, Agent]) -> Logs:
    """Where the standard error of programs in this process is kept; those that said nothing are left out."""
    logs = {name: getattr(agent, "log", None) for name, agent in agents.items()}
    return {name: {log} for name, log in logs.items() if isinstance(log, Path) and log.exists() and log.stat().st_size}


def add_logs(logs: Logs, more: Logs) -> None:
    """Adds the files of `more` to `logs`."""
    for name, files in more.items():
        logs.setdefault(name, set()).update(files)


class Referee:
    """Keeps the faults of an event and says who is out.

    The rule counts games in the order of their indices: the game in which an agent's fault number `max_faults` happens
    is forfeited there and then, and so is every later game in which it sits. What is forfeited so counts no faults of
    others. So it does not matter in which order games are played, and how many at once.

    Attributes:
        out: (N,) bool, games that are forfeited as far as is known: they need not be played on. A fault that is found
            in an earlier game may bring one back.
        forfeited: (N, P) bool, seats of agents that are out.
    """

    def __init__(
        self, names: Sequence[str], seating: Ints, max_faults: int | None, before: Mapping[str, int] | None = None
    ) -> None:
        """Takes the seating (N, P) and the number of faults that agents had in earlier games of the event."""
        self._names = names
        self._seating = seating
        self._max = max_faults
        self._before = [0 if before is None else before.get(name, 0) for name in names]
        self._given: list[Fault] = []
        self.faults: tuple[Fault, ...] = ()
        self.out: Flags = np.zeros(len(seating), dtype=np.bool_)
        self.forfeited: Flags = np.zeros(seating.shape, dtype=np.bool_)
        self._decide()

    def add(self, faults: Iterable[Fault]) -> None:
        """Takes faults; those of one game come in their order."""
        self._given += faults
        self._decide()

    def _decide(self) -> None:
        if self._max is None:
            self.faults = tuple(sorted(self._given, key=lambda fault: fault.game))
            return
        games = len(self._seating)
        counts = list(self._before)
        # Index of the game in which an agent is out: -1 from the start, N never.
        last = [-1 if count >= self._max else games for count in counts]
        kept = []
        for fault in sorted(self._given, key=lambda fault: fault.game):
            table = self._seating[fault.game]
            # at the same index, the game has ended with an earlier fault
            if any(last[a] <= fault.game for a in table.tolist()):
                continue
            agent = int(table[fault.seat])
            kept.append(fault)
            counts[agent] += 1
            if counts[agent] >= self._max:
                last[agent] = fault.game
        self.faults = tuple(kept)
        self.forfeited = np.asarray(np.array(last, dtype=np.int64)[self._seating] <= np.arange(games)[:, None])
        self.out = np.asarray(self.forfeited.any(axis=1))

    def faults_left(self, agent: int) -> int | None:
        """Faults after which an agent (by index) would be out, at least 1; None: no number of them."""
        if self._max is None:
            return None
        name = self._names[agent]
        return max(1, self._max - self._before[agent] - sum(fault.agent == name for fault in self.faults))

    def winner(self, game: int) -> int:
        """Who wins a match that is forfeited: the first seat to the left of one that forfeits it; -1: all do."""
        forfeited = self.forfeited[game].tolist()
        players = len(forfeited)
        order = [s % players for s in range(forfeited.index(True), forfeited.index(True) + players)]
        return next((s for s in order if not forfeited[s]), -1)


def ask_rows(
    agent: Agent, observations: Observations, masks: Masks, keys: Ints, name: str
) -> tuple[Actions, dict[int, AgentError]]:
    """Asks an agent, and finds out in which rows it fails.

    Where the whole call fails, each row is asked alone: an agent's answer in a row does not depend on the others, so
    what comes out does not depend on what else was in the batch. If then none fails, the agent breaks that promise, and
    the first row pays for it.

    Args:
        agent: the agent.
        observations: (B, D) uint8.
        masks: (B, A) int8.
        keys: (B,) int64, keys of the rows' chance.
        name: what to call it.

    Returns:
        Actions (B,), meaningless in rows that failed, and the errors by row.
    """
    try:
        return ask(agent, observations, masks, RowRng(keys), name=name), {}
    except AgentError as error:
        whole = error
    actions = np.zeros(len(keys), dtype=np.int64)
    errors: dict[int, AgentError] = {}
    for row in range(len(keys)):
        one = slice(row, row + 1)
        try:
            actions[one] = ask(agent, observations[one].copy(), masks[one], RowRng(keys[one]), name=name)
        except AgentError as error:
            errors[row] = error
    return actions, errors or {0: whole}


def check_one(name: str, answer: object, mask: np.ndarray[Any, np.dtype[np.int8]]) -> int | AgentError:
    """The answer of a `Table` for one place; an error if it is no legal action.

    Args:
        name: name of the agent.
        answer: what it said.
        mask: (A,) int8.
    """
    if isinstance(answer, AgentError):
        return AgentError(name, answer.reason, None, answer.status, answer.line, answer.log)
    if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
        return AgentError(name, f"answered {type(answer).__name__}, not the number of an action", None, "INVALID")
    if not 0 <= answer < NUM_ACTIONS or not mask[answer]:
        return AgentError(name, f"answered action {answer}, which is illegal", None, "INVALID")
    return int(answer)
