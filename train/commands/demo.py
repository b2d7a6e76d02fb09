"""`chicago demo`."""

import dataclasses
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chicago_env import cli

if TYPE_CHECKING:
    from eval.ranking import Ranking

OPPONENTS = ("heuristic:novice", "random")


@dataclasses.dataclass(frozen=True)
class Config:
    """Train an agent for two minutes by self-play, load it as an opponent, and rank it against the first agents."""

    minutes: float = 2.0
    """Minutes of training."""
    boards: int = 1000
    """Boards of single deals for each pair of agents; each is played in both seatings."""
    matches: int = 500
    """Boards of whole matches for each pair of agents."""
    seed: int = 0
    """Seed of training and ranking."""
    threads: int | None = None
    """Threads of the network, by default one for each core."""
    out: Path | None = None
    """Folder for everything; by default runs/demo, or runs/demo-2 and so on where that is taken."""
    json: bool = False
    """Print one line of JSON, and no progress."""


def run(config: Config) -> int:
    """Trains, ranks and prints; exit code 1 if the trained agent does not beat the others clearly."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `chicago train`
    from eval import rank  # noqa: PLC0415 - not needed for --help
    from eval.extras import REPORT, require  # noqa: PLC0415 - as above
    from eval.ranking import prepare  # noqa: PLC0415 - as above
    from train.config import TrainConfig  # noqa: PLC0415 - as above
    from train.progress import ranking_bar, training_bar  # noqa: PLC0415 - as above
    from train.run import train  # noqa: PLC0415 - imports torch

    folder = config.out if config.out is not None else _free_folder()
    training = TrainConfig(name="demo", minutes=config.minutes, seed=config.seed, eval_seconds=45, eval_matches=50)
    opponents = {name: name for name in OPPONENTS}  # specs, so that the report says how to repeat it
    options: Any = {"boards": config.boards, "matches": config.matches, "seed": config.seed, "anchor": "random"}
    prepare(opponents, **options)  # what is wrong is told before two minutes of training, not after
    require(*REPORT)
    with training_bar(hidden=config.json) as on_training:
        result = train(training, folder, threads=config.threads, on_progress=on_training)
    if not result.finished:
        print(f"stopped; go on with: chicago train --resume --out {folder}")
        return cli.INTERRUPTED
    trained = str(result.checkpoint)
    field = {training.name: trained, **opponents}
    with ranking_bar(hidden=config.json) as on_ranking:
        ranking = rank(field, **options, progress=on_ranking)
    report = ranking.write_report(folder / "report")
    beaten = {name: _beats(ranking, training.name, name) for name in OPPONENTS}
    if config.json:
        places = {
            "checkpoint": trained,
            "report": str(report),
            "tensorboard": f"{folder / 'tensorboard'}",
        }
        cli.print_json({"ranking": ranking.to_dict(), "beaten": beaten, "steps": result.steps, **places})
    else:
        print(ranking.text())
        for name in OPPONENTS:
            print(_verdict(ranking, training.name, name, beaten[name]))
        print(f"report      {report}")
        print(f"TensorBoard tensorboard --logdir {folder / 'tensorboard'}")
        print(f'checkpoint  {trained}, to be loaded with agents.load("{trained}")')
    return cli.OK if all(beaten.values()) else cli.FAILED


def _free_folder() -> Path:
    names = itertools.chain(["demo"], (f"demo-{i}" for i in itertools.count(2)))
    return next(path for path in (Path("runs") / name for name in names) if not path.exists())


def _beats(ranking: "Ranking", trained: str, name: str) -> bool:
    """Whether the trained agent wins more points and more matches, both intervals clear of even."""
    pair = ranking.pair(trained, name)
    points, wins = pair.points.low, pair.wins.low
    return points is not None and points > 0 and wins is not None and wins > 0.5


def _verdict(ranking: "Ranking", trained: str, name: str, beaten: bool) -> str:
    pair = ranking.pair(trained, name)
    points, wins = pair.points, pair.wins
    if points.mean is None or wins.mean is None:
        return f"against {name}: nothing was played"
    lost = points.high is not None and points.high < 0 and wins.high is not None and wins.high < 0.5
    verdict = "beaten" if beaten else "loses to it" if lost else "not clear"
    low, high = (limit if limit is not None else float("nan") for limit in (wins.low, wins.high))
    return (
        f"against {name}: {points.mean:+.2f} ± {points.half_width or 0:.2f} points a deal, "
        f"{wins.mean:.1%} of matches won [{low:.1%}, {high:.1%}]: {verdict}"
    )
