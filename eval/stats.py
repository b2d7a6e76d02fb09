"""Intervals over boards. Every one clusters by board: `values` has one number for each board, the mean of its games.

Degenerate cases have a defined result, never NaN: an unknown mean or limit is None.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean over boards with its confidence interval.

    Attributes:
        boards: number of boards.
        mean: mean over boards; None without boards.
        low: lower limit; None if unknown.
        high: upper limit; None if unknown.
    """

    boards: int
    mean: float | None
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return self._asdict()


def t_quantile(dof: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided quantile of Student's t: |T| is below it with probability `confidence`."""
    from scipy.special import stdtrit  # noqa: PLC0415 - an optional dependency

    return float(stdtrit(dof, 0.5 + confidence / 2))


def mean_interval(values: Sequence[float] | np.ndarray[Any, Any], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of unbounded values: mean ± t(n-1)·s/√n, s² = Σ(x - mean)²/(n-1).

    No boards: no mean. One board: no interval. Boards that all agree: an interval of width 0.
    """
    x = np.asarray(values, dtype=np.float64)
    n = len(x)
    if n == 0:
        return Estimate(0, None, None, None)
    mean = float(x.mean())
    if n == 1:
        return Estimate(1, mean, None, None)
    half = t_quantile(n - 1, confidence) * float(x.std(ddof=1)) / n**0.5
    return Estimate(n, mean, mean - half, mean + half)


def share_interval(values: Sequence[float] | np.ndarray[Any, Any], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of values in [0, 1], as shares of wins are.

    The interval of `mean_interval` with two boards added, one won and one lost, cut to [0, 1] (Agresti & Caffo, "Simple
    and effective confidence intervals for proportions", The American Statistician 54, 2000, carried over to clusters). So
    all wins do not look certain: n boards won of n have a lower limit near 1 - 3/n. Without boards it is [0, 1]. It always
    holds the plain mean, which lies within 1/(n + 2) of the middle.
    """
    x = np.asarray(values, dtype=np.float64)
    padded = mean_interval(np.concatenate([x, [0.0, 1.0]]), confidence)
    low = 0.0 if padded.low is None else max(padded.low, 0.0)
    high = 1.0 if padded.high is None else min(padded.high, 1.0)
    return Estimate(len(x), float(x.mean()) if len(x) else None, low, high)


def variance_factor(games: np.ndarray[Any, Any], boards: np.ndarray[Any, Any]) -> float | None:
    """How many times fewer games the boards need than independent games for an interval of the same width.

    Args:
        games: (n, G) float64, value of each game.
        boards: (n,) float64, value of each board, mean of its G games.

    Returns:
        s²(games)/(G·s²(boards)); None where either does not vary.
    """
    if len(boards) < 2:
        return None
    if games.max() == games.min() or boards.max() == boards.min():  # their variance may be what rounding leaves
        return None
    of_games, of_boards = float(games.var(ddof=1)), float(boards.var(ddof=1))
    return float(of_games / (games.shape[1] * of_boards))
