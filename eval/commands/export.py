"""The command `chicago eval export`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import tyro

from chicago_env.cli import OK
from chicago_env.errors import UsageError
from eval.commands.outputs import STDOUT, check_outputs, write_records

if TYPE_CHECKING:
    from eval.store import Store


@dataclass(frozen=True)
class Config:
    """Write the games of a store for other programs."""

    store: tyro.conf.Positional[str]
    """The store."""
    json: str | None = None
    """File for plan, games and faults as JSON, or - for standard output."""
    csv: str | None = None
    """File for a table with a line for each seat of each game, or - for standard output."""
    records: str | None = None
    """File for the record of every game, *.jsonl or *.jsonl.gz; the store must have been played with --keep-records."""


def run(config: Config) -> int:
    """Writes what is asked for."""
    from eval.store import Store  # noqa: PLC0415 - `--help` needs none of it
    from eval.store.export import write_csv, write_json  # noqa: PLC0415 - as above

    if config.json is None and config.csv is None and config.records is None:
        raise UsageError("nothing to write: give --json, --csv or --records")
    check_outputs(json=config.json, records=config.records, store=None if config.csv == STDOUT else config.csv)
    with Store.reading(config.store) as store:
        for path, write in ((config.json, write_json), (config.csv, write_csv)):
            if path is not None:
                _write(path, store, write)
    if config.records is not None:
        write_records(config.records, config.store)
    return OK


def _write(path: str, store: "Store", write: Callable[["Store", TextIO], None]) -> None:
    if path == STDOUT:
        write(store, sys.stdout)
        return
    import io  # noqa: PLC0415 - only here

    from chicago_env.files import replacing  # noqa: PLC0415 - `--help` needs none of it

    with replacing(path) as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        write(store, text)
        text.detach()
