"""Suits in an order of their own: games that differ in the names of suits alone are one.

Each observation decides for itself which of its suits the network sees as the first, by what the observer knows: the suit
led first, then the suits with more cards in the own hand, then by which cards these are, then by all else that the
observation says of a suit, last by its rank where the rules give it one. What two suits have in common entirely changes
nothing, whichever of them comes first. Actions are renamed with the cards, and back; so are the ranks that the rules give
to suits. `agents.onnx_suits` does the same in tensors.

Letters: B batch, D observation, A actions.
"""

from typing import Any, NamedTuple

import numpy as np

from chicago_env._jit import inlined, jit
from chicago_env.actions import EXCHANGE, NUM_ACTIONS, PLAY
from chicago_env.arrays import borrowed, copy_bytes
from chicago_env.bits import SUIT_CARDS, lowest, popcount
from chicago_env.layout import AT, CARDS, HAND, OBSERVATION_SIZE, ROUNDS, RULE_NUMBERS, SEATS, TRICKS

Array = np.ndarray[Any, Any]

SUIT_RANKS = AT.rule_numbers + RULE_NUMBERS.index("suit_C")
"""Ranks of the four suits by the rules; all alike where the rules do not order them."""

SETS = (AT.hand, AT.discards, AT.upcard, AT.played, AT.trick_cards, AT.winning_card)
"""Sets of cards, besides `known`."""

LISTS = (
    *(AT.discards_by_round + HAND * i for i in range(ROUNDS)),
    *(AT.draws_by_round + HAND * i for i in range(ROUNDS)),
    *(AT.broken + HAND * i for i in range(ROUNDS - 1)),
    *(AT.shown + HAND * i for i in range(ROUNDS * SEATS)),
)
"""Lists of up to five cards, ascending."""

TABLES = (*(AT.plays + SEATS * i for i in range(TRICKS)), *(AT.open_card + SEATS * i for i in range(ROUNDS)))
"""Tables of one card for each seat."""

SHOWN_SUITS = (AT.shown_suit, AT.shown_suit + ROUNDS * SEATS)
"""From where to where suits are said, as suit + 1."""

SEEN = (AT.discards, AT.played, AT.trick_cards, AT.upcard)
"""Sets by which suits are told apart: high ranks first, and of one rank the last set first."""

_PICKS = 1 << HAND
_SAME = 0 | 1 << 2 | 2 << 4 | 3 << 6  # every suit keeps its name
_APART = 1 << 3  # no two suits share a place


class Canonical(NamedTuple):
    """Observations with their suits in canonical order.

    Attributes:
        observations: (B, D) uint8.
        masks: (B, A) int8, of the renamed actions.
        actions: (B, A) int64: the game's action that each renamed action stands for.
        suits: (B, 4) int64: the new suit of each suit of the game.
    """

    observations: Array
    masks: Array
    actions: Array
    suits: Array


@inlined
def _set_at(row: Any, at: int) -> int:
    """The 52 bits from `at` on, as a set of cards."""
    cards = 0
    for i in range(CARDS):
        cards |= int(row[at + i]) << i
    return cards


@inlined
def _list_at(row: Any, at: int) -> int:
    """The list of cards at `at`, as a set."""
    cards = 0
    for i in range(HAND):
        cards |= (1 << int(row[at + i])) >> 1
    return cards


@inlined
def _tell_apart(places: int, words: Any) -> int:
    """Orders suits that share a place by their words (4,), the largest first; they are cleared.

    Places have four bits for each suit, of which the highest of the first says that no two share one.
    """
    moved, tied = 0, 0
    for s in range(4):
        for t in range(4):
            alike = int(s != t and (places >> 4 * s ^ places >> 4 * t) & 3 == 0)
            moved += (alike & int(words[t] > words[s])) << 4 * s
            tied |= alike & int(words[t] == words[s])
    for s in range(4):
        words[s] = 0
    return (places + moved) | (1 - tied) << 3


@inlined
def _add_set(words: Any, cards: int, at: int) -> None:
    """Adds a set of cards to the words: bit 4 rank + `at` of a suit's word, at < 4."""
    for s in range(4):
        words[s] |= (cards >> s & SUIT_CARDS) << at


@jit
def _order_of_suits(row: Any, words: Any) -> int:
    """The new suit of each suit of an observation (D,), two bits for each; `words` (4,) int64 are for work, all 0."""
    hand = _set_at(row, AT.hand)
    for s in range(4):
        own = hand >> s & SUIT_CARDS
        words[s] = int(row[AT.led_suit + s]) << 60 | popcount(own) << 52 | own
    places = _tell_apart(0, words)
    if not places & _APART:
        for i in range(4):
            _add_set(words, _set_at(row, SEEN[i]), i)
        places = _tell_apart(places, words)
    for j in range(SEATS):
        if not places & _APART:
            _add_set(words, _set_at(row, AT.known + CARDS * j), 0)
            for s in range(4):
                words[s] |= int(row[AT.void + 4 * j + s]) << 1
            places = _tell_apart(places, words)
    for at in TABLES:
        if not places & _APART:
            for j in range(SEATS):
                card = int(row[at + j]) - 1
                if card >= 0:
                    words[card & 3] |= ((card >> 2) + 1) << 4 * j
            places = _tell_apart(places, words)
    for at in LISTS:
        if row[at] != 0 and not places & _APART:
            _add_set(words, _list_at(row, at), 0)
            places = _tell_apart(places, words)
    if not places & _APART:
        for s in range(4):
            words[s] = row[SUIT_RANKS + s]
        places = _tell_apart(places, words)
    if not places & _APART:  # what is told of these suits is the same: any of them may be the first
        for s in range(4):
            words[s] = -s
        places = _tell_apart(places, words)
    for s in range(4):
        words[s] = 0
    return places & 3 | (places >> 4 & 3) << 2 | (places >> 8 & 3) << 4 | (places >> 12 & 3) << 6


@inlined
def _new_suit(order: int, suit: int) -> int:
    """New name of a suit; `order` has two bits for each. A word in a register: a table would be read again and again."""
    return order >> 2 * suit & 3


@inlined
def _rename_set(row: Any, at: int, order: int, out: Any) -> None:
    first, second, third, fourth = (
        at + _new_suit(order, 0),
        at + _new_suit(order, 1),
        at + _new_suit(order, 2),
        at + _new_suit(order, 3),
    )
    for i in range(0, CARDS, 4):
        out[first + i] = row[at + i]
        out[second + i] = row[at + i + 1]
        out[third + i] = row[at + i + 2]
        out[fourth + i] = row[at + i + 3]


@inlined
def _renamed(entry: int, order: int) -> int:
    """A card + 1 under its new name; 0 stays."""
    card = entry - 1
    return ((card & ~3 | _new_suit(order, card & 3)) + 1) * int(entry > 0)


@inlined
def _rename_list(row: Any, at: int, order: int, out: Any) -> None:
    """A list of cards, ascending again."""
    for i in range(HAND):
        entry = _renamed(int(row[at + i]), order)
        if entry == 0:
            break
        j = i
        while j > 0 and out[at + j - 1] > entry:
            out[at + j] = out[at + j - 1]
            j -= 1
        out[at + j] = entry


@inlined
def _rename_hand(row: Any, order: int, out: Any, actions: Any) -> None:
    """What is said by position in the own hand, which suits of one rank decide: `hand_suits`, `group` and exchanges."""
    hand = _set_at(row, AT.hand)
    renamed_hand, rest = 0, hand
    while rest:
        card = lowest(rest)
        renamed_hand |= 1 << (card & ~3 | _new_suit(order, card & 3))
        rest &= rest - 1
    moved, i, rest = 0, 0, hand
    while rest:
        card = lowest(rest)
        suit = _new_suit(order, card & 3)
        to = popcount(renamed_hand & ((1 << (card & ~3 | suit)) - 1))
        for s in range(4):
            out[AT.hand_suits + 4 * to + s] = int(suit == s)
        out[AT.group + to] = row[AT.group + i]
        moved |= (to ^ i) << 3 * i
        i += 1
        rest &= rest - 1
    if moved:
        for picks in range(_PICKS):
            renamed = 0
            for i in range(HAND):
                renamed |= (picks >> i & 1) << (moved >> 3 * i & 7 ^ i)
            actions[EXCHANGE + renamed] = EXCHANGE + picks


@jit
def _rename(row: Any, order: int, out: Any, actions: Any) -> None:
    """Writes what names suits in an observation (D,) into `out` (D,), and into `actions` (A,) what actions stand for."""
    for at in SETS:
        _rename_set(row, at, order, out)
    for j in range(SEATS):
        _rename_set(row, AT.known + CARDS * j, order, out)
        for s in range(4):
            out[AT.void + 4 * j + _new_suit(order, s)] = row[AT.void + 4 * j + s]
    for s in range(4):
        out[AT.led_suit + _new_suit(order, s)] = row[AT.led_suit + s]
        out[SUIT_RANKS + _new_suit(order, s)] = row[SUIT_RANKS + s]
    for at in range(*SHOWN_SUITS):
        if row[at]:
            out[at] = _new_suit(order, int(row[at]) - 1) + 1
    for at in TABLES:
        for j in range(SEATS):
            out[at + j] = _renamed(int(row[at + j]), order)
    for at in LISTS:
        _rename_list(row, at, order, out)
    _rename_hand(row, order, out, actions)
    for i in range(0, CARDS, 4):
        for s in range(4):
            actions[PLAY + i + _new_suit(order, s)] = PLAY + i + s


@jit
def _rename_rows(observations: Any, masks: Any, out: Any, out_masks: Any, actions: Any, suits: Any) -> None:
    observations, masks, out = borrowed(observations), borrowed(masks), borrowed(out)
    out_masks, actions, suits = borrowed(out_masks), borrowed(actions), borrowed(suits)
    words = np.zeros(4, dtype=np.int64)
    for i in range(observations.shape[0]):
        row, places = observations[i], suits[i]
        copy_bytes(out[i], 0, row, OBSERVATION_SIZE)
        for a in range(NUM_ACTIONS):
            actions[i, a] = a
        order = _order_of_suits(row, words)
        for s in range(4):
            places[s] = _new_suit(order, s)
        if order != _SAME:
            _rename(row, order, out[i], actions[i])
        for a in range(NUM_ACTIONS):
            out_masks[i, a] = masks[i, actions[i, a]]


def canonical(observations: Array, masks: Array) -> Canonical:
    """Observations and masks with suits in canonical order.

    Args:
        observations: (B, D) uint8.
        masks: (B, A) int8 or bool.
    """
    rows = len(observations)
    found = Canonical(
        np.empty((rows, OBSERVATION_SIZE), dtype=np.uint8),
        np.empty((rows, NUM_ACTIONS), dtype=np.int8),
        np.empty((rows, NUM_ACTIONS), dtype=np.int64),
        np.empty((rows, 4), dtype=np.int64),
    )
    _rename_rows(np.ascontiguousarray(observations), np.ascontiguousarray(masks).view(np.int8), *found)
    return found


def renamed_actions(actions: Array, told: Array) -> Array:
    """(B,) int64: the renamed action that stands for each action `told` (B,) of the game; `actions` as in `Canonical`."""
    return np.asarray((actions == told[:, None]).argmax(axis=1))


@jit
def renamed_cards(cards: Any, suits: Any) -> Any:
    """Sets of cards (B, N 52), or anything said of each card, under the names that `suits` (see `Canonical`) gives."""
    out = np.empty_like(cards)
    for i in range(cards.shape[0]):
        for first in range(0, cards.shape[1], 4):
            for s in range(4):
                out[i, first + suits[i, s]] = cards[i, first + s]
    return out
