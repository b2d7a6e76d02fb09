"""`chicago records verify`: checks match records with the rules engine."""

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any

import tyro
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from chicago_env.cli import FAILED, OK, print_json
from chicago_env.errors import RecordError, UsageError
from chicago_env.records import MatchSummary, read_records, verify_record


@dataclasses.dataclass(frozen=True)
class Config:
    """Plays the matches of record files again and compares every card, event and score.

    Prints one line for each match that differs: its place and the first difference. The exit code is 1 if there is one.
    """

    files: tyro.conf.Positional[tuple[str, ...]] = ()
    """Files of records, .jsonl or .jsonl.gz; - reads standard input."""
    json: bool = False
    """Print the outcome as JSON."""


def _verify_file(file: str) -> Iterator[MatchSummary | RecordError]:
    """The outcome of each match. A file is left where it cannot be read any further; one without a match is no proof."""
    if file == "-" and sys.stdin is None:
        raise UsageError("standard input is closed")
    records = read_records(sys.stdin.buffer if file == "-" else file)
    name = "standard input" if file == "-" else file
    empty = True
    while True:
        try:
            line, record = next(records)
        except StopIteration:
            if empty:
                yield RecordError("there is no match in it", file=name)
            return
        except RecordError as error:
            yield RecordError(error.reason, file=name, line=error.line)
            return
        empty = False
        try:
            yield verify_record(record, file=name, line=line)
        except RecordError as error:
            yield error


def _count(number: int, what: str) -> str:
    many = {"match": "matches"}.get(what, f"{what}s")
    return f"{number:,} {what if number == 1 else many}"


def run(config: Config) -> int:
    """Verifies the files."""
    if not config.files:
        raise UsageError("no file given; see chicago records verify --help")
    matches = deals = events = 0
    differences: list[RecordError] = []
    errors = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} matches, {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("", total=None)
        for file in config.files:
            progress.update(task, description=file.replace("[", r"\["))
            for outcome in _verify_file(file):
                matches += 1
                progress.advance(task)
                if isinstance(outcome, RecordError):
                    differences.append(outcome)
                    if not config.json:
                        progress.stop()
                        print(outcome)
                        progress.start()
                else:
                    deals += outcome.deals
                    events += outcome.events
    if config.json:
        print_json(_report(config, matches, deals, events, differences))
    elif differences:
        print(f"{_count(matches, 'match')}, {len(differences):,} not ok")
    else:
        print(f"{_count(matches, 'match')}, {_count(deals, 'deal')}, ok")
    return FAILED if differences else OK


def _report(config: Config, matches: int, deals: int, events: int, differences: list[RecordError]) -> dict[str, Any]:
    return {
        "files": list(config.files),
        "matches": matches,
        "deals": deals,
        "events": events,
        "ok": not differences,
        "differences": [
            {name: getattr(error, name) for name in ("file", "line", "deal", "event", "reason")}
            for error in differences
        ],
    }
