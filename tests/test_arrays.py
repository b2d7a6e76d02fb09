"""Many entries at once: what is compiled and its plain Python twin write the same, and nothing beyond."""

import random  # noqa: TID251 - the choices of a test
from typing import Any

import numpy as np
import pytest

from chicago_env._jit import config, jit
from chicago_env.arrays import borrowed, copy_bytes, write_bits, write_bytes
from chicago_env.bits import card_list, turned, turned_sets

WORDS = [0, 1, -1, 1 << 63, (1 << 63) - 1, -(1 << 63), *(random.Random(0).getrandbits(64) for _ in range(20))]
SIGNED = [((word + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63) for word in WORDS]


@jit
def _write_bits(out: Any, at: int, word: int) -> None:
    write_bits(out, at, word)


@jit
def _write_bytes(out: Any, at: int, word: int) -> None:
    write_bytes(out, at, word)


@jit
def _copy_bytes(out: Any, at: int, source: Any, count: int) -> None:
    copy_bytes(out, at, source, count)


@jit
def _sum(array: Any) -> int:
    array = borrowed(array)
    total = 0
    for row in range(array.shape[0]):
        part = array[row]
        for i in range(part.shape[0]):
            total += part[i]
    return total


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("word", SIGNED)
def test_bits_become_entries(word: int, dtype: Any) -> None:
    expected = np.full(80, 7, dtype=dtype)
    expected[9:73] = [word >> i & 1 for i in range(64)]
    for write in (write_bits, _write_bits):
        out = np.full(80, 7, dtype=dtype)
        write(out, 9, word)
        assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("word", SIGNED)
def test_bytes_become_entries(word: int) -> None:
    expected = np.full(20, 7, dtype=np.uint8)
    expected[5:13] = [word >> 8 * i & 255 for i in range(8)]
    for write in (write_bytes, _write_bytes):
        out = np.full(20, 7, dtype=np.uint8)
        write(out, 5, word)
        assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("count", [0, 1, 7, 64, 93])
def test_bytes_are_copied(count: int) -> None:
    source = np.arange(1, 94, dtype=np.uint8)
    expected = [0] * 3 + list(range(1, count + 1)) + [0] * (100 - 3 - count)
    for copy in (copy_bytes, _copy_bytes):
        out = np.zeros(100, dtype=np.uint8)
        copy(out, 3, source, count)
        assert out.tolist() == expected


def test_borrowed_arrays_read_the_same_and_survive() -> None:
    array = np.arange(60).reshape(12, 5)
    for _ in range(1000):
        assert _sum(array) == 1770
        assert _sum(array[2:4]) == 145
    assert borrowed(array) is array


@pytest.mark.skipif(not config.BOUNDSCHECK and not config.DISABLE_JIT, reason="only the debug modes check")
def test_debug_modes_refuse_to_write_beyond_the_end() -> None:
    out = np.zeros(70, dtype=np.uint8)
    for write, size in ((_write_bits, 64), (_write_bytes, 8)):
        write(out, 70 - size, 1)
        with pytest.raises((IndexError, ValueError)):
            write(out, 71 - size, 1)
    with pytest.raises((IndexError, ValueError)):
        _copy_bytes(out, 60, out, 11)


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("width", [2, 4, 6, 8, 10])
def test_tables_turn(players: int, width: int) -> None:
    fields = [random.Random(width).getrandbits(width) for _ in range(players)]
    table = sum(field << width * s for s, field in enumerate(fields))
    for seat in range(players):
        found = turned(table, width, seat, players)
        assert found == sum(fields[(seat + j) % players] << width * j for j in range(players))


@pytest.mark.parametrize("players", range(2, 7))
def test_sets_of_seats_turn(players: int) -> None:
    rng = random.Random(players)
    sets = [rng.getrandbits(players) for _ in range(10)]
    word = sum(one << 6 * k for k, one in enumerate(sets))
    for seat in range(players):
        found = turned_sets(word, seat, players)
        for k, one in enumerate(sets):
            seats = [s for s in range(players) if one >> s & 1]
            assert found >> 6 * k & 63 == sum(1 << (s - seat) % players for s in seats)


def test_lists_of_cards() -> None:
    rng = random.Random(1)
    for n in range(6):
        for _ in range(50):
            cards = sorted(rng.sample(range(52), n))
            found = card_list(sum(1 << card for card in cards))
            assert found == sum(card + 1 << 8 * i for i, card in enumerate(cards))
