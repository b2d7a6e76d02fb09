"""Ways to falsify a record, for tests of what verifies records. Every altered record breaks the rules or the format."""

from __future__ import annotations

import json
import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
from collections.abc import Callable, Iterator
from typing import Any

from tests.oracle.frame_alterations import FRAME_ALTERATIONS, Alteration, Record

Event = list[Any]

ALTERATIONS: dict[str, Alteration] = dict(FRAME_ALTERATIONS)


def _alteration(function: Alteration) -> Alteration:
    ALTERATIONS[function.__name__.replace("_", " ")] = function
    return function


def alterations(record: Record, rng: random.Random) -> Iterator[tuple[str, Record]]:
    """(name, altered copy) for every kind of alteration that the valid record offers a place for."""
    for name, alter in ALTERATIONS.items():
        altered = json.loads(json.dumps(record))
        if alter(altered, rng):
            yield name, altered


Place = tuple[dict[str, Any], int, Event]  # deal, index of the event, the event


def _places(record: Record, *kinds: str) -> list[Place]:
    return [
        (deal, index, event)
        for deal in record["deals"]
        for index, event in enumerate(deal["events"])
        if not kinds or event[0] in kinds
    ]


def _pick(places: list[Place], rng: random.Random) -> Place | None:
    return rng.choice(places) if places else None


def _other_card(card: str, rng: random.Random) -> str:
    return rng.choice([rank + suit for rank in "23456789TJQKA" for suit in "CDHS" if rank + suit != card])


def _change_event(kinds: tuple[str, ...], where: Callable[[Event], bool], change: Callable[..., None]) -> Alteration:
    """An alteration of one random event of the kinds that fulfils the condition: change(event, players, rng)."""

    def alter(record: Record, rng: random.Random) -> bool:
        place = _pick([place for place in _places(record, *kinds) if where(place[2])], rng)
        if place is None:
            return False
        change(place[2], record["players"], rng)
        return True

    return alter


def _put(position: int, value: Callable[..., Any]) -> Callable[..., None]:
    def change(event: Event, players: int, rng: random.Random) -> None:
        event[position] = value(event[position], players, rng)

    return change


def _any(event: Event) -> bool:
    return True


def _replace_one(cards: list[str], players: int, rng: random.Random) -> list[str]:
    at = rng.randrange(len(cards))
    return [*cards[:at], _other_card(cards[at], rng), *cards[at + 1 :]]


_EVENT_CHANGES: dict[str, tuple[tuple[str, ...], Callable[[Event], bool], Callable[..., None]]] = {
    "drawn card replaced": (("exchange",), lambda e: bool(e[3]), _put(3, _replace_one)),
    "drawn cards in another order": (("exchange",), lambda e: len(e[3]) > 1, _put(3, lambda c, p, r: c[::-1])),
    "drawn card missing": (("exchange",), lambda e: bool(e[3]), _put(3, lambda c, p, r: c[:-1])),
    "drawn card too many": (("exchange",), _any, _put(3, lambda c, p, r: [*c, r.choice(["2C", "AS"])])),
    "discard missing": (("exchange",), lambda e: bool(e[2]), _put(2, lambda c, p, r: c[:-1])),
    "discard twice": (("exchange",), lambda e: len(e[2]) > 1, _put(2, lambda c, p, r: [c[0], *c[:-1]])),
    "discards are the cards drawn": (("exchange",), lambda e: bool(e[3]), lambda e, p, r: e.__setitem__(2, [*e[3]])),
    "discard is no card": (("exchange",), lambda e: bool(e[2]), _put(2, lambda c, p, r: ["1H", *c[1:]])),
    "exchange of another seat": (("exchange",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "exchange of no seat": (("exchange",), _any, _put(1, lambda s, p, r: p)),
    "open flag turned": (("open",), _any, _put(3, lambda flag, p, r: not flag)),
    "open card replaced": (("open",), _any, _put(2, lambda c, p, r: _other_card(c, r))),
    "reshuffle begins with another card": (
        ("reshuffle",),
        lambda e: len(e[1]) > 1,
        _put(1, lambda c, p, r: [c[-1], *c[1:-1], c[0]]),
    ),
    "reshuffle lacks a card": (("reshuffle",), _any, _put(1, lambda c, p, r: c[:-1])),
    "reshuffle has a card twice": (("reshuffle",), lambda e: len(e[1]) > 1, _put(1, lambda c, p, r: [*c[:-1], c[0]])),
    "penalty changed": (("penalty",), _any, _put(2, lambda n, p, r: n - 1)),
    "penalty of another seat": (("penalty",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "another category named": (("announce",), lambda e: e[2] > 0, _put(2, lambda c, p, r: c + 1 if c < 9 else 8)),
    "no such category": (("announce",), _any, _put(2, lambda c, p, r: r.choice([-1, 10, 42]))),
    "announcement of another seat": (("announce",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "shown card replaced": (("show",), _any, _put(2, _replace_one)),
    "shown card missing": (("show",), _any, _put(2, lambda c, p, r: c[:-1])),
    "shown by another seat": (("show",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "four chosen otherwise": (("four",), _any, _put(2, lambda w, p, r: "reset" if w == "points" else "points")),
    "four chosen nonsense": (("four",), _any, _put(2, lambda w, p, r: "both")),
    "points one more": (("score",), _any, _put(2, lambda n, p, r: n + 1)),
    "points negated": (("score",), lambda e: e[2] != 0, _put(2, lambda n, p, r: -n)),
    "points as a float": (("score",), _any, _put(2, lambda n, p, r: float(n))),
    "points to another seat": (("score",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "points for another reason": (
        ("score",),
        _any,
        _put(3, lambda w, p, r: r.choice([why for why in ("hand", "chicago", "breaker", "last_trick") if why != w])),
    ),
    "reset by another seat": (("reset",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "chicago flag turned": (("chicago",), _any, _put(2, lambda flag, p, r: not flag)),
    "chicago flag as a number": (("chicago",), _any, _put(2, lambda flag, p, r: int(flag))),
    "chicago of another seat": (("chicago",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "play of another seat": (("play",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "play of no card": (("play",), _any, _put(2, lambda c, p, r: "XX")),
    "trick to another seat": (("trick",), _any, _put(1, lambda s, p, r: (s + 1) % p)),
    "event has an entry too many": ((), _any, lambda e, p, r: e.append(0)),
    "event lacks its last entry": ((), _any, lambda e, p, r: e.pop()),
    "event of unknown kind": ((), _any, _put(0, lambda kind, p, r: "nap")),
    "seat as text": ((), lambda e: e[0] != "reshuffle", _put(1, lambda s, p, r: str(s))),
}
for _name, _how in _EVENT_CHANGES.items():
    ALTERATIONS[_name] = _change_event(*_how)


# The order and number of events


@_alteration
def event_missing(record: Record, rng: random.Random) -> bool:
    # Without its open event, an accepted face-up card reads as a closed exchange, which it might have been.
    place = _pick([place for place in _places(record) if not (place[2][0] == "open" and place[2][3])], rng)
    if place is None:
        return False
    del place[0]["events"][place[1]]
    return True


def _missing(kind: str) -> Alteration:
    def alter(record: Record, rng: random.Random) -> bool:
        place = _pick(_places(record, kind), rng)
        if place is None:
            return False
        del place[0]["events"][place[1]]
        return True

    return alter


for _kind in ("exchange", "reshuffle", "penalty", "announce", "show", "four", "score", "reset", "chicago", "trick"):
    ALTERATIONS[f"{_kind} missing"] = _missing(_kind)


@_alteration
def event_twice(record: Record, rng: random.Random) -> bool:
    deal, index, event = rng.choice(_places(record))
    deal["events"].insert(index, list(event))
    return True


@_alteration
def last_event_missing(record: Record, rng: random.Random) -> bool:
    record["deals"][-1]["events"].pop()
    return True


@_alteration
def event_after_the_end(record: Record, rng: random.Random) -> bool:
    deal = rng.choice(record["deals"])
    deal["events"].append(rng.choice([["trick", 0], ["score", 0, 0, "hand"], ["play", 0, "2C"], [], None]))
    return True


@_alteration
def penalty_not_due(record: Record, rng: random.Random) -> bool:
    place = _pick([place for place in _places(record, "exchange") if not place[2][2]], rng)
    if place is None:
        return False
    place[0]["events"].insert(place[1], ["penalty", place[2][1], 0])
    return True


@_alteration
def neighbours_swapped(record: Record, rng: random.Random) -> bool:
    deal, index, _ = rng.choice([place for place in _places(record) if place[1] > 0])
    events = deal["events"]
    events[index - 1], events[index] = events[index], events[index - 1]
    return True


@_alteration
def events_swapped_far_apart(record: Record, rng: random.Random) -> bool:
    deal, first, _ = rng.choice(_places(record))
    others = [i for i, event in enumerate(deal["events"]) if event[:2] != deal["events"][first][:2]]
    if not others:
        return False
    second = rng.choice(others)
    deal["events"][first], deal["events"][second] = deal["events"][second], deal["events"][first]
    return True


# Plays that the rules forbid


@_alteration
def suit_not_followed(record: Record, rng: random.Random) -> bool:
    """A seat that followed suit plays one of its other cards first, of another suit."""
    places = []
    for deal in record["deals"]:
        plays = [event for event in deal["events"] if event[0] == "play"]
        players = record["players"]
        for i, play in enumerate(plays):
            led = plays[i - i % players]
            if i % players and play[2][1] == led[2][1]:
                later = [event for event in plays[i + 1 :] if event[1] == play[1] and event[2][1] != led[2][1]]
                places += [(play, event) for event in later]
    if not places:
        return False
    early, late = rng.choice(places)
    early[2], late[2] = late[2], early[2]
    return True


@_alteration
def play_of_a_card_played_before(record: Record, rng: random.Random) -> bool:
    for deal in rng.sample(record["deals"], len(record["deals"])):
        plays = [event for event in deal["events"] if event[0] == "play"]
        if len(plays) > 1:
            later = rng.randrange(1, len(plays))
            plays[later][2] = plays[rng.randrange(later)][2]
            return True
    return False


# Decks


@_alteration
def dealt_card_to_another_seat(record: Record, rng: random.Random) -> bool:
    """Two dealt cards change hands, one of which its old owner discards or plays."""
    players = record["players"]
    deal = rng.choice(record["deals"])
    used = {card for event in deal["events"] if event[0] == "exchange" for card in event[2]}
    used |= {event[2] for event in deal["events"] if event[0] == "play"}
    deck = deal["deck"]
    candidates = [i for i in range(5 * players) if deck[i] in used]
    if not candidates:
        return False
    i = rng.choice(candidates)
    j = rng.choice([j for j in range(5 * players) if (j - i) % players])
    deck[i], deck[j] = deck[j], deck[i]
    return True


@_alteration
def stock_in_another_order(record: Record, rng: random.Random) -> bool:
    """The first card drawn in a deal trades places with the last of the deck."""
    for deal in rng.sample(record["deals"], len(record["deals"])):
        first = 5 * record["players"]
        if first < 51 and any(event[0] == "exchange" and event[3] for event in deal["events"]):
            deal["deck"][first], deal["deck"][51] = deal["deck"][51], deal["deck"][first]
            return True
    return False


@_alteration
def deck_with_a_card_twice(record: Record, rng: random.Random) -> bool:
    i, j = rng.sample(range(52), 2)
    deck = rng.choice(record["deals"])["deck"]
    deck[i] = deck[j]
    return True


@_alteration
def deck_of_51_cards(record: Record, rng: random.Random) -> bool:
    rng.choice(record["deals"])["deck"].pop()
    return True


@_alteration
def deck_of_53_cards(record: Record, rng: random.Random) -> bool:
    rng.choice(record["deals"])["deck"].append("AS")
    return True


@_alteration
def deck_with_an_unknown_card(record: Record, rng: random.Random) -> bool:
    rng.choice(record["deals"])["deck"][rng.randrange(52)] = rng.choice(["10H", "ah", "AX", "", 3, None])
    return True
