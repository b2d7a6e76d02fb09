"""A rollout buffer for turn-based self-play: bytes for observations, and only decisions that can be learned from."""

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from train.advantages import seat_advantages

Array = np.ndarray[Any, Any]


class SelfPlayBuffer(MaskableRolloutBuffer):
    """T steps of N rows. Shapes: inputs (T, N, F) uint8, masks (T, N, A) bool, rewards (T, N, P), hidden cards (T, N, H'),
    places of cards (T, N, 52).

    `finish` computes advantages; `get` then yields minibatches of complete decisions in an order from `generator`, of
    those with the largest advantages if `share` is less than 1. With `places` their observations are dicts of `inputs` and
    `places`.
    """

    def __init__(
        self,
        *args: Any,
        inputs: int = 0,
        players: int = 0,
        hidden: int = 0,
        places: int = 0,
        share: float = 1.0,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.inputs, self.players, self.hidden, self.places, self.share = inputs, players, hidden, places, share
        self.generator = torch.Generator().manual_seed(seed)
        super().__init__(*args, **options)

    def reset(self) -> None:
        """Empties the buffer; the memory is kept."""
        if not hasattr(self, "input_table"):
            self._allocate()
        self.pos = 0
        self.full = False

    def _allocate(self) -> None:
        shape = (self.buffer_size, self.n_envs)
        actions = int(self.action_space.n)  # type: ignore[attr-defined]  # Discrete
        self.input_table = torch.zeros((*shape, self.inputs), dtype=torch.uint8, device=self.device)
        self.hidden_table = torch.zeros((*shape, self.hidden), dtype=torch.uint8, device=self.device)
        self.place_table = torch.zeros((*shape, self.places), dtype=torch.uint8, device=self.device)
        self.mask_table = torch.zeros((*shape, actions), dtype=torch.bool, device=self.device)
        self.action_table = torch.zeros(shape, dtype=torch.int64, device=self.device)
        self.log_prob_table = torch.zeros(shape, device=self.device)
        self.value_table = torch.zeros(shape, device=self.device)
        self.seat_table = np.zeros(shape, dtype=np.int64)
        self.reward_table = np.zeros((*shape, self.players), dtype=np.float32)
        self.learn_table = np.ones(shape, dtype=np.bool_)
        self.done_table = np.zeros(shape, dtype=np.bool_)

    def put(
        self,
        inputs: torch.Tensor,
        masks: torch.Tensor,
        actions: torch.Tensor,
        log_probs: torch.Tensor,
        values: torch.Tensor,
        seats: Array,
        rewards: Array,
        dones: Array,
        learns: Array,
        hidden: torch.Tensor | None = None,
        places: torch.Tensor | None = None,
    ) -> None:
        """Adds one step of every row, to be learned from where `learns` (N,) bool; letters as in the class."""
        t = self.pos
        self.input_table[t], self.mask_table[t], self.action_table[t] = inputs, masks, actions
        self.log_prob_table[t], self.value_table[t] = log_probs, values
        self.seat_table[t], self.reward_table[t], self.done_table[t] = seats, rewards, dones
        self.learn_table[t] = learns
        if hidden is not None:
            self.hidden_table[t] = hidden
        if places is not None:
            self.place_table[t] = places
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def finish(self, last_values: torch.Tensor, last_seats: Array) -> None:
        """Computes advantages and returns, and puts aside decisions whose outcome is unknown.

        `values` and `returns` are then flat and hold complete decisions only.

        Args:
            last_values: (N,) values at the observations after the last step.
            last_seats: (N,) seats to act there.
        """
        values = self.value_table.cpu().numpy()
        advantages, complete = seat_advantages(
            values,
            self.seat_table,
            self.reward_table,
            self.done_table,
            last_values.cpu().numpy(),
            last_seats,
            gamma=self.gamma,
            gae_lambda=self.gae_lambda,
        )
        complete &= self.learn_table
        if self.share < 1:
            sizes = np.where(complete, np.abs(advantages), -1.0).ravel()
            kept = np.zeros(complete.size, dtype=np.bool_)
            number = int(np.ceil(self.share * complete.sum()))
            kept[np.argpartition(-sizes, min(number, complete.size - 1))[:number]] = True
            complete &= kept.reshape(complete.shape)
        self.usable = torch.from_numpy(np.flatnonzero(complete.ravel())).to(self.device)
        self.advantages = advantages[complete]
        self.values = values[complete]
        self.returns = self.advantages + self.values

    def get(  # type: ignore[override]  # sb3-contrib's buffer yields other samples than its base too
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """One pass over all complete decisions in minibatches, each of the same size give or take one.

        Args:
            batch_size: largest size, but for the last of an odd number in twos; None for everything at once.
        """
        tables = (
            self.input_table.flatten(0, 1),
            self.action_table.flatten(),
            self.value_table.flatten(),
            self.log_prob_table.flatten(),
        )
        masks = self.mask_table.flatten(0, 1)
        advantages = torch.from_numpy(self.advantages).to(self.device)
        returns = torch.from_numpy(self.returns).to(self.device)
        for part in self._parts(batch_size):
            at = self.usable[part]
            inputs, actions, values, log_probs = (table.index_select(0, at) for table in tables)
            observations: Any = inputs
            if self.places:
                observations = {"inputs": inputs, "places": self.place_table.flatten(0, 1).index_select(0, at)}
            yield MaskableRolloutBufferSamples(
                observations, actions, values, log_probs, advantages[part], returns[part], masks.index_select(0, at)
            )

    def get_returns(
        self, batch_size: int | None = None
    ) -> Generator[tuple[torch.Tensor, torch.Tensor, torch.Tensor], None, None]:
        """As `get`, but inputs (B, F), hidden cards (B, H') and returns (B,) of each minibatch: what a critic learns from."""
        inputs, hidden = self.input_table.flatten(0, 1), self.hidden_table.flatten(0, 1)
        returns = torch.from_numpy(self.returns).to(self.device)
        for part in self._parts(batch_size):
            at = self.usable[part]
            yield inputs.index_select(0, at), hidden.index_select(0, at), returns[part]

    def _parts(self, batch_size: int | None) -> tuple[torch.Tensor, ...]:
        """Indices into the complete decisions, all of them in a new order, in parts of a minibatch each."""
        assert self.full, "the rollout is not finished"
        count = len(self.usable)
        order = torch.randperm(count, generator=self.generator).to(self.device)
        # never a single decision: advantages are measured by their spread
        parts = 1 if batch_size is None else max(1, min(-(-count // batch_size), count // 2))
        return order.tensor_split(parts)
