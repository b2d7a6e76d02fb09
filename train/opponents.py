"""One learner against given agents, many games at once, as a vector environment of Stable-Baselines3."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from chicago_env.errors import SetupError
from chicago_env.gym_vector import ChicagoVectorEnv
from train.envs import ChicagoVecEnv

Array = np.ndarray[Any, Any]


class OpponentVecEnv(ChicagoVecEnv):
    """Every row shows the learner's seat, when it has a choice; the other seats are played by agents.

    The games are those of `chicago_env.gym_vector.ChicagoVectorEnv`, whose arguments say who plays, by what rules and for
    what reward. At the end of a match the infos have `is_success` (whether the learner won; not if nobody did), `winner`,
    `scores`, `opponents` (their names), and `episode`, from which Stable-Baselines3 logs the mean return. A match cut off
    after `max_deals` deals ends like any other: the observation counts the deals that are left, so nothing is to be
    estimated beyond.

    Attributes:
        tables: the environment underneath.
    """

    def __init__(self, tables: ChicagoVectorEnv, *, seed: int | None = None) -> None:
        """Takes over an environment; the first reset uses `seed`.

        Raises:
            SetupError: not a `ChicagoVectorEnv`.
        """
        if not isinstance(tables, ChicagoVectorEnv):
            raise SetupError(f"tables: a ChicagoVectorEnv is needed, as gymnasium.make_vec gives it, not {tables!r}")
        super().__init__(tables.num_envs)
        self.tables = tables
        self._seed = seed
        self._started = False

    @property
    def players(self) -> int:
        """P, number of players."""
        return self.tables.players

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed of the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> VecEnvObs:
        """Starts a match in every row; gives (B, D) uint8."""
        observation, _ = self.tables.reset(seed=self._seed)
        self._seed = None
        self._started = True
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        return observation

    def action_masks(self) -> Array:
        """(B, A) bool, the learner's legal actions."""
        if not self._started:
            raise SetupError("call reset() before action_masks()")
        return self.tables.action_masks()

    def step_wait(self) -> VecEnvStepReturn:
        """The learner's actions, and those of the others: observations, rewards (B,), dones, infos.

        Raises:
            IllegalAction: an action is illegal; no row has moved.
        """
        observation, rewards, terminations, truncations, told = self.tables.step(self._actions)
        dones = terminations | truncations
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(dones).tolist():
            final = told["final_info"]
            winner = int(final["winner"][row])
            infos[row] = {
                "winner": None if winner < 0 else winner,
                "scores": final["scores"][row].tolist(),
                "opponents": tuple(final["opponents"][row]),
                "episode": {"r": float(self._returns[row]), "l": int(self._lengths[row])},
                "terminal_observation": told["final_obs"][row],
            }
            if winner >= 0:
                infos[row]["is_success"] = bool(final["is_success"][row])
        self._returns[dones], self._lengths[dones] = 0, 0
        return observation, rewards, dones, infos
