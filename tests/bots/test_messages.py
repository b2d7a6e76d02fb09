"""The messages of the bot protocol: what is sent is as the schema says and hides what is hidden; what comes is read strictly."""

import base64
import json
import re
from pathlib import Path
from random import Random  # noqa: TID251  # which games are looked at

import jsonschema
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.bots import messages
from agents.bots.events import Narrator
from agents.bots.limits import Limits
from agents.bots.process import MAX_SHOWN, BotFailure, printable
from agents.bots.situations import PLAYERS, RULES, situations
from chicago_env.actions import format_action
from chicago_env.cards import CARD_NAMES, parse_card
from chicago_env.game import Game, new_states
from chicago_env.notation import parse_rules
from chicago_env.setup import MatchSetup
from chicago_env.state import OVER
from chicago_env.view import decode
from tests.hidden_cards import seen_by, strong

ROOT = Path(messages.__file__).parent
SCHEMA = json.loads((ROOT / "schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def validate(message: object, kind: str | None = None) -> None:
    chosen = (
        VALIDATOR if kind is None else VALIDATOR.evolve(schema={"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]})
    )
    chosen.validate(message)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


class Shadow(Game):
    """A game in the states of a narrator, for helpers that want a `Game`."""

    __slots__ = ()

    def __init__(self, states: np.ndarray, setup: MatchSetup) -> None:
        super().__init__(setup=setup)
        self._states = states


def cards_in(value: object) -> set[int]:
    """Every card that is named anywhere in a message."""
    if isinstance(value, str):
        return {parse_card(value)} if value in CARD_NAMES else set()
    if isinstance(value, dict):
        return set().union(*map(cards_in, value.values()), set())
    return set().union(*map(cards_in, value), set()) if isinstance(value, list) else set()


def play_out(rules: str, players: int, seed: int, deals: int = 3):
    """Yields before and after every step of a match: game, seat's events by seat, cards seen before by seat."""
    scores = [(7 * seed + 13 * s) % 50 for s in range(players)]
    setup = MatchSetup.make(players, rules, seed=seed, scores=scores, max_deals=deals)
    states = new_states([setup])
    narrator = Narrator(states, 0, setup)
    game = Shadow(states, setup)
    rng = Random(seed)
    seen: list[set[int]] = [set() for _ in range(players)]
    told = narrator.start()
    while True:
        yield game, told, seen
        if int(states["phase"][0]) == OVER:
            return
        seen = [seen_by(game, seat) for seat in range(players)]
        told = narrator.step(strong(game, rng))


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("players", PLAYERS)
def test_no_event_names_a_card_that_the_seat_has_not_seen(rules: str, players: int) -> None:
    kinds = set()
    for seed in range(1):
        for game, told, before in play_out(rules, players, seed):
            for seat in range(players):
                events = [event.to(seat) for event in told]
                kinds |= {event["event"] for event in events}
                validate(messages.match_end(1, events, {"scores": game.scores, "winner": None, "reason": "truncated"}))
                played = cards_in([event for event in events if event["event"] == "play"])
                assert cards_in(events) <= before[seat] | seen_by(game, seat) | played
                assert all("drawn" not in e or e["seat"] == seat for e in events if e["event"] == "exchange")
                assert all(len(e["hand"]) == 5 for e in events if e["event"] == "deal")
    assert kinds >= {"deal", "exchange", "announce", "play", "trick", "score", "deal_end"}


@pytest.mark.slow
def test_every_kind_of_event_comes_about() -> None:
    found = set()
    for rules in RULES:
        for players in (2, 4, 6):
            for seed in range(12):
                for _, told, _ in play_out(rules, players, seed):
                    found |= {event.public["event"] for event in told}
    kinds = {o["properties"]["event"]["const"] for o in SCHEMA["$defs"]["event"]["oneOf"]}
    assert kinds - found <= {"void", "four"}  # faults alone make the first; the second is tested below


def test_scores_and_ranks_of_events_are_those_of_the_game() -> None:
    shown = 0
    for rules in ("family+reveal=ranks+suits=HSDC", "open-card", "race+penalty=15"):
        for seed in range(3):
            for game, told, _ in play_out(rules, 4, seed):
                for event in (e.public for e in told):
                    if event["event"] == "deal":
                        assert event["scores"] == game.scores
                    if event["event"] == "ranks":
                        view = decode(game.observation(event["seat"]))
                        said = next(r.announcements[0] for r in reversed(view.rounds) if r.announcements[0])
                        assert event["ranks"] == ["23456789TJQKA"[r] for r in said.ranks]
                        assert event["suit"] == (None if said.suit is None else "CDHS"[said.suit])
                        shown += 1
    assert shown > 3


@pytest.mark.parametrize("rules", RULES)
def test_every_act_is_as_the_schema_says_and_has_every_legal_action(rules: str) -> None:
    for players in PLAYERS:
        for i, (observation, mask, _) in enumerate(situations(rules, players)):
            view = decode(observation)
            seat = i % players
            raw = observation if i % 2 else None
            line = messages.act(3, 7, 1.5, [], view, seat, mask, raw)
            assert line.endswith(b"}\n")
            assert b"\n" not in line[:-1]
            assert b'": ' not in line
            message = json.loads(line)
            validate(message, "act")
            legal = np.flatnonzero(mask).tolist()
            assert [option["id"] for option in message["legal"]] == legal
            assert [option["text"] for option in message["legal"]] == [format_action(a, view.hand) for a in legal]
            shown = message["view"]
            assert shown["hand"] == [CARD_NAMES[card] for card in view.hand]
            assert shown["scores"][seat] == view.scores[0]
            assert shown["scores"][(seat + 1) % players] == view.scores[1]
            assert shown["dealer"] == (view.dealer + seat) % players
            if raw is not None:
                data = base64.b64decode(message["observation"])
                assert (np.frombuffer(data, dtype=np.uint8) == observation).all()
            for option in message["legal"]:
                for action in (option["id"], option["text"]):
                    answer = json.dumps({"type": "action", "turn": 3, "action": action}).encode()
                    assert messages.parse_answer(answer, 3, mask, observation) == option["id"]
                    validate(json.loads(answer), "bot_action")


def test_the_other_messages_are_as_the_schema_says() -> None:
    validate(messages.hello(Limits()), "hello")
    validate(messages.QUIT, "quit")
    for rules in RULES:
        for players in PLAYERS:
            made = messages.match(1, parse_rules(rules), players - 1, [0] * players, 200, 5, False)
            validate(json.loads(messages.encode(made)), "match")
    validate({"event": "void", "seat": 1, "penalty": 15, "scores": [1, 2]}, "event")
    validate({"event": "four", "seat": 1, "choice": "reset"}, "event")


def test_every_kind_of_decision_is_reached() -> None:
    for rules in RULES:
        for players in PLAYERS:
            kinds = {situation.kind for situation in situations(rules, players)}
            made = parse_rules(rules)
            assert kinds >= {"exchange", "play", "chicago"}
            assert ("announce" in kinds) == (made.announcing == "free")
            assert ("open_choice" in kinds, "open_accept" in kinds) == (made.open_card, made.open_card)
            assert ("four" in kinds) == (made.four_of_a_kind == "choose")


# --- what a bot says -------------------------------------------------------------------------------------------------


def question() -> tuple[np.ndarray, np.ndarray]:
    game = Game(2, seed=3)
    return game.observe()


OBSERVATION, MASK = question()


def answer(line: bytes) -> int:
    return messages.parse_answer(line, 5, MASK, OBSERVATION)


def outcome(read, line: bytes):
    """What was read, and how it failed."""
    try:
        return read(line), None
    except BotFailure as failure:
        return None, failure


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
almost = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["action", "hello", "act"]) | json_values,
        "turn": st.sampled_from([5, 4]) | json_values,
        "action": st.integers(-2, 110) | st.sampled_from(["keep all", "discard 2C", "play AS"]) | json_values,
        "extra": json_values,
    },
)


@settings(max_examples=600, deadline=None)
@given(
    st.binary(max_size=200)
    | almost.map(lambda m: json.dumps(m).encode())
    | json_values.map(lambda m: json.dumps(m).encode())
)
@example(b"[" * 1000)
@example(b'{"type":"action","turn":5,"action":' + b"9" * 900 + b"}")
@example(b'{"type":"action","turn":5,"action":1e400}')
@example(b'{"type":"action","turn":5.0,"action":0}')
@example(b'{"type":"action","turn":true,"action":0}')
@example(b'{"type":"action","turn":5,"action":false}')
@example(b'{"type":"action","turn":5,"action":0,"action":0}')
@example(b'{"type":"action","turn":5,"action":"\\ud800"}')
@example(b'\xef\xbb\xbf{"type":"action","turn":5,"action":0}')
@example(b'{"type":"action","turn":5,"action":"discard 2C 2C"}')
def test_whatever_a_bot_writes_is_an_answer_or_a_failure(line: bytes) -> None:
    action, failure = outcome(answer, line)
    if failure is not None:
        assert failure.status == "INVALID"
        assert failure.reason
        assert len(failure.line) <= MAX_SHOWN
        assert failure.line.isascii()
        assert failure.line.isprintable() or not failure.line
        assert failure.reason.isprintable(), repr(failure.reason)
    else:
        assert type(action) is int
        assert MASK[action]
        validate(json.loads(line), "bot_action")


@settings(max_examples=300, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["hello", "action"]),
            "protocol": st.sampled_from([1, 2, True, 1.0, "1"]),
            "name": st.text(max_size=70),
            "version": st.text(max_size=70),
            "raw": st.sampled_from([True, False, 1, None]),
        },
    ).map(lambda m: json.dumps(m).encode())
    | st.binary(max_size=100)
)
def test_a_hello_is_read_strictly(line: bytes) -> None:
    hello, failure = outcome(messages.parse_hello, line)
    if failure is not None:
        assert failure.status == "INVALID"
    else:
        message = json.loads(line)
        validate(message, "bot_hello")
        assert hello == (message["name"], message["version"], message.get("raw", False))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_offending_lines_are_made_printable(line: bytes) -> None:
    shown = printable(line)
    assert len(shown) <= MAX_SHOWN
    assert all(" " <= c <= "~" for c in shown)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", r"^an empty line$"),
        (b" \r", r"^an empty line$"),
        (b'{"type":"action","turn":"5","action":0}', r"^'turn' must be a whole number, not text in quotes$"),
        (b'{"type":"action","turn":5.0,"action":0}', r"^'turn' must be a whole number$"),
        (b'{"type":"action","turn":5,"action":1000}', r"^action 1000 is not legal; legal: 0 keep all, 1 discard \w\w, "),
        (b'{"type":"action","turn":5,"action":"call chicago"}', r"^action 'call chicago' is not legal; legal: 0 keep all, "),
        (b'{"type":"action","turn":5,"action":"61"}', r"an id is a number, written without quotes; legal: 0 keep all"),
        (b'{"type":"action","turn":5,"action":"fold"}', r"'fold' is no action; .*; legal: 0 keep all, .*, … 20 more$"),
    ],
)  # fmt: skip
def test_a_failure_says_what_would_have_been_right(line: bytes, words: str) -> None:
    with pytest.raises(BotFailure) as caught:
        answer(line)
    assert re.search(words, caught.value.reason), caught.value.reason


def test_a_protocol_in_quotes_is_told_apart_from_another_one() -> None:
    for protocol, words in (('"1"', "must be a whole number, not text in quotes"), ("2", "the protocol is not 1")):
        with pytest.raises(BotFailure, match=words):
            messages.parse_hello(f'{{"type":"hello","protocol":{protocol},"name":"x","version":"1"}}'.encode())
