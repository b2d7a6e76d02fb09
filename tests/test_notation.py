"""The text form of rules: every variant, every field, round trips, and what is refused."""

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chicago_env.errors import RulesError
from chicago_env.notation import KEYS, VARIANTS, format_rules, parse_rules, rules_table, variants_table
from chicago_env.rules import FIELDS, PRESETS, Rules

GOLDEN = Path(__file__).parent / "data" / "golden.jsonl"

Change = dict[str | int, Any]
# docs/rules.md §5, copied by hand: key and value, then fields; a number is an entry of `hand_points`, `win` adds to
# `instant_win`, a slice is what is kept.
VARIANT_TABLE: dict[tuple[str, str], Change] = {
    ("target", "51"): {"target": 51},
    ("exchanges", "1"): {"exchanges": 1, "scored_exchanges": slice(1)},
    ("exchanges", "2"): {"exchanges": 2, "scored_exchanges": slice(2)},
    ("exchanges", "3"): {},
    ("buy_stop", "41"): {"buy_stop": 41},
    ("buy_stop", "42"): {"buy_stop": 42},
    ("buy_stop", "46"): {"buy_stop": 46},
    ("buy_stop", "none"): {"buy_stop": None},
    ("penalty", "none"): {"buy_stop_penalty": None},
    ("penalty", "15"): {"buy_stop_penalty": 15},
    ("penalty", "all"): {"buy_stop_penalty": "all"},
    ("straight_flush", "8"): {8: 8},
    ("straight_flush", "9"): {8: 9},
    ("straight_flush", "10"): {8: 10},
    ("straight_flush", "11"): {8: 11},
    ("straight_flush", "win"): {"win": [8, 9]},
    ("royal", "10"): {9: 10},
    ("royal", "52"): {9: 52},
    ("royal", "win"): {"win": [9]},
    ("four", "7"): {7: 7, "four_of_a_kind": "points"},
    ("four", "8"): {7: 8, "four_of_a_kind": "points"},
    ("four", "reset7"): {7: 7, "four_of_a_kind": "reset"},
    ("four", "reset8"): {7: 8, "four_of_a_kind": "reset"},
    ("four", "choose"): {7: 7, "four_of_a_kind": "choose"},
    ("chicago_from", "15"): {"chicago_threshold": 15},
    ("chicago_from", "0"): {"chicago_threshold": 0},
    ("chicago_from", "none"): {"chicago_threshold": None},
    ("needs_chicago", "none"): {"win_needs_chicago": None},
    ("needs_chicago", "attempt"): {"win_needs_chicago": "attempt"},
    ("needs_chicago", "success"): {"win_needs_chicago": "success"},
    ("breaker", "0"): {"chicago_breaker_points": 0},
    ("breaker", "8"): {"chicago_breaker_points": 8},
    ("two_doubles", "yes"): {"last_trick_two_doubles": True},
    ("two_doubles", "no"): {"last_trick_two_doubles": False},
    ("open_card", "yes"): {"open_card": True},
    ("open_card", "no"): {"open_card": False},
    ("show_broken", "yes"): {"show_broken_hand": True},
    ("show_broken", "no"): {"show_broken_hand": False},
    ("suits", "HSDC"): {"suit_order": "HSDC"},
    ("suits", "none"): {"suit_order": None},
    ("reveal", "cards"): {"tie_reveal": "cards"},
    ("reveal", "ranks"): {"tie_reveal": "ranks"},
    ("announcing", "free"): {"announcing": "free"},
    ("announcing", "compulsory"): {"announcing": "compulsory"},
}


def changed(data: dict[str, Any], change: Change) -> dict[str, Any]:
    """The JSON form of rules after a row of `VARIANT_TABLE`."""
    data = json.loads(json.dumps(data))
    for what, value in change.items():
        if isinstance(what, int):
            data["hand_points"][what] = value
        elif what == "win":
            data["instant_win"] = sorted({*data["instant_win"], *value})
        elif isinstance(value, slice):
            data[what] = data[what][value]
        else:
            data[what] = value
    return data


def test_variants_are_those_of_the_table() -> None:
    assert [(variant.key, value) for variant in VARIANTS for value in variant.values] == list(VARIANT_TABLE)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("key", "value"), VARIANT_TABLE)
def test_every_variant_of_every_preset(preset: str, key: str, value: str) -> None:
    rules = parse_rules(f"{preset}+{key}={value}")
    assert rules.to_dict() == changed(PRESETS[preset].to_dict(), VARIANT_TABLE[key, value])


@given(st.sampled_from(list(PRESETS)), st.permutations([variant.key for variant in VARIANTS]), st.data())
def test_variants_combine_freely_in_any_order(preset: str, keys: list[str], data: st.DataObject) -> None:
    expected = PRESETS[preset].to_dict()
    text = preset
    for key in keys[: data.draw(st.integers(0, len(keys)))]:
        value = data.draw(st.sampled_from([v for k, v in VARIANT_TABLE if k == key]))
        text += f"+{key}={value}"
        expected = changed(expected, VARIANT_TABLE[key, value])
    assert parse_rules(text).to_dict() == expected


def test_variants_change_single_entries_from_left_to_right() -> None:
    rules = parse_rules("pagat+straight_flush=11+royal=10+four=reset8+straight_flush=win")
    assert rules.hand_points == (0, 1, 2, 3, 4, 5, 6, 8, 11, 10)
    assert rules.instant_win == {8, 9}
    assert parse_rules("pagat+instant_win=2+royal=win").instant_win == {2, 9}
    assert parse_rules("pagat+royal=10+hand_points=0,0,0,0,0,0,0,0,0,9").hand_points[9] == 9
    assert parse_rules("pagat+hand_points=0,0,0,0,0,0,0,0,0,9+royal=10").hand_points[9] == 10
    assert parse_rules("pagat+target=1+target=2").target == 2


def test_points_beyond_the_named_ones_are_allowed() -> None:
    assert parse_rules("pagat+royal=0+straight_flush=999").hand_points[8:] == (999, 0)
    assert parse_rules("pagat+suits=CDHS+breaker=3+chicago_from=-5") == Rules(
        suit_order="CDHS", chicago_breaker_points=3, chicago_threshold=-5
    )


def test_fields_that_must_agree_are_checked_at_the_end() -> None:
    for text in ("needs_chicago=attempt+chicago=no+chicago=yes", "chicago=no+needs_chicago=success+chicago=yes"):
        assert parse_rules(f"pagat+{text}").chicago
    with pytest.raises(RulesError, match="win_needs_chicago: 'attempt' is not allowed"):
        parse_rules("pagat+chicago=no+needs_chicago=attempt")
    two = Rules(exchanges=2, scored_exchanges=(False, True))
    assert parse_rules("pagat+exchanges=2+scored_exchanges=no,yes") == two
    assert parse_rules("pagat+scored_exchanges=no,yes+exchanges=2") == two


def test_exchanges_do_not_grow_back_unless_their_scoring_is_said() -> None:
    with pytest.raises(RulesError, match=r"scored_exchanges: .*has 1 entry where `exchanges` is 3"):
        parse_rules("pagat+exchanges=1+exchanges=3")
    assert parse_rules("pagat+exchanges=1+exchanges=3+scored_exchanges=no,no,no").scored_exchanges == (False,) * 3


def test_values_of_full_fields() -> None:
    rules = parse_rules(
        "family + finish = end_of_deal + scored_exchanges=no,true,false"
        + "+hand_points=0, 9, 8, 7, 6, 5, 4, 3, 2, 1+instant_win=9,2+chicago_success_scores=hand,last_trick"
        + "+chicago_failure_scores=none+buy_stop=-7+buy_stop_penalty=all+royal_resets=no+suit_order=SHDC"
    )
    expected = PRESETS["family"].to_dict() | {
        "finish": "end_of_deal",
        "scored_exchanges": [False, True, False],
        "hand_points": [0, 9, 8, 7, 6, 5, 4, 3, 2, 1],
        "instant_win": [2, 9],
        "chicago_success_scores": ["last_trick", "hand"],
        "chicago_failure_scores": [],
        "buy_stop": -7,
        "buy_stop_penalty": "all",
        "royal_resets": False,
        "suit_order": "SHDC",
    }
    assert rules.to_dict() == expected


def test_other_forms_of_rules() -> None:
    rules = PRESETS["race"]
    assert parse_rules(rules) is rules
    assert parse_rules("race") == rules
    assert parse_rules(rules.to_dict()) == rules
    assert parse_rules({"target": 51}) == Rules(target=51)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pagta", "rules 'pagta': unknown preset 'pagta'; did you mean pagat? known: pagat, open-card, race, family"),
        ("open_card", "did you mean open-card?"),
        ("", "rules '': unknown preset ''; known: pagat, open-card, race, family"),
        ("target=51", "unknown preset 'target=51'"),
        ("Pagat", "unknown preset 'Pagat'; did you mean pagat?"),
        ("pagat+targt=51", "rules 'pagat+targt=51': unknown key 'targt'; did you mean target? known: target, finish, "),
        ("pagat+xyzzy=1", "unknown key 'xyzzy'; known: target, "),
        ("pagat+players=3", "unknown key 'players'"),
        ("pagat+", "rules 'pagat+': '' is no key=value"),
        ("pagat+open_card", "'open_card' is no key=value"),
        ("pagat+target=0", "target=0: rules field target: 0 is not allowed; allowed: a whole number from 1 to 9999"),
        ("pagat+target=", "target=: rules field target: '' is not allowed"),
        ("pagat+target=²", "target: '²' is not allowed"),
        ("pagat+target=5.0", "target: '5.0' is not allowed"),
        ("pagat+target=12345678901", "target: '12345678901' is not allowed"),
        ("pagat+target=yes", "target: True is not allowed"),
        ("pagat+target=1=2", "target: '1=2' is not allowed"),
        ("pagat+chicago=1", "chicago: 1 is not allowed; allowed: True or False (yes or no in text)"),
        (
            "pagat+penalty=0",
            "penalty=0: rules field buy_stop_penalty: 0 is not allowed; allowed: 15, or all, or none",
        ),
        ("pagat+suits=hsdc", "suits=hsdc: rules field suit_order: 'hsdc' is not allowed"),
        ("pagat+four=9", "four=9: '9' is not allowed; allowed: one of 7, 8, reset7, reset8, choose"),
        ("pagat+royal=1000", "royal=1000: '1000' is not allowed; allowed: a whole number from 0 to 999, or win"),
        ("pagat+royal=-1", "royal=-1: '-1' is not allowed"),
        ("pagat+royal=yes", "royal=yes: 'yes' is not allowed"),
        ("pagat+straight_flush=wins", "straight_flush=wins: 'wins' is not allowed"),
        (
            "pagat+exchanges=4",
            "exchanges=4: rules field exchanges: 4 is not allowed; allowed: a whole number from 1 to 3",
        ),
        ("pagat+instant_win=9,", "instant_win: [9, ''] is not allowed ('' is no such category)"),
        ("pagat+instant_win=9,none", "instant_win: [9, None] is not allowed"),
        ("pagat+hand_points=0,1", "hand_points: [0, 1] is not allowed (has 2 entries)"),
        ("pagat+scored_exchanges=none", "scored_exchanges: [] is not allowed"),
        (
            "pagat+reveal=suits",
            "reveal=suits: rules field tie_reveal: 'suits' is not allowed; allowed: one of cards, ranks",
        ),
        (None, "rules: None is no preset, text of rules, mapping or Rules"),
        (5, "rules: 5 is no preset"),
        (["pagat"], "rules: ['pagat'] is no preset"),
        ({"targt": 5}, "unknown rules field 'targt'; did you mean target?"),
    ],
)
def test_bad_rules_say_what_is_wrong_and_what_exists(spec: Any, message: str) -> None:
    with pytest.raises(RulesError) as caught:
        parse_rules(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_errors_carry_field_value_and_allowed() -> None:
    with pytest.raises(RulesError) as caught:
        parse_rules("pagat+penalty=0")
    error = caught.value
    assert (error.field, error.value, error.allowed) == (
        "buy_stop_penalty",
        0,
        "15, or all, or none",
    )


def all_rules() -> st.SearchStrategy[Rules]:
    """Any rules at all."""
    points = st.integers(0, 999)
    scores = st.integers(-9999, 9999) | st.none()
    flag = st.booleans()
    what = st.lists(st.sampled_from(["last_trick", "hand"]), unique=True)
    fields: dict[str, st.SearchStrategy[Any]] = {
        "target": st.integers(1, 9999),
        "finish": st.sampled_from(["end_of_deal", "first_past"]),
        "scored_exchanges": st.lists(flag, min_size=1, max_size=3),
        "open_card": flag,
        "hand_points": st.lists(points, min_size=9, max_size=9).map(lambda rest: [0, *rest]),
        "instant_win": st.frozensets(st.integers(1, 9)),
        "four_of_a_kind": st.sampled_from(["points", "reset", "choose"]),
        "royal_resets": flag,
        "suit_order": st.none() | st.permutations("CDHS").map("".join),
        "tie_reveal": st.sampled_from(["cards", "ranks"]),
        "show_broken_hand": flag,
        "last_trick_points": points,
        "last_trick_two_doubles": flag,
        "chicago_threshold": scores,
        "chicago_points": points,
        "chicago_penalty": points,
        "chicago_caller_leads": flag,
        "chicago_success_scores": what,
        "chicago_failure_scores": what,
        "chicago_breaker_points": points,
        "buy_stop": scores,
        "buy_stop_permanent": flag,
        "buy_stop_penalty": st.none() | st.sampled_from([15, "all"]),
        "announcing": st.sampled_from(["free", "compulsory"]),
        "showdown_first": flag,
    }
    assert set(fields) == set(FIELDS) - {"exchanges", "chicago", "win_needs_chicago"}
    needs = st.sampled_from([(True, None), (False, None), (True, "attempt"), (True, "success")])

    def build(preset: Rules, changes: dict[str, Any], chicago: tuple[bool, str | None] | None) -> Rules:
        if "scored_exchanges" in changes:
            changes = {**changes, "exchanges": len(changes["scored_exchanges"])}
        if chicago is not None:
            changes = {**changes, "chicago": chicago[0], "win_needs_chicago": chicago[1]}
        return preset.replace(**changes)

    # presets with few changes as well as with many
    changes = st.fixed_dictionaries({}, optional=fields)
    return st.builds(build, st.sampled_from(list(PRESETS.values())), changes, st.none() | needs)


@given(all_rules())
def test_text_of_rules_round_trips(rules: Rules) -> None:
    assert parse_rules(format_rules(rules)) == rules


@given(all_rules())
def test_text_of_rules_is_as_short_as_it_can_be(rules: Rules) -> None:
    text = format_rules(rules)
    preset, *changes = text.split("+")
    assert [change.partition("=")[0] for change in changes] == [
        name for name in FIELDS if any(change.startswith(f"{name}=") for change in changes)
    ]
    for left_out in range(len(changes)):  # every change is needed
        shorter = "+".join([preset, *changes[:left_out], *changes[left_out + 1 :]])
        with contextlib.suppress(RulesError):
            assert parse_rules(shorter) != rules
    for other in PRESETS:  # and no other preset needs less text
        full = {name: format_field(rules, name) for name in FIELDS}
        base = {name: format_field(PRESETS[other], name) for name in FIELDS}
        if full["exchanges"] != base["exchanges"]:
            kept = base["scored_exchanges"].split(",")[: rules.exchanges]
            base["scored_exchanges"] = ",".join(kept)
        needed = sum(len(f"+{name}={full[name]}") for name in FIELDS if full[name] != base[name])
        assert len(text) <= len(other) + needed


def format_field(rules: Rules, name: str) -> str:
    """Text of one field, written independently of the notation."""
    value = rules.to_dict()[name]
    words = {True: "yes", False: "no"}
    items = [words[v] if isinstance(v, bool) else str(v) for v in (value if isinstance(value, list) else [value])]
    return ",".join(items) if items and value is not None else "none"


def test_text_of_known_rules() -> None:
    for name, preset in PRESETS.items():
        assert format_rules(preset) == name
    for text in (
        "pagat+target=51+buy_stop=none",
        "race+exchanges=2",
        "open-card+exchanges=1",
        "family+instant_win=8,9",
    ):
        assert format_rules(parse_rules(text)) == text
    assert format_rules(parse_rules("pagat+exchanges=2+scored_exchanges=no,yes")) == (
        "pagat+exchanges=2+scored_exchanges=no,yes"
    )
    assert format_rules(parse_rules("pagat+four=choose+suits=SHDC")) == "pagat+four_of_a_kind=choose+suit_order=SHDC"


def test_text_of_golden_rules_round_trips() -> None:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 60
    for line in lines:
        rules = Rules.from_dict(json.loads(line)["rules"], complete=True)
        assert parse_rules(format_rules(rules)) == rules


def test_every_field_and_variant_is_a_key() -> None:
    assert set(KEYS) == {*FIELDS, *(variant.key for variant in VARIANTS)}


def cells(table: str) -> list[list[str]]:
    """Cells of a Markdown table, without the line under its head."""
    lines = table.splitlines()
    assert set(lines[1]) == set("| -")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in [lines[0], *lines[2:]]]


def test_table_of_fields() -> None:
    head, *rows = cells(rules_table())
    assert head == ["field", "`pagat` (default)", "`open-card`", "`race`", "`family`", "allowed", "meaning"]
    assert [row[0] for row in rows] == [f"`{name}`" for name in FIELDS]
    for (name, field), row in zip(FIELDS.items(), rows, strict=True):
        assert row[1:5] == [format_field(preset, name) for preset in PRESETS.values()]
        assert row[5:] == [field.metadata["allowed"], field.metadata["help"]]


def test_table_of_variants() -> None:
    head, *rows = cells(variants_table())
    assert head == ["key", "values", "sets", "allowed"]
    listed = itertools.chain.from_iterable(
        [(row[0].strip("`"), value.strip("`")) for value in row[1].split(", ")] for row in rows
    )
    assert list(listed) == list(VARIANT_TABLE)
