"""The command `chicago agents`."""

from dataclasses import dataclass

from agents.registry import listed
from chicago_env.cli import OK, print_json


@dataclass(frozen=True)
class Config:
    """List the agents there are: what `eval rank` and `agents.load` take."""

    json: bool = False
    """Print JSON."""


def run(config: Config) -> int:
    """Prints the list."""
    agents = listed()
    if config.json:
        print_json([agent._asdict() for agent in agents])
        return OK
    from rich.console import Console  # noqa: PLC0415 - not needed for JSON
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(box=None, pad_edge=False)
    for title in ("agent", "kind", "what it is"):
        table.add_column(title)
    for agent in agents:
        table.add_row(Text(agent.name, style="bold"), agent.kind, Text(agent.help))
    Console(highlight=False).print(table)
    return OK
