"""The chance to win a match, solved from deals that were played: what the formula of `eval.equity` cannot know.

How much a lead is worth near the end depends on how the agents play there. Who is behind may call a Chicago that is bound
to fail, only so that an opponent does not score (docs/rules.md); the last to announce, or to play, has the better of an
even score. A formula knows nothing of that, and who learns by it does not either.
"""

import itertools
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

from agents.equity import make_knots
from chicago_env.errors import SetupError
from eval.equity import Deals, Equity, digest_of

Array = np.ndarray[Any, Any]

SMOOTH, PRIOR = 20.0, 0.1
"""Weights, in deals, of a second difference between knots, and of the difference from the values to begin with."""

SWEEPS = 40  # a match lasts 7 to 8 deals: far fewer than this change anything


class SolvedEquity:
    """A table of chances at knots of all scores, linear in each score between them: an `Equity` for P players.

    Attributes:
        knots: (K,) scores, ascending.
        table: (K ** P, P) chances of the seats from the dealer on to the left, at scores in the same order.
    """

    def __init__(self, knots: Array, table: Array) -> None:
        self.knots = knots
        self.table = table

    @property
    def digest(self) -> str:
        """As in `eval.equity.Equity`: of knots and table."""
        return digest_of("table", self.knots, self.table)

    def chances(self, scores: Array, players: Array, dealers: Array) -> Array:
        """As in `eval.equity.Equity`; all rows must have as many players as the table."""
        del players
        count = self.table.shape[1]
        turn = (np.arange(count) + dealers[:, None]) % count
        found = np.clip(_weights(self.knots, np.take_along_axis(scores, turn, axis=1)) @ self.table, 0.0, 1.0)
        out = np.zeros(scores.shape)
        np.put_along_axis(out, turn, found / found.sum(axis=1, keepdims=True), axis=1)
        return out


def _weights(knots: Array, scores: Array) -> Any:
    """(N, K ** P) sparse: what each entry of the table weighs at `scores` (N, P)."""
    rows, count = scores.shape
    place = np.interp(scores, knots, np.arange(len(knots)))
    low = np.minimum(place.astype(np.int64), len(knots) - 2)
    part = place - low
    columns, values = [], []
    for corner in itertools.product((0, 1), repeat=count):
        index, weight = np.zeros(rows, dtype=np.int64), np.ones(rows)
        for axis, up in enumerate(corner):
            index = index * len(knots) + low[:, axis] + up
            weight = weight * (part[:, axis] if up else 1 - part[:, axis])
        columns.append(index)
        values.append(weight)
    starts = np.arange(0, rows * len(columns) + 1, len(columns))
    flat = (np.stack(values, axis=1).ravel(), np.stack(columns, axis=1).ravel(), starts)
    return sparse.csr_array(flat, shape=(rows, len(knots) ** count))


def _roughness(size: int, players: int) -> Any:
    """Second differences along every axis of the table."""
    bend = sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(size - 2, size))
    parts = []
    for axis in range(players):
        before, after = sparse.eye_array(size**axis), sparse.eye_array(size ** (players - 1 - axis))
        parts.append(sparse.kron(sparse.kron(before, bend), after))
    return sparse.vstack(parts).tocsr()


def solve_equity(deals: Deals, prior: Equity, target: int) -> SolvedEquity:
    """Solves V(before) = mean of V(after) over the deals that begin there, V = 1 for who has won the match.

    Value iteration, each sweep a least squares fit of the table to all deals, with a little weight on smoothness and on
    `prior`, which alone speaks where nothing was played.

    Args:
        deals: what was played, from scores of all kinds.
        prior: chances to begin with.
        target: score at which a match is won.

    Raises:
        SetupError: no deals.
    """
    if not len(deals.dealers):
        raise SetupError("the chance to win cannot be solved from no deals")
    count = deals.before.shape[1]
    knots = make_knots(target, count)
    turn = (np.arange(count) + deals.dealers[:, None]) % count
    start = _weights(knots, np.take_along_axis(deals.before, turn, axis=1))
    following = _weights(knots, np.roll(np.take_along_axis(deals.after, turn, axis=1), -1, axis=1))
    ended = deals.winners >= 0
    places = (deals.winners - deals.dealers) % count
    grid = np.stack(np.meshgrid(*[knots] * count, indexing="ij"), axis=-1).reshape(-1, count)
    every = np.full(len(grid), count)
    first = prior.chances(grid, every, every * 0)
    bend = _roughness(len(knots), count)
    matrix = start.T @ start + SMOOTH * (bend.T @ bend) + PRIOR * sparse.eye_array(len(grid))
    scale = sparse.diags_array(1 / matrix.diagonal())
    table = first
    for _ in range(SWEEPS):
        # the next deal's dealer sits to the left: its table begins one seat further
        goal = np.roll(following @ table, 1, axis=1)
        goal[ended] = 0
        goal[ended, places[ended]] = 1
        wanted = start.T @ goal + PRIOR * first
        found = [cg(matrix, wanted[:, s], x0=table[:, s], rtol=1e-6, M=scale)[0] for s in range(count)]
        change = np.abs(np.stack(found, axis=1) - table).max()
        table = np.clip(np.stack(found, axis=1), 0.0, 1.0)
        if change < 1e-4:
            break
    return SolvedEquity(knots, table)
