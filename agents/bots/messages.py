"""The messages between harness and bot, version 1 (docs/bot-protocol.md; `schema.json` beside this file).

What is sent is made here, and what a bot says is read here: strictly, so that nothing wrong passes for something else.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, NoReturn

import numpy as np

from agents.bots.events import Event
from agents.bots.limits import Limits
from agents.bots.process import BotFailure
from chicago_env.actions import ANNOUNCE, NUM_ACTIONS, format_action, parse_action
from chicago_env.cards import CARD_NAMES, CATEGORIES, RANKS, SUITS
from chicago_env.errors import MAX_LISTED, ActionError
from chicago_env.layout import AT, CARDS, OBSERVATION_SIZE, OBSERVATION_VERSION, layout_hash
from chicago_env.notation import format_rules
from chicago_env.rules import Rules
from chicago_env.view import Announcement, Exchange, Round, View

PROTOCOL = 1
MAX_NAME = 64

Message = dict[str, Any]

_TEXTS = [json.dumps({"id": a, "text": format_action(a)}, separators=(",", ":")) for a in range(ANNOUNCE, NUM_ACTIONS)]
_SUBSETS = [tuple(i for i in range(5) if mask >> i & 1) for mask in range(ANNOUNCE)]


def encode(message: Message) -> bytes:
    """One line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


# --- what is sent ----------------------------------------------------------------------------------------------------


def hello(limits: Limits) -> Message:
    """The first message."""
    try:
        number = version("chicago-env")
    except PackageNotFoundError:  # run from a checkout that is not installed
        number = "unknown"
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "name": "chicago-env",
        "version": number,
        "move_seconds": limits.move,
        "bank_seconds": limits.bank,
        "observation": {"version": OBSERVATION_VERSION, "size": OBSERVATION_SIZE, "hash": layout_hash()},
    }


def match(
    game: int, rules: Rules, seat: int, scores: Sequence[int], max_deals: int, seed: int, resumed: bool
) -> Message:
    """A match begins, or, `resumed`, is told of in its middle."""
    return {
        "type": "match",
        "game": game,
        "players": len(scores),
        "seat": seat,
        "rules": rules.to_dict(),
        "notation": format_rules(rules),
        "scores": list(scores),
        "max_deals": max_deals,
        "seed": seed,
        "resumed": resumed,
    }


def match_end(game: int, events: Sequence[Event], result: Mapping[str, Any]) -> Message:
    """A match is over: `result` has `scores`, `winner` and `reason`."""
    return {"type": "match_end", "game": game, "events": list(events), **result}


QUIT: Message = {"type": "quit"}


def act(
    turn: int,
    game: int,
    bank: float,
    events: Sequence[Event],
    view: View,
    seat: int,
    mask: np.ndarray[Any, np.dtype[np.int8]],
    observation: np.ndarray[Any, np.dtype[np.uint8]] | None,
) -> bytes:
    """The line that asks for an action: (A,) `mask` and, if asked for, the (D,) `observation`."""
    head: Message = {
        "type": "act",
        "turn": turn,
        "game": game,
        "bank": round(bank, 3),
        "events": events,
        "view": view_of(view, seat),
    }
    if observation is not None:
        head["observation"] = base64.b64encode(observation.tobytes()).decode()
    text = json.dumps(head, separators=(",", ":"))
    return f'{text[:-1]},"legal":[{_legal(mask, view.hand)}]}}\n'.encode()


def _legal(mask: np.ndarray[Any, np.dtype[np.int8]], hand: Sequence[int]) -> str:
    ids = np.flatnonzero(mask).tolist()
    if ids[0] >= ANNOUNCE:
        return ",".join([_TEXTS[a - ANNOUNCE] for a in ids])
    names = [CARD_NAMES[card] for card in hand]
    texts = ["discard " + " ".join([names[i] for i in _SUBSETS[a]]) if a else "keep all" for a in ids]
    return ",".join([f'{{"id":{a},"text":"{text}"}}' for a, text in zip(ids, texts, strict=True)])


def _names(cards: Sequence[int]) -> list[str]:
    return [CARD_NAMES[card] for card in cards]


def _name(card: int | None) -> str | None:
    return None if card is None else CARD_NAMES[card]


def view_of(view: View, seat: int) -> Message:
    """A view as JSON values, with seats as they are at the table, where the observer is `seat`."""
    players = view.players
    # seat s at the table is this relative one
    order = [(s - seat) % players for s in range(players)]

    def at(relative: int | None) -> int | None:
        return None if relative is None else (relative + seat) % players

    def by_seat(values: Sequence[Any]) -> list[Any]:
        return [values[r] for r in order]

    def turn(exchange: Exchange | None) -> Message | None:
        if exchange is None:
            return None
        return {
            "count": exchange.count,
            "open": exchange.open,
            "card": _name(exchange.open_card),
            "reshuffled": exchange.reshuffled,
        }

    def said(announcement: Announcement | None) -> Message | None:
        if announcement is None:
            return None
        return {
            "category": CATEGORIES[announcement.category] if announcement.category else None,
            "shown": _names(announcement.shown),
            "ranks": [RANKS[rank] for rank in announcement.ranks],
            "suit": None if announcement.suit is None else SUITS[announcement.suit],
        }

    def part(r: Round) -> Message:
        return {
            "exchanges": [turn(r.exchanges[s]) for s in order],
            "discards": _names(r.discards),
            "draws": _names(r.draws),
            "breaker": at(r.breaker),
            "broken": _names(r.broken),
            "announcements": [said(r.announcements[s]) for s in order],
            "standing": at(r.standing),
            "tied": r.tied,
            "four": r.four,
        }

    tricks = []
    for t in range(5 if view.trick is not None else 0):
        leader = view.leader_of(t)
        if leader is None:
            break
        cards = [((leader + i) % players, view.plays[t][(leader + i) % players]) for i in range(players)]
        played = [{"seat": at(s), "card": CARD_NAMES[card]} for s, card in cards if card is not None]
        tricks.append({"leader": at(leader), "cards": played, "winner": at(view.winners[t])})
    return {
        "phase": view.phase,
        "deal": view.deal,
        "deals_left": view.deals_left,
        "dealer": at(view.dealer),
        "round": view.round,
        "trick": view.trick,
        "scores": by_seat(view.scores),
        "hand": _names(view.hand),
        "category": None if view.category is None else CATEGORIES[view.category],
        "group": _names(view.group),
        "upcard": _name(view.upcard),
        "best": None if view.best is None else CATEGORIES[view.best],
        "stock": view.stock,
        "stopped": by_seat(view.stopped),
        "attempted": by_seat(view.attempted),
        "succeeded": by_seat(view.succeeded),
        "known": [_names(view.known[s]) for s in order],
        "rounds": [part(r) for r in view.rounds[: view.round + 1]],
        "asked": by_seat(view.asked),
        "caller": at(view.caller),
        "failed": view.failed,
        "leader": at(view.leader),
        "tricks": tricks,
        "led_suit": None if view.led_suit is None else SUITS[view.led_suit],
        "winning_card": _name(view.winning_card),
        "winning_seat": at(view.winning_seat),
        "voids": [[SUITS[suit] for suit in view.voids[s]] for s in order],
        "showdown_four": view.showdown_four,
    }


# --- what a bot says -------------------------------------------------------------------------------------------------


class BotHello(NamedTuple):
    """Who a bot is.

    Attributes:
        name: 1 to 64 printable characters.
        version: the same.
        raw: it wants the raw observation with every `act`.
    """

    name: str
    version: str
    raw: bool


def _pairs(pairs: list[tuple[str, Any]]) -> Message:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in [k for k, _ in pairs[:i]])
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return result


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _object(line: bytes, kind: str, needed: set[str], free: set[str] | frozenset[str] = frozenset()) -> Message:
    """The JSON object in `line`: of type `kind`, with all keys of `needed`, perhaps some of `free`, and no others."""
    if not line.strip():
        raise BotFailure("INVALID", "an empty line", line)
    try:
        message = json.loads(line.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_constant)
    except UnicodeDecodeError:
        raise BotFailure("INVALID", "not UTF-8", line) from None
    except json.JSONDecodeError as error:
        raise BotFailure("INVALID", f"not JSON: {error.msg} at character {error.pos}", line) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BotFailure("INVALID", f"not JSON: {reason}", line) from None
    if not isinstance(message, dict):
        raise BotFailure("INVALID", "not a JSON object", line)
    if message.get("type") != kind or not isinstance(message["type"], str):
        raise BotFailure("INVALID", f"not of type {kind!r}", line)
    for key in sorted(needed - message.keys()):
        raise BotFailure("INVALID", f"the key {key!r} is missing", line)
    for key in message.keys() - needed - free - {"type"}:
        raise BotFailure("INVALID", f"unknown key {printable_key(key)}", line)
    return message


def printable_key(key: str) -> str:
    """A key for an error."""
    return ascii(key[:40])


def parse_hello(line: bytes) -> BotHello:
    """Reads the answer to `hello`.

    Raises:
        BotFailure: it is not one.
    """
    message = _object(line, "hello", {"protocol", "name", "version"}, {"raw"})
    _number("protocol", message["protocol"], line)
    if message["protocol"] != PROTOCOL:
        raise BotFailure("INVALID", f"the protocol is not {PROTOCOL}", line)
    for key in ("name", "version"):
        text = message[key]
        if not isinstance(text, str) or not 1 <= len(text) <= MAX_NAME or not text.isprintable():
            raise BotFailure("INVALID", f"{key!r} is not a text of 1 to {MAX_NAME} printable characters", line)
    raw = message.get("raw", False)
    if type(raw) is not bool:
        raise BotFailure("INVALID", "'raw' is neither true nor false", line)
    return BotHello(message["name"], message["version"], raw)


def parse_answer(
    line: bytes,
    turn: int,
    mask: np.ndarray[Any, np.dtype[np.int8]],
    observation: np.ndarray[Any, np.dtype[np.uint8]],
) -> int:
    """Reads the answer to an `act`: the id of a legal action.

    Args:
        line: what the bot wrote, without the end of the line.
        turn: number of the `act`.
        mask: (A,) legal actions.
        observation: (D,) observation, for the hand.

    Raises:
        BotFailure: anything but an answer to this turn with a legal action.
    """
    message = _object(line, "action", {"turn", "action"})
    _number("turn", message["turn"], line)
    if message["turn"] != turn:
        raise BotFailure("INVALID", "'turn' is not the number of the act that is to be answered", line)
    action = message["action"]
    hand = np.flatnonzero(observation[AT.hand : AT.hand + CARDS]).tolist()
    if isinstance(action, str):
        try:
            action = parse_action(action, hand)
        except ActionError as error:
            digits = action.strip()
            hint = "; an id is a number, written without quotes" if digits.isascii() and digits.isdigit() else ""
            reason = f"'action': {str(error)[:300]}{hint}; {_legal_words(mask, hand)}"
            raise BotFailure("INVALID", reason, line) from None
    elif type(action) is not int:
        raise BotFailure("INVALID", f"'action' is neither an id nor a text; {_legal_words(mask, hand)}", line)
    if not 0 <= action < NUM_ACTIONS or not mask[action]:
        reason = f"action {ascii(message['action'])[:60]} is not legal; {_legal_words(mask, hand)}"
        raise BotFailure("INVALID", reason, line)
    return action


def _number(key: str, value: object, line: bytes) -> None:
    if type(value) is not int:
        given = ", not text in quotes" if isinstance(value, str) else ""
        raise BotFailure("INVALID", f"{key!r} must be a whole number{given}", line)


def _legal_words(mask: np.ndarray[Any, np.dtype[np.int8]], hand: Sequence[int]) -> str:
    ids = np.flatnonzero(mask).tolist()
    more = f", … {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
    return "legal: " + ", ".join(f"{a} {format_action(a, hand)}" for a in ids[:MAX_LISTED]) + more
