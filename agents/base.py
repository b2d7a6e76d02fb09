"""What an agent is, and the one place where what it is given and what it answers is checked."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from chicago_env.actions import NUM_ACTIONS, format_action
from chicago_env.errors import MAX_LISTED, ActionError, ChicagoError
from chicago_env.layout import AT, CARDS, OBSERVATION_SIZE
from chicago_env.setup import MatchSetup

Observations = np.ndarray[Any, np.dtype[np.uint8]]
"""(B, D) uint8, the observations of the acting seats (`chicago_env.layout`)."""

Masks = np.ndarray[Any, np.dtype[np.int8]]
"""(B, A) int8, 1 for legal actions; no row is all 0."""

Actions = np.ndarray[Any, np.dtype[np.int64]]
"""(B,) int64 action ids."""

Floats = np.ndarray[Any, np.dtype[np.float64]]

Status = Literal["ERROR", "INVALID", "TIMEOUT"]
"""How an agent fails: it raised, crashed or ended; it answered what is not allowed; it answered too late or not at all."""


class AgentError(ChicagoError, ValueError):
    """An agent that was asked wrongly, failed, or answered with what is not allowed.

    Attributes:
        agent: name of the agent.
        reason: what is wrong, without name and row.
        row: row of the batch at fault, where there is one.
        status: how it failed.
        line: what a program wrote that is at fault, printable and cut; empty where there is no such thing.
        log: file with the standard error of a program that wrote there; empty where there is none.
    """

    def __init__(
        self, agent: str, reason: str, row: int | None = None, status: Status = "ERROR", line: str = "", log: str = ""
    ) -> None:
        super().__init__(agent, reason, row, status, line, log)
        self.agent = agent
        self.reason = reason
        self.row = row
        self.status: Status = status
        self.line = line
        self.log = log

    def __str__(self) -> str:
        place = "" if self.row is None else f", row {self.row}"
        line = f"; it wrote: {self.line}" if self.line else ""
        log = f"; its standard error: {self.log}" if self.log else ""
        return f"agent {self.agent}{place}: {self.reason}{line}{log}"


class Rng(Protocol):
    """All the chance that an agent may use.

    A `numpy.random.Generator` is one. The arena hands out another kind, whose numbers for row i depend on the game and
    the decision of row i alone (`eval.rng.RowRng`): it wants the rows of the batch as first axis.
    """

    def random(self, size: int | tuple[int, ...], /) -> Floats:
        """Numbers uniform in [0, 1), float64 of shape `size`, which is B or (B, ...)."""
        ...


@runtime_checkable
class Agent(Protocol):
    """Anything that picks actions, for many games at once.

    It keeps nothing from one call to the next, and the same arguments (and numbers from `rng`) give the same actions:
    what it does in a row may depend on that row alone. So it can play any number of games and seats side by side.

    One that is made for some games only, or may be unable to start, also has `check_game(players, rules)`, which raises
    `SetupError` then: tools ask it before they play (`chicago_env.opponents.check_game`).

    Attributes:
        name: a name for tables and errors.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described above

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """Picks an action for each row.

        Args:
            observations: (B, D) uint8 of the seats to act; everything the agent gets to know. Not to be written to.
            masks: (B, A) int8, 1 for legal actions.
            rng: where all chance comes from.

        Returns:
            (B,) integers, legal in their rows.
        """
        ...


def check_batch(agent: str, observations: object, masks: object) -> None:
    """Checks what an agent is about to be given: a mask of a wrong shape or without a legal action is never passed on.

    Raises:
        AgentError: wrong shape or type, or a row without a legal action.
    """
    if not isinstance(observations, np.ndarray) or observations.ndim != 2 or observations.shape[1] != OBSERVATION_SIZE:
        shape = getattr(observations, "shape", type(observations).__name__)
        raise AgentError(agent, f"observations of shape {shape}; expected (B, {OBSERVATION_SIZE})")
    if observations.dtype != np.uint8:
        raise AgentError(agent, f"observations of type {observations.dtype}; expected uint8")
    expected = (len(observations), NUM_ACTIONS)
    if not isinstance(masks, np.ndarray) or masks.shape != expected:
        raise AgentError(agent, f"masks of shape {getattr(masks, 'shape', type(masks).__name__)}; expected {expected}")
    if masks.dtype.kind not in "iub":
        raise AgentError(agent, f"masks of type {masks.dtype}; expected int8")
    empty = np.flatnonzero(~masks.any(axis=1))
    if len(empty):
        raise AgentError(agent, "the mask has no legal action", int(empty[0]))


def check_answer(agent: str, answer: object, observations: Observations, masks: Masks) -> Actions:
    """The actions of an agent as a (B,) int64 array.

    Raises:
        AgentError: not (B,) integers, or an action that is illegal; the message has the row and the legal actions.
    """
    rows = len(masks)
    if not isinstance(answer, np.ndarray) or answer.shape != (rows,) or answer.dtype.kind not in "iu":
        given = f"{answer.dtype} of shape {answer.shape}" if isinstance(answer, np.ndarray) else type(answer).__name__
        reason = f"act() returned {given}; expected {rows} integers, shape ({rows},)"
        raise AgentError(agent, reason, status="INVALID")
    outside = np.flatnonzero((answer < 0) | (answer >= NUM_ACTIONS))
    if len(outside):
        row = int(outside[0])
        reason = f"act() returned action {answer[row]}; allowed are 0 to {NUM_ACTIONS - 1}"
        raise AgentError(agent, reason, row, "INVALID")
    actions = answer.astype(np.int64, copy=False)
    illegal = np.flatnonzero(masks[np.arange(rows), actions] == 0)
    if len(illegal):
        row = int(illegal[0])
        hand = np.flatnonzero(observations[row, AT.hand : AT.hand + CARDS]).tolist()
        legal = ", ".join(_text(int(a), hand) for a in np.flatnonzero(masks[row])[:MAX_LISTED])
        given = _text(int(actions[row]), hand)
        raise AgentError(agent, f"act() returned {given}, which is illegal; legal: {legal}", row, "INVALID")
    return actions


def _text(action: int, hand: list[int]) -> str:
    try:
        return f"{action} ({format_action(action, hand)})"
    except ActionError:
        return str(action)


def ask(agent: Agent, observations: Observations, masks: Masks, rng: Rng, *, name: str | None = None) -> Actions:
    """Asks an agent for its actions, and checks both sides.

    Args:
        agent: the agent.
        observations: (B, D) uint8.
        masks: (B, A) int8.
        rng: chance, see `Rng`.
        name: what to call the agent in errors; its own name by default.

    Raises:
        AgentError: the batch or the answer is not as `Agent` says, or the agent raised an exception (its cause).
    """
    name = agent.name if name is None else name
    check_batch(name, observations, masks)
    try:
        # a copy: what the agent does to its mask does not make an action legal
        answer = agent.act(observations, masks.copy(), rng)
    except AgentError as error:
        raise AgentError(name, error.reason, error.row, error.status, error.line, error.log) from error
    except (Exception, SystemExit) as error:  # an agent does not end the program that asks it
        raise AgentError(name, f"act() raised {type(error).__name__}: {error}") from error
    return check_answer(name, answer, observations, masks)


class Table(Protocol):
    """An agent's seats in a set of games that are played side by side; made by `Follower.sit`.

    Each (game, seat) is known by a number, `place`, from `start` to `end`. Seats are absolute.
    """

    def start(self, place: int, seat: int, setup: MatchSetup, seed: int, /) -> None:
        """A match begins, with the agent in `seat`; `seed` in 0 … 2**63 - 1 is for its own chance.

        The agent must not look at the seed of the setup, from which all cards follow.
        """
        ...

    def tell(self, place: int, events: Sequence[Mapping[str, Any]], /) -> None:
        """What happened, as this seat may know it (`agents.bots.events`), in order."""
        ...

    def decide(
        self, places: Sequence[int], observations: Observations, masks: Masks, max_failures: int | None, /
    ) -> Sequence[int | AgentError | None]:
        """Picks an action for each place; a failure stands in its place, and what it concerns is that one alone.

        Args:
            places: B places at which the agent is to act, ascending.
            observations: (B, D) uint8.
            masks: (B, A) int8.
            max_failures: after so many failures the rest need not be answered, and is None; it is asked again later.
        """
        ...

    def end(self, place: int, result: Mapping[str, Any], /) -> None:
        """The match is over; `result` has `scores`, `winner` (a seat or None) and `reason`."""
        ...

    def close(self) -> None:
        """All games are over, or nobody is interested in them any more."""
        ...


@runtime_checkable
class Follower(Agent, Protocol):
    """An agent that wants to follow its games: their start, the events it may know, their end.

    `act` must work too: it is what an environment or a search asks, which follows nothing.
    """

    def sit(self) -> Table:
        """Takes part in a set of games."""
        ...
