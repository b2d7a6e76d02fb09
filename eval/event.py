"""Plays a plan into a store: piece by piece, each piece written down at once, on one process or several."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from eval.boards import KINDS, Kind
from eval.faults import Logs, add_logs, logs_of
from eval.jobs import Job, jobs_of, play_job
from eval.plan import Plan
from eval.play import Clock, Games
from eval.scores import Standings
from eval.store import Store

OnRecord = Callable[[dict[str, Any]], None]


class Standing(NamedTuple):
    """An agent's results so far, every game weighing the same.

    Attributes:
        name: its name.
        points: mean points per deal against the others; None before its first deal.
        wins: mean share of matches won, .5 (`tables`: 1/P) when even; None before its first match.
    """

    name: str
    points: float | None
    wins: float | None


class Progress(NamedTuple):
    """How far an event has come.

    Attributes:
        kind: what is being played, single deals or whole matches.
        done: boards of this kind that have been played, by the number of games finished.
        total: boards of this kind.
        standings: the agents, best first.
    """

    kind: Kind
    done: int
    total: int
    standings: tuple[Standing, ...] = ()


OnProgress = Callable[[Progress], None]


class Event:
    """A plan that is being played.

    Attributes:
        clock: how long agents thought.
        logs: standard error of programs that played, by name of the agent: a file for each process.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        *,
        rows: int,
        on_progress: OnProgress | None = None,
        on_record: OnRecord | None = None,
    ) -> None:
        """Takes what to play, and where to; `rows` games are one piece. Finds out what is there already."""
        self.plan = plan
        self.clock = Clock()
        self.logs: Logs = {}
        self._store = store
        self._on_progress = on_progress
        self._on_record = on_record
        self._standings = Standings(len(plan.entrants), plan.players)
        self._jobs = jobs_of(plan, store, rows)
        self._done = {kind: plan.total(kind) for kind in KINDS}
        for job in self._jobs:
            self._done[job.unit.kind] -= len(np.unique(job.boards))
        if on_progress is not None and store.path is not None:
            for kind in KINDS:
                played = store.played(kind)
                self._standings.add(kind, played.lineups, played.gains, played.winner)

    def play(self, agents: Mapping[str, Agent], workers: int = 1) -> None:
        """Plays everything, in this process or on several, which load the agents themselves. The result is the same.

        Raises:
            AgentError: an agent failed, and the plan does not let it forfeit. What was played before is in the store.
            WorkerError: a worker process died again and again.
            StoreError: the store cannot be written.
        """
        if workers == 1 or len(self._jobs) < 2:
            for job in self._jobs:
                self._play_here(agents, job)
            return
        from eval.workers import Workers  # noqa: PLC0415 - one process needs none of it

        for agent in agents.values():  # a program that was tried here is not needed while others play
            close = getattr(agent, "close", None)
            if callable(close):
                close()
        with Workers(self.plan, min(workers, len(self._jobs))) as pool:
            for job, games in pool.play(self._jobs, self.clock, self.logs, self._tell):
                if self._stands(games, self._store.faults_before(self.plan.seed, job.unit.kind, job.unit.low)):
                    self._keep(job, games)
                else:
                    self._play_here(agents, job)

    def _play_here(self, agents: Mapping[str, Agent], job: Job) -> None:
        faults = self._store.faults_before(self.plan.seed, job.unit.kind, job.unit.low)
        job = job._replace(faults=faults)

        def on_finished(finished: int) -> None:
            self._tell(job, finished)

        games = play_job(self.plan, agents, job, self.clock, on_finished)
        add_logs(self.logs, logs_of(agents))
        self._keep(job, games)

    def _stands(self, games: Games, before: Mapping[str, int]) -> bool:
        """Whether games that were played without regard to faults in earlier units ended as with it."""
        counts = Counter(before)
        counts.update(fault.agent for fault in games.faults)
        return not counts or max(counts.values()) < self.plan.max_faults or not before

    def _keep(self, job: Job, games: Games) -> None:
        kind = job.unit.kind
        self._store.add(self.plan.seed, kind, job.boards, job.seating, games)
        self._done[kind] += len(np.unique(job.boards))
        self._standings.add(kind, job.seating, games.gains, games.winner)
        self._tell(job, 0)
        if self._on_record is not None:
            self._write_records(job, games)

    def _tell(self, job: Job, finished: int) -> None:
        """Reports progress, with `finished` games of jobs of this kind that are not in the store yet."""
        if self._on_progress is None:
            return
        kind = job.unit.kind
        boards = finished // self.plan.games_of_board
        standings = tuple(Standing(self.plan.names[a], *figures) for a, *figures in self._standings.order())
        self._on_progress(Progress(kind, self._done[kind] + boards, self.plan.total(kind), standings))

    def _write_records(self, job: Job, games: Games) -> None:
        from eval.store.export import record  # noqa: PLC0415 - only where records are asked for

        assert self._on_record is not None
        for number, lineup, choices in zip(job.boards.tolist(), job.seating.tolist(), games.choices, strict=True):
            if not choices:
                continue  # a deal was void: there is no record
            names = [self.plan.names[agent] for agent in lineup]
            self._on_record(record(self.plan, job.unit.kind, number, names, choices))
