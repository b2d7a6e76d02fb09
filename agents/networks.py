"""Policy and value networks over observations, and the agent that plays by one.

Letters: B batch, D observation, F inputs of the network, A actions.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.base import Rng
from agents.locations import possible
from agents.suits import SUIT_RANKS, canonical
from chicago_env.actions import NUM_ACTIONS
from chicago_env.errors import SetupError
from chicago_env.layout import BLOCKS, CARDS, EXACT, OBSERVATION_SIZE, RULES_AT, SEATS, Block, encode_rules, slice_of
from chicago_env.notation import format_rules
from chicago_env.rules import Rules, check_players

Array = np.ndarray[Any, Any]

MAX_WIDTH, MAX_LAYERS = 8192, 8
"""Limits of the hidden layers: a file that asks for more is damaged."""

MASKED_LOGIT = -1e38
"""Logit of an illegal action: below whatever a network says, so that its probability is exactly 0; not infinite, so that
its share of the entropy is no NaN."""

_STOCK_LASTS = 2  # with so many players no exchange can empty the stock: 42 cards for 3 rounds of 2 times 5

_USED_BLOCKS: dict[str, Callable[[Rules], bool]] = {
    "open": lambda rules: rules.open_card,
    "open_card": lambda rules: rules.open_card,
    "upcard": lambda rules: rules.open_card,
    "shown": lambda rules: rules.tie_reveal == "cards",
    "shown_ranks": lambda rules: rules.tie_reveal == "ranks",
    "shown_suit": lambda rules: rules.tie_reveal == "ranks" and rules.suit_order is not None,
    "breaker": lambda rules: rules.show_broken_hand,
    "broken": lambda rules: rules.show_broken_hand,
    "stopped": lambda rules: rules.buy_stop is not None,
    "attempted": lambda rules: rules.win_needs_chicago is not None,
    "succeeded": lambda rules: rules.win_needs_chicago is not None,
    "asked": lambda rules: rules.chicago,
    "caller": lambda rules: rules.chicago,
    "failed": lambda rules: bool(rules.chicago_failure_scores),
    "four": lambda rules: rules.four_of_a_kind == "choose",
}
"""Blocks that matter under some rules only; all others always do."""

_NEVER_USED = {"to_act"}
"""Who acts is always the observer where a network is asked. Exact numbers are left out too: they are there clipped."""


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """What fixes the shape of a network.

    Attributes:
        rules: the rule sets it is made for; what cannot vary under them is no input.
        players: numbers of players it is made for, ascending.
        hidden: widths of the hidden layers.
        canonical_suits: its observations and actions have their suits in canonical order (`agents.suits`).
        locations: it has a head that says where unseen cards are (`agents.locations`).
    """

    rules: tuple[Rules, ...]
    players: tuple[int, ...]
    hidden: tuple[int, ...] = (512, 256)
    canonical_suits: bool = False
    locations: bool = False

    def __post_init__(self) -> None:
        if not self.rules or not self.players:
            raise SetupError("a network needs at least one rule set and one number of players")
        for number in self.players:
            check_players(number)
        if list(self.players) != sorted(set(self.players)):
            raise SetupError(f"players: {self.players} are not different and ascending")
        fits = all(type(width) is int and 1 <= width <= MAX_WIDTH for width in self.hidden)
        if not 1 <= len(self.hidden) <= MAX_LAYERS or not fits:
            raise SetupError(f"hidden: 1 to {MAX_LAYERS} layers of 1 to {MAX_WIDTH} units, not {self.hidden}")

    @property
    def columns(self) -> Array:
        """(F,) int64, see `input_columns`."""
        return input_columns(self.rules, self.players, canonical_suits=self.canonical_suits)


def _seat_columns(block: Block, players: int) -> Array:
    """Offsets in a block of what belongs to seats that exist, whichever axis counts seats."""
    index = np.arange(block.size).reshape(block.shape)
    for axis, length in enumerate(block.shape):
        if length == SEATS:
            return index.take(np.arange(players), axis=axis).ravel()
    return index.ravel()


def _rule_columns(rules: Sequence[Rules], canonical_suits: bool) -> Array:
    """Columns of the blocks of rules that differ between the rule sets, or, as ranks of suits may, between decisions."""
    table = np.stack([encode_rules(each) for each in rules])
    varies = (table != table[0]).any(axis=0)
    if canonical_suits and any(each.suit_order is not None for each in rules):
        ranks = SUIT_RANKS - RULES_AT
        varies[ranks : ranks + 4] = False, True, True, True  # three of them say the fourth
    return np.asarray(RULES_AT + np.flatnonzero(varies))


def input_columns(rules: Sequence[Rules], players: Sequence[int], *, canonical_suits: bool = False) -> Array:
    """(F,) int64, ascending: the columns of an observation that can vary at a decision under any of `rules` with any of
    `players`, less the exact forms of numbers that are there clipped as well. With `canonical_suits` it is one as
    `agents.suits` renames it.
    """
    most = max(players)
    columns = []
    varying = set(_rule_columns(rules, canonical_suits).tolist())
    for block in BLOCKS:
        start = slice_of(block.name).start
        used = _USED_BLOCKS.get(block.name)
        if block.kind == EXACT or block.name in _NEVER_USED or (used is not None and not any(map(used, rules))):
            continue
        if start >= RULES_AT:
            columns.append(np.array([c for c in range(start, start + block.size) if c in varying], dtype=np.int64))
        elif block.name == "players":
            columns.append(start + np.array(players) - 2 if len(players) > 1 else np.zeros(0, dtype=np.int64))
        elif block.name == "reshuffled" and most <= _STOCK_LASTS:
            continue
        else:
            columns.append(start + _seat_columns(block, most))
    return np.concatenate(columns).astype(np.int64)


def _offset_and_scale() -> tuple[Array, Array]:
    """(D,) float32 each: a network's input is (entry - offset) / scale."""
    offset = np.concatenate([np.full(block.size, block.offset) for block in BLOCKS])
    scale = np.concatenate([np.full(block.size, block.scale) for block in BLOCKS])
    return offset.astype(np.float32), scale.astype(np.float32)


def weight_shapes(config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    """Shape of each tensor of a network of this configuration, all of them float32, by the name in its state."""
    widths = [len(config.columns), *config.hidden]
    layers = {f"hidden.{i}": pair for i, pair in enumerate(itertools.pairwise(widths))}
    layers |= {"policy_head": (widths[-1], NUM_ACTIONS), "value_head": (widths[-1], 1)}
    if config.locations:
        layers["location_head"] = (widths[-1], CARDS * config.players[-1])
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in layers.items():
        shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    return shapes


def hidden_layers(
    layers: Iterable[nn.Module], inputs: Tensor, gain: Tensor, shift: Tensor, dtype: torch.dtype
) -> Tensor:
    """(B, W) float32, what linear layers with ReLU, computed in `dtype`, make of `inputs` (B, F) * gain + shift."""
    x = inputs.to(dtype)
    for i, layer in enumerate(layers):
        assert isinstance(layer, nn.Linear)
        weight: Tensor = layer.weight
        bias: Tensor = layer.bias
        if i == 0:  # (x * gain + shift) W' + b, without touching every input
            bias = bias + weight @ shift
            weight = weight * gain
        x = functional.relu(functional.linear(x, weight.to(dtype), bias.to(dtype)))
    return x.float()


def initialize_layers(layers: Iterable[tuple[nn.Module, float]], generator: torch.Generator) -> None:
    """Orthogonal weights with the gain of each linear layer, drawn from `generator` in turn, and biases of 0."""
    for layer, gain in layers:
        assert isinstance(layer, nn.Linear)
        nn.init.orthogonal_(layer.weight, gain, generator=generator)
        nn.init.zeros_(layer.bias)


def zero_layer(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer of zeros. The usual constructor would draw weights from the generator of the whole process."""
    layer = nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class PolicyValueNet(nn.Module):
    """Hidden layers with ReLU, then a policy head of A logits, a value head, and where configured a location head.

    All weights are 0 until `initialize` is called or weights are loaded. `columns`, `gain` and `shift` follow from the
    configuration and are not stored.

    Attributes:
        config: the configuration.
        compute_dtype: type in which the hidden layers are computed; heads and weights stay float32.
    """

    columns: Tensor
    gain: Tensor
    shift: Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.compute_dtype = torch.float32
        columns = config.columns
        offset, scale = _offset_and_scale()
        self.register_buffer("columns", torch.from_numpy(columns), persistent=False)
        self.register_buffer("gain", torch.from_numpy(1 / scale[columns]), persistent=False)
        self.register_buffer("shift", torch.from_numpy(-offset[columns] / scale[columns]), persistent=False)
        widths = [len(columns), *config.hidden]
        self.hidden = nn.ModuleList(zero_layer(a, b) for a, b in itertools.pairwise(widths))
        self.policy_head = zero_layer(widths[-1], NUM_ACTIONS)
        self.value_head = zero_layer(widths[-1], 1)
        if config.locations:
            self.location_head = zero_layer(widths[-1], CARDS * config.players[-1])

    def initialize(self, generator: torch.Generator) -> None:
        """Orthogonal weights: gain sqrt 2 in the hidden layers, .01 for policy and locations (near uniform), 1 for the value.

        Their numbers come from `generator` alone.
        """
        gains = [(layer, 2**0.5) for layer in self.hidden] + [(self.policy_head, 0.01), (self.value_head, 1.0)]
        if self.config.locations:
            gains.append((self.location_head, 0.01))
        initialize_layers(gains, generator)

    @property
    def inputs(self) -> int:
        """F, number of inputs."""
        return len(self.columns)

    def select(self, observations: Tensor) -> Tensor:
        """The columns that are inputs: (B, D) to (B, F), of the same type. (B, F) is passed on.

        Raises:
            SetupError: (B, D), where suits are to be in canonical order: nobody could rename the actions.
        """
        if observations.shape[-1] == self.inputs:
            return observations
        if self.config.canonical_suits:
            raise SetupError("this network wants suits in canonical order: see agents.suits.canonical")
        return observations.index_select(-1, self.columns)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B,), float32.

        Args:
            observations: (B, D) as the environment gives them, or (B, F), the columns `columns` of them; any numeric type.
        """
        return self.heads(self.features(observations))

    def features(self, observations: Tensor) -> Tensor:
        """(B, W) float32, what the hidden layers make of observations as `forward` takes them."""
        return hidden_layers(self.hidden, self.select(observations), self.gain, self.shift, self.compute_dtype)

    def heads(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B,), from `features` (B, W)."""
        return self.policy_head(features), self.value_head(features).squeeze(-1)

    def location_logits(self, features: Tensor) -> Tensor:
        """Logits (B, P, 52) of the places of cards, from `features` (B, W)."""
        logits: Tensor = self.location_head(features)
        return logits.reshape(-1, self.config.players[-1], CARDS)


def masked_log_probabilities(logits: Tensor, masks: Tensor) -> Tensor:
    """(B, A) log probabilities of the actions that `masks` (B, A) allows; others have about `MASKED_LOGIT`."""
    return torch.log_softmax(torch.where(masks, logits, MASKED_LOGIT), dim=-1)


class NetworkAgent:
    """Plays by a network: samples from its policy, or takes the most probable action.

    Attributes:
        name: a name for tables and errors.
        net: the network; not to be trained while the agent plays.
        greedy: take the most probable action.
    """

    def __init__(self, net: PolicyValueNet, *, name: str = "network", greedy: bool = False) -> None:
        self.name = name
        self.net = net.eval()
        self.greedy = greedy
        self._columns = net.columns.cpu().numpy()
        self._rules = np.stack([encode_rules(rules) for rules in net.config.rules])

    def probabilities(self, observations: Array, masks: Array) -> Array:
        """(B, A) float64 probabilities of the actions; illegal ones have 0.

        Args:
            observations: (B, D) uint8.
            masks: (B, A), not 0 for legal actions; no row all 0.

        Raises:
            SetupError: wrong shapes, a row without a legal action, or a game for which the network is not made.
        """
        probabilities, actions = self._asked(observations, masks)
        if actions is None:
            return probabilities
        result = np.empty_like(probabilities)
        np.put_along_axis(result, actions, probabilities, axis=1)
        return result

    def _asked(self, observations: Array, masks: Array) -> tuple[Array, Array | None]:
        """As `probabilities`, but in the network's own numbering of actions, and (B, A) the game's number of each action.

        None for that where both are the same.
        """
        masks = np.asarray(masks) != 0
        rows = masks.shape[0] if masks.ndim else 0
        if masks.shape != (rows, NUM_ACTIONS) or np.shape(observations) != (rows, OBSERVATION_SIZE):
            raise SetupError(
                f"observations {np.shape(observations)} and masks {masks.shape}: "
                f"expected (B, {OBSERVATION_SIZE}) and (B, {NUM_ACTIONS})"
            )
        if not masks.any(axis=1).all():
            raise SetupError(f"mask of row {int(np.argmin(masks.any(axis=1)))}: no action is legal")
        observations = np.asarray(observations)
        self._check_game(observations)
        actions = None
        if self.net.config.canonical_suits:
            observations, masks, actions, _ = canonical(observations, masks)
        # numpy picks columns of bytes six times faster than torch
        inputs = observations.take(self._columns, axis=1)
        with torch.inference_mode():
            logits, _ = self.net(torch.from_numpy(inputs))
            logits = torch.where(torch.from_numpy(masks) != 0, logits.double(), -torch.inf)
            result: Array = torch.softmax(logits, dim=-1).numpy()
        return result, actions

    def locations(self, observations: Array) -> Array:
        """(B, 52, P) float64: the probability of each place of each card, as in `agents.locations`; P the most players.

        What the observer knows is certain, what it can rule out has 0, and the cards of its own hand have no place. Cards are
        taken one by one: that a hand has five of them, or fewer, is for the caller to see to.

        Args:
            observations: (B, D) uint8.

        Raises:
            SetupError: a network without a location head, a wrong shape, or a game for which the network is not made.
        """
        config = self.net.config
        if not config.locations:
            raise SetupError(f"{self.name} has no location head: it was trained without --locations")
        observations = np.asarray(observations)
        rows = len(observations)
        if observations.shape != (rows, OBSERVATION_SIZE):
            raise SetupError(f"observations {observations.shape}: expected (B, {OBSERVATION_SIZE})")
        self._check_game(observations)
        own, names = observations, np.broadcast_to(np.arange(CARDS), (rows, CARDS))
        if config.canonical_suits:
            own, _, _, suits = canonical(observations, np.zeros((rows, NUM_ACTIONS), dtype=np.int8))
            names = names & ~3 | np.repeat(suits[:, None], CARDS // 4, axis=1).reshape(rows, CARDS)
        with torch.inference_mode():
            features = self.net.features(torch.from_numpy(own.take(self._columns, axis=1)))
            logits = self.net.location_logits(features).transpose(1, 2).double().numpy()
        logits = np.take_along_axis(logits, names[:, :, None], axis=1)
        logits = np.where(possible(observations, config.players[-1]), logits, -np.inf)
        # a card of the own hand has no place: all its weights are 0
        weights = np.exp(logits - logits.max(axis=2, initial=MASKED_LOGIT, keepdims=True))
        return np.asarray(weights / np.maximum(weights.sum(axis=2, keepdims=True), np.finfo(np.float64).tiny))

    def check_game(self, players: int, rules: Rules) -> None:
        """Checks that the network is made for a game.

        Raises:
            SetupError: it is not.
        """
        config = self.net.config
        if players not in config.players:
            made = ", ".join(map(str, config.players))
            raise SetupError(f"{self.name} is made for {made} players, not for {players}")
        if rules not in config.rules:
            made = ", ".join(map(format_rules, config.rules))
            raise SetupError(f"{self.name} is made for the rules {made}, not for {format_rules(rules)}")

    def _check_game(self, observations: Array) -> None:
        players = observations[:, slice_of("players")].argmax(axis=1) + 2
        fits = np.isin(players, self.net.config.players)
        if not fits.all():
            made = ", ".join(map(str, self.net.config.players))
            raise SetupError(f"{self.name} is made for {made} players, not for {players[fits.argmin()]}")
        known = (observations[:, None, RULES_AT:] == self._rules).all(axis=2).any(axis=1)
        if not known.all():
            made = ", ".join(map(format_rules, self.net.config.rules))
            raise SetupError(f"{self.name} is made for the rules {made}; row {int(known.argmin())} has others")

    def act(self, observations: Array, masks: Array, rng: Rng, /) -> Array:
        """(B,) int64 legal actions; one number of `rng` is used for each row (none if greedy)."""
        probabilities, actions = self._asked(observations, masks)
        if self.greedy:
            chosen = probabilities.argmax(axis=1)
        else:
            sums = probabilities.cumsum(axis=1)
            ends = sums[:, -1:]
            # Below the very end, even where rounding would carry a number up to it: the last actions may be illegal.
            limits = np.minimum(rng.random(len(sums))[:, None] * ends, np.nextafter(ends, 0))
            chosen = (sums <= limits).sum(axis=1)
        return np.asarray(chosen if actions is None else actions[np.arange(len(chosen)), chosen])
