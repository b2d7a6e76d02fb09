"""Fuzzes a parser for some time, outside the tests.

    python -m tests.fuzz.run TARGET [--seconds 120] [--folder DIR]     random changes to whole documents
    python -m tests.fuzz.run TARGET --atheris [...]                     guided by coverage; needs `pip install atheris`

TARGET is a name of `tests.fuzz.targets.TARGETS`, or `all`. What an input must not do: raise anything but the project's own
errors, take more than ten seconds, or take more than 3 GiB. A find stops the run; its bytes are in DIR and belong, made
small, into tests/test_fuzz.py.
"""

import argparse
import os
import resource
import signal
import sys
import time
import zlib
from pathlib import Path

LIMIT_S = 10
LIMIT_BYTES = 3 << 30


def _random(name: str, seconds: float, folder: Path) -> int:
    import numpy as np

    from tests.fuzz.mutate import mutate_bytes, mutate_json
    from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    seeds = target.seeds()
    for seed in seeds:
        target.run(seed)
    rng, end, count = np.random.default_rng(zlib.crc32(name.encode())), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = seeds[int(rng.integers(len(seeds)))]
        data = mutate_json(data, rng) if target.json and rng.random() < 0.7 else mutate_bytes(data, rng)
        signal.alarm(LIMIT_S)
        try:
            target.run(data)
        except BaseException as error:
            path = folder / f"{name}-{zlib.crc32(data):08x}"
            path.write_bytes(data)
            print(f"{name}: {type(error).__name__}: {error}; {path}")
            raise
        finally:
            signal.alarm(0)
        count += 1
    print(f"{name}: {count:,} inputs in {seconds:.0f} s, nothing found")
    return 0


def _guided(name: str, seconds: float, folder: Path) -> None:
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiled code cannot be instrumented
    import atheris

    with atheris.instrument_imports(include=["chicago_env", "agents", "train", "json"]):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]
    corpus = folder / f"corpus-{name}"
    corpus.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(target.seeds()):
        (corpus / f"seed-{i}").write_bytes(seed)
    atheris.Setup(
        [sys.argv[0], str(corpus), f"-max_total_time={seconds:.0f}", f"-timeout={LIMIT_S}", "-rss_limit_mb=3072",
         f"-artifact_prefix={folder}/{name}-", "-print_final_stats=1", "-max_len=20000"],
        target.run,
    )  # fmt: skip
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--folder", type=Path, default=Path("fuzz-finds"))
    parser.add_argument("--atheris", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.atheris:
        _guided(given.target, given.seconds, given.folder)
        return
    from tests.fuzz.targets import TARGETS

    for name in TARGETS if given.target == "all" else [given.target]:
        TARGETS[name].run(b"")  # imports and compilation take memory and time of their own
        _random(name, given.seconds, given.folder)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"at most {used / 2**20:,.0f} MiB")
    sys.exit(used > LIMIT_BYTES)


if __name__ == "__main__":
    main()
