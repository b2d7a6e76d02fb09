"""Tells agents that follow their games (`agents.base.Follower`) what happens there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.base import Table
from agents.bots.events import Narrator, Told
from chicago_env.engine.chance import key_of
from chicago_env.setup import SEED_LIMIT, MatchSetup
from chicago_env.state import OVER, REASONS
from eval.kernels import START_SIZE
from eval.rng import AGENTS, BOT

Ints = np.ndarray[Any, np.dtype[np.int64]]

SEATS = 8
"""The place of a seat in a game is SEATS * game + seat."""


class Following:
    """The games in which an agent sits that follows; they are stepped here, one decision at a time.

    Attributes:
        rows: (N,) bool, the games that are.
    """

    def __init__(
        self,
        tables: Mapping[int, Table],
        states: np.ndarray[Any, Any],
        setups: Sequence[MatchSetup],
        starts: Ints,
        seating: Ints,
        boards: Ints,
        root: int,
    ) -> None:
        """Starts every game anew in which an agent of `tables` (by index) sits; `starts` is written as by kernels."""
        self._tables = tables
        self._states = states
        self._starts = starts
        self._players = seating.shape[1]
        self._seats: dict[int, list[tuple[int, Table]]] = {}
        self._narrators: dict[int, Narrator] = {}
        self.rows = np.asarray(np.isin(seating, list(tables)).any(axis=1))
        for row in np.flatnonzero(self.rows).tolist():
            seats = [(seat, tables[a]) for seat, a in enumerate(seating[row].tolist()) if a in tables]
            self._seats[row] = seats
            narrator = self._narrators[row] = Narrator(states, row, setups[row])
            self._starts[row, 0] = -1
            told = narrator.start()
            self._note(row)
            for seat, table in seats:
                seed = key_of(key_of(root, AGENTS, int(boards[row]), seat), BOT, 0, 0) % SEED_LIMIT
                table.start(SEATS * row + seat, seat, setups[row], seed)
            self._go_on(row, told)

    def step(self, row: int, action: int) -> None:
        """Carries out a legal action, then what is forced."""
        told = self._narrators[row].step(action)
        self._note(row)
        self._go_on(row, told)

    def after_void(self, row: int, seat: int, penalty: int) -> None:
        """Goes on after the deal in progress was made void for a fault of `seat`; the next one, if any, is dealt."""
        state = self._states[row]
        narrator = self._narrators[row]
        told = [narrator.void(seat, penalty, [int(s) for s in state["scores"][: self._players]])]
        if int(state["phase"]) != OVER:
            told.append(narrator.dealt())
        self._go_on(row, told)

    def forfeit(self, row: int) -> None:
        """Ends a game that is forfeited."""
        self._end(row, "forfeit", None)

    def close(self) -> None:
        """Ends everything."""
        for table in self._tables.values():
            table.close()

    def _go_on(self, row: int, told: list[Told]) -> None:
        narrator = self._narrators[row]
        while (action := narrator.forced()) >= 0:
            told += narrator.step(action)
            self._note(row)
        for seat, table in self._seats[row]:
            table.tell(SEATS * row + seat, [event.to(seat) for event in told])
        state = self._states[row]
        if int(state["phase"]) == OVER:
            winner = int(state["winner"])
            self._end(row, str(REASONS[int(state["reason"])]), winner if winner >= 0 else None)

    def _end(self, row: int, reason: str, winner: int | None) -> None:
        scores = [int(s) for s in self._states[row]["scores"][: self._players]]
        for seat, table in self._seats.pop(row, ()):
            table.end(SEATS * row + seat, {"scores": scores, "winner": winner, "reason": reason})

    def _note(self, row: int) -> None:
        start, state = self._starts[row], self._states[row]
        if start[0] != state["deal"]:
            start[0], start[1], start[2] = state["deal"], state["attempted"], state["succeeded"]
            start[3:START_SIZE] = state["scores"]
