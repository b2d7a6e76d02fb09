"""One face for the oracle and the engine, so that a test of the rules runs on both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from chicago_env.game import Game
from chicago_env.records import record_of_game
from chicago_env.rules import Rules
from tests.oracle.match import OracleMatch

Event = list[Any]
Record = dict[str, Any]


class Played(Protocol):
    """A match being played. `record` is the match so far in record format 1."""

    def legal(self) -> list[int]: ...

    def step(self, action: int) -> None: ...

    def record(self) -> Record: ...

    @property
    def to_act(self) -> int | None: ...

    @property
    def scores(self) -> list[int]: ...


class Driver(Protocol):
    """Starts matches."""

    name: str

    def make(
        self,
        rules: dict[str, Any],
        players: int,
        decks: Sequence[Sequence[int]],
        start_scores: Sequence[int],
        first_dealer: int,
        max_deals: int,
    ) -> Played: ...


class OracleDriver:
    name = "oracle"

    def make(
        self,
        rules: dict[str, Any],
        players: int,
        decks: Sequence[Sequence[int]],
        start_scores: Sequence[int],
        first_dealer: int,
        max_deals: int,
    ) -> Played:
        # Deals past the given decks use the last one again.
        return OracleMatch(
            rules,
            players,
            deck_of=lambda deal: list(decks[min(deal, len(decks) - 1)]),
            start_scores=start_scores,
            first_dealer=first_dealer,
            max_deals=max_deals,
        )


class _EngineMatch:
    def __init__(self, game: Game) -> None:
        self._game = game

    def legal(self) -> list[int]:
        return [int(action) for action in self._game.legal_actions()]

    def step(self, action: int) -> None:
        self._game.step(action)

    def record(self) -> Record:
        return record_of_game(self._game)

    @property
    def to_act(self) -> int | None:
        return None if self._game.over else int(self._game.seat)

    @property
    def scores(self) -> list[int]:
        return [int(score) for score in self._game.scores]


class EngineDriver:
    name = "engine"

    def make(
        self,
        rules: dict[str, Any],
        players: int,
        decks: Sequence[Sequence[int]],
        start_scores: Sequence[int],
        first_dealer: int,
        max_deals: int,
    ) -> Played:
        game = Game(
            players,
            rules=Rules.from_dict(rules),
            decks=[list(deck) for deck in decks],
            scores=list(start_scores),
            first_dealer=first_dealer,
            max_deals=max_deals,
            seed=0,
        )
        return _EngineMatch(game)


DRIVERS: list[Driver] = [OracleDriver(), EngineDriver()]
