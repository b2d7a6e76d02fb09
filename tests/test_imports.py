"""Reads the imports of every source file: they point one way, and the heavy packages stay out of the light ones."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ["chicago_env", "agents", "eval", "train"]
"""Each may import itself and those before it."""

LAYERS = [
    ["errors", "files", "_packages"],
    ["_jit"],
    ["arrays", "bits", "cards"],
    ["rules"],
    ["notation"],
    ["setup"],
    ["opponents"],
    ["actions", "layout"],
    ["hands"],
    ["state"],
    ["engine"],
    ["observation", "view", "rewards"],
    ["kernels"],
    ["game", "pool"],
    ["vector", "records", "render"],
    ["chicago_v0"],
    ["gym_env", "gym_vector", "spiel"],
    ["registration"],
    ["docs", "cli", "bench", "commands", "figures"],
    [""],  # chicago_env/__init__.py
]
"""The modules and folders of chicago_env: each may import those of earlier layers and of its own, as long as no circle
comes about. A new module is to be given its layer here."""

SIDE_BY_SIDE = [{"vector", "records", "render"}]
"""Modules that share a layer and must not know of each other."""

ADAPTERS = {"chicago_v0", "gym_env", "gym_vector", "registration"}
"""The only modules of chicago_env that know PettingZoo and Gymnasium."""

# llvmlite is numba's own and comes with it.
BASE_DEPENDENCIES = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "rich", "tyro"}

# Not scipy: numba imports it where it is installed.
HEAVY = ["torch", "stable_baselines3", "sb3_contrib", "tensorboard", "matplotlib", "choix", "jinja2"]

OPTIONAL = {"pyspiel": "spiel"}
"""Packages that one module of chicago_env alone may import, which nothing else there imports."""

MAX_LINES = 600


class Import(NamedTuple):
    """One imported module or name: where it is written, what it means, and the name it binds."""

    file: Path
    line: int
    target: str
    bound: str | None

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT) if self.file.is_relative_to(ROOT) else self.file}:{self.line}"


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(file: Path, source: str | None = None) -> Iterator[Import]:
    """Every import of `file`, also inside functions, under TYPE_CHECKING, relative, or by a literal name at run time.

    `from a import b` gives `a.b`: whether b is a module is decided by who asks.
    """
    package = module_name(file).split(".")
    if file.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(source if source is not None else file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, alias.asname or alias.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            for alias in node.names:
                target = ".".join([*base, *([node.module] if node.module else []), alias.name])
                yield Import(file, node.lineno, target, alias.asname or alias.name)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = node.args[0].value
            if function in {"import_module", "__import__"} and isinstance(name, str):
                yield Import(file, node.lineno, name, None)


def files_of(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def layer_of(module: str) -> int:
    for layer, names in enumerate(LAYERS):
        if module in names:
            return layer
    raise AssertionError(f"chicago_env/{module} has no layer: add it to LAYERS in {Path(__file__).name}")


def inside(name: str) -> str:
    """The module or folder of chicago_env that `name` is or lies in: `cards`, `engine`; "" is the package itself."""
    first = [*name.split("."), ""][1]
    known = any(first in names for names in LAYERS)
    on_disk = any((ROOT / "chicago_env" / f"{first}{end}").exists() for end in ("", ".py"))
    return first if known or on_disk else ""


def arrow_errors(found: Import) -> str | None:
    own, target = (name.split(".")[0] for name in (module_name(found.file), found.target))
    if target in PACKAGES and PACKAGES.index(target) > PACKAGES.index(own):
        return f"{found}: {own} must not import {target}"
    if target == "tests":
        return f"{found}: {own} must not import tests"
    return None


def layer_errors(found: Import) -> str | None:
    if found.target.split(".")[0] != "chicago_env":
        return None
    own, target = inside(module_name(found.file)), inside(found.target)
    if target in OPTIONAL.values() and own != target:
        return f"{found}: chicago_env/{own} must not import {found.target}, which not everybody can"
    if layer_of(target) > layer_of(own):
        return f"{found}: chicago_env/{own} must not import {found.target}, which is built on it"
    if own != target and any({own, target} <= group for group in SIDE_BY_SIDE):
        return f"{found}: chicago_env/{own} must not import {found.target}, which lies beside it"
    return None


def third_party_errors(found: Import) -> str | None:
    top = found.target.split(".")[0]
    if top in {"gymnasium", "pettingzoo"} and inside(module_name(found.file)) not in ADAPTERS:
        return f"{found}: only {', '.join(sorted(ADAPTERS))} may import {top}"
    if OPTIONAL.get(top) == inside(module_name(found.file)):
        return None
    if top not in sys.stdlib_module_names | BASE_DEPENDENCIES | set(PACKAGES):
        return f"{found}: chicago_env must not import {top}: it is no base dependency"
    return None


def fail_on(errors: Iterator[str | None]) -> None:
    lines = [error for error in errors if error]
    assert not lines, "\n" + "\n".join(lines)


def test_packages_import_in_one_direction() -> None:
    assert {module_name(file).split(".")[0] for file in files_of(*PACKAGES)} == set(PACKAGES)
    fail_on(arrow_errors(found) for file in files_of(*PACKAGES) for found in imports_of(file))


def test_modules_of_chicago_env_import_in_one_direction() -> None:
    files = files_of("chicago_env")
    assert max(layer_of(inside(module_name(file))) for file in files) == len(LAYERS) - 1
    fail_on(layer_errors(found) for file in files for found in imports_of(file))


def test_no_circles() -> None:
    graph: dict[str, set[str]] = {}
    for file in files_of(*PACKAGES):
        known = graph.setdefault(module_name(file), set())
        for found in imports_of(file):
            name = found.target
            while name and not ((path := ROOT.joinpath(*name.split("."))).is_dir() or path.with_suffix(".py").exists()):
                name = name.rpartition(".")[0]
            if name.split(".")[0] in PACKAGES and name != module_name(file):
                known.add(name)
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> None:
        assert module not in path, "circle of imports: " + " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for target in sorted(graph.get(module, ())):
                visit(target, [*path, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])


def test_chicago_env_needs_base_dependencies_alone() -> None:
    fail_on(third_party_errors(found) for file in files_of("chicago_env") for found in imports_of(file))


def test_the_oracle_shares_no_code_with_the_project() -> None:
    files = files_of("tests/oracle")
    assert files
    for file in files:
        for found in imports_of(file):
            assert found.target.split(".")[0] not in PACKAGES, f"{found}: the oracle must not import {found.target}"


def test_nothing_hides_the_builtin_eval() -> None:
    for file in files_of(*PACKAGES, "tests"):
        for found in imports_of(file):
            assert found.bound != "eval", f"{found}: binds the name eval; write `from eval import ...`"


@pytest.mark.parametrize("module", ["chicago_env", "agents", "eval", "train", "train.cli"])
def test_starting_needs_no_heavy_package(module: str) -> None:
    code = f"import sys, importlib; importlib.import_module({module!r}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert module in loaded.stdout.split()
    assert not set(HEAVY) & set(loaded.stdout.split())


def test_files_are_short() -> None:
    for file in [*files_of(*PACKAGES, "tests"), *ROOT.glob("*.py")]:
        lines = len(file.read_text("utf-8").splitlines())
        assert lines < MAX_LINES, f"{file.relative_to(ROOT)} has {lines} lines: split it before {MAX_LINES}"


@pytest.mark.parametrize(
    ("file", "source", "check"),
    [
        ("agents/x.py", "import train", arrow_errors),
        ("agents/x.py", "from eval.boards import Board", arrow_errors),
        ("eval/x.py", "def f():\n    import train.cli", arrow_errors),
        ("chicago_env/x.py", "if TYPE_CHECKING:\n    from agents import Agent", arrow_errors),
        ("chicago_env/x.py", "import importlib\nimportlib.import_module('agents')", arrow_errors),
        ("train/x.py", "from tests.oracle import play", arrow_errors),
        ("chicago_env/cards.py", "from chicago_env.state import STATE", layer_errors),
        ("chicago_env/cards.py", "from chicago_env import state", layer_errors),
        ("chicago_env/cards.py", "from . import state", layer_errors),
        ("chicago_env/hands.py", "def f():\n    from .engine.log import emit", layer_errors),
        ("chicago_env/engine/log.py", "import chicago_env", layer_errors),
        ("chicago_env/engine/log.py", "from ..vector import BatchEnv", layer_errors),
        ("chicago_env/render.py", "from chicago_env.records import replay", layer_errors),
        ("chicago_env/state.py", "import gymnasium", third_party_errors),
        ("chicago_env/engine/log.py", "from pettingzoo.utils import wrappers", third_party_errors),
        ("chicago_env/vector.py", "def f():\n    import torch", third_party_errors),
        ("chicago_env/gym_env.py", "import pyspiel", third_party_errors),
        ("chicago_env/docs.py", "from chicago_env.spiel import NAME", layer_errors),
    ],
)
def test_forbidden_imports_are_seen(file, source, check) -> None:
    (found,) = (found for found in imports_of(ROOT / file, source) if found.target != "importlib")
    assert check(found)


def test_allowed_imports_pass() -> None:
    for file, source in [
        ("train/x.py", "from eval import boards\nfrom agents import load"),
        ("eval/x.py", "import agents, chicago_env"),
        ("chicago_env/engine/flow.py", "from chicago_env import actions\nfrom .log import emit"),
        ("chicago_env/chicago_v0.py", "import pettingzoo, numpy"),
    ]:
        for found in imports_of(ROOT / file, source):
            checks = [arrow_errors, *([layer_errors, third_party_errors] if file.startswith("chicago_env") else [])]
            assert [check(found) for check in checks] == [None] * len(checks)
