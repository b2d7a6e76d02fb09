"""Keyed chance: every random number is a pure function of a key, so that no order of play or of threads can change it.

Counter-based splitmix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). The Python
twins serve `NUMBA_DISABLE_JIT=1`; a test holds the two together.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from chicago_env._jit import jit

DECK, RESHUFFLE, FIRST_DEALER, MATCH, START_SCORES = 1, 2, 3, 4, 5  # purposes: one independent family of keys each

_GOLDEN = 0x9E3779B97F4A7C15
_M1 = 0xBF58476D1CE4E5B9
_M2 = 0x94D049BB133111EB
_WORD = (1 << 64) - 1


def _mix(x: int) -> int:
    x = (x ^ (x >> 30)) * _M1 & _WORD
    x = (x ^ (x >> 27)) * _M2 & _WORD
    return x ^ (x >> 31)


def key_of(seed: int, purpose: int, a: int, b: int) -> int:
    """64-bit key of (seed, purpose, a, b), returned as an `int64` bit pattern."""
    x = int(seed) & _WORD
    for word in (purpose, a, b):
        x = _mix((x + _GOLDEN * (2 * int(word) + 1)) & _WORD)
    return x - (1 << 64) if x >> 63 else x


@overload(key_of)
def _key_of(seed: Any, purpose: Any, a: Any, b: Any) -> Any:
    def impl(seed: Any, purpose: Any, a: Any, b: Any) -> Any:
        x = np.uint64(seed)
        for word in (np.uint64(purpose), np.uint64(a), np.uint64(b)):
            x += np.uint64(_GOLDEN) * (np.uint64(2) * word + np.uint64(1))
            x = (x ^ (x >> np.uint64(30))) * np.uint64(_M1)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(_M2)
            x = x ^ (x >> np.uint64(31))
        return np.int64(x)

    return impl


def unit(key: int, i: int) -> float:
    """The i-th number of the stream of `key`, uniform in [0, 1), a multiple of 2**-53."""
    return float(_mix((int(key) + _GOLDEN * (int(i) + 1)) & _WORD) >> 11) * 2.0**-53


@overload(unit)
def _unit(key: Any, i: Any) -> Any:
    def impl(key: Any, i: Any) -> Any:
        x = np.uint64(key) + np.uint64(_GOLDEN) * (np.uint64(i) + np.uint64(1))
        x = (x ^ (x >> np.uint64(30))) * np.uint64(_M1)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(_M2)
        x = x ^ (x >> np.uint64(31))
        return np.float64(x >> np.uint64(11)) * 2.0**-53

    return impl


@jit
def shuffle(cards: Any, n: int, key: int) -> None:
    """Fisher-Yates over the first n entries of `cards`, in place. Bias below 2**-47 a step."""
    for i in range(n - 1, 0, -1):
        j = int(unit(key, i) * (i + 1))
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card
