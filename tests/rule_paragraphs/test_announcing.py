"""docs/rules.md §2.2: announcing."""

from __future__ import annotations

import pytest

from tests.rule_paragraphs.table import Deal, shown

PAIR = "3C 3D 6H 8S TC"
SAME_PAIR = "3H 3S 6C 8D TD"
HIGHER_PAIR = "9C 9D 6S 8C TH"
TWO_PAIR = "4C 4D 5H 5S TS"
NOTHING = "2C 4H 7H 9S JC"


@pytest.mark.parametrize("scored", [[True, False, True], [False, True, False], [False, False, False]])
def test_announcing_follows_the_scored_exchanges(deal: Deal, scored: list[bool]) -> None:
    table = deal(scored_exchanges=scored).until("play")
    kinds = "".join(event[0][0] for event in table.events("exchange", "announce"))
    assert kinds == "".join("eeaa" if one else "ee" for one in scored)


def test_in_turn_from_forehand_each_player_passes_or_names_their_category(deal: Deal) -> None:
    table = deal([PAIR, NOTHING, TWO_PAIR], players=3).until("announce")
    for seat, legal in enumerate([[32, 33], [32], [32, 34]]):
        assert (table.seat, table.legal) == (seat, legal)
        table.match.step(legal[-1])
    assert table.events("announce") == [["announce", 0, 1], ["announce", 1, 0], ["announce", 2, 2]]


def test_a_category_lower_than_the_highest_named_may_not_be_named(deal: Deal) -> None:
    table = deal([TWO_PAIR, PAIR, HIGHER_PAIR], players=3).until("announce").do("name")
    assert (table.seat, table.legal) == (1, [32])
    assert table.do("pass").legal == [32]


def test_an_equal_or_higher_category_may_be_named_and_a_pass_raises_nothing(deal: Deal) -> None:
    table = deal([TWO_PAIR, PAIR, HIGHER_PAIR], players=3).until("announce").do("pass")
    assert table.legal == [32, 33]
    assert table.do("name").legal == [32, 33]


def test_the_best_announced_hand_scores(deal: Deal) -> None:
    table = deal([PAIR, TWO_PAIR, NOTHING], players=3).until("announce").do("name", "name", "pass")
    assert table.events("score") == [["score", 1, 2, "hand"]]
    assert table.scores == [0, 2, 0]


def test_free_announcing_lets_a_hand_be_hidden_which_then_cannot_score(deal: Deal) -> None:
    table = deal([PAIR, TWO_PAIR], announcing="free").until("announce")
    assert table.legal == [32, 33]
    assert table.do("name").legal == [32, 34]
    assert table.do("pass").events("score") == [["score", 0, 1, "hand"]]


def test_compulsory_announcing_leaves_only_the_category(deal: Deal) -> None:
    table = deal([PAIR, TWO_PAIR, HIGHER_PAIR], players=3, announcing="compulsory").until("announce")
    assert table.legal == [33]
    assert table.do("name").legal == [34]
    assert table.do("name").legal == [32]  # whoever may name nothing passes


def test_all_passed_nobody_scores(deal: Deal) -> None:
    table = deal([PAIR, TWO_PAIR]).until("announce").do("pass", "pass")
    assert table.events("score", "show") == []
    assert table.phase == "exchange"


# The same category named twice


def test_equal_categories_are_shown_at_once_standing_player_first(deal: Deal) -> None:
    table = deal([PAIR, HIGHER_PAIR, NOTHING], players=3).until("announce").do("name", "name")
    assert table.events()[-3:] == [["announce", 1, 1], shown(0, PAIR), shown(1, HIGHER_PAIR)]
    assert table.do("pass").events("score") == [["score", 1, 1, "hand"]]


def test_a_lower_hand_of_the_same_category_leaves_the_first_standing(deal: Deal) -> None:
    table = deal([HIGHER_PAIR, PAIR]).until("announce").do("name", "name")
    assert table.events("show") == [shown(0, HIGHER_PAIR), shown(1, PAIR)]
    assert table.events("score") == [["score", 0, 1, "hand"]]


@pytest.mark.parametrize(("first", "second"), [(PAIR, HIGHER_PAIR), (HIGHER_PAIR, PAIR)])
def test_a_player_already_shown_is_not_shown_again(deal: Deal, first: str, second: str) -> None:
    third = "KC KD 2S 4S 7C"
    table = deal([first, second, third], players=3).until("announce").do("name", "name", "name")
    assert table.events("show") == [shown(0, first), shown(1, second), shown(2, third)]
    assert table.events("score") == [["score", 2, 1, "hand"]]


def test_a_player_is_shown_again_in_the_next_announcing(deal: Deal) -> None:
    table = deal([PAIR, HIGHER_PAIR]).until("announce").do("name", "name").until("announce").do("name", "name")
    assert table.events("show") == [shown(0, PAIR), shown(1, HIGHER_PAIR)] * 2


def test_a_higher_category_is_not_compared(deal: Deal) -> None:
    table = deal([PAIR, TWO_PAIR, "9C 9D 6S 6D QH"], players=3).until("announce").do("name", "name", "name")
    assert table.events("show") == [shown(1, TWO_PAIR), shown(2, "9C 9D 6S 6D QH")]


def test_tie_reveal_ranks_shows_no_cards(deal: Deal) -> None:
    table = deal([PAIR, HIGHER_PAIR], tie_reveal="ranks").until("announce").do("name", "name")
    assert table.events("show") == []
    assert table.events("score") == [["score", 1, 1, "hand"]]


# Exact ties


def test_tied_for_best_nobody_scores(deal: Deal) -> None:
    table = deal([PAIR, SAME_PAIR]).until("announce").do("name", "name")
    assert table.events("show") == [shown(0, PAIR), shown(1, SAME_PAIR)]
    assert table.events("score") == []


def test_a_tie_is_remembered_until_somebody_beats_it(deal: Deal) -> None:
    lower = "2C 2D 6S 8C TH"
    table = deal([PAIR, SAME_PAIR, lower], players=3).until("announce").do("name", "name", "name")
    assert table.events("score") == []
    table = deal([PAIR, SAME_PAIR, NOTHING], players=3).until("announce").do("name", "name", "pass")
    assert table.events("score") == []
    table = deal([PAIR, SAME_PAIR, HIGHER_PAIR], players=3).until("announce").do("name", "name", "name")
    assert table.events("score") == [["score", 2, 1, "hand"]]
    table = deal([PAIR, SAME_PAIR, TWO_PAIR], players=3).until("announce").do("name", "name", "name")
    assert table.events("score") == [["score", 2, 2, "hand"]]


def test_a_tie_of_lower_hands_does_not_count(deal: Deal) -> None:
    table = deal([HIGHER_PAIR, PAIR, SAME_PAIR], players=3).until("announce").do("name", "name", "name")
    assert table.events("score") == [["score", 0, 1, "hand"]]


def test_a_beaten_tie_is_forgotten_in_the_next_announcing(deal: Deal) -> None:
    table = deal([PAIR, SAME_PAIR]).until("announce").do("name", "name").until("announce").do("name", "pass")
    assert table.events("score") == [["score", 0, 1, "hand"]]


@pytest.mark.parametrize(("order", "scorer"), [("CDHS", 0), ("HSDC", 1), ("SCDH", 1), ("DSCH", 0)])
def test_suit_order_leaves_no_tie(deal: Deal, order: str, scorer: int) -> None:
    table = deal([PAIR, SAME_PAIR], suit_order=order).until("announce").do("name", "name")
    assert table.events("score") == [["score", scorer, 1, "hand"]]
