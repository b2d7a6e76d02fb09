"""What a rule set may hold (docs/rules.md §5). A rule set here is the plain dictionary of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.oracle.cards import SUITS, OracleError

RulesDict = dict[str, Any]


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _int_or_none(value: object) -> bool:
    return value is None or _is_int(value)


def _not_negative(value: Any) -> bool:
    return _is_int(value) and value >= 0


def _one_of(*allowed: object) -> Callable[[Any], bool]:
    return lambda value: any(type(value) is type(one) and value == one for one in allowed)


def _is_hand_points(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 10 and all(map(_is_int, value)) and value[0] == 0


def _is_category_set(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(_is_int(entry) and 1 <= entry <= 9 for entry in value)
        and len(set(value)) == len(value)
    )


def _is_suit_order(value: Any) -> bool:
    return value is None or (isinstance(value, str) and sorted(value) == sorted(SUITS))


def _is_scores_set(value: Any) -> bool:
    return isinstance(value, list) and len(set(map(str, value))) == len(value) and set(value) <= {"last_trick", "hand"}


# In the order in which a record writes them.
FIELDS: dict[str, Callable[[Any], bool]] = {
    "target": lambda value: _is_int(value) and value > 0,
    "finish": _one_of("end_of_deal", "first_past"),
    "exchanges": _one_of(1, 2, 3),
    "scored_exchanges": lambda value: isinstance(value, list) and all(map(_is_bool, value)),
    "open_card": _is_bool,
    "hand_points": _is_hand_points,
    "instant_win": _is_category_set,
    "four_of_a_kind": _one_of("points", "reset", "choose"),
    "royal_resets": _is_bool,
    "suit_order": _is_suit_order,
    "tie_reveal": _one_of("cards", "ranks"),
    "show_broken_hand": _is_bool,
    "last_trick_points": _is_int,
    "last_trick_two_doubles": _is_bool,
    "chicago": _is_bool,
    "chicago_threshold": _int_or_none,
    "chicago_points": _is_int,
    "chicago_penalty": _not_negative,
    "chicago_caller_leads": _is_bool,
    "chicago_success_scores": _is_scores_set,
    "chicago_failure_scores": _is_scores_set,
    "chicago_breaker_points": _is_int,
    "buy_stop": _int_or_none,
    "buy_stop_permanent": _is_bool,
    "buy_stop_penalty": _one_of(None, 15, "all"),
    "win_needs_chicago": _one_of(None, "attempt", "success"),
    "announcing": _one_of("free", "compulsory"),
    "showdown_first": _is_bool,
}


def check_rules(rules: Mapping[str, Any]) -> None:
    """Raise OracleError unless every field is there with a value it may have, and the fields agree."""
    if not isinstance(rules, Mapping):
        raise OracleError("rules are no object")
    if set(rules) != set(FIELDS):
        raise OracleError(f"rules: fields {sorted(set(rules) ^ set(FIELDS))} are missing or unknown")
    for name, allows in FIELDS.items():
        if not allows(rules[name]):
            raise OracleError(f"rules: {name} may not be {rules[name]!r}")
    if len(rules["scored_exchanges"]) != rules["exchanges"]:
        raise OracleError("rules: scored_exchanges needs one entry for each exchange")
    if rules["win_needs_chicago"] is not None and not rules["chicago"]:
        raise OracleError("rules: win_needs_chicago without chicago")
