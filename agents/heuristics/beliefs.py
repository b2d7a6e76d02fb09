"""What another seat holds, as chances of classes of hands, from what it exchanged, announced and showed."""

from typing import Any

from agents.heuristics.field import FIELDS
from agents.heuristics.reading import current_round, known
from agents.odds import CLASSES, class_of
from chicago_env._jit import jit
from chicago_env.bits import popcount
from chicago_env.layout import AT, HAND, SEATS

DEALT, AFTER, EXCHANGED = FIELDS.dealt, FIELDS.after, FIELDS.exchanged


@jit
def _said(o: Any, seat: int, r: int) -> int:
    """Category announced after exchange r, 0 for a pass, -1 for nothing."""
    for c in range(10):
        if o[AT.announced + 10 * (SEATS * r + seat) + c]:
            return c
    return -1


@jit
def _limits(o: Any, seat: int, r: int) -> tuple[int, int]:
    """Lowest and highest category that the seat may have held in the announcing after exchange r."""
    said = _said(o, seat, r) if r >= 0 else -1
    if said > 0:
        return said, said
    if said < 0:
        return 0, 9
    highest = 0  # a pass: nothing better than what stands in the end, as a rule
    for other in range(SEATS):
        highest = max(highest, _said(o, other, r))
    return 0, highest


@jit
def write_belief(o: Any, seat: int, out: Any) -> None:
    """Writes the chance of each class of the hand that the seat holds, or will hold after the exchange in progress.

    Args:
        o: observation row, before the tricks.
        seat: another seat.
        out: (CLASSES,) float64, written.
    """
    r = current_round(o)
    cards = known(o, seat)
    if popcount(cards) == HAND:
        out[:] = 0.0
        out[class_of(cards)] = 1.0
        return
    count = -1
    for k in range(6):
        if o[AT.exchanged + 6 * (SEATS * r + seat) + k]:
            count = k
    if o[AT.stopped + seat] and count <= 0:
        out[:] = DEALT
        for t in range(r + 1):
            _restrict(o, seat, t, out)
        return
    low, high = _limits(o, seat, r - 1)
    total = 0.0
    if count >= 0:
        out[:] = 0.0
        for category in range(low, high + 1):
            for i in range(CLASSES):
                out[i] += EXCHANGED[r, category, count, i]
                total += EXCHANGED[r, category, count, i]
    if total < 1e-4:  # not exchanged yet, or something that the tables never saw
        out[:] = AFTER[r]
        total = 1.0
    for i in range(CLASSES):
        out[i] /= total
    _restrict(o, seat, r, out)


@jit
def _restrict(o: Any, seat: int, r: int, out: Any) -> None:
    """Keeps of `out` what the announcing after exchange r leaves."""
    low, high = _limits(o, seat, r)
    total = 0.0
    for i in range(13 * low, 13 * (high + 1)):
        total += out[i]
    if total < 1e-6:
        return
    for i in range(CLASSES):
        out[i] = out[i] / total if 13 * low <= i < 13 * (high + 1) else 0.0
