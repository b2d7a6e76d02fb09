"""The chance to win a match from given scores, solved from games under each preset (`python -m eval.make_equity`).

What a lead is worth near the end, no formula of points and luck says: who is under buy stop plays what was dealt, and where
a Chicago that fails ends the deal unscored, who is behind may call one only so that nobody scores. From 48 to 20 the leader
wins 7 of 10 matches under `pagat`, where the formula below says 97 %.
"""

from pathlib import Path
from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.rules import Rules

FILE = Path(__file__).parent / "equity.npy"

POINTS_PER_DEAL = 6.5
"""Mean gain of the leader in a deal, points: what brings a match closer to its end."""

SPREAD_PER_DEAL = 11.0
"""Standard deviation of the difference of two seats' gains in a deal, points (9 to 13 measured at two players)."""

LOGISTIC = 1.702
"""The logistic function of 1.702 x is the normal distribution function of x within .01."""

KINDS = ("pagat", "race", "open-card", "family")
"""Presets that have tables. Other rules have that of the one most like them, see `kind_of`."""

TARGET = 52
"""Target of the tables; with another one scores count by what they lack."""

LOWEST = -40
"""Scores below count as this."""

KNOTS = {2: 24, 3: 13, 4: 9, 5: 6, 6: 5}
"""Knots of an axis, by number of players: a table has as many axes as there are seats."""

SCALE = 65535
"""A chance of 1 in the file, whose numbers are uint16."""


def make_knots(target: int, players: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(K,) scores from `LOWEST` to the target, closer to each other towards the target but for two players."""
    steps = np.linspace(0.0, 1.0, KNOTS[players])
    return np.asarray(target - (target - LOWEST) * (1 - steps) ** (1.0 if players == 2 else 1.5))


def _places() -> np.ndarray[Any, np.dtype[np.float64]]:
    """(5, S): where on an axis each score from `LOWEST` to the target is, in knots."""
    scores = np.arange(LOWEST, TARGET + 1)
    return np.array([np.interp(scores, make_knots(TARGET, n), np.arange(KNOTS[n])) for n in KNOTS])


def table_size(players: int) -> int:
    """Numbers in a table: for all scores of the seats from the dealer on, the chances of these seats."""
    return int(KNOTS[players] ** players * players)


_PLACES = _places()
_SIZES = np.array([KNOTS[n] for n in KNOTS])
_STARTS = np.cumsum([0, *(table_size(n) * len(KINDS) for n in KNOTS)])
_TABLE = np.load(FILE, allow_pickle=False)
_MOST = int(_STARTS[-2])  # where the tables for most players begin: numba caches no code with arrays of over a megabyte
_FEW, _MANY = _TABLE[:_MOST], _TABLE[_MOST:]


def table_of(players: int, kind: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(K ** P, P) chances of the seats from the dealer on, at knots of their scores; `kind` counts `KINDS`."""
    size = table_size(players)
    start = int(_STARTS[players - 2]) + kind * size
    return np.asarray(_TABLE[start : start + size].reshape(-1, players) / SCALE)


@jit
def kind_of(spoils: bool, first_past: bool, open_card: bool) -> int:
    """Which of `KINDS` rules are like, by what weighs most near the end.

    Args:
        spoils: a Chicago that fails ends the deal, and nothing more is scored.
        first_past: who reaches the target first wins, in the middle of a deal.
        open_card: one card exchanged may be a face-up one.
    """
    if spoils:
        return 1 if first_past else 0
    return 2 if open_card else 3


def kind_of_rules(rules: Rules) -> int:
    """The same, of rules."""
    spoils = rules.chicago and not rules.chicago_failure_scores
    return int(kind_of(spoils, rules.finish == "first_past", rules.open_card))


@jit
def kind_of_game(g: Any) -> int:
    """The same, of a record of `STATE`."""
    return kind_of(g["r_chicago"] == 1 and g["r_failure"] == 0, g["r_first_past"] == 1, g["r_open_card"] == 1)


@jit
def _share(scores: Any, count: int, target: int, seat: int) -> float:
    """A seat's share in the win where somebody has the target: who has most wins. -1 where nobody has it."""
    best, others = scores[seat], 0
    for s in range(count):
        best = max(best, scores[s])
    if best < target:
        return -1.0
    if scores[seat] < best:
        return 0.0
    for s in range(count):
        others += int(scores[s] == best)
    return 1.0 / others


@jit
def win_chance(scores: Any, count: int, target: int, dealer: int, kind: int, seat: int) -> float:
    """A seat's chance to win the match, before a deal.

    Args:
        scores: (count,) or longer, whole numbers.
        count: number of players.
        target: score at which the match can be won; who has it wins, of several the one with most.
        dealer: seat that deals.
        kind: of the rules, see `kind_of`.
        seat: whose chance.
    """
    share = _share(scores, count, target, seat)
    if share >= 0:
        return share
    size, own = int(_SIZES[count - 2]), (seat - dealer) % count
    table = int(_STARTS[count - 2]) + kind * size**count * count
    total = 0.0
    for corner in range(1 << count):
        index, weight = 0, 1.0
        for axis in range(count):
            lacks = target - int(scores[(dealer + axis) % count])
            place = _PLACES[count - 2, max(TARGET - LOWEST - lacks, 0)]
            low = min(int(place), size - 2)
            up = corner >> axis & 1
            index = index * size + low + up
            weight *= place - low if up else 1 - (place - low)
        at = table + index * count + own
        total += weight * (_FEW[at] if at < _MOST else _MANY[at - _MOST])
    return total / SCALE


@jit
def write_chances(scores: Any, count: int, target: int, dealer: int, kind: int, out: Any) -> None:
    """Writes the chances of all seats, which add up to 1, into `out` (count,) or longer float64; see `win_chance`."""
    total = 0.0
    for seat in range(count):
        out[seat] = win_chance(scores, count, target, dealer, kind, seat)
        total += out[seat]
    for seat in range(count):
        out[seat] /= total


@jit
def closed_chance(scores: Any, count: int, target: int, seat: int) -> float:
    """Chance of a seat to win the match by a formula: the lead over what luck can still change. It knows nothing of what is
    special about the end of a match, but depends on nobody's play.

    With n deals to come, the difference of two seats moves by about `SPREAD_PER_DEAL` times the root of n; the leader
    is at the target after about (target - score) / `POINTS_PER_DEAL` deals, and one deal at least is played.

    Args:
        scores: as in `write_chances`, any numbers.
        count: as there.
        target: as there.
        seat: whose chance.
    """
    share = _share(scores, count, target, seat)
    if share >= 0:
        return share
    best = scores[seat]
    for s in range(count):
        best = max(best, scores[s])
    deals = 1.0 + (target - best) / POINTS_PER_DEAL
    scale = LOGISTIC / (SPREAD_PER_DEAL * np.sqrt(deals))
    total = 0.0
    for s in range(count):
        total += 1.0 if s == seat else np.exp((scores[s] - scores[seat]) * scale)
    return 1.0 / total
