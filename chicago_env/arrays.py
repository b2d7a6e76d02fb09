"""Arrays in compiled code: writing many entries at once, and views without a count of references.

Each helper has a plain Python twin for debugging.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from chicago_env._jit import config, jit

_BOUNDS_CHECKED = bool(config.BOUNDSCHECK)


def borrowed(array: Any) -> Any:
    """The same array without ownership: for the arguments of a kernel, which its caller holds.

    numba counts references to an array at every call that it is handed to, in memory that all threads then fight for:
    with two threads that took longer than the game itself.
    """
    return array


@intrinsic
def _without_owner(_context: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        view = context.make_array(sig.args[0])(context, builder, args[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        view.parent = ir.Constant(view.parent.type, None)
        return view._getvalue()

    return array(array), codegen


@overload(borrowed)
def _borrowed(array: Any) -> Any:
    def impl(array: Any) -> Any:
        return _without_owner(array)  # type: ignore[call-arg]  # numba passes the typing context itself

    return impl


@intrinsic
def _store_bits(_context: Any, out: Any, at: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        bits = builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64))
        entries = builder.zext(bits, ir.VectorType(ir.IntType(8), 64))
        store = builder.store(entries, builder.bitcast(place, entries.type.as_pointer()))
        store.align = 1
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64), codegen


@intrinsic
def _store_bytes(_context: Any, out: Any, at: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        store = builder.store(args[2], builder.bitcast(place, args[2].type.as_pointer()))
        store.align = 1
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64), codegen


@intrinsic
def _copy(_context: Any, out: Any, at: Any, source: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to = builder.gep(context.make_array(sig.args[0])(context, builder, args[0]).data, [args[1]])
        data = context.make_array(sig.args[2])(context, builder, args[2]).data
        memcpy = builder.module.declare_intrinsic("llvm.memcpy", [to.type, data.type, args[3].type])
        builder.call(memcpy, [to, data, args[3], ir.Constant(ir.IntType(1), 0)])
        return context.get_dummy_value()

    return types.void(out, types.int64, source, types.int64), codegen


@jit
def _check_room(out: Any, at: int, count: int) -> None:
    if at < 0 or at + count > out.shape[0]:
        raise IndexError("written beyond the end of an array")


def write_bits(out: Any, at: int, word: int) -> None:
    """Writes the 64 bits of `word` into the 64 entries of `out` (N,) uint8 or int8 from index `at` on."""
    word = int(word) & (1 << 64) - 1
    out[at : at + 64] = np.unpackbits(np.frombuffer(word.to_bytes(8, "little"), dtype=np.uint8), bitorder="little")


@overload(write_bits)
def _write_bits(out: Any, at: Any, word: Any) -> Any:
    def impl(out: Any, at: Any, word: Any) -> Any:
        if _BOUNDS_CHECKED:
            _check_room(out, at, 64)
        _store_bits(out, at, word)  # type: ignore[call-arg]  # as above

    return impl


def write_bytes(out: Any, at: int, word: int) -> None:
    """Writes the 8 bytes of `word`, lowest first, into the entries of `out` (N,) uint8 from index `at` on."""
    word = int(word) & (1 << 64) - 1
    out[at : at + 8] = np.frombuffer(word.to_bytes(8, "little"), dtype=np.uint8)


@overload(write_bytes)
def _write_bytes(out: Any, at: Any, word: Any) -> Any:
    def impl(out: Any, at: Any, word: Any) -> Any:
        if _BOUNDS_CHECKED:
            _check_room(out, at, 8)
        _store_bytes(out, at, word)  # type: ignore[call-arg]  # as above

    return impl


def copy_bytes(out: Any, at: int, source: Any, count: int) -> None:
    """Copies the first `count` entries of `source` (N,) uint8 into `out` (M,) uint8 from index `at` on."""
    out[at : at + count] = source[:count]


@overload(copy_bytes)
def _copy_bytes(out: Any, at: Any, source: Any, count: Any) -> Any:
    def impl(out: Any, at: Any, source: Any, count: Any) -> Any:
        if _BOUNDS_CHECKED:
            _check_room(out, at, count)
            _check_room(source, 0, count)
        _copy(out, at, source, count)  # type: ignore[call-arg]  # as above

    return impl
