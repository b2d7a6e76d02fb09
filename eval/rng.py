"""Chance of the agents: the numbers of a row depend on its game and decision alone, not on batch, order or workers."""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.engine.chance import key_of, unit

BOARDS, AGENTS, DECISION, BOT, TABLES = 101, 102, 103, 104, 105
"""Purposes of keys, beside those of `chicago_env.engine.chance`."""

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@jit
def decision_keys(root: int, boards: Any, seats: Any, decisions: Any, keys: Any) -> None:
    """Writes the key of each row's decision.

    Args:
        root: root key of the boards.
        boards: (L,) int64, index of the board.
        seats: (L,) int64, seat at the table.
        decisions: (L,) int64, number of decisions this seat has made in this game.
        keys: (L,) int64, written.
    """
    for i in range(boards.shape[0]):
        keys[i] = key_of(key_of(root, AGENTS, int(boards[i]), int(seats[i])), DECISION, int(decisions[i]), 0)


@jit
def _fill(keys: Any, first: int, out: Any) -> None:
    for i in range(keys.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = unit(int(keys[i]), first + j)


class RowRng:
    """Numbers keyed row by row; an `agents.Rng`.

    Two seats at one table have different keys, but whoever sits there gets the same numbers: so an agent that plays
    against itself plays the same game in every rotation of a board, and comes out exactly even.
    """

    def __init__(self, keys: Ints) -> None:
        """Takes the key (L,) int64 of each row."""
        self._keys = keys
        self._used = 0

    def random(self, size: int | tuple[int, ...], /) -> Floats:
        """Numbers uniform in [0, 1), float64 of shape `size`; each call goes on in every row's own stream.

        Raises:
            ValueError: the first axis of `size` is not the rows of the batch.
        """
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
        if not shape or shape[0] != len(self._keys):
            raise ValueError(f"rng.random({size!r}): the first axis must be the {len(self._keys)} rows of the batch")
        out = np.empty((shape[0], int(np.prod(shape[1:]))), dtype=np.float64)
        _fill(self._keys, self._used, out)
        self._used += out.shape[1]
        return out.reshape(shape)
