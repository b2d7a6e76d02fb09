"""What the boards save: the variance of independent games against that of as many games played as boards."""

from typing import Any, NamedTuple

import numpy as np

from eval.scores import Meeting
from eval.stats import variance_factor


class VarianceFactors(NamedTuple):
    """Of each figure of a pair, how many times as many independent games would be needed for an interval of the same width.

    None where the games or the boards do not vary (nothing was played, or the agents are the same), or were not measured.

    Attributes:
        wins: of match wins.
        points: of points per deal.
        corrected: of points per deal less the luck of the draw; the independent games are not corrected.
        equity: of match equity per deal.
    """

    wins: float | None
    points: float | None
    corrected: float | None
    equity: float | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return self._asdict()


def factors_of(dealt: Meeting, decided: Meeting) -> VarianceFactors:
    """The factors of two agents.

    The value of a game is its share of the win (1, 0, or shared out over the seats), difference of points, and change of
    the chance to win. Shares are taken less their mean over the games in which the first agent has as many seats: who has
    P - 1 of P seats wins more often than who has one, and that is no luck, with boards or without.

    Args:
        dealt: their single deals.
        decided: their matches.
    """
    won = decided.shares / decided.of_shares
    for seats in np.unique(decided.even):
        won[decided.even == seats] -= won[decided.even == seats].mean()
    points = dealt.points / dealt.of_points
    return VarianceFactors(
        variance_factor(won, decided.shares_by_board),
        variance_factor(points, dealt.points_by_board),
        None if dealt.corrected is None else variance_factor(points, dealt.corrected_by_board),
        variance_factor(dealt.equity, dealt.equity_by_board),
    )
