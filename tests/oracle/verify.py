"""Checks a match record by playing it again (docs/record-format.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.oracle.actions import (
    ACCEPT,
    CALL,
    CLOSED,
    DECLINE,
    NO_CALL,
    OPEN,
    PASS,
    PLAY,
    TAKE_POINTS,
    TAKE_RESET,
)
from tests.oracle.cards import CARD_OF, OracleError, cards_of, texts
from tests.oracle.match import OracleMatch
from tests.oracle.rulebook import check_rules

RECORD_FIELDS = [
    *["format", "version", "rules", "players", "names", "seed", "first_dealer", "start_scores", "max_deals"],
    *["deals", "result"],
]
DEAL_FIELDS = ["dealer", "deck", "events", "scores"]


def _exact(value: object) -> str:
    """Text that differs wherever JSON does: true is not 1 and 1 is not 1.0."""
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise OracleError(f"{value!r} is no JSON") from error


def comparable(event: object) -> str:
    """The event as text, with the cards in the order that may not be chosen freely."""
    if isinstance(event, list) and len(event) > 2 and event[0] in ("exchange", "show") and isinstance(event[2], list):
        event = [*event[:2], sorted(event[2], key=str), *event[3:]]
    return _exact(event)


def _int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_frame(record: Any) -> None:
    """Everything that can be seen without playing."""
    if not isinstance(record, Mapping) or set(record) != set(RECORD_FIELDS):
        raise OracleError("a record has exactly the fields " + ", ".join(RECORD_FIELDS))
    if record["format"] != "chicago-record" or not _int(record["version"]) or record["version"] != 1:
        raise OracleError("not a record of format 1")
    check_rules(record["rules"])
    players = record["players"]
    if not _int(players) or not 2 <= players <= 6:
        raise OracleError(f"{players!r} players")
    names = record["names"]
    if not isinstance(names, list) or len(names) != players or not all(isinstance(name, str) for name in names):
        raise OracleError("names: one text for each player")
    scores = record["start_scores"]
    if not isinstance(scores, list) or len(scores) != players or not all(map(_int, scores)):
        raise OracleError("start_scores: one integer for each player")
    if not all(_int(record[name]) for name in ("seed", "first_dealer", "max_deals")):
        raise OracleError("seed, first_dealer and max_deals are integers")
    if not isinstance(record["deals"], list) or not record["deals"]:
        raise OracleError("deals: a list of one or more")
    for index, deal in enumerate(record["deals"]):
        if not isinstance(deal, Mapping) or set(deal) != set(DEAL_FIELDS):
            raise OracleError(f"deal {index}: a deal has exactly the fields " + ", ".join(DEAL_FIELDS))
        if not isinstance(deal["deck"], list) or not isinstance(deal["events"], list):
            raise OracleError(f"deal {index}: deck and events are lists")
    if record["result"] is None:
        raise OracleError("the match is unfinished")


class _Reader:
    """Reads the actions out of the events of a record, and compares what comes about with what stands there."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        _check_frame(record)
        self.record = record
        self.deals: list[dict[str, Any]] = record["deals"]
        self.checked = 0  # events of the current deal that agree
        self.match = OracleMatch(
            record["rules"],
            record["players"],
            deck_of=self._deck_of,
            reshuffle_of=self._reshuffle_of,
            start_scores=record["start_scores"],
            first_dealer=record["first_dealer"],
            max_deals=record["max_deals"],
            seed=record["seed"],
            names=record["names"],
        )

    def _deck_of(self, deal: int) -> list[int]:
        if deal >= len(self.deals):
            raise OracleError(f"deal {deal} is missing: the match is not over")
        try:
            return cards_of(self.deals[deal]["deck"])
        except OracleError as error:
            raise OracleError(f"deal {deal}, deck: {error}") from error

    def _reshuffle_of(self, deal: int, n: int, cards: list[int]) -> list[int]:
        written = [
            event for event in self.deals[deal]["events"] if isinstance(event, list) and event[:1] == ["reshuffle"]
        ]
        if n >= len(written) or len(written[n]) != 2 or not isinstance(written[n][1], list):
            raise OracleError(f"deal {deal}: reshuffle {n} is due and missing")
        return cards_of(written[n][1])

    def run(self) -> None:
        while not self.match.over:
            deal = self.match.deal_index
            self._check_events(deal)
            try:
                self.match.step(self._action(deal))
            except OracleError as error:
                raise OracleError(f"deal {deal}, event {self.checked}: {error}") from error
            if self.match.deal_index > deal:
                self._check_deal(deal)
        self._check_deal(self.match.deal_index)
        if len(self.deals) != len(self.match.deals):
            raise OracleError(f"deal {len(self.match.deals)}: the match was over before it")
        if _exact(self.record["result"]) != _exact(self.match.result):
            raise OracleError(f"result: {self.record['result']} should be {self.match.result}")

    def _check_events(self, deal: int) -> None:
        """Compare the events that came about since the last look."""
        events = self.match.deals[deal]["events"]
        written = self.deals[deal]["events"]
        for index in range(self.checked, len(events)):
            if index >= len(written):
                raise OracleError(f"deal {deal}, event {index}: {events[index]} is missing")
            if comparable(written[index]) != comparable(events[index]):
                raise OracleError(f"deal {deal}, event {index}: {written[index]} should be {events[index]}")
        self.checked = len(events)

    def _check_deal(self, deal: int) -> None:
        self._check_events(deal)
        mine, written = self.match.deals[deal], self.deals[deal]
        if len(written["events"]) > self.checked:
            raise OracleError(f"deal {deal}, event {self.checked}: {written['events'][self.checked]} is one too many")
        for field in ("dealer", "scores"):
            if _exact(written[field]) != _exact(mine[field]):
                raise OracleError(f"deal {deal}, {field}: {written[field]} should be {mine[field]}")
        self.checked = 0

    def _next(self, deal: int, *kinds: str) -> list[Any]:
        """The first event not yet compared that is of one of the kinds."""
        for event in self.deals[deal]["events"][self.checked :]:
            if isinstance(event, list) and event and event[0] in kinds:
                return event
        raise OracleError(f"no event {' or '.join(kinds)} follows")

    def _action(self, deal: int) -> int:
        """The action that the written events say was taken at the present decision."""
        match = self.match
        if match.phase == "exchange":
            return self._discard_mask(deal)
        if match.phase in ("one_card", "face_up"):
            # A one-card exchange without an open event was the closed choice.
            event = self._next(deal, "open", "exchange")
            if match.phase == "one_card":
                return OPEN if event[0] == "open" else CLOSED
            return ACCEPT if event[-1] is True else DECLINE
        kind = match.phase
        written = self.deals[deal]["events"][self.checked : self.checked + 1]
        if not written or not isinstance(written[0], list) or len(written[0]) != 3 or written[0][0] != kind:
            raise OracleError(f"{written[0] if written else 'the end'} stands where {kind} of {match.to_act} is due")
        value = written[0][2]
        if kind == "announce" and _int(value) and 0 <= value <= 9:
            return PASS + int(value)
        if kind == "chicago" and isinstance(value, bool):
            return CALL if value else NO_CALL
        if kind == "four" and value in ("points", "reset"):
            return TAKE_RESET if value == "reset" else TAKE_POINTS
        if kind == "play" and isinstance(value, str) and value in CARD_OF:
            return PLAY + CARD_OF[value]
        raise OracleError(f"{written[0]} says no action")

    def _discard_mask(self, deal: int) -> int:
        event = self._next(deal, "exchange")
        seat = self.match.to_act
        assert seat is not None
        if len(event) != 4 or event[1] != seat or not isinstance(event[2], list):
            raise OracleError(f"{event} stands where the exchange of {seat} is due")
        discards = cards_of(event[2])
        held = self.match.hand(seat)
        if len(set(discards)) != len(discards) or not set(discards) <= set(held):
            raise OracleError(f"seat {seat} discards {event[2]} and holds {texts(held)}")
        return sum(1 << i for i, card in enumerate(held) if card in discards)


def verify_record(record: Mapping[str, Any]) -> None:
    """Raise OracleError with deal and event of the first difference unless the record is a match by the rules."""
    _Reader(record).run()
