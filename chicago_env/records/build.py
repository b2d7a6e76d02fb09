"""Records of matches, made by playing them again with the engine's event log on."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chicago_env.cards import CARD_NAMES, NUM_CARDS
from chicago_env.engine.log import CAPACITY
from chicago_env.errors import RecordError, SetupError
from chicago_env.game import Game, new_states
from chicago_env.kernels import records as kernels
from chicago_env.kernels import single
from chicago_env.records.events import Event, decode, short
from chicago_env.setup import MatchSetup, check_int, is_list
from chicago_env.state import OVER, REASONS

FORMAT, VERSION = "chicago-record", 1

Record = dict[str, Any]

MAX_DECISIONS = 1 << 40
_ROOM = 1024  # words that one step and the start of the next deal stay below


def _events(setup: MatchSetup, states: Any, choices: bytes, decisions: int) -> Iterator[Event]:
    """Plays the match in `states` from its start and gives its events, those of `decode` between the deals included."""
    log = np.zeros(CAPACITY, dtype=np.int32)
    log[0] = 1
    moves = np.frombuffer(choices, dtype=np.uint8)
    dealer = -1 if setup.first_dealer is None else setup.first_dealer
    single.start(states, setup.seed, dealer, setup.max_deals, setup.decks, log)
    at = 0
    while True:
        at = kernels.replay(states, setup.decks, moves, at, decisions, log, _ROOM)
        full = int(log[0]) + _ROOM >= CAPACITY
        words = log[: log[0]].tolist()
        log[0] = 1
        start = 1
        while start < len(words):
            event, start = decode(words, start)
            yield event
        if not full:
            break
    if at < len(choices):
        raise RecordError(f"choice {at} of {len(choices)} is not legal: the choices belong to another match")


def _deck(dealt: list[str], drawn: list[str], order: Sequence[int]) -> list[str]:
    """The order that came about: what was dealt and drawn from the first stock, then the rest in the order given."""
    deck = [*dealt, *drawn[: NUM_CARDS - len(dealt)]]
    seen = set(deck)
    return deck + [CARD_NAMES[card] for card in order if CARD_NAMES[card] not in seen]


def _apply(event: Event, scores: list[int]) -> None:
    kind = event[0]
    if kind in {"score", "penalty"}:
        scores[event[1]] += event[2]
    elif kind == "reset":
        scores[:] = [score if seat == event[1] else 0 for seat, score in enumerate(scores)]


def _names(names: object, players: int) -> list[str]:
    if names is None:
        return [f"player {seat}" for seat in range(players)]
    if not is_list(names) or not all(isinstance(name, str) for name in names):
        raise RecordError(f"names: {short(names)} is not a list of texts")
    if len(names) != players:
        raise RecordError(f"{len(names)} names for {players} players")
    return [str(name) for name in names]


def record_of(
    setup: MatchSetup, choices: bytes, *, names: Sequence[str] | None = None, decisions: int | None = None
) -> Record:
    """The record (docs/record-format.md) of a match, given by its setup and its choices.

    Args:
        setup: how the match starts.
        choices: the actions taken where more than one was legal, as `Game.choices` has them.
        names: names of the P players; `player 0` and so on by default.
        decisions: for a match that is not over, how many decisions were made, forced ones included; by default all
            forced ones after the last choice.

    Returns:
        A dict of JSON values. A match that is not over has the `result` None and ends with the deal in progress.

    Raises:
        RecordError: choices that are not legal in this match, or that are no bytes; names that are not one text for
            each player.
        SetupError: no setup, or `decisions` that are no number.
    """
    if not isinstance(setup, MatchSetup):
        raise SetupError(f"setup: {setup!r} is no MatchSetup")
    if not isinstance(choices, bytes | bytearray):
        raise RecordError(f"choices: a {type(choices).__name__} is not bytes")
    limit = -1 if decisions is None else check_int("decisions", decisions, 0, MAX_DECISIONS)
    named = _names(names, setup.players)
    states = new_states([setup])
    scores = list(setup.scores)
    deals: list[Record] = []
    drawn: list[str] = []
    order: Sequence[int] = ()
    for event in _events(setup, states, choices, limit):
        kind = event[0]
        if kind == "deal":
            order = setup.decks[len(deals)].tolist() if len(deals) < len(setup.decks) else range(NUM_CARDS)
            drawn = []
            deals.append({"dealer": event[1], "deck": event[2], "events": []})
            continue
        deal = deals[-1]
        if kind == "deal_end":
            deal["deck"] = _deck(deal["deck"], drawn, order)
            deal["scores"] = list(scores)
            continue
        if kind == "exchange":
            # An accepted face-up card is there already, and so is what comes back after a reshuffle.
            drawn += [card for card in event[3] if card not in drawn]
        elif kind == "open":
            drawn.append(event[2])
        deal["events"].append(event)
        _apply(event, scores)
    if "scores" not in deals[-1]:
        deals[-1]["deck"] = _deck(deals[-1]["deck"], drawn, order)
        deals[-1]["scores"] = list(scores)
    state = states[0]
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": setup.rules.to_dict(),
        "players": setup.players,
        "names": named,
        "seed": setup.seed,
        "first_dealer": int(state["first_dealer"]),
        "start_scores": list(setup.scores),
        "max_deals": setup.max_deals,
        "deals": deals,
        "result": _result(state, scores),
    }


def _result(state: Any, scores: list[int]) -> Record | None:
    if int(state["phase"]) != OVER:
        return None
    winner = int(state["winner"])
    return {
        "scores": list(scores),
        "winner": winner if winner >= 0 else None,
        "reason": REASONS[int(state["reason"])],
    }


def record_of_game(game: Game, names: Sequence[str] | None = None) -> Record:
    """The record of a match so far; see `record_of`."""
    return record_of(game.setup, game.choices, names=names, decisions=int(game.state["decisions"]))
