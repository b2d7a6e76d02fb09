"""Events of a record (docs/record-format.md) and the words of the engine's event log, one as the other."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from chicago_env.cards import CARD_NAMES
from chicago_env.engine import log

Event = list[Any]

_CARD_IDS = {name: card for card, name in enumerate(CARD_NAMES)}
_LIMIT = 1 << 31

_WHY = {
    "hand": log.SCORE_HAND,
    "chicago": log.SCORE_CHICAGO,
    "breaker": log.SCORE_BREAKER,
    "last_trick": log.SCORE_LAST_TRICK,
}
_WHY_OF = {code: why for why, code in _WHY.items()}


class MalformedEvent(Exception):
    """An event that has not the form of one; the argument says what is wrong with it."""


def decode(words: Sequence[int], at: int) -> tuple[Event, int]:
    """The event that starts at word `at` of the log, as a record has it, and where the next one starts.

    DEAL and DEAL_END, which records do not have, give `["deal", dealer, [cards dealt…]]` and `["deal_end"]`.
    """
    code, seat, value, n = words[at : at + 4]
    end = at + 4 + n
    cards = [CARD_NAMES[card] for card in words[at + 4 : end]]
    if code == log.PLAY:
        return ["play", seat, cards[0]], end
    if code == log.EXCHANGE:
        return ["exchange", seat, cards[:value], cards[value:]], end
    if code == log.ANNOUNCE:
        return ["announce", seat, value], end
    if code == log.TRICK:
        return ["trick", seat], end
    if code in _WHY_OF:
        return ["score", seat, value, _WHY_OF[code]], end
    if code == log.SHOW:
        return ["show", seat, cards], end
    if code == log.CHICAGO:
        return ["chicago", seat, value == 1], end
    if code == log.OPEN:
        return ["open", seat, cards[0], value == 1], end
    if code == log.RESET:
        return ["reset", seat], end
    if code == log.PENALTY:
        return ["penalty", seat, value], end
    if code == log.RESHUFFLE:
        return ["reshuffle", cards], end
    if code == log.FOUR:
        return ["four", seat, "reset" if value else "points"], end
    if code == log.DEAL:
        return ["deal", seat, cards], end
    return ["deal_end"], end


def decode_all(words: Sequence[int]) -> list[Event]:
    """Every event of a log, as `decode` gives them."""
    events, at = [], 0
    while at < len(words):
        event, at = decode(words, at)
        events.append(event)
    return events


def card_ids(names: object) -> list[int]:
    """Ids of a list of names of different cards.

    Raises:
        MalformedEvent: anything else.
    """
    if type(names) is not list:
        raise MalformedEvent(f"{short(names)} is not a list of cards")
    try:
        ids = [_CARD_IDS[name] for name in names]
    except (KeyError, TypeError):
        wrong = next(n for n in names if not isinstance(n, str) or n not in _CARD_IDS)
        raise MalformedEvent(f"{short(wrong)} is no card") from None
    if len(set(ids)) != len(ids):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise MalformedEvent(f"{twice} is there twice")
    return ids


def _card(name: object) -> int:
    if type(name) is not str or name not in _CARD_IDS:
        raise MalformedEvent(f"{short(name)} is no card")
    return _CARD_IDS[name]


def _number(value: object) -> int:
    if type(value) is not int or not -_LIMIT < value < _LIMIT:
        raise MalformedEvent(f"{short(value)} is not a number of points")
    return value


def _flag(value: object) -> int:
    if type(value) is not bool:
        raise MalformedEvent(f"{short(value)} is neither true nor false")
    return int(value)


def short(value: object, limit: int = 100, *, quote: bool = True) -> str:
    """A text of `value`, cut to `limit` characters; as JSON has it where `quote` is set."""
    try:
        text = json.dumps(value, ensure_ascii=False) if quote else str(value)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _exchange(event: Event) -> tuple[int, ...]:
    discards, drawn = card_ids(event[2]), card_ids(event[3])
    if len(discards) > 5 or len(drawn) > 5:
        raise MalformedEvent("more than five cards are exchanged")
    return (log.EXCHANGE, event[1], len(discards), len(discards) + len(drawn), *sorted(discards), *drawn)


def _announce(event: Event) -> tuple[int, ...]:
    if not 0 <= _number(event[2]) <= 9:
        raise MalformedEvent(f"{event[2]} is no category")
    return log.ANNOUNCE, event[1], event[2], 0


def _show(event: Event) -> tuple[int, ...]:
    cards = sorted(card_ids(event[2]))
    if len(cards) > 5:
        raise MalformedEvent("more than five cards are shown")
    return (log.SHOW, event[1], 0, len(cards), *cards)


def _four(event: Event) -> tuple[int, ...]:
    if event[2] not in ("points", "reset"):
        raise MalformedEvent(f"{short(event[2])} is neither 'points' nor 'reset'")
    return log.FOUR, event[1], int(event[2] == "reset"), 0


def _score(event: Event) -> tuple[int, ...]:
    if type(event[3]) is not str or event[3] not in _WHY:
        raise MalformedEvent(f"{short(event[3])} is none of {', '.join(_WHY)}")
    return _WHY[event[3]], event[1], _number(event[2]), 0


_ENCODERS: dict[str, tuple[int, Callable[[Event], tuple[int, ...]]]] = {
    "exchange": (4, _exchange),
    "open": (4, lambda event: (log.OPEN, event[1], _flag(event[3]), 1, _card(event[2]))),
    "penalty": (3, lambda event: (log.PENALTY, event[1], _number(event[2]), 0)),
    "announce": (3, _announce),
    "show": (3, _show),
    "four": (3, _four),
    "score": (4, _score),
    "reset": (2, lambda event: (log.RESET, event[1], 0, 0)),
    "chicago": (3, lambda event: (log.CHICAGO, event[1], _flag(event[2]), 0)),
    "play": (3, lambda event: (log.PLAY, event[1], 0, 1, _card(event[2]))),
    "trick": (2, lambda event: (log.TRICK, event[1], 0, 0)),
}
"""Length of an event of each kind that has a seat, and what makes words of it."""


def encode(event: object, players: int) -> tuple[int, ...]:
    """Words of an event, with the cards of `show` and the discards ascending: their order is free.

    Raises:
        MalformedEvent: not the form of an event.
    """
    if type(event) is not list or not event or type(event[0]) is not str:
        raise MalformedEvent(f"{short(event)} is not a list that starts with the kind of an event")
    kind = event[0]
    if kind == "reshuffle":
        if len(event) != 2:
            raise MalformedEvent(f"a reshuffle has 2 entries, this one {len(event)}")
        cards = card_ids(event[1])
        return (log.RESHUFFLE, 0, 0, len(cards), *cards)
    if kind not in _ENCODERS:
        raise MalformedEvent(f"{short(kind)} is no kind of event")
    length, encoder = _ENCODERS[kind]
    if len(event) != length:
        raise MalformedEvent(f"{kind} has {length} entries, this one {len(event)}")
    if type(event[1]) is not int or not 0 <= event[1] < players:
        raise MalformedEvent(f"{short(event[1])} is no seat: there are 0 to {players - 1}")
    return encoder(event)
