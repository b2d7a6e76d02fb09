"""One learner against given agents, many games at once: a vector environment for any algorithm that takes masks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from agents.base import Agent, ask
from chicago_env.errors import SetupError
from chicago_env.kernels.batch import match_seed
from chicago_env.notation import parse_rules
from chicago_env.rewards import POINTS, reward_kind, write_rewards
from chicago_env.rules import Rules, check_players
from chicago_env.setup import MAX_DEALS, SEED_LIMIT, MatchSetup, check_int
from chicago_env.state import OVER
from chicago_env.vector import GameBatch
from train.envs import ChicagoVecEnv

Array = np.ndarray[Any, Any]

_AGENTS = 201  # purpose of the opponents' chance, beside the cards


class OpponentVecEnv(ChicagoVecEnv):
    """Every row shows the learner's seat, when it has a choice; the other seats are played by agents.

    The learner has another seat in each match of a row. Its reward is of everything that happened since its last choice.
    At the end of a match the infos have `is_success` (whether the learner won), `winner`, `scores` and `episode`, from
    which Stable-Baselines3 logs the mean return. A match cut off after `max_deals` deals ends like any other.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Sequence[Agent],
        *,
        rules: str | Rules = "pagat",
        seed: int = 0,
        reward: str = "win",
        max_deals: int = MAX_DEALS,
    ) -> None:
        """Makes the games; `reset` starts them.

        Args:
            num_envs: B, number of rows.
            opponents: the agents of the other P - 1 seats, from the learner's left.
            rules: preset, notation or `Rules`.
            seed: root of all chance.
            reward: `win`, `placement` or `points`.
            max_deals: deals after which a match is cut off; 1 for single deals.

        Raises:
            SetupError: an impossible argument.
            RulesError: rules or number of players.
        """
        super().__init__(check_int("num_envs", num_envs, 1, 1 << 20))
        self.opponents = list(opponents)
        self.players = check_players(len(self.opponents) + 1)
        self.rules = parse_rules(rules)
        self.max_deals = max_deals
        self._kind = reward_kind(reward)
        self._all = np.arange(self.num_envs)
        self._restart(seed)

    def _restart(self, seed: int) -> None:
        self._root = check_int("seed", seed, 0, SEED_LIMIT - 1)
        self._episodes = np.full(self.num_envs, -1, dtype=np.int64)
        self._rng = np.random.default_rng((seed, _AGENTS))
        self._games: GameBatch | None = None

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Another root of all chance, from the next reset on."""
        if seed is not None:
            self._restart(seed)
        return [seed] * self.num_envs

    @property
    def own_seats(self) -> Array:
        """(B,) int64, the learner's seat in each row."""
        return np.asarray((self._all + self._episodes) % self.players)

    @property
    def games(self) -> GameBatch:
        """The games in progress.

        Raises:
            SetupError: `reset` was never called.
        """
        if self._games is None:
            raise SetupError("call reset() first")
        return self._games

    def _next_seeds(self, rows: Array) -> list[int]:
        self._episodes[rows] += 1
        return [int(match_seed(self._root, row, int(self._episodes[row]))) for row in rows.tolist()]

    def reset(self) -> VecEnvObs:
        """Starts a match in every row; gives (B, D) uint8."""
        setups = [
            MatchSetup.make(self.players, self.rules, seed=seed, max_deals=self.max_deals)
            for seed in self._next_seeds(self._all)
        ]
        self._games = GameBatch(setups)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._play_others()
        self._observation, self._mask = self.games.observe(self._all)
        return self._observation

    def _play_others(self) -> None:
        """Lets the opponents act until in every row it is the learner's turn, or the match is over."""
        while True:
            rows = self.games.live
            places = (self.games.seats(rows) - self.own_seats[rows]) % self.players
            if not places.any():
                return
            for place, agent in enumerate(self.opponents, start=1):
                mine = rows[places == place]
                if len(mine):
                    observations, masks = self.games.observe(mine)
                    self.games.step(mine, ask(agent, observations, masks, self._rng))

    def action_masks(self) -> Array:
        """(B, A) bool, the learner's legal actions."""
        if self._games is None:
            raise SetupError("call reset() before action_masks()")
        return np.asarray(self._mask != 0)

    def step_wait(self) -> VecEnvStepReturn:
        """The learner's actions, and those of the others: observations, rewards (B,), dones, infos.

        Raises:
            IllegalAction: an action is illegal; no row has moved.
        """
        games = self.games
        before = games.states["scores"].copy()
        shown = self._observation
        games.step(self._all, self._actions)
        self._play_others()
        dones = games.states["phase"] == OVER
        rewards = self._rewards(before, dones)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        own = self.own_seats
        for row in ended.tolist():
            winner = int(games.states["winner"][row])
            infos[row] = {
                "is_success": winner == own[row],
                "winner": None if winner < 0 else winner,
                "scores": games.states["scores"][row, : self.players].tolist(),
                "episode": {"r": float(self._returns[row]), "l": int(self._lengths[row])},
                "terminal_observation": shown[row],
            }
        if len(ended):
            self._returns[ended], self._lengths[ended] = 0, 0
            games.restart(ended, self._next_seeds(ended))
            self._play_others()
        self._observation, self._mask = games.observe(self._all)
        return self._observation, rewards, dones, infos

    def _rewards(self, before: Array, dones: Array) -> Array:
        own, players = self.own_seats, self.players
        rewards = np.zeros(self.num_envs, dtype=np.float32)
        if self._kind == POINTS:
            gained = (self.games.states["scores"] - before)[:, :players]
            mine = gained[self._all, own]
            rewards[:] = mine - (gained.sum(axis=1) - mine) / (players - 1)
            return rewards
        out = np.zeros(players, dtype=np.float32)
        for row in np.flatnonzero(dones).tolist():
            write_rewards(self.games.states[row], self._kind, before[row], out)
            rewards[row] = out[own[row]]
        return rewards
