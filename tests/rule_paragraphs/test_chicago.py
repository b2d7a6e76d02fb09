"""docs/rules.md §2.3 and what §2.4 and §2.5 say of Chicago."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.rule_paragraphs.table import Deal, Table

PLAIN: dict[str, Any] = {"exchanges": 1, "scored_exchanges": [False]}
WINNER = "AC KC QC AD AH"  # takes every trick when it leads; three aces
BROKEN = "AC 2D 3D 4H 7H"  # its two of diamonds, led first, loses
BREAKER = "KD KH 9S 8S 5C"


def asked(table: Table) -> list[int | None]:
    """The seats that are asked, all declining."""
    seats = []
    table.until("chicago")
    while table.phase == "chicago":
        assert table.legal == [48, 49]
        seats.append(table.seat)
        table.do("no chicago")
    assert table.events("chicago") == [["chicago", seat, False] for seat in seats]
    return seats


@pytest.mark.parametrize(
    ("threshold", "expected"), [(15, [1, 2]), (None, [0, 1, 2, 3]), (0, [0, 1, 2]), (30, [2]), (-5, [0, 1, 2, 3])]
)
def test_who_is_asked(deal: Deal, threshold: int | None, expected: list[int]) -> None:
    table = deal(players=4, scores=[14, 15, 30, -5], chicago_threshold=threshold, **PLAIN)
    assert asked(table) == expected


def test_nobody_is_asked_below_the_threshold(deal: Deal) -> None:
    assert deal(scores=[14, 14], **PLAIN).until("play").events("chicago") == []


def test_the_score_at_that_moment_counts(deal: Deal) -> None:
    table = deal(["2C 2D 6H 8S TC"], scores=[14, 0], exchanges=1, scored_exchanges=[True]).until("announce")
    assert asked(table.do("name", "pass")) == [0]
    table = deal(["2C 2D 6H 8S TC"], scores=[14, 0], exchanges=1, scored_exchanges=[True]).until("announce")
    assert table.do("pass", "pass").phase == "play"


def test_players_at_target_or_under_buy_stop_are_asked_too(deal: Deal) -> None:
    assert asked(deal(players=3, scores=[60, 46, 0], **PLAIN)) == [0, 1]


def test_asking_goes_from_forehand(deal: Deal) -> None:
    assert asked(deal(players=3, first_dealer=0, chicago_threshold=None, **PLAIN)) == [1, 2, 0]


def test_the_first_to_call_has_it_and_the_asking_ends(deal: Deal) -> None:
    table = deal(players=4, chicago_threshold=None, **PLAIN).until("chicago").do("no chicago", "chicago")
    assert table.events("chicago") == [["chicago", 0, False], ["chicago", 1, True]]
    assert table.phase == "play"


def test_asking_comes_after_the_last_announcing(deal: Deal) -> None:
    table = deal(preset="open-card", chicago_threshold=None).until("chicago")
    assert [event[0] for event in table.events()] == ["exchange", "exchange", "announce", "announce"] * 3


def test_without_chicago_nobody_is_asked(deal: Deal) -> None:
    table = deal(scores=[50, 50], chicago=False, **PLAIN).until("play")
    assert table.events("chicago") == []


def test_a_call_is_no_scoring_event(deal: Deal) -> None:
    table = deal(preset="race", scores=[60, 60], **PLAIN).until("chicago").do("no chicago", "chicago")
    assert (table.result, table.phase) == (None, "play")


# Who leads


@pytest.mark.parametrize(("caller_leads", "leader"), [(True, 2), (False, 0)])
def test_forehand_leads_or_the_caller(deal: Deal, caller_leads: bool, leader: int) -> None:
    table = deal(players=3, chicago_threshold=None, chicago_caller_leads=caller_leads, **PLAIN).until("chicago")
    table.do("no chicago", "no chicago", "chicago")
    assert (table.seat, table.phase) == (leader, "play")


def test_forehand_leads_when_nobody_called(deal: Deal) -> None:
    table = deal(players=3, first_dealer=0, chicago_caller_leads=True, **PLAIN).until("play")
    assert table.seat == 1


# Success


def called(deal: Deal, hands: Sequence[str], **fields: Any) -> Table:
    """Seat 0 has called and leads the first trick."""
    return deal(hands, chicago_threshold=None, **PLAIN, **fields).until("chicago").do("chicago")


@pytest.mark.parametrize("also", [[], ["last_trick"], ["hand"], ["last_trick", "hand"]])
def test_success_scores_chicago_and_what_the_rules_add(deal: Deal, also: list[str]) -> None:
    table = called(deal, [WINNER], chicago_success_scores=also, chicago_failure_scores=["last_trick", "hand"])
    scores = table.finish_deal().events("score", deal=0)
    points = {"last_trick": 5, "hand": 3}
    assert scores == [["score", 0, 15, "chicago"]] + [["score", 0, points[why], why] for why in also]


def test_success_may_be_worth_other_points(deal: Deal) -> None:
    table = called(deal, [WINNER], chicago_points=21, chicago_penalty=4, chicago_success_scores=[])
    assert table.finish_deal().events("score", deal=0) == [["score", 0, 21, "chicago"]]


def test_success_with_the_showdown_first(deal: Deal) -> None:
    table = called(deal, [WINNER], chicago_success_scores=["last_trick", "hand"], showdown_first=True)
    assert [event[3] for event in table.finish_deal().events("score", deal=0)] == ["chicago", "hand", "last_trick"]


def test_a_made_chicago_has_no_breaker(deal: Deal) -> None:
    table = called(deal, [WINNER], chicago_success_scores=[], chicago_breaker_points=8).finish_deal()
    assert table.events("score", deal=0) == [["score", 0, 15, "chicago"]]


# Failure


def test_a_failed_chicago_without_failure_scores_ends_the_deal_there_and_then(deal: Deal) -> None:
    table = called(deal, [BROKEN, BREAKER], chicago_failure_scores=[], max_deals=2)
    table.plays("AC 5C")
    assert table.number_of_deals == 1
    table.plays("2D KD")
    assert table.number_of_deals == 2
    assert table.events(deal=0)[-3:] == [["play", 1, "KD"], ["trick", 1], ["score", 0, -15, "chicago"]]
    assert table.scores == [-15, 0]
    assert table.match.record()["deals"][0]["scores"] == [-15, 0]


@pytest.mark.parametrize("also", [["last_trick"], ["hand"], ["last_trick", "hand"]])
def test_a_failed_chicago_with_failure_scores_is_played_on(deal: Deal, also: list[str]) -> None:
    table = called(deal, [BROKEN, BREAKER], chicago_success_scores=["last_trick", "hand"], chicago_failure_scores=also)
    table.plays("2D KD")
    assert table.events()[-2:] == [["trick", 1], ["score", 0, -15, "chicago"]]
    assert (table.seat, table.phase) == (1, "play")
    table.finish_deal()
    assert len(table.events("trick", deal=0)) == 5
    last = table.events("trick", deal=0)[-1][1]
    expected = {"last_trick": ["score", last, 5, "last_trick"], "hand": ["score", 1, 1, "hand"]}
    assert table.events("score", deal=0) == [["score", 0, -15, "chicago"]] + [expected[why] for why in also]


def test_a_failed_chicago_with_the_showdown_first(deal: Deal) -> None:
    both = ["last_trick", "hand"]
    table = called(deal, [BROKEN, BREAKER], chicago_failure_scores=both, showdown_first=True).finish_deal()
    assert [event[3] for event in table.events("score", deal=0)] == ["chicago", "hand", "last_trick"]


def test_a_chicago_can_fail_before_its_caller_plays_a_winner(deal: Deal) -> None:
    """The caller does not lead, and forehand wins the first trick."""
    table = deal([WINNER, BROKEN.replace("AC", "2C")], chicago_threshold=None, **PLAIN).until("chicago")
    table.do("no chicago", "chicago").plays("AC 2C")
    assert table.events("score", deal=0) == [["score", 1, -15, "chicago"]]


def test_a_chicago_can_fail_in_the_last_trick(deal: Deal) -> None:
    table = called(deal, ["AC AD AH AS 2D", "KD QH 9S 8S KC"], four_of_a_kind="points", max_deals=2)
    table.plays("AC KC AH QH AS 8S AD KD")
    assert table.events("score") == []
    table.plays("2D 9S")
    assert table.events("score", deal=0)[0] == ["score", 0, 15, "chicago"]  # no diamond against it: it was made
    table = called(deal, ["AC AD AH AS 2D", "KD QH 9S 3D KC"], four_of_a_kind="points", max_deals=2)
    table.plays("AC KC AH QH AS 9S AD KD 2D 3D")
    assert table.events("score", deal=0) == [["score", 0, -15, "chicago"]]


@pytest.mark.parametrize("points", [0, 8])
def test_breaker_points(deal: Deal, points: int) -> None:
    table = called(deal, [BROKEN, BREAKER], chicago_breaker_points=points, max_deals=2).plays("2D KD")
    expected = [["trick", 1], ["score", 0, -15, "chicago"], ["score", 1, 8, "breaker"]]
    assert table.events("trick", "score", deal=0) == expected[: 3 if points else 2]


def test_breaker_is_who_won_the_breaking_trick_and_only_once(deal: Deal) -> None:
    hands = ["5C 2D 3D 4H 7H", "6C KH 9S 8S 5D", "9C AC TS JH 6D"]
    table = called(deal, hands, players=3, chicago_breaker_points=8, chicago_failure_scores=["last_trick"])
    table.plays("5C 6C 9C")
    assert table.events("score") == [["score", 0, -15, "chicago"], ["score", 2, 8, "breaker"]]
    table.finish_deal()
    assert [event[3] for event in table.events("score", deal=0)] == ["chicago", "breaker", "last_trick"]


def test_penalty_may_be_other_points(deal: Deal) -> None:
    table = called(deal, [BROKEN, BREAKER], chicago_penalty=7, chicago_points=21, max_deals=2).plays("2D KD")
    assert table.scores == [-7, 0]
