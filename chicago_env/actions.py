"""The action space `Discrete(102)`, version 1, and the text form of every action.

| ids | meaning |
|---|---|
| 0-31 | exchange: bit i set = discard the i-th card of the own hand, sorted by card id |
| 32, 33-41 | announce: pass, category 1-9 |
| 42, 43 | one-card exchange: closed, open |
| 44, 45 | face-up card: decline, accept |
| 46, 47 | four of a kind: points, reset |
| 48, 49 | Chicago: do not call, call |
| 50-101 | play card id 0-51 |
"""

from collections.abc import Sequence

from chicago_env.cards import CATEGORIES, card_name, parse_card, parse_cards
from chicago_env.errors import ActionError

ACTION_VERSION = 1
NUM_ACTIONS = 102

EXCHANGE, ANNOUNCE, OPEN_CHOICE, OPEN_ACCEPT, FOUR, CHICAGO, PLAY = 0, 32, 42, 44, 46, 48, 50
"""First action id of each kind of decision."""

KEEP_ALL = EXCHANGE
PASS = ANNOUNCE
CLOSED, OPEN = OPEN_CHOICE, OPEN_CHOICE + 1
DECLINE, ACCEPT = OPEN_ACCEPT, OPEN_ACCEPT + 1
POINTS, RESET = FOUR, FOUR + 1
NO_CALL, CALL = CHICAGO, CHICAGO + 1

_FIXED = {
    PASS: "announce pass",
    **{ANNOUNCE + c: f"announce {CATEGORIES[c]}" for c in range(1, 10)},
    CLOSED: "exchange closed",
    OPEN: "exchange open",
    DECLINE: "decline card",
    ACCEPT: "accept card",
    POINTS: "four points",
    RESET: "four reset",
    NO_CALL: "no chicago",
    CALL: "call chicago",
}
_BY_TEXT = {text: action for action, text in _FIXED.items()}


def _checked_hand(hand: Sequence[int]) -> list[int]:
    cards: Sequence[object] = hand  # users give names of cards too
    for card in cards:
        if isinstance(card, str):
            raise ActionError(
                f"the hand has the text {card!r}; it is given by card ids, as chicago_env.cards.parse_card"
            )
    return sorted(hand)


def discard_action(hand: Sequence[int], discards: Sequence[int]) -> int:
    """The exchange action that discards `discards` (card ids) from `hand` (card ids in any order).

    Raises:
        ActionError: a card is discarded that is not in the hand, or twice.
    """
    ordered = _checked_hand(hand)
    action = 0
    for card in discards:
        if card not in ordered:
            raise ActionError(f"cannot discard {card_name(card)}: the hand is {' '.join(map(card_name, ordered))}")
        bit = 1 << ordered.index(card)
        if action & bit:
            raise ActionError(f"{card_name(card)} is discarded twice")
        action |= bit
    return action


def format_action(action: int, hand: Sequence[int] = ()) -> str:
    """Text of an action, e.g. `discard 2C 7D`, `announce pair`, `play AS`.

    Args:
        action: an action id.
        hand: card ids of the acting seat's hand, in any order; needed for exchanges only.

    Raises:
        ActionError: an id outside 0-101, or an exchange of a card that the hand does not have.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise ActionError(f"action {action}: allowed are 0 to {NUM_ACTIONS - 1}")
    if action >= PLAY:
        return f"play {card_name(action - PLAY)}"
    if action >= ANNOUNCE:
        return _FIXED[action]
    if action == KEEP_ALL:
        return "keep all"
    ordered = _checked_hand(hand)
    if action >> len(ordered):
        held = f"a hand of {len(ordered)}" if ordered else "a hand that is not given"
        raise ActionError(f"exchange action {action} discards card {action.bit_length()} of {held}")
    return "discard " + " ".join(card_name(card) for i, card in enumerate(ordered) if action >> i & 1)


def parse_action(text: str, hand: Sequence[int] = ()) -> int:
    """Inverse of `format_action`; case and spacing do not matter.

    Raises:
        ActionError: text that is no action, or a card that the hand does not have.
    """
    words = text.split()
    normal = " ".join(words).lower()
    if normal in _BY_TEXT:
        return _BY_TEXT[normal]
    if normal == "keep all":
        return KEEP_ALL
    try:
        if len(words) > 1 and words[0].lower() == "discard":
            return discard_action(hand, parse_cards(" ".join(words[1:]).upper()))
        if len(words) == 2 and words[0].lower() == "play":
            return PLAY + parse_card(words[1].upper())
    except ActionError:
        raise
    except ValueError as error:
        raise ActionError(f"{text!r}: {error}") from None
    examples = "'keep all', 'discard 2C 7D', 'announce pair', 'call chicago', 'play AS'"
    raise ActionError(f"{text!r} is no action; examples: {examples}")
