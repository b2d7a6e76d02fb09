"""The chance to take the last trick with a hand of five cards, by a formula whose weights `make_last_trick` finds."""

from pathlib import Path
from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, popcount
from chicago_env.layout import HAND

FILE = Path(__file__).parent / "last_trick.npy"

_DEPTHS = 3  # a suit's highest card in the hand, its second, the others
_LEADS, _SUITS = 13 * _DEPTHS, 13 * _DEPTHS + 1
WEIGHTS = _SUITS + 4
"""Weights: rank and place in the suit of each card; whether it leads; number of suits, 1 to 4."""

TABLE = np.load(FILE, allow_pickle=False).astype(np.float64) if FILE.exists() else np.zeros((5, WEIGHTS))

_SPREAD = 0.35  # variance of a card's weight, and what of it a card that is still to be drawn adds


def _usual() -> np.ndarray[Any, np.dtype[np.float64]]:
    """(5,) weight of a card that is still to be drawn: of any rank, more often the first of its suit than not."""
    by_depth = TABLE[:, : 13 * _DEPTHS].reshape(-1, _DEPTHS, 13).mean(axis=2)
    return np.asarray(0.6 * by_depth[:, 0] + 0.4 * by_depth[:, 1])


_USUAL = _usual()


@jit
def features(hand: int, leads: bool, out: Any) -> None:
    """Writes what the weights count into `out` (WEIGHTS,)."""
    out[:] = 0.0
    suits = 0
    for suit in range(4):
        cards = hand & (SUIT_CARDS << suit)
        suits += int(cards != 0)
        depth = 0
        while cards:
            card = highest(cards)
            cards ^= 1 << card
            out[13 * min(depth, _DEPTHS - 1) + (card >> 2)] += 1.0
            depth += 1
    out[_LEADS] = 1.0 if leads else 0.0
    out[_SUITS + suits - 1] = 1.0


@jit
def log_odds(hand: int, leads: bool, count: int) -> float:
    """Logarithm of the odds to take the last trick of `count` players."""
    table = TABLE[count - 2]
    total = table[_LEADS] if leads else 0.0
    suits = 0
    for suit in range(4):
        cards = hand & (SUIT_CARDS << suit)
        suits += int(cards != 0)
        depth = 0
        while cards:
            card = highest(cards)
            cards ^= 1 << card
            total += table[13 * depth + (card >> 2)]
            depth = min(depth + 1, _DEPTHS - 1)
    return float(total + table[_SUITS + suits - 1])


@jit
def last_trick_chance(hand: int, leads: bool, count: int) -> float:
    """Chance to take the last trick of `count` players, everybody trying to."""
    return float(1.0 / (1.0 + np.exp(-log_odds(hand, leads, count))))


@jit
def partial_chance(kept: int, leads: bool, count: int) -> float:
    """`last_trick_chance` where only some cards are known and the rest is still to be drawn."""
    missing = HAND - popcount(kept)
    known = log_odds(kept, leads, count) if kept else float(TABLE[count - 2, _SUITS + 2])
    if kept == 0 and leads:
        known += TABLE[count - 2, _LEADS]
    # The mean of a logistic function over a normal distribution is nearly that of the mean, flattened (Bishop 2006, 4.5.2).
    flat = np.sqrt(1.0 + np.pi / 8 * _SPREAD * missing)
    return float(1.0 / (1.0 + np.exp(-(known + missing * _USUAL[count - 2]) / flat)))
