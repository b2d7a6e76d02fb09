"""Ratings from pairwise results, by batch maximum likelihood: the order of the games plays no part."""

from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

ELO = 400 / np.log(10)
"""Points of the Elo scale for each unit of log odds: 400 points are odds of 10 to 1."""

RESAMPLES = 200
PRIOR = 0.5
"""Boards added to either side of every pair, so that all wins give a finite rating."""

_MAX_ROUNDS = 10_000


class Rating(NamedTuple):
    """A rating on the Elo scale with a 95 % bootstrap interval over boards. The anchor is 0, its interval too."""

    elo: float
    low: float
    high: float


def _fit(wins: Floats) -> Floats:
    import choix  # noqa: PLC0415 - an optional dependency

    strengths = choix.ilsr_pairwise_dense(wins + PRIOR * (1 - np.eye(len(wins))), max_iter=_MAX_ROUNDS)
    elo: Floats = np.asarray(strengths, dtype=np.float64) * ELO
    return elo


def bradley_terry(shares: Floats, anchor: int, seed: int) -> list[Rating]:
    """Bradley-Terry ratings of all players from a round robin.

    P(a beats b) = 1/(1 + 10^((R_b - R_a)/400)), fitted to the wins of all boards at once (`choix`, I-LSR).

    Args:
        shares: (n, k, k), share of board i that player a won against player b; 0 on the diagonal.
        anchor: the player whose rating is 0.
        seed: of the bootstrap, which draws n boards with replacement.
    """
    boards, players = shares.shape[0], shares.shape[1]
    if players == 1:
        return [Rating(0.0, 0.0, 0.0)]
    best = _fit(shares.sum(axis=0))
    best -= best[anchor]
    rng = np.random.default_rng(seed)
    draws = np.zeros((RESAMPLES, players))
    for i in range(RESAMPLES):
        counts = np.bincount(rng.integers(boards, size=boards), minlength=boards) if boards else np.zeros(0)
        draws[i] = _fit(np.tensordot(counts.astype(np.float64), shares, axes=1))
    draws -= draws[:, [anchor]]
    low, high = np.quantile(
        draws, [0.025, 0.975], axis=0, method="weibull"
    )  # 5 of 201, not 6: as many draws miss as are to
    return [Rating(float(best[a]), float(low[a]), float(high[a])) for a in range(players)]
