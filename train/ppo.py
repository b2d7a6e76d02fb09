"""PPO by self-play: sb3-contrib's MaskablePPO, in which every seat of a turn-based batch learns."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.utils import FloatSchedule
from stable_baselines3.common.vec_env import VecEnv
from torch.nn import functional

from agents.base import Agent, ask
from agents.locations import places as places_of
from agents.networks import NetworkConfig, PolicyValueNet
from chicago_env.errors import ChicagoError, SetupError
from chicago_env.layout import CARDS
from chicago_env.vector import Step
from train.buffer import SelfPlayBuffer
from train.critic import StateCritic, hidden_columns
from train.envs import SelfPlayVecEnv
from train.guests import LEARNER, Guests
from train.policy import ChicagoPolicy, entropy_of
from train.views import View, view_of
from train.vine import Vine

Array = np.ndarray[Any, Any]


class TrainingDiverged(ChicagoError, ArithmeticError):
    """A loss, weight or value of the training is not finite."""


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over a `SelfPlayVecEnv`.

    What differs: a rollout keeps the decisions of all seats, advantages follow each seat's own decisions
    (`train.advantages`), the entropy coefficient may follow a schedule, chance comes from generators of its own (so
    that a run can be taken up exactly), and whatever is not finite stops the training.

    With a teacher, the first share of the training imitates it: the network learns to name what the teacher would do and
    to value how games go on. Half of the rows play what the teacher does, the others what the network does, so that it
    also learns from where its own mistakes lead (DAgger, arXiv 1011.0686).

    With guests (`train.guests`) other agents play some of the seats, and nothing is learned from what they do.

    With a critic (`train.critic`) advantages and returns are measured by its values. The network's own value head learns the
    same returns as ever, from what the network sees.

    With a vine (`train.vine`) several answers to some of the decisions are played on from the true state of the cards, and the
    policy also learns from their difference.

    Attributes:
        vine: what goes back to decisions, or None.
        critic: the critic that sees every card, or None.
        guests: who else plays, or None.
        averaged: averaged weights by name (arXiv 2511.07312 plays by such), or None.
        teacher: who is imitated first.
        teacher_share: for which share of the training.
        budget: if set, gives what remains of the training, 1 to 0, in place of the share of steps.
        stop: whether to stop before the next rollout; a callback may set it in `on_rollout_start`.
        seconds: seconds spent in the network, the environment and updates.
    """

    policy: ChicagoPolicy
    rollout_buffer: SelfPlayBuffer
    env: SelfPlayVecEnv

    def __init__(
        self,
        env: SelfPlayVecEnv,
        network: NetworkConfig,
        *,
        ent_coef: float | Schedule = 0.0,
        exploration: float = 0.0,
        teacher: Agent | None = None,
        teacher_share: float = 0.0,
        guests: Guests | None = None,
        average: float = 0.0,
        advantage_share: float = 1.0,
        critic: Sequence[int] | None = None,
        vine: int = 0,
        vine_answers: int = 4,
        locations: float = 0.0,
        bfloat16: bool = False,
        seed: int = 0,
        device: torch.device | str = "cpu",
        **options: Any,
    ) -> None:
        """Makes policy and buffer.

        Args:
            env: the environment.
            network: shape of the network.
            ent_coef: entropy coefficient, or a schedule of it by what remains of the training, 1 to 0.
            exploration: weight of the mean log probability of legal actions beside the entropy, see `ChicagoPolicy`.
            teacher: an agent to imitate first.
            teacher_share: for which share of the training, 0 to 1.
            guests: other agents that play some of the seats.
            average: share of the averaged weights that an update leaves as they are; 0 for no average.
            advantage_share: share of the decisions to learn from, those with the largest advantages.
            critic: widths of the hidden layers of a critic that sees every card; None for no critic.
            vine: decisions of each update that are gone back to; 0 for none.
            vine_answers: answers to each, at most.
            locations: weight of the loss of the network's location head; 0 for a network without one.
            bfloat16: compute the hidden layers in bfloat16.
            seed: of weights, actions and minibatches. The environment has its own.
            device: where the network is.
            options: of `MaskablePPO`.
        """
        if (locations > 0) != network.locations:
            raise SetupError(
                f"locations: weight {locations} for a network with{'' if network.locations else 'out'} that head"
            )
        self.entropy_schedule = FloatSchedule(ent_coef)
        self.teacher, self.teacher_share = teacher, teacher_share
        self.guests, self.average = guests, average
        self._seed = seed
        super().__init__(
            ChicagoPolicy,
            env,
            ent_coef=self.entropy_schedule(1.0),
            rollout_buffer_class=SelfPlayBuffer,
            policy_kwargs={
                "config": network,
                "seed": seed,
                "bfloat16": bfloat16,
                "exploration": exploration,
                "locations": locations,
            },
            seed=None,  # would seed the generators of everybody in this process
            device=device,
            _init_setup_model=False,
            **options,
        )
        columns = network.columns
        self.rollout_buffer_kwargs = {"inputs": len(columns), "players": env.players}
        self.rollout_buffer_kwargs.update(share=advantage_share, seed=seed + 2)
        if network.locations:
            self.rollout_buffer_kwargs["places"] = CARDS
        if critic is not None:
            self.rollout_buffer_kwargs["hidden"] = len(hidden_columns(max(network.players)))
        self._setup_model()
        self.critic: StateCritic | None = None
        if critic is not None:
            self.critic = StateCritic(self.policy.net, tuple(critic), seed + 3, self.device)
        self.vine = Vine(self.policy, vine, vine_answers, seed + 4) if vine else None
        self.averaged: dict[str, torch.Tensor] | None = None
        if average:
            self.averaged = {name: tensor.detach().clone() for name, tensor in self.policy.net.state_dict().items()}
        self._columns = columns
        self.budget: Callable[[], float] | None = None
        self.stop = False
        self.seconds = {"network": 0.0, "teacher": 0.0, "environment": 0.0, "update": 0.0, "vine": 0.0}
        self._left: float | None = None  # share of the budget that was left when the last rollout began
        self._imitated = False  # whether the rollout in the buffer has the teacher's actions

    def _wrap_env(self, env: Any, verbose: int = 0, monitor_wrapper: bool = True) -> VecEnv:  # type: ignore[override]
        if not isinstance(env, SelfPlayVecEnv):
            raise SetupError(f"SelfPlayPPO needs a SelfPlayVecEnv, not {type(env).__name__}")
        return env

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Plays `n_rollout_steps` steps in every row; every seat's decision goes into the buffer.

        Returns:
            False if a callback asked to stop.
        """
        assert isinstance(env, SelfPlayVecEnv)
        assert isinstance(rollout_buffer, SelfPlayBuffer)
        if not use_masking:
            raise SetupError("self-play without action masks would play illegal actions")
        callback.on_rollout_start()
        if self.stop:
            return False
        step = env.last if env.last is not None else env.begin()
        if self.guests is not None and not self.guests.seated:
            self.guests.begin(self.num_timesteps)
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        shares = []
        learns = np.ones(env.num_envs, dtype=np.bool_)
        # asked for anew: a run that is taken up does not know yet how far it is
        left = self._current_progress_remaining if self.budget is None else self.budget()
        self._left = None if self.budget is None else left
        teacher = self.teacher if 1 - left < self.teacher_share else None
        self._imitated = teacher is not None
        for t in range(n_rollout_steps):
            began = time.perf_counter()
            told = None if teacher is None else self._ask(teacher, step)
            started = time.perf_counter()
            with torch.inference_mode():
                view = self._view(step)
                table, values = self.policy.log_probabilities(view.inputs, view.masks)
                chosen = self.policy.choose(table)
                log_probs = table.gather(1, chosen[:, None]).squeeze(1)
                legal = view.masks.sum(dim=1)
                free = legal > 1
                shares.append((entropy_of(table)[free] / legal[free].log()).mean())
                actions = view.to_game(chosen.cpu().numpy())
                if told is not None:
                    actions[::2] = told[::2]
                    chosen = torch.from_numpy(view.from_game(told)).to(self.device)
                hidden, places = self._hidden(view), self._places(view, step)
                if self.critic is not None:
                    values = self.critic.net(view.inputs, hidden)
            if self.guests is not None:
                at = self.guests.at(step)
                self.guests.play(actions, at, step, self.num_timesteps)
                learns = at == LEARNER
            answered = played = time.perf_counter()
            if self.vine is not None and not self._imitated:
                due = self.vine.number * (t + 1) // n_rollout_steps - self.vine.number * t // n_rollout_steps
                self.vine.keep(env, view, table, learns, self.guests, due, self.num_timesteps)
                self.seconds["vine"] += time.perf_counter() - played
                played = time.perf_counter()
            seats = step.seat
            step = env.play(actions)
            if self.guests is not None:
                self.guests.draw(step.done, self.num_timesteps)
            rollout_buffer.put(
                view.inputs,
                view.masks,
                chosen,
                log_probs,
                values,
                seats,
                step.rewards,
                step.done,
                learns,
                hidden,
                places,
            )
            self.seconds["teacher"] += started - began
            self.seconds["network"] += answered - started
            self.seconds["environment"] += time.perf_counter() - played
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        with torch.inference_mode():
            view = self._view(step)
            if self.critic is None:
                last_values = self.policy.net(view.inputs)[1]
            else:
                last_values = self.critic.net(view.inputs, self._hidden(view))
        rollout_buffer.finish(last_values, step.seat)
        self._last_obs = step.observation
        self.logger.record("rollout/entropy_share", float(torch.stack(shares).nanmean()))
        callback.on_rollout_end()
        return True

    def _ask(self, teacher: Agent, step: Step) -> Array:
        """(B,) what the teacher would do; its chance is a function of seed and number of decisions."""
        rng = np.random.default_rng((self._seed, self.num_timesteps))
        return ask(teacher, step.observation, step.mask, rng)

    def play_net(self) -> PolicyValueNet:
        """A copy of the network as it is to play: with averaged weights, where there are any."""
        net = PolicyValueNet(self.policy.net.config)
        net.load_state_dict(self.policy.net.state_dict() if self.averaged is None else self.averaged)
        return net.requires_grad_(False)

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        super()._update_current_progress_remaining(num_timesteps, total_timesteps)
        if self._left is not None:  # as the rollout began: by its end nothing would be left for the last update
            self._current_progress_remaining = self._left
        # The last rollout may go beyond the end: a negative learning rate would destroy what was learned.
        self._current_progress_remaining = max(0.0, self._current_progress_remaining)

    def _view(self, step: Step) -> View:
        """What the network sees of a step."""
        return view_of(step, self.policy.net.config, self._columns, self.device)

    def _hidden(self, view: View) -> torch.Tensor | None:
        """(B, H') uint8, the hidden cards of what the environment shows now; None without a critic."""
        if self.critic is None:
            return None
        cards = self.env.batch.hidden().take(self.critic.columns, axis=1)
        return torch.from_numpy(view.renamed(cards)).to(self.device)

    def _places(self, view: View, step: Step) -> torch.Tensor | None:
        """(B, 52) uint8, the places of the cards in `step`, which the environment shows now; None without that head."""
        if not self.policy.net.config.locations:
            return None
        return torch.from_numpy(view.renamed(places_of(step.observation, self.env.batch.hidden()))).to(self.device)

    def train(self) -> None:
        """One update from the buffer, if there are decisions in it to learn from.

        Raises:
            TrainingDiverged: a weight is not finite afterwards.
        """
        started = time.perf_counter()
        self.ent_coef = self.entropy_schedule(self._current_progress_remaining)
        if self._imitated:
            self._imitate()
        elif len(self.rollout_buffer.usable) > 1:  # one alone has no spread to measure its advantage by
            super().train()
            if self.vine is not None:
                self._compare(self.vine)
        if self.policy.location_losses:
            self.logger.record("train/location_loss", float(torch.stack(self.policy.location_losses).mean()))
            self.policy.location_losses.clear()
        if self.critic is not None:
            self._fit(self.critic)
        self.logger.record("train/ent_coef", self.ent_coef)
        if self.averaged is not None:
            # at first a plain mean, so that the first weights do not stay in it
            keep = min(self.average, self._n_updates / (self._n_updates + 10))
            for name, weights in self.policy.net.state_dict().items():
                self.averaged[name].mul_(keep).add_(weights, alpha=1 - keep)
        learned = dict(self.policy.net.named_parameters())
        if self.critic is not None:
            learned.update({f"critic.{name}": weights for name, weights in self.critic.net.named_parameters()})
        for name, weights in learned.items():
            if not torch.isfinite(weights).all():
                raise TrainingDiverged(
                    f"after {self.num_timesteps} decisions the weights {name} are no longer finite; "
                    f"a smaller learning rate may help"
                )
        self.seconds["update"] += time.perf_counter() - started

    def _compare(self, vine: Vine) -> None:
        """Plays on from the decisions that were kept, and learns from them."""
        started = time.perf_counter()
        compared = vine.compare(self.env, self.guests, self.num_timesteps)
        played = time.perf_counter() - started
        self.seconds["vine"] += played
        self.seconds["update"] -= played
        if compared is None:
            return
        figures = vine.learn(
            compared,
            scale=float(self.rollout_buffer.advantages.std()) + 1e-8,
            entropy=self.ent_coef,
            rate=self.lr_schedule(self._current_progress_remaining),
            size=self.batch_size,
            epochs=self.n_epochs,
            max_norm=self.max_grad_norm,
        )
        for name, figure in figures.items():
            self.logger.record(name, figure)

    def _fit(self, critic: StateCritic) -> None:
        """One update of the critic."""
        loss = critic.fit(
            self.rollout_buffer,
            batch_size=self.batch_size,
            epochs=self.n_epochs,
            learning_rate=self.lr_schedule(self._current_progress_remaining),
            max_norm=self.max_grad_norm,
        )
        if loss is not None:
            self.logger.record("train/critic_loss", loss)

    def _imitate(self) -> None:
        """One update towards the teacher's actions, with the value loss and entropy bonus of PPO."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        losses, agreed = [], []
        for _ in range(self.n_epochs):
            for part in self.rollout_buffer.get(self.batch_size):
                values, log_probs, bonus = self.policy.evaluate_actions(
                    part.observations, part.actions, part.action_masks
                )
                assert bonus is not None
                surprise = -log_probs.mean()
                value_loss = functional.mse_loss(part.returns, values.flatten())
                loss = surprise + self.vf_coef * value_loss - self.ent_coef * bonus.mean()
                self.policy.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                losses.append((surprise.detach(), value_loss.detach()))
                agreed.append(log_probs.detach().exp().mean())
            self._n_updates += 1
        if not losses:
            return
        surprises, value_losses = (float(torch.stack(each).mean()) for each in zip(*losses, strict=True))
        self.logger.record("train/imitation_loss", surprises)
        self.logger.record("train/imitation_agreement", float(torch.stack(agreed).mean()))
        self.logger.record("train/value_loss", value_losses)
        self.logger.record("train/n_updates", self._n_updates)
