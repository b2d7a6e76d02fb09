"""The oracle itself: the golden matches verify, falsified ones are refused, and random matches reach every rule."""

from __future__ import annotations

import copy
import json
import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
from collections import Counter
from itertools import combinations_with_replacement, pairwise
from math import comb, prod
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import OracleError, OracleMatch, hand_value, verify_record
from tests.oracle.alterations import ALTERATIONS, alterations
from tests.oracle.cards import CARD_OF
from tests.oracle.random_play import KINDS, POLICIES, arranged_deck, play_random, random_match
from tests.oracle.random_rules import PRESETS, VARIANTS, named_rules, random_rules, rules_with
from tests.oracle.rulebook import FIELDS, check_rules

GOLDEN = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "golden.jsonl").read_text("utf-8").splitlines()
]

Record = dict[str, Any]


def cards(text: str) -> list[int]:
    return [CARD_OF[name] for name in text.split()]


def random_records(seed: int, number: int) -> list[Record]:
    rng = random.Random(seed)
    records = []
    for i in range(number):
        rules = random_rules(rng)
        if i % 3 == 0:
            rules["four_of_a_kind"] = "choose"
        match = random_match(rng, rules, 2 + i % 5, kinds=["four"] if i % 3 == 0 else KINDS)
        play_random(match, rng)
        records.append(json.loads(json.dumps(match.record())))
    return records


# Golden matches


def test_there_are_60_golden_matches() -> None:
    assert len(GOLDEN) == 60


@pytest.mark.parametrize("index", range(60))
def test_golden_match_verifies(index: int) -> None:
    verify_record(GOLDEN[index])


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_those_of_golden_matches_and_in_their_field_order(name: str) -> None:
    same = [record["rules"] for record in GOLDEN if record["rules"] == PRESETS[name]]
    assert same
    assert list(same[0]) == list(PRESETS[name]) == list(FIELDS)


# Falsified records


@pytest.fixture(scope="module")
def falsified() -> dict[str, list[Record]]:
    """Altered copies by kind of alteration: of all golden matches, and of random matches with rarer rules."""
    rng = random.Random(11)
    found: dict[str, list[Record]] = {name: [] for name in ALTERATIONS}
    for record in GOLDEN + random_records(12, 90):
        for name, altered in alterations(record, rng):
            found[name].append(altered)
    return found


@pytest.mark.parametrize("name", ALTERATIONS)
def test_falsified_records_are_refused(name: str, falsified: dict[str, list[Record]]) -> None:
    assert len(falsified[name]) >= 10
    for altered in falsified[name]:
        with pytest.raises(OracleError):
            verify_record(altered)


def test_refusal_names_deal_and_event_of_the_first_difference() -> None:
    altered = copy.deepcopy(GOLDEN[0])
    at = max(i for i, event in enumerate(altered["deals"][1]["events"]) if event[0] == "trick")
    altered["deals"][1]["events"][at][1] ^= 1
    with pytest.raises(OracleError, match=rf"^deal 1, event {at}: "):
        verify_record(altered)


@pytest.mark.parametrize("index", [i for i, record in enumerate(GOLDEN) if len(record["deals"]) == 3][::5])
def test_order_inside_show_and_of_discards_is_free(index: int) -> None:
    record = copy.deepcopy(GOLDEN[index])
    changed = 0
    for deal in record["deals"]:
        for event in deal["events"]:
            if event[0] in ("show", "exchange"):
                event[2].reverse()
                changed += len(event[2]) > 1
    assert changed
    verify_record(record)


def test_undealt_cards_may_stand_in_any_order() -> None:
    record = copy.deepcopy(GOLDEN[0])
    deal = record["deals"][0]
    dealt = 10 + sum(len(event[3]) for event in deal["events"] if event[0] == "exchange")
    deal["deck"][dealt:] = reversed(deal["deck"][dealt:])
    assert deal["deck"] != GOLDEN[0]["deals"][0]["deck"]
    verify_record(record)


def test_one_card_exchange_without_an_open_event_was_closed() -> None:
    """Without the open event of a face-up card that was taken, the record tells of another valid match."""
    for record in GOLDEN:
        for deal, index in ((d, i) for d in record["deals"] for i, e in enumerate(d["events"]) if e[0] == "open"):
            copied = copy.deepcopy(record)
            events = copied["deals"][record["deals"].index(deal)]["events"]
            accepted = events.pop(index)[3]
            if accepted:
                verify_record(copied)
            else:
                with pytest.raises(OracleError):
                    verify_record(copied)


# Hands


def test_hand_counts_and_number_of_ranks() -> None:
    """Docs/rules.md §1, from one hand for each multiset of ranks, once of mixed suits and once of one suit."""
    counts: Counter[int] = Counter()
    values = set()
    for ranks in combinations_with_replacement(range(13), 5):
        copies = Counter(ranks)
        if max(copies.values()) > 4:
            continue
        hands = prod(comb(4, n) for n in copies.values())
        # The i-th card of a rank gets suit i; a lone first card gets clubs, the next ones diamonds: never one suit.
        mixed = [4 * r + (ranks[:i].count(r) if copies[r] > 1 else int(i > 0)) for i, r in enumerate(ranks)]
        if len(copies) == 5:
            flush = hand_value([4 * rank for rank in ranks])
            counts[flush[0]] += 4
            values.add(flush)
            hands -= 4
        value = hand_value(mixed)
        counts[value[0]] += hands
        values.add(value)
    assert [counts[c] for c in range(10)] == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]
    assert len(values) == 7462


RISING = [
    "7C 5D 4C 3D 2S",
    "KC QD JC TD 8S",
    "AC QD JC TD 8S",
    "2C 2D 5C 4D 3S",
    "AC AD 4C 3D 2S",
    "3C 3D 2C 2D 4S",
    "AC AD KC KD 2S",
    "2C 2D 2S 4D 3S",
    "AS 2D 3C 4D 5S",
    "2S 3D 4C 5D 6S",
    "TS JD QC KD AS",
    "7C 5C 4C 3C 2C",
    "AC QC JC TC 8C",
    "2C 2D 2S 3C 3D",
    "2C 2D 2S AC AD",
    "3C 3D 3S 2C 2D",
    "2C 2D 2S 2H 3C",
    "2C 2D 2S 2H AC",
    "AH 2H 3H 4H 5H",
    "9C TC JC QC KC",
    "TC JC QC KC AC",
]


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(RISING)))
def test_hands_in_rising_order(lower: str, higher: str) -> None:
    assert hand_value(cards(lower)) < hand_value(cards(higher))


def test_straight_does_not_wrap() -> None:
    assert hand_value(cards("QC KD AC 2D 3S"))[0] == 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("2H 2C 5C 4D 3S", "2S 2D 5H 4C 3D"),  # the pair
        ("9S 9C 2D 2C 4H", "9D 9H 2H 2S 4S"),  # the higher pair of two
        ("5S AC 2D 3C 4D", "5D AS 2S 3S 4S"),  # the top card of a straight, here a five
        ("AS QS JS TS 8S", "AD QD JD TD 8D"),  # of a flush
        ("KS QC JC TC 8C", "KD QS JS TS 8S"),  # of a high-card hand
    ],
)
def test_suit_order_compares_the_best_suit_of_the_highest_group(better: str, worse: str) -> None:
    assert hand_value(cards(better)) == hand_value(cards(worse))
    order = "HSDC" if "2H 2C" in better else "SHDC"
    assert hand_value(cards(better), order) > hand_value(cards(worse), order)
    assert hand_value(cards(better), order[::-1]) != hand_value(cards(worse), order[::-1])


# Matches


def test_illegal_action_is_refused_and_changes_nothing() -> None:
    match = OracleMatch(PRESETS["pagat"], 3)
    before = copy.deepcopy(match.record())
    for action in (-1, 32, 33, 42, 48, 50, 102):
        with pytest.raises(OracleError):
            match.step(action)
    assert match.record() == before
    assert match.legal() == list(range(32))


def test_after_the_end_nothing_is_legal() -> None:
    match = OracleMatch(PRESETS["pagat"], 2, max_deals=1)
    play_random(match, random.Random(1), "uniform")
    assert (match.over, match.to_act, match.phase, match.legal()) == (True, None, "over", [])
    with pytest.raises(OracleError):
        match.step(0)


@pytest.mark.parametrize(("preset", "players"), [(preset, players) for preset in PRESETS for players in range(2, 7)])
def test_random_matches_of_presets_verify(preset: str, players: int) -> None:
    rng = random.Random(players)
    for policy in POLICIES:
        match = random_match(rng, PRESETS[preset], players)
        play_random(match, rng, policy)
        verify_record(json.loads(json.dumps(match.record())))


def test_random_matches_reach_every_event() -> None:
    """So that comparing an engine with the oracle on such matches compares everything."""
    seen: set[tuple[object, ...]] = set()
    for record in random_records(3, 250):
        seen.add(("end", record["result"]["reason"]))
        for event in (event for deal in record["deals"] for event in deal["events"]):
            match event[0]:
                case "score":
                    seen.add(("score", event[3], event[2] > 0))
                case "announce" | "four" | "chicago" | "open":
                    seen.add((event[0], event[-1]))
                case kind:
                    seen.add((kind,))
    expected: set[tuple[object, ...]] = {("end", reason) for reason in ("target", "instant", "truncated")}
    expected |= {("score", "hand", True), ("score", "last_trick", True), ("score", "breaker", True)}
    expected |= {("score", "chicago", True), ("score", "chicago", False)}
    expected |= {("announce", category) for category in range(10)}
    expected |= {("four", "points"), ("four", "reset")}
    expected |= {(kind, flag) for kind in ("chicago", "open") for flag in (True, False)}
    expected |= {(kind,) for kind in ("exchange", "reshuffle", "penalty", "show", "reset", "play", "trick")}
    assert expected <= seen


def test_random_rules_are_valid_and_differ_in_every_field() -> None:
    rng = random.Random(2)
    drawn = [random_rules(rng) for _ in range(300)]
    for rules in drawn:
        check_rules(rules)
        assert list(rules) == list(FIELDS)
    for field in FIELDS:
        assert len({json.dumps(rules[field]) for rules in drawn}) > 1, field


def test_every_variant_changes_a_preset_or_is_its_default() -> None:
    keys = {key for key, _, _ in VARIANTS}
    for key in keys:
        changed = {json.dumps(rules_with("family", change)) for k, _, change in VARIANTS if k == key}
        assert len(changed) == len([0 for k, _, _ in VARIANTS if k == key])
    assert len({name for name, _ in named_rules()}) == 4 * (1 + len(VARIANTS))


@pytest.mark.parametrize("kind", KINDS)
def test_arranged_decks_are_decks(kind: str) -> None:
    rng = random.Random(1)
    for players in range(2, 7):
        for _ in range(20):
            assert sorted(arranged_deck(rng, kind, players)) == list(range(52))


def test_cards_can_be_drawn_by_seat() -> None:
    """With draw_of, cards drawn depend on the seat and not on what others discard; the record is in the order drawn."""
    asked = []

    def draw_of(deal: int, seat: int, k: int) -> int:
        asked.append((deal, seat, k))
        return 51 - (10 * seat + k)

    match = OracleMatch(PRESETS["pagat"], 2, deck_of=lambda deal: list(range(52)), draw_of=draw_of, max_deals=1)
    for action in (3, 1, 1, 0):  # exchanges of seats 1 and 0
        while match.phase != "exchange":
            match.step(32)
        match.step(action)
    assert asked == [(0, 1, 0), (0, 1, 1), (0, 0, 0), (0, 1, 2)]
    rng = random.Random(4)
    while not match.over:
        match.step(0 if match.phase == "exchange" else rng.choice(match.legal()))
    record = json.loads(json.dumps(match.record()))
    assert [CARD_OF[name] for name in record["deals"][0]["deck"][10:14]] == [41, 40, 51, 39]
    verify_record(record)


def test_draw_of_a_card_that_is_not_in_the_stock_is_refused() -> None:
    match = OracleMatch(PRESETS["pagat"], 2, deck_of=lambda deal: list(range(52)), draw_of=lambda deal, seat, k: 0)
    with pytest.raises(OracleError, match="not in the stock"):
        match.step(1)
