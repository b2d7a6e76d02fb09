"""The checkpoints that come with the project, and the page about them, which is generated from their metadata.

`python -m train.catalogue add RUN` takes the checkpoint of a finished run in: it is ranked against the fixed opponents, the
result goes into its metadata, and `checkpoints/README.md` is written anew. `rate NAME` ranks one of them again, where agents or
the way it plays have changed. `python -m train.catalogue` only writes the page, `--check` only looks whether it is up to date.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import load
from agents.base import Agent
from agents.checkpoint import SUFFIX, CheckpointInfo, load_checkpoint, read_checkpoint, read_info, save_checkpoint
from agents.registry import CHECKPOINTS
from chicago_env.cli import told
from chicago_env.errors import UsageError
from chicago_env.files import replacing
from chicago_env.notation import format_rules
from chicago_env.rules import Rules
from eval.ranking import rank
from eval.results import PairResult
from train import past
from train.callback import checkpoint_path
from train.config import CONFIG, TrainConfig, read_config
from train.log import LOG

OPPONENTS = ("heuristic:expert", "heuristic:tricks", "heuristic:poker", "heuristic:novice", "random")
"""Who checkpoints are rated against."""

BOARDS, MATCHES, SEED = 2000, 3000, 1_000_003
"""Boards of single deals and of whole matches against each opponent, shared out evenly over the kinds of games where there
are more than `FULL` of them, and their seed, which no evaluation in training has."""

FULL = 2

GATE = 0.47
"""Share of matches that a checkpoint must be able to win against every snapshot of its own past, to be taken in."""

LOG_LINES = 60
"""Lines of a shipped log, evenly spread over the run."""

PAGE = "README.md"

_HEAD = """# Checkpoints

Networks trained by this project, ready to play. This page is generated from their metadata by `python -m train.catalogue`.

```python
import agents

agent = agents.load("{first}")  # offline; or the path of any .safetensors file that chicago train wrote
```

On the command line their names stand wherever an agent is asked for, e.g. `chicago eval rank {first} heuristic:novice`. Those at
the end are the ones that others were trained on from.

| name | rules | players | MB | decisions | hours |
|---|---|---|---|---|---|
"""


def rate(agent: Agent, info: CheckpointInfo, snapshots: Sequence[Agent] = ()) -> dict[str, Any]:
    """Results in every kind of game, against the fixed opponents and against snapshots of the agent's own past.

    Points a deal and match wins, each with its 95 % interval over boards; of the past the smallest match wins.
    """
    kinds = [(players, rules) for players in info.network.players for rules in info.network.rules]
    parts = max(1, len(kinds) // FULL)
    games = []
    for players, rules in kinds:

        def play(opponent: Agent, players: int = players, rules: Rules = rules) -> PairResult:
            return rank(
                {"checkpoint": agent, "opponent": opponent},
                players=players,
                rules=rules,
                boards=-(-BOARDS // parts),
                matches=-(-MATCHES // parts),
                seed=SEED,
            ).pairs[0]

        against = {}
        for name in OPPONENTS:
            pair = play(load(name))
            against[name] = {"points_per_deal": pair.points.to_dict(), "match_wins": pair.wins.to_dict()}
        game: dict[str, Any] = {"players": players, "rules": format_rules(rules), "against": against}
        if snapshots:
            game["past"] = min((play(each).wins for each in snapshots), key=lambda wins: wins.mean or 0.0).to_dict()
        games.append(game)
    return {"seed": SEED, "games": games}


def add(run: Path, folder: Path = CHECKPOINTS) -> Path:
    """Takes the checkpoint of a run in, with its configuration and a thinned log; gives its new path.

    Raises:
        UsageError: the folder holds no run, or one that became weaker than it was; nothing is written then.
        CheckpointError: its checkpoint is damaged.
    """
    config = read_config(run / CONFIG)
    source = checkpoint_path(run, config)
    net, info = read_checkpoint(source)
    target = folder / f"{config.name}{SUFFIX}"
    numbers = sorted(int(path.stem) for path in (run / past.FOLDER).glob(f"*{SUFFIX}"))
    snapshots = [past.load_snapshot(run, number) for number in numbers]
    ratings = rate(load_checkpoint(source), info, snapshots)
    check_gate(ratings)
    save_checkpoint(target, net, dataclasses.replace(info, ratings=ratings))
    with replacing(folder / f"{config.name}.json") as file:
        file.write((json.dumps(config.to_dict(), indent=2) + "\n").encode())
    lines = (run / LOG).read_text("utf-8", "replace").splitlines()
    kept = sorted({round(i * (len(lines) - 1) / (LOG_LINES - 1)) for i in range(LOG_LINES)}) if lines else []
    with replacing(folder / f"{config.name}.log.jsonl") as file:
        file.write("".join(lines[i] + "\n" for i in kept).encode())
    write_page(folder)
    return target


def rate_again(name: str, folder: Path = CHECKPOINTS) -> Path:
    """Ranks a checkpoint of the folder anew; what was measured against its own past stays. Gives its path.

    Raises:
        UsageError: none of that name.
        CheckpointError: it is damaged.
    """
    path = folder / f"{name}{SUFFIX}"
    if not path.is_file():
        raise UsageError(f"{name}: no checkpoint of that name in {folder}")
    net, info = read_checkpoint(path)
    ratings = rate(load_checkpoint(path), info)
    for game, before in zip(ratings["games"], info.ratings["games"], strict=True):
        if "past" in before:
            game["past"] = before["past"]
    save_checkpoint(path, net, dataclasses.replace(info, ratings=ratings))
    write_page(folder)
    return path


def check_gate(ratings: dict[str, Any]) -> None:
    """Refuses what is weaker than it was.

    Raises:
        UsageError: it wins less than `GATE` of the matches against a snapshot of its past, all of the interval below.
    """
    for game in ratings["games"]:
        weakest = game.get("past")
        if weakest is not None and weakest["high"] < GATE:
            raise UsageError(
                f"{game['players']} players, {game['rules']}: the checkpoint wins {_wins(weakest)} against its own past, "
                f"less than {GATE:.0%}"
            )


def page(folder: Path = CHECKPOINTS) -> str:
    """The page about all checkpoints in `folder`."""
    infos = {path: read_info(path) for path in sorted(folder.glob(f"*{SUFFIX}"))}
    parents = {info.parent for info in infos.values()}
    # those that others began with come last: they are there so that these can be trained again
    infos = dict(sorted(infos.items(), key=lambda item: item[0].name.removesuffix(SUFFIX) in parents))
    text = _HEAD.format(first=next((path.name.removesuffix(SUFFIX) for path in infos), "NAME"))
    text += "".join(_row(path, info) for path, info in infos.items())
    for path, info in infos.items():
        text += _strength(path, info) + _reproduce(path, info)
    return text


def _row(path: Path, info: CheckpointInfo) -> str:
    cells = [
        f"`{path.name.removesuffix(SUFFIX)}`",
        ", ".join(f"`{format_rules(rules)}`" for rules in info.network.rules),
        ", ".join(map(str, info.network.players)),
        f"{path.stat().st_size / 1e6:.1f}",
        f"{info.steps / 1e6:,.1f} million",
        f"{info.seconds / 3600:.1f}",
    ]
    return f"| {' | '.join(cells)} |\n"


def _wins(wins: dict[str, Any] | None) -> str:
    return "–" if wins is None else f"{wins['mean']:.1%} [{wins['low']:.1%}, {wins['high']:.1%}]"


def _strength(path: Path, info: CheckpointInfo) -> str:
    games = info.ratings["games"]
    first = games[0]["against"][OPPONENTS[0]]["match_wins"]["boards"]
    text = (
        f"\n## {path.name.removesuffix(SUFFIX)}\n\nMatches won against each opponent with 95 % intervals over {first:,} boards "
        f"of mirrored matches, seed {info.ratings['seed']} (docs/evaluation.md); points a deal are in the metadata. "
        "At every number of players even is 50 %.\n\n"
    )
    past_too = any("past" in game for game in games)
    head = ["players", "rules", *(f"`{name}`" for name in OPPONENTS), *(["weakest against its past"] * past_too)]
    text += f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n"
    for game in games:
        cells = [str(game["players"]), f"`{game['rules']}`"]
        cells += [_wins(game["against"].get(name, {}).get("match_wins")) for name in OPPONENTS]
        cells += [_wins(game.get("past"))] * past_too
        text += f"| {' | '.join(cells)} |\n"
    return text


def _reproduce(path: Path, info: CheckpointInfo) -> str:
    name = path.name.removesuffix(SUFFIX)
    training = {key: value for key, value in info.training.items() if key in _KEYS}
    standard = TrainConfig().to_dict()
    options = " ".join(
        f"--{key.replace('_', '-')} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in training.items()
        if value != standard[key]
    )
    commit = f", with the sources of commit {info.source}" if info.source else ""
    return (
        f"\nHidden layers {'-'.join(map(str, info.network.hidden))}, seed {info.seed}{commit}. "
        f"Its configuration is in `{name}.json`, some lines of its log in `{name}.log.jsonl`. To train another like it:\n\n"
        f"```\nchicago train {options}\n```\n"
    )


_KEYS = {field.name for field in dataclasses.fields(TrainConfig)}


def write_page(folder: Path = CHECKPOINTS) -> None:
    """Writes the page."""
    with replacing(folder / PAGE) as file:
        file.write(page(folder).encode())


def main(words: Sequence[str] | None = None) -> int:
    """The command; see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m train.catalogue", description="Without a command the page is written anew."
    )
    parser.add_argument("--check", action="store_true", help="only look whether the page is up to date")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    adds = commands.add_parser("add", help="take in the checkpoint of a finished run")
    adds.add_argument("run", type=Path, help="folder of the run")
    rates = commands.add_parser("rate", help="rank one of the folder again")
    rates.add_argument("name", help="name of the checkpoint")
    given = parser.parse_args(words)
    if given.check:
        fresh = (CHECKPOINTS / PAGE).read_text("utf-8") == page()
        sys.stdout.write("" if fresh else f"checkpoints/{PAGE} is out of date: python -m train.catalogue\n")
        return 0 if fresh else 1
    if given.command == "add":
        sys.stdout.write(f"{add(given.run)}\n")
    elif given.command == "rate":
        sys.stdout.write(f"{rate_again(given.name)}\n")
    else:
        write_page()
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
