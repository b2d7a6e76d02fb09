"""The batch environment as a vector environment of Stable-Baselines3."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from chicago_env.actions import NUM_ACTIONS
from chicago_env.chicago_v0 import observation_box
from chicago_env.errors import SetupError
from chicago_env.vector import BatchEnv, Step
from train.branches import final_rewards
from train.deal_reward import DealReward

Array = np.ndarray[Any, Any]

_REWARD = "reward."  # what names of the reward's arrays begin with in a saved state


class ChicagoVecEnv(VecEnv):
    """What the vector environments here have in common: spaces, masks, and attributes of rows."""

    def __init__(self, num_envs: int) -> None:
        self.render_mode = None
        super().__init__(num_envs, observation_box(), gymnasium.spaces.Discrete(NUM_ACTIONS))
        self._actions: Array = np.zeros(num_envs, dtype=np.int64)

    def action_masks(self) -> Array:
        """(B, A) bool, the legal actions of every row: what MaskablePPO asks for."""
        raise NotImplementedError

    def step_async(self, actions: Array) -> None:
        """Keeps the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def close(self) -> None:
        """Nothing is held open."""

    def _rows(self, indices: VecEnvIndices) -> list[int]:
        return list(self._get_indices(indices))

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute of this object, once for each row."""
        return [getattr(self, attr_name) for _ in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute for all rows.

        Raises:
            SetupError: only some rows are named; they share every attribute.
        """
        if len(self._rows(indices)) != self.num_envs:
            raise SetupError(f"{attr_name}: the rows of a batch share their attributes")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """What the method gives, once for each row; `action_masks` gives each row its own."""
        result = getattr(self, method_name)(*args, **kwargs)
        rows = self._rows(indices)
        return [result[row] for row in rows] if method_name == "action_masks" else [result for _ in rows]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """No row is wrapped in anything."""
        return [False for _ in self._rows(indices)]


class SelfPlayVecEnv(ChicagoVecEnv):
    """Every row shows the seat to act, whichever it is; all seats are the learner.

    `SelfPlayPPO` uses `play`, which tells seats and all rewards. For a plain `MaskablePPO` the reward of a step is that
    of the seat which acted in it: what others' steps give that seat is lost to it, so use `SelfPlayPPO` to learn.

    Attributes:
        batch: the environment underneath.
        last: what is shown now.
    """

    def __init__(self, batch: BatchEnv, reward: DealReward | None = None, scale: float = 1.0) -> None:
        """Takes over a batch.

        Args:
            batch: the environment; its rewards are used unless `reward` is given.
            reward: makes rewards of a single deal's end.
            scale: factor of the rewards of the batch, where they are used.

        Raises:
            SetupError: not a `BatchEnv`.
        """
        if not isinstance(batch, BatchEnv):
            raise SetupError(f"batch: a BatchEnv is needed, not {batch!r}")
        super().__init__(batch.num_envs)
        self.batch = batch
        self.reward = reward
        self.scale = scale
        self.last: Step | None = None

    @property
    def players(self) -> int:
        """P, the largest number of players of a row."""
        return self.batch.players

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The batch has its seed from when it was made; another one starts all its chance anew at the next reset."""
        if seed is not None:
            self.batch.reset(seed)
            self.last = None
        return [seed] * self.num_envs

    def begin(self) -> Step:
        """Starts a match in every row."""
        self.last = self.batch.reset()
        if self.reward is not None:
            self.reward.begin(self.batch)
        return self.last

    def get_state(self) -> dict[str, Array]:
        """Where every row stands, as arrays that hold numbers only."""
        state = self.batch.get_state()
        if self.reward is None:
            return state
        return {**state, **{_REWARD + name: array for name, array in self.reward.get_state().items()}}

    def set_state(self, state: Mapping[str, Array]) -> Step:
        """Goes on where `get_state` of an environment made alike was called.

        Raises:
            SetupError: a state of another environment.
        """
        self.last = self.batch.set_state(state)
        if self.reward is not None:
            parts = {name.removeprefix(_REWARD): array for name, array in state.items() if name.startswith(_REWARD)}
            self.reward.set_state(self.batch, parts)
        return self.last

    def play(self, actions: Array) -> Step:
        """One step of every row, with the rewards (B, P) of all seats.

        Raises:
            IllegalAction: an action is illegal.
        """
        step = self.batch.step(actions)
        if self.reward is not None:
            step = step._replace(rewards=self.reward.of(self.batch, step))
        elif self.scale != 1:
            step = step._replace(rewards=step.rewards * np.float32(self.scale))
        self.last = step
        return step

    def worth(self, states: Array, rows: Array) -> Array:
        """(N, P) what each seat is paid in episodes that ended as records `states` (N,) say, up to what was there before.

        Args:
            states: records at their end, played on from `rows` (N,) of the batch.
            rows: rows of the batch.
        """
        if self.reward is not None:
            return self.reward.worth(states, rows)
        return final_rewards(states, self.batch.reward) * self.scale

    def action_masks(self) -> Array:
        """(B, A) bool, the legal actions of the seats to act."""
        if self.last is None:
            raise SetupError("call reset() before action_masks()")
        return np.asarray(self.last.mask != 0)

    def reset(self) -> VecEnvObs:
        """Starts a match in every row; gives (B, D) uint8."""
        return self.begin().observation

    def step_wait(self) -> VecEnvStepReturn:
        """Carries the actions out: observations, rewards (B,) of the seats that acted, dones, and empty infos."""
        if self.last is None:
            raise SetupError("call reset() before step()")
        acted = self.last.seat
        before = self.last
        step = self.play(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(step.done):
            infos[row]["terminal_observation"] = before.observation[row]
        rewards = step.rewards[np.arange(self.num_envs), acted]
        return step.observation, rewards, step.done, infos
