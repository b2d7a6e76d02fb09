"""Splits the rows of a batch over threads, and hands out arrays that nobody holds any more.

Kernels release the GIL, so plain threads do; numba's own threading layers disturb torch in the same process.
"""

import itertools
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

MIN_ROWS = 256  # below this many rows for each thread the hand-over costs more than it gains
_PARTS = 4  # for each thread

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def default_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_chunks(kernel: Callable[[int, int], None], rows: int, threads: int, *, min_rows: int = MIN_ROWS) -> None:
    """Calls `kernel(low, high)` for parts that cover `rows`, at once on up to `threads` threads, this one included.

    There are more parts than threads, and each thread takes the next one when it is done: a thread that has to share its
    core with other work holds up nobody. `min_rows`: fewest rows of a part; 1 where a row takes milliseconds.
    """
    parts = max(1, min(_PARTS * threads, rows // min_rows))
    workers = min(threads, parts)
    if workers == 1:
        kernel(0, rows)
        return
    key = (os.getpid(), threads)  # threads do not survive a fork
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(threads - 1, thread_name_prefix="chicago")
    numbers = itertools.count()

    def work() -> None:
        while (part := next(numbers)) < parts:
            kernel(rows * part // parts, rows * (part + 1) // parts)

    waiting = [_pools[key].submit(work) for _ in range(workers - 1)]
    try:
        work()
    finally:
        wait([future for future in waiting if not future.cancel()])
    for future in waiting:
        if not future.cancelled():
            future.result()


class Arrays:
    """Arrays of one shape for one purpose. `take` gives one that nobody else holds: fresh memory costs a page fault every
    4 KiB, so arrays that came back are used again, but never one that a caller still has, or a view of it.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._free: list[np.ndarray[Any, Any]] = []
        # Only where a count of references is exact can it show that an array came back.
        self._counts = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()

    def take(self) -> np.ndarray[Any, Any]:
        """An array with any content."""
        if self._counts:
            for i in range(len(self._free)):
                # Held here by the list and by the call alone.
                if sys.getrefcount(self._free[i]) <= _ALONE:
                    return self._free[i]
        array = np.empty(self.shape, dtype=self.dtype)
        if self._counts:
            if len(self._free) >= _KEPT:
                self._free.pop(0)
            self._free.append(array)
        return array


_KEPT = 8


def _references_of_a_listed_object() -> int:
    listed = [np.empty(0)]
    return sys.getrefcount(listed[0])


_ALONE = _references_of_a_listed_object()
