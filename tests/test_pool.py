"""Rows over threads, and arrays that are used again only when nobody holds them."""

import threading

import numpy as np
import pytest

from chicago_env.pool import MIN_ROWS, Arrays, default_threads, run_chunks


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("rows", [1, MIN_ROWS, 3 * MIN_ROWS + 1, 1000])
def test_chunks_cover_every_row_once(rows: int, threads: int) -> None:
    seen = np.zeros(rows, dtype=np.int64)
    names = set()

    def work(low: int, high: int) -> None:
        names.add(threading.current_thread().name)
        seen[low:high] += 1

    run_chunks(work, rows, threads)
    assert (seen == 1).all()
    assert len(names) <= threads


def test_threads_work_at_once_this_one_included() -> None:
    names = set()
    both = threading.Barrier(2, timeout=30)

    def work(_low: int, _high: int) -> None:
        names.add(threading.current_thread().name)
        both.wait()  # for the other part, which must be in another thread

    run_chunks(work, 2 * MIN_ROWS, 2)
    assert len(names) == 2
    assert threading.current_thread().name in names


def test_a_thread_that_is_held_up_holds_up_nobody() -> None:
    """While one part takes its time, another thread does all the others."""
    rest = threading.Event()
    done = []

    def work(low: int, _high: int) -> None:
        if low == 0:
            assert rest.wait(timeout=30)
        done.append(low)
        if len(done) == 7:
            rest.set()

    run_chunks(work, 8 * MIN_ROWS, 2)
    assert sorted(done) == [MIN_ROWS * i for i in range(8)]
    assert done[-1] == 0


def test_an_error_in_a_chunk_reaches_the_caller() -> None:
    def work(low: int, _high: int) -> None:
        if low:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_chunks(work, 4 * MIN_ROWS, 2)


def test_arrays_come_back_only_when_let_go() -> None:
    arrays = Arrays((3, 2), np.int16)
    first = arrays.take()
    assert first.shape == (3, 2)
    assert first.dtype == np.int16
    second = arrays.take()
    assert second is not first
    view, address = first[1:], first.ctypes.data
    del first
    assert arrays.take().ctypes.data != address  # the view still holds it
    del view
    assert arrays.take().ctypes.data == address
    held = [arrays.take() for _ in range(30)]
    assert len({array.ctypes.data for array in held}) == 30


def test_there_is_at_least_one_thread() -> None:
    assert default_threads() >= 1
