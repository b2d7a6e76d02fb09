"""Rule sets for tests: the presets and variants of docs/rules.md §5, and random ones."""

from __future__ import annotations

import copy
import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
from collections.abc import Callable

from tests.oracle.rulebook import FIELDS, RulesDict, check_rules

PAGAT: RulesDict = {
    "target": 52,
    "finish": "end_of_deal",
    "exchanges": 3,
    "scored_exchanges": [True, True, False],
    "open_card": False,
    "hand_points": [0, 1, 2, 3, 4, 5, 6, 7, 8, 52],
    "instant_win": [9],
    "four_of_a_kind": "points",
    "royal_resets": False,
    "suit_order": None,
    "tie_reveal": "cards",
    "show_broken_hand": False,
    "last_trick_points": 5,
    "last_trick_two_doubles": False,
    "chicago": True,
    "chicago_threshold": 15,
    "chicago_points": 15,
    "chicago_penalty": 15,
    "chicago_caller_leads": False,
    "chicago_success_scores": ["last_trick", "hand"],
    "chicago_failure_scores": [],
    "chicago_breaker_points": 0,
    "buy_stop": 46,
    "buy_stop_permanent": False,
    "buy_stop_penalty": None,
    "win_needs_chicago": None,
    "announcing": "free",
    "showdown_first": False,
}
OPEN_CARD: RulesDict = {
    **PAGAT,
    "finish": "first_past",
    "scored_exchanges": [True, True, True],
    "open_card": True,
    "hand_points": [0, 1, 2, 3, 4, 5, 6, 8, 9, 10],
    "instant_win": [],
    "four_of_a_kind": "reset",
    "royal_resets": True,
    "suit_order": "HSDC",
    "tie_reveal": "ranks",
    "chicago_caller_leads": True,
    "chicago_success_scores": ["last_trick"],
    "chicago_failure_scores": ["last_trick"],
    "buy_stop": 41,
}
RACE: RulesDict = {
    **PAGAT,
    "finish": "first_past",
    "chicago_success_scores": [],
    "buy_stop_permanent": True,
}
FAMILY: RulesDict = {
    **PAGAT,
    "finish": "first_past",
    "hand_points": [0, 1, 2, 3, 4, 5, 6, 8, 9, 10],
    "instant_win": [],
    "four_of_a_kind": "reset",
    "royal_resets": True,
    "chicago_threshold": None,
    "chicago_caller_leads": True,
    "chicago_success_scores": ["last_trick"],
    "chicago_failure_scores": ["last_trick"],
    "announcing": "compulsory",
    "showdown_first": True,
}
PRESETS: dict[str, RulesDict] = {"pagat": PAGAT, "open-card": OPEN_CARD, "race": RACE, "family": FAMILY}

Change = Callable[[RulesDict], None]


def _set(field: str, value: object) -> Change:
    def change(rules: RulesDict) -> None:
        rules[field] = value

    return change


def _points(category: int, points: int) -> Change:
    def change(rules: RulesDict) -> None:
        rules["hand_points"][category] = points

    return change


def _wins(*categories: int) -> Change:
    def change(rules: RulesDict) -> None:
        rules["instant_win"] = sorted({*rules["instant_win"], *categories})

    return change


def _four(points: int, what: str) -> Change:
    def change(rules: RulesDict) -> None:
        rules["hand_points"][7] = points
        rules["four_of_a_kind"] = what

    return change


def _exchanges(n: int) -> Change:
    def change(rules: RulesDict) -> None:
        rules["exchanges"] = n
        rules["scored_exchanges"] = rules["scored_exchanges"][:n]

    return change


VARIANTS: list[tuple[str, str, Change]] = [
    *[("target", str(n), _set("target", n)) for n in (51, 30, 21, 1)],
    *[("exchanges", str(n), _exchanges(n)) for n in (1, 2, 3)],
    *[("buy_stop", str(n), _set("buy_stop", n)) for n in (41, 42, 46)],
    ("buy_stop", "none", _set("buy_stop", None)),
    ("penalty", "none", _set("buy_stop_penalty", None)),
    ("penalty", "15", _set("buy_stop_penalty", 15)),
    ("penalty", "all", _set("buy_stop_penalty", "all")),
    *[("straight_flush", str(n), _points(8, n)) for n in (8, 9, 10, 11)],
    ("straight_flush", "win", _wins(8, 9)),
    ("royal", "10", _points(9, 10)),
    ("royal", "52", _points(9, 52)),
    ("royal", "win", _wins(9)),
    ("four", "7", _four(7, "points")),
    ("four", "8", _four(8, "points")),
    ("four", "reset7", _four(7, "reset")),
    ("four", "reset8", _four(8, "reset")),
    ("four", "choose", _four(7, "choose")),
    ("chicago_from", "15", _set("chicago_threshold", 15)),
    ("chicago_from", "0", _set("chicago_threshold", 0)),
    ("chicago_from", "none", _set("chicago_threshold", None)),
    ("needs_chicago", "none", _set("win_needs_chicago", None)),
    ("needs_chicago", "attempt", _set("win_needs_chicago", "attempt")),
    ("needs_chicago", "success", _set("win_needs_chicago", "success")),
    ("breaker", "0", _set("chicago_breaker_points", 0)),
    ("breaker", "8", _set("chicago_breaker_points", 8)),
    ("two_doubles", "yes", _set("last_trick_two_doubles", True)),
    ("two_doubles", "no", _set("last_trick_two_doubles", False)),
    ("open_card", "yes", _set("open_card", True)),
    ("open_card", "no", _set("open_card", False)),
    ("show_broken", "yes", _set("show_broken_hand", True)),
    ("show_broken", "no", _set("show_broken_hand", False)),
    *[("suits", order, _set("suit_order", order)) for order in ("HSDC", "SHDC", "CDHS", "DCSH")],
    ("suits", "none", _set("suit_order", None)),
    ("reveal", "cards", _set("tie_reveal", "cards")),
    ("reveal", "ranks", _set("tie_reveal", "ranks")),
    ("announcing", "free", _set("announcing", "free")),
    ("announcing", "compulsory", _set("announcing", "compulsory")),
]


def rules_with(preset: str, *changes: Change, **fields: object) -> RulesDict:
    """A copy of the preset with the changes of variants applied, then whole fields replaced."""
    rules = copy.deepcopy(PRESETS[preset])
    for change in changes:
        change(rules)
    rules.update(copy.deepcopy(fields))
    check_rules(rules)
    return rules


def named_rules() -> list[tuple[str, RulesDict]]:
    """Every preset, and every preset with every variant, with its notation."""
    plain = [(name, rules_with(name)) for name in PRESETS]
    return plain + [
        (f"{name}+{key}={value}", rules_with(name, change)) for name in PRESETS for key, value, change in VARIANTS
    ]


def _random_value(field: str, rng: random.Random) -> object:
    choices: dict[str, Callable[[], object]] = {
        "target": lambda: rng.choice([1, 5, 10, 21, 30, 51, 52, rng.randint(1, 90)]),
        "finish": lambda: rng.choice(["end_of_deal", "first_past"]),
        "exchanges": lambda: rng.randint(1, 3),
        "hand_points": lambda: [0, *(rng.choice([0, 1, category, rng.randint(0, 60)]) for category in range(1, 10))],
        "instant_win": lambda: sorted(rng.sample(range(1, 10), rng.choice([0, 0, 1, 1, 2, 9]))),
        "four_of_a_kind": lambda: rng.choice(["points", "reset", "choose"]),
        "suit_order": lambda: rng.choice([None, "".join(rng.sample("CDHS", 4))]),
        "tie_reveal": lambda: rng.choice(["cards", "ranks"]),
        "last_trick_points": lambda: rng.choice([0, 1, 5, rng.randint(0, 20)]),
        "chicago_threshold": lambda: rng.choice([None, 0, 15, rng.randint(-20, 60)]),
        "chicago_points": lambda: rng.choice([0, 15, rng.randint(0, 60)]),
        "chicago_penalty": lambda: rng.choice([0, 15, rng.randint(0, 60)]),
        "chicago_success_scores": lambda: rng.choice([[], ["last_trick"], ["hand"], ["last_trick", "hand"]]),
        "chicago_failure_scores": lambda: rng.choice([[], ["last_trick"], ["hand"], ["last_trick", "hand"]]),
        "chicago_breaker_points": lambda: rng.choice([0, 8, rng.randint(0, 30)]),
        "buy_stop": lambda: rng.choice([None, 1, 10, 41, 46, rng.randint(0, 60)]),
        "buy_stop_penalty": lambda: rng.choice([None, 15, "all"]),
        "win_needs_chicago": lambda: rng.choice([None, "attempt", "success"]),
        "announcing": lambda: rng.choice(["free", "compulsory"]),
    }
    return choices[field]() if field in choices else rng.random() < 0.5  # the rest are yes or no


def random_rules(rng: random.Random) -> RulesDict:
    """A random preset of which some, many or all fields have random values; always a valid combination."""
    rules = copy.deepcopy(PRESETS[rng.choice(sorted(PRESETS))])
    share = rng.choice([0.1, 0.3, 1.0])
    for field in FIELDS:
        if field != "scored_exchanges" and rng.random() < share:
            rules[field] = _random_value(field, rng)
    if len(rules["scored_exchanges"]) != rules["exchanges"] or rng.random() < share:
        rules["scored_exchanges"] = [rng.random() < 0.7 for _ in range(rules["exchanges"])]
    if not rules["chicago"]:
        rules["win_needs_chicago"] = None
    check_rules(rules)
    return rules
