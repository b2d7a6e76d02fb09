"""Exact draw odds against enumeration of all draws and against published odds of five-card draw (agents/odds.py)."""

import itertools

import numpy as np
import pytest

from agents.odds import CLASSES, best_keep, category_odds, class_of, draw_odds, subset_odds, two_draw_odds, unseen_of
from chicago_env.bits import select
from chicago_env.cards import parse_cards
from chicago_env.hands import FLUSH, FOUR, FULL_HOUSE, PAIR, ROYAL, STRAIGHT, STRAIGHT_FLUSH, THREE, TWO_PAIR


def cards(text: str) -> int:
    return sum(1 << card for card in parse_cards(text))


def odds_of(kept: str, discarded: str = "", unseen: int | None = None) -> np.ndarray:
    out = np.full(CLASSES, np.nan)
    draw_odds(cards(kept), unseen_of(cards(kept), cards(discarded)) if unseen is None else unseen, out)
    return out


def enumerated(kept: int, unseen: int) -> np.ndarray:
    left = [card for card in range(52) if unseen >> card & 1]
    out = np.zeros(CLASSES)
    draws = list(itertools.combinations(left, 5 - kept.bit_count()))
    for draw in draws:
        out[class_of(kept | sum(1 << card for card in draw))] += 1
    return out / len(draws)


@pytest.mark.parametrize(
    ("kept", "discarded", "category", "ways", "of"),
    [
        ("2S 5S 9S KS", "3H", FLUSH, 9, 47),
        ("5C 6D 7H 8S", "KC", STRAIGHT, 8, 47),
        ("5C 6D 8H 9S", "KC", STRAIGHT, 4, 47),
        ("AC 2D 3H 4S", "KC", STRAIGHT, 4, 47),
        ("5S 6S 7S 8S", "KC", STRAIGHT_FLUSH, 2, 47),
        ("TS JS QS KS", "2C", ROYAL, 1, 47),
        ("TS JS QS KS", "2C", STRAIGHT_FLUSH, 1, 47),
        ("9C 9D 4H 4S", "KC", FULL_HOUSE, 4, 47),
        ("9C 9D 9H", "2C KC", FOUR, 46, 1081),
        ("9C 9D 9H", "2C KC", FULL_HOUSE, 66, 1081),
        ("9C 9D", "2C 5D KC", FOUR, 45, 16215),
        ("9C 9D", "2C 5D KC", FULL_HOUSE, 165, 16215),
        ("9C 9D", "2C 5D KC", THREE, 1854, 16215),
        ("9C 9D", "2C 5D KC", TWO_PAIR, 2592, 16215),
        ("9C 9D 9H 9S", "2C", FOUR, 47, 47),
    ],
)
def test_published_odds(kept: str, discarded: str, category: int, ways: int, of: int) -> None:
    assert category_odds(odds_of(kept, discarded))[category] == pytest.approx(ways / of, abs=1e-12)


def test_five_cards_from_a_full_deck() -> None:
    counts = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]
    assert category_odds(odds_of(""))[:] == pytest.approx(np.array(counts) / 2598960, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(52).tolist()
    if seed % 3 == 0:  # of one suit, which counts most
        order.sort(key=lambda card: card & 3 != seed & 3)
    elif seed % 3 == 1:  # of few ranks
        order.sort(key=lambda card: card >> 2 not in (seed % 13, seed % 7))
    kept = sum(1 << card for card in order[: seed % 6])
    rest = rng.permutation(order[seed % 6 :]).tolist() if seed % 2 else order[seed % 6 :]
    unseen = sum(1 << card for card in rest[: int(rng.integers(14, 22))])
    out = np.full(CLASSES, np.nan)
    draw_odds(kept, unseen, out)
    np.testing.assert_allclose(out, enumerated(kept, unseen), atol=1e-12)


def test_cards_that_are_gone_count() -> None:
    """Two pair: no full house is left when the four cards that make it have been seen."""
    kept = cards("9C 9D 4H 4S")
    out = np.zeros(CLASSES)
    draw_odds(kept, unseen_of(kept, cards("9H 9S 4C 4D")), out)
    assert category_odds(out)[FULL_HOUSE] == 0
    assert category_odds(out)[TWO_PAIR] == pytest.approx(1)


def test_all_subsets_are_numbered_as_exchanges_are() -> None:
    hand = cards("2C 5D 9H 9S AC")
    table = np.zeros((32, CLASSES))
    subset_odds(hand, unseen_of(hand), table)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    assert table[0, class_of(hand)] == 1
    for discards in (1, 0b10011, 31):
        one = np.zeros(CLASSES)
        draw_odds(hand & ~select(hand, discards), unseen_of(hand), one)
        assert (one == table[discards]).all()
    assert category_odds(table[0b10011])[PAIR] == pytest.approx(11559 / 16215)


def test_the_best_subset_is_found() -> None:
    out = np.zeros(CLASSES)
    hand = cards("2S 5S 9S KS KD")
    flushes = np.zeros(CLASSES)
    flushes[13 * FLUSH :] = 1
    assert best_keep(hand, unseen_of(hand), flushes, out) == 0b01000  # the king of diamonds goes
    assert out.sum() == pytest.approx(1)
    pairs = (np.arange(CLASSES) >= 13 * PAIR).astype(float)
    assert best_keep(hand, unseen_of(hand), pairs, out) & 0b11000 == 0  # both kings stay


def test_two_draws() -> None:
    """A flush draw with two chances completes 1 - (38/47)(37/46) of the time; a card that comes is not thrown away."""
    kept, other = cards("2S 5S 9S KS"), cards("3H")
    flushes = np.zeros(CLASSES)
    flushes[13 * FLUSH :] = 1
    out = np.zeros(CLASSES)
    two_draw_odds(kept, unseen_of(kept, other), flushes, out)
    assert out.sum() == pytest.approx(1)
    assert out @ flushes >= 1 - 38 / 47 * 37 / 46 - 1e-9  # a few other ways, after a pair, add to it
    assert out @ flushes == pytest.approx(1 - 38 / 47 * 37 / 46, abs=2e-3)


def test_two_draws_by_enumeration() -> None:
    """Few unseen cards: every first draw, and the best of all second ones, found anew."""
    hand = cards("9C 9D 4H 4S")
    unseen = cards("9H 4C 2D 7S KH QC 5C")
    values = np.arange(CLASSES, dtype=float)
    expected = 0.0
    for card in parse_cards("9H 4C 2D 7S KH QC 5C"):
        five, rest = hand | 1 << card, unseen & ~(1 << card)
        best = max(
            float(enumerated(five & ~select(five, discards), rest) @ values)
            for discards in range(32)
            if discards.bit_count() <= rest.bit_count()
        )
        expected += best / 7
    out = np.zeros(CLASSES)
    two_draw_odds(hand, unseen, values, out)
    assert out @ values == pytest.approx(expected)
