"""`Rules`: the presets against the table of docs/rules.md §5, the JSON form, and every impossible value."""

import copy
import dataclasses
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chicago_env.errors import RulesError
from chicago_env.rules import FIELDS, PLAYERS, PRESETS, Rules, check_field, check_players

GOLDEN = Path(__file__).parent / "data" / "golden.jsonl"

# docs/rules.md §5, copied by hand: field, then pagat, open-card, race, family.
TABLE: list[tuple[str, Any, Any, Any, Any]] = [
    ("target", 52, 52, 52, 52),
    ("finish", "end_of_deal", "first_past", "first_past", "first_past"),
    ("exchanges", 3, 3, 3, 3),
    ("scored_exchanges", [True, True, False], [True, True, True], [True, True, False], [True, True, False]),
    ("open_card", False, True, False, False),
    (
        "hand_points",
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 52],
        [0, 1, 2, 3, 4, 5, 6, 8, 9, 10],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 52],
        [0, 1, 2, 3, 4, 5, 6, 8, 9, 10],
    ),
    ("instant_win", [9], [], [9], []),
    ("four_of_a_kind", "points", "reset", "points", "reset"),
    ("royal_resets", False, True, False, True),
    ("suit_order", None, "HSDC", None, None),
    ("announcing", "free", "free", "free", "compulsory"),
    ("tie_reveal", "cards", "ranks", "cards", "cards"),
    ("show_broken_hand", False, False, False, False),
    ("last_trick_points", 5, 5, 5, 5),
    ("last_trick_two_doubles", False, False, False, False),
    ("showdown_first", False, False, False, True),
    ("chicago", True, True, True, True),
    ("chicago_threshold", 15, 15, 15, None),
    ("chicago_points", 15, 15, 15, 15),
    ("chicago_penalty", 15, 15, 15, 15),
    ("chicago_caller_leads", False, True, False, True),
    ("chicago_success_scores", ["last_trick", "hand"], ["last_trick"], [], ["last_trick"]),
    ("chicago_failure_scores", [], ["last_trick"], [], ["last_trick"]),
    ("chicago_breaker_points", 0, 0, 0, 0),
    ("buy_stop", 46, 41, 46, 46),
    ("buy_stop_permanent", False, False, True, False),
    ("buy_stop_penalty", None, None, None, None),
    ("win_needs_chicago", None, None, None, None),
]


@pytest.mark.parametrize(("column", "name"), list(enumerate(["pagat", "open-card", "race", "family"], 1)))
def test_presets_are_those_of_the_table(column: int, name: str) -> None:
    assert PRESETS[name].to_dict() == {row[0]: row[column] for row in TABLE}


def test_there_are_four_presets_and_the_default_is_pagat() -> None:
    assert list(PRESETS) == ["pagat", "open-card", "race", "family"]
    assert Rules() == PRESETS["pagat"]
    with pytest.raises(TypeError):
        PRESETS["pagat"] = Rules()  # type: ignore[index]  # that it cannot be assigned to is what is tested


GOLDEN_RULES = [json.loads(line)["rules"] for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def test_golden_rules_round_trip_byte_for_byte() -> None:
    assert len(GOLDEN_RULES) == 60
    for rules in GOLDEN_RULES:
        again = Rules.from_dict(rules, complete=True).to_dict()
        assert json.dumps(again) == json.dumps(rules)


def test_fields_are_in_the_order_of_records_and_explained() -> None:
    assert list(FIELDS) == list(GOLDEN_RULES[0])
    for field in FIELDS.values():
        assert len(field.metadata["help"]) > 10
        assert field.metadata["allowed"]


def test_json_form_has_lists_only() -> None:
    rules = Rules(instant_win=frozenset({9, 2, 8}), chicago_success_scores=("hand",))
    data = rules.to_dict()
    assert data["instant_win"] == [2, 8, 9]
    assert {type(value) for value in data.values()} == {int, str, bool, list, type(None)}
    assert Rules.from_dict(json.loads(json.dumps(data))) == rules


def test_values_get_their_normal_form() -> None:
    loose: dict[str, Any] = {
        "target": np.int64(51),
        "scored_exchanges": [True, False, True],
        "hand_points": [np.int8(n) for n in range(10)],
        "instant_win": [np.uint8(9), 8],
        "chicago_success_scores": ["hand", "last_trick"],
        "suit_order": np.str_("HSDC"),
        "buy_stop": np.int32(-3),
    }
    rules = Rules(**loose)
    for name, expected in {
        "target": 51,
        "scored_exchanges": (True, False, True),
        "hand_points": tuple(range(10)),
        "instant_win": frozenset({8, 9}),
        "chicago_success_scores": ("last_trick", "hand"),
        "suit_order": "HSDC",
        "buy_stop": -3,
    }.items():
        value = getattr(rules, name)
        assert value == expected
        assert type(value) is type(expected)
    assert all(type(points) is int for points in rules.hand_points)
    assert all(type(category) is int for category in rules.instant_win)
    assert Rules(instant_win=frozenset({8, 9})) == Rules.from_dict({"instant_win": {9, 8}})


def test_rules_are_values() -> None:
    rules = PRESETS["open-card"]
    twin = Rules.from_dict(rules.to_dict())
    assert twin == rules
    assert hash(twin) == hash(rules)
    assert len(set(PRESETS.values()) | {twin}) == 4
    assert copy.deepcopy(rules) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules  # noqa: TID251  # made here
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.target = 1  # type: ignore[misc]  # that it is frozen is what is tested
    assert not hasattr(rules, "__dict__")


def test_replace_changes_only_what_it_is_told() -> None:
    changed = PRESETS["family"].replace(target=21, exchanges=1, scored_exchanges=[True])
    expected = PRESETS["family"].to_dict() | {"target": 21, "exchanges": 1, "scored_exchanges": [True]}
    assert changed.to_dict() == expected
    with pytest.raises(RulesError, match="rules field target: 0 is not allowed"):
        changed.replace(target=0)


def test_a_partial_mapping_is_filled_from_pagat_unless_it_must_be_complete() -> None:
    assert Rules.from_dict({"target": 51}) == Rules(target=51)
    data = Rules().to_dict()
    del data["tie_reveal"]
    assert Rules.from_dict(data) == Rules()
    with pytest.raises(RulesError, match="rules lack the field 'tie_reveal'"):
        Rules.from_dict(data, complete=True)


@pytest.mark.parametrize("make", [Rules.from_dict, lambda kw: Rules().replace(**kw)])
def test_unknown_fields_get_a_suggestion(make: Any) -> None:
    with pytest.raises(RulesError, match=r"unknown rules field 'buystop'; did you mean buy_stop\? known: target, "):
        make({"buystop": 41})


def test_an_odd_field_name_is_refused_too() -> None:
    odd: Any = {3: 1}
    with pytest.raises(RulesError, match="unknown rules field 3; known: target, "):
        Rules.from_dict(odd)


FLAGS = [row[0] for row in TABLE if isinstance(row[1], bool)]
WHOLES = {
    "target": (1, 9999),
    "exchanges": (1, 3),
    "last_trick_points": (0, 999),
    "chicago_threshold": (-9999, 9999),
    "chicago_points": (0, 999),
    "chicago_penalty": (0, 999),
    "chicago_breaker_points": (0, 999),
    "buy_stop": (-9999, 9999),
    "buy_stop_penalty": (15, 15),
}
CHOICES: dict[str, list[str | None]] = {
    "finish": ["end_of_deal", "first_past"],
    "four_of_a_kind": ["points", "reset", "choose"],
    "tie_reveal": ["cards", "ranks"],
    "win_needs_chicago": [None, "attempt", "success"],
    "announcing": ["free", "compulsory"],
}
MAY_BE_NONE = {"chicago_threshold", "buy_stop", "buy_stop_penalty", "win_needs_chicago", "suit_order"}
TEN = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

LISTS: dict[str, list[Any]] = {
    "scored_exchanges": [[], [True] * 4, [1, True, True], [None] * 3, "yes", {True}],
    "hand_points": [TEN[:9], [*TEN, 10], [1, *TEN[1:]], [*TEN[:9], 1000], [*TEN[:9], -1], [*TEN[:9], True],
                    [*TEN[:9], 9.0], [*TEN[:9], "9"], "0123456789", set(TEN), 5],
    "instant_win": [[0], [10], [-1], [9, 9], [True], [9.0], ["9"], [[9]], 9, "9"],
    "chicago_success_scores": [["tricks"], ["hand", "hand"], "hand", [None], [["hand"]], True],
    "chicago_failure_scores": [["showdown"], "last_trick", {"hand": 1}],
    "suit_order": ["HSD", "HSDCC", "HSDD", "hsdc", "", list("HSDC"), 0, False],
}  # fmt: skip

ALLOWED = {
    "scored_exchanges": "a list of True or False (yes or no in text), one entry for each of the `exchanges`",
    "hand_points": "a list of 10 whole numbers from 0 to 999, one for each category, the first 0",
    "instant_win": "a list of different categories from 1 to 9, or none",
    "chicago_success_scores": "a list of any of last_trick and hand, or none",
    "chicago_failure_scores": "a list of any of last_trick and hand, or none",
    "suit_order": "the four letters of CDHS in any order, e.g. HSDC, or none",
}


def impossible_values() -> list[tuple[str, object, str]]:
    """Field, value that it does not allow, and what it allows in words."""
    cases: list[tuple[str, object, str]] = []
    no_flags: list[object] = [0, 1, "yes", None, np.bool_(True), []]
    for name in FLAGS:
        cases += [(name, value, "True or False (yes or no in text)") for value in no_flags]
    for name, (low, high) in WHOLES.items():
        allowed = f"a whole number from {low} to {high}" if low < high else f"{low}, or "
        cases += [(name, value, allowed) for value in (low - 1, high + 1, True, False, float(high), "5", [5], "none")]
        cases += [(name, value, allowed) for value in (np.int64(high + 1), float("nan"), 1 << 70)]
    for name, words in CHOICES.items():
        allowed = "one of " + ", ".join(word or "none" for word in words)
        cases += [(name, word, allowed) for word in ("", "Points", "none", "all", 0, True, ["cards"])]
    for name, values in LISTS.items():
        cases += [(name, item, ALLOWED[name]) for item in values]
    cases += [(name, None, "allowed: ") for name in FIELDS if name not in MAY_BE_NONE]
    cases.append(("last_trick_points", "all", "a whole number from 0 to 999"))
    return cases


def test_every_field_has_impossible_values_to_refuse() -> None:
    assert {name for name, _, _ in impossible_values()} == set(FIELDS)


@pytest.mark.parametrize(("name", "value", "allowed"), impossible_values(), ids=repr)
def test_impossible_values_are_refused_by_name(name: str, value: object, allowed: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules.from_dict({name: value})
    message = str(caught.value)
    assert message.startswith(f"rules field {name}: {value!r} is not allowed")
    assert allowed in message.partition("; allowed: ")[2] or allowed == "allowed: "
    assert "\n" not in message
    assert caught.value.field == name
    assert caught.value.value is value
    assert caught.value.allowed == FIELDS[name].metadata["allowed"]


@pytest.mark.parametrize("name", WHOLES)
def test_limits_themselves_are_allowed(name: str) -> None:
    for limit in WHOLES[name]:
        assert check_field(name, limit) == limit
    if name != "exchanges":
        for limit in WHOLES[name]:
            assert getattr(Rules.from_dict({name: limit}), name) == limit


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_is_allowed(name: str) -> None:
    for word in CHOICES[name]:
        assert getattr(Rules.from_dict({name: word}), name) == word


def test_words_beside_numbers_are_allowed() -> None:
    for name in MAY_BE_NONE:
        assert getattr(Rules.from_dict({name: None}), name) is None
    assert Rules(buy_stop_penalty="all").buy_stop_penalty == "all"


def test_the_reason_is_given_for_long_lists() -> None:
    reasons: list[tuple[str, Any, str]] = [
        ("hand_points", [*TEN[:8], 1000, 9], "(entry 8 (straight flush) is 1000)"),
        ("hand_points", [3, *TEN[1:]], "(entry 0 (high card) is 3)"),
        ("hand_points", TEN[:4], "(has 4 entries)"),
        ("instant_win", [9, 0], "(0 is no such category)"),
        ("instant_win", [9, 9], "(a category is given twice)"),
        ("chicago_failure_scores", ["hand", "tricks"], "('tricks' is neither)"),
        ("chicago_failure_scores", ["hand", "hand"], "(one is given twice)"),
    ]
    for name, value, reason in reasons:
        with pytest.raises(RulesError, match=re.escape(f"is not allowed {reason}; allowed: ")):
            Rules.from_dict({name: value})


@pytest.mark.parametrize(("exchanges", "entries"), [(1, 3), (2, 3), (2, 1), (3, 2), (3, 1)])
def test_one_entry_for_each_exchange(exchanges: int, entries: int) -> None:
    plural = "entry" if entries == 1 else "entries"
    with pytest.raises(
        RulesError, match=f"scored_exchanges: .*has {entries} {plural} where `exchanges` is {exchanges}"
    ):
        Rules(exchanges=exchanges, scored_exchanges=(True,) * entries)


def test_a_needed_chicago_must_be_possible() -> None:
    for needed in ("attempt", "success"):
        with pytest.raises(RulesError, match=f"win_needs_chicago: '{needed}' .*allowed: none where `chicago` is off"):
            Rules.from_dict({"chicago": False, "win_needs_chicago": needed})
    assert Rules(chicago=False).win_needs_chicago is None


def test_numbers_of_players() -> None:
    assert list(PLAYERS) == [2, 3, 4, 5, 6]
    for players in PLAYERS:
        assert check_players(players) == players
    assert type(check_players(np.int8(3))) is int


@pytest.mark.parametrize("players", [1, 7, 0, -2, True, 2.0, "4", None, 1 << 70])
def test_impossible_numbers_of_players(players: object) -> None:
    message = re.escape(f"players: {players!r} is not allowed; allowed: a whole number from 2 to 6")
    with pytest.raises(RulesError, match=message) as caught:
        check_players(players)
    assert caught.value.field == "players"


@pytest.mark.parametrize("data", [None, ["target"], "target", 5])
@pytest.mark.parametrize("complete", [False, True])
def test_what_is_no_mapping_is_refused(data: Any, complete: bool) -> None:
    with pytest.raises(RulesError, match="no mapping"):
        Rules.from_dict(data, complete=complete)
