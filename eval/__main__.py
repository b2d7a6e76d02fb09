"""`python -m eval` is `chicago eval`."""

import sys

from chicago_env.cli import main
from eval.cli import COMMANDS

if __name__ == "__main__":
    sys.exit(main(COMMANDS, ["eval", *sys.argv[1:]]))
