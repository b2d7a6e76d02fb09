"""Everything that picks actions: baselines, search, networks, checkpoints, and the registry of them.

`agents.load("heuristic:novice")` gives an agent, `agents.names()` what there is. What an agent is says `agents.Agent`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.base import Agent as Agent
    from agents.base import AgentError as AgentError
    from agents.base import Rng as Rng
    from agents.base import ask as ask
    from agents.registry import AgentSpecError as AgentSpecError
    from agents.registry import load as load
    from agents.registry import names as names

_HOMES = {
    "Agent": "base",
    "AgentError": "base",
    "Rng": "base",
    "ask": "base",
    "AgentSpecError": "registry",
    "load": "registry",
    "names": "registry",
}

__all__ = ["Agent", "AgentError", "AgentSpecError", "Rng", "ask", "load", "names"]


def __getattr__(name: str) -> Any:
    """Imports what is asked for only then, so that the command line starts fast."""
    if name in _HOMES:
        import importlib  # noqa: PLC0415 - as the docstring says

        return getattr(importlib.import_module(f"agents.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
