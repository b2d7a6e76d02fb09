"""Who sits at the other seats of the Gymnasium environments: fixed opponents, or pools to draw from in each match.

Letters: B batch, P players, D observation, A actions.
"""

import itertools
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

import numpy as np

from chicago_env._packages import sibling
from chicago_env.errors import SetupError
from chicago_env.rules import Rules, check_players
from chicago_env.setup import is_list

Array = np.ndarray[Any, Any]

MAX_POOL = 10_000
"""Limit of the opponents in a pool."""

SEAT, OPPONENTS, LINEUP = 1, 2, 3
"""Purposes of chance beside the cards, which the match seed itself fixes."""


class Opponent(Protocol):
    """What plays a seat: as `agents.Agent`. Where it is made for some games only, it has a method as in `check_game`."""

    def act(self, observations: Any, masks: Any, rng: Any, /) -> Any:
        """(B,) actions for (B, D) uint8 observations and (B, A) int8 masks."""
        ...


Player: TypeAlias = Opponent | str | os.PathLike[str] | None
"""An opponent, what `agents.load` makes one of, or None for random play."""

Place: TypeAlias = Player | Mapping[Any, float]
"""Who sits at a place: always the same, or in each match one drawn from a pool, `{opponent: weight}`."""

Opponents: TypeAlias = Place | Sequence[Place]
"""One for every place, or one for each from the left of the own seat."""


def check_game(agent: object, players: int, rules: Rules) -> None:
    """Asks an agent whether it plays a game, where it is made for some only: it then has a method of this name.

    Raises:
        SetupError: it does not.
    """
    check = getattr(agent, "check_game", None)
    if callable(check):
        check(players, rules)


class RandomOpponent:
    """Plays legal actions with equal probability."""

    name = "random"

    def act(self, observations: Array, masks: Array, rng: Any, /) -> Array:
        """(B,) actions."""
        ranks = masks.cumsum(axis=1)
        picks = (rng.random(len(masks)) * ranks[:, -1]).astype(np.int64)
        return np.asarray((ranks > picks[:, None]).argmax(axis=1))


def generator(seed: int, purpose: int) -> np.random.Generator:
    """The generator of a match for something other than cards."""
    return np.random.default_rng((seed, purpose))


class Table:
    """The opponents at the P - 1 places from the left of the own seat, and the draw of who sits there in a match.

    An opponent that is given at several places, as the same object or the same text, is one: it is loaded once, and can
    be asked for all its places together.

    Attributes:
        players: P.
        agents: each different opponent.
        names: what each is called: the text that it was loaded from, or its `name`.
    """

    def __init__(self, opponents: Opponents, players: int | None, rules: Rules) -> None:
        """Checks and loads the opponents.

        Args:
            opponents: one for all places (None: random play), or a sequence of P - 1; see `Place`.
            players: P; None: one more than the sequence has, else 2.
            rules: the rules of the game.

        Raises:
            RulesError: number of players.
            SetupError: not so many opponents, one that cannot act or is made for other games, an empty pool, or a weight
                that is none.
            ChicagoError: as `agents.load`, of text that names no agent.
        """
        listed = is_list(opponents)
        given: list[Any] = list(opponents) if is_list(opponents) else []
        if players is None:
            players = len(given) + 1 if listed else 2
        self.players = check_players(players)
        self._rules = rules
        self.agents: list[Opponent] = []
        self.names: list[str] = []
        self._owned: list[Opponent] = []
        self._known: dict[object, int] = {}
        places = self.players - 1
        if not listed:
            self._pools = [self._pool("opponents", opponents)] * places
        elif len(given) != places:
            raise SetupError(f"opponents: {len(given)} given for {self.players} players; {places} are needed")
        else:
            self._pools = [self._pool(f"opponents[{i}]", place) for i, place in enumerate(given)]
        self._fixed = tuple(members[0] for members, _ in self._pools)
        self._drawn = any(len(members) > 1 for members, _ in self._pools)

    def _pool(self, where: str, place: object) -> tuple[list[int], Array]:
        """Members of a pool, and the upper ends (float64, ascending, the last 1) of their shares of [0, 1)."""
        if not isinstance(place, Mapping):
            return [self._member(where, place)], np.ones(1)
        if not 1 <= len(place) <= MAX_POOL:
            raise SetupError(f"{where}: a pool of {len(place)}; 1 to {MAX_POOL} opponents are allowed")
        weights = [_weight(f"{where}, {_short(one)}", weight) for one, weight in place.items()]
        ends = np.array(list(itertools.accumulate(weights)))
        if not 0 < ends[-1] < np.inf:
            raise SetupError(f"{where}: the weights add up to {ends[-1]}; they must add up to a finite number above 0")
        return [self._member(f"{where}, {_short(one)}", one) for one in place], ends / ends[-1]

    def _member(self, where: str, one: object) -> int:
        """Index of an opponent among the different ones."""
        text = os.fspath(one) if isinstance(one, os.PathLike) else one
        key = text if text is None or isinstance(text, str) else id(text)
        if key not in self._known:
            if text is None:
                agent: Any = RandomOpponent()
            elif isinstance(text, str):
                agent = sibling("agents").load(text)
                self._owned.append(agent)
            else:
                agent = text
            if not callable(getattr(agent, "act", None)):
                hint = "; a pool is a mapping {opponent: weight}" if is_list(agent) or isinstance(agent, set) else ""
                raise SetupError(f"{where}: {_short(agent)} has no method `act`{hint}")
            check_game(agent, self.players, self._rules)
            self._known[key] = len(self.agents)
            self.agents.append(agent)
            own = getattr(agent, "name", None)
            self.names.append(text if isinstance(text, str) else own if isinstance(own, str) else type(agent).__name__)
        return self._known[key]

    def lineup(self, seed: int) -> tuple[int, ...]:
        """Who sits at each place in the match of this seed, as indices of `agents`.

        The draws of the places are independent, and those of one place do not depend on what others have.
        """
        if not self._drawn:
            return self._fixed
        numbers = generator(seed, LINEUP).random(len(self._pools))
        pairs = zip(self._pools, numbers, strict=True)
        return tuple(members[int(np.searchsorted(ends, number, side="right"))] for (members, ends), number in pairs)

    def close(self) -> None:
        """Closes opponents that were loaded here and that have something to close, as a program has."""
        for agent in self._owned:
            close = getattr(agent, "close", None)
            if callable(close):
                with suppress(OSError):
                    close()


def _weight(where: str, value: Any) -> float:
    try:
        number = float("nan") if isinstance(value, str | bytes | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0 <= number < np.inf:
        raise SetupError(f"{where}: weight {value!r}; a weight is a finite number, 0 or more")
    return number


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def ask_opponent(opponent: Opponent, observations: Array, masks: Array, rng: Any) -> Array:
    """Actions (B,) of an opponent, of the right shape; whether they are legal is for the game to say.

    Raises:
        SetupError: no (B,) integers.
    """
    given = opponent.act(observations, masks, rng)
    try:
        answer = np.asarray(given)
    except (ValueError, TypeError) as error:  # lists of unequal lengths, tensors of another device
        raise SetupError(f"opponent {opponent!r} answered no array: {error}") from None
    if answer.shape != (len(masks),) or answer.dtype.kind not in "iu":
        raise SetupError(
            f"opponent {opponent!r} answered {answer.dtype} of shape {answer.shape}; expected ({len(masks)},) integers"
        )
    return answer
