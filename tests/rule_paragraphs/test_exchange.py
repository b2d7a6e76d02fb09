"""docs/rules.md §2.1: the exchanges."""

from __future__ import annotations

import pytest

from tests.rule_paragraphs.table import Deal, cards, shown

NOTHING = "2C 4D 6H 8S TC"
OTHER = "2D 4H 6S 8C TD"


def test_each_player_in_turn_from_forehand_discards_any_number_of_cards(deal: Deal) -> None:
    table = deal(players=4, exchanges=1, scored_exchanges=[False])
    for seat in range(4):
        assert (table.seat, table.phase, table.legal) == (seat, "exchange", list(range(32)))
        table.do("keep")
    assert table.events() == [["exchange", seat, [], []] for seat in range(4)]


def test_cards_are_drawn_from_the_top_of_the_stock_as_many_as_discarded(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], stock="AS KS QS JS TS AH KH")
    table.do("discard 2C 4D TC 6H 8S", "discard 4H 8C")
    first, second = table.events()
    assert (sorted(first[2]), first[3]) == (["2C", "4D", "6H", "8S", "TC"], ["AS", "KS", "QS", "JS", "TS"])
    assert (sorted(second[2]), second[3]) == (["4H", "8C"], ["AH", "KH"])


def test_discards_are_chosen_by_place_in_the_sorted_hand(deal: Deal) -> None:
    table = deal(["TC 2C 8S 6H 4D", OTHER])
    table.match.step(0b10110)
    assert sorted(table.events()[0][2]) == ["4D", "6H", "TC"]


@pytest.mark.parametrize("exchanges", [1, 2, 3])
def test_number_of_exchanges(deal: Deal, exchanges: int) -> None:
    table = deal(players=3, exchanges=exchanges, scored_exchanges=[True] * exchanges).until("play")
    assert len(table.events("exchange")) == 3 * exchanges
    assert len(table.events("announce")) == 3 * exchanges


def test_a_new_deal_begins_with_all_52_cards(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], more_deals=[([NOTHING, OTHER], "AS KS")]).finish_deal()
    assert table.seat == 1
    assert table.do("discard 4H").events() == [["exchange", 1, ["4H"], ["AS"]]]


# Buy stop


@pytest.mark.parametrize(("score", "stopped"), [(45, False), (46, True), (60, True)])
def test_buy_stop_leaves_only_keeping(deal: Deal, score: int, stopped: bool) -> None:
    table = deal(scores=[score, 0], target=100)
    assert table.legal == ([0] if stopped else list(range(32)))
    table.do("keep")
    assert table.legal == list(range(32))


def test_no_buy_stop_stops_nobody(deal: Deal) -> None:
    assert deal(scores=[999, 0], target=1000, buy_stop=None).legal == list(range(32))


def test_buy_stop_counts_the_score_when_the_deal_began(deal: Deal) -> None:
    table = deal(["2C 2D 6H 8S TC"], scores=[45, 0]).until("announce").do("name", "pass")
    assert table.scores == [46, 0]
    assert (table.seat, table.legal) == (0, list(range(32)))


def test_buy_stop_stays_for_the_deal_when_the_score_falls(deal: Deal) -> None:
    table = deal([NOTHING, "3C 3D 3H 3S 5C"], scores=[46, 0], four_of_a_kind="reset")
    table.until("announce").do("pass", "name")
    assert table.scores == [0, 7]
    assert (table.seat, table.legal) == (0, [0])


@pytest.mark.parametrize("permanent", [False, True])
def test_buy_stop_permanent_outlasts_a_fall_of_the_score(deal: Deal, permanent: bool) -> None:
    table = deal(
        [NOTHING, "3C 3D 3H 3S 5C"],
        more_deals=[((), "")],
        scores=[46, 0],
        four_of_a_kind="reset",
        buy_stop_permanent=permanent,
    )
    table.until("announce").do("pass", "name").finish_deal().until("exchange", seat=0)
    assert table.scores[0] < 46
    assert table.legal == ([0] if permanent else list(range(32)))


def test_permanent_buy_stop_needs_the_score_at_the_beginning_of_a_deal(deal: Deal) -> None:
    """Reaching it in the middle of a deal and falling again before the next leaves a player free."""
    pair_four = ["2C 2D 6H 8S TC", "3C 3D 3H 3S 5C"]
    table = deal(pair_four, more_deals=[((), "")], scores=[45, 0], four_of_a_kind="reset", buy_stop_permanent=True)
    table.until("announce").do("name", "pass")
    assert table.scores == [46, 0]
    table.until("announce").do("pass", "name")
    assert table.scores == [0, 7]
    table.finish_deal().until("exchange", seat=0)
    assert table.legal == list(range(32))


# Buy stop with a penalty


def test_penalty_is_paid_at_every_exchange_with_discards_even_if_the_score_has_fallen(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], stock="AS KS QS", scores=[46, 0], buy_stop_penalty=15)
    assert table.legal == list(range(32))
    table.do("discard 2C")
    assert table.scores == [31, 0]
    assert table.events() == [["penalty", 0, -15], ["exchange", 0, ["2C"], ["AS"]]]
    table.until("exchange", seat=0).do("keep")
    assert table.scores == [31, 0]
    table.until("exchange", seat=0).do("discard 4D 6H")
    assert table.scores == [16, 0]
    assert table.events("penalty") == [["penalty", 0, -15]] * 2


def test_penalty_is_for_players_under_buy_stop_only(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], scores=[45, 46], buy_stop_penalty=15).do("discard 2C", "discard 2D")
    assert table.events("penalty") == [["penalty", 1, -15]]


def test_penalty_of_all_points_and_of_none_when_there_are_none(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], scores=[50, 0], buy_stop_penalty="all").do("discard 2C", "keep")
    assert table.scores == [0, 0]
    table.until("exchange", seat=0).do("discard 4D")
    assert table.events("penalty") == [["penalty", 0, -50], ["penalty", 0, 0]]


def test_penalty_of_all_points_leaves_a_score_below_zero(deal: Deal) -> None:
    """A player under permanent buy stop can stand below zero, after a Chicago that failed."""
    hands = ["AS KS 2S 3D 4H", "KC QC AD KD AH"]
    table = deal(
        hands,
        more_deals=[((), "")],
        scores=[46, 0],
        buy_stop_permanent=True,
        buy_stop_penalty="all",
        chicago_penalty=50,
    )
    table.until("chicago", seat=0).do("chicago").finish_deal()
    assert table.scores == [-4, 0]
    table.until("exchange", seat=0).match.step(1)
    assert table.events("penalty") == [["penalty", 0, 0]]
    assert table.scores == [-4, 0]


def test_penalty_is_no_scoring_event(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], preset="race", scores=[0, 60], buy_stop_penalty=15).do("keep", "discard 2D")
    assert table.scores == [0, 45]
    table = deal([NOTHING, OTHER], preset="race", scores=[60, 60], buy_stop_penalty=15).do("discard 2C")
    assert table.result is None


# Open card


@pytest.mark.parametrize(("discards", "asked"), [("2C", True), ("2C 4D", False)])
def test_open_card_is_offered_for_exactly_one_discard(deal: Deal, discards: str, asked: bool) -> None:
    table = deal([NOTHING, OTHER], open_card=True).do(f"discard {discards}")
    assert table.phase == ("one card" if asked else "exchange")
    assert table.seat == (0 if asked else 1)
    assert table.legal == ([42, 43] if asked else list(range(32)))
    assert deal([NOTHING, OTHER], open_card=True).do("keep").seat == 1


def test_without_open_card_nothing_is_asked(deal: Deal) -> None:
    assert deal([NOTHING, OTHER], open_card=False).do("discard 2C").seat == 1


def test_closed_draws_as_usual(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], stock="AS KS", open_card=True).do("discard 2C", "closed")
    assert table.events() == [["exchange", 0, ["2C"], ["AS"]]]
    assert table.seat == 1


def test_face_up_card_accepted(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], stock="AS KS", open_card=True).do("discard 2C", "open")
    assert (table.seat, table.phase, table.legal) == (0, "face up", [44, 45])
    table.do("accept")
    assert table.events() == [["open", 0, "AS", True], ["exchange", 0, ["2C"], ["AS"]]]
    assert sorted(table.hand(0)) == cards("4D 6H 8S TC AS")


def test_face_up_card_declined_takes_the_next_unseen(deal: Deal) -> None:
    table = deal([NOTHING, OTHER], stock="AS KS QS", open_card=True).do("discard 2C", "open", "decline")
    assert table.events() == [["open", 0, "AS", False], ["exchange", 0, ["2C"], ["KS"]]]
    assert table.do("discard 2D", "closed").events()[-1] == ["exchange", 1, ["2D"], ["QS"]]


# Empty stock


def discard(number: int) -> int:
    """The action that discards so many cards."""
    return (1 << number) - 1


def test_empty_stock_is_made_of_the_discards_of_earlier_turns(deal: Deal) -> None:
    """Six players leave 22 cards: the last player draws one of three from the old stock."""
    table = deal(players=6)
    for number in (5, 5, 5, 5, 1):
        table.match.step(discard(number))
    before = sorted(card for event in table.events("exchange") for card in event[2])
    last = table.match.record()["deals"][0]["deck"][51]
    table.match.step(discard(3))
    reshuffle, exchange = table.events()[-2:]
    assert reshuffle[0] == "reshuffle"
    assert sorted(reshuffle[1]) == before
    assert exchange[3] == [last, *reshuffle[1][:2]]


def test_stock_is_made_anew_only_when_a_card_must_be_drawn(deal: Deal) -> None:
    table = deal(players=6)
    for number in (5, 5, 5, 5, 2):
        table.match.step(discard(number))
    assert table.events("reshuffle") == []
    table.do("keep")
    assert table.events("reshuffle") == []
    while table.phase == "announce":
        table.do("pass")
    before = sorted(card for event in table.events("exchange") for card in event[2])
    table.match.step(discard(1))
    assert [event[0] for event in table.events()[-2:]] == ["reshuffle", "exchange"]
    assert sorted(table.events("reshuffle")[0][1]) == before


def test_a_second_reshuffle_takes_the_discards_since_the_first(deal: Deal) -> None:
    table = deal(players=6)
    since: list[str] = []
    reshuffles = 0
    while table.phase in ("exchange", "announce"):
        if table.phase == "announce":
            table.do("pass")
            continue
        table.match.step(discard(5))
        if len(table.events("reshuffle")) > reshuffles:
            reshuffles += 1
            assert sorted(table.events("reshuffle")[-1][1]) == sorted(since)
            since = []
        since += table.events("exchange")[-1][2]
    assert reshuffles >= 3


@pytest.mark.parametrize(("players", "reshuffled"), [(2, False), (3, True)])
def test_the_stock_can_run_out_from_three_players_up(deal: Deal, players: int, reshuffled: bool) -> None:
    table = deal(players=players)
    while table.phase in ("exchange", "announce"):
        table.match.step(discard(5) if table.phase == "exchange" else 32)
    assert bool(table.events("reshuffle")) == reshuffled


def test_open_or_closed_is_chosen_before_the_reshuffle(deal: Deal) -> None:
    table = deal(players=6, open_card=True)
    for number in (5, 5, 5, 5, 2):
        table.match.step(discard(number))
    table.match.step(discard(1))
    assert table.phase == "one card"
    assert table.events("reshuffle") == []
    table.do("open").do("accept")
    reshuffle, opened, exchange = table.events()[-3:]
    assert [reshuffle[0], opened, exchange[3]] == ["reshuffle", ["open", 5, reshuffle[1][0], True], [reshuffle[1][0]]]


def test_declined_card_joins_the_discards_only_when_the_turn_ends(deal: Deal) -> None:
    """The last card of the stock is turned up and declined: the reshuffle that follows lacks it, the next has it."""
    table = deal(players=6, open_card=True)
    for number in (5, 5, 5, 5, 1):
        table.match.step(discard(number))
    table.do("closed")
    before = sorted(card for event in table.events("exchange") for card in event[2])
    last = table.match.record()["deals"][0]["deck"][51]
    table.match.step(discard(1))
    table.do("open", "decline")
    opened, reshuffle, exchange = table.events()[-3:]
    assert opened == ["open", 5, last, False]
    assert sorted(reshuffle[1]) == before
    assert exchange[3] == [reshuffle[1][0]]
    while len(table.events("reshuffle")) < 2:
        table.match.step(discard(5) if table.phase == "exchange" else 32)
    assert last in table.events("reshuffle")[1][1]
    assert exchange[2][0] in table.events("reshuffle")[1][1]


# Broken hand


GROUPS = [
    ("2C 2D 6H 8S TC", "2C 2D", "2D"),
    ("2C 2D 6H 6S TC", "2C 2D 6H 6S", "6H"),
    ("2C 2D 2H 8S TC", "2C 2D 2H", "2C"),
    ("9C 8D TH JS QC", "9C 8D TH JS QC", "8D"),
    ("2C 4C 6C 8C AC", "2C 4C 6C 8C AC", "AC"),
    ("2C 2D 2H 8S 8C", "2C 2D 2H 8S 8C", "8S"),
    ("2C 2D 2H 2S 8C", "2C 2D 2H 2S", "2S"),
    ("9C 8C TC JC QC", "9C 8C TC JC QC", "QC"),
    ("TC JC QC KC AC", "TC JC QC KC AC", "TC"),
]


@pytest.mark.parametrize(("hand", "group", "broken"), GROUPS)
def test_broken_hand_shows_its_group(deal: Deal, hand: str, group: str, broken: str) -> None:
    table = deal([hand], show_broken_hand=True, instant_win=[]).until("announce").do("name", "pass")
    table.do(f"discard {broken}")
    assert table.events()[-2:-1] == [shown(0, group)]
    assert table.events()[-1][:3] == ["exchange", 0, [broken]]


@pytest.mark.parametrize(
    ("hand", "outside"),
    [(GROUPS[0][0], "6H 8S TC"), (GROUPS[1][0], "TC"), (GROUPS[2][0], "8S TC"), (GROUPS[6][0], "8C")],
)
def test_cards_outside_the_group_break_no_hand(deal: Deal, hand: str, outside: str) -> None:
    table = deal([hand], show_broken_hand=True).until("announce").do("name", "pass")
    assert table.do(f"discard {outside}").events("show") == []


def test_without_show_broken_hand_nothing_is_shown(deal: Deal) -> None:
    table = deal([GROUPS[0][0]], show_broken_hand=False).until("announce").do("name", "pass", "discard 2C")
    assert table.events("show") == []


def test_only_a_hand_that_scored_is_shown_when_broken(deal: Deal) -> None:
    hands = ["2C 2D 6H 8S TC", "3C 3D 6S 8C TD"]
    passed = deal(hands, show_broken_hand=True).until("announce").do("pass", "name", "discard 2C")
    assert passed.events("show") == []
    beaten = deal(hands, show_broken_hand=True, tie_reveal="ranks").until("announce").do("name", "name", "discard 2C")
    assert beaten.events("show") == []
    assert beaten.do("discard 3C").events("show") == [shown(1, "3C 3D")]
    tied = deal(["2C 2D 6H 8S TC", "2H 2S 6C 8D TD"], show_broken_hand=True, tie_reveal="ranks")
    assert tied.until("announce").do("name", "name", "discard 2C", "discard 2H").events("show") == []


def test_a_hand_scored_with_no_points_is_shown_too(deal: Deal) -> None:
    points = [0] * 10
    table = deal([GROUPS[0][0]], show_broken_hand=True, hand_points=points).until("announce").do("name", "pass")
    assert table.do("discard 2C").events("show") == [shown(0, "2C 2D")]


def test_choosing_the_reset_counts_as_scoring(deal: Deal) -> None:
    table = deal([GROUPS[6][0]], show_broken_hand=True, four_of_a_kind="choose").until("announce").do("name", "pass")
    assert table.do("reset", "discard 2C").events("show") == [shown(0, "2C 2D 2H 2S")]


def test_only_the_announcing_right_before_counts(deal: Deal) -> None:
    table = deal([GROUPS[0][0]], show_broken_hand=True, scored_exchanges=[True, False, True]).until("announce")
    table.do("name", "pass", "keep", "keep", "discard 2C")
    assert table.events("show") == []


def test_penalty_comes_before_the_broken_hand(deal: Deal) -> None:
    table = deal([GROUPS[0][0]], show_broken_hand=True, buy_stop_penalty=15, scores=[46, 0])
    table.until("announce").do("name", "pass", "discard 2C")
    assert [event[0] for event in table.events()[-3:]] == ["penalty", "show", "exchange"]
