"""Plays positions of a batch on to the end of their episodes, apart from the batch, one branch for each answer of interest.

All cards are where they truly are: what two branches of one position have in common, hands and luck of the draw, falls out
of their difference.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.actions import NUM_ACTIONS
from chicago_env.engine import flow
from chicago_env.game import NO_LOG
from chicago_env.layout import OBSERVATION_SIZE, SEATS
from chicago_env.observation import observe
from chicago_env.rewards import reward_kind, write_rewards
from chicago_env.setup import NO_DECKS
from chicago_env.state import OVER, STATE

Array = np.ndarray[Any, Any]

Choose = Callable[[Array, Array, Array, Array], Array]
"""Gives legal actions (B,) for numbers of branches (B,), seats to act (B,), observations (B, D) uint8 and masks (B, A) int8."""

_ROWS = 8192  # branches played side by side: more would not fit the processor's caches


@jit
def _start(raw_positions: Any, raw: Any, states: Any, parents: Any, answers: Any, decks: Any, log: Any) -> None:
    """Copies the parent of each branch (bytes of records) and gives its answer."""
    for i in range(parents.shape[0]):
        raw[i] = raw_positions[parents[i]]
        flow.step(states[i], decks, int(answers[i]), log)


@jit
def _observe(states: Any, rows: Any, observations: Any, masks: Any, decks: Any, log: Any) -> int:
    """Plays forced decisions; gives the number of branches that have a choice, and writes which and what they show."""
    n = 0
    for row in range(states.shape[0]):
        g = states[row]
        while g["phase"] != OVER:
            action = flow.forced(g)
            if action < 0:
                rows[n] = row
                observe(g, int(g["to_act"]), observations[n])
                flow.write_mask(g, masks[n])
                n += 1
                break
            flow.step(g, decks, action, log)
    return n


@jit
def _step(states: Any, rows: Any, actions: Any, decks: Any, log: Any) -> None:
    for i in range(rows.shape[0]):
        flow.step(states[rows[i]], decks, int(actions[i]), log)


@jit
def _write_final(states: Any, kind: int, out: Any) -> None:
    before = np.zeros(SEATS, dtype=np.int64)
    for i in range(states.shape[0]):
        write_rewards(states[i], kind, before, out[i])


def final_rewards(states: Array, reward: str) -> Array:
    """(N, 6) rewards by that name of matches that are over, as `chicago_env.rewards` says them; points count from 0."""
    out = np.zeros((len(states), SEATS), dtype=np.float32)
    _write_final(states, reward_kind(reward), out)
    return out


def played_out(positions: Array, parents: Array, answers: Array, choose: Choose) -> Array:
    """(N,) records at the end of the episodes of N branches.

    Args:
        positions: (L,) records where somebody is to act; they are not changed.
        parents: (N,) the position at which each branch begins.
        answers: (N,) the action that it begins with, legal there.
        choose: decides everything that comes after.
    """
    states = np.empty(len(parents), dtype=STATE)
    raw_positions = positions.view(np.uint8).reshape(len(positions), STATE.itemsize)
    raw = states.view(np.uint8).reshape(len(states), STATE.itemsize)
    size = min(_ROWS, len(states))
    rows = np.empty(size, dtype=np.int64)
    observations = np.empty((size, OBSERVATION_SIZE), dtype=np.uint8)
    masks = np.empty((size, NUM_ACTIONS), dtype=np.int8)
    for low in range(0, len(states), _ROWS):
        part = slice(low, low + _ROWS)
        some = states[part]
        _start(raw_positions, raw[part], some, parents[part], answers[part], NO_DECKS, NO_LOG)
        while n := _observe(some, rows, observations, masks, NO_DECKS, NO_LOG):
            at = rows[:n]
            _step(some, at, choose(low + at, some["to_act"][at], observations[:n], masks[:n]), NO_DECKS, NO_LOG)
    return states
