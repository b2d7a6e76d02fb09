"""The rules in force (docs/rules.md §5): a field for every point on which descriptions differ, and four presets.

`Rules` checks itself when it is made, so that an engine never meets impossible rules.
"""

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, TypeGuard

from chicago_env.cards import CATEGORIES, SUITS
from chicago_env.errors import RulesError

MIN_PLAYERS, MAX_PLAYERS = 2, 6
PLAYERS = range(MIN_PLAYERS, MAX_PLAYERS + 1)
"""Numbers of players with which any rules can be played."""

MAX_EXCHANGES = 3
MAX_POINTS = 999
"""Limit of everything that one event can give or cost."""
MAX_SCORE = 9999
"""Limit of the scores that rules name: target, buy stop, threshold."""

_SCORES = ("last_trick", "hand")

Check = Callable[[Any], Any]
"""Gives a field's value in its normal form, or raises `_Refused`."""


class _Refused(Exception):
    """A value that its field does not allow; the argument says why where `allowed` is not enough."""


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_whole(low: int, high: int, *words: str | None) -> Check:
    def check(value: Any) -> Any:
        if _is_whole(value):
            if low <= value <= high:
                return int(value)
        elif any(value is None if word is None else isinstance(value, str) and value == word for word in words):
            return None if value is None else str(value)
        raise _Refused

    return check


def _check_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Refused
    return value


def _items(value: Any, *, ordered: bool) -> list[Any]:
    kinds = (list, tuple) if ordered else (list, tuple, set, frozenset)
    if not isinstance(value, kinds):
        raise _Refused
    return list(value)


def _check_scored(value: Any) -> tuple[bool, ...]:
    items = tuple(_check_flag(item) for item in _items(value, ordered=True))
    if not 1 <= len(items) <= MAX_EXCHANGES:
        raise _Refused
    return items


def _check_hand_points(value: Any) -> tuple[int, ...]:
    items = _items(value, ordered=True)
    if len(items) != len(CATEGORIES):
        raise _Refused(f"has {len(items)} entries")
    for category, points in enumerate(items):
        if not _is_whole(points) or not 0 <= points <= MAX_POINTS:
            raise _Refused(f"entry {category} ({CATEGORIES[category]}) is {points!r}")
    if items[0]:
        raise _Refused(f"entry 0 ({CATEGORIES[0]}) is {items[0]!r}")
    return tuple(int(points) for points in items)


def _check_instant_win(value: Any) -> frozenset[int]:
    items = _items(value, ordered=False)
    for category in items:
        if not _is_whole(category) or not 1 <= category < len(CATEGORIES):
            raise _Refused(f"{category!r} is no such category")
    if len(set(items)) != len(items):
        raise _Refused("a category is given twice")
    return frozenset(int(category) for category in items)


def _check_scores(value: Any) -> tuple[str, ...]:
    items = _items(value, ordered=False)
    for item in items:
        if not isinstance(item, str) or item not in _SCORES:
            raise _Refused(f"{item!r} is neither")
    if len(set(items)) != len(items):
        raise _Refused("one is given twice")
    return tuple(item for item in _SCORES if item in items)


def _check_suits(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or sorted(value) != sorted(SUITS):
        raise _Refused
    return str(value)


def _field(default: Any, help_text: str, allowed: str, check: Check, *, is_list: bool = False) -> Any:
    metadata = {"help": help_text, "allowed": allowed, "check": check, "is_list": is_list}
    return dataclasses.field(default=default, metadata=metadata)


def _flag(default: bool, help_text: str) -> Any:
    return _field(default, help_text, "True or False (yes or no in text)", _check_flag)


def _choice(default: str | None, help_text: str, *words: str | None) -> Any:
    allowed = ", ".join("none" if word is None else word for word in words)
    return _field(default, help_text, f"one of {allowed}", _check_whole(1, 0, *words))


def _whole(default: int | None, help_text: str, low: int, high: int, *words: str | None) -> Any:
    allowed = "".join(f", or {word or 'none'}" for word in words)
    number = f"a whole number from {low} to {high}" if low < high else str(low)
    return _field(default, help_text, f"{number}{allowed}", _check_whole(low, high, *words))


def _scores(default: tuple[str, ...], help_text: str) -> Any:
    return _field(default, help_text, "a list of any of last_trick and hand, or none", _check_scores, is_list=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a match. Immutable, hashable, and always valid; the defaults are the preset `pagat`.

    Lists and tuples are taken for each other, sets for unordered fields, and whole numbers of NumPy for `int`.
    The number of players is no field: any rules may be played with 2 to 6.

    Raises:
        RulesError: an impossible value; the message names the field, the value and what is allowed.
    """

    target: int = _whole(52, "score at which the match can be won", 1, MAX_SCORE)
    finish: Literal["end_of_deal", "first_past"] = _choice(
        "end_of_deal", "whether the match is won after a deal or at the very scoring event", "end_of_deal", "first_past"
    )
    exchanges: int = _whole(3, "rounds of exchanging cards", 1, MAX_EXCHANGES)
    scored_exchanges: tuple[bool, ...] = _field(
        (True, True, False),
        "whether the best hand is announced and scores after each exchange",
        "a list of True or False (yes or no in text), one entry for each of the `exchanges`",
        _check_scored,
        is_list=True,
    )
    open_card: bool = _flag(False, "whether who exchanges one card may have it turned face up and accept or decline it")
    hand_points: tuple[int, ...] = _field(
        (0, 1, 2, 3, 4, 5, 6, 7, 8, 52),
        "points of the best hand, by category",
        f"a list of 10 whole numbers from 0 to {MAX_POINTS}, one for each category, the first 0",
        _check_hand_points,
        is_list=True,
    )
    instant_win: frozenset[int] = _field(
        frozenset({9}),
        "categories that win the match at once",
        "a list of different categories from 1 to 9, or none",
        _check_instant_win,
        is_list=True,
    )
    four_of_a_kind: Literal["points", "reset", "choose"] = _choice(
        "points",
        "four of a kind gives points, or also resets every opponent to 0, or one of both by choice",
        "points",
        "reset",
        "choose",
    )
    royal_resets: bool = _flag(False, "whether a royal flush resets every opponent to 0")
    suit_order: str | None = _field(
        None,
        "suits, best first, where they decide between equal hands",
        "the four letters of CDHS in any order, e.g. HSDC, or none",
        _check_suits,
    )
    tie_reveal: Literal["cards", "ranks"] = _choice(
        "cards", "what is shown when hands of one category are compared in announcing", "cards", "ranks"
    )
    show_broken_hand: bool = _flag(False, "whether who breaks up a hand that has just scored shows it first")
    last_trick_points: int = _whole(5, "points of the last trick", 0, MAX_POINTS)
    last_trick_two_doubles: bool = _flag(False, "whether winning the last trick with a two doubles its points")
    chicago: bool = _flag(True, "whether Chicago can be called")
    chicago_threshold: int | None = _whole(
        15, "score from which a player is asked for Chicago; none: everybody is", -MAX_SCORE, MAX_SCORE, None
    )
    chicago_points: int = _whole(15, "points of a Chicago made", 0, MAX_POINTS)
    chicago_penalty: int = _whole(15, "points that a failed Chicago costs", 0, MAX_POINTS)
    chicago_caller_leads: bool = _flag(False, "whether the caller of Chicago leads the first trick")
    chicago_success_scores: tuple[Literal["last_trick", "hand"], ...] = _scores(
        ("last_trick", "hand"), "what still scores after a Chicago made"
    )
    chicago_failure_scores: tuple[Literal["last_trick", "hand"], ...] = _scores(
        (), "what still scores after a failed Chicago; none: the deal ends at once"
    )
    chicago_breaker_points: int = _whole(0, "points of the player who breaks a Chicago", 0, MAX_POINTS)
    buy_stop: int | None = _whole(
        46, "score from which a player may not exchange cards; none: no such score", -MAX_SCORE, MAX_SCORE, None
    )
    buy_stop_permanent: bool = _flag(False, "whether a buy stop holds for the rest of the match")
    buy_stop_penalty: int | Literal["all"] | None = _whole(
        None, "points that each exchange under buy stop costs; none: it is not allowed", 15, 15, "all", None
    )
    win_needs_chicago: Literal["attempt", "success"] | None = _choice(
        None, "whether winning at the target needs a Chicago called or made in this match", None, "attempt", "success"
    )
    announcing: Literal["free", "compulsory"] = _choice(
        "free", "whether a player may pass who could announce a hand", "free", "compulsory"
    )
    showdown_first: bool = _flag(False, "whether the showdown comes before the points of the last trick")

    def __post_init__(self) -> None:
        for name in FIELDS:
            object.__setattr__(self, name, check_field(name, getattr(self, name)))
        if len(self.scored_exchanges) != self.exchanges:
            entries = f"{len(self.scored_exchanges)} {'entry' if len(self.scored_exchanges) == 1 else 'entries'}"
            raise _refusal(
                "scored_exchanges", self.scored_exchanges, f"has {entries} where `exchanges` is {self.exchanges}"
            )
        if self.win_needs_chicago is not None and not self.chicago:
            raise _refusal("win_needs_chicago", self.win_needs_chicago, "", "none where `chicago` is off")

    @classmethod
    def from_dict(cls, data: Mapping[str, object], *, complete: bool = False) -> "Rules":
        """Rules from a mapping of field names, e.g. the `rules` object of a record.

        Args:
            data: values by field name; lists do for tuples and sets.
            complete: refuse a mapping that lacks a field. Otherwise what it lacks is as in the preset `pagat`.

        Raises:
            RulesError: no mapping, an unknown or missing field, or an impossible value.
        """
        if not isinstance(data, Mapping):
            raise RulesError(f"rules: a {type(data).__name__} is no mapping of field names", value=data)
        _check_names(data)
        if complete:
            missing = [name for name in FIELDS if name not in data]
            if missing:
                raise RulesError(f"rules lack the field {missing[0]!r}", field=missing[0])
        values: dict[str, Any] = dict(data)
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Every field by name, in order, as JSON has it: tuples as lists, sets as sorted lists."""
        data: dict[str, Any] = {}
        for name in FIELDS:
            value = getattr(self, name)
            if isinstance(value, frozenset):
                value = sorted(value)
            data[name] = list(value) if isinstance(value, tuple) else value
        return data

    def replace(self, **changes: object) -> "Rules":
        """These rules with some fields changed.

        Raises:
            RulesError: an unknown field, or an impossible value.
        """
        _check_names(changes)
        values: dict[str, Any] = changes
        return dataclasses.replace(self, **values)


FIELDS: Mapping[str, "dataclasses.Field[Any]"] = MappingProxyType({f.name: f for f in dataclasses.fields(Rules)})
"""Every field of `Rules` by name, in order; `metadata` has `help`, `allowed`, `check` and `is_list`."""


def suggestion(name: object, known: Iterable[str]) -> str:
    """A text to append to an error: the name that may have been meant, and all that exist."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1, 0.5) if isinstance(name, str) else []
    hint = f"; did you mean {close[0]}?" if close else ";"
    return f"{hint} known: {', '.join(known)}"


def check_field(name: str, value: object) -> Any:
    """The value of a field in its normal form. What several fields must agree on is checked by `Rules` alone.

    Raises:
        RulesError: the field does not allow the value.
    """
    try:
        return FIELDS[name].metadata["check"](value)
    except _Refused as error:
        raise _refusal(name, value, str(error)) from None


def check_players(players: object) -> int:
    """The number of players, as an `int`.

    Raises:
        RulesError: anything but a whole number from 2 to 6.
    """
    if _is_whole(players) and players in PLAYERS:
        return int(players)
    allowed = f"a whole number from {MIN_PLAYERS} to {MAX_PLAYERS}"
    raise RulesError(
        f"players: {players!r} is not allowed; allowed: {allowed}", field="players", value=players, allowed=allowed
    )


def _refusal(name: str, value: object, why: str = "", allowed: str | None = None) -> RulesError:
    allowed = allowed or FIELDS[name].metadata["allowed"]
    why = f" ({why})" if why else ""
    return RulesError(
        f"rules field {name}: {value!r} is not allowed{why}; allowed: {allowed}",
        field=name,
        value=value,
        allowed=allowed,
    )


def _check_names(data: Mapping[str, object]) -> None:
    for name in data:
        if name not in FIELDS:
            raise RulesError(f"unknown rules field {name!r}{suggestion(name, FIELDS)}", value=name)


PRESETS: Mapping[str, Rules] = MappingProxyType(
    {
        "pagat": Rules(),
        "open-card": Rules(
            finish="first_past",
            scored_exchanges=(True, True, True),
            open_card=True,
            hand_points=(0, 1, 2, 3, 4, 5, 6, 8, 9, 10),
            instant_win=frozenset(),
            four_of_a_kind="reset",
            royal_resets=True,
            suit_order="HSDC",
            tie_reveal="ranks",
            chicago_caller_leads=True,
            chicago_success_scores=("last_trick",),
            chicago_failure_scores=("last_trick",),
            buy_stop=41,
        ),
        "race": Rules(finish="first_past", chicago_success_scores=(), buy_stop_permanent=True),
        "family": Rules(
            finish="first_past",
            hand_points=(0, 1, 2, 3, 4, 5, 6, 8, 9, 10),
            instant_win=frozenset(),
            four_of_a_kind="reset",
            royal_resets=True,
            chicago_threshold=None,
            chicago_caller_leads=True,
            chicago_success_scores=("last_trick",),
            chicago_failure_scores=("last_trick",),
            announcing="compulsory",
            showdown_first=True,
        ),
    }
)
"""The rules of four descriptions of the game (docs/rules.md §5), by name."""
