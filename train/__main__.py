"""`python -m train` is `chicago train`."""

import sys

from train.cli import run

if __name__ == "__main__":
    sys.exit(run(["train", *sys.argv[1:]]))
