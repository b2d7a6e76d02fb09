"""Two results side by side: what each agent gained from one to the other, and what differs in how they were played."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chicago_env.errors import FileError
from chicago_env.files import read_json
from eval.boards import KINDS, Kind
from eval.ranking import ranking_of, scores_of_store
from eval.results import FORMAT as RANKING
from eval.results import VERSION as RANKING_VERSION
from eval.scores import Scores
from eval.stats import Estimate, mean_interval
from eval.store import Store
from eval.store.going_on import differences

FORMAT, VERSION = "chicago-comparison", 2

_MAX_BYTES = 1 << 28
_HUGE = 1e12  # no figure is as large
_ASKED = (
    "players",
    "rules",
    "field",
    "boards",
    "matches",
    "seed",
    "max_deals",
    "max_faults",
    "luck",
    "anchor",
    "versions",
)
_CORRECTED = "corrected_points_per_deal"
_FIGURES = {"points_per_deal": "deal", _CORRECTED: "deal", "match_wins": "match", "equity_per_deal": "deal"}
"""Figures of an agent, and the kind of boards that each is a mean over."""


class ResultError(FileError):
    """A file that is no result of a ranking."""


class Difference(NamedTuple):
    """The second result less the first, with a 95 % interval; None where it is not known.

    Attributes:
        mean: difference.
        low: lower limit.
        high: upper limit.
        boards: boards that both played, where the difference was taken board by board; else 0.
    """

    mean: float | None
    low: float | None
    high: float | None
    boards: int = 0


class Loaded(NamedTuple):
    """A result as it was read.

    Attributes:
        data: the JSON of the ranking.
        scores: board by board, where it is a store.
    """

    data: dict[str, Any]
    scores: dict[Kind, Scores] | None


def load_result(path: str | os.PathLike[str]) -> Loaded:
    """A store, or the JSON of a ranking.

    Raises:
        ResultError: neither of them.
        StoreError: a damaged store.
        OSError: it cannot be read.
    """
    path = Path(path)
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite"):
        with Store.reading(path) as store:
            return Loaded(ranking_of(store).to_dict(), {kind: scores_of_store(store, kind) for kind in KINDS})
    try:
        data = read_json(path, _MAX_BYTES)
    except ValueError as error:
        raise ResultError(path, f"is neither a store nor the JSON of a ranking: {error}") from None
    _check(path, data)
    return Loaded(data, None)


def _check(path: Path, data: Any) -> None:
    if not isinstance(data, dict) or data.get("format") != RANKING:
        raise ResultError(path, "is not the JSON of a ranking")
    if data.get("version") != RANKING_VERSION:
        raise ResultError(path, f"is of version {data.get('version')}; this program knows version {RANKING_VERSION}")

    def number(value: Any) -> bool:
        return value is None or (type(value) in (int, float) and abs(value) < _HUGE)

    try:
        for row in data["table"]:
            good = isinstance(row["agent"], str)
            for figure in _FIGURES:
                if figure != _CORRECTED or row[figure] is not None:  # luck is not always measured
                    good &= all(number(row[figure][name]) for name in ("mean", "low", "high"))
            rating = row["rating"]
            good &= rating is None or all(number(rating[name]) for name in ("elo", "low", "high"))
            if not good:
                raise TypeError
        if not isinstance(data["seed"], int) or not all(isinstance(data[name], int) for name in ("boards", "matches")):
            raise TypeError
        if not all(isinstance(entrant["name"], str) for entrant in data["entrants"]):
            raise TypeError
    except (KeyError, TypeError, IndexError):
        raise ResultError(path, "is damaged: figures are missing") from None


def _apart(first: dict[str, Any] | None, second: dict[str, Any] | None, mean: str = "mean") -> Difference:
    """Difference of two figures whose errors have nothing to do with each other."""
    if first is None or second is None or first[mean] is None or second[mean] is None:
        return Difference(None, None, None)
    middle = second[mean] - first[mean]
    limits = (first["low"], first["high"], second["low"], second["high"])
    if any(limit is None for limit in limits):
        return Difference(middle, None, None)
    # each side with its own half: the intervals of shares and ratings are not symmetric
    low = ((second[mean] - second["low"]) ** 2 + (first["high"] - first[mean]) ** 2) ** 0.5
    high = ((second["high"] - second[mean]) ** 2 + (first[mean] - first["low"]) ** 2) ** 0.5
    return Difference(middle, middle - low, middle + high)


def _paired(first: Loaded, second: Loaded, agent: str, figure: str) -> Estimate | None:
    """Difference board by board, on the boards that both results have."""
    if first.scores is None or second.scores is None:
        return None
    kind: Kind = "match" if _FIGURES[figure] == "match" else "deal"
    values = []
    for loaded in (first, second):
        assert loaded.scores is not None
        scores = loaded.scores[kind]
        own = loaded.data["agents"].index(agent)
        column = {
            "points_per_deal": scores.points,
            _CORRECTED: scores.corrected,
            "match_wins": scores.shares,
            "equity_per_deal": scores.equity,
        }[figure]
        keys = map(tuple, scores.keys.tolist())
        values.append(
            {key: value for key, value in zip(keys, column[:, own].tolist(), strict=True) if not np.isnan(value)}
        )
    common = sorted(values[0].keys() & values[1].keys())
    if len(common) < 2 or len(common) < max(map(len, values)):
        return None
    return mean_interval([values[1][key] - values[0][key] for key in common])


def compare(first: Loaded, second: Loaded) -> dict[str, Any]:
    """What became of each agent from the first result to the second, as JSON has it.

    Figures are compared board by board where both are stores and have the same boards, players and rules: what luck
    there is in the cards cancels out. Else the intervals are added as those of independent samples. Ratings are compared
    so always, and mean something only where the anchor is the same.
    """
    a, b = first.data, second.data
    plans = differences({k: a.get(k) for k in _ASKED}, {k: b.get(k) for k in _ASKED}, ("in the first", "in the second"))
    entrants = [{e["name"]: e for e in data["entrants"]} for data in (a, b)]
    rows = [{row["agent"]: row for row in data["table"]} for data in (a, b)]
    plans += [f"agent {name} is in the first only" for name in rows[0] if name not in rows[1]]
    plans += [f"agent {name} is in the second only" for name in rows[1] if name not in rows[0]]
    both = [name for name in rows[1] if name in rows[0]]
    plans += [
        f"agent {name} is another one: another spec or another file"
        for name in both
        if entrants[0].get(name) != entrants[1].get(name)
    ]
    same_game = all(a.get(name) == b.get(name) for name in ("players", "rules_fields", "field"))
    agents = []
    for name in both:
        line: dict[str, Any] = {"agent": name}
        for figure in _FIGURES:
            found = _paired(first, second, name, figure) if same_game else None
            difference = (
                _apart(rows[0][name][figure], rows[1][name][figure])
                if found is None
                else Difference(found.mean, found.low, found.high, found.boards)
            )
            line[figure] = difference._asdict()
        line["rating"] = _apart(rows[0][name]["rating"], rows[1][name]["rating"], "elo")._asdict()
        agents.append(line)
    return {"format": FORMAT, "version": VERSION, "differences": plans, "agents": agents}
