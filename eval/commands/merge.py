"""The command `chicago eval merge`."""

from dataclasses import dataclass

import tyro

from chicago_env.cli import OK
from chicago_env.errors import UsageError


@dataclass(frozen=True)
class Config:
    """Put the games of several stores into a new one: other seeds, other agents, the same rules."""

    out: tyro.conf.Positional[str]
    """The new store."""
    stores: tyro.conf.Positional[tuple[str, ...]]
    """Stores to merge."""


def run(config: Config) -> int:
    """Merges."""
    from eval.store.merge import merge  # noqa: PLC0415 - `--help` needs none of it

    if not config.stores:
        raise UsageError("no stores given: chicago eval merge OUT STORE...")
    merge(config.out, config.stores)
    return OK
