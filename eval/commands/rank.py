"""The command `chicago eval rank`."""

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from chicago_env.cli import OK
from chicago_env.errors import UsageError
from chicago_env.setup import MAX_DEALS
from eval.extras import REPORT, require

if TYPE_CHECKING:
    from agents import Agent
    from eval.ranking import Progress

STDOUT = "-"
_OPTIONS = ("players", "rules", "boards", "matches", "seed", "anchor", "max_deals", "rows")


@dataclass(frozen=True)
class Config:
    """Rank agents against each other: every pair plays the same boards, each board in all seat rotations."""

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Names as `chicago agents` lists them, or paths of checkpoints."""
    players: int = 2
    """Seats at a table, 2 to 6; beyond 2 one agent plays against copies of the other, and the other way round."""
    rules: str = "pagat"
    """Preset, or notation such as pagat+target=51."""
    boards: int = 1000
    """Boards of single deals for each pair: points per deal."""
    matches: int = 200
    """Boards of whole matches for each pair: match wins."""
    seed: int = 0
    """Root of all chance. The result is the same for the same seed."""
    anchor: str | None = None
    """Agent whose rating is 0; by default the first."""
    max_deals: int = MAX_DEALS
    """Deals after which a match is truncated."""
    rows: int = 4096
    """Games in lock-step: speed and memory, not the result."""
    json: str | None = None
    """File for the result as JSON, or - for standard output."""
    out: str | None = None
    """Folder for the report: ranking.html, ranking.json and the plots."""
    records: str | None = None
    """File for the record of every game, *.jsonl or *.jsonl.gz."""


def run(config: Config) -> int:
    """Plays and prints."""
    from eval.ranking import check_plan, rank  # noqa: PLC0415 - `--help` needs none of it

    agents = load_all(config.agents)
    options: Any = {name: getattr(config, name) for name in _OPTIONS}
    check_plan(agents, **options)
    _check_outputs(config)
    with ExitStack() as stack:
        ranking = rank(
            agents,
            **options,
            progress=stack.enter_context(progress_bar()),
            on_record=_record_sink(config.records, stack),
        )
    if config.json == STDOUT:
        sys.stdout.write(ranking.to_json())
    else:
        from rich.console import Console  # noqa: PLC0415 - as above

        from eval.tables import tables_of  # noqa: PLC0415 - as above

        Console(highlight=False).print(tables_of(ranking))
        if config.json is not None:
            from chicago_env.files import replacing  # noqa: PLC0415 - as above

            with replacing(config.json) as file:
                file.write(ranking.to_json().encode())
    if config.out is not None:
        page = ranking.write_report(config.out)
        print(f"report: {page}", file=sys.stderr)
    return OK


def load_all(specs: tuple[str, ...]) -> "dict[str, Agent]":
    """The agents of the specs, by spec; one that is given again is called `SPEC#2` and so on.

    Raises:
        UsageError: no specs.
        AgentSpecError: a spec names no agent.
    """
    from agents import load  # noqa: PLC0415 - `--help` needs none of it

    if not specs:
        raise UsageError("no agents given; `chicago agents` lists them, e.g. chicago eval rank random heuristic:novice")
    agents: dict[str, Agent] = {}
    for i, spec in enumerate(specs):
        again = specs[:i].count(spec)
        agents[f"{spec}#{again + 1}" if again else spec] = load(spec)
    return agents


def _check_outputs(config: Config) -> None:
    """Finds out before anything is played whether everything can be written, rather than after. Makes nothing.

    Raises:
        UsageError: there are records in the file of records already, or two files are the same.
        OSError: a folder is not there or cannot be written.
        MissingExtra: a report is asked for, and a package that it needs is not installed.
    """
    files: list[Path] = []
    folders: list[Path] = []
    if config.out is not None:
        require(*REPORT)
        from eval.report import files_of  # noqa: PLC0415 - `--help` needs none of it

        out = Path(config.out)
        files += files_of(out)
        # The folder is made when there is something to write; here its first ancestor that is there is tried.
        folders.append(next(path for path in (out, *out.absolute().parents) if os.path.lexists(path)))
    for path in (None if config.json == STDOUT else config.json, config.records):
        if path is not None:
            files.append(Path(path))
            folders.append(files[-1].parent)
    for file in files:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    places = [file.resolve() for file in files]
    taken = [*places, Path(config.out).resolve()] if config.out is not None else places
    for file, place in zip(files, places, strict=True):
        if taken.count(place) > 1:
            raise UsageError(f"{file}: two results would be written to it")
    if config.records is not None and Path(config.records).exists() and Path(config.records).stat().st_size:
        raise UsageError(f"{config.records}: is there already; records of different runs are not mixed")
    for folder in folders:
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(folder)) from None


def _record_sink(path: str | None, stack: ExitStack) -> Callable[[dict[str, Any]], None] | None:
    if path is None:
        return None
    from chicago_env.records import RecordWriter  # noqa: PLC0415 - only where records are asked for

    stack.push(partial(_tidy, Path(path)) if not Path(path).exists() else lambda *_: None)
    return stack.enter_context(RecordWriter(path)).write


def _tidy(path: Path, kind: type[BaseException] | None, *_: object) -> None:
    """Takes a file of records away that was made for nothing."""
    if kind is not None and path.exists() and not path.stat().st_size:
        path.unlink()


@contextmanager
def progress_bar() -> "Iterator[Callable[[Progress], None]]":
    """A bar with boards/s and time left on standard error, where that is a terminal; takes what `rank` reports."""
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

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} boards/s")

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Speed(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    titles = {"deal": "single deals", "match": "whole matches"}
    with Bar(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:

        def show(progress: "Progress") -> None:
            if progress.kind not in tasks:
                tasks[progress.kind] = bar.add_task(titles[progress.kind], total=progress.total)
            bar.update(tasks[progress.kind], completed=progress.done)

        yield show
