"""The project's network as a policy of sb3-contrib."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule
from torch import Tensor

from agents.networks import NetworkConfig, PolicyValueNet, masked_log_probabilities
from chicago_env.errors import SetupError

Mask = np.ndarray[Any, Any] | Tensor


def entropy_of(log_probabilities: Tensor) -> Tensor:
    """(B,) entropy of the distributions (B, A), in nats."""
    # softmax instead of exp, which is ten times slower where its result is 0
    return -(torch.softmax(log_probabilities, dim=-1) * log_probabilities).sum(dim=-1)


def mean_log_probability(log_probabilities: Tensor, masks: Tensor) -> Tensor:
    """(B,) mean log probability of the legal actions: up to a constant minus KL(uniform || policy), in nats."""
    return torch.where(masks, log_probabilities, 0.0).sum(dim=-1) / masks.sum(dim=-1)


def location_loss(logits: Tensor, places: Tensor) -> Tensor:
    """(), mean surprise in nats over the unseen cards.

    Args:
        logits: (B, P, 52).
        places: (B, 52) uint8, as `agents.locations.places` gives them.
    """
    numbers = torch.arange(logits.shape[1], dtype=torch.uint8, device=logits.device)
    told = places[:, None] == numbers[:, None]  # in no place where the card is no question
    # cards last: over the places, which are few, torch would go one row at a time
    return -(torch.log_softmax(logits, dim=1) * told).sum() / told.sum().clamp(min=1)


class _WithLoss(torch.autograd.Function):
    """A tensor as it is; whoever computes gradients through it computes those of another loss too, which is added to theirs."""

    @staticmethod
    def forward(_ctx: Any, x: Tensor, _loss: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient, gradient.new_ones(())


class ChicagoPolicy(MaskableActorCriticPolicy):
    """A `PolicyValueNet` behind the interface of `MaskableActorCriticPolicy`; for any `MaskablePPO`.

    Actions are only taken with masks: without one, illegal actions would be drawn unnoticed.

    Attributes:
        net: the network.
        generator: where sampled actions come from.
        exploration: see the constructor.
        location_losses: losses of the location head, one for each call of `evaluate_actions`; for the caller to clear.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        config: NetworkConfig | None = None,
        seed: int = 0,
        bfloat16: bool = False,
        exploration: float = 0.0,
        locations: float = 0.0,
        **options: Any,
    ) -> None:
        """Makes the network.

        Args:
            observation_space: Box (D,) uint8.
            action_space: Discrete(102).
            lr_schedule: learning rate by what remains of the training, 1 to 0.
            config: shape of the network, with the rules and numbers of players that it is for.
            seed: of the first weights and of the actions.
            bfloat16: compute the hidden layers in bfloat16.
            exploration: what `evaluate_actions` adds to the entropy is this times the mean log probability of the legal
                actions. The pull of the entropy on an action fades with its probability, so that one which is bad at
                first is never tried again; this one stays.
            locations: weight of the loss of the location head, where the network has one. It is in no loss that a learner
                computes and logs: it joins where gradients pass through the log probabilities of `evaluate_actions`.
            options: of `MaskableActorCriticPolicy`.
        """
        if config is None:
            raise SetupError(
                "config: give policy_kwargs={'config': NetworkConfig(rules=…, players=…)}, see agents.networks"
            )
        self._config, self._seed, self._bfloat16 = config, seed, bfloat16
        self.exploration, self.locations = exploration, locations
        self.location_losses: list[Tensor] = []
        super().__init__(observation_space, action_space, lr_schedule, **options)

    def _build(self, lr_schedule: Schedule) -> None:
        self.net = PolicyValueNet(self._config)
        self.net.initialize(torch.Generator().manual_seed(self._seed))
        self.net.compute_dtype = torch.bfloat16 if self._bfloat16 else torch.float32
        self.generator = torch.Generator().manual_seed(self._seed + 1)
        rate = lr_schedule(1)
        self.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]  # every optimizer takes lr

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        data.update(config=self._config, seed=self._seed, bfloat16=self._bfloat16, exploration=self.exploration)
        data.update(locations=self.locations)
        return data

    def log_probabilities(self, obs: Tensor, action_masks: Mask | None) -> tuple[Tensor, Tensor]:
        """Log probabilities (B, A) and values (B,).

        Args:
            obs: (B, D) observations or (B, F) inputs selected from them.
            action_masks: (B, A), not 0 for legal actions.

        Raises:
            SetupError: no masks, or not one row of them for each observation.
        """
        logits, values = self.net(obs)
        return self._masked(logits, action_masks), values

    def _masked(self, logits: Tensor, action_masks: Mask | None) -> Tensor:
        if action_masks is None:
            raise SetupError("this policy needs action_masks: without them it would take illegal actions")
        masks = torch.as_tensor(action_masks, device=logits.device) != 0
        if masks.shape != logits.shape:
            raise SetupError(f"action_masks: shape {tuple(masks.shape)}, expected {tuple(logits.shape)}")
        return masked_log_probabilities(logits, masks)

    def choose(self, log_probabilities: Tensor, deterministic: bool = False) -> Tensor:
        """(B,) int64 actions: sampled, or the most probable."""
        if deterministic:
            return log_probabilities.argmax(dim=-1)
        sums = torch.softmax(log_probabilities, dim=-1).cumsum(dim=-1)  # exp is ten times slower where it gives 0
        numbers = torch.rand((len(sums), 1), generator=self.generator).to(sums.device)
        # Below the very end, even where rounding would carry a number up to it: the action found has a probability.
        limits = torch.minimum(numbers * sums[:, -1:], torch.nextafter(sums[:, -1:], sums.new_zeros(1)))
        return (sums <= limits).sum(dim=-1)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Mask | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (B,), values (B, 1) and log probabilities (B,)."""
        table, values = self.log_probabilities(obs, action_masks)
        actions = self.choose(table, deterministic)
        return actions, values[:, None], table.gather(1, actions[:, None]).squeeze(1)

    def evaluate_actions(
        self, obs: PyTorchObs, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values (B, 1), log probabilities of `actions` (B,), and entropies (B,) with the term of `exploration`.

        Args:
            obs: as in `log_probabilities`; for a network with a location head a dict of `inputs`, that, and `places` (B, 52).
            actions: (B,).
            action_masks: (B, A), not 0 for legal actions.

        Raises:
            SetupError: no masks, or no places for a location head, which only `SelfPlayPPO` knows.
        """
        if isinstance(obs, Tensor) and self._config.locations:
            raise SetupError(
                "a network with a location head learns by SelfPlayPPO only, which knows where all cards are"
            )
        inputs = obs if isinstance(obs, Tensor) else obs["inputs"]
        features = self.net.features(inputs)
        logits, values = self.net.heads(features)
        table = self._masked(logits, action_masks)
        chosen = table.gather(1, actions.long().reshape(-1, 1)).squeeze(1)
        bonus = entropy_of(table)
        if self.exploration:
            masks = torch.as_tensor(action_masks, device=table.device) != 0
            bonus = bonus + self.exploration * mean_log_probability(table, masks)
        if not isinstance(obs, Tensor):
            loss = location_loss(self.net.location_logits(features), obs["places"])
            self.location_losses.append(loss.detach())
            chosen = _WithLoss.apply(chosen, self.locations * loss)  # type: ignore[no-untyped-call]  # torch's own
        return values[:, None], chosen, bonus

    def get_distribution(self, obs: PyTorchObs, action_masks: Mask | None = None) -> MaskableDistribution:
        """The distribution of actions as an object of sb3-contrib."""
        assert isinstance(obs, Tensor)
        table, _ = self.log_probabilities(obs, action_masks)
        return self.action_dist.proba_distribution(action_logits=table)

    def _predict(
        self, observation: PyTorchObs, deterministic: bool = False, action_masks: Mask | None = None
    ) -> Tensor:
        assert isinstance(observation, Tensor)
        masks = None if action_masks is None else np.atleast_2d(action_masks)
        return self.choose(self.log_probabilities(observation, masks)[0], deterministic)

    def predict_values(self, obs: PyTorchObs) -> Tensor:
        """Values (B, 1)."""
        assert isinstance(obs, Tensor)
        values: Tensor = self.net(obs)[1]
        return values[:, None]
