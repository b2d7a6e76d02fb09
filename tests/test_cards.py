"""Cards, their notation, and the exceptions that carry a position."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chicago_env import cards, errors
from chicago_env.cards import card_name, card_symbol, format_cards, parse_card, parse_cards

CARD_LISTS = st.lists(st.integers(0, 51))


def test_ids_are_rank_times_four_plus_suit() -> None:
    names = [card_name(card) for card in range(cards.NUM_CARDS)]
    assert names[:5] == ["2C", "2D", "2H", "2S", "3C"]
    assert names[8 * 4 + 2] == "TH"
    assert names[-1] == "AS"
    assert len(set(names)) == 52
    assert [parse_card(name) for name in names] == list(range(52))


def test_symbols() -> None:
    assert [card_symbol(card) for card in (0, 33, 34, 51)] == ["2♣", "T♦", "T♥", "A♠"]
    assert format_cards([51, 0], symbols=True) == "A♠ 2♣"


@given(CARD_LISTS)
def test_text_of_cards_round_trips(ids: list[int]) -> None:
    text = format_cards(ids)
    assert parse_cards(text) == ids
    assert parse_cards(text.replace(" ", "")) == ids
    assert parse_cards(f"  {text}\n") == ids


def test_layout_of_text() -> None:
    assert format_cards([51, 0, 34]) == "AS 2C TH"
    assert parse_cards("AS2C  TH") == [51, 0, 34]
    assert parse_cards("") == []


@pytest.mark.parametrize(
    ("text", "position"),
    [("AS XX", 3), ("AS 2", 3), ("AS2", 2), ("as", 0), ("10H", 0), ("AS, 2C", 2), ("A S", 0), ("ASé♠", 2)],
)
def test_bad_text_says_where(text: str, position: int) -> None:
    with pytest.raises(errors.CardError, match=f"position {position} is no card: .*23456789TJQKA.*CDHS") as caught:
        parse_cards(text)
    assert caught.value.position == position


@pytest.mark.parametrize("text", ["", "A", "as", "ASC", "AS ", "1S", None, 51, ["AS"]])
def test_bad_single_card(text: object) -> None:
    with pytest.raises(errors.CardError, match="is no card: a card is a rank of") as caught:
        parse_card(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("card", [-1, 52])
def test_bad_card_id(card: int) -> None:
    for name in (card_name, card_symbol):
        with pytest.raises(errors.CardError, match=f"card id {card}: allowed are 0 to 51"):
            name(card)


def test_every_error_is_ours_and_a_value_error() -> None:
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert {errors.RulesError, errors.IllegalAction, errors.StateError, errors.MissingExtra} <= set(kinds)
    for kind in kinds:
        assert issubclass(kind, errors.ChicagoError)
        if kind is errors.MissingExtra:
            assert issubclass(kind, ImportError)
        elif kind is not errors.ChicagoError:
            assert issubclass(kind, ValueError)


ILLEGAL = errors.IllegalAction(2, "play", 101, [50, 53], "play AS", ["play 2C", "play 2S"])
BROKEN = errors.RecordError("wrong draw", file="a.jsonl", line=4, deal=3, event=17)


def test_illegal_action_names_seat_phase_action_and_legal_ones() -> None:
    message = "seat 2, phase play: action 101 (play AS) is illegal; legal: 50 (play 2C), 53 (play 2S)"
    assert str(ILLEGAL) == message
    assert (ILLEGAL.seat, ILLEGAL.phase, ILLEGAL.action, ILLEGAL.legal) == (2, "play", 101, (50, 53))


def test_illegal_action_without_texts() -> None:
    error = errors.IllegalAction(0, "exchange", 1.5, range(32))
    assert str(error) == (
        "seat 0, phase exchange: action 1.5 is illegal; legal: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 20 more"
    )
    assert error.legal == tuple(range(32))
    assert str(errors.IllegalAction(1, "over", 0, ())).endswith("action 0 is illegal; legal: none")


def test_record_error_starts_with_the_position() -> None:
    assert str(BROKEN) == "a.jsonl:4 deal 3 event 17: wrong draw"
    assert str(errors.RecordError("no deals")) == "no deals"
    assert str(errors.RecordError("no deals", file="a.jsonl")) == "a.jsonl: no deals"
    assert str(errors.RecordError("no deals", line=0, deal=0)) == "line 0 deal 0: no deals"
    assert str(errors.RecordError("unknown", event=0)) == "event 0: unknown"


def test_missing_extra_says_what_to_install() -> None:
    assert str(errors.MissingExtra("torch", "train")) == "torch is not installed; pip install 'chicago-env[train]'"


@pytest.mark.parametrize(
    "error",
    [
        ILLEGAL,
        BROKEN,
        errors.MissingExtra("torch", "train"),
        errors.CardError("no card", position=3),
        errors.RulesError("no", field="target", value=0, allowed="more"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling_with_their_attributes(error: errors.ChicagoError) -> None:
    # worker processes send their exceptions back pickled
    again = pickle.loads(pickle.dumps(error))  # noqa: TID251  # made here
    for twin in (again, copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)
