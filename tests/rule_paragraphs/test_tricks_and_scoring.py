"""docs/rules.md §2.4, §2.5 and §3: tricks, and what a hand is worth."""

from __future__ import annotations

from typing import Any

import pytest

from tests.drivers import Event
from tests.oracle.cards import TEXT
from tests.rule_paragraphs.table import Deal, Table

PLAIN: dict[str, Any] = {"exchanges": 1, "scored_exchanges": [False]}
ONCE: dict[str, Any] = {"exchanges": 1, "scored_exchanges": [True]}
HIGH = "AC KD QH JS 9C"  # wins every trick against LOW if its cards are led from the lowest up
LOW = "2C 4D 6H 8S TC"
FOUR = "3C 3D 3H 3S 5C"
ROYAL = "TC JC QC KC AC"


def playable(table: Table) -> set[str]:
    return {TEXT[action - 50] for action in table.legal}


# Tricks


def test_suit_must_be_followed_by_whoever_can(deal: Deal) -> None:
    table = deal(["AC KD 5H 6S 7C", "2C 3D 9H TS JS"], **PLAIN).until("play")
    assert playable(table) == {"AC", "KD", "5H", "6S", "7C"}
    assert playable(table.plays("AC")) == {"2C"}
    assert playable(table.plays("2C 6S")) == {"TS", "JS"}


def test_whoever_cannot_follow_plays_any_card(deal: Deal) -> None:
    table = deal(["AC KD 5H 6S 7C", "2D 3D 9H TS JS"], **PLAIN).until("play").plays("AC")
    assert playable(table) == {"2D", "3D", "9H", "TS", "JS"}


def test_the_highest_card_of_the_suit_led_wins_and_leads_next(deal: Deal) -> None:
    table = deal(["5C 2D 3D 4H 7H", "AS KS QS JH 9D", "9C 6D TD 8H QH"], players=3, **PLAIN).until("play")
    assert [table.seat, table.plays("5C").seat, table.plays("AS").seat] == [0, 1, 2]
    table.plays("9C")
    assert table.events("trick") == [["trick", 2]]
    assert table.seat == 2
    table.plays("TD 2D 9D")
    assert table.events("trick") == [["trick", 2], ["trick", 2]]


def test_there_are_five_tricks(deal: Deal) -> None:
    table = deal(players=4, **PLAIN).finish_deal()
    assert len(table.events("trick", deal=0)) == 5
    assert len(table.events("play", deal=0)) == 20


# Scoring after the tricks


@pytest.mark.parametrize("showdown_first", [False, True])
def test_order_of_last_trick_and_showdown(deal: Deal, showdown_first: bool) -> None:
    table = deal([HIGH, "2D 2H 4C 6C 8C"], showdown_first=showdown_first, **PLAIN).finish_deal()
    scores: list[Event] = [["score", 0, 5, "last_trick"], ["score", 1, 1, "hand"]]
    assert table.events("score", deal=0) == (scores[::-1] if showdown_first else scores)


def test_last_trick_points(deal: Deal) -> None:
    table = deal([HIGH, LOW], last_trick_points=3, **PLAIN).finish_deal()
    assert table.events("score", deal=0) == [["score", 0, 3, "last_trick"]]


@pytest.mark.parametrize(("doubles", "points"), [(True, 10), (False, 5)])
def test_last_trick_won_with_a_two(deal: Deal, doubles: bool, points: int) -> None:
    table = deal(["AD AH AS KS 2C", "3D 3H 4S 5S 6H"], last_trick_two_doubles=doubles, **PLAIN).until("play")
    table.plays("AD 3D AH 3H AS 4S KS 5S 2C 6H")
    assert table.events("score", deal=0)[0] == ["score", 0, points, "last_trick"]


def test_a_two_that_does_not_win_the_last_trick_doubles_nothing(deal: Deal) -> None:
    table = deal(["AD AH AS KS 3C", "4D 4H 4S 5S 2C"], last_trick_two_doubles=True, **PLAIN).until("play")
    table.plays("AD 4D AH 4H AS 4S KS 5S 3C 2C")
    assert table.events("score", deal=0)[0] == ["score", 0, 5, "last_trick"]
    table = deal(["2D AH AS KS 3C", "4H 4S 5S 6S 7H"], last_trick_two_doubles=True, **PLAIN).until("play")
    table.plays("2D 7H AH 4H AS 4S KS 5S 3C 6S")  # a two that wins an earlier trick
    assert table.events("score", deal=0)[0] == ["score", 0, 5, "last_trick"]


def test_the_showdown_is_between_all_players_announced_or_not(deal: Deal) -> None:
    table = deal(["2D 2H 4C 6C 8C", "3D 3H 5C 5H 9C", LOW.replace("2C", "KC")], players=3, **ONCE).until("announce")
    table.do("name", "pass", "pass").finish_deal()
    assert [event for event in table.events("score", deal=0) if event[3] == "hand"] == [
        ["score", 0, 1, "hand"],
        ["score", 1, 2, "hand"],
    ]


def test_the_showdown_is_of_the_hands_after_the_last_exchange(deal: Deal) -> None:
    table = deal([HIGH, LOW], stock="AD", **PLAIN).do("discard KD").finish_deal()
    assert table.events("score", deal=0)[-1] == ["score", 0, 1, "hand"]


def test_a_best_hand_without_a_pair_scores_nothing(deal: Deal) -> None:
    table = deal([HIGH, LOW], **PLAIN).finish_deal()
    assert table.events("score", deal=0) == [["score", 0, 5, "last_trick"]]
    table = deal([HIGH, LOW], suit_order="CDHS", **PLAIN).finish_deal()
    assert table.events("score", deal=0) == [["score", 0, 5, "last_trick"]]


def test_a_tied_showdown_scores_nothing(deal: Deal) -> None:
    hands = ["3C 3D 6H 8S TC", "3H 3S 6C 8D TD"]
    why = [event[3] for event in deal(hands, **PLAIN).finish_deal().events("score", deal=0)]
    assert why == ["last_trick"]
    with_suits = deal(hands, suit_order="HSDC", **PLAIN).finish_deal().events("score", deal=0)
    assert with_suits[-1] == ["score", 1, 1, "hand"]


def test_a_tie_below_the_best_hand_does_not_matter_in_the_showdown(deal: Deal) -> None:
    hands = ["3C 3D 6H 8S TC", "3H 3S 6C 8D TD", "4C 4D 6S 8H TH"]
    scores = deal(hands, players=3, **PLAIN).finish_deal().events("score", deal=0)
    assert scores[-1] == ["score", 2, 1, "hand"]


# What a hand is worth

HANDS = [
    "2C 2D 6H 8S TC",
    "2C 2D 6H 6S TC",
    "2C 2D 2H 8S TC",
    "9C 8D TH JS QC",
    "2C 4C 6C 8C AC",
    "2C 2D 2H 8S 8C",
    FOUR,
    "9C 8C TC JC QC",
    ROYAL,
]
POINTS = {
    "pagat": [1, 2, 3, 4, 5, 6, 7, 8, 52],
    "open-card": [1, 2, 3, 4, 5, 6, 8, 9, 10],
    "race": [1, 2, 3, 4, 5, 6, 7, 8, 52],
    "family": [1, 2, 3, 4, 5, 6, 8, 9, 10],
}


@pytest.mark.parametrize("preset", POINTS)
@pytest.mark.parametrize("category", range(1, 10))
def test_points_of_the_presets(deal: Deal, preset: str, category: int) -> None:
    table = deal([HANDS[category - 1]], preset=preset, players=3).until("announce").do("name", "pass", "pass")
    assert table.events("score") == [["score", 0, POINTS[preset][category - 1], "hand"]]
    resets = category in (7, 9) and preset in ("open-card", "family")
    assert table.events("reset") == ([["reset", 0]] if resets else [])
    wins = category == 9 and preset in ("pagat", "race")
    assert table.result == ((0, "instant") if wins else None)


def test_a_hand_worth_nothing_scores_an_event(deal: Deal) -> None:
    table = deal([HANDS[0]], hand_points=[0] * 10, **ONCE).until("announce").do("name", "pass")
    assert table.events("score") == [["score", 0, 0, "hand"]]


# Resets


def test_four_of_a_kind_for_points_only(deal: Deal) -> None:
    table = deal([FOUR], scores=[10, 20], four_of_a_kind="points").until("announce").do("name", "pass")
    assert (table.scores, table.events("reset", "four")) == ([17, 20], [])


def test_four_of_a_kind_resets_every_opponent_also_from_below_zero(deal: Deal) -> None:
    table = deal({1: FOUR}, players=4, scores=[10, 20, -7, 3], four_of_a_kind="reset").until("announce", seat=1)
    table.do("name", "pass", "pass")
    assert table.events("score", "reset") == [["score", 1, 7, "hand"], ["reset", 1]]
    assert table.scores == [0, 27, 0, 0]


def test_an_owner_below_zero_keeps_their_score_at_a_reset(deal: Deal) -> None:
    table = deal([FOUR], scores=[-20, 20], four_of_a_kind="reset").until("announce").do("name", "pass")
    assert table.scores == [-13, 0]


def test_four_of_a_kind_in_the_showdown_resets_too(deal: Deal) -> None:
    table = deal([FOUR, LOW], scores=[10, 20], four_of_a_kind="reset", **PLAIN).finish_deal()
    assert table.events(deal=0)[-2:] == [["score", 0, 7, "hand"], ["reset", 0]]
    assert table.scores[1] == 0


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("choice", ["points", "reset"])
def test_owner_chooses_points_or_the_reset_without_points(deal: Deal, announced: bool, choice: str) -> None:
    hands = [LOW, FOUR.replace("5C", "5D")]
    table = deal(hands, scores=[10, 20], four_of_a_kind="choose", **(ONCE if announced else PLAIN))
    if announced:
        table.until("announce", seat=1).do("name")
    table.until("four")
    assert (table.seat, table.legal) == (1, [46, 47])
    table.do(choice)
    if choice == "points":
        expected: list[Event] = [["four", 1, "points"], ["score", 1, 7, "hand"]]
    else:
        expected = [["four", 1, "reset"], ["reset", 1]]
    assert table.events(deal=0)[-2:] == expected


def test_only_four_of_a_kind_is_chosen_or_resets(deal: Deal) -> None:
    for what in ("reset", "choose"):
        table = deal([HANDS[7]], four_of_a_kind=what, **ONCE).until("announce").do("name", "pass")
        assert table.events("four", "reset") == []
        assert table.scores == [8, 0]


@pytest.mark.parametrize("resets", [True, False])
def test_royal_resets(deal: Deal, resets: bool) -> None:
    table = deal([ROYAL], scores=[1, 20], royal_resets=resets, instant_win=[], target=100).until("announce")
    table.do("name", "pass")
    assert table.scores == [53, 0 if resets else 20]
    assert table.events("reset") == ([["reset", 0]] if resets else [])


def test_royal_resets_leaves_four_of_a_kind_alone(deal: Deal) -> None:
    table = deal([FOUR], scores=[0, 20], royal_resets=True, four_of_a_kind="points").until("announce")
    assert table.do("name", "pass").scores == [7, 20]


# Instant win


@pytest.mark.parametrize("finish", ["end_of_deal", "first_past"])
def test_a_category_in_instant_win_wins_at_once(deal: Deal, finish: str) -> None:
    table = deal([LOW, HANDS[4].replace("2C", "3C")], instant_win=[5, 9], finish=finish).until("announce")
    table.do("pass", "name")
    assert table.result == (1, "instant")
    assert (table.phase, table.seat, table.scores) == ("over", None, [0, 5])
    assert table.events()[-1] == ["score", 1, 5, "hand"]


def test_an_instant_win_in_the_showdown(deal: Deal) -> None:
    table = deal([ROYAL, LOW.replace("2C", "2D").replace("TC", "TD")], **PLAIN).finish_deal()
    assert table.result == (0, "instant")


def test_other_categories_do_not_win(deal: Deal) -> None:
    table = deal([HANDS[5]], instant_win=[5, 9]).until("announce").do("name", "pass")
    assert table.result is None


def test_a_tied_hand_wins_nothing(deal: Deal) -> None:
    table = deal(["3C 3D 6H 8S TC", "3H 3S 6C 8D TD"], instant_win=[1], **ONCE).until("announce").do("name", "name")
    assert table.result is None
    table.finish_deal()
    assert table.result == (None, "truncated")


def test_a_reset_is_carried_out_and_recorded_when_the_match_ends(deal: Deal) -> None:
    table = deal([ROYAL], scores=[1, 20], royal_resets=True, instant_win=[9]).until("announce").do("name", "pass")
    assert table.events()[-2:] == [["score", 0, 52, "hand"], ["reset", 0]]
    assert (table.result, table.scores) == ((0, "instant"), [53, 0])
    table = deal([FOUR], scores=[50, 51], preset="family").until("announce").do("name", "pass")
    assert table.events()[-2:] == [["score", 0, 8, "hand"], ["reset", 0]]
    assert (table.result, table.scores) == ((0, "target"), [58, 0])


def test_instant_comes_before_target(deal: Deal) -> None:
    table = deal({1: ROYAL}, players=2, preset="race", scores=[60, 30]).until("announce").do("pass", "name")
    assert table.result == (1, "instant")


def test_an_instant_win_overrides_win_needs_chicago(deal: Deal) -> None:
    table = deal([ROYAL], win_needs_chicago="success").until("announce").do("name", "pass")
    assert table.result == (0, "instant")


def test_taking_the_reset_forgoes_an_instant_win(deal: Deal) -> None:
    table = deal([FOUR], four_of_a_kind="choose", instant_win=[7]).until("announce").do("name", "pass", "reset")
    assert table.result is None
    table = deal([FOUR], four_of_a_kind="choose", instant_win=[7]).until("announce").do("name", "pass", "points")
    assert table.result == (0, "instant")


def test_a_chosen_reset_is_a_scoring_event(deal: Deal) -> None:
    table = deal([FOUR], preset="race", scores=[60, 60], four_of_a_kind="choose").until("announce")
    table.do("name", "pass")
    assert table.result is None
    assert table.do("reset").result == (0, "target")
    assert table.events()[-2:] == [["four", 0, "reset"], ["reset", 0]]
