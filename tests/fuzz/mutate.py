"""Changes to whole documents: bytes anywhere, and in JSON a value anywhere in the tree."""

import copy
import json
from typing import Any

import numpy as np

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 52, 255, 256, 2**31, -(2**31), 2**63, -(2**63) - 1, 10**30, 0.5, 1e308, "", "AS", "x",
    "\ud800", "0" * 50, [], {}, [[]], [0], [None], {"": None}, {"a": [1]}, [0] * 60, "pagat", "NaN",
]  # fmt: skip
"""Values put where others belong."""


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """A few bytes changed, cut out, doubled or put in."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at, length = int(rng.integers(len(out) + 1)), int(rng.integers(1, 20))
        kind = rng.integers(5)
        if kind == 0 and out:
            out[min(at, len(out) - 1)] = int(rng.integers(256))
        elif kind == 1:
            del out[at : at + length]
        elif kind == 2:
            out[at:at] = out[at : at + length]
        elif kind == 3:
            out[at:at] = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        elif kind == 4 and rng.random() < 0.2:
            del out[at:]
    return bytes(out)


def mutate_json(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three values of the tree replaced, removed, doubled or swapped with odd ones."""
    tree = json.loads(data)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(tree))
        if not places:
            break
        holder, key = places[int(rng.integers(len(places)))]
        kind = rng.integers(4)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(int(key), holder[key])
        elif kind == 1:
            holder[f"{key}x"] = holder[key]
        elif kind == 2 and type(holder[key]) is int:
            holder[key] += int(rng.integers(-3, 4))
        else:
            holder[key] = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])
    return json.dumps(tree).encode()


def _places(tree: Any) -> Any:
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else []
    for key in keys:
        yield tree, key
        yield from _places(tree[key])
