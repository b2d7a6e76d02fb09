"""A ranking as one page that needs nothing else, neither network nor other files."""

import shlex
from base64 import b64encode
from pathlib import Path
from typing import Any

from chicago_env.files import replacing
from eval.extras import REPORT, require
from eval.faults import faults_text
from eval.plots import PLOTS
from eval.results import Result
from eval.tables import (
    SOURCES,
    cycles_text,
    equity_text,
    factors_of,
    habit_text,
    habits,
    matrix_cell,
    points_by_source,
    points_text,
    rating_text,
    speed_text,
    title_of,
    wins_text,
)

TEMPLATE = Path(__file__).parent / "templates" / "ranking.html.j2"
PAGE, DATA = "ranking.html", "ranking.json"


def files_of(folder: Path) -> list[Path]:
    """What `write_report` may write; a plot only where there is something to draw."""
    return [folder / name for name in (DATA, PAGE, *(f"{plot}.png" for plot in PLOTS))]


def command_of(ranking: Result) -> str:
    """The command line that plays the same again, where the agents' names are specs."""
    config = ranking.config
    specs = [entrant["spec"] or entrant["name"] for entrant in config["entrants"]]
    words = ["chicago", "eval", "rank", *specs, "--players", config["players"], "--rules", config["rules"]]
    words += ["--boards", config["boards"], "--matches", config["matches"], "--seed", config["seed"]]
    words += ["--anchor", config["anchor"], "--max-deals", config["max_deals"]]
    words += ["--field", config["field"], "--max-faults", config["max_faults"]]
    words += ["--luck"] if config["luck"] else []
    return shlex.join(str(word) for word in words)


def _page(ranking: Result, svgs: dict[str, bytes]) -> str:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - an optional dependency

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    names = [row.name for row in ranking.rows]
    rows: list[dict[str, Any]] = [
        {
            "name": row.name,
            "wins": wins_text(row.wins),
            "points": points_text(row.points),
            "corrected": None if row.corrected is None else points_text(row.corrected),
            "equity": equity_text(row.equity),
            "rating": rating_text(row.rating),
            "sources": [f"{value:.2f}" for value in points_by_source(row)],
            "habits": [habit_text(heading, value) for heading, value in habits(row).items()],
            "games": f"{row.games:,}",
            "speed": speed_text(ranking.speeds.get(row.name)),
            "against": [None if other == row.name else matrix_cell(ranking, row.name, other) for other in names],
        }
        for row in ranking.rows
    ]
    pairs = [
        {
            "first": pair.first,
            "second": pair.second,
            "wins": wins_text(pair.wins),
            "points": points_text(pair.points),
            "corrected": None if pair.corrected is None else points_text(pair.corrected),
            "equity": equity_text(pair.equity),
            "games": pair.games,
            "factors": list(factors_of(pair).values()),
        }
        for pair in ranking.pairs
    ]
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(
        title=title_of(ranking),
        config=ranking.config,
        rows=rows,
        pairs=pairs,
        factors=[name for pair in ranking.pairs[:1] for name in factors_of(pair)],
        # As images: two drawings in one page would share the ids of their parts.
        plots={name: f"data:image/svg+xml;base64,{b64encode(svg).decode()}" for name, svg in svgs.items()},
        commands=[command_of(ranking)] if len(ranking.config["runs"]) == 1 else [],
        sources=list(SOURCES) if any(points_by_source(row) for row in ranking.rows) else [],
        habits=list(habits(ranking.rows[0])),
        cycles=cycles_text(ranking).splitlines(),
        faults=faults_text(ranking.config["agents"], ranking.faults),
    )


def write_report(ranking: Result, folder: Path) -> Path:
    """Writes data, page and plots; see `Ranking.write_report`."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / DATA) as file:
        file.write(ranking.to_json().encode())
    require(*REPORT)
    from eval.plots import plots_of  # noqa: PLC0415 - as above

    plots = plots_of(ranking)
    page = _page(ranking, {name: svg for name, (svg, _) in plots.items()})
    for name, (_, png) in plots.items():
        with replacing(folder / f"{name}.png") as file:
            file.write(png)
    with replacing(folder / PAGE) as file:
        file.write(page.encode())
    return folder / PAGE
