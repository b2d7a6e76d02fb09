"""Settings of the whole suite."""

import os

import hypothesis

# No time limit for one example: the first one compiles. The same examples on every run: a red test stays red.
hypothesis.settings.register_profile("chicago", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("chicago")

# No window, ever.
os.environ.setdefault("MPLBACKEND", "Agg")

# One process per core already: threads of PyTorch and OpenBLAS on top only get in each other's way.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
