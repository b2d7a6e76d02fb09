"""Cycles: who beats whom, where no order of all agents says so."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eval.stats import CONFIDENCE, share_interval

Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


def clear_wins(shares: Mapping[tuple[int, int], Floats], agents: int, confidence: float = CONFIDENCE) -> Bools:
    """(k, k) bool: a beats b beyond noise.

    The intervals of all pairs together are right with `confidence` (Bonferroni: each errs with one part in as many as
    there are pairs), so that with this confidence no cycle is named that is not there.

    Args:
        shares: by pair, (n,) share of each board that the first won.
        agents: k.
        confidence: of all of them.
    """
    beats = np.zeros((agents, agents), dtype=np.bool_)
    for (a, b), values in shares.items():
        found = share_interval(values, 1 - (1 - confidence) / len(shares))
        beats[a, b] = found.low is not None and found.low > 0.5
        beats[b, a] = found.high is not None and found.high < 0.5
    return beats


def _shortest(beats: Bools, start: int) -> tuple[int, ...] | None:
    """The shortest cycle through `start`, the smallest numbers of equals first."""
    before = {start: -1}
    row = [start]
    while row:
        following = []
        for at in row:
            for to in np.flatnonzero(beats[at]).tolist():
                if to == start:
                    cycle = [at]
                    while before[cycle[-1]] >= 0:
                        cycle.append(before[cycle[-1]])
                    return tuple(reversed(cycle))
                if to not in before:
                    before[to] = at
                    following.append(to)
        row = following
    return None


def cycles_of(beats: Bools) -> list[tuple[int, ...]]:
    """Cycles of who beats whom: (a, b, c) is a beats b beats c beats a. The smallest number stands first.

    Of every agent that is in a cycle the shortest one, each once, by length and number: every cycle that there is has
    all its members in some of these.
    """
    found = set()
    for start in range(len(beats)):
        cycle = _shortest(beats, start)
        if cycle is not None:
            turn = cycle.index(min(cycle))
            found.add(cycle[turn:] + cycle[:turn])
    return sorted(found, key=lambda cycle: (len(cycle), cycle))
