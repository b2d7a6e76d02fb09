"""Agents by name: `agents.load(spec)` (docs/agents.md).

A spec is `NAME` or `NAME?key=value&key=value` for the agents of the table below, the name of a checkpoint, or the path
of one, which ends in `.safetensors`.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents.base import Agent
from agents.bots.limits import PREFIX, READERS, Limits, split_command, split_spec
from agents.heuristics.expert import ExpertAgent
from agents.heuristics.novice import NoviceAgent
from agents.heuristics.poker import PokerAgent
from agents.heuristics.tricks import TricksAgent
from agents.uniform import RandomAgent
from chicago_env.errors import ChicagoError, MissingExtra
from chicago_env.rules import suggestion

SUFFIX = ".safetensors"
CHECKPOINTS = Path(__file__).parent.parent / "checkpoints"
"""The folder of the checkpoints that come with the project."""

MAX_STEP = 10_000.0
"""Limit of the step of `search:policy`."""

_NEEDED = ("torch", "safetensors")


class AgentSpecError(ChicagoError, ValueError):
    """A spec that names no agent, or options that its agent does not take.

    Attributes:
        spec: the spec.
    """

    def __init__(self, spec: object, reason: str) -> None:
        super().__init__(spec, reason)
        self.spec = spec
        self.reason = reason

    def __str__(self) -> str:
        return f"agent {self.spec!r}: {self.reason}"


class Entry(NamedTuple):
    """An agent that can be named.

    Attributes:
        help: one line about it.
        make: makes the agent from the values of its options, given by keyword.
        options: reads the text of each option; raises ValueError, which says what is allowed.
    """

    help: str
    make: Callable[..., Agent]
    options: Mapping[str, Callable[[str], Any]] = {}


def _budget(text: str) -> int:
    from agents.search.pimc import FEWEST, MOST  # noqa: PLC0415 - search is imported when it is used

    value = int(text)
    if not FEWEST <= value <= MOST:
        raise ValueError(f"a budget is {FEWEST} to {MOST} play-outs")
    return value


def _step(text: str) -> float:
    value = float(text)
    if not 0 <= value <= MAX_STEP:
        raise ValueError(f"a step is 0 to {MAX_STEP}")
    return value


def _rollout(text: str) -> str:
    from agents.search.rollout import POLICIES  # noqa: PLC0415 - as above

    if text not in POLICIES:
        raise ValueError(f"roll-out policies are {', '.join(POLICIES)}")
    return text


def _pimc(**options: Any) -> Agent:
    from agents.search.pimc import PimcAgent  # noqa: PLC0415 - as above

    return PimcAgent(**options)


def _search_policy(checkpoint: str = "ppo-2p-vine", **options: Any) -> Agent:
    blueprint = load(checkpoint)
    try:
        from agents.networks import NetworkAgent  # noqa: PLC0415 - torch only where a network runs
        from agents.search.policy import SearchPolicyAgent  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        if error.name in _NEEDED:
            raise MissingExtra(error.name, "train") from error
        raise
    if not isinstance(blueprint, NetworkAgent):
        raise AgentSpecError(f"search:policy?checkpoint={checkpoint}", f"{checkpoint!r} is no checkpoint")
    return SearchPolicyAgent(blueprint, **options)


REGISTRY: dict[str, Entry] = {
    "random": Entry("every legal action is as likely as any other", RandomAgent),
    "heuristic:novice": Entry(
        "keeps pairs and better, names what it has, plays its highest card when that wins; no odds, no memory",
        NoviceAgent,
    ),
    "heuristic:poker": Entry(
        "draws for the most hand points by exact odds; everything else as the novice",
        PokerAgent,
    ),
    "heuristic:tricks": Entry(
        "as poker, but holds and plays its cards for the last trick, counting what is unseen",
        TricksAgent,
    ),
    "heuristic:expert": Entry(
        "weighs hand points, last trick and Chicago by what they do to the chance to win the match; counts cards",
        ExpertAgent,
    ),
    "search:pimc": Entry(
        "leaves the choice of the expert where play-outs by it, in worlds as likely as what the others did, say so; no learning",
        _pimc,
        {"budget": _budget, "rollout": _rollout},
    ),
    "search:policy": Entry(
        "a checkpoint whose policy such play-outs improve, and which stays mixed",
        _search_policy,
        {"checkpoint": str, "budget": _budget, "step": _step},
    ),
}
"""The agents that need no file."""


class Listed(NamedTuple):
    """A line of the list of agents.

    Attributes:
        name: what `load` takes.
        kind: `built in` or `checkpoint`.
        help: one line about it.
    """

    name: str
    kind: str
    help: str


def checkpoints() -> dict[str, Path]:
    """The checkpoints that come with the project, by name."""
    return {path.name.removesuffix(SUFFIX): path for path in sorted(CHECKPOINTS.glob(f"*{SUFFIX}"))}


def names() -> list[str]:
    """Every name that `load` takes: built-in agents, then checkpoints."""
    return [*REGISTRY, *checkpoints()]


def listed() -> list[Listed]:
    """Every agent there is, with a line about each."""
    built_in = [Listed(name, "built in", entry.help) for name, entry in REGISTRY.items()]
    return built_in + [Listed(name, "checkpoint", _about(path)) for name, path in checkpoints().items()]


def _about(path: Path) -> str:
    return f"network, {path.stat().st_size / 1e6:.1f} MB"


def load(spec: str | os.PathLike[str]) -> Agent:
    """The agent that `spec` names.

    Args:
        spec: `random`, `heuristic:NAME`, the name of a checkpoint, `exec:COMMAND` for a program (docs/bot-protocol.md),
            or a path, text or not, that ends in `.safetensors`; options follow after a `?`.

    Raises:
        AgentSpecError: no such agent or option, or a value that is not allowed; the message says what there is.
        MissingExtra: torch or safetensors, which a checkpoint needs, is not installed.
        CheckpointError: a checkpoint that cannot be read (`agents.checkpoint`).
    """
    if isinstance(spec, os.PathLike):
        spec = os.fspath(spec)
    if not isinstance(spec, str):
        raise AgentSpecError(spec, "a spec is text, or a path")
    if not spec:
        raise AgentSpecError(spec, "no name given" + suggestion("", names()))
    bot = bot_spec(spec)
    if bot is not None:
        return _load_bot(spec, bot)
    name, mark, text = spec.partition("?")
    if name in REGISTRY:
        entry = REGISTRY[name]
        return entry.make(**read_options(spec, text if mark else None, entry.options))
    file = checkpoint_of(spec)
    if file is not None:
        given = None if spec.endswith(SUFFIX) or "?" not in spec else spec.rpartition("?")[2]
        return _load_checkpoint(file, **read_options(spec, given, _CHECKPOINT_OPTIONS))
    hint = suggestion(name, names())
    raise AgentSpecError(spec, f"no agent of that name{hint}, or the path of a {SUFFIX} file")


def is_path(spec: str) -> bool:
    """Whether a spec is the path of a checkpoint alone, and not an option or a word of a command that is one."""
    program = spec.startswith((f"{PREFIX}:", f"{PREFIX}?"))
    return spec.endswith(SUFFIX) and spec.partition("?")[0] not in REGISTRY and not program


def checkpoint_of(spec: str) -> Path | None:
    """The file of a checkpoint whose spec may have options; None if it names none."""
    if is_path(spec):
        return _existing(spec)
    if spec.partition("?")[0] in REGISTRY:
        return None
    name = spec.rpartition("?")[0] if "?" in spec else spec
    return _existing(name) if name.endswith(SUFFIX) else checkpoints().get(name)


def _yes_or_no(text: str) -> bool:
    if text not in {"yes", "no"}:
        raise ValueError("it is yes or no")
    return text == "yes"


_CHECKPOINT_OPTIONS: Mapping[str, Callable[[str], Any]] = {"greedy": _yes_or_no}


def checkpoint_file(spec: str) -> Path:
    """The file of a checkpoint, by the name of one that comes with the project, or by its path; options are left out.

    Raises:
        AgentSpecError: no such checkpoint.
    """
    file = checkpoint_of(spec)
    if file is None:
        hint = suggestion(spec, checkpoints())
        raise AgentSpecError(spec, f"no checkpoint of that name{hint}, or its path *{SUFFIX}")
    return file


def _existing(spec: str) -> Path:
    path = Path(spec)
    try:
        there = path.is_file()
    except (OSError, ValueError) as error:  # a name that no file can have
        raise AgentSpecError(spec, f"no such file: {getattr(error, 'strerror', None) or error}") from None
    if not there:
        raise AgentSpecError(spec, "no such file")
    return path


def read_options(spec: str, text: str | None, readers: Mapping[str, Callable[[str], Any]]) -> dict[str, Any]:
    """The values of `key=value&key=value`.

    Raises:
        AgentSpecError: an option that is not known, given twice, or not allowed; the message has the `spec`.
    """
    values: dict[str, Any] = {}
    if text is None:
        return values
    for part in text.split("&"):
        key, mark, value = part.partition("=")
        if not key or not mark or not value:
            raise AgentSpecError(spec, f"{part!r} is no option; options are written key=value, with & between them")
        if key not in readers:
            known = suggestion(key, readers) if readers else "; this agent has none"
            raise AgentSpecError(spec, f"unknown option {key!r}{known}")
        if key in values:
            raise AgentSpecError(spec, f"option {key!r} is given twice")
        try:
            values[key] = readers[key](value)
        except ValueError as error:
            raise AgentSpecError(spec, f"option {key}: {value!r} is not allowed: {error}") from None
    return values


class BotSpec(NamedTuple):
    """What a spec says of a program that plays.

    Attributes:
        words: program and arguments.
        limits: what it may use.
        log: file for its standard error, where one is named.
    """

    words: list[str]
    limits: Limits
    log: str | None


def bot_spec(spec: str) -> BotSpec | None:
    """What `exec:COMMAND` says; None where the spec names no program.

    Raises:
        AgentSpecError: no command, no such option, or a value that is not allowed.
    """
    if spec != PREFIX and not spec.startswith((f"{PREFIX}:", f"{PREFIX}?")):
        return None
    text, command = split_spec(spec)
    options = read_options(spec, text, READERS)
    log = options.pop("log", None)
    try:
        return BotSpec(split_command(command), Limits(**options), log)
    except ValueError as error:
        raise _no_bot(spec, error) from None


def _no_bot(spec: str, error: Exception) -> AgentSpecError:
    return AgentSpecError(spec, f"{error}; a bot is written exec:COMMAND, or exec?key=value:COMMAND")


def _load_bot(spec: str, bot: BotSpec) -> Agent:
    from agents.bots.agent import BotAgent  # noqa: PLC0415 - only where a program plays

    try:
        return BotAgent(bot.words, bot.limits, log=bot.log, name=spec)
    except FileNotFoundError as error:
        raise _no_bot(spec, error) from None


def _load_checkpoint(path: Path, **options: Any) -> Agent:
    try:
        from agents.checkpoint import load_checkpoint  # noqa: PLC0415 - torch only where a network runs
    except ModuleNotFoundError as error:
        if error.name in _NEEDED:
            raise MissingExtra(error.name, "train") from error
        raise
    return load_checkpoint(path, **options)
