"""Learning from several answers to one and the same position: the vine procedure of TRPO (arXiv 1502.05477, section 5.2).

Some of the decisions of a rollout are gone back to. Several answers are carried out there, with all cards where they truly
are, and played on to the end of the episode by the policy (`train.branches`). What separates them is the worth of one
answer over another: the luck of the deal, which is most of the spread of an advantage in a rollout, falls out, and an
answer that is hardly ever given is heard as well as the usual one. The policy then moves along the gradient of its expected
advantage over those answers, all at once.

Letters: L decisions gone back to, K answers to each at most, F inputs of the network, A actions.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from chicago_env.actions import ANNOUNCE
from chicago_env.vector import Step
from train.branches import played_out
from train.envs import SelfPlayVecEnv
from train.guests import LEARNER, Guests
from train.policy import ChicagoPolicy, entropy_of
from train.views import View, view_of

Array = np.ndarray[Any, Any]

FLATNESS = 3.0
"""Answers are drawn by the policy's probabilities to the power of 1 / FLATNESS, and none twice."""

LEAST_EXCHANGE = 1e-3
"""Exchanges less probable than this are not looked at: of 32 nearly all are absurd, and they take longest to play on."""

SMOOTHING = 2.0
"""Probabilities to the power of 1 / SMOOTHING are what learns: an answer that is hardly ever given still counts."""

_NONE = -1  # no answer


class Compared(NamedTuple):
    """Decisions and what their answers are worth.

    Attributes:
        inputs: (L, F) uint8.
        masks: (L, A) bool, in the network's numbering of actions.
        answers: (L, K) int64, in that numbering; -1 for none.
        advantages: (L, K) float32, of each answer over the policy's mean of those that were compared; 0 for none.
    """

    inputs: Tensor
    masks: Tensor
    answers: Tensor
    advantages: Tensor


class _Position(NamedTuple):
    rows: Array
    guests: Array  # (L,) the guest who plays all other seats, or LEARNER
    records: Array
    inputs: Tensor
    masks: Tensor
    answers: Array
    told: Array  # the answers as the game numbers them
    shares: Array  # (L, K) probabilities of the answers, which add up to 1


def draw_answers(log_probabilities: Array, masks: Array, number: int, rng: np.random.Generator) -> Array:
    """(L, K) int64: up to `number` different actions of each row, see `FLATNESS`; -1 where there are no more.

    Args:
        log_probabilities: (L, A).
        masks: (L, A) bool, what may be drawn.
        number: K, 2 at least.
        rng: where they come from.
    """
    # the largest of these keys are a draw without replacement (arXiv 1903.06059)
    keys = np.where(masks, log_probabilities / FLATNESS + rng.gumbel(size=masks.shape), -np.inf)
    answers = np.argpartition(-keys, number - 1, axis=1)[:, :number]
    return np.where(np.take_along_axis(masks, answers, axis=1), answers, _NONE)


class Vine:
    """Goes back to decisions of a rollout, and learns from them.

    Attributes:
        number: decisions that an update goes back to, at most.
        answers: answers to each, at most.
        optimizer: Adam, with the policy's weights and step sizes.
    """

    def __init__(self, policy: ChicagoPolicy, number: int, answers: int, seed: int) -> None:
        """Makes it for `policy`; `number` and `answers` as above, `seed` of the choice of decisions and answers."""
        self.number, self.answers = number, answers
        self.optimizer = torch.optim.Adam(policy.parameters(), eps=1e-5)
        self._policy, self._seed = policy, seed
        self._columns = policy.net.columns.cpu().numpy()
        self._kept: list[_Position] = []

    def keep(
        self, env: SelfPlayVecEnv, view: View, table: Tensor, learns: Array, guests: Guests | None, number: int, at: int
    ) -> None:
        """Chooses decisions among what `env` shows now, and keeps them until `compare`.

        Args:
            env: the environment.
            view: what the network sees.
            table: (B, A) log probabilities.
            learns: (B,) bool, rows where the learner is to act.
            guests: who else plays, or None.
            number: how many to choose, if there are so many.
            at: number of decisions so far, which makes the chance of this call its own.
        """
        rng = np.random.default_rng((self._seed, at))
        logs, masks = table.float().cpu().numpy(), view.masks.cpu().numpy().copy()
        masks[:, :ANNOUNCE] &= logs[:, :ANNOUNCE] >= np.log(LEAST_EXCHANGE)
        rows = np.flatnonzero(learns & (masks.sum(axis=1) > 1))
        rows = np.sort(rng.permutation(rows)[:number])
        if not len(rows):
            return
        answers = draw_answers(logs[rows], masks[rows], self.answers, rng)
        told = answers if view.actions is None else np.take_along_axis(view.actions[rows], answers.clip(0), axis=1)
        shares = np.where(answers >= 0, np.exp(np.take_along_axis(logs[rows], answers.clip(0), axis=1)), 0)
        self._kept.append(
            _Position(
                rows,
                np.full(len(rows), LEARNER) if guests is None else guests.beside[rows],
                env.batch.states(rows),
                view.inputs[rows],
                view.masks[rows],
                answers,
                told,
                shares / shares.sum(axis=1, keepdims=True),
            )
        )

    def compare(self, env: SelfPlayVecEnv, guests: Guests | None, at: int) -> Compared | None:
        """Plays the answers to all decisions on that were kept; None if there are none.

        Args:
            env: where they were kept.
            guests: as there.
            at: number of decisions so far, which makes the chance of this call its own.
        """
        if not self._kept:
            return None
        kept, self._kept = self._kept, []
        rows, beside, records, answers, told, shares = (
            np.concatenate([getattr(part, name) for part in kept])
            for name in ("rows", "guests", "records", "answers", "told", "shares")
        )
        parents, columns = np.nonzero(answers >= 0)
        # the learner keeps the seat of the decision; in a row with a guest it has no other
        guest, own = beside[parents], records["to_act"][parents]
        calls = itertools.count()

        def choose(branches: Array, seats: Array, observations: Array, masks: Array) -> Array:
            who = np.where(seats == own[branches], LEARNER, guest[branches])
            actions = np.empty(len(branches), dtype=np.int64)
            mine = np.flatnonzero(who == LEARNER)
            if len(mine):
                actions[mine] = self._choose(observations[mine], masks[mine])
            if guests is not None:
                guests.answer(actions, who, observations, masks, (at, 2, next(calls)))
            return actions

        ended = played_out(records, parents, told[parents, columns], choose)
        worth = env.worth(ended, rows[parents])[np.arange(len(parents)), own]
        values = np.zeros(answers.shape)
        values[parents, columns] = worth
        advantages = np.where(answers >= 0, values - (shares * values).sum(axis=1, keepdims=True), 0)
        device = self._policy.device
        return Compared(
            torch.cat([part.inputs for part in kept]),
            torch.cat([part.masks for part in kept]),
            torch.from_numpy(answers).to(device),
            torch.from_numpy(advantages.astype(np.float32)).to(device),
        )

    def _choose(self, observations: Array, masks: Array) -> Array:
        """(B,) the policy's actions."""
        shown = np.empty(0)
        policy = self._policy
        with torch.inference_mode():
            step = Step(observations, masks, shown, shown, shown)
            view = view_of(step, policy.net.config, self._columns, policy.device)
            return view.to_game(policy.choose(policy.log_probabilities(view.inputs, view.masks)[0]).cpu().numpy())

    def learn(
        self,
        compared: Compared,
        *,
        scale: float,
        entropy: float,
        rate: float,
        size: int | None,
        epochs: int,
        max_norm: float,
    ) -> dict[str, float]:
        """Moves the policy towards answers that are worth more; gives figures to log.

        Args:
            compared: what to learn from.
            scale: advantages are divided by this.
            entropy: entropy coefficient.
            rate: step size.
            size: decisions in a minibatch, at most; None for all at once.
            epochs: passes.
            max_norm: gradients are scaled down to this norm.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        gains = []
        count = len(compared.answers)
        parts = 1 if size is None else -(-count // size)
        for _ in range(epochs):
            order = torch.randperm(count, generator=self._policy.generator).to(compared.answers.device)
            for part in order.tensor_split(parts):
                answers = compared.answers[part]
                table, _ = self._policy.log_probabilities(compared.inputs[part], compared.masks[part])
                logs = torch.where(answers >= 0, table.gather(1, answers.clamp(min=0)), -torch.inf)
                gain = (torch.softmax(logs / SMOOTHING, dim=1) * compared.advantages[part]).sum(dim=1).mean()
                loss = -gain / scale - entropy * entropy_of(table).mean()
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
                torch.nn.utils.clip_grad_norm_(self._policy.parameters(), max_norm)
                self.optimizer.step()
                mean = (torch.softmax(logs.detach(), dim=1) * compared.advantages[part]).sum(dim=1).mean()
                gains.append(mean)
        return {
            "train/vine_gain": float(torch.stack(gains[-(len(gains) // epochs) :]).mean()),
            "train/vine_spread": float((compared.advantages**2).max(dim=1).values.mean().sqrt()),
        }
