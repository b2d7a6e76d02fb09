"""The command `chicago eval rank`."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import tyro

from chicago_env.cli import OK
from chicago_env.setup import MAX_DEALS
from eval.commands.outputs import by_name, check_outputs, name_of, record_sink, show, write_records
from eval.commands.progress import progress_bar

_OPTIONS = (
    "players",
    "rules",
    "field",
    "boards",
    "matches",
    "seed",
    "anchor",
    "max_deals",
    "rows",
    "workers",
    "max_faults",
    "luck",
)


@dataclass(frozen=True)
class Config:
    """Rank agents against each other: all play the same boards, each board in all seat rotations."""

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Names as `chicago agents` lists them, or paths of checkpoints."""
    players: int = 2
    """Seats at a table, 2 to 6; beyond 2 one agent plays against copies of the other, and the other way round."""
    rules: str = "pagat"
    """Preset, or notation such as pagat+target=51."""
    field: str = "pairs"
    """Who meets whom: pairs, a round robin; first, the first agent against each other; tables, all seats different
    agents, drawn board by board."""
    boards: int = 1000
    """Boards of single deals, for each pair: points per deal."""
    matches: int = 200
    """Boards of whole matches, for each pair: match wins."""
    seed: int = 0
    """Root of all chance. The result is the same for the same seed."""
    anchor: str | None = None
    """Agent whose rating is 0; by default the first."""
    max_deals: int = MAX_DEALS
    """Deals after which a match is truncated."""
    max_faults: int = 10
    """Failures of an agent after which it forfeits the rest; each costs it the deal. 0: the first one ends the ranking."""
    rows: int = 4096
    """Games in lock-step, written to the store at once: speed and memory, not the result."""
    luck: bool = False
    """Give points less the luck of the draw as well."""
    workers: int = 1
    """Processes that play: speed, not the result."""
    store: str | None = None
    """File that keeps every game. If it is there, what it has is not played again: a ranking that was broken off goes on,
    and boards or agents at the end of the list may be added."""
    json: str | None = None
    """File for the result as JSON, or - for standard output."""
    out: str | None = None
    """Folder for the report: ranking.html, ranking.json and the plots."""
    records: str | None = None
    """File for the record of every game, *.jsonl or *.jsonl.gz."""
    keep_records: bool = False
    """Keep in the store what records need, for `chicago eval export`."""


def run(config: Config) -> int:
    """Plays and prints."""
    from eval.ranking import prepare  # noqa: PLC0415 - `--help` needs none of it

    agents = by_name(config.agents, "chicago eval rank random heuristic:novice")
    options: Any = {name: getattr(config, name) for name in _OPTIONS}
    if config.anchor is not None:
        options["anchor"] = name_of(config.anchor, agents)
    prepared = prepare(agents, **options, records=config.keep_records or config.records is not None)
    check_outputs(json=config.json, out=config.out, records=config.records, store=config.store)
    with ExitStack() as stack:
        progress = stack.enter_context(progress_bar())
        # with a store all games are in it at the end, those of earlier runs too
        sink = record_sink(None if config.store else config.records, stack)
        ranking = prepared.rank(config.store, progress=progress, on_record=sink)
    if config.store is not None and config.records is not None:
        write_records(config.records, config.store)
    show(ranking, json=config.json, out=config.out)
    for name in dict.fromkeys(fault.agent for fault in ranking.faults):
        for log in sorted(prepared.logs.get(name, ())):
            print(f"standard error of {name}: {log}", file=sys.stderr)
    return OK
