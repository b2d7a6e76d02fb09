"""The vector form of the Gymnasium environment: many tables side by side, opponents asked for all their rows at once."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from chicago_env.actions import NUM_ACTIONS
from chicago_env.chicago_v0 import check_options, observation_box
from chicago_env.errors import SetupError
from chicago_env.kernels.batch import forced_actions, observe_seats, seat_rewards
from chicago_env.notation import parse_rules
from chicago_env.opponents import OPPONENTS, SEAT, Opponents, Table, ask_opponent, generator
from chicago_env.rewards import reward_kind
from chicago_env.rules import Rules
from chicago_env.setup import MAX_DEALS, MAX_MATCH_DEALS, SEED_LIMIT, MatchSetup, check_flag, check_int, is_list
from chicago_env.state import OVER, REASONS
from chicago_env.vector import MAX_ROWS, GameBatch, check_actions

Array = np.ndarray[Any, Any]

_TRUNCATED = REASONS.index("truncated")


class RowGenerators:
    """Chance for rows of a batch: each row draws from the generator of its own match, as if it were played alone."""

    def __init__(self, generators: Sequence[np.random.Generator]) -> None:
        """Keeps the generators, one for each row that is asked for."""
        self._generators = generators

    def random(self, size: int | tuple[int, ...]) -> Array:
        """Numbers uniform in [0, 1), float64 of shape `size`, whose first axis is the rows.

        Raises:
            SetupError: another number of rows.
        """
        shape = size if isinstance(size, tuple) else (size,)
        if shape[0] != len(self._generators):
            raise SetupError(f"rng.random: size {size}; the first axis must have {len(self._generators)} rows")
        return np.stack([generator.random(shape[1:]) for generator in self._generators])


class ChicagoVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Chicago for one learner at B tables. Letters: D `layout.OBSERVATION_SIZE`, A 102 actions, P players.

    Row i plays, from `reset(seed=s)` on, the matches of `ChicagoEnv` after `reset(seed=s + i)`: the same cards, own
    seats and chance of the opponents, match after match.

    - Observations: (B, D) uint8. Actions: (B,) integers. `infos["action_mask"]` (B, A) int8 and `action_masks()` (B, A)
      bool are the legal ones.
    - A match that ends is followed by the next in the same step (`AutoresetMode.SAME_STEP`): `infos["final_obs"]` has
      the last observation, `infos["final_info"]` `scores`, `winner` (-1: truncated) and `is_success`.
    - `infos["seat"]` (B,) is the own seat at each table, `infos["opponents"]` (B, P - 1) the names of the others.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  # Gymnasium's declaration

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponents = None,
        *,
        players: int | None = None,
        rules: str | Mapping[str, object] | Rules = "pagat",
        seat: int | None = None,
        reward: str = "win",
        max_deals: int = MAX_DEALS,
        skip_forced: bool = True,
    ) -> None:
        """Checks the arguments; the first matches start with `reset`.

        Args:
            num_envs: B, number of tables.
            opponents: as for `ChicagoEnv`; each is asked once for all tables where a seat of its is to act.
            players: P, 2 to 6; by default one more than `opponents` has, or 2.
            rules: preset name, notation, mapping or `Rules`.
            seat: own seat; None: another one at random in each match.
            reward: `win`, `placement` or `points`.
            max_deals: a match is truncated after so many deals; 1 for single deals.
            skip_forced: as for `ChicagoEnv`.

        Raises:
            RulesError: impossible rules or number of players.
            ChicagoError: as `agents.load`, of text that names no agent.
            SetupError: any other argument.
        """
        self.num_envs = check_int("num_envs", num_envs, 1, MAX_ROWS)
        self.rules = parse_rules(rules)
        self._table = Table(opponents, players, self.rules)
        self.players = self._table.players
        self.seat = None if seat is None else check_int("seat", seat, 0, self.players - 1)
        self._kind = reward_kind(reward)
        self.max_deals = check_int("max_deals", max_deals, 1, MAX_MATCH_DEALS)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self.single_observation_space = observation_box()
        self.single_action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._every = np.arange(self.num_envs)
        self._names = np.array(self._table.names, dtype=object)
        self._own = np.zeros(self.num_envs, dtype=np.int64)
        self._lineups = np.zeros((self.num_envs, self.players), dtype=np.int64)  # by place; the own one is -1
        self._matches = [np.random.default_rng()] * self.num_envs
        self._chance = self._matches.copy()
        self._games: GameBatch | None = None
        self._mask = np.zeros((self.num_envs, NUM_ACTIONS), dtype=np.int8)

    @property
    def games(self) -> GameBatch:
        """The matches in progress.

        Raises:
            SetupError: `reset` was never called, or an opponent's mistake has stopped the matches.
        """
        if self._games is None:
            raise SetupError("call reset() first")
        return self._games

    @property
    def own_seats(self) -> Array:
        """(B,) int64, the own seat at each table."""
        return self._own.copy()

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(B, A) bool, the legal actions."""
        return np.asarray(self._mask != 0)

    # --- playing -----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Starts a match at every table.

        Args:
            seed: s for seeds s + i, or one for each table; None: the next of each table's sequence of seeds.
            options: `scores`, `first_dealer`, `deals` as for `chicago_v0.raw_env.reset`, for all tables and for all
                matches until the next reset.

        Raises:
            SetupError: a seed or an option that is not allowed.
        """
        chosen = check_options(options)
        chosen.setdefault("max_deals", self.max_deals)
        checked = self._check_seeds(seed)
        template = MatchSetup.make(self.players, self.rules, **chosen)
        started = self._games is not None
        for row, number in enumerate(checked):
            if number is not None or not started:
                self._matches[row] = seeding.np_random(number)[0]
        seeds = [int(r.integers(SEED_LIMIT)) if s is None else s for s, r in zip(checked, self._matches, strict=True)]
        self._games = GameBatch([dataclasses.replace(template, seed=s) for s in seeds], skip_forced=False)
        self._sit_down(self._every, seeds)
        self._play_others(np.ones(self.num_envs, dtype=np.bool_))
        observation, self._mask = self._show()
        return observation, self._told()

    def _check_seeds(self, seed: object) -> list[int | None]:
        given: Any = seed  # users give all kinds of things
        if given is None:
            return [None] * self.num_envs
        if not is_list(given):
            first = check_int("seed", given, 0, SEED_LIMIT - self.num_envs)
            return [first + row for row in range(self.num_envs)]
        if len(given) != self.num_envs:
            raise SetupError(f"seed: {len(given)} given for {self.num_envs} tables")
        return [None if one is None else check_int("seed", one, 0, SEED_LIMIT - 1) for one in given]

    def _sit_down(self, rows: Array, seeds: Sequence[int]) -> None:
        """Seats and chance of the matches that start in `rows`."""
        for row, seed in zip(rows.tolist(), seeds, strict=True):
            self._own[row] = generator(seed, SEAT).integers(self.players) if self.seat is None else self.seat
            self._chance[row] = generator(seed, OPPONENTS)
            self._lineups[row] = (-1, *self._table.lineup(seed))

    def _play_others(self, first: Array) -> None:
        """Lets the opponents act until at every table the learner has a choice, or the match is over.

        `first` (B,) bool: at these tables the own first turn comes next, and is shown even if it is no choice.
        """
        games = self.games
        try:
            while True:
                rows = games.live
                places = (games.seats(rows) - self._own[rows]) % self.players
                forced = forced_actions(games.states, rows) if self.skip_forced else np.full(len(rows), -1)
                asked = (forced < 0) | (first[rows] & (places == 0))
                if not (places[asked] != 0).any() and asked.all():
                    return
                games.step(rows[~asked], forced[~asked])
                players = np.where(asked, self._lineups[rows, places], -1)
                for i in np.unique(players[players >= 0]).tolist():
                    mine = rows[players == i]
                    observations, masks = games.observe(mine)
                    rng = RowGenerators([self._chance[row] for row in mine.tolist()])
                    games.step(mine, ask_opponent(self._table.agents[i], observations, masks, rng))
        except BaseException:  # Ctrl-C too
            self._games = None  # some tables have moved, others not
            raise

    def _show(self) -> tuple[Array, Array]:
        """Observation and mask of the own seats."""
        return observe_seats(self.games.states, self._own)  # type: ignore[no-any-return]  # compiled: no type is known

    def _told(self) -> dict[str, Any]:
        return {"action_mask": self._mask.copy(), "seat": self.own_seats, "opponents": self._opponents()}

    def _opponents(self) -> Array:
        """(B, P - 1) names of the opponents, from the left of the own seat."""
        return self._names[self._lineups[:, 1:]]

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Carries out an action at every table, and those of the others up to the learner's next choice.

        Args:
            actions: (B,) integers, legal in their rows.

        Returns:
            Observations (B, D) uint8, rewards (B,) float32, terminations (B,) bool, truncations (B,) bool, infos.

        Raises:
            IllegalAction: an action is illegal, and nothing has changed; or an opponent's, after which `reset` is needed.
            SetupError: wrong shape or dtype, or `reset` was never called.
        """
        games = self.games
        before = games.states["scores"].copy()
        games.step(self._every, check_actions(actions, self.num_envs))
        self._play_others(np.zeros(self.num_envs, dtype=np.bool_))
        over = games.states["phase"] == OVER
        truncations = over & (games.states["reason"] == _TRUNCATED)
        rewards = seat_rewards(games.states, self._own, self._kind, before)
        infos: dict[str, Any] = {}
        ended = np.flatnonzero(over)
        if len(ended):
            final, _ = self._show()
            winners = games.states["winner"].astype(np.int64)
            scores = games.states["scores"][:, : self.players].astype(np.int64)
            infos["final_obs"] = np.full(self.num_envs, None, dtype=object)
            for row in ended.tolist():
                infos["final_obs"][row] = final[row]
            about = {"scores": scores, "winner": winners, "is_success": winners == self._own, "seat": self.own_seats}
            about["opponents"] = self._opponents()
            infos["final_info"] = {key: np.where(_like(over, value), value, 0) for key, value in about.items()}
            infos["final_info"].update({f"_{key}": over.copy() for key in about})
            infos["_final_obs"] = infos["_final_info"] = over.copy()
            seeds = [int(self._matches[row].integers(SEED_LIMIT)) for row in ended.tolist()]
            games.restart(ended, seeds)
            self._sit_down(ended, seeds)
            self._play_others(over)
        observation, self._mask = self._show()
        infos.update(self._told())
        return observation, rewards, over & ~truncations, truncations, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the opponents that were loaded from text; called by `close`."""
        self._table.close()


def _like(flags: Array, values: Array) -> Array:
    return flags.reshape(flags.shape + (1,) * (values.ndim - 1))
