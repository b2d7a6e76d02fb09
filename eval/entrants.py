"""Who takes part in an event, and what tells an agent from another one of the same name."""

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.bots.limits import Limits


@dataclasses.dataclass(frozen=True)
class Entrant:
    """An agent that takes part.

    Attributes:
        name: what it is called; no other has the same.
        spec: what `agents.load` takes; None for an object that was handed in, which nothing but its name identifies.
        files: SHA-256 of every file that the spec reads, by the name the spec has for it.
        steps: decisions that a checkpoint was trained on; None for other agents.
        limits: of a program that plays, clocks among them (`agents.bots.limits`); None for other agents.
    """

    name: str
    spec: str | None
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    steps: int | None = None
    limits: Limits | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "spec": self.spec,
            "files": dict(self.files),
            "steps": self.steps,
            "limits": None if self.limits is None else dataclasses.asdict(self.limits),
        }


def entrants_of(agents: Mapping[str, Agent | str]) -> tuple[Entrant, ...]:
    """What identifies each agent: nothing but its name where it is an object, else spec, files and limits.

    Raises:
        AgentSpecError: a program that is not written as one.
        CheckpointError, OSError: a file that cannot be read.
    """
    return tuple(
        entrant_of(name, agent) if isinstance(agent, str) else Entrant(name, None) for name, agent in agents.items()
    )


def entrant_of(name: str, spec: str) -> Entrant:
    """The agent that a spec names; see `entrants_of`."""
    from agents.registry import bot_spec, checkpoint_of  # noqa: PLC0415 - not where agents are handed in

    bot = bot_spec(spec)
    if bot is not None:
        files = {word: Path(word) for word in bot.words if os.path.isfile(word)}
        return Entrant(name, spec, _digests(files), limits=bot.limits)
    path = checkpoint_of(spec)
    return Entrant(name, spec, _files_of(spec), None if path is None else _steps_of(path))


def _files_of(spec: str) -> dict[str, str]:
    """SHA-256 of the checkpoints that a spec reads, by the name that it has for each.

    Raises:
        OSError: a file cannot be read.
    """
    from agents.registry import REGISTRY, SUFFIX, checkpoints  # noqa: PLC0415 - not where agents are handed in

    known, files = checkpoints(), {}
    name, _, options = spec.partition("?")
    values = [value for part in options.split("&") for key, _, value in [part.partition("=")] if key == "checkpoint"]
    if name == "search:policy" and not values:
        values = ["ppo-2p"]
    for word in values if name in REGISTRY else (spec, name):
        path = Path(word) if word.endswith(SUFFIX) else known.get(word)
        if path is not None:
            files[word] = path
    return _digests(files)


def _digests(files: Mapping[str, Path]) -> dict[str, str]:
    return {word: hashlib.sha256(path.read_bytes()).hexdigest() for word, path in files.items()}


def _steps_of(path: Path) -> int:
    """Decisions that a checkpoint was trained on.

    Raises:
        CheckpointError: it cannot be read.
    """
    from agents.checkpoint import read_info  # noqa: PLC0415 - torch only where a network runs

    return read_info(path).steps
