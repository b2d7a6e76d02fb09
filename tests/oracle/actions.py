"""Action ids of the contract (docs/design.md §2), and what a decision is."""

from __future__ import annotations

from typing import NamedTuple

# 0–31 exchange: bit i discards the i-th card of the own hand, sorted
PASS = 32  # 32 + c announces category c
CLOSED, OPEN = 42, 43
DECLINE, ACCEPT = 44, 45
TAKE_POINTS, TAKE_RESET = 46, 47
NO_CALL, CALL = 48, 49
PLAY = 50  # 50 + c plays card c


class Decision(NamedTuple):
    seat: int
    phase: str
    legal: tuple[int, ...]
