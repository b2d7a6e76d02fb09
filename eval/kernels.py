"""Kernels of the arena: stepping games with a note of how each deal began, and making a deal void."""

from typing import Any

from chicago_env._jit import jit
from chicago_env.engine import flow
from chicago_env.state import OVER

START_SIZE = 9
"""Entries of a note: number of the deal, Chicago flags `attempted` and `succeeded`, then six scores."""


@jit
def note(g: Any, start: Any) -> None:
    """Notes in `start` (START_SIZE,) how the deal began, if it is another than the one noted."""
    if start[0] != g["deal"]:
        start[0] = g["deal"]
        start[1] = g["attempted"]
        start[2] = g["succeeded"]
        for s in range(6):
            start[3 + s] = g["scores"][s]


@jit
def _play_forced(g: Any, start: Any, decks: Any, log: Any) -> None:
    note(g, start)
    action = flow.forced(g)
    while action >= 0:
        flow.step(g, decks, action, log)
        note(g, start)
        action = flow.forced(g)


@jit
def play_forced(states: Any, rows: Any, starts: Any, decks: Any, log: Any) -> None:
    """Plays forced decisions in each of `rows` (L,) and notes in `starts` (N, START_SIZE) how each deal began."""
    for i in range(rows.shape[0]):
        _play_forced(states[rows[i]], starts[rows[i]], decks, log)


@jit
def step_noting(states: Any, rows: Any, actions: Any, starts: Any, decks: Any, log: Any) -> None:
    """Carries out a legal action in each of `rows` (L,), then plays what is forced; notes as `play_forced` does."""
    for i in range(rows.shape[0]):
        g = states[rows[i]]
        flow.step(g, decks, int(actions[i]), log)
        _play_forced(g, starts[rows[i]], decks, log)


@jit
def void_deal(states: Any, row: int, starts: Any, seat: int, penalty: int, decks: Any, log: Any) -> None:
    """Takes back all that was scored and called in the deal in progress, which costs `seat` a penalty, and ends it.

    Forced decisions of the next deal are not played.
    """
    g, start = states[row], starts[row]
    if g["phase"] == OVER:
        return
    g["attempted"] = start[1]
    g["succeeded"] = start[2]
    for s in range(6):
        g["scores"][s] = start[3 + s]
    g["scores"][seat] -= penalty
    flow.end_deal(g, decks, log)
    note(g, start)
