"""The commands of this package, apart from `train.cli`: `python -m eval` needs this package alone."""

from chicago_env.cli import Command

COMMANDS = (
    Command("eval rank", "eval.commands.rank", "rank agents against each other"),
    Command("eval match", "eval.commands.match", "play two agents, or one in each seat of a table"),
    Command("eval show", "eval.commands.show", "show the ranking that a store of games gives"),
    Command("eval sprt", "eval.commands.sprt", "test which of two agents is better, or neither"),
    Command("eval compare", "eval.commands.compare", "compare two results"),
    Command("eval merge", "eval.commands.merge", "put the games of several stores into one"),
    Command("eval export", "eval.commands.export", "write the games of a store as JSON, CSV or records"),
    # by name alone: it is offered where training is installed
    Command("eval exploit", "train.commands.exploit", "train best responses against an agent"),
    Command("eval bench", "eval.commands.bench", "measure how fast the arena plays"),
)
