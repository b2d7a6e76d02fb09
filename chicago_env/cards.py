"""Cards and their notation (docs/rules.md §1): card id = rank * 4 + suit, ranks `2…A` = 0…12, suits `C D H S` = 0…3."""

from collections.abc import Iterable

from chicago_env.errors import CardError

RANKS = "23456789TJQKA"
SUITS = "CDHS"
SUIT_SYMBOLS = "♣♦♥♠"
NUM_RANKS, NUM_SUITS, NUM_CARDS = 13, 4, 52

CARD_NAMES = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""Name of every card, by id."""

CATEGORIES = (
    "high card", "pair", "two pair", "three of a kind", "straight",
    "flush", "full house", "four of a kind", "straight flush", "royal flush",
)  # fmt: skip
"""Name of every category of hands, by id, low to high."""

_CARD_IDS = {name: card for card, name in enumerate(CARD_NAMES)}
_EXPECTED = f"a card is a rank of {RANKS} and a suit of {SUITS}, e.g. AS"


def card_name(card: int) -> str:
    """Name of a card id, e.g. `AS` for 51.

    Raises:
        CardError: an id outside 0-51.
    """
    if not 0 <= card < NUM_CARDS:
        raise CardError(f"card id {card}: allowed are 0 to {NUM_CARDS - 1}")
    return CARD_NAMES[card]


def card_symbol(card: int) -> str:
    """A card id for people, with the symbol of its suit, e.g. `A♠`.

    Raises:
        CardError: an id outside 0-51.
    """
    name = card_name(card)
    return name[0] + SUIT_SYMBOLS[card & 3]


def parse_card(text: object) -> int:
    """Id of one card; inverse of `card_name`.

    Raises:
        CardError: anything but the name of one card.
    """
    if not isinstance(text, str) or text not in _CARD_IDS:
        raise CardError(f"{text!r} is no card: {_EXPECTED}", position=0 if isinstance(text, str) else None)
    return _CARD_IDS[text]


def parse_cards(text: str) -> list[int]:
    """Ids of the cards in a text, in its order: `2C 7D`, or run together, `2C7D`. Repeated cards are kept.

    Raises:
        CardError: something in the text is no card; the message and `position` say where.
    """
    cards = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        name = text[at : at + 2]
        if name not in _CARD_IDS:
            raise CardError(f"{text!r}: {name!r} at position {at} is no card: {_EXPECTED}", position=at)
        cards.append(_CARD_IDS[name])
        at += 2
    return cards


def format_cards(cards: Iterable[int], *, symbols: bool = False) -> str:
    """Cards as text, separated by spaces, in the order given; inverse of `parse_cards` unless `symbols` is set.

    Raises:
        CardError: an id outside 0-51.
    """
    return " ".join(map(card_symbol if symbols else card_name, cards))
