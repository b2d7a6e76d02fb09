"""Verifying: what is a match by the rules passes, everything else is refused with the place of the first difference."""

from __future__ import annotations

import copy
import json
import random  # noqa: TID251  # drives the oracle's alterations, which share nothing with the package
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chicago_env.errors import RecordError
from chicago_env.records import verify_record
from tests.oracle import OracleError
from tests.oracle import verify_record as oracle_verifies
from tests.oracle.alterations import ALTERATIONS, alterations
from tests.oracle.random_play import KINDS, play_random, random_match
from tests.oracle.random_rules import PRESETS, random_rules

GOLDEN = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "golden.jsonl").read_text("utf-8").splitlines()
]

Record = dict[str, Any]


def played(seed: int, rules: dict[str, Any], players: int, **options: Any) -> Record:
    """A record of a random match by the rules, made by the oracle."""
    rng = random.Random(seed)
    match = random_match(rng, rules, players, **options)
    play_random(match, rng)
    record: Record = json.loads(json.dumps(match.record()))
    return record


def preset_records() -> list[Record]:
    return [played(players, PRESETS[name], players) for name in PRESETS for players in range(2, 7)]


def random_records(number: int) -> list[Record]:
    rng = random.Random(5)
    records = []
    for i in range(number):
        rules = random_rules(rng)
        if i % 3 == 0:
            rules["four_of_a_kind"] = "choose"
        records.append(played(i, rules, 2 + i % 5, kinds=["four"] if i % 3 == 0 else KINDS))
    return records


@pytest.mark.parametrize("index", range(60))
def test_golden_match_verifies(index: int) -> None:
    record = GOLDEN[index]
    summary = verify_record(record)
    assert summary.players == record["players"]
    assert summary.deals == len(record["deals"])
    assert summary.events == sum(len(deal["events"]) for deal in record["deals"])
    assert (summary.winner, summary.reason) == (record["result"]["winner"], record["result"]["reason"])


def test_random_matches_verify() -> None:
    for record in preset_records() + random_records(60):
        verify_record(record)


# Falsified records


@pytest.fixture(scope="module")
def falsified() -> dict[str, list[Record]]:
    """Altered copies by kind of alteration: of the golden matches, of every preset, and of random rules."""
    rng = random.Random(3)
    found: dict[str, list[Record]] = {name: [] for name in ALTERATIONS}
    for record in GOLDEN + preset_records() + random_records(100):
        for name, altered in alterations(record, rng):
            found[name].append(altered)
    return found


@pytest.mark.parametrize("name", ALTERATIONS)
def test_falsified_records_are_refused(name: str, falsified: dict[str, list[Record]]) -> None:
    assert len(falsified[name]) >= 10
    for altered in falsified[name]:
        with pytest.raises(RecordError):
            verify_record(altered)


MALFORMED_EXCHANGE = {"discard twice", "discard is no card", "event has an entry too many"}
"""The oracle names the first event of the turn instead."""


@pytest.mark.parametrize("name", ALTERATIONS)
def test_first_difference_is_where_the_oracle_finds_it(name: str, falsified: dict[str, list[Record]]) -> None:
    """Unless one of them names the form of an event, a card that is there twice, or the deal as a whole."""
    for altered in falsified[name][:20]:
        with pytest.raises(OracleError) as other:
            oracle_verifies(altered)
        with pytest.raises(RecordError) as own:
            verify_record(altered)
        place = re.match(r"deal (\d+), event (\d+): ", str(other.value))
        if place is not None and own.value.event is not None:
            found = own.value.deal, own.value.event
            if name in MALFORMED_EXCHANGE:
                assert own.value.event - int(place[2]) in range(4)
            else:
                assert found == (int(place[1]), int(place[2])), (str(own.value), other.value)


# Anything at all


SHORT = [record for record in GOLDEN if len(record["deals"]) <= 2][:6] + random_records(20)

JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 6, 52, 10**30, 1.0, float("nan"), "", "AS", "hand", "x" * 300, "\ud800", "\n"),
    *([], [[]], {}, {"AS": 1}, ["AS"], ["AS"] * 60, ["play", 0, "AS"], ["reshuffle", []], ["four", 0, []], [1, 2]),
]


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value, as (what holds it, key or index)."""
    found: list[tuple[Any, Any]] = []
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        found.append((value, key))
        found += nodes(value[key])
    return found


def change(record: Any, data: st.DataObject) -> bool:
    """Removes, replaces, repeats or exchanges a node of the record; True if it is one of the rules."""
    places = nodes(record)
    # Few nodes are not cards of events: half of the time one of them is taken.
    few = [place for place in places if place[0] is not None and not isinstance(place[0], list)]
    holder, key = data.draw(st.sampled_from(few if few and data.draw(st.booleans()) else places))
    in_rules = holder is record.get("rules") or key == "rules" or any(holder is v for v in record["rules"].values())
    what = data.draw(st.sampled_from(["remove", "replace", "take", "repeat", "add"]))
    if what == "remove":
        del holder[key]
    elif what == "replace":
        holder[key] = data.draw(st.sampled_from(JUNK))
    elif what == "take":
        other, name = data.draw(st.sampled_from(places))
        holder[key] = copy.deepcopy(other[name])
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]) if what == "repeat" else data.draw(st.sampled_from(JUNK)))
    else:
        holder[data.draw(st.sampled_from(["more", "rules", "events", "1"]))] = copy.deepcopy(holder[key])
    return in_rules


def refusal(record: Any) -> str | None:
    try:
        verify_record(record, file="f.jsonl", line=3)
    except RecordError as error:
        return str(error)
    return None


def oracle_accepts(record: Any) -> bool:
    try:
        oracle_verifies(record)
    except (OracleError, TypeError, ValueError, KeyError, AttributeError, IndexError):
        return False
    return True


@settings(max_examples=1500)
@given(st.data())
def test_anything_is_verified_or_refused_as_the_oracle_does(data: st.DataObject) -> None:
    record = copy.deepcopy(data.draw(st.sampled_from(SHORT)))
    in_rules = change(record, data)
    message = refusal(record)
    if message is not None:
        assert message.startswith("f.jsonl:3")
        assert "\n" not in message
        assert len(message) < 1000
    if not in_rules:
        assert oracle_accepts(record) == (message is None)


def test_numbers_too_long_to_be_written_are_refused() -> None:
    record = copy.deepcopy(GOLDEN[0])
    for holder, key in nodes(record):
        before, holder[key] = holder[key], 10**5000
        assert (refusal(record) is None) == (key == "seed"), key
        holder[key] = before


@given(st.recursive(st.sampled_from(JUNK), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_json_is_refused(value: Any) -> None:
    with pytest.raises(RecordError):
        verify_record(value)


def test_deep_nesting_is_refused() -> None:
    for name in GOLDEN[0]:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(RecordError):
            verify_record({**GOLDEN[0], name: deep})
        while deep:  # taken apart by hand: freeing it recurses
            deep = deep.pop()


# What the messages say


def altered(path: list[Any], value: Any, index: int = 0) -> Record:
    """A copy of a golden match with one node replaced."""
    record = copy.deepcopy(GOLDEN[index])
    holder: Any = record
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return record


MESSAGES: list[tuple[list[Any], Any, str]] = [
    (["format"], "chess", "f.jsonl:7: format is \"chess\", not 'chicago-record'"),
    (["version"], True, "f.jsonl:7: version is true; this program reads version 1"),
    (["version"], 2, "f.jsonl:7: version is 2; this program reads version 1"),
    (["players"], 7, "f.jsonl:7: players: 7 is not allowed; allowed: a whole number from 2 to 6"),
    (["players"], 2.0, "f.jsonl:7: players: 2.0 is not allowed; allowed: a whole number from 2 to 6"),
    (["names"], ["p0"], 'f.jsonl:7: names: ["p0"] is not a list of 2 texts'),
    (["seed"], None, "f.jsonl:7: seed: null is not an integer"),
    (["first_dealer"], 2, "f.jsonl:7: first_dealer: 2 is no seat: there are 0 to 1"),
    (["max_deals"], 0, "f.jsonl:7: max_deals: 0 is not a positive number"),
    (["start_scores"], [0], "f.jsonl:7: start_scores: [0] is not a list of 2 scores"),
    (["rules", "target"], 0, "f.jsonl:7: rules field target: 0 is not allowed; allowed: a whole number from 1 to 9999"),
    (["rules", "open_card"], 1, "f.jsonl:7: rules field open_card: 1 is not allowed; allowed: True or False"),
    (["deals"], [], "f.jsonl:7: deals: [] is not a list of deals"),
    (["result"], None, "f.jsonl:7: the match is unfinished: result is null"),
    (["result", "winner"], 5, "f.jsonl:7: result: winner is 5, should be "),
    (["deals", 0, "dealer"], 1, "f.jsonl:7 deal 0: dealer is 1, should be 0"),
    (["deals", 0, "deck", 3], "XX", 'f.jsonl:7 deal 0: deck: "XX" is no card'),
    (["deals", 0, "deck", 51], "7D", "f.jsonl:7 deal 0: deck: 7D is there twice"),
    (["deals", 1, "scores", 0], 99, "f.jsonl:7 deal 1: scores: [99, "),
    (["deals", 0, "events", 2], ["announce", 1, 2], 'f.jsonl:7 deal 0 event 2: ["announce", 1, 2] where seat 1 is to '),
    (["deals", 0, "events", 2], ["announce", 1, True], "f.jsonl:7 deal 0 event 2: true is not a number of points"),
    (["deals", 0, "events", 2], ["sing", 1], 'f.jsonl:7 deal 0 event 2: "sing" is no kind of event'),
    (["deals", 0, "events", 2], ["trick", 2], "f.jsonl:7 deal 0 event 2: 2 is no seat: there are 0 to 1"),
    (["deals", 0, "events", 2], ["trick"], "f.jsonl:7 deal 0 event 2: trick has 2 entries, this one 1"),
    (
        ["deals", 0, "events", 6, 2],
        2,
        'f.jsonl:7 deal 0 event 6: ["score", 0, 2, "hand"] should be ["score", 0, 1, "hand"]',
    ),
    (["deals", 0, "events", 0], ["exchange", 1, ["AS"], ["2D"]], "f.jsonl:7 deal 0 event 0: "),
]


@pytest.mark.parametrize(("path", "value", "message"), MESSAGES, ids=lambda part: str(part)[:40])
def test_message_says_where_and_what(path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        verify_record(altered(path, value), file="f.jsonl", line=7)
    assert str(caught.value).startswith(message)


def test_illegal_announcement_names_the_legal_ones() -> None:
    with pytest.raises(RecordError, match=r"seat 1 is to announce; legal: announce pass, announce pair$"):
        verify_record(altered(["deals", 0, "events", 2], ["announce", 1, 2]))


def test_missing_and_extra_events_are_named() -> None:
    record = copy.deepcopy(GOLDEN[0])
    last = record["deals"][0]["events"].pop()
    with pytest.raises(RecordError, match=re.escape(f"missing: {json.dumps(last)}")) as caught:
        verify_record(record)
    assert (caught.value.deal, caught.value.event) == (0, len(record["deals"][0]["events"]))
    record["deals"][0]["events"] += [last, ["trick", 0]]
    with pytest.raises(RecordError, match="one too many: the deal was over before it"):
        verify_record(record)
    del record["deals"][0]["events"][5:]
    with pytest.raises(RecordError, match=r"missing|should be") as caught:
        verify_record(record)
    assert (caught.value.deal, caught.value.event) == (0, 5)


def test_missing_and_extra_deals_are_named() -> None:
    record = copy.deepcopy(next(record for record in GOLDEN if len(record["deals"]) > 1))
    number = len(record["deals"])
    with pytest.raises(RecordError, match="one deal too many") as caught:
        verify_record({**record, "deals": [*record["deals"], record["deals"][0]]})
    assert caught.value.deal == number
    with pytest.raises(RecordError, match="missing: the match is not over") as caught:
        verify_record({**record, "deals": record["deals"][:-1]})
    assert caught.value.deal == number - 1


# What is free


@pytest.mark.parametrize("index", range(0, 60, 4))
def test_order_inside_show_and_of_discards_is_free(index: int) -> None:
    record = copy.deepcopy(GOLDEN[index])
    changed = 0
    for event in (event for deal in record["deals"] for event in deal["events"]):
        if event[0] in {"show", "exchange"}:
            changed += len(event[2]) > 1
            event[2].reverse()
    assert changed
    verify_record(record)


def test_order_of_drawn_cards_is_not_free() -> None:
    record = copy.deepcopy(GOLDEN[0])
    event = next(event for event in record["deals"][0]["events"] if event[0] == "exchange" and len(event[3]) > 1)
    event[3].reverse()
    with pytest.raises(RecordError, match="should be"):
        verify_record(record)


def test_order_of_a_reshuffle_is_not_free() -> None:
    found = 0
    for record in GOLDEN + random_records(60):
        for deal, i in ((d, i) for d in record["deals"] for i, e in enumerate(d["events"]) if e[0] == "reshuffle"):
            changed = copy.deepcopy(record)
            event = changed["deals"][record["deals"].index(deal)]["events"][i]
            event[1].reverse()
            found += 1
            with pytest.raises(RecordError):
                verify_record(changed)
    assert found > 5


def test_undealt_cards_may_stand_in_any_order() -> None:
    record = copy.deepcopy(GOLDEN[0])
    deal = record["deals"][0]
    dealt = 10 + sum(len(event[3]) for event in deal["events"] if event[0] == "exchange")
    deal["deck"][dealt:] = reversed(deal["deck"][dealt:])
    assert deal["deck"] != GOLDEN[0]["deals"][0]["deck"]
    verify_record(record)


def test_large_start_scores_and_any_seed_are_allowed() -> None:
    record = played(1, PRESETS["pagat"], 2)
    for seed in (-1, 0, 1 << 70):
        verify_record({**record, "seed": seed})


def test_true_and_fractions_are_no_numbers() -> None:
    """To Python, true is 1 and 1.0 is 1; in JSON they are not."""
    record = copy.deepcopy(next(r for r in GOLDEN if r["result"]["winner"] in {0, 1} and r["deals"][0]["dealer"] == 0))
    for holder, key in (
        (record["deals"][0], "dealer"),
        (record["result"], "winner"),
        (record["deals"][0]["scores"], 0),
    ):
        before = holder[key]
        for other in (bool(before), float(before)):
            if other == before:
                holder[key] = other
                with pytest.raises(RecordError, match="should be"):
                    verify_record(record)
        holder[key] = before
    verify_record(record)
