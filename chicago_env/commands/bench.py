"""`chicago bench`."""

import dataclasses
from typing import Any

from chicago_env import cli


@dataclasses.dataclass(frozen=True)
class Config:
    """Measure how fast this machine plays: two minutes on two idle cores, for which the goals are set."""

    json: bool = False
    """Print one line of JSON instead of a table."""
    quick: bool = False
    """A tenth of the work and no compilation: shows that it runs, with rough figures."""


def run(config: Config) -> int:
    """Measures and prints."""
    from rich.console import Console  # noqa: PLC0415 - not needed for --help

    from chicago_env import bench  # noqa: PLC0415 - as above

    console = Console(stderr=True)
    with console.status("measuring") as status:
        figures = bench.measure(config.quick, lambda what: status.update(f"measuring: {what}"))
    machine = bench.machine()
    if config.json:
        cli.print_json({"machine": machine, "figures": [figure._asdict() for figure in figures]})
    else:
        print_figures("chicago bench", machine, figures)
    return cli.OK


def print_figures(title: str, machine: dict[str, Any], figures: list[Any]) -> None:
    """Prints figures with their goals."""
    from chicago_env.figures import FigureTable, print_table  # noqa: PLC0415 - not needed for --help

    table = FigureTable(title, ["measured", "goal"], names="what")
    for figure in figures:
        goal = "" if figure.goal is None else f"{'✓' if figure.reached else '✗'} {_number(figure.goal)}"
        table.add(figure.text, [f"{_number(figure.value)} {figure.unit}", goal])
    print_table(machine, table)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
