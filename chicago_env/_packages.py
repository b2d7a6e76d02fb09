"""`agents`, `eval` and `train` are common names: makes sure that they are this project's before they are imported."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

_ROOT = Path(__file__).parent.parent
"""The folder that holds the project's packages side by side, in a checkout as in `site-packages`."""


def _folders(name: str) -> list[str]:
    """Where the package `name` lies, or would be taken from, without running it. Empty if there is no such package."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        paths: Iterable[str] = getattr(loaded, "__path__", None) or [getattr(loaded, "__file__", None) or "built in"]
        return list(paths)
    spec = importlib.util.find_spec(name)
    if spec is None:
        return []
    return list(spec.submodule_search_locations or [spec.origin or "built in"])


def _same(found: str, expected: Path) -> bool:
    try:
        return os.path.samefile(found, expected)
    except OSError:
        return False


def require_sibling(name: str) -> None:
    """Raises ImportError unless `import NAME` gives the package of this project, the one that lies beside this one.

    To be called before the first import of `agents`, `eval` or `train` from another package of the project. A folder of
    the same name in the current folder (`python -m`), beside the script that is run, or on PYTHONPATH comes first in
    Python's search, and so does a package of that name that was installed before.

    Args:
        name: `agents`, `eval` or `train`.

    Raises:
        ImportError: something else would be imported, or nothing was found; the message names it and the remedy.
    """
    expected = _ROOT / name
    found = _folders(name)
    if len(found) == 1 and _same(found[0], expected):
        return
    if not found:
        raise ImportError(
            f"chicago-env's package {name!r} was not found in {_ROOT}; install chicago-env again", name=name
        )
    raise ImportError(
        f"the name {name!r} means {', '.join(found)} here, not the package of chicago-env in {expected}; "
        f"start Python from another folder, take that folder off PYTHONPATH, rename it, or uninstall the package that "
        f"owns it",
        name=name,
        path=found[0],
    )


def sibling(name: str) -> ModuleType:
    """The package `name` of this project, imported now: for what a user named by text and only that package can make.

    Imports point the other way (`agents` knows `chicago_env`), so that this package starts and works without it; only
    `chicago_env.opponents` calls this.

    Raises:
        ImportError: as `require_sibling`.
    """
    require_sibling(name)
    return importlib.import_module(name)
