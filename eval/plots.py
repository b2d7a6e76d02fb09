"""Plots of a ranking, as matplotlib figures that need no window."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.results import Result
from eval.stats import Estimate
from eval.tables import oriented

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _GRID, _MARK = "#222222", "#d5d5d5", "#2266aa"
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


PLOTS = {"intervals": intervals, "pairs": heat_map}
"""What draws each plot, by name."""


def _style() -> Any:
    import matplotlib as mpl  # noqa: PLC0415 - an optional dependency

    return mpl.rc_context(_STYLE)


def plots_of(ranking: Result) -> dict[str, tuple[bytes, bytes]]:
    """Every plot by name, as SVG and as PNG."""
    plots = {}
    with _style():
        for name, make in PLOTS.items():
            if make is heat_map and not ranking.pairs:
                continue
            figure = make(ranking)
            vector, pixels = io.BytesIO(), io.BytesIO()
            figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
            figure.savefig(pixels, format="png", dpi=150, metadata={"Software": None}, facecolor="white")
            plots[name] = vector.getvalue(), pixels.getvalue()
    return plots
