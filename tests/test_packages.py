"""Other people's folders of the names `agents`, `eval` and `train` are named in an error, not imported."""

import os
import shutil
import subprocess
import sys
import tomllib
import types
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from chicago_env._packages import require_sibling

ROOT = Path(__file__).resolve().parent.parent


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python in `cwd`, whose folders come before this project's in the search for modules."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, check=False, capture_output=True, text=True
    )


def stranger(folder: Path, name: str) -> Path:
    """A package that leaves a file behind when it is run."""
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(package / 'was_run')!r}, 'w')\n", "utf-8")
    return package


@pytest.mark.parametrize("name", ["agents", "eval", "train"])
def test_own_packages_pass(name: str) -> None:
    require_sibling(name)


@pytest.mark.parametrize(("started", "name"), [("eval", "agents"), ("train", "agents"), ("train", "eval")])
def test_a_strangers_package_is_named_and_not_run(tmp_path: Path, started: str, name: str) -> None:
    package = stranger(tmp_path, name)
    for arguments in (["-m", started], ["-c", f"import {started} as module"]):
        result = python(*arguments, cwd=tmp_path)
        assert result.returncode != 0
        (message,) = result.stderr.splitlines()[-1:]
        assert message.startswith("ImportError: ")
        assert str(package) in message
        assert str(ROOT / name) in message
        assert not (package / "was_run").exists()


def test_a_strangers_module_is_named(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text("", "utf-8")
    result = python("-m", "eval", cwd=tmp_path)
    assert result.returncode != 0
    assert str(tmp_path / "agents.py") in result.stderr.splitlines()[-1]


def test_a_folder_of_data_does_no_harm(tmp_path: Path) -> None:
    for name in ("agents", "eval", "train"):
        (tmp_path / name).mkdir()
    result = python("-c", "import train, agents; print(train.__file__, agents.__file__)", cwd=tmp_path)
    assert result.stdout.split() == [str(ROOT / name / "__init__.py") for name in ("train", "agents")]


def test_a_module_loaded_before_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("agents")
    module.__file__ = "/elsewhere/agents.py"
    monkeypatch.setitem(sys.modules, "agents", module)
    with pytest.raises(ImportError, match=r"'agents' means /elsewhere/agents\.py here") as caught:
        require_sibling("agents")
    assert (caught.value.name, caught.value.path) == ("agents", "/elsewhere/agents.py")


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "chicago_env").mkdir()
    (tmp_path / "chicago_env" / "__init__.py").touch()
    shutil.copy(ROOT / "chicago_env" / "_packages.py", tmp_path / "chicago_env")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from chicago_env._packages import require_sibling as r; "
    )
    result = python("-I", "-S", "-c", code + "r('agents')", cwd=tmp_path)
    assert f"'agents' was not found in {tmp_path}" in result.stderr.splitlines()[-1]


def test_every_pinned_version_is_one_that_the_project_accepts() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = {}
    for line in lines:
        if not line.startswith("#"):
            name, _, version = line.partition("==")
            pins[name.lower().replace("_", "-")] = version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    lists = [project["project"]["dependencies"], project["build-system"]["requires"], *extras.values()]
    named = [Requirement(text) for needed in lists for text in needed]
    assert len(named) > len(lists)
    for requirement in named:
        if requirement.name != "chicago-env":
            assert requirement.specifier.contains(pins[requirement.name]), f"constraints.txt: {requirement}"


def test_the_wheel_holds_all_code_and_checkpoints(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    target.mkdir()
    packages = ("chicago_env", "agents", "eval", "train", "checkpoints")
    for name in packages:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / "checkpoints").mkdir(exist_ok=True)
    (source / "checkpoints" / "example.safetensors").touch()
    (source / "tests").mkdir()
    (source / "tests" / "__init__.py").touch()
    (source / "training_runs").mkdir()
    (source / "training_runs" / "log.py").touch()
    code = f"from setuptools.build_meta import build_wheel; build_wheel({str(target)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True)
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (scripts,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "chicago = train.cli:main" in archive.read(scripts).decode()
    files = [path for name in packages for path in (source / name).rglob("*") if path.is_file()]
    assert names == {path.relative_to(source).as_posix() for path in files}
