"""Values of five-card hands: all 2,598,960 of them against a second evaluation, and the parts that rules name."""

import hashlib
import itertools
import random  # noqa: TID251 - the choices of a test

import numba
import numpy as np
import pytest

from chicago_env.bits import highest, lowest, nth, popcount, positions, select
from chicago_env.cards import CATEGORIES, NUM_CARDS, parse_cards
from chicago_env.hands import RANKS_COMPARED, group_of, hand_value, hand_values, suit_key
from tests.oracle import cards as oracle

# docs/rules.md §1: the classic counts of five-card poker, the royal flush counted apart from the straight flushes.
CLASSES = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]
DISTINCT = 7462
# sha256 of the rank (0 … 7461, little-endian int16) of every hand, hands in lexicographic order of their card ids.
ORDER_DIGEST = "915368d8101d00b07f992aa5df74de3677e75b25e89d7e8d087e24e1fad77ef2"


def mask_of(text: str) -> int:
    return sum(1 << card for card in parse_cards(text))


def second_evaluation(hands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Category (N,) and a key (N,) that orders hands (N, 5) of card ids, worked out from counts of ranks."""
    ranks, suits = hands // 4, hands % 4
    counts = np.zeros((len(hands), 13), dtype=np.int64)
    for i in range(5):
        counts[np.arange(len(hands)), ranks[:, i]] += 1
    # Groups first, larger ones first, then by rank: sort ranks by (count, rank) and write them as digits.
    weight = counts * 13 + np.arange(13)
    weight[counts == 0] = -1
    order = np.argsort(-weight, axis=1, kind="stable")[:, :5]
    present = np.take_along_axis(counts, order, axis=1) > 0
    digits = np.where(present, order + 1, 0)
    key = digits @ (14 ** np.arange(4, -1, -1))
    shape = -np.sort(-counts, axis=1)[:, :2]
    flush = (suits == suits[:, :1]).all(axis=1)
    distinct = (counts > 0).sum(axis=1) == 5
    low, high = ranks.min(axis=1), ranks.max(axis=1)
    wheel = distinct & counts[:, [0, 1, 2, 3, 12]].all(axis=1)
    straight = distinct & ((high - low == 4) | wheel)
    top = np.where(wheel, 3, high)
    category = np.select(
        [
            straight & flush & (top == 12), straight & flush, shape[:, 0] == 4, (shape == [3, 2]).all(axis=1), flush,
            straight, shape[:, 0] == 3, (shape == [2, 2]).all(axis=1), shape[:, 0] == 2,
        ],
        [9, 8, 7, 6, 5, 4, 3, 2, 1],
        0,
    )  # fmt: skip
    key = np.where(straight, top, key)
    return category, category * 14**5 + key


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="2.6 million hands are for compiled code")
def test_all_hands_counts_order_and_digest() -> None:
    hands = (
        np.fromiter(itertools.chain.from_iterable(itertools.combinations(range(NUM_CARDS), 5)), np.int8, 5 * 2598960)
        .reshape(-1, 5)
        .astype(np.int64)
    )
    values = np.empty(len(hands), dtype=np.int64)
    hand_values((np.int64(1) << hands).sum(axis=1), values)
    assert np.bincount(values >> 20).tolist() == CLASSES
    _, ours = np.unique(values, return_inverse=True)
    category, key = second_evaluation(hands)
    assert (category == values >> 20).all()
    _, theirs = np.unique(key, return_inverse=True)
    assert ours.max() + 1 == DISTINCT
    assert (ours == theirs).all()
    assert hashlib.sha256(ours.astype("<i2").tobytes()).hexdigest() == ORDER_DIGEST


def test_values_agree_with_the_oracle_on_random_hands() -> None:
    rng = random.Random(1)
    hands = [rng.sample(range(NUM_CARDS), 5) for _ in range(400)]
    # Suits of few kinds and neighbouring ranks, so that the rare categories come up as well.
    hands += [rng.sample(range(start, start + 16), 5) for start in range(0, 37, 4) for _ in range(60)]
    hands += [rng.sample([c for c in range(NUM_CARDS) if c % 4 == suit], 5) for suit in range(4) for _ in range(100)]
    values = [hand_value(sum(1 << c for c in hand)) for hand in hands]
    assert {value >> 20 for value in values} >= set(range(9))
    pairs = list(zip(values, map(oracle.hand_value, hands), strict=True))
    for (a, their_a), (b, their_b) in itertools.pairwise(sorted(pairs, key=lambda pair: pair[0])):
        assert (a == b) == (their_a == their_b)
        assert their_a <= their_b


@pytest.mark.parametrize(
    ("text", "category", "group"),
    [
        ("2C 5D 9H JS AC", "high card", ""),
        ("2C 5D 9H 9S AC", "pair", "9H 9S"),
        ("2C 2D 9H 9S AC", "two pair", "2C 2D 9H 9S"),
        ("2C 9D 9H 9S AC", "three of a kind", "9D 9H 9S"),
        ("2C 3D 4H 5S AC", "straight", "2C 3D 4H 5S AC"),
        ("TC JD QH KS AC", "straight", "TC JD QH KS AC"),
        ("2C 3D QH KS AC", "high card", ""),  # a straight does not wrap
        ("2C 5C 9C JC AC", "flush", "2C 5C 9C JC AC"),
        ("2C 2D 9H 9S 9C", "full house", "2C 2D 9H 9S 9C"),
        ("2C 2D 2H 2S 9C", "four of a kind", "2C 2D 2H 2S"),
        ("2C 3C 4C 5C AC", "straight flush", "2C 3C 4C 5C AC"),
        ("TC JC QC KC AC", "royal flush", "TC JC QC KC AC"),
    ],
)
def test_category_and_group(text: str, category: str, group: str) -> None:
    mask = mask_of(text)
    value = hand_value(mask)
    assert CATEGORIES[value >> 20] == category
    assert group_of(mask, value) == (mask_of(group) if group else 0)


def test_the_wheel_tops_at_five() -> None:
    assert hand_value(mask_of("2C 3D 4H 5S AC")) < hand_value(mask_of("2C 3D 4H 5S 6C"))
    assert hand_value(mask_of("2C 3D 4H 5S AC")) == hand_value(mask_of("2D 3C 4S 5H AS"))


@pytest.mark.parametrize(
    ("text", "suit"),
    [
        ("8C 8S KH QH 2H", "S"),  # the pair, not the higher cards beside it
        ("8C 8S KH KD 2S", "H"),  # the higher of two pairs
        ("8C 8D 8S KH QH", "S"),
        ("8C 8D 8H 8S 2H", "H"),
        ("4C 5H 6H 7H 8D", "D"),  # the top card of a straight
        ("2H 3H 4H 5S AH", "S"),  # the wheel tops at the five
        ("2C 5C 9C JC AC", "C"),
        ("2H 5D 9H JH AC", "C"),  # the top card of a high-card hand
    ],
)
def test_suit_of_the_highest_group(text: str, suit: str) -> None:
    ranks = np.array([0, 1, 3, 2], dtype=np.int8)  # HSDC
    mask = mask_of(text)
    assert "CDHS"[suit_key(mask, hand_value(mask), ranks) & 3] == suit


def test_number_of_ranks_compared_is_what_a_value_holds() -> None:
    for text in (
        "4C 5D 9H JS AC",
        "3C 3D 9H JS AC",
        "3C 3D 9H 9S AC",
        "3C 3D 3H 9S AC",
        "3C 3D 3H 9S 9C",
        "3C 3D 3H 3S 9C",
    ):
        value = hand_value(mask_of(text))
        digits = [value >> (16 - 4 * k) & 15 for k in range(5)]
        assert sum(digit > 0 for digit in digits) == RANKS_COMPARED[value >> 20]


def test_sets_of_cards() -> None:
    mask = mask_of("2C 9D KH AS")
    cards = [c for c in range(NUM_CARDS) if mask >> c & 1]
    assert popcount(mask) == 4
    assert lowest(mask) == cards[0]
    assert highest(mask) == cards[-1]
    assert [nth(mask, n) for n in range(4)] == cards
    for picks in range(16):
        chosen = select(mask, picks)
        assert chosen == sum(1 << cards[i] for i in range(4) if picks >> i & 1)
        assert positions(mask, chosen) == picks
