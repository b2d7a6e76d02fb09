"""docs/rules.md §1 and the beginning of §2."""

from __future__ import annotations

import pytest

from tests.drivers import Driver
from tests.oracle.random_rules import PRESETS
from tests.rule_paragraphs.table import Deal, cards

CATEGORIES = [
    ("2C 4D 6H 8S TC", 0),
    ("QC KD AC 2D 3S", 0),  # a straight does not wrap
    ("2C 2D 6H 8S TC", 1),
    ("2C 2D 6H 6S TC", 2),
    ("2C 2D 2H 8S TC", 3),
    ("9C 8D TH JS QC", 4),
    ("AC 2D 3H 4S 5C", 4),  # the ace is low in this straight
    ("TC JD QH KS AC", 4),
    ("2C 4C 6C 8C AC", 5),
    ("2C 2D 2H 8S 8C", 6),
    ("2C 2D 2H 2S 8C", 7),
    ("9C 8C TC JC QC", 8),
    ("AC 2C 3C 4C 5C", 8),
    ("TC JC QC KC AC", 9),
]


@pytest.mark.parametrize(("hand", "category"), CATEGORIES)
def test_categories(deal: Deal, hand: str, category: int) -> None:
    table = deal([hand]).until("announce")
    assert table.legal == ([32] if category == 0 else [32, 32 + category])


BETTER_WORSE = [
    ("3C 3D 2C 4D 5H", "2H 2S AC KD QH"),  # the pair before the rest
    ("3C 3D AC 5D 2H", "3H 3S KC QD JH"),  # then the remaining cards from the top
    ("3C 3D AC 5D 4H", "3H 3S AD 5C 2H"),  # to the last one
    ("AC AD 2C 2D 3H", "KC KD QC QD JH"),  # the higher pair first
    ("KC KD 3C 3D 2S", "KH KS 2C 2D AH"),  # then the lower
    ("KC KD 3C 3D AS", "KH KS 3H 3S QH"),  # then the fifth card
    ("3C 3D 3H 4C 5D", "2C 2D 2H AC KD"),
    ("3C 4D 5H 6S 7C", "AC 2D 3H 4S 5C"),  # a straight with a low ace tops at five
    ("AC 3C 4C 5C 6C", "KD QD JD TD 8D"),
    ("3C 3D 3H 4C 4D", "2C 2D 2H AC AD"),  # the three decides a full house
    ("3C 3D 3H 3S 4D", "2C 2D 2H 2S AD"),
    ("2C 3C 4C 5C 6C", "AD 2D 3D 4D 5D"),
]


@pytest.mark.parametrize(("better", "worse"), BETTER_WORSE)
@pytest.mark.parametrize("better_first", [True, False])
def test_equal_categories_compare_rank_by_rank(deal: Deal, better: str, worse: str, better_first: bool) -> None:
    table = deal([better, worse] if better_first else [worse, better]).until("announce").do("name", "name")
    assert [event[1] for event in table.events("score")] == [0 if better_first else 1]


def test_suits_do_not_count_without_a_suit_order(deal: Deal) -> None:
    table = deal(["2H 2S AC KD QH", "2C 2D AH KS QC"]).until("announce").do("name", "name")
    assert table.events("score") == []


EXACT_TIES = [
    ("2H 2C AC KD QD", "2S 2D AS KS QS"),  # the pair: the best suit in it
    ("9H 9C 2S 2D 4C", "9S 9D 2C 2H 4S"),  # the higher pair of two
    ("5H AC 2D 3C 4D", "5S AS 2S 3S 4C"),  # the top card of a straight: here the five
    ("AH QH JH TH 8H", "AS QS JS TS 8S"),  # of a flush
    ("6H 5H 4H 3H 2H", "6S 5S 4S 3S 2S"),  # of a straight flush
]


@pytest.mark.parametrize(("better", "worse"), EXACT_TIES)
@pytest.mark.parametrize("better_first", [True, False])
def test_suit_order_breaks_exact_ties(deal: Deal, better: str, worse: str, better_first: bool) -> None:
    hands = [better, worse] if better_first else [worse, better]
    table = deal(hands, suit_order="HSDC").until("announce").do("name", "name")
    assert [event[1] for event in table.events("score")] == [0 if better_first else 1]
    table = deal(hands, suit_order="SHDC").until("announce").do("name", "name")
    assert [event[1] for event in table.events("score")] == [1 if better_first else 0]


def test_cards_are_dealt_one_at_a_time_from_the_dealers_left(driver: Driver) -> None:
    deck = [(7 * i) % 52 for i in range(52)]
    match = driver.make(PRESETS["pagat"], 3, [deck], [0, 0, 0], 1, 1)
    for seat in (2, 0, 1):
        assert match.to_act == seat
        match.step(31)
        place = (seat - 2) % 3
        discarded = match.record()["deals"][0]["events"][-1][2]
        assert sorted(cards(" ".join(discarded))) == sorted(deck[place:15:3])


def test_the_given_first_dealer_deals_and_the_next_deal_is_dealt_by_the_next_player(deal: Deal) -> None:
    table = deal(players=3, first_dealer=1, max_deals=4, scores=[0, 0, 0])
    dealers = []
    while table.phase != "over":
        dealers.append((table.match.record()["deals"][-1]["dealer"], table.seat))
        table.finish_deal()
    assert dealers == [(1, 2), (2, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize("players", range(2, 7))
def test_any_preset_may_be_played_by_two_to_six(driver: Driver, players: int) -> None:
    for rules in PRESETS.values():
        match = driver.make(rules, players, [list(range(52))], [0] * players, 0, 1)
        while match.to_act is not None:
            match.step(match.legal()[-1])
        assert len(match.record()["deals"]) == 1
        assert len(match.record()["result"]["scores"]) == players
