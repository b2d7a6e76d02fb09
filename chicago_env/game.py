"""One match of Chicago: the engine in the shape of a Python object. Adapters, records and search build on this."""

import contextlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from chicago_env import actions
from chicago_env._jit import announce_compilation
from chicago_env.engine.log import CAPACITY
from chicago_env.errors import ActionError, ChicagoError, IllegalAction, SetupError, StateError
from chicago_env.files import crowded
from chicago_env.kernels import single as kernels
from chicago_env.layout import OBSERVATION_SIZE, STATE_SIZE
from chicago_env.rules import Rules
from chicago_env.setup import MatchSetup, check_int
from chicago_env.state import OVER, PHASES, REASONS, STATE, set_rules

NO_LOG = np.zeros(0, dtype=np.int32)
_STATE_MAGIC = b"chicago-state 1\n"
_MAX_STATE = 16 << 20

Log = np.ndarray[Any, np.dtype[np.int32]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Mask = np.ndarray[Any, np.dtype[np.int8]]


def cards_of(mask: int) -> list[int]:
    """Card ids of a set, ascending."""
    mask = int(mask)
    result = []
    while mask:
        low = mask & -mask
        result.append(low.bit_length() - 1)
        mask ^= low
    return result


class Start(Protocol):
    """What a state is made from; a `MatchSetup` is one."""

    @property
    def players(self) -> int: ...  # noqa: D102
    @property
    def rules(self) -> Rules: ...  # noqa: D102
    @property
    def scores(self) -> tuple[int, ...]: ...  # noqa: D102


def new_states(setups: Sequence[Start]) -> np.ndarray[Any, Any]:
    """Records (B,) of `STATE` with rules, players and scores of each setup; no match is started."""
    states = np.zeros(len(setups), dtype=STATE)
    rows = states.view(np.uint8).reshape(len(setups), STATE.itemsize)
    first: dict[tuple[int, int], int] = {}
    for i, setup in enumerate(setups):
        # encoding rules takes long, and a harness has thousands of rows with the same
        known = first.setdefault((id(setup.rules), setup.players), i)
        if known == i:
            set_rules(states[i : i + 1], setup.rules, setup.players)
        else:
            rows[i] = rows[known]
    for i, setup in enumerate(setups):
        states["scores"][i, : setup.players] = setup.scores
    return states


class Game:
    """A match in progress.

    Seats are absolute, from 0; `seat` is the one to act, -1 when the match is over. `copy.deepcopy` and `pickle` in the
    middle of a deal continue exactly.
    """

    __slots__ = ("_choices", "_decks", "_states", "setup")

    def __init__(
        self,
        players: int = 4,
        rules: str | Mapping[str, object] | Rules = "pagat",
        *,
        setup: MatchSetup | None = None,
        **options: Any,
    ) -> None:
        """Starts a match.

        Args:
            players: number of players, 2 to 6.
            rules: preset name, notation, mapping or `Rules`.
            setup: a checked setup in place of all other arguments.
            options: `seed`, `scores`, `first_dealer`, `max_deals`, `decks` as in `MatchSetup.make`.

        Raises:
            RulesError: impossible rules or number of players.
            SetupError: any other argument.
        """
        if setup is not None and not isinstance(setup, MatchSetup):
            raise SetupError(f"setup: {setup!r} is no MatchSetup")
        self.setup = setup if setup is not None else MatchSetup.make(players, rules, **options)
        announce_compilation()
        self._states = new_states([self.setup])
        self._decks = self.setup.decks
        self._choices = bytearray()
        dealer = -1 if self.setup.first_dealer is None else self.setup.first_dealer
        kernels.start(self._states, self.setup.seed, dealer, self.setup.max_deals, self._decks, NO_LOG)

    # --- reading -----------------------------------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """P, the number of players."""
        return self.setup.players

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.setup.rules

    @property
    def state(self) -> np.void:
        """The record of `chicago_env.state.STATE`; to be read only."""
        record: np.void = self._states[0]
        return record

    @property
    def seat(self) -> int:
        """Seat to act, -1 when the match is over."""
        return int(self._states["to_act"][0])

    @property
    def phase(self) -> str:
        """One of `chicago_env.state.PHASES`."""
        return PHASES[int(self._states["phase"][0])]

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return int(self._states["phase"][0]) == OVER

    @property
    def scores(self) -> list[int]:
        """Scores of the P seats."""
        return [int(s) for s in self._states["scores"][0, : self.players]]

    @property
    def winner(self) -> int | None:
        """Seat of the winner; None as long as there is none, or when the match was truncated."""
        seat = int(self._states["winner"][0])
        return seat if seat >= 0 else None

    @property
    def reason(self) -> str | None:
        """Why the match ended: `target`, `instant` or `truncated`; None before."""
        return REASONS[int(self._states["reason"][0])]

    @property
    def dealer(self) -> int:
        """Seat of the dealer."""
        return int(self._states["dealer"][0])

    @property
    def deal(self) -> int:
        """Index of the deal in progress, from 0."""
        return int(self._states["deal"][0])

    @property
    def choices(self) -> bytes:
        """The actions taken so far where there was a choice: with the setup they fix the match."""
        return bytes(self._choices)

    def hand(self, seat: int) -> list[int]:
        """Card ids in the hand of `seat`, ascending."""
        return cards_of(self._states["hand"][0, check_int("seat", seat, 0, self.players - 1)])

    def legal_actions(self) -> list[int]:
        """Legal actions of the acting seat, ascending; none when the match is over."""
        base, bits = kernels.legal(self._states)
        return [base + i for i in cards_of(bits)]

    @property
    def forced(self) -> int | None:
        """The only legal action of the acting seat; None where there is a choice, or when the match is over."""
        base, bits = kernels.legal(self._states)
        return None if bits == 0 or bits & (bits - 1) else base + bits.bit_length() - 1

    def observation(self, seat: int | None = None) -> Bytes:
        """New (D,) uint8 observation of `seat`, by default of the acting one (of seat 0 when the match is over)."""
        return self.observe(seat)[0]

    def mask(self, seat: int | None = None) -> Mask:
        """New (A,) int8 mask of `seat`: 1 for legal actions; all 0 for a seat that is not to act."""
        return self.observe(seat)[1]

    def observe(self, seat: int | None = None) -> tuple[Bytes, Mask]:
        """Observation and mask at once."""
        observation = np.empty(OBSERVATION_SIZE, dtype=np.uint8)
        mask = np.empty(actions.NUM_ACTIONS, dtype=np.int8)
        kernels.view(self._states, self._seat(seat), observation, mask)
        return observation, mask

    def full_state(self, seat: int | None = None) -> Bytes:
        """New (STATE_SIZE,) uint8: the observation of `seat`, then the hidden cards (`layout.STATE_BLOCKS`)."""
        out = np.empty(STATE_SIZE, dtype=np.uint8)
        kernels.view_state(self._states, self._seat(seat), out)
        return out

    def _seat(self, seat: int | None) -> int:
        if seat is None:
            return max(self.seat, 0)
        return check_int("seat", seat, 0, self.players - 1)

    def text_of(self, action: int) -> str:
        """Text of an action of the acting seat, as `chicago_env.actions.format_action`.

        Raises:
            ActionError: no action id, or an exchange of a card that the hand does not have.
        """
        try:
            number = action.__index__()
        except (AttributeError, TypeError):
            raise ActionError(f"action {action!r} is not an integer") from None
        return actions.format_action(number, self.hand(self.seat) if number < actions.ANNOUNCE else ())

    # --- playing -----------------------------------------------------------------------------------------------------

    def step(self, action: int) -> None:
        """Carries out an action of the acting seat and goes on to the next decision.

        Args:
            action: an action id, a Python or a NumPy integer.

        Raises:
            IllegalAction: not legal now; the game is unchanged.
        """
        self._step(action, NO_LOG)

    def step_logged(self, action: int) -> list[int]:
        """`step`, and the words of the events that it brought about (`chicago_env.engine.log`).

        Raises:
            IllegalAction: not legal now; the game is unchanged.
        """
        log = np.zeros(CAPACITY, dtype=np.int32)
        log[0] = 1
        self._step(action, log)
        words: list[int] = log[1 : log[0]].tolist()
        return words

    def _step(self, action: int, log: Log) -> None:
        try:
            number = action.__index__()
        except (AttributeError, TypeError):  # an array of one number has the method and refuses it
            raise self._illegal(action) from None
        if isinstance(action, bool):  # Python counts it as an int; a mask was passed where an action belongs
            raise self._illegal(action)
        if not 0 <= number < actions.NUM_ACTIONS:
            raise self._illegal(action)
        _base, bits = kernels.legal(self._states)
        if not kernels.step(self._states, self._decks, number, log):
            raise self._illegal(action)
        if bits & (bits - 1):
            self._choices.append(number)

    def play_forced(self) -> None:
        """Plays decisions with one legal action until there is a choice or the match is over."""
        kernels.play_forced(self._states, self._decks, NO_LOG)

    def _illegal(self, action: object) -> IllegalAction:
        legal = self.legal_actions()
        hand = self.hand(self.seat) if self.seat >= 0 else []
        text = None
        with contextlib.suppress(ChicagoError, AttributeError, TypeError):
            text = actions.format_action(action.__index__(), hand)  # type: ignore[attr-defined]  # anything may be given
        texts = [actions.format_action(a, hand) for a in legal]
        return IllegalAction(self.seat, self.phase, action, legal, text, texts)

    # --- copying -----------------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> "Game":
        return self.copy()

    def copy(self) -> "Game":
        """An independent copy that continues exactly."""
        twin = object.__new__(Game)
        twin.setup = self.setup
        twin._decks = self._decks
        # numpy copies a structured array field by field; as bytes it takes a tenth of the time
        twin._states = self._states.view(np.uint8).copy().view(STATE)
        twin._choices = self._choices[:]
        return twin

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_state, (self.get_state(),)

    def get_state(self) -> bytes:
        """The match so far as bytes: its setup and the choices made. Portable between versions with the same rules."""
        setup = self.setup
        head = {
            "players": setup.players,
            "rules": setup.rules.to_dict(),
            "seed": setup.seed,
            "scores": list(setup.scores),
            "first_dealer": setup.first_dealer,
            "max_deals": setup.max_deals,
            "decks": setup.decks.tolist(),
            "choices": self._choices.hex(),
            "decisions": int(self._states["decisions"][0]),
        }
        body = json.dumps(head, separators=(",", ":")).encode()
        return _STATE_MAGIC + zlib.crc32(body).to_bytes(4, "big") + body

    def set_state(self, state: bytes) -> None:
        """Takes up a match that `get_state` gave, by playing it again: bytes from anywhere are safe to try.

        Raises:
            StateError: not such bytes, or damaged; the game is unchanged.
        """
        setup, choices, decisions = _parse_state(state)
        twin = Game(setup=setup)
        twin._replay(choices, decisions)
        self.setup, self._states, self._decks, self._choices = twin.setup, twin._states, twin._decks, twin._choices

    def _replay(self, choices: bytes, decisions: int) -> None:
        at = 0
        while int(self._states["decisions"][0]) < decisions:
            base, bits = kernels.legal(self._states)
            if bits == 0:
                break
            if bits & (bits - 1):
                if at == len(choices) or not kernels.step(self._states, self._decks, choices[at], NO_LOG):
                    break
                at += 1
            else:
                kernels.step(self._states, self._decks, base + bits.bit_length() - 1, NO_LOG)
        if at != len(choices) or int(self._states["decisions"][0]) != decisions:
            raise StateError(f"choice {at} of the saved state is not legal there")
        self._choices = bytearray(choices)

    def __repr__(self) -> str:
        where = "over" if self.over else f"deal {self.deal}, seat {self.seat} to {self.phase}"
        return f"<Game of {self.players}, scores {self.scores}, {where}>"


def _parse_state(state: object) -> tuple[MatchSetup, bytes, int]:
    if not isinstance(state, bytes | bytearray) or not state.startswith(_STATE_MAGIC) or len(state) > _MAX_STATE:
        raise StateError("not a saved state of a game")
    at = len(_STATE_MAGIC)
    body = bytes(state[at + 4 :])
    if zlib.crc32(body).to_bytes(4, "big") != state[at : at + 4]:
        raise StateError("the saved state is damaged: its checksum is wrong")
    if crowded(body):
        raise StateError("the saved state is damaged: more lists than one can have")
    try:
        head = json.loads(body)
        options = {name: head[name] for name in ("seed", "scores", "first_dealer", "max_deals", "decks")}
        setup = MatchSetup.make(head["players"], Rules.from_dict(head["rules"], complete=True), **options)
        return setup, bytes.fromhex(head["choices"]), check_int("decisions", head["decisions"], 0, 1 << 40)
    except (ChicagoError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StateError(f"the saved state is damaged: {error}") from None


def _from_state(state: bytes) -> Game:
    setup, choices, decisions = _parse_state(state)
    game = Game(setup=setup)
    game._replay(choices, decisions)
    return game
