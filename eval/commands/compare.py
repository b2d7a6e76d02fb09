"""The command `chicago eval compare`."""

from dataclasses import dataclass
from typing import Any

import tyro

from chicago_env.cli import OK, print_json


@dataclass(frozen=True)
class Config:
    """Compare two results: what each agent gained from the first to the second, and what differs in how they were played."""

    first: tyro.conf.Positional[str]
    """A store, or the JSON of a ranking."""
    second: tyro.conf.Positional[str]
    """Another."""
    json: bool = False
    """Print one line of JSON instead of tables."""


def run(config: Config) -> int:
    """Computes and prints."""
    from eval.compare import compare, load_result  # noqa: PLC0415 - `--help` needs none of it

    found = compare(load_result(config.first), load_result(config.second))
    if config.json:
        print_json(found)
    else:
        _print(found)
    return OK


def _print(found: dict[str, Any]) -> None:
    from rich.text import Text  # noqa: PLC0415 - as above

    from chicago_env.figures import FigureTable, output_console  # noqa: PLC0415 - as above

    console = output_console()
    for line in found["differences"]:
        console.print(Text(f"differs: {line}", style="yellow"))
    measured = any(row["corrected_points_per_deal"]["mean"] is not None for row in found["agents"])
    luck = ["less luck"] if measured else []
    headings = ["match wins\n%", "points\na deal", *luck, "equity\na deal, %", "Elo"]
    table = FigureTable("Second less first", headings, names="agent")
    for row in found["agents"]:
        cells = [
            _text(row["match_wins"], 100, ".1f"),
            _text(row["points_per_deal"], 1, ".2f"),
            *([_text(row["corrected_points_per_deal"], 1, ".2f")] if measured else []),
            _text(row["equity_per_deal"], 100, ".1f"),
            _text(row["rating"], 1, ".0f"),
        ]
        table.add(row["agent"], cells)
    console.print(table)
    console.print(Text("95 % intervals; * board by board, on the same boards.", style="dim"))


def _text(difference: dict[str, Any], scale: float, form: str) -> str:
    mean, low, high = (difference[name] for name in ("mean", "low", "high"))
    if mean is None:
        return "–"
    limits = "" if low is None else f" [{format(scale * low, '+' + form)}, {format(scale * high, '+' + form)}]"
    return f"{format(scale * mean, '+' + form)}{limits}{'*' if difference['boards'] else ''}"
