"""Configuration of a training run."""

import dataclasses
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from chicago_env.errors import UsageError
from chicago_env.files import read_json
from chicago_env.notation import parse_rules
from chicago_env.rules import check_players, suggestion

MAX_SEED = (1 << 63) - 1
CONFIG, STATE = "config.json", "state.safetensors"
"""Files of a run, beside its checkpoint."""

_SUFFIX = (
    ".safetensors"  # of checkpoints; `agents.checkpoint` and `agents.networks` import torch, which --help need not
)
_MAX_FILE_NAME = 255  # bytes, on nearly every system
_MAX_LAYERS = 8


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Everything that decides what a run learns. The string after a field is its help."""

    name: str = "agent"
    """Name of the checkpoint file that the run writes."""
    players: tuple[int, ...] = (2,)
    """Numbers of players, 2 to 6; several share one network."""
    rules: tuple[str, ...] = ("pagat",)
    """Rules: presets or their variants, e.g. pagat+target=51; several share one network."""
    init: str | None = None
    """Begin with the weights of a checkpoint, a name or a path, with the same layers, for some or all of the games."""
    teacher: str | None = None
    """An agent that is imitated first, e.g. heuristic:expert."""
    teacher_share: float = 0.1
    """Share of the run in which it is imitated."""
    minutes: float | None = None
    """Train for so many minutes; schedules follow the clock. By default 20, unless steps are given."""
    steps: int | None = None
    """Train for so many decisions instead: the same seed then gives the same weights."""
    seed: int = 0
    """Seed of weights, cards, actions and minibatches."""
    reward: Literal["equity", "points", "win"] = "equity"
    """Reward: the change of the chance to win the match in single deals from sampled scores; the points of such deals;
    or the win of whole matches."""
    equity_rounds: int = 0
    """Times, evenly spread, that the chance to win is solved anew from the run's own last deals; that of rankings before."""
    hidden: tuple[int, ...] = (512, 256)
    """Widths of the hidden layers."""
    suits: Literal["given", "canonical"] = "given"
    """Canonical: the network sees suits in an order that does not depend on their names, where the rules set none."""
    envs: int = 1024
    """Games played side by side."""
    rollout: int = 32
    """Decisions in each game between two updates."""
    minibatch: int = 4096
    """Decisions in a minibatch, at most."""
    epochs: int = 2
    """Passes over the decisions of an update."""
    learning_rate: float = 2.5e-3
    """Adam's step size at the start; falls to 0 in a straight line."""
    entropy: float = 0.05
    """Entropy coefficient at the start."""
    entropy_end: float = 0.004
    """Entropy coefficient at the end."""
    exploration: float = 0.0
    """Weight of the mean log probability of the legal actions, beside the entropy: keeps every action possible."""
    clip: float = 0.2
    """PPO's clip range."""
    gamma: float = 1.0
    """Discount for each decision of a seat."""
    gae_lambda: float = 0.8
    """Lambda of the advantage estimates."""
    value_coefficient: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    critic: Literal["own", "state"] = "own"
    """Values by which advantages are measured: the network's own, or those of a second network, used in training only, that
    sees every card."""
    critic_hidden: tuple[int, ...] = (256, 128)
    """Widths of that network's hidden layers."""
    locations: float = 0.0
    """Weight of the loss of a head that says where each unseen card is; 0: no such head."""
    vine: int = 0
    """Decisions of each update to which several answers are played on from the true cards, to learn from the difference."""
    vine_answers: int = 4
    """Answers to each of them, at most."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Type in which hidden layers are computed; auto: bfloat16 where the processor multiplies it faster."""
    device: str = "cpu"
    """Where the network is: cpu or cuda."""
    points_scale: float = 10.0
    """Points that count as a reward of 1, where points are the reward."""
    average: float = 0.0
    """Share of the averaged weights that an update leaves as they are, e.g. 0.99; they are what is saved. 0: no average."""
    advantage_share: float = 1.0
    """Learn only from this share of the decisions, those with the largest advantages."""
    opponents: tuple[str, ...] = ()
    """Fixed agents that play the others in some of the games, e.g. heuristic:expert; see opponent_share."""
    opponent_share: float = 0.0
    """Share of the games in which they do."""
    past_share: float = 0.0
    """Share of the games in which the others are played by snapshots of the past."""
    past_snapshots: int = 8
    """Number of snapshots, evenly spread over the run."""
    eval_seconds: float = 300.0
    """Seconds between two evaluations."""
    eval_matches: int = 200
    """Boards of mirrored matches against each opponent in an evaluation; 0: none."""
    eval_opponents: tuple[str, ...] = ("heuristic:novice", "heuristic:expert")
    """Fixed opponents of evaluations."""
    save_seconds: float = 60.0
    """Seconds between two savings of the state of the run."""

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(TrainConfig).items():
            if not _is_a(getattr(self, name), kind):
                raise UsageError(f"{name}: {getattr(self, name)!r} is not {_in_words(kind)}")
        for players in self.players:
            check_players(players)
        for rules in self.rules:
            parse_rules(rules)
        for name in ("players", "rules", "opponents", "eval_opponents"):
            values = getattr(self, name)
            if len(set(values)) != len(values) or (not values and name in {"players", "rules"}):
                raise UsageError(f"{name}: {' '.join(map(str, values)) or 'nothing'!r}: one at least, none twice")
        if self.minutes is not None and self.steps is not None:
            raise UsageError("give minutes or steps, not both")
        _check_name(self.name)
        if self.device not in {"cpu", "cuda"}:
            raise UsageError(f"device: {self.device!r} is unknown; there are cpu and cuda")
        for name in ("hidden", "critic_hidden"):
            if not 1 <= len(getattr(self, name)) <= _MAX_LAYERS:
                raise UsageError(f"{name}: 1 to {_MAX_LAYERS} layers are possible, not {len(getattr(self, name))}")
        for name, low, high in _RANGES:
            given = getattr(self, name)
            for value in given if isinstance(given, tuple) else (given,):
                if value is not None and not low <= value <= high:
                    raise UsageError(f"{name}: {value} is not within {low} to {high}")
        if bool(self.opponents) != (self.opponent_share > 0):
            raise UsageError("opponents and opponent_share: give both or neither")
        if self.opponent_share + self.past_share > 1:
            raise UsageError("opponent_share and past_share are more than 1 together")

        for name, what, given in (
            ("teacher_share", "teacher", self.teacher is not None),
            ("equity_rounds", "reward equity", self.reward == "equity"),
            ("points_scale", "reward points", self.reward == "points"),
            ("critic_hidden", "critic state", self.critic == "state"),
            ("vine_answers", "vine", self.vine > 0),
            ("past_snapshots", "past_share", self.past_share > 0),
        ):
            if not given and getattr(self, name) != _DEFAULTS[name]:
                raise UsageError(f"{name} says nothing without {what}")
        if self.vine > self.envs * self.rollout:
            raise UsageError(
                f"vine: {self.vine} are more than the {self.envs * self.rollout} decisions of an update, envs times rollout"
            )

    @property
    def games(self) -> tuple[tuple[int, str], ...]:
        """The kinds of games: every number of players under all the rules."""
        return tuple((players, rules) for players in sorted(self.players) for rules in self.rules)

    @property
    def budget(self) -> tuple[float | None, int | None]:
        """Minutes and steps, one of which is None."""
        return (20.0 if self.minutes is None and self.steps is None else self.minutes, self.steps)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in dataclasses.asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "TrainConfig":
        """A configuration from JSON.

        Raises:
            UsageError: an unknown key, or an impossible value.
        """
        known = {field.name: field for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name not in known:
                raise UsageError(f"unknown key {name!r} of a training configuration{suggestion(name, known)}")
            values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)


_DEFAULTS = {field.name: field.default for field in dataclasses.fields(TrainConfig)}


def _is_a(value: object, kind: Any) -> bool:
    """Whether a value has the type of a field's annotation; whole numbers are numbers too, truth values are not."""
    if get_origin(kind) in {Union, types.UnionType}:
        return any(_is_a(value, each) for each in get_args(kind))
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is_a(each, get_args(kind)[0]) for each in value)
    return type(value) in ((int, float) if kind is float else (kind,))


def _in_words(kind: Any) -> str:
    if get_origin(kind) in {Union, types.UnionType}:
        return " or ".join(_in_words(each) for each in get_args(kind) if each is not types.NoneType)
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) is tuple:
        return "a tuple of whole numbers" if get_args(kind)[0] is int else "a tuple of texts"
    return {int: "a whole number", float: "a number", str: "text"}[kind]


def _check_name(name: str) -> None:
    """Checks that a checkpoint may have this name, next to the other files of the run."""
    # not printable: control characters, and what a name that is not UTF-8 is read as
    plain = name and Path(name).name == name and not name.startswith((".", "-")) and name.isprintable()
    if not plain or len(f"{name}{_SUFFIX}".encode()) > _MAX_FILE_NAME:
        raise UsageError(f"name: {name!r} is no plain file name")
    if f"{name}{_SUFFIX}".casefold() in {CONFIG, STATE}:
        raise UsageError(f"name: {name!r} is taken: {STATE} is the state of the run")


_RANGES: tuple[tuple[str, float, float], ...] = (
    ("minutes", 0, 10**6),
    ("steps", 1, 10**15),
    ("seed", 0, MAX_SEED),
    ("equity_rounds", 0, 1000),
    ("hidden", 1, 8192),
    ("critic_hidden", 1, 8192),
    ("envs", 1, 1 << 20),
    ("rollout", 2, 4096),
    ("minibatch", 2, 1 << 24),
    ("epochs", 1, 100),
    ("learning_rate", 0, 1),
    ("entropy", 0, 10),
    ("entropy_end", 0, 10),
    ("exploration", 0, 100),
    ("teacher_share", 0, 1),
    ("clip", 1e-6, 10),
    ("gamma", 0, 1),
    ("gae_lambda", 0, 1),
    ("value_coefficient", 0, 100),
    ("max_grad_norm", 1e-6, 10**6),
    ("locations", 0, 100),
    ("vine", 0, 1 << 24),
    ("vine_answers", 2, 32),
    ("points_scale", 1e-3, 10**6),
    ("average", 0, 1),
    ("advantage_share", 1e-3, 1),
    ("opponent_share", 0, 1),
    ("past_share", 0, 1),
    ("past_snapshots", 1, 100),
    ("eval_seconds", 1, 10**9),
    ("eval_matches", 0, 10**6),
    ("save_seconds", 0, 10**9),
)


MAX_CONFIG = 1 << 20
"""Limit of a configuration file, bytes."""


def read_config(path: Path) -> TrainConfig:
    """Reads a configuration from a JSON file.

    Raises:
        UsageError: no such file, no JSON object, an unknown key or an impossible value.
    """
    try:
        data = read_json(path, MAX_CONFIG)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as a training configuration: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: a training configuration is a JSON object")
    try:
        return TrainConfig.from_dict(data)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
