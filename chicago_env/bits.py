"""Sets of cards are 52-bit masks in an `int64`: bit i is card id i. Each helper has a plain Python twin for debugging."""

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
    for _ in range(n):
        mask &= mask - 1
    return lowest(mask)


@jit
def highest(mask: int) -> int:
    """Id of the highest card of a set that is not empty."""
    card = 0
    while mask:
        card = lowest(mask)
        mask &= mask - 1
    return card


@jit
def select(mask: int, picks: int) -> int:
    """The cards of `mask` whose position in the sorted hand has its bit set in `picks`."""
    chosen = 0
    while picks and mask:
        low = mask & -mask
        if picks & 1:
            chosen |= low
        mask ^= low
        picks >>= 1
    return chosen


@jit
def positions(mask: int, chosen: int) -> int:
    """Inverse of `select`: the bits of the positions in the sorted hand `mask` that hold the cards `chosen`."""
    picks = 0
    bit = 1
    while mask:
        low = mask & -mask
        if chosen & low:
            picks |= bit
        mask ^= low
        bit <<= 1
    return picks
