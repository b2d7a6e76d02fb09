"""The command line `chicago`: the list of its commands.

To add a command, write a module with

- `Config`, a frozen dataclass: its docstring is the command's help, the string after each field that field's help, and
  `tyro.conf.Positional[...]` makes a field positional;
- `run(config: Config) -> int`, which returns an exit code of `chicago_env.cli` (`OK`; `FAILED` if a check says no),

and name it in one line below (commands of `eval` in `eval.cli`, which `python -m eval` needs without this package).
What goes wrong is raised as a `ChicagoError` or an `OSError`: it is told in one line, and the exit code is 2. Commands
import torch and other heavy packages inside functions; a missing one is told with the extra that installs it. What is
printed for people goes through rich, numbers for programs through `chicago_env.cli.print_json` under `--json`.
"""

import sys
from importlib.metadata import PackageNotFoundError, version

from chicago_env import cli
from chicago_env.cli import Command
from eval.cli import COMMANDS as EVAL_COMMANDS

COMMANDS = (
    Command("demo", "train.commands.demo", "train an agent for two minutes and rank it"),
    Command("train", "train.commands.train", "train an agent by self-play"),
    *EVAL_COMMANDS,
    Command("play", "agents.commands.play", "play against agents yourself, in the terminal"),
    Command("agents export", "agents.commands.export", "write the network of a checkpoint as ONNX"),
    Command("agents", "agents.commands.listing", "list the agents there are"),
    Command("bot-check", "agents.bots.cli", "find out what a bot does wrong"),
    Command("bench train", "train.commands.bench", "measure how fast this machine trains"),
    Command("bench", "chicago_env.commands.bench", "measure how fast this machine plays"),
    Command("records verify", "chicago_env.commands.records", "check match records with the rules engine"),
)


def run(argv: list[str]) -> int:
    """Runs the command line with the words after `chicago`; returns an exit code."""
    try:
        number = version("chicago-env")
    except PackageNotFoundError:  # run from a checkout that is not installed
        number = "(not installed)"
    return cli.main(COMMANDS, argv, version=number)


def main() -> None:
    """Entry point of the console script `chicago`."""
    sys.exit(run(sys.argv[1:]))
