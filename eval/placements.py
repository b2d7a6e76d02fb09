"""Ratings from placements at larger tables: Plackett-Luce by batch maximum likelihood."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from eval.ratings import ELO, PRIOR, RESAMPLES, Rating

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

_ROUNDS, _CLOSE = 100, 1e-10


def places_of(scores: Ints, winner: Ints) -> Ints:
    """Place of each seat at the end of a match, (N, P) int64, 0 for the first.

    The winner is first, whatever the scores; the others follow by score, as the rules know nothing else of them. A
    match that was truncated has no winner, and all places go by score. Equal scores share the better place.

    Args:
        scores: (N, P) final scores.
        winner: (N,) seat that won, or -1.
    """
    key = scores.astype(np.int64)
    won = np.flatnonzero(winner >= 0)
    key[won, winner[won]] = np.iinfo(np.int64).max
    return np.asarray((key[:, None, :] > key[:, :, None]).sum(axis=2))


class _Choices(NamedTuple):
    """What a Plackett-Luce likelihood is made of: who came first of those that were left.

    Attributes:
        first: (V,) agent that came first.
        left: (V, k) how many seats of each agent were left.
        weights: (n, V) sparse, how often that happened on each board, the games of a board weighing 1 in all.
    """

    first: Ints
    left: Floats
    weights: Any


def _choices_of(order: tuple[int, ...], tied: tuple[int, ...], agents: int) -> dict[tuple[int, ...], float]:
    """Choices of one game as (first, *left) with their weights.

    Seats that tie may have come in any order: all of them count, each with the same weight.

    Args:
        order: agents by place.
        tied: places; equal ones tie.
        agents: k.
    """
    groups = [[order[i] for i in range(len(order)) if tied[i] == place] for place in sorted(set(tied))]
    found: dict[tuple[int, ...], float] = {}
    left = [order.count(agent) for agent in range(agents)]
    for group in groups:
        orders = list(itertools.permutations(group))
        for one in orders:
            rest = left[:]
            for agent in one:
                if sum(count > 0 for count in rest) > 1:  # else there was nobody else to come first
                    key = (agent, *rest)
                    found[key] = found.get(key, 0.0) + 1 / len(orders)
                rest[agent] -= 1
        for agent in group:
            left[agent] -= 1
    return found


def _collect(lineups: Ints, places: Ints, boards: Ints, agents: int) -> _Choices:
    from scipy import sparse  # noqa: PLC0415 - an optional dependency

    rows = np.lexsort((lineups, places), axis=1)
    games = np.hstack([np.take_along_axis(lineups, rows, axis=1), np.take_along_axis(places, rows, axis=1)])
    patterns, pattern = np.unique(games, axis=0, return_inverse=True)
    _, board, size = np.unique(boards, return_inverse=True, return_counts=True)
    board, pattern = board.reshape(-1), pattern.reshape(-1)
    players = lineups.shape[1]
    numbers: dict[tuple[int, ...], int] = {}
    entries = []
    for i, row in enumerate(patterns.tolist()):
        for key, weight in _choices_of(tuple(row[:players]), tuple(row[players:]), agents).items():
            entries.append((i, numbers.setdefault(key, len(numbers)), weight))
    table = np.array(list(numbers), dtype=np.int64).reshape(len(numbers), agents + 1)
    at, to, shares = (np.array(column) for column in zip(*entries, strict=True)) if entries else (np.zeros(0, int),) * 3
    of_pattern = sparse.csr_array((shares, (at, to)), shape=(len(patterns), len(numbers)))
    of_board = sparse.csr_array((1 / size[board], (board, pattern)), shape=(len(size), len(patterns)))
    return _Choices(table[:, 0], table[:, 1:].astype(np.float64), (of_board @ of_pattern).tocsr())


def _pairs(agents: int) -> tuple[Ints, Floats]:
    """`first` and `left` of one win for each of every pair: what `PRIOR` weighs."""
    pairs = np.array(list(itertools.permutations(range(agents), 2)), dtype=np.int64).reshape(-1, 2)
    left = np.zeros((len(pairs), agents))
    np.put_along_axis(left, pairs, 1.0, axis=1)
    return pairs[:, 0], left


def _maximum(first: Ints, left: Floats, weights: Floats, start: Floats, anchor: int) -> Floats:
    """Log strengths (k,) of greatest likelihood, by Newton's method; that of the anchor is 0.

    The log likelihood is the sum of weights·(θ_first - log Σ_j left_j·exp θ_j), which is concave (Hunter, "MM algorithms
    for generalized Bradley-Terry models", Annals of Statistics 32, 2004, section 5).
    """
    free = np.flatnonzero(np.arange(len(start)) != anchor)
    theta = start.copy()

    def value(at: Floats) -> float:
        return float(weights @ (at[first] - np.log(left @ np.exp(at))))

    best = value(theta)
    for _ in range(_ROUNDS):
        share = left * np.exp(theta)
        share /= share.sum(axis=1, keepdims=True)
        expected = weights @ share
        slope = np.bincount(first, weights, len(theta)) - expected
        curve = np.diag(expected) - (share * weights[:, None]).T @ share
        step = np.zeros_like(theta)
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        while (reached := value(theta + step)) < best - _CLOSE:
            step /= 2
        theta, best = theta + step, reached
        if np.abs(step).max() < _CLOSE:
            break
    return theta


def plackett_luce(lineups: Ints, places: Ints, boards: Ints, agents: int, anchor: int, seed: int) -> list[Rating]:
    """Plackett-Luce ratings of all agents from placements, by all games at once: their order plays no part.

    Of the seats that are left, an agent comes next with chance w/Σw, w = 10^(R/400): so of two it comes first with
    1/(1 + 10^((R_b - R_a)/400)), as in a Bradley-Terry model, whoever else is at the table (Plackett, "The analysis of
    permutations", Applied Statistics 24, 1975; Luce, "Individual choice behavior", 1959). Each seat is one of those that
    come in, so an agent may have several. The games of a board weigh 1 in all, and `PRIOR` wins are added to either side
    of every pair. The intervals are quantiles of a bootstrap over boards.

    Args:
        lineups: (N, P) agent in each seat.
        places: (N, P) as `places_of` gives them; seats that tie count as if they had come in all orders.
        boards: (N,) the board of each game.
        agents: k, number of agents.
        anchor: the agent whose rating is 0.
        seed: of the bootstrap.
    """
    if agents == 1:
        return [Rating(0.0, 0.0, 0.0)]
    choices = _collect(np.asarray(lineups), np.asarray(places), np.asarray(boards), agents)
    first_of_pairs, left_of_pairs = _pairs(agents)
    first = np.concatenate([choices.first, first_of_pairs])
    left = np.concatenate([choices.left, left_of_pairs])
    prior = np.full(len(first_of_pairs), PRIOR)

    def fit(times: Floats, start: Floats) -> Floats:
        weights = np.concatenate([times @ choices.weights, prior])
        return _maximum(first, left, weights, start, anchor)

    count = choices.weights.shape[0]
    best = fit(np.ones(count), np.zeros(agents))
    rng = np.random.default_rng(seed)
    draws = np.zeros((RESAMPLES, agents))
    for i in range(RESAMPLES):
        times = np.bincount(rng.integers(count, size=count), minlength=count) if count else np.zeros(0)
        draws[i] = fit(times.astype(np.float64), best)
    low, high = np.quantile(
        draws * ELO, [0.025, 0.975], axis=0, method="weibull"
    )  # 5 of 201, not 6: as many draws miss as are to
    return [Rating(float(best[a] * ELO), float(low[a]), float(high[a])) for a in range(agents)]
