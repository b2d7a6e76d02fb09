"""Cards and the value of five-card hands, written for clarity and not for speed (docs/rules.md §1).

A card is the number rank * 4 + suit; ranks 2…A are 0…12 and the suits C D H S are 0…3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

RANKS = "23456789TJQKA"
SUITS = "CDHS"
DECK = tuple(range(52))
TEXT = tuple(rank + suit for rank in RANKS for suit in SUITS)
CARD_OF = {text: card for card, text in enumerate(TEXT)}

HIGH, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH, ROYAL = range(10)

HandValue = tuple[int, tuple[int, ...], int]


class OracleError(Exception):
    """An illegal action, or a record that is not what the rules say."""


def rank_of(card: int) -> int:
    return card // 4


def suit_of(card: int) -> int:
    return card % 4


def texts(cards: Iterable[int]) -> list[str]:
    return [TEXT[card] for card in cards]


def cards_of(names: Sequence[object]) -> list[int]:
    """The ids of cards given as text; refuses what is no card."""
    result = []
    for name in names:
        if not isinstance(name, str) or name not in CARD_OF:
            raise OracleError(f"{name!r} is no card")
        result.append(CARD_OF[name])
    return result


def grouped_ranks(cards: Sequence[int]) -> list[tuple[int, int]]:
    """(size, rank) of every group of equal ranks: larger groups first, then higher ranks."""
    return sorted(((n, rank) for rank, n in Counter(map(rank_of, cards)).items()), reverse=True)


def straight_top(cards: Sequence[int]) -> int | None:
    """Rank of the top card if the five cards are a straight, else None. In A-2-3-4-5 the five is the top."""
    ranks = sorted(map(rank_of, cards))
    if ranks == [0, 1, 2, 3, 12]:
        return 3
    if all(upper == lower + 1 for lower, upper in pairwise(ranks)):
        return ranks[-1]
    return None


def ranked(cards: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Category, and the ranks that decide between hands of that category, in the order they are compared."""
    if len(set(cards)) != 5:
        raise OracleError(f"a hand is five different cards, not {list(cards)}")
    groups = grouped_ranks(cards)
    sizes = [n for n, _ in groups]
    ranks = tuple(rank for _, rank in groups)
    one_suit = len({suit_of(card) for card in cards}) == 1
    top = straight_top(cards)
    if top is not None:
        if not one_suit:
            return STRAIGHT, (top,)
        return (ROYAL if top == 12 else STRAIGHT_FLUSH), (top,)
    if one_suit:
        return FLUSH, ranks
    category = {
        (4, 1): FOUR,
        (3, 2): FULL_HOUSE,
        (3, 1, 1): THREE,
        (2, 2, 1): TWO_PAIR,
        (2, 1, 1, 1): PAIR,
        (1, 1, 1, 1, 1): HIGH,
    }[tuple(sizes)]
    return category, ranks


def category_of(cards: Sequence[int]) -> int:
    return ranked(cards)[0]


def hand_value(cards: Sequence[int], suit_order: str | None = None) -> HandValue:
    """A value that orders hands: (category, ranks, strength of the suit compared last).

    Without a suit order the last entry is 0, so that exact ties are equal values. With one it is 3 for the best suit
    and 0 for the worst, of the best suit held in the highest group (docs/rules.md §1).
    """
    category, ranks = ranked(cards)
    if suit_order is None:
        return category, ranks, 0
    strength = max(3 - suit_order.index(SUITS[suit_of(card)]) for card in cards if rank_of(card) == ranks[0])
    return category, ranks, strength


def group_of(cards: Sequence[int]) -> list[int]:
    """The cards that make the hand's category: what a broken hand shows (docs/rules.md §2.1)."""
    category = category_of(cards)
    if category in (STRAIGHT, FLUSH, FULL_HOUSE, STRAIGHT_FLUSH, ROYAL):
        return list(cards)
    largest = 2 if category in (PAIR, TWO_PAIR) else 3 if category == THREE else 4
    counts = Counter(map(rank_of, cards))
    return [card for card in cards if counts[rank_of(card)] == largest]
