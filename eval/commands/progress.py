"""A bar with boards/s, time left and the standings so far, on standard error."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from eval.event import Progress

_TITLES = {"deal": "single deals", "match": "whole matches"}
_SHOWN = 12
"""Agents in the standings; more do not fit under a bar."""


@contextmanager
def progress_bar() -> "Iterator[Callable[[Progress], None]]":
    """Shows what an event reports, where standard error is a terminal; gives what takes it."""
    from rich.console import Console  # noqa: PLC0415 - `--help` needs none of it
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    from chicago_env.figures import FigureTable  # noqa: PLC0415 - as above

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} boards/s")

    class Shown(Bar):
        newest: "Progress | None" = None

        def get_renderables(self) -> "Iterable[RenderableType]":
            yield from super().get_renderables()
            if self.newest is not None and self.newest.standings:
                yield standings(self.newest)

    def standings(progress: "Progress") -> FigureTable:
        table = FigureTable("", ["match wins", "points a deal"], names="so far", header_style="dim")
        for name, points, wins in progress.standings[:_SHOWN]:
            shares = "–" if wins is None else f"{100 * wins:.1f} %"
            table.add(name, [shares, "–" if points is None else f"{points:+.2f}"])
        if len(progress.standings) > _SHOWN:
            table.add(f"… {len(progress.standings) - _SHOWN} more", ["", ""])
        return table

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Speed(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Shown(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:

        def show(progress: "Progress") -> None:
            if progress.kind not in tasks:
                # what a store has already does not count as speed
                tasks[progress.kind] = bar.add_task(
                    _TITLES[progress.kind], total=progress.total, completed=progress.done
                )
            bar.newest = progress
            bar.update(tasks[progress.kind], completed=progress.done)

        yield show
