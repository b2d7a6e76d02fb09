"""The commands of this package, apart from `train.cli`: `python -m eval` needs this package alone."""

from chicago_env.cli import Command

COMMANDS = (
    Command("eval rank", "eval.commands.rank", "rank agents against each other"),
    Command("eval show", "eval.commands.show", "show the ranking that a store of games gives"),
    Command("eval sprt", "eval.commands.sprt", "test which of two agents is better, or neither"),
)
