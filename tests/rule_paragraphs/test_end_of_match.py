"""docs/rules.md §4 and what §5 refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.drivers import Driver
from tests.oracle import OracleError
from tests.oracle.random_rules import PAGAT
from tests.rule_paragraphs.table import Deal

PLAIN: dict[str, Any] = {"exchanges": 1, "scored_exchanges": [False]}
ONCE: dict[str, Any] = {"exchanges": 1, "scored_exchanges": [True]}
HIGH = "AC KD QH JS 9C"  # wins every trick against LOW if its cards are led from the lowest up
LOW = "2C 4D 6H 8S TC"
PAIR = "2D 2H 4C 6C 8C"
FOUR = "3C 3D 3H 3S 5C"
WINNER = "AC KC QC AD AH"
BROKEN = "AC 2D 3D 4H 7H"
BREAKER = "KD KH 9S 8S 5C"


# end_of_deal


def test_end_of_deal_plays_the_deal_out(deal: Deal) -> None:
    table = deal([PAIR], scores=[51, 0], max_deals=5).until("announce").do("name", "pass")
    assert (table.scores, table.result) == ([52, 0], None)
    table.finish_deal()
    assert table.result == (0, "target")
    assert table.number_of_deals == 1


def test_end_of_deal_the_highest_of_those_at_target_wins(deal: Deal) -> None:
    table = deal([HIGH, LOW], scores=[53, 60], max_deals=5, **PLAIN).finish_deal()
    assert (table.scores, table.result) == ([58, 60], (1, "target"))


def test_end_of_deal_nobody_wins_below_target(deal: Deal) -> None:
    table = deal([HIGH, LOW], scores=[46, 51], max_deals=5, **PLAIN).finish_deal()
    assert (table.scores, table.result, table.number_of_deals) == ([51, 51], None, 2)


def test_end_of_deal_exactly_the_target_is_enough(deal: Deal) -> None:
    assert deal([HIGH, LOW], scores=[47, 51], max_deals=5, **PLAIN).finish_deal().result == (0, "target")


def test_end_of_deal_tied_highest_play_another_deal(deal: Deal) -> None:
    table = deal([HIGH, LOW], more_deals=[([LOW, HIGH], "")], scores=[52, 57], max_deals=5, **PLAIN).finish_deal()
    assert (table.scores, table.result, table.number_of_deals) == ([57, 57], None, 2)
    table.finish_deal()
    assert (table.scores, table.result, table.number_of_deals) == ([57, 62], (1, "target"), 2)


def test_end_of_deal_a_tie_below_the_highest_does_not_matter(deal: Deal) -> None:
    table = deal([HIGH, LOW], players=3, scores=[60, 53, 53], max_deals=5, **PLAIN).finish_deal()
    assert table.result == (0, "target")


# first_past


def test_first_past_wins_at_that_very_scoring_event(deal: Deal) -> None:
    table = deal([PAIR], finish="first_past", scores=[51, 0]).until("announce").do("name", "pass")
    assert (table.result, table.phase, table.scores) == ((0, "target"), "over", [52, 0])
    assert table.match.record()["deals"][0]["scores"] == [52, 0]


@pytest.mark.parametrize("finish", ["first_past", "end_of_deal"])
def test_nobody_wins_before_a_scoring_event(deal: Deal, finish: str) -> None:
    table = deal([LOW, HIGH], finish=finish, scores=[60, 70], **PLAIN).until("play")
    assert table.result is None


def test_first_past_of_several_standing_there_the_scorer_wins(deal: Deal) -> None:
    table = deal({1: PAIR}, players=3, finish="first_past", scores=[60, 55, 70]).until("announce")
    assert table.do("pass", "name", "pass").result == (1, "target")


def test_first_past_then_the_lowest_seat(deal: Deal) -> None:
    table = deal({0: PAIR}, players=3, finish="first_past", scores=[0, 60, 70]).until("announce")
    assert table.do("name", "pass", "pass").result == (1, "target")


def test_first_past_the_order_of_scoring_decides(deal: Deal) -> None:
    hands = [HIGH, PAIR]
    table = deal(hands, finish="first_past", scores=[47, 51], **PLAIN).finish_deal()
    assert (table.result, table.scores) == ((0, "target"), [52, 51])
    table = deal(hands, finish="first_past", scores=[47, 51], showdown_first=True, **PLAIN).finish_deal()
    assert (table.result, table.scores) == ((1, "target"), [47, 52])


def test_first_past_somebody_elses_penalty_is_a_scoring_event(deal: Deal) -> None:
    """A failed Chicago is a negative score: whoever stands at the target then has won."""
    table = deal([BROKEN, BREAKER], finish="first_past", scores=[15, 60], **PLAIN).until("chicago").do("chicago")
    assert table.plays("2D KD").result == (1, "target")
    assert table.scores == [0, 60]


def test_first_past_can_end_between_chicago_and_breaker(deal: Deal) -> None:
    table = deal([BROKEN, BREAKER], finish="first_past", scores=[70, 50], chicago_breaker_points=8, **PLAIN)
    table.until("chicago").do("chicago").plays("2D KD")
    assert (table.result, table.scores) == ((0, "target"), [55, 50])
    table = deal([BROKEN, BREAKER], finish="first_past", scores=[60, 50], chicago_breaker_points=8, **PLAIN)
    table.until("chicago").do("chicago").plays("2D KD")
    assert (table.result, table.scores) == ((1, "target"), [45, 58])


def test_first_past_ends_before_what_chicago_success_would_add(deal: Deal) -> None:
    table = deal([WINNER], finish="first_past", scores=[40, 0], chicago_success_scores=["last_trick"], **PLAIN)
    table.until("chicago").do("chicago").finish_deal()
    assert (table.result, table.scores) == ((0, "target"), [55, 0])


# win_needs_chicago


@pytest.mark.parametrize("needs", ["attempt", "success"])
@pytest.mark.parametrize("finish", ["first_past", "end_of_deal"])
def test_a_player_at_target_without_their_chicago_plays_on(deal: Deal, needs: str, finish: str) -> None:
    table = deal([PAIR, LOW], finish=finish, win_needs_chicago=needs, scores=[60, 0], max_deals=5).until("announce")
    table.do("name", "pass").finish_deal()
    assert (table.result, table.number_of_deals) == (None, 2)
    assert table.scores[0] > 60


@pytest.mark.parametrize(("needs", "result"), [("attempt", (0, "target")), ("success", None)])
def test_an_attempt_counts_from_the_call(deal: Deal, needs: str, result: object) -> None:
    """At the breaking trick the caller has called but made nothing."""
    table = deal([BROKEN, BREAKER], finish="first_past", win_needs_chicago=needs, scores=[80, 0], max_deals=5, **PLAIN)
    table.until("chicago").do("chicago")
    assert table.result is None
    table.plays("2D KD")
    assert (table.scores, table.result) == ([65, 0], result)


def test_success_counts_from_just_before_its_points(deal: Deal) -> None:
    table = deal([WINNER], finish="first_past", win_needs_chicago="success", scores=[37, 0], **PLAIN)
    table.until("chicago").do("chicago").finish_deal()
    assert (table.scores, table.result) == ([52, 0], (0, "target"))
    assert table.events("score") == [["score", 0, 15, "chicago"]]


def test_an_attempt_is_also_looked_at_with_a_success(deal: Deal) -> None:
    table = deal([WINNER], finish="first_past", win_needs_chicago="attempt", scores=[37, 0], **PLAIN)
    assert table.until("chicago").do("chicago").finish_deal().result == (0, "target")


@pytest.mark.parametrize("needs", ["attempt", "success"])
def test_a_chicago_of_an_earlier_deal_counts(deal: Deal, needs: str) -> None:
    first = [BROKEN, BREAKER] if needs == "attempt" else [WINNER, LOW.replace("TC", "TD")]
    start, after = ([30, 0], 15) if needs == "attempt" else ([-2, 0], 13)
    table = deal(
        first,
        more_deals=[([FOUR, LOW], "")],
        finish="first_past",
        target=20,
        win_needs_chicago=needs,
        chicago_threshold=None,
        chicago_success_scores=[],
        scores=start,
        scored_exchanges=[True],
        exchanges=1,
    )
    table.until("chicago").do("chicago").finish_deal()
    assert (table.number_of_deals, table.scores) == (2, [after, 0])
    table.until("announce", seat=0).do("name")
    assert (table.scores, table.result) == ([after + 7, 0], (0, "target"))


def test_another_players_chicago_does_not_help(deal: Deal) -> None:
    table = deal(
        [BROKEN, BREAKER], finish="first_past", win_needs_chicago="attempt", scores=[15, 60], max_deals=5, **PLAIN
    )
    table.until("chicago").do("chicago").plays("2D KD")
    assert (table.scores, table.result) == ([0, 60], None)


def test_end_of_deal_the_highest_of_the_eligible_wins(deal: Deal) -> None:
    table = deal([BROKEN, BREAKER], win_needs_chicago="attempt", scores=[80, 90], max_deals=5, **PLAIN)
    table.until("chicago").do("chicago").plays("2D KD")
    assert (table.scores, table.result) == ([65, 90], (0, "target"))


def test_end_of_deal_a_tie_with_a_player_who_is_not_eligible_is_none(deal: Deal) -> None:
    table = deal([BROKEN, BREAKER], win_needs_chicago="attempt", scores=[80, 65], max_deals=5, **PLAIN)
    table.until("chicago").do("chicago").plays("2D KD")
    assert (table.scores, table.result) == ([65, 65], (0, "target"))


# Below zero, truncation, what is refused


def test_scores_may_go_below_zero(deal: Deal) -> None:
    table = deal([BROKEN, BREAKER], chicago_threshold=None, max_deals=5, **PLAIN).until("chicago").do("chicago")
    assert table.plays("2D KD").scores == [-15, 0]


@pytest.mark.parametrize("max_deals", [1, 2, 3])
def test_a_match_that_has_not_ended_is_truncated(deal: Deal, max_deals: int) -> None:
    table = deal(max_deals=max_deals)
    for number in range(1, max_deals + 1):
        assert (table.result, table.number_of_deals) == (None, number)
        table.finish_deal()
    assert (table.result, table.phase, table.number_of_deals) == ((None, "truncated"), "over", max_deals)


def test_tied_at_target_after_the_last_deal_is_truncated(deal: Deal) -> None:
    table = deal([HIGH, LOW], scores=[52, 57], **PLAIN).finish_deal()
    assert (table.scores, table.result) == ([57, 57], (None, "truncated"))


def test_a_win_in_the_last_deal_is_a_win(deal: Deal) -> None:
    assert deal([HIGH, LOW], scores=[52, 0], **PLAIN).finish_deal().result == (0, "target")


def test_result_and_deals_hold_the_scores(deal: Deal) -> None:
    table = deal([HIGH, LOW], more_deals=[([HIGH, LOW], "")], scores=[1, 2], **PLAIN).finish_deal().finish_deal()
    record = table.match.record()
    assert [one["scores"] for one in record["deals"]] == [[6, 2], [11, 2]]
    assert record["result"] == {"scores": [11, 2], "winner": None, "reason": "truncated"}
    assert record["start_scores"] == [1, 2]


REFUSED: list[dict[str, Any]] = [
    {"target": 0},
    {"target": -1},
    {"finish": "someday"},
    {"exchanges": 4, "scored_exchanges": [True] * 4},
    {"exchanges": 0, "scored_exchanges": []},
    {"scored_exchanges": [True, True]},
    {"hand_points": [0] * 9},
    {"hand_points": [1] * 10},
    {"instant_win": [0]},
    {"instant_win": [10]},
    {"four_of_a_kind": "both"},
    {"suit_order": "HSD"},
    {"suit_order": "HSDD"},
    {"tie_reveal": "nothing"},
    {"chicago_success_scores": ["tricks"]},
    {"chicago_failure_scores": ["hands"]},
    {"buy_stop_penalty": 14},
    {"win_needs_chicago": "two"},
    {"win_needs_chicago": "attempt", "chicago": False},
    {"announcing": "sometimes"},
    {"jokers": 2},
]


@pytest.mark.parametrize("fields", REFUSED, ids=lambda fields: " ".join(f"{k}={v}" for k, v in fields.items()))
def test_rules_that_cannot_be_are_refused(driver: Driver, fields: dict[str, Any]) -> None:
    with pytest.raises((OracleError, ValueError)):
        driver.make({**PAGAT, **fields}, 2, [list(range(52))], [0, 0], 0, 1)


@pytest.mark.parametrize("players", [0, 1, 7])
def test_two_to_six_play(driver: Driver, players: int) -> None:
    with pytest.raises((OracleError, ValueError)):
        driver.make(PAGAT, players, [list(range(52))], [0] * players, 0, 1)
