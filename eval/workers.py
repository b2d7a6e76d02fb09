"""Worker processes: they load the agents by their specs, play jobs, and are replaced when they die."""

import contextlib
import heapq
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from agents.base import Agent
from chicago_env.errors import ChicagoError
from chicago_env.pool import default_threads
from eval.faults import Logs, add_logs, logs_of
from eval.jobs import Job, play_job
from eval.plan import Plan
from eval.play import Clock, Games

_DEATHS = 2
"""Times that a job may cost a worker its life; the next time ends the event."""

_AHEAD = 4
"""Jobs for each worker that may be finished before an earlier one is."""

_PAUSE = 0.1
"""Seconds between two reports of a worker."""

OnProgress = Callable[[Job, int], None]


class WorkerError(ChicagoError, RuntimeError):
    """Worker processes died again and again on the same games."""


class _Worker:
    """A process and what it is doing."""

    def __init__(self, plan: Plan, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(theirs, plan, count), daemon=True)
        self.process.start()
        theirs.close()
        self.job: int | None = None
        self.finished = 0

    def stop(self) -> None:
        """Ends the process, whatever it is doing."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """Keeps Ctrl-C from a process that is being started, and from its parent until it knows of it.

    A terminal sends it to both. The child inherits that it is blocked, and so says nothing before it ignores it.
    """
    resource_tracker.ensure_running()  # its start would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers:
    """Processes that play jobs. Used in a `with` block, at whose end none of them is left."""

    def __init__(self, plan: Plan, count: int) -> None:
        self._plan = plan
        self._count = count
        self._workers: list[_Worker] = []

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()
        self._workers = []

    def play(
        self, jobs: Sequence[Job], clock: Clock, logs: Logs, on_progress: OnProgress
    ) -> Iterator[tuple[Job, Games]]:
        """Plays all jobs, and gives them in their order, whichever is finished first.

        Args:
            jobs: what to play.
            clock: takes the times of the agents.
            logs: takes the logs of programs that play.
            on_progress: called with a job and the number of games of its kind that were finished and not given yet.

        Raises:
            AgentError: an agent failed.
            WorkerError: jobs that cannot be played: three workers died of one.
        """
        waiting = list(range(len(jobs)))  # sorted, so a heap
        finished: dict[int, Games] = {}
        deaths = [0] * len(jobs)
        given = 0
        while given < len(jobs):
            while len(self._workers) < self._count and waiting:
                with _interrupts_later():
                    self._workers.append(_Worker(self._plan, self._count))
            for worker in self._workers:
                if worker.job is None and waiting and waiting[0] < given + _AHEAD * self._count:
                    worker.job, worker.finished = heapq.heappop(waiting), 0
                    with contextlib.suppress(OSError):  # it has died; the next reading says so
                        worker.pipe.send((worker.job, jobs[worker.job]))
            for pipe in wait([worker.pipe for worker in self._workers]):
                worker = next(worker for worker in self._workers if worker.pipe is pipe)
                try:
                    what, *values = worker.pipe.recv()
                except (EOFError, OSError):
                    self._bury(worker, jobs, deaths, waiting)
                    continue
                if what == "error":
                    raise values[0]
                if what == "playing":
                    worker.finished = values[0]
                else:
                    assert worker.job is not None
                    finished[worker.job], seconds, decisions, written = values
                    _count(clock, seconds, decisions)
                    add_logs(logs, written)
                    worker.job, worker.finished = None, 0
                self._report(jobs, finished, on_progress)
            while given in finished:
                yield jobs[given], finished.pop(given)
                given += 1

    def _report(self, jobs: Sequence[Job], finished: dict[int, Games], on_progress: OnProgress) -> None:
        busy = [worker for worker in self._workers if worker.job is not None]
        first = min((worker.job for worker in busy if worker.job is not None), default=None)
        if first is None:
            return
        kind = jobs[first].unit.kind
        games = sum(worker.finished for worker in busy if jobs[worker.job or 0].unit.kind == kind)
        games += sum(len(jobs[number].boards) for number in finished if jobs[number].unit.kind == kind)
        on_progress(jobs[first], games)

    def _bury(self, worker: _Worker, jobs: Sequence[Job], deaths: list[int], waiting: list[int]) -> None:
        """Lets another worker do what a dead one was doing."""
        self._workers.remove(worker)
        worker.stop()
        if worker.job is None:
            deaths[0] += 1  # it died before it had anything to do: that ends some time too
            job = 0
        else:
            job = worker.job
            deaths[job] += 1
            heapq.heappush(waiting, job)
        unit = jobs[job].unit
        said = f"a worker process died (exit code {worker.process.exitcode}) while it played {unit.kind} boards"
        if deaths[job] > _DEATHS:
            raise WorkerError(
                f"{said} {unit.low} to {unit.high - 1}, for the {deaths[job]}rd time; what was played is kept"
            )


def _count(clock: Clock, seconds: dict[str, float], decisions: dict[str, int]) -> None:
    for name, number in decisions.items():
        clock.seconds[name] = clock.seconds.get(name, 0.0) + seconds[name]
        clock.decisions[name] = clock.decisions.get(name, 0) + number


# --- in the worker ----------------------------------------------------------------------------------------------------


def _work(pipe: Connection, plan: Plan, count: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # not for what agents start
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        agents = _load(plan, count)
        clock = Clock()
        while True:
            _, job = pipe.recv()
            games = play_job(plan, agents, job, clock, _Reporter(pipe))
            pipe.send(("played", games, clock.seconds, clock.decisions, logs_of(agents)))
            # what was sent is counted; the first call of each agent stays out of it
            clock.seconds = dict.fromkeys(clock.seconds, 0.0)
            clock.decisions = dict.fromkeys(clock.decisions, 0)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # nobody is interested any more
    except Exception as error:
        with contextlib.suppress(OSError):
            try:
                pipe.send(("error", error))
            except (TypeError, ValueError, AttributeError):  # it cannot be sent as it is
                pipe.send(("error", WorkerError(f"{type(error).__name__}: {error}")))


def _load(plan: Plan, count: int) -> dict[str, Agent]:
    from agents.registry import load  # noqa: PLC0415 - not in the parent

    agents = {entrant.name: load(entrant.spec or "") for entrant in plan.entrants}
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(max(1, default_threads() // count))
    return agents


class _Reporter:
    """Sends the number of games that are over, not too often."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._next = time.monotonic() + _PAUSE

    def __call__(self, finished: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PAUSE
            self._pipe.send(("playing", finished))


def _end_with_parent() -> None:
    """Ends this process when the parent is gone, even if it was killed."""
    parent: Any = multiprocessing.parent_process()
    parent.join()
    os._exit(1)
