"""A critic that sees every card: it measures advantages in training, and no checkpoint has it.

What a decision was worth is less a matter of luck to one who sees all hands and the stock (PerfectDou, arXiv 2203.16406);
the network that plays sees its observation alone.

Letters: B batch, F inputs of the network that plays, H' hidden cards.
"""

import itertools
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.networks import PolicyValueNet, hidden_layers, initialize_layers, zero_layer
from chicago_env.layout import CARDS, HIDDEN_SIZE, SEATS
from train.buffer import SelfPlayBuffer

Array = np.ndarray[Any, Any]


def hidden_columns(players: int) -> Array:
    """(H',) int64: the columns of `BatchEnv.hidden` that up to `players` players fill: hands of the others, stock and pile."""
    return np.concatenate([np.arange(CARDS * (players - 1)), np.arange(CARDS * (SEATS - 1), HIDDEN_SIZE)])


class CriticNet(nn.Module):
    """Hidden layers with ReLU over the inputs of a network and the hidden cards, then a value."""

    gain: Tensor
    shift: Tensor

    def __init__(self, net: PolicyValueNet, widths: tuple[int, ...], generator: torch.Generator) -> None:
        """Draws its first weights, as `PolicyValueNet.initialize` does.

        Args:
            net: the network whose inputs it shares.
            widths: of the hidden layers.
            generator: where the weights come from.
        """
        super().__init__()
        cards = len(hidden_columns(max(net.config.players)))
        self.register_buffer("gain", torch.cat([net.gain.cpu(), torch.ones(cards)]), persistent=False)
        self.register_buffer("shift", torch.cat([net.shift.cpu(), torch.zeros(cards)]), persistent=False)
        self.compute_dtype = net.compute_dtype
        self.hidden = nn.ModuleList(zero_layer(a, b) for a, b in itertools.pairwise([net.inputs + cards, *widths]))
        self.value_head = zero_layer(widths[-1], 1)
        initialize_layers([(layer, 2**0.5) for layer in self.hidden] + [(self.value_head, 1.0)], generator)

    def forward(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """Values (B,) float32 for inputs (B, F) and hidden cards (B, H'), both uint8."""
        x = torch.cat([inputs, hidden], dim=1)
        value: Tensor = self.value_head(hidden_layers(self.hidden, x, self.gain, self.shift, self.compute_dtype))
        return value.squeeze(-1)


class StateCritic:
    """The critic with its own optimizer.

    Attributes:
        net: its network.
        optimizer: Adam.
        columns: (H',) see `hidden_columns`.
    """

    def __init__(self, net: PolicyValueNet, widths: tuple[int, ...], seed: int, device: torch.device) -> None:
        """Makes a critic for what `net` plays; `widths` of its hidden layers, `seed` of its first weights."""
        self.columns = hidden_columns(max(net.config.players))
        self.net = CriticNet(net, widths, torch.Generator().manual_seed(seed)).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), eps=1e-5)  # as the policy's

    def fit(
        self, buffer: SelfPlayBuffer, *, batch_size: int | None, epochs: int, learning_rate: float, max_norm: float
    ) -> float | None:
        """Learns the returns in a finished rollout; gives the mean squared error, None if there is nothing to learn."""
        if not len(buffer.usable):
            return None
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        losses = []
        for _ in range(epochs):
            for inputs, hidden, returns in buffer.get_returns(batch_size):
                loss = functional.mse_loss(self.net(inputs, hidden), returns)
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), max_norm)
                self.optimizer.step()
                losses.append(loss.detach())
        return float(torch.stack(losses).mean())
