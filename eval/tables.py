"""Rankings as tables for a terminal."""

import io

from rich.console import Console, Group
from rich.text import Text

from chicago_env.figures import FigureTable
from eval.faults import faults_text
from eval.ratings import Rating
from eval.results import PairResult, Result, Row
from eval.stats import Estimate

UNKNOWN = "–"
FACTORS = {"wins": "match wins", "points": "points", "corrected": "less luck", "equity": "equity"}
"""Headings of the variance factors."""

HEADINGS = ("match wins\n%", "points\na deal", "equity\na deal, %", "Elo", "moves/s")


def wins_text(estimate: Estimate) -> str:
    """A share in per cent with its interval, e.g. `62.3 [60.1, 64.5]`."""
    if estimate.mean is None or estimate.low is None or estimate.high is None:
        return UNKNOWN
    return f"{100 * estimate.mean:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def points_text(estimate: Estimate) -> str:
    """Points with half the width of the interval, e.g. `+1.24 ± 0.31`."""
    if estimate.mean is None:
        return UNKNOWN
    half = estimate.half_width
    return f"{estimate.mean:+.2f} ± {UNKNOWN if half is None else format(half, '.2f')}"


def equity_text(estimate: Estimate) -> str:
    """Match wins per deal, in per cent, with half the width of the interval, e.g. `+1.9 ± 0.2`."""
    if estimate.mean is None:
        return UNKNOWN
    half = estimate.half_width
    return f"{100 * estimate.mean:+.1f} ± {UNKNOWN if half is None else format(100 * half, '.1f')}"


def rating_text(rating: Rating | None) -> str:
    """A rating with its interval, e.g. `120 [95, 144]`."""
    return UNKNOWN if rating is None else f"{round(rating.elo)} [{round(rating.low)}, {round(rating.high)}]"


def speed_text(speed: float | None) -> str:
    """Decisions per second, three digits of them: they vary from run to run."""
    return UNKNOWN if speed is None else f"{float(f'{speed:.2e}'):,.0f}"


def title_of(ranking: Result) -> str:
    """What was played, in a line."""
    config = ranking.config
    return (
        f"{config['players']} players, {config['rules']}: {config['boards']:,} boards of single deals and "
        f"{config['matches']:,} of whole matches for each pair, seed {config['seed']}"
    )


def _cells(ranking: Result, row: Row) -> list[str]:
    speed = speed_text(ranking.speeds.get(row.name))
    return [wins_text(row.wins), points_text(row.points), equity_text(row.equity), rating_text(row.rating), speed]


def main_table(ranking: Result) -> FigureTable:
    """The table of all agents, best first."""
    measured = any(ranking.speeds.values())  # not where a store was read: times are no part of it
    shown = len(HEADINGS) if measured else len(HEADINGS) - 1
    table = FigureTable(title_of(ranking), HEADINGS[:shown], names="agent")
    for row in ranking.rows:
        table.add(row.name, _cells(ranking, row)[:shown])
    return table


def oriented(ranking: Result, row: str, column: str) -> tuple[float | None, float | None]:
    """Share of wins and points per deal of `row` against `column`; None where they did not meet."""
    for pair in ranking.pairs:
        wins, points = pair.wins.mean, pair.points.mean
        if (pair.first, pair.second) == (row, column):
            return wins, points
        if (pair.second, pair.first) == (row, column):
            return None if wins is None else 1 - wins, None if points is None else 0.0 - points
    return None, None


def matrix_cell(ranking: Result, row: str, column: str) -> str:
    """Match wins and points per deal of one agent against another."""
    wins, points = oriented(ranking, row, column)
    share = UNKNOWN if wins is None else f"{100 * wins:.0f} %"
    return f"{share} {UNKNOWN if points is None else format(points, '+.2f')}"


def matrix_table(ranking: Result) -> FigureTable:
    """Every pair: match wins and points per deal of the row against the column."""
    names = [row.name for row in ranking.rows]
    headings = [str(number) for number in range(1, len(names) + 1)]
    table = FigureTable("Row against column: match wins, points a deal", headings)
    for number, row in enumerate(names, 1):
        cells = [UNKNOWN if column == row else matrix_cell(ranking, row, column) for column in names]
        table.add(f"{number} {row}", cells)
    return table


def factors_of(pair: PairResult) -> dict[str, str]:
    """Variance factors by their headings, e.g. `2.31`; the one with correction only where luck was measured."""
    return {
        FACTORS[name]: UNKNOWN if factor is None else f"{factor:.2f}"
        for name, factor in pair.variance_factors.to_dict().items()
        if name != "corrected" or pair.corrected is not None
    }


def factors_table(ranking: Result) -> FigureTable:
    """Variance factors of every pair."""
    headings = list(factors_of(ranking.pairs[0]))
    table = _narrow("Variance factors: independent games that one of a board is worth", headings)
    for pair in ranking.pairs:
        table.add(f"{pair.first} against {pair.second}", factors_of(pair).values())
    return table


def luck_table(ranking: Result) -> FigureTable:
    """Points of every agent and every pair, raw and corrected."""
    table = _narrow("Points a deal, and less the luck of the draw", ["points", "less luck"])
    named = [(row.name, row.points, row.corrected) for row in ranking.rows]
    named += [(f"{pair.first} against {pair.second}", pair.points, pair.corrected) for pair in ranking.pairs]
    for name, raw, corrected in named:
        cells = (UNKNOWN if points is None else points_text(points) for points in (raw, corrected))
        table.add(name, cells)
    return table


SOURCES = {
    "hand 1": ("hand_1",),
    "hand 2": ("hand_2",),
    "hand 3": ("hand_3",),
    "showdown": ("showdown",),
    "last trick": ("last_trick",),
    "Chicago made": ("chicago_made",),
    "failed": ("chicago_failed",),
    "other": ("breaker", "penalty", "reset", "fault"),
}
"""Columns of points as they are shown, by heading."""


def points_by_source(row: Row) -> list[float]:
    """Points a deal by the headings of `SOURCES`; nothing was played: empty."""
    deals = row.sources.get("deals", 0)
    return [sum(row.sources.get(name, 0) for name in names) / deals for names in SOURCES.values()] if deals else []


def habits(row: Row) -> dict[str, float | None]:
    """What an agent did, by heading: cards exchanged on average, and shares of its chances that it took."""
    some = row.sources

    def share(part: str, whole: str) -> float | None:
        return some.get(part, 0) / some[whole] if some.get(whole) else None

    return {
        **{f"cards {r}": share(f"cards_{r}", f"turns_{r}") for r in (1, 2, 3)},
        **{f"kept all {r}": share(f"pat_{r}", f"turns_{r}") for r in (1, 2, 3)},
        "named": share("named", "nameable"),
        "called": share("called", "asked"),
        "made": share("made", "called"),
    }


def habit_text(heading: str, value: float | None) -> str:
    """Cards with two digits, shares in per cent."""
    if value is None:
        return UNKNOWN
    return f"{value:.2f}" if heading.startswith("cards") else f"{100 * value:.0f} %"


def _narrow(title: str, headings: list[str]) -> FigureTable:
    """A table with many narrow columns: headings of two words stand in two lines."""
    return FigureTable(title, [heading.replace(" ", "\n", 1) for heading in headings])


def sources_table(ranking: Result) -> FigureTable:
    """Where every agent's points come from, a deal."""
    table = _narrow("Points a deal by source", list(SOURCES))
    for row in ranking.rows:
        table.add(row.name, (f"{value:.2f}" for value in points_by_source(row)))
    return table


def habits_table(ranking: Result) -> FigureTable:
    """How every agent exchanges, announces and calls."""
    table = _narrow("Cards exchanged, hands kept, hands named, Chicago", list(habits(ranking.rows[0])))
    for row in ranking.rows:
        cells = (habit_text(heading, value) for heading, value in habits(row).items())
        table.add(row.name, cells)
    return table


def cycles_text(ranking: Result) -> str:
    """Cycles in words, each in a line; empty if there is none."""
    return "\n".join(f"cycle: {' beats '.join([*cycle, cycle[0]])}" for cycle in ranking.cycles)


def tables_of(ranking: Result) -> Group:
    """All tables; the matrix only where it says more than the first table."""
    parts: list[FigureTable] = [main_table(ranking)]
    if len(ranking.rows) > 2:
        parts.append(matrix_table(ranking))
    if ranking.config["luck"] and any(row.points.boards for row in ranking.rows):
        parts.append(luck_table(ranking))
    if any(any(pair.variance_factors) for pair in ranking.pairs):
        parts.append(factors_table(ranking))
    if any(points_by_source(row) for row in ranking.rows):
        parts += [sources_table(ranking), habits_table(ranking)]
    notes = "95 % intervals in brackets or after ±, over boards."
    if any(row.rating for row in ranking.rows):
        notes += f" Elo: {ranking.config['anchor']} is 0."
    more = [(cycles_text(ranking), "bold"), ("\n".join(faults_text(ranking.config["agents"], ranking.faults)), "red")]
    last = [Text(notes, style="dim"), *(Text(text, style=style) for text, style in more if text)]
    return Group(*(part for table in parts for part in (table, "")), *last)


def text_of(ranking: Result, width: int) -> str:
    """The tables as plain text."""
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(tables_of(ranking))
    return out.getvalue()
