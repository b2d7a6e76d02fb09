"""The engine's tests once more with numba's bounds checks, and once more as plain Python.

Compiled code reads garbage beyond the end of an array and wraps small integers without a word; these modes do not.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ENGINE_TESTS = ["tests/test_hands.py", "tests/test_game.py", "tests/rule_paragraphs", "tests/test_engine_oracle.py"]
NOT_IN_PYTHON = "not all_hands and not damaged and not saved_states"
NESTED = "CHICAGO_DEBUG_MODE"


@pytest.mark.slow
@pytest.mark.skipif(NESTED in os.environ, reason="runs the others, not itself")
@pytest.mark.parametrize("mode", ["NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"])
def test_engine_tests_pass_in_debug_mode(mode: str, tmp_path: Path) -> None:
    environment = os.environ | {mode: "1", NESTED: "1", "CHICAGO_CACHE_DIR": str(tmp_path)}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *ENGINE_TESTS]
    if mode == "NUMBA_DISABLE_JIT":
        words += ["-k", NOT_IN_PYTHON]
    result = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
    assert " passed" in result.stdout


def test_no_folder_for_compiled_code_is_no_error() -> None:
    code = (
        "import pathlib, tempfile\n"
        "def refuse(*args, **options): raise FileNotFoundError('no usable temporary directory')\n"
        "pathlib.Path.mkdir = tempfile.gettempdir = tempfile.mkdtemp = refuse\n"
        "from chicago_env import _jit\n"
        "assert _jit.CACHE_DIR is None\n"
        "assert _jit.jit(lambda x: x + 1)(1) == 2\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
