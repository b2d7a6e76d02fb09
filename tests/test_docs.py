"""The generated tables of docs/ are those that the code makes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chicago_env import docs
from chicago_env.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "checkpoints" / "README.md"]


def python_blocks() -> list[tuple[str, str]]:
    """Every block of Python in the pages, with its place."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text[: match.start()].count("\n") + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", match.group(1)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("place", "code"), python_blocks(), ids=[place for place, _ in python_blocks()])
def test_the_python_of_the_pages_runs(place, code, tmp_path) -> None:
    small = code.replace("minutes=5", "minutes=0.05, envs=32, rollout=8, hidden=(16,)")
    done = subprocess.run(
        [sys.executable, "-c", small], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, f"{place}: {done.stderr}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_pages_are_up_to_date() -> None:
    for path, text in docs.pages().items():
        assert path.read_text("utf-8") == text, f"{path.name}: run make docs"


def test_a_table_takes_the_place_of_the_old_one() -> None:
    page = "a\n<!-- generated: x -->\n\nold\n\n<!-- end -->\nb\n"
    new = docs.filled(page, "x", "new")
    assert new == page.replace("old", "new")
    assert docs.filled(new, "x", "new") == new
    for broken in ("a", "<!-- generated: x --> a", "<!-- end -->"):
        with pytest.raises(UsageError, match="no place for the table x"):
            docs.filled(broken, "x", "new")
