"""Advantages in a game where seats take turns: every row of a batch shows the seat to act, each seat learns."""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Advantages(NamedTuple):
    """What `seat_advantages` gives.

    Attributes:
        advantages: (T, N) float32.
        complete: (T, N) bool: the decision may be learned from. The last decision of a seat in a row is not, where
            neither the seat's next decision nor the end of the episode is known; its advantage is 0.
    """

    advantages: Array
    complete: Array


def seat_advantages(
    values: Array,
    seats: Array,
    rewards: Array,
    dones: Array,
    last_values: Array,
    last_seats: Array,
    *,
    gamma: float,
    gae_lambda: float,
) -> Advantages:
    """Generalised advantage estimates (arXiv 1506.02438, eq. 16) along each seat's own decisions.

    The decision k of a seat is paid what the seat is given from then until its decision k + 1, or until the end of the
    episode, whoever acts in between: delta = paid + gamma * V(k + 1) - V(k), and A(k) = delta + gamma * lambda *
    A(k + 1). After the end V and A are 0. The last decision of a seat whose next one lies beyond the rollout serves as
    V(k + 1) of the one before, as if the estimate ended there; only the seat to act next has its next value in
    `last_values`.

    Args:
        values: (T, N) values of the acting seats.
        seats: (T, N) the acting seats.
        rewards: (T, N, P) what each seat is given by the step.
        dones: (T, N) the episode ended in the step.
        last_values: (N,) values at the observations after the last step.
        last_seats: (N,) the seats to act there.
        gamma: discount for each decision of a seat.
        gae_lambda: lambda.
    """
    steps, rows, players = rewards.shape
    row = np.arange(rows)
    advantages = np.zeros((steps, rows), dtype=np.float32)
    complete = np.zeros((steps, rows), dtype=np.bool_)
    # of each seat's next decision; `known`: there is one in the rollout, or the episode ends before it
    next_value = np.zeros((rows, players), dtype=np.float64)
    next_advantage = np.zeros_like(next_value)
    known = np.zeros((rows, players), dtype=np.bool_)
    paid = np.zeros_like(next_value)
    next_value[row, last_seats] = last_values
    known[row, last_seats] = True
    for t in range(steps - 1, -1, -1):
        ended = dones[t]
        paid[ended] = 0
        next_value[ended] = 0
        next_advantage[ended] = 0
        known[ended] = True
        paid += rewards[t]
        seat = seats[t]
        usable = known[row, seat]
        delta = paid[row, seat] + gamma * next_value[row, seat] - values[t]
        advantage = np.where(usable, delta + gamma * gae_lambda * next_advantage[row, seat], 0)
        advantages[t], complete[t] = advantage, usable
        next_value[row, seat] = values[t]
        next_advantage[row, seat] = advantage
        paid[row, seat] = 0
        known[row, seat] = True
    return Advantages(advantages, complete)
