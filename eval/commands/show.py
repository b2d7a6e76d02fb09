"""The command `chicago eval show`."""

from dataclasses import dataclass

import tyro

from chicago_env.cli import OK
from eval.commands.outputs import check_outputs, show


@dataclass(frozen=True)
class Config:
    """Show the ranking that the games of a store give; nothing is played."""

    store: tyro.conf.Positional[str]
    """File that `chicago eval rank --store` or `chicago eval merge` wrote."""
    anchor: str | None = None
    """Agent whose rating is 0; by default the first."""
    json: str | None = None
    """File for the result as JSON, or - for standard output."""
    out: str | None = None
    """Folder for the report."""


def run(config: Config) -> int:
    """Computes and prints."""
    from eval.ranking import ranking_of  # noqa: PLC0415 - `--help` needs none of it
    from eval.store import Store  # noqa: PLC0415 - as above

    check_outputs(json=config.json, out=config.out)
    with Store.reading(config.store) as store:
        ranking = ranking_of(store, anchor=config.anchor)
    show(ranking, json=config.json, out=config.out)
    return OK
