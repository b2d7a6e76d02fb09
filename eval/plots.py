"""Plots of a ranking, as matplotlib figures that need no window."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.results import Result
from eval.stats import Estimate
from eval.tables import SOURCES, oriented, points_by_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _GRID, _MARK = "#222222", "#d5d5d5", "#2266aa"
_COLOURS = ("#a6cee3", "#5b9fd0", "#1f5f99", "#0b2f57", "#f0a13c", "#4aa564", "#c4423f", "#9a9a9a")
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # $ is a sign like others in a name
    "svg.fonttype": "path",  # looks the same whatever fonts there are
    "svg.hashsalt": "chicago-env",  # the same plot is the same file
}
_MAX_LABEL = 32


def _short(name: str) -> str:
    return name if len(name) <= _MAX_LABEL else f"{name[: _MAX_LABEL // 2 - 1]}…{name[-_MAX_LABEL // 2 :]}"


def _dots(axes: "Axes", names: list[str], estimates: list[Estimate], scale: float, even: float, label: str) -> None:
    for y, estimate in enumerate(estimates):
        if estimate.mean is None:
            continue
        if estimate.low is not None and estimate.high is not None:
            axes.plot([scale * estimate.low, scale * estimate.high], [y, y], color=_MARK, linewidth=2, zorder=2)
        axes.plot([scale * estimate.mean], [y], "o", color=_MARK, markersize=6, zorder=3)
    axes.axvline(even, color=_INK, linewidth=0.8, linestyle="--", zorder=1)
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(label)
    axes.grid(axis="x", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def intervals(ranking: Result) -> "Figure":
    """Match wins and points per deal of all agents with their intervals."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency

    names = [row.name for row in ranking.rows]
    figure = Figure(figsize=(9.2, 1.1 + 0.34 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _dots(left, names, [row.wins for row in ranking.rows], 100, 50, "match wins, %")
    _dots(right, names, [row.points for row in ranking.rows], 1, 0, "points per deal")
    return figure


def heat_map(ranking: Result) -> "Figure":
    """Every pair: colour by match wins of the row against the column, with the points per deal below."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency

    names = [row.name for row in ranking.rows]
    k = len(names)
    wins = np.full((k, k), np.nan)
    figure = Figure(figsize=(2.6 + 0.95 * k, 1.5 + 0.62 * k), layout="constrained")
    axes = figure.subplots()
    for r, row in enumerate(names):
        for c, column in enumerate(names):
            share, points = oriented(ranking, row, column)
            if share is not None:
                wins[r, c] = 100 * share
            lines = [f"{100 * share:.0f} %"] if share is not None else []
            lines += [f"{points:+.2f}"] if points is not None else []
            dark = share is not None and abs(share - 0.5) > 0.3
            colour = "white" if dark else _INK
            axes.text(c, r, "\n".join(lines), ha="center", va="center", color=colour, fontsize=8)
    image = axes.imshow(wins, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    figure.colorbar(image, ax=axes, label="match wins of the row, %")
    axes.set_yticks(range(k), [f"{i} {_short(name)}" for i, name in enumerate(names, 1)])
    axes.set_xticks(range(k), [str(i) for i in range(1, k + 1)])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def sources(ranking: Result) -> "Figure":
    """Where every agent's points come from: bars from 0, to the right what it won, to the left what it lost."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency

    rows = [row for row in ranking.rows if points_by_source(row)]
    names = [row.name for row in rows]
    figure = Figure(figsize=(9.2, 1.6 + 0.36 * len(names)), layout="constrained")
    axes = figure.subplots()
    values = np.array([points_by_source(row) for row in rows])
    right, left = np.zeros(len(names)), np.zeros(len(names))
    for i, heading in enumerate(SOURCES):
        column = values[:, i]
        starts = np.where(column >= 0, right, left)
        axes.barh(range(len(names)), column, left=starts, height=0.7, color=_COLOURS[i], label=heading)
        right += np.maximum(column, 0)
        left += np.minimum(column, 0)
    axes.plot(values.sum(axis=1), range(len(names)), "D", color=_INK, markersize=5, label="all")
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("points a deal")
    axes.grid(axis="x", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    return figure


def learning(ranking: Result) -> "Figure":
    """Match wins and ratings of checkpoints over the decisions they were trained on."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency

    steps = steps_by_name(ranking)
    rows = sorted((row for row in ranking.rows if row.name in steps), key=lambda row: steps[row.name])
    x = [steps[row.name] / 1e6 for row in rows]
    figure = Figure(figsize=(9.2, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    wins = [(row.wins.mean, row.wins.low, row.wins.high) for row in rows]
    elo = [(row.rating.elo, row.rating.low, row.rating.high) if row.rating else (None,) * 3 for row in rows]
    for axes, values, scale, label in ((left, wins, 100, "match wins, %"), (right, elo, 1, "Elo")):
        there = [i for i, value in enumerate(values) if None not in value]
        points = np.array([values[i] for i in there], dtype=np.float64).reshape(-1, 3) * scale
        at = [x[i] for i in there]
        axes.plot(at, points[:, 0], "-o", color=_MARK, markersize=5)
        axes.fill_between(at, points[:, 1], points[:, 2], color=_MARK, alpha=0.18, linewidth=0)
        axes.set_xlabel("million decisions of training")
        axes.set_ylabel(label)
        axes.grid(color=_GRID, linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure


def steps_by_name(ranking: Result) -> dict[str, int]:
    """Decisions of training of every checkpoint, where there are at least two different ones."""
    steps = {e["name"]: e["steps"] for e in ranking.config["entrants"] if e["steps"] is not None}
    return steps if len(set(steps.values())) > 1 else {}


def _is_there(name: str, ranking: Result) -> bool:
    """Whether there is anything to draw."""
    if name == "pairs":
        return bool(ranking.pairs)
    if name == "sources":
        return any(points_by_source(row) for row in ranking.rows)
    return name != "learning" or bool(steps_by_name(ranking))


PLOTS = {"intervals": intervals, "pairs": heat_map, "sources": sources, "learning": learning}
"""What draws each plot, by name."""


def _style() -> Any:
    import matplotlib as mpl  # noqa: PLC0415 - an optional dependency

    return mpl.rc_context(_STYLE)


def plots_of(ranking: Result) -> dict[str, tuple[bytes, bytes]]:
    """Every plot by name, as SVG and as PNG."""
    plots = {}
    with _style():
        for name, make in PLOTS.items():
            if not _is_there(name, ranking):
                continue
            figure = make(ranking)
            vector, pixels = io.BytesIO(), io.BytesIO()
            figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
            figure.savefig(pixels, format="png", dpi=150, metadata={"Software": None}, facecolor="white")
            plots[name] = vector.getvalue(), pixels.getvalue()
    return plots
