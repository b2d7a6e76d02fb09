"""Sets, tables and lists in the bits of an `int64`. Each helper has a plain Python twin for debugging.

- A set of cards is a 52-bit mask: bit i is card id i.
- A table by seat has a field of so many bits for each seat, seat 0 in the lowest; `turned` shows it from another seat.
- A list of up to five cards has a byte for each, card id + 1, the first in the lowest; 0 in the others.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from chicago_env._jit import jit

SUIT_CARDS = 0x1111111111111  # the thirteen clubs; shifted by the suit for the others
FULL_DECK = (1 << 52) - 1


@intrinsic
def _ctpop(_context: Any, x: Any) -> Any:
    return types.int64(types.int64), lambda _ctx, builder, _sig, args: builder.ctpop(args[0])


@intrinsic
def _cttz(_context: Any, x: Any) -> Any:
    def codegen(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@intrinsic
def _ctlz(_context: Any, x: Any) -> Any:
    def codegen(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


def popcount(mask: int) -> int:
    """Number of cards in `mask`."""
    return int(mask).bit_count()


@overload(popcount)
def _popcount(mask: Any) -> Any:
    def impl(mask: Any) -> Any:
        return _ctpop(mask)  # type: ignore[call-arg]  # numba passes the typing context itself

    return impl


def lowest(mask: int) -> int:
    """Id of the lowest card of a set that is not empty."""
    return (int(mask) & -int(mask)).bit_length() - 1


@overload(lowest)
def _lowest(mask: Any) -> Any:
    def impl(mask: Any) -> Any:
        return _cttz(mask)  # type: ignore[call-arg]  # as above

    return impl


@jit
def nth(mask: int, n: int) -> int:
    """Id of the n-th lowest card (from 0) of a set with more than n cards."""
    if mask & (mask + 1) == 0:  # a block of all the lowest ones, as the discards are
        return n
    for _ in range(n):
        mask &= mask - 1
    return lowest(mask)


def highest(mask: int) -> int:
    """Id of the highest card of a set that is not empty."""
    return int(mask).bit_length() - 1


@overload(highest)
def _highest(mask: Any) -> Any:
    def impl(mask: Any) -> Any:
        return 63 - _ctlz(mask)  # type: ignore[call-arg]  # as above

    return impl


@jit
def select(mask: int, picks: int) -> int:
    """The cards of `mask` whose position in the sorted hand, up to the fifth, has its bit set in `picks`."""
    chosen = 0
    for i in range(5):
        chosen |= mask & -mask & -(picks >> i & 1)
        mask &= mask - 1
    return chosen


@jit
def positions(mask: int, chosen: int) -> int:
    """Inverse of `select`: the bits of the positions in the sorted hand `mask` that hold the cards `chosen`."""
    picks = 0
    for i in range(5):
        picks |= int(chosen & mask & -mask != 0) << i
        mask &= mask - 1
    return picks


# --- tables by seat --------------------------------------------------------------------------------------------------


@jit
def turned(table: int, width: int, seat: int, players: int) -> int:
    """A table with fields of `width` bits, at most 62 bits for all players, with `seat` as its first."""
    at = width * seat
    return table >> at | (table & ((1 << at) - 1)) << (width * players - at)


SEAT_BITS = 6  # bits of a set of seats
_FIRST_SEATS = sum(1 << SEAT_BITS * k for k in range(10))


@jit
def turned_sets(sets: int, seat: int, players: int) -> int:
    """Up to ten sets of seats, six bits for each, every one of them with `seat` as its first."""
    low = ((1 << seat) - 1) * _FIRST_SEATS
    return (sets & ~low) >> seat | (sets & low) << (players - seat)


# --- lists of cards --------------------------------------------------------------------------------------------------

_TOP = -(1 << 63)


@jit
def card_list(mask: int) -> int:
    """The list of up to five cards, ascending. Without branches: how many there are is a toss-up for the processor."""
    cards = 0
    for i in range(5):
        cards |= ((lowest(mask | _TOP) + 1) & 63) << 8 * i  # the top bit stands for no card and becomes 0
        mask &= mask - 1
    return cards
