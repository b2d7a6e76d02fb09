"""The one place where numba's options are set, and where compiled code is kept.

Compiled code goes to a folder named by a hash of all sources that a function may use, those of its own package and of
the packages below it: numba itself only looks at the file that holds a function, and would go on using stale code when
a constant or a helper in another file has changed.
"""

import functools
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config as numba_config

config: Any = numba_config  # its settings are read from the environment when numba is imported; no type knows them

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGES = (__name__.partition(".")[0], "agents", "eval", "train")
"""The packages of the project that may have kernels; each may use those of the packages before it."""

_SOURCES = ("*.py", "*.npy")
"""What compiled code depends on: tables are compiled into it as constants."""

_KEEP_BUILDS = 12


def _source_hash(package: str) -> str:
    """Hash of the sources that kernels of `package` may use; those of a stranger use this package's and their own."""
    digest = hashlib.sha256()
    digest.update(f"{numba.__version__} {sys.version} {platform.machine()} {config.BOUNDSCHECK}".encode())
    root = Path(__file__).resolve().parent.parent
    last = _PACKAGES.index(package) if package in _PACKAGES else 0
    for name in _PACKAGES[: last + 1]:
        for path in sorted(path for ending in _SOURCES for path in (root / name).rglob(ending)):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_base() -> Path | None:
    """`$CHICAGO_CACHE_DIR`, else the user's cache folder, else (where neither can be written) the temporary folder.

    None where no folder at all can be written: nothing is kept then.
    """
    candidates = []
    if os.environ.get("CHICAGO_CACHE_DIR"):
        candidates.append(Path(os.environ["CHICAGO_CACHE_DIR"]))
    xdg = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):
        candidates.append((Path(xdg) if xdg else Path.home() / ".cache") / "chicago-env")
    for base in candidates:
        try:
            base.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=base):
                return base
        except OSError:
            continue
    # A folder in a shared temporary directory that somebody else made is not to be trusted: compiled code is loaded from it.
    with suppress(OSError):
        base = Path(tempfile.gettempdir()) / f"chicago-env-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
        base.mkdir(mode=0o700, exist_ok=True)
        if not hasattr(os, "getuid") or base.stat().st_uid == os.getuid():
            return base
    with suppress(OSError):
        return Path(tempfile.mkdtemp(prefix="chicago-env-"))
    return None


def _prune(base: Path, keep: Path) -> None:
    with suppress(OSError):
        builds = sorted((p for p in base.glob("numba-*") if p != keep), key=lambda p: p.stat().st_mtime, reverse=True)
        for old in builds[_KEEP_BUILDS - 1 :]:
            shutil.rmtree(old, ignore_errors=True)


@functools.cache
def _cache_dir(package: str) -> Path | None:
    base = _cache_base()
    if base is None:
        return None
    folder = base / f"numba-{_source_hash(package)}"
    if not folder.exists():
        _prune(base, folder)
    return folder


CACHE_DIR = _cache_dir(_PACKAGES[0])
_announced = config.DISABLE_JIT or (CACHE_DIR is not None and any(CACHE_DIR.rglob("*.nbi")))


def announce_compilation() -> None:
    """Says once, on standard error, that the kernels are about to be compiled (only if they never were on this machine)."""
    global _announced  # noqa: PLW0603 - said once per process
    if not _announced:
        _announced = True
        print(
            "chicago-env: compiling the rules engine for this machine (once, under a minute) ...",
            file=sys.stderr,
            flush=True,
        )


def jit(function: F) -> F:
    """Compiles `function` in nopython mode, without the GIL, cached; plain Python under `NUMBA_DISABLE_JIT=1`."""
    return _compiled(function)


def inlined(function: F) -> F:
    """As `jit`, for what is called in one place or two of a hot path: made a part of whatever calls it.

    A call costs more than it seems: numba counts the references to the arrays that are handed over.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: F, **options: Any) -> F:
    previous = config.CACHE_DIR
    folder = _cache_dir(function.__module__.partition(".")[0])
    if folder is not None:
        config.CACHE_DIR = str(folder)
    try:
        return cast(F, numba.njit(cache=folder is not None, nogil=True, **options)(function))
    finally:
        config.CACHE_DIR = previous
