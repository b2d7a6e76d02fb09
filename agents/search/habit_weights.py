"""Weights of the models in `agents.search.habits`, which `agents.search.make_habits` finds."""

from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "habits.npy"

KEEP_FEATURES, PLAY_FEATURES, CALL_FEATURES = 31, 18, 15

STAGES = 6
"""Models of exchanges: the first, those between, the last; each without and with the prospect of leading a Chicago."""

AIMS = 3
"""Models of card play: for the last trick, as caller of a Chicago that has not failed, and against one."""

WEIGHTS = np.dtype(
    [
        ("keep", np.float64, (STAGES, KEEP_FEATURES)),
        ("name", np.float64, (3, 10)),
        ("call", np.float64, CALL_FEATURES),
        ("play", np.float64, (AIMS, PLAY_FEATURES)),
    ]
)
"""All weights, one record. `name`: how often a hand of a category is named where it may be, by announcing."""


_TABLE: Any = np.load(FILE, allow_pickle=False)[0]
KEEP, NAME, CALL, PLAY = _TABLE["keep"], _TABLE["name"], _TABLE["call"], _TABLE["play"]
