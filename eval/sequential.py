"""Deciding between two agents board by board: a sequential test with three outcomes, and an interval for any time."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from eval.ratings import ELO

Floats = np.ndarray[Any, np.dtype[np.float64]]

Verdict = Literal["first", "equivalent", "second", "undecided"]

PRIOR_VALUES = (-0.25, 0.25)
"""Two boards that the estimate of the spread begins with: agents that agree on the first boards are not alike for certain."""

_BET_LIMIT = 0.5
_FIRST_SPREAD = 0.01
_STEPS = 60  # of a bisection: below 1e-15


def wins_of_elo(elo: float) -> float:
    """Match wins beyond one half of who is so many Elo better: 1/(1 + 10^(-elo/400)) - 1/2."""
    return 1 / (1 + math.exp(-elo / ELO)) - 0.5


def elo_of_wins(extra: float) -> float:
    """Inverse of `wins_of_elo`; ±inf at ±1/2 and beyond."""
    if abs(extra) >= 0.5:
        return math.copysign(math.inf, extra)
    return float(ELO * math.log((0.5 + extra) / (0.5 - extra)))


@dataclasses.dataclass(frozen=True)
class Design:
    """A test, fixed before the first board.

    Boards have values of -1 … 1 with the mean 0 for equal agents. Three hypotheses: the mean is `margin`, 0, or -`margin`.

    Attributes:
        margin: mean of a board of which the first agent is better by the margin.
        alpha: chance of a verdict for either of equal agents.
        beta: chance of anything but the right verdict where the difference is the margin.
        look: boards from one look at the results to the next.
        cap: boards after which there is no verdict.
    """

    margin: float
    alpha: float = 0.05
    beta: float = 0.05
    look: int = 100
    cap: int = 20_000

    @property
    def bounds(self) -> tuple[float, float]:
        """Log likelihood ratios at which a side is given up, and at which it has won.

        Those of Wald ("Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16, 1945): log(b/(1 - a))
        and log((1 - b)/a), with a = alpha/2, for either side may be wrong, and b = beta.
        """
        each = self.alpha / 2
        return math.log(self.beta / (1 - each)), math.log((1 - self.beta) / each)


class Step(NamedTuple):
    """Where a test stands.

    Attributes:
        boards: boards played.
        mean: their mean; None without boards.
        ratios: log likelihood ratios of "the first is better by the margin" and "the second" against "equal".
        verdict: None as long as there is none.
    """

    boards: int
    mean: float | None
    ratios: tuple[float, float]
    verdict: Verdict | None


def log_ratios(boards: Any, total: Any, squares: Any, margin: float) -> tuple[Any, Any]:
    """Log likelihood ratios of the means `margin` and -`margin` against 0, after some boards.

    n·m·(2·mean - m)/(2·s²) and n·m·(-2·mean - m)/(2·s²): that of normal values whose variance is estimated as one goes
    along (Van den Bergh, "A practical introduction to the GSPRT", 2017, eq. for the limit of the generalised sequential
    ratio test; fastchess tests so). s² is the mean square about the mean of all boards and of `PRIOR_VALUES`.

    Args:
        boards: n, a number or an array.
        total: sum of their values.
        squares: sum of their squares.
        margin: m.
    """
    mean = total / boards
    spread = (squares - total * mean + sum(x * x for x in PRIOR_VALUES)) / (boards + len(PRIOR_VALUES))
    scale = boards * margin / (2 * spread)
    return scale * (2 * mean - margin), scale * (-2 * mean - margin)


class SequentialTest:
    """Two sequential ratio tests side by side, one for each agent.

    Each compares "better by the margin" with "equal", and ends where its ratio crosses a bound. One that is won decides;
    when both are given up, the agents are equivalent within the margin (Sobel & Wald, "A sequential decision procedure for
    choosing one of three hypotheses concerning the unknown mean of a normal distribution", Annals of Mathematical
    Statistics 20, 1949).
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        self._boards = 0
        self._total = 0.0
        self._squares = 0.0
        self._given_up = [False, False]
        self._verdict: Verdict | None = None

    def add(self, values: Sequence[float] | Floats) -> Step:
        """Takes the values of the next boards, as many as from one look to the next, and looks."""
        x = np.asarray(values, dtype=np.float64)
        self._boards += len(x)
        self._total += float(x.sum())
        self._squares += float((x * x).sum())
        if self._verdict is None:
            self._verdict = self._decide()
        return self.step

    def _ratios(self) -> tuple[float, float]:
        if not self._boards:
            return 0.0, 0.0
        first, second = log_ratios(self._boards, self._total, self._squares, self.design.margin)
        return float(first), float(second)

    def _decide(self) -> Verdict | None:
        low, high = self.design.bounds
        for side, ratio in enumerate(self._ratios()):
            if ratio >= high and not self._given_up[side]:
                return "second" if side else "first"
            self._given_up[side] |= ratio <= low
        if all(self._given_up):
            return "equivalent"
        return "undecided" if self._boards >= self.design.cap else None

    @property
    def step(self) -> Step:
        """Where it stands."""
        mean = self._total / self._boards if self._boards else None
        return Step(self._boards, mean, self._ratios(), self._verdict)


# --- an interval for any time -----------------------------------------------------------------------------------------


def bets(values: Floats, alpha: float) -> Floats:
    """Stakes (n,) of the interval below, each from the values before it alone.

    λ_t = √(2·log(2/alpha)/(v_{t-1}·t·log(1 + t))), v the variance so far (Waudby-Smith & Ramdas, "Estimating means of
    bounded random variables by betting", Journal of the Royal Statistical Society B 86, 2024, (15)). They begin with a
    variance of 1/4; `_FIRST_SPREAD` is nearer to what boards have. Any stakes are right that do not look ahead.
    """
    n = np.arange(1, len(values) + 1)
    means = (0.5 + values.cumsum()) / (n + 1)
    spread = (_FIRST_SPREAD + ((values - means) ** 2).cumsum()) / (n + 1)
    before = np.concatenate([[_FIRST_SPREAD], spread[:-1]])
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (before * n * np.log1p(n))))


def log_capital(values: Floats, stakes: Floats, mean: float) -> Floats:
    """Logarithm (n,) of what bets on values above `mean` make of 1, at every time.

    Π(1 + λ_i·(x_i - mean)), λ cut to half of what may be lost: a martingale of value 1 where `mean` is the truth.
    """
    limit = _BET_LIMIT / mean if mean > 0 else math.inf
    return np.asarray(np.log1p(np.minimum(stakes, limit) * (values - mean)).cumsum())


def _lower(values: Floats, stakes: Floats, alpha: float) -> float:
    """The smallest mean against which the bets have not made 2/alpha of 1; the capital falls as the mean grows."""
    low, high = 0.0, 1.0
    goal = math.log(2 / alpha)
    if log_capital(values, stakes, 0.0)[-1] < goal:
        return 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if log_capital(values, stakes, middle)[-1] >= goal:
            low = middle
        else:
            high = middle
    return low


def anytime_interval(values: Sequence[float] | Floats, alpha: float = 0.05) -> tuple[float, float]:
    """Limits for the mean of independent values in [0, 1] that hold at all times at once with 1 - alpha.

    A confidence sequence: one may look after every board, and stop for whatever reason. It holds exactly, for values of
    any distribution, by Ville's inequality: bets at fair odds turn 1 into 2/alpha with a chance of at most alpha/2, and
    there are bets on above and on below (the hedged capital process of Waudby-Smith & Ramdas, 2024, theorem 3).
    """
    x = np.asarray(values, dtype=np.float64)
    if not len(x):
        return 0.0, 1.0
    stakes = bets(x, alpha)
    return _lower(x, stakes, alpha), 1 - _lower(1 - x, stakes, alpha)
