"""Checks a record by playing the match again: every card, event and score must come about as it is written."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from chicago_env._jit import announce_compilation
from chicago_env.actions import format_action
from chicago_env.cards import NUM_CARDS, format_cards
from chicago_env.engine.log import CAPACITY
from chicago_env.errors import RecordError
from chicago_env.game import NO_LOG, cards_of, new_states
from chicago_env.kernels import records as kernels
from chicago_env.kernels import single
from chicago_env.records.build import FORMAT, VERSION
from chicago_env.records.events import Event, MalformedEvent, card_ids, decode, encode, short
from chicago_env.rules import Rules, check_players
from chicago_env.setup import Decks
from chicago_env.state import EXCHANGE, OPEN_ACCEPT, OPEN_CHOICE, OVER, PHASES, REASONS

RECORD_FIELDS = (
    "format", "version", "rules", "players", "names", "seed", "first_dealer", "start_scores", "max_deals", "deals",
    "result",
)  # fmt: skip
DEAL_FIELDS = ("dealer", "deck", "events", "scores")
RESULT_FIELDS = ("scores", "winner", "reason")

_IN_TURN = {"penalty", "show", "reshuffle", "open"}
"""Kinds of events that come before the `exchange` of a turn."""

_MAX_SCORE = 1_000_000_000  # a match cannot get from here to the limit of the event log's numbers
_MAX_INT = (1 << 63) - 1


class MatchSummary(NamedTuple):
    """What a verified record was a match of.

    Attributes:
        players: number of players.
        deals: number of deals, the last one perhaps ended in its middle.
        events: number of events.
        winner: seat of the winner; None for a truncated match.
        reason: `target`, `instant` or `truncated`.
    """

    players: int
    deals: int
    events: int
    winner: int | None
    reason: str


class _Frame(NamedTuple):
    """How a recorded match starts; records may have scores and lengths beyond those of a `MatchSetup`."""

    players: int
    rules: Rules
    scores: tuple[int, ...]
    max_deals: int
    decks: Decks


class _Wrong(Exception):
    """A difference: reason, and the deal and event where it is known."""

    def __init__(self, reason: str, deal: int | None = None, event: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.deal, self.event = reason, deal, event


def verify_record(record: object, *, file: str | None = None, line: int | None = None) -> MatchSummary:
    """Plays the match of a record (docs/record-format.md) again and compares everything.

    Args:
        record: a record as JSON gives it.
        file: name of its file, for the message.
        line: its line there, from 1.

    Raises:
        RecordError: the first difference, or what is malformed, with its place. Nothing else is raised whatever
            `record` is.
    """
    try:
        return _Follower(record).run()
    except _Wrong as wrong:
        raise RecordError(wrong.reason, file=file, line=line, deal=wrong.deal, event=wrong.event) from None
    except RecursionError:
        raise RecordError("nested too deeply", file=file, line=line) from None


def _is_int(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _has_fields(value: object, fields: tuple[str, ...], what: str, deal: int | None = None) -> None:
    if type(value) is not dict:
        raise _Wrong(f"{what} is {short(value)}, not an object", deal)
    for name in fields:
        if name not in value:
            raise _Wrong(f"{what} lacks {name!r}", deal)
    for name in value:
        if name not in fields:
            raise _Wrong(f"{what} has {short(name)}, which the format does not know", deal)


def _scores(value: object, players: int, name: str, deal: int | None = None) -> list[int]:
    if type(value) is not list or len(value) != players:
        raise _Wrong(f"{name}: {short(value)} is not a list of {players} scores", deal)
    for score in value:
        if not _is_int(score, -_MAX_SCORE, _MAX_SCORE):
            raise _Wrong(f"{name}: {short(score)} is not an integer within ±{_MAX_SCORE:,}", deal)
    return value


def _frame(record: Any) -> _Frame:
    """Checks everything around the deals. All decks are given, and so the seed plays no part."""
    _has_fields(record, RECORD_FIELDS, "the record")
    if record["format"] != FORMAT:
        raise _Wrong(f"format is {short(record['format'])}, not {FORMAT!r}")
    if not _is_int(record["version"], VERSION, VERSION):
        raise _Wrong(f"version is {short(record['version'])}; this program reads version {VERSION}")
    if type(record["rules"]) is not dict:
        raise _Wrong(f"rules is {short(record['rules'])}, not an object")
    try:
        rules = Rules.from_dict(record["rules"], complete=True)
        players = check_players(record["players"])
    except ValueError as error:  # a RulesError, or a number too long to be written
        raise _Wrong(short(str(error), 400, quote=False)) from None
    names = record["names"]
    if type(names) is not list or len(names) != players or not all(type(name) is str for name in names):
        raise _Wrong(f"names: {short(names)} is not a list of {players} texts")
    if type(record["seed"]) is not int:
        raise _Wrong(f"seed: {short(record['seed'])} is not an integer")
    if not _is_int(record["first_dealer"], 0, players - 1):
        raise _Wrong(f"first_dealer: {short(record['first_dealer'])} is no seat: there are 0 to {players - 1}")
    if not _is_int(record["max_deals"], 1, _MAX_INT):
        raise _Wrong(f"max_deals: {short(record['max_deals'])} is not a positive number")
    scores = _scores(record["start_scores"], players, "start_scores")
    deals = record["deals"]
    if type(deals) is not list or not deals:
        raise _Wrong(f"deals: {short(deals)} is not a list of deals")
    decks = np.zeros((len(deals), NUM_CARDS), dtype=np.int8)
    for index, deal in enumerate(deals):
        _has_fields(deal, DEAL_FIELDS, "the deal", index)
        decks[index] = _deck(deal["deck"], index)
        if type(deal["events"]) is not list:
            raise _Wrong(f"events is {short(deal['events'])}, not a list", index)
    if record["result"] is None:
        raise _Wrong("the match is unfinished: result is null")
    _has_fields(record["result"], RESULT_FIELDS, "result")
    return _Frame(players, rules, tuple(scores), record["max_deals"], decks)


def _deck(deck: object, deal: int) -> list[int]:
    try:
        ids = card_ids(deck)
    except MalformedEvent as error:
        raise _Wrong(f"deck: {error}", deal) from None
    if len(ids) != NUM_CARDS:
        raise _Wrong(f"deck: has {len(ids)} cards", deal)
    return ids


class _Follower:
    """The engine on its way through a record."""

    def __init__(self, record: Any) -> None:
        self.setup = _frame(record)
        self.record: Mapping[str, Any] = record
        self.states = new_states([self.setup])
        self.log = np.zeros(CAPACITY, dtype=np.int32)
        self.where = np.zeros(2, dtype=np.int64)

    def run(self) -> MatchSummary:
        announce_compilation()
        setup, states = self.setup, self.states
        dealer = self.record["first_dealer"]
        single.start(states, 0, dealer, setup.max_deals, setup.decks, NO_LOG)
        deals = self.record["deals"]
        events = 0
        for index, deal in enumerate(deals):
            if self._over():
                raise _Wrong(f"one deal too many: the match ended ({self._end()}) before it", index)
            self._follow(index, deal)
            events += len(deal["events"])
        if not self._over():
            raise _Wrong(f"missing: the match is not over, scores {self._now()}", len(deals))
        result = self.record["result"]
        seat = int(states["winner"][0])
        winner = seat if seat >= 0 else None
        expected = {"scores": self._now(), "winner": winner, "reason": self._end()}
        for name in RESULT_FIELDS:
            if not _same_json(result[name], expected[name]):
                raise _Wrong(f"result: {name} is {short(result[name])}, should be {expected[name]!r}")
        return MatchSummary(setup.players, len(deals), events, winner, self._end())

    def _over(self) -> bool:
        return int(self.states["phase"][0]) == OVER

    def _end(self) -> str:
        return str(REASONS[int(self.states["reason"][0])])

    def _now(self) -> list[int]:
        scores: list[int] = self.states["scores"][0, : self.setup.players].tolist()
        return scores

    def _follow(self, index: int, deal: Mapping[str, Any]) -> None:
        dealer = int(self.states["dealer"][0])
        if not _same_json(deal["dealer"], dealer):
            raise _Wrong(f"dealer is {short(deal['dealer'])}, should be {dealer}", index)
        starts, script, malformed = self._script(deal["events"])
        outcome = kernels.follow_deal(self.states, self.setup.decks, script, self.log, self.where)
        if malformed is not None or outcome != kernels.DEAL_OVER:
            at = int(self.where[0])
            event = starts.index(at) if at in starts else len(starts)
            # A decision that looks ahead for the end of its turn may have met the malformed event there.
            turn = outcome == kernels.ILLEGAL and all(e[0] in _IN_TURN for e in deal["events"][event : len(starts)])
            if malformed is not None and (turn or event == len(starts)):
                raise _Wrong(malformed, index, len(starts))
            raise _Wrong(self._difference(outcome, deal["events"], event), index, event)
        if not _same_json(deal["scores"], self._now()):
            raise _Wrong(f"scores: {short(deal['scores'])} should be {self._now()}", index)

    def _script(self, events: list[object]) -> tuple[list[int], Any, str | None]:
        """Where each event starts, the words of all events up to a malformed one, and what is wrong with that one."""
        words: list[int] = []
        starts: list[int] = []
        malformed: str | None = None
        players = self.setup.players
        for event in events:
            try:
                encoded = encode(event, players)
            except MalformedEvent as error:
                malformed = str(error)
                break
            starts.append(len(words))
            words += encoded
        return starts, np.array(words, dtype=np.int32), malformed

    def _difference(self, outcome: int, events: list[Any], at: int) -> str:
        if outcome == kernels.TOO_MANY:
            return f"{short(events[at])} is one too many: the deal was over before it"
        if outcome == kernels.ILLEGAL:
            return self._illegal(events[at] if at < len(events) else None)
        expected = decode(self.log.tolist(), int(self.where[1]))[0]
        if outcome == kernels.MISSING:
            return f"missing: {short(expected)}"
        return f"{short(events[at])} should be {short(expected)}"

    def _illegal(self, event: Event | None) -> str:
        """What is wrong with an event that says no action, or none that may be taken now."""
        base, bits = single.legal(self.states)
        seat, phase = int(self.states["to_act"][0]), int(self.states["phase"][0])
        found = "missing" if event is None else short(event)
        hand = cards_of(self.states["hand"][0, seat])
        if phase == EXCHANGE:
            held = format_cards(hand)
            what = f"keeps all of {held}: it is under buy stop" if bits == 1 else f"exchanges cards of {held}"
        elif phase in {OPEN_CHOICE, OPEN_ACCEPT}:
            what = "draws one card"
        else:
            legal = ", ".join(format_action(base + i) for i in cards_of(bits))
            what = f"is to {PHASES[phase]}; legal: {legal}"
        return f"{found} where seat {seat} {what}"


def _same_json(found: object, expected: object) -> bool:
    """Whether two JSON values are the same, types included: true is not 1."""
    if type(found) is not type(expected):
        return False
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_same_json, found, expected))
    return found == expected
