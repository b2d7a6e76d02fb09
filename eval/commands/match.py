"""The command `chicago eval match`."""

from dataclasses import dataclass

import tyro

from chicago_env.errors import UsageError
from chicago_env.setup import MAX_DEALS
from eval.commands import rank


@dataclass(frozen=True)
class Config:
    """Play two agents against each other, or one agent in each seat of a table, in all seat rotations."""

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Two agents, or as many as there are seats."""
    players: int | None = None
    """Seats at a table; by default as many as agents. Two agents at a larger table: one against copies of the other."""
    rules: str = "pagat"
    """Preset, or notation such as pagat+target=51."""
    boards: int = 0
    """Boards of single deals."""
    matches: int = 100
    """Boards of whole matches."""
    seed: int = 0
    """Root of all chance."""
    max_deals: int = MAX_DEALS
    """Deals after which a match is truncated."""
    max_faults: int = 10
    """Failures of an agent after which it forfeits the rest; 0: the first one ends the event."""
    luck: bool = False
    """Give points less the luck of the draw as well."""
    workers: int = 1
    """Processes that play."""
    store: str | None = None
    """File that keeps every game; gone on with if it is there."""
    json: str | None = None
    """File for the result as JSON, or - for standard output."""
    out: str | None = None
    """Folder for the report."""
    records: str | None = None
    """File for the record of every game, *.jsonl or *.jsonl.gz."""


def run(config: Config) -> int:
    """Plays and prints."""
    count = len(config.agents)
    if count < 2:
        raise UsageError("a match needs two agents or more: chicago eval match A B [C...]")
    players = count if config.players is None else config.players
    if count not in {2, players}:
        raise UsageError(f"{count} agents at a table of {players}: two agents, or as many as seats")
    fields = {name: value for name, value in vars(config).items() if name != "players"}
    field = "tables" if count == players > 2 else "pairs"
    return rank.run(rank.Config(**fields, players=players, field=field))
