"""The PettingZoo AEC environment (docs/environment.md): `chicago_v0.env(players=4, rules="pagat", …)`."""

import base64
import functools
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from chicago_env.actions import NUM_ACTIONS
from chicago_env.errors import ChicagoError, SetupError, StateError
from chicago_env.files import crowded
from chicago_env.game import Bytes, Game, Mask
from chicago_env.layout import BLOCKS, OBSERVATION_SIZE, STATE_BLOCKS
from chicago_env.notation import parse_rules
from chicago_env.records import record_of_game
from chicago_env.records.events import Event, decode_all
from chicago_env.render import as_text, print_table, render
from chicago_env.rewards import reward_kind, write_rewards
from chicago_env.rules import Rules, check_players
from chicago_env.setup import MAX_DEALS, MAX_MATCH_DEALS, SEED_LIMIT, check_flag, check_int

Observation = dict[str, np.ndarray[Any, Any]]
"""`{"observation": (D,) uint8, "action_mask": (A,) int8}`."""

RENDER_MODES = ["human", "ansi"]
_OPTIONS = ("decks", "scores", "first_dealer", "deals")
_MAGIC = b"chicago-v0 1\n"
_MAX_STATE = 32 << 20


@functools.cache
def _highs() -> Bytes:
    """(STATE_SIZE,) uint8: the largest value of each entry of an observation, and of `state()`."""
    return np.concatenate([np.full(b.size, b.high, dtype=np.uint8) for b in BLOCKS + STATE_BLOCKS])


def observation_box() -> gymnasium.spaces.Box:
    """A new space of observations: Box (D,) uint8 with the bounds of each block."""
    high = _highs()[:OBSERVATION_SIZE]
    return gymnasium.spaces.Box(np.zeros_like(high), high, dtype=np.uint8)


def check_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a reset as arguments of `Game`.

    Raises:
        SetupError: no mapping, or an unknown option.
    """
    if options is not None and not isinstance(options, Mapping):
        raise SetupError(f"options: {options!r} is no mapping")
    chosen = {name: value for name, value in (options or {}).items() if value is not None}
    chosen.pop("options", None)  # PettingZoo's own api_test passes {"options": 1}
    for name in chosen:
        if name not in _OPTIONS:
            raise SetupError(f"options: {name!r} is unknown; allowed are {', '.join(_OPTIONS)}")
    if "deals" in chosen:
        chosen["max_deals"] = check_int("deals", chosen.pop("deals"), 1, MAX_MATCH_DEALS)
    return chosen


def check_render_mode(render_mode: str | None) -> str | None:
    """The render mode.

    Raises:
        SetupError: an unknown one.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise SetupError(f"render_mode: {render_mode!r} is unknown; allowed are {', '.join(RENDER_MODES)} and None")
    return render_mode


def told_step(game: Game, action: int) -> list[Event]:
    """`game.step(action)`; gives the events of the step for rendering."""
    return decode_all(game.step_logged(action))


def draw(
    game: Game, seat: int, mode: str | None, reveal: bool, names: Sequence[str] | None, events: Sequence[Event]
) -> str | None:
    """What `render` of an environment does in its mode."""
    if mode is None:
        gymnasium.logger.warn("render() needs a render_mode: ansi or human")
        return None
    table = render(game, seat, reveal=reveal, names=names, events=events)
    if mode == "ansi":
        return as_text(table)
    print_table(table)
    return None


class raw_env(AECEnv):  # type: ignore[misc]  # pettingzoo ships no types; the name is its convention
    """Chicago as an AEC environment; letters: P players, D `layout.OBSERVATION_SIZE`, A 102 actions.

    - Agents are `player_0` … `player_{P-1}` by seat; `agent_selection` is the seat to act. All end at once; then each
      is selected once more, in order of seats, to be given its last reward and to step with None.
    - `observe(agent)` gives `{"observation": (D,) uint8, "action_mask": (A,) int8}` in new arrays. The mask of a seat
      that is not to act is all 0. `infos[agent]["action_mask"]` is the same mask.
    - `step` raises `IllegalAction`, and changes nothing, for anything that is no legal action.
    - Rewards are zero-sum at every step: see `chicago_env.rewards`. For each seat the sum over `last()` is its return.
    - A match that is not won after `max_deals` deals is truncated. At the end `infos` have `winner` (a seat or None) and
      `scores`, by seat.
    """

    metadata: Mapping[str, Any] = {
        "name": "chicago_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        players: int = 4,
        rules: str | Mapping[str, object] | Rules = "pagat",
        *,
        reward: str = "win",
        max_deals: int = MAX_DEALS,
        skip_forced: bool = False,
        render_mode: str | None = None,
        reveal: bool = False,
    ) -> None:
        """Checks the arguments; the first match starts with `reset`.

        Args:
            players: P, 2 to 6.
            rules: preset name, notation, mapping (e.g. a record's `rules`) or `Rules`.
            reward: `win`, `placement` or `points`.
            max_deals: a match is truncated after so many deals.
            skip_forced: play decisions with one legal action without asking. The game and its record are the same.
            render_mode: `ansi`: `render()` gives text; `human`: printed after each step; None.
            reveal: rendering shows all hands, not only what the seat to act may see.

        Raises:
            RulesError: impossible rules or number of players.
            SetupError: any other argument.
        """
        super().__init__()
        self.players = check_players(players)
        self.rules = parse_rules(rules)
        self.reward = reward
        self.max_deals = check_int("max_deals", max_deals, 1, MAX_MATCH_DEALS)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self.reveal = check_flag("reveal", reveal)
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [f"player_{seat}" for seat in range(self.players)]
        self.agents: list[str] = []
        self._kind = reward_kind(reward)
        self._match: Game | None = None
        self._np_random: np.random.Generator | None = None
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {agent: self._new_space() for agent in self.possible_agents}
        self._action_spaces = {agent: gymnasium.spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.state_space = gymnasium.spaces.Box(np.zeros_like(_highs()), _highs(), dtype=np.uint8)

    @staticmethod
    def _new_space() -> gymnasium.spaces.Dict:
        mask = gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        return gymnasium.spaces.Dict({"observation": observation_box(), "action_mask": mask})

    @property
    def _game(self) -> Game:
        if self._match is None:
            raise SetupError("call reset() first: no match has been started")
        return self._match

    # --- PettingZoo's API --------------------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The space of `observe(agent)`, the same object at every call."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """Discrete(102), the same object at every call."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Starts a match.

        Args:
            seed: key of all its cards, 0 <= seed < 2**63, and start of the sequence of seeds of the matches that later
                resets without a seed play. None: the next of the sequence, which at first starts anywhere.
            options: any of `decks` (the first deals, 52 cards each, as ids or names), `scores` (P start scores),
                `first_dealer` (a seat) and `deals` (the episode ends after so many, in place of `max_deals`).

        Raises:
            SetupError: a seed or an option that is not allowed; no match is started.
        """
        chosen = check_options(options)
        generator = self._np_random
        if seed is not None:
            seed = check_int("seed", seed, 0, SEED_LIMIT - 1)
            generator = np.random.default_rng(seed)
        else:
            # a copy: an option that is refused below must not use up a seed
            generator = np.random.default_rng() if generator is None else _copy_of(generator)
            seed = int(generator.integers(SEED_LIMIT))
        game = Game(self.players, self.rules, seed=seed, **{"max_deals": self.max_deals, **chosen})
        self._np_random = generator
        self._begin(game)
        if self.skip_forced:
            game.play_forced()
        self._note()
        if self.render_mode == "human":
            self.render()

    def _begin(self, game: Game) -> None:
        self._match = game
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": _no_action()} for agent in self.agents}
        self._skip_agent_selection = None
        self._paid = False
        self._events: list[Event] = []
        self._ready: Observation | None = None
        self.agent_selection = self.agents[0]

    def _note(self) -> None:
        """Takes over whose turn it is, and the mask, from the game."""
        seat = self._game.seat
        if seat < 0:
            ended = self.terminations if self._game.winner is not None else self.truncations
            for agent in self.agents:
                ended[agent] = True
                self.infos[agent].update(winner=self._game.winner, scores=self._game.scores)
            self.agent_selection = self.agents[0]
            return
        self.agent_selection = agent = self.possible_agents[seat]
        observation, mask = self._game.observe(seat)
        self._ready = {"observation": observation, "action_mask": mask}
        self.infos[agent] = {"action_mask": mask.copy()}

    def observe(self, agent: str) -> Observation:
        """What `agent` may know now, in new arrays.

        Raises:
            KeyError: no such agent.
        """
        if agent == self.agent_selection and self._ready is not None:
            ready, self._ready = self._ready, None  # made by `step`, given away once
            return ready
        observation, mask = self._game.observe(self._seats[agent])
        return {"observation": observation, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Carries out an action of `agent_selection`; None once the match is over.

        Raises:
            IllegalAction: not a legal action; nothing has changed.
            ValueError: an action other than None after the end.
        """
        game = self._game
        if self.agents and game.over:
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        before = game.state["scores"].copy()
        if self.render_mode is None:
            game.step(action)  # type: ignore[arg-type]  # refuses None, as any action that is none
            if self.skip_forced:
                game.play_forced()
        else:
            self._events = told_step(game, action)  # type: ignore[arg-type]  # as above
            while self.skip_forced and (forced := game.forced) is not None:
                self._events += told_step(game, forced)
        self._ready = None
        self.infos[agent] = {"action_mask": _no_action()}
        self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self._paid = False
            for name in self.agents:
                self.rewards[name] = 0.0
        self._pay(before)
        self._note()
        if self.render_mode == "human":
            self.render()

    def _pay(self, before: Any) -> None:
        game = self._game
        if not game.over and (self.reward != "points" or bytes(before) == game.state["scores"].tobytes()):
            return
        amounts = np.zeros(self.players)
        write_rewards(game.state, self._kind, before, amounts)
        self._paid = True
        for agent, amount in zip(self.possible_agents, amounts.tolist(), strict=True):
            self.rewards[agent] = amount
            self._cumulative_rewards[agent] += amount

    def render(self) -> str | None:
        """The table as the seat to act sees it, or with `reveal` all of it, and what the last step brought about.

        Returns:
            Text in the mode `ansi`; None in the mode `human`, which prints.
        """
        seat = self._seats[self.agent_selection]
        return draw(self._game, seat, self.render_mode, self.reveal, self.possible_agents, self._events)

    def state(self) -> Bytes:
        """New (STATE_SIZE,) uint8: the observation of the seat to act (of seat 0 at the end), then all hidden cards."""
        return self._game.full_state()

    def close(self) -> None:
        """Nothing is held open."""

    # --- beyond PettingZoo's API -------------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The match in progress."""
        return self._game

    def record(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """The match so far in record format 1 (docs/record-format.md).

        Args:
            names: P names for the record; by default those of the agents.
        """
        return record_of_game(self._game, self.possible_agents if names is None else names)

    def get_state(self) -> bytes:
        """The episode so far as bytes, incl. rewards not yet given and the sequence of seeds; safe to read again."""
        generator = self._np_random
        body = {
            "game": base64.b64encode(self._game.get_state()).decode(),
            "reward": self.reward,
            "skip_forced": self.skip_forced,
            "agents": self.agents,
            "rewards": self.rewards,
            "cumulative": self._cumulative_rewards,
            "generator": None if generator is None else generator.bit_generator.state,
        }
        data = json.dumps(body, separators=(",", ":")).encode()
        return _MAGIC + zlib.crc32(data).to_bytes(4, "big") + data

    def set_state(self, state: object) -> None:
        """Takes up an episode that `get_state` gave, in an environment made with the same arguments.

        Raises:
            StateError: no such bytes, damaged, or of another environment; nothing has changed.
        """
        twin = raw_env(self.players, self.rules, reward=self.reward, skip_forced=self.skip_forced)
        twin._read(state)
        for name in _EPISODE:
            setattr(self, name, getattr(twin, name))

    def _read(self, state: object) -> None:
        at = len(_MAGIC)
        if not isinstance(state, bytes | bytearray) or not state.startswith(_MAGIC) or len(state) > _MAX_STATE:
            raise StateError("not a saved state of a chicago_v0 environment")
        data = bytes(state[at + 4 :])
        if zlib.crc32(data).to_bytes(4, "big") != state[at : at + 4]:
            raise StateError("the saved state is damaged: its checksum is wrong")
        if crowded(data):
            raise StateError("the saved state is damaged: more lists than one can have")
        try:
            body = json.loads(data)
            game = Game(self.players, self.rules)
            game.set_state(base64.b64decode(body["game"]))
            for name, ours, theirs in (
                ("players", self.players, game.players),
                ("rules", self.rules, game.rules),
                ("reward", self.reward, body["reward"]),
                ("skip_forced", self.skip_forced, body["skip_forced"]),
            ):
                if ours != theirs:
                    raise StateError(f"the saved state is of an environment with other {name}")
            self._begin(game)
            self._note()
            self._restore(body)
        except StateError:
            raise
        except (ChicagoError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise StateError(f"the saved state is damaged: {error}") from None

    def _restore(self, body: Mapping[str, Any]) -> None:
        left = [agent for agent in self.possible_agents if agent in body["agents"]]
        if left != body["agents"] or (left != self.agents and not self._game.over):
            raise StateError(f"the saved state is damaged: agents {body['agents']}")
        for agent in self.agents:
            if agent not in left:
                for table in (self.terminations, self.truncations, self.rewards, self._cumulative_rewards, self.infos):
                    del table[agent]
        self.agents = left
        for agent in left:
            self.rewards[agent] = _finite(body["rewards"][agent])
            self._cumulative_rewards[agent] = _finite(body["cumulative"][agent])
        self._paid = True
        self.agent_selection = left[0] if left and self._game.over else self.agent_selection
        if body["generator"] is not None:
            self._np_random = np.random.default_rng()
            self._np_random.bit_generator.state = body["generator"]


_EPISODE = (
    "_match", "agents", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos",
    "_skip_agent_selection", "_paid", "_events", "_ready", "agent_selection", "_np_random",
)  # fmt: skip
"""What an episode consists of."""


def _no_action() -> Mask:
    return np.zeros(NUM_ACTIONS, dtype=np.int8)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no reward")
    return number


def _copy_of(generator: np.random.Generator) -> np.random.Generator:
    twin = np.random.default_rng()
    twin.bit_generator.state = generator.bit_generator.state
    return twin


def env(
    players: int = 4, rules: str | Mapping[str, object] | Rules = "pagat", **options: Any
) -> "wrappers.OrderEnforcingWrapper[str, Observation, int]":
    """The environment in PettingZoo's wrapper that refuses calls in the wrong order. Arguments as for `raw_env`.

    There is no wrapper that checks actions: `raw_env` does, and its `IllegalAction` says more.
    """
    return wrappers.OrderEnforcingWrapper(raw_env(players, rules, **options))
