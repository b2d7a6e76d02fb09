"""The optional packages that the arena needs."""

import importlib.util

from chicago_env.errors import MissingExtra

STATISTICS = ("scipy", "choix")
REPORT = ("matplotlib", "jinja2")


def require(*packages: str) -> None:
    """Makes sure, before anything is played, that what will be needed is there; imports nothing.

    Raises:
        MissingExtra: a package is not installed.
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "eval")
