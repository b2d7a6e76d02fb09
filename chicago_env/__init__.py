"""Chicago, the Swedish card game, as a reinforcement-learning environment.

The names in `__all__` are imported when they are first used. `import chicago_env` alone only tells Gymnasium of
`chicago_env/Chicago-v0`, which takes a tenth of a second.
"""

import importlib
from typing import TYPE_CHECKING, Any

from chicago_env.registration import register

if TYPE_CHECKING:
    from chicago_env import chicago_v0 as chicago_v0
    from chicago_env.game import Game as Game
    from chicago_env.notation import parse_rules as parse_rules
    from chicago_env.rules import PRESETS as PRESETS
    from chicago_env.rules import Rules as Rules
    from chicago_env.vector import BatchEnv as BatchEnv
    from chicago_env.view import View as View
    from chicago_env.view import decode as decode

__version__ = "0.1.0"

_MODULES = {
    "chicago_v0": "chicago_v0",
    "BatchEnv": "vector",
    "Game": "game",
    "PRESETS": "rules",
    "Rules": "rules",
    "View": "view",
    "decode": "view",
    "parse_rules": "notation",
}

__all__ = ["BatchEnv", "Game", "PRESETS", "Rules", "View", "__version__", "chicago_v0", "decode", "parse_rules"]

register()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    value = module if name == _MODULES[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
