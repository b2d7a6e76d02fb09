"""The file of a sequential test: its plan, the values of all boards, every fault, the result."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from agents.base import Status
from agents.bots.process import MAX_SHOWN
from chicago_env.errors import SetupError
from chicago_env.files import read_json, replacing
from chicago_env.setup import check_int
from eval.faults import MAX_FAULTS, Fault
from eval.store.going_on import differences

FORMAT, VERSION = "chicago-sprt", 2

MAX_REASON = 1000
"""Characters of the reason of a fault that are kept."""

_MAX_BYTES = 1 << 30  # of a file: 100 million boards fill more, but a verdict never takes so many
_FOREVER, _HUGE = 1 << 60, 1e6  # no fault and no point beyond
_MAX_TOLD = 600  # characters of what a file of another test has


class BoardFault(NamedTuple):
    """One failure of an agent; see `eval.faults.Fault`.

    Attributes:
        board: number of the board.
        game: index of the game among those of the board.
        agent: name of the agent; of two of one name the second is `NAME#2`, the first `NAME#1`.
        seat: the seat at fault.
        status: `ERROR`, `INVALID` or `TIMEOUT`.
        deal: index of the deal in the game.
        decision: number of the decision of this seat in this game.
        reason: what is wrong, cut.
        line: what a program wrote that is at fault, printable and cut.
    """

    board: int
    game: int
    agent: str
    seat: int
    status: str
    deal: int
    decision: int
    reason: str
    line: str


def board_fault(fault: Fault, first_board: int, games: int) -> BoardFault:
    """A fault in boards from `first_board` on, each of so many games."""
    board, game = divmod(fault.game, games)
    reason = fault.reason[:MAX_REASON].encode(errors="replace").decode()
    place = (first_board + board, game, fault.agent, fault.seat)
    return BoardFault(*place, fault.status, fault.deal, fault.decision, reason, fault.line[:MAX_SHOWN])


class Shape(NamedTuple):
    """What a file of a test must agree with.

    Attributes:
        plan: the plan, as JSON has it.
        names: of the two agents in faults.
        players: seats at a table.
        games: G, of a board.
        look: boards from one look to the next.
        luck: whether luck is measured.
    """

    plan: Mapping[str, Any]
    names: Sequence[str]
    players: int
    games: int
    look: int
    luck: bool


class Log:
    """What a file of a test has.

    Attributes:
        values: (n, G) value of each game.
        points: (n, G) difference of points.
        luck: (n, G) what is taken off the points, (n, 0) where luck is not measured.
        faults: failures of the agents, in the order of games.
        forfeit: who forfeited a game, which ends the test; "" for nobody.
    """

    def __init__(self, shape: Shape, path: Path | None) -> None:
        """Reads the file if it is there; else writes one with the plan alone.

        Raises:
            SetupError: it is of another test, or no such file.
            OSError: it cannot be read or written.
        """
        self._shape = shape
        self._path = path
        self.values: list[list[float]] = []
        self.points: list[list[float]] = []
        self.luck: list[list[float]] = []
        self.faults: list[BoardFault] = []
        self.forfeit = ""
        if path is not None and path.exists():
            self._read(path)
        elif path is not None:
            self.write(None)

    def counts(self) -> dict[str, int]:
        """Faults of each agent."""
        return {name: sum(fault.agent == name for fault in self.faults) for name in self._shape.names}

    def _read(self, path: Path) -> None:
        shape = self._shape
        try:
            data = read_json(path, _MAX_BYTES)
            if data["format"] != FORMAT:
                raise ValueError
            other = self._other(data)
            if not other:
                self._take(data)
        except (SetupError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise SetupError(f"{path}: is no file of a sequential test, or damaged; it stays as it is") from None
        if other:
            told = "".join(c if c.isprintable() else "?" for c in other)
            told = told if len(told) <= _MAX_TOLD else f"{told[:_MAX_TOLD]} …"
            raise SetupError(f"{path}: is of another test ({told}); it stays as it is")
        if self.forfeit not in ("", shape.plan["first"], shape.plan["second"]):
            raise SetupError(f"{path}: is damaged: {self.forfeit[:40]!r} does not play; it stays as it is")

    def _other(self, data: Mapping[str, Any]) -> str:
        """How the test of a file differs from this one, in words; "" if it does not."""
        if data["version"] != VERSION:
            return f"version of the file: {data['version']}, known is {VERSION}"
        return "; ".join(differences(dict(data["plan"]), dict(self._shape.plan), ("in the file", "asked for")))

    def _take(self, data: Mapping[str, Any]) -> None:
        games, look = self._shape.games, self._shape.look
        values, points, luck = (np.array(data[name], dtype=float) for name in ("values", "points", "luck"))
        shape = (len(values), games) if len(values) else (0,)
        other = shape if self._shape.luck or not len(values) else (len(values), 0)
        if (values.shape, points.shape, luck.shape) != (shape, shape, other) or len(values) % look:
            raise ValueError
        for numbers, most in ((values, 1 + 1e-9), (points, _HUGE), (luck, _HUGE)):
            if np.abs(numbers).max(initial=0) > most:
                raise ValueError
        if not isinstance(data["faults"], list) or len(data["faults"]) > 2 * MAX_FAULTS:
            raise ValueError
        self.faults = [self._fault(fault) for fault in data["faults"]]
        self.values, self.points, self.luck = values.tolist(), points.tolist(), luck.tolist()
        self.forfeit = "" if data["result"] is None else str(data["result"].get("forfeit", ""))

    def _fault(self, data: Mapping[str, Any]) -> BoardFault:
        fault = BoardFault(**data)
        check_int("board", fault.board, 0, _FOREVER)
        check_int("game", fault.game, 0, self._shape.games - 1)
        check_int("seat", fault.seat, 0, self._shape.players - 1)
        check_int("deal", fault.deal, 0, _FOREVER)
        check_int("decision", fault.decision, 0, _FOREVER)
        texts: tuple[tuple[object, int], ...] = ((fault.reason, MAX_REASON), (fault.line, MAX_SHOWN))
        for text, most in texts:
            if not isinstance(text, str) or len(text) > most:
                raise ValueError
        if fault.agent not in self._shape.names or fault.status not in get_args(Status):
            raise ValueError
        return fault

    def write(self, result: Mapping[str, Any] | None) -> None:
        """Writes everything, with the result as JSON has it."""
        if self._path is None:
            return
        data = {
            "format": FORMAT,
            "version": VERSION,
            "plan": self._shape.plan,
            "result": result,
            "faults": [fault._asdict() for fault in self.faults],
            "values": self.values,
            "points": self.points,
            "luck": self.luck,
        }
        with replacing(self._path) as file:
            file.write((json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n").encode())
