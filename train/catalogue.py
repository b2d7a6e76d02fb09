"""The checkpoints that come with the project, and the page about them, which is generated from their metadata.

`python -m train.catalogue add RUN` takes the checkpoint of a finished run in: it is ranked against the fixed opponents, the
result goes into its metadata, and `checkpoints/README.md` is written anew. `python -m train.catalogue` only writes the page,
`--check` only looks whether it is up to date.
"""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from agents import load
from agents.base import Agent
from agents.checkpoint import SUFFIX, CheckpointInfo, load_checkpoint, read_checkpoint, read_info, save_checkpoint
from agents.registry import CHECKPOINTS
from chicago_env.cli import BAD_INPUT
from chicago_env.errors import ChicagoError, UsageError
from chicago_env.files import replacing
from chicago_env.notation import format_rules
from eval.ranking import rank
from train.config import CONFIG, TrainConfig, read_config
from train.log import LOG
from train.run import OPPONENTS, checkpoint_path

BOARDS, MATCHES, SEED = 2000, 3000, 1_000_003
"""Boards of single deals and of whole matches against each opponent, and their seed, which no evaluation in training has."""

LOG_LINES = 60
"""Lines of a shipped log, evenly spread over the run."""

PAGE = "README.md"

_HEAD = """# Checkpoints

Networks trained by this project, ready to play. This page is generated from their metadata by `python -m train.catalogue`.

```python
import agents

agent = agents.load("{first}")  # offline; or the path of any .safetensors file that chicago train wrote
```

On the command line their names stand wherever an agent is asked for, e.g. `chicago eval rank {first} heuristic:novice`.

| name | rules | players | MB | decisions | hours | {opponents} |
|---|---|---|---|---|---|{lines}|
"""


def rate(agent: Agent, info: CheckpointInfo) -> dict[str, Any]:
    """Results against the fixed opponents: points a deal and match wins, each with its 95 % interval over boards."""
    results: dict[str, Any] = {}
    for name in OPPONENTS:
        field: dict[str, Agent] = {"checkpoint": agent, name: load(name)}
        ranking = rank(
            field,
            players=info.network.players[0],
            rules=info.network.rules[0],
            boards=BOARDS,
            matches=MATCHES,
            seed=SEED,
        )
        pair = ranking.pairs[0]
        results[name] = {"points_per_deal": pair.points.to_dict(), "match_wins": pair.wins.to_dict()}
    return {"seed": SEED, "players": info.network.players[0], "against": results}


def add(run: Path, folder: Path = CHECKPOINTS) -> Path:
    """Takes the checkpoint of a run in, with its configuration and a thinned log; gives its new path.

    Raises:
        UsageError: the folder holds no run.
        CheckpointError: its checkpoint is damaged.
    """
    config = read_config(run / CONFIG)
    source = checkpoint_path(run, config)
    net, info = read_checkpoint(source)
    target = folder / f"{config.name}{SUFFIX}"
    save_checkpoint(target, net, dataclasses.replace(info, ratings=rate(load_checkpoint(source), info)))
    with replacing(folder / f"{config.name}.json") as file:
        file.write((json.dumps(config.to_dict(), indent=2) + "\n").encode())
    lines = (run / LOG).read_text("utf-8", "replace").splitlines()
    kept = sorted({round(i * (len(lines) - 1) / (LOG_LINES - 1)) for i in range(LOG_LINES)}) if lines else []
    with replacing(folder / f"{config.name}.log.jsonl") as file:
        file.write("".join(lines[i] + "\n" for i in kept).encode())
    write_page(folder)
    return target


def page(folder: Path = CHECKPOINTS) -> str:
    """The page about all checkpoints in `folder`."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    first = files[0].name.removesuffix(SUFFIX) if files else "NAME"
    opponents = " | ".join(f"matches won against {name}" for name in OPPONENTS)
    text = _HEAD.format(first=first, opponents=opponents, lines="|".join("---" for _ in OPPONENTS))
    infos = {path: read_info(path) for path in files}
    text += "".join(_row(path, info) for path, info in infos.items())
    text += (
        "\nIntervals are 95 %, over boards (docs/evaluation.md). Points a deal are in the metadata, with the seed.\n"
    )
    for path, info in infos.items():
        text += _reproduce(path, info)
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
    for name in OPPONENTS:
        wins = info.ratings.get("against", {}).get(name, {}).get("match_wins")
        cells.append("–" if wins is None else f"{wins['mean']:.1%} [{wins['low']:.1%}, {wins['high']:.1%}]")
    return f"| {' | '.join(cells)} |\n"


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
        f"\n## {name}\n\nHidden layers {'-'.join(map(str, info.network.hidden))}, seed {info.seed}{commit}. "
        f"Its configuration is in `{name}.json`, some lines of its log in `{name}.log.jsonl`. To train another like it:\n\n"
        f"```\nchicago train {options}\n```\n"
    )


_KEYS = {field.name for field in dataclasses.fields(TrainConfig)}


def write_page(folder: Path = CHECKPOINTS) -> None:
    """Writes the page."""
    with replacing(folder / PAGE) as file:
        file.write(page(folder).encode())


def main(words: list[str]) -> int:
    """The command; see the module."""
    if words == ["--check"]:
        fresh = (CHECKPOINTS / PAGE).read_text("utf-8") == page()
        sys.stdout.write("" if fresh else f"checkpoints/{PAGE} is out of date: python -m train.catalogue\n")
        return 0 if fresh else 1
    if not words:
        write_page()
    elif len(words) == 2 and words[0] == "add":
        sys.stdout.write(f"{add(Path(words[1]))}\n")
    else:
        raise UsageError("python -m train.catalogue [--check | add RUN]")
    return 0


def run(words: list[str]) -> int:
    """The command; what goes wrong is told in one line, and the exit code is 2."""
    try:
        return main(words)
    except (ChicagoError, OSError) as error:
        sys.stderr.write(f"train.catalogue: {' '.join(str(error).split())}\n")
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
