"""Chicago as the OpenSpiel game `python_chicago` (docs/environment.md); `import chicago_env.spiel` registers it.

All chance of a match follows from its seed. So chance nodes stand at the root alone, 7 of 512 outcomes each, and spell the
seed: chance stays explicit, the history fixes the state, and copies and replays are exact. (Cards as chance nodes would
need the rules a second time; sampling out of sight would make replays differ.)

Letters: P players, D observation, A actions.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from chicago_env.actions import NUM_ACTIONS, format_action
from chicago_env.errors import MissingExtra, SetupError
from chicago_env.game import Game
from chicago_env.layout import BLOCKS, OBSERVATION_SIZE, slice_of
from chicago_env.notation import parse_rules
from chicago_env.rewards import POINTS, reward_kind, write_rewards
from chicago_env.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, check_players
from chicago_env.setup import MAX_DEALS, MAX_MATCH_DEALS, check_flag, check_int
from chicago_env.view import decode

try:
    import pyspiel
except ModuleNotFoundError as missing:
    raise MissingExtra("open_spiel", "openspiel") from missing

NAME = "python_chicago"
DIGITS, BASE = 7, 512
"""Chance nodes at the root, and outcomes of each: 512**7 = 2**63 seeds."""

_DEFAULTS = {"players": 2, "rules": "pagat", "max_deals": MAX_DEALS, "reward": "win", "skip_forced": True}
_OFFSET = np.concatenate([np.full(block.size, block.offset, dtype=np.float32) for block in BLOCKS])
_SCALE = np.concatenate([np.full(block.size, block.scale, dtype=np.float32) for block in BLOCKS])
_TO_SPIEL, _FROM_SPIEL = str.maketrans("=,", ":;"), str.maketrans(":;", "=,")


def _game_type(*, one_deal: bool) -> Any:
    return pyspiel.GameType(
        short_name=NAME,
        long_name="Chicago",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=MAX_PLAYERS,
        min_num_players=MIN_PLAYERS,
        provides_information_state_string=True,
        provides_information_state_tensor=one_deal,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_DEFAULTS,
    )


def _longest(rules: Rules, players: int, max_deals: int) -> int:
    """Most decisions of a match: three for an exchange, one for each announcement, Chicago and card, and of fours."""
    each = 3 * rules.exchanges + sum(rules.scored_exchanges) + 1 + 5
    return max_deals * (players * each + sum(rules.scored_exchanges) + 1)


def _highest(rules: Rules, kind: int, max_deals: int) -> float:
    """A limit of the returns; of points, of what scores can rise and fall by in so many deals."""
    if kind != POINTS:
        return 1.0
    rise = (rules.exchanges + 1) * max(rules.hand_points) + 2 * rules.last_trick_points
    rise += rules.chicago_points + rules.chicago_breaker_points
    fall = rules.chicago_penalty + 15 * rules.exchanges
    return 2.0 * max_deals * (rise + fall)


class ChicagoGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel ships no types
    """The game. Parameters: `players` (2 to 6), `rules` (preset or notation), `max_deals` (a match is truncated after so
    many; 1 for single deals), `reward` (`win`, `placement` or `points`), `skip_forced` (decisions with one legal action
    are none). In the text of a game OpenSpiel gives `=` and `,` a meaning of its own: rules are written with `:` and `;`
    in their place, as in `python_chicago(rules=pagat+target:51)`.

    Information-state tensors exist where `max_deals` is 1: an observation has the whole history of its deal, but not that
    of earlier ones. Information-state strings always have perfect recall.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Checks the parameters.

        Raises:
            RulesError: impossible rules or number of players.
            SetupError: any other parameter.
        """
        given = dict(params or {})
        chosen = {**_DEFAULTS, **given}
        self.players = check_players(chosen["players"])
        self.rules = parse_rules(str(chosen["rules"]).translate(_FROM_SPIEL))
        self.kind = reward_kind(chosen["reward"])
        self.max_deals = check_int("max_deals", chosen["max_deals"], 1, MAX_MATCH_DEALS)
        self.skip_forced = check_flag("skip_forced", chosen["skip_forced"])
        limit = _highest(self.rules, self.kind, self.max_deals)
        length = _longest(self.rules, self.players, self.max_deals)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=BASE,
            num_players=self.players,
            min_utility=-limit,
            max_utility=limit,
            utility_sum=0.0,
            max_game_length=length,
        )
        if "rules" in given:
            given["rules"] = str(given["rules"]).translate(_TO_SPIEL)
        super().__init__(_game_type(one_deal=self.max_deals == 1), info, given)

    def new_initial_state(self) -> "ChicagoState":
        """A state before chance has chosen the match."""
        return ChicagoState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Number of chance nodes."""
        return DIGITS

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "ChicagoObserver":
        """An observer of one player's observation; with perfect recall its strings have the whole match."""
        return ChicagoObserver(iig_obs_type, params)


class ChicagoState(pyspiel.State):  # type: ignore[misc]  # pyspiel ships no types
    """A state of the game; `match` is the `chicago_env.Game` being played, None as long as chance has not chosen it."""

    def __init__(self, game: ChicagoGame) -> None:
        super().__init__(game)
        self._players, self._rules = game.players, game.rules
        self._max_deals, self._kind, self._skip = game.max_deals, game.kind, game.skip_forced
        self._digits: list[int] = []
        self.match: Game | None = None
        self._recall = [hashlib.sha256(bytes([seat])).digest() for seat in range(game.players)]

    # --- OpenSpiel's API ---------------------------------------------------------------------------------------------

    def current_player(self) -> int:
        """Seat to act, or one of `pyspiel.PlayerId`."""
        if self.match is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.match.over else self.match.seat

    def _legal_actions(self, player: int) -> list[int]:
        return [] if self.match is None or player != self.match.seat else self.match.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes of a digit of the seed, all as likely."""
        return [(digit, 1 / BASE) for digit in range(BASE)]

    def _apply_action(self, action: int) -> None:
        if self.match is None:
            self._digits.append(action)
            if len(self._digits) < DIGITS:
                return
            seed = 0
            for digit in self._digits:
                seed = seed * BASE + digit
            self.match = Game(self._players, self._rules, seed=seed, max_deals=self._max_deals)
        else:
            seat = self.match.seat
            self.match.step(action)
            self._remember(seat, bytes([action]))
        if self._skip:
            self.match.play_forced()
        for seat in range(self._players):
            self._remember(seat, self.match.observation(seat).tobytes())

    def _remember(self, seat: int, what: bytes) -> None:
        """Adds to what a player has seen and done: a chain of digests, so that equal ones had equal histories."""
        self._recall[seat] = hashlib.sha256(self._recall[seat] + what).digest()

    def _action_to_string(self, player: int, action: int) -> str:
        if player < 0 or self.match is None:
            return f"seed digit {action}"
        return format_action(action, self.match.hand(player))

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self.match is not None and self.match.over

    def returns(self) -> list[float]:
        """(P,) returns by seat; 0 before the end."""
        amounts = np.zeros(self._players)
        if self.match is not None and self.match.over:
            before = np.zeros(MAX_PLAYERS, dtype=np.int64)
            write_rewards(self.match.state, self._kind, before, amounts)
        return [float(amount) for amount in amounts]

    def __str__(self) -> str:
        if self.match is None:
            return f"seed digits {self._digits}"
        return f"seed {self.match.setup.seed}: {self.match!r}, history {self._recall[0].hex()[:16]}"

    def recall(self, player: int) -> str:
        """Digest of all that a player has seen and done in the match."""
        return self._recall[player].hex()


class ChicagoObserver:
    """OpenSpiel's observer: `tensor` (D,) float32, `(entry - offset) / scale` of the observation, all 0 before the match
    begins; `dict` has a view of each block by name and shape (docs/observations.md).
    """

    def __init__(self, iig_obs_type: Any, params: Any) -> None:
        """An observer of what one player may know.

        Raises:
            SetupError: parameters, or a kind of observation other than all that one player knows.
        """
        if params:
            raise SetupError(f"observers have no parameters, not {params!r}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise SetupError("observers see what one player may know, all of it")
        self._recall = kind.perfect_recall
        self.tensor = np.zeros(OBSERVATION_SIZE, dtype=np.float32)
        self.dict = {block.name: self.tensor[slice_of(block.name)].reshape(block.shape) for block in BLOCKS}

    def set_from(self, state: ChicagoState, player: int) -> None:
        """Writes `tensor`, and with it `dict`."""
        if state.match is None:
            self.tensor.fill(0)
        else:
            self.tensor[:] = (state.match.observation(player) - _OFFSET) / _SCALE

    def string_from(self, state: ChicagoState, player: int) -> str:
        """What the player sees, as text; with perfect recall also a digest of all before."""
        seen = "" if state.match is None else str(decode(state.match.observation(player)))
        return f"player {player}\n{seen}" + (f"\nhistory {state.recall(player)}" if self._recall else "")


pyspiel.register_game(_game_type(one_deal=True), ChicagoGame)
