"""Progress bars for the terminal."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.ranking import Progress as Ranked
    from train.callback import Progress as Standing


@contextlib.contextmanager
def training_bar(*, hidden: bool = False) -> Iterator["Callable[[Standing], None]"]:
    """A bar with time left, decisions per second and newest results; gives what updates it."""
    with share_bar("training", hidden=hidden) as update:
        yield lambda now: update(now.done, f"{now.speed:,.0f} decisions/s" + (f", {now.note}" if now.note else ""))


@contextlib.contextmanager
def ranking_bar(*, hidden: bool = False) -> Iterator["Callable[[Ranked], None]"]:
    """A bar on standard error for `eval.rank`; gives what updates it."""
    from rich.console import Console  # noqa: PLC0415 - not needed for --help
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bar:
        tasks = {kind: bar.add_task(f"ranking, {word}", total=None) for kind, word in _KINDS.items()}

        def update(now: "Ranked") -> None:
            bar.update(tasks[now.kind], completed=now.done, total=now.total)

        yield update


_KINDS = {"deal": "single deals", "match": "matches"}


@contextlib.contextmanager
def share_bar(what: str, *, hidden: bool = False) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error for anything whose done share, 0 to 1, is known; gives what updates it."""
    from rich.console import Console  # noqa: PLC0415 - not needed for --help
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    bar = Progress(*columns, console=Console(stderr=True), disable=hidden)
    task = bar.add_task(what, total=1.0, note="")

    def update(done: float, note: str) -> None:
        bar.start()
        bar.update(task, completed=done, note=note)

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()
