"""The chance to take the last trick with a hand of one to five cards: a formula whose weights `make_last_trick` finds.

A card counts by how many unseen cards of its suit are higher, and by how many of its suit the hand holds above it.
"""

from pathlib import Path
from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, popcount
from chicago_env.layout import HAND

FILE = Path(__file__).parent / "last_trick.npy"

HIGHER, DEPTHS = 10, 3  # 0 to 9 and more cards above it; the first of its suit in the hand, the second, the others
SUITS = HIGHER * DEPTHS
WEIGHTS = SUITS + 4
"""Weights: each kind of card, and the number of suits, 1 to 4."""

TABLE = np.load(FILE, allow_pickle=False).astype(np.float64)
"""(5, 5, 2, WEIGHTS) by number of players less 2, cards less 1, and whether it leads."""

_SPREAD = 0.35  # variance that a card adds which is still to be drawn


def _usual() -> np.ndarray[Any, np.dtype[np.float64]]:
    """(5, 2) weight of a card that is still to be drawn: of any rank, more often the first of its suit than not."""
    by_depth = TABLE[:, HAND - 1, :, :SUITS].reshape(-1, 2, DEPTHS, HIGHER).mean(axis=3)
    return np.asarray(0.6 * by_depth[:, :, 0] + 0.4 * by_depth[:, :, 1])


_USUAL = _usual()


@jit
def features(hand: int, hidden: int, out: Any) -> None:
    """Writes what the weights count into `out` (WEIGHTS,); `hidden`: cards not seen."""
    out[:] = 0.0
    suits = 0
    for suit in range(4):
        cards = hand & (SUIT_CARDS << suit)
        others = hidden & (SUIT_CARDS << suit)
        suits += int(cards != 0)
        depth = 0
        while cards:
            bit = 1 << highest(cards)
            cards ^= bit
            out[HIGHER * depth + min(popcount(others & -bit), HIGHER - 1)] += 1.0
            depth = min(depth + 1, DEPTHS - 1)
    out[SUITS + suits - 1] = 1.0


@jit
def _log_odds(hand: int, hidden: int, table: Any) -> float:
    total, suits = 0.0, 0
    for suit in range(4):
        cards = hand & (SUIT_CARDS << suit)
        if cards == 0:
            continue
        others = hidden & (SUIT_CARDS << suit)
        suits += 1
        depth = 0
        while cards:
            bit = 1 << highest(cards)
            cards ^= bit
            total += table[HIGHER * depth + min(popcount(others & -bit), HIGHER - 1)]
            depth = min(depth + 1, DEPTHS - 1)
    return float(total + table[SUITS + suits - 1])


@jit
def last_trick_chance(hand: int, hidden: int, leads: bool, count: int) -> float:
    """Chance to take the last trick of `count` players, everybody trying to.

    Args:
        hand: own cards, one to five; everybody has as many.
        hidden: cards not seen.
        leads: whether the owner leads the next trick.
        count: number of players.
    """
    size = popcount(hand)
    return float(1.0 / (1.0 + np.exp(-_log_odds(hand, hidden, TABLE[count - 2, size - 1, int(leads)]))))


@jit
def partial_chance(kept: int, hidden: int, leads: bool, count: int) -> float:
    """`last_trick_chance` with five cards of which only some are known and the rest is still to be drawn."""
    table = TABLE[count - 2, HAND - 1, int(leads)]
    missing = HAND - popcount(kept)
    known = _log_odds(kept, hidden, table) if kept else float(table[SUITS + 2])
    # The mean of a logistic function over a normal distribution is nearly that of the mean, flattened (Bishop 2006, 4.5.2).
    flat = np.sqrt(1.0 + np.pi / 8 * _SPREAD * missing)
    return float(1.0 / (1.0 + np.exp(-(known + missing * _USUAL[count - 2, int(leads)]) / flat)))
