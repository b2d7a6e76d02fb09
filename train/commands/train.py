"""`chicago train`."""

import dataclasses
import os
from pathlib import Path

from chicago_env import cli
from train.config import TrainConfig


@dataclasses.dataclass(frozen=True)
class Config(TrainConfig):
    """Train an agent by self-play. Ctrl-C saves and stops; --resume goes on."""

    out: Path | None = None
    """Folder of the run, by default runs/NAME."""
    resume: bool = False
    """Go on with the run in the folder; what it learns is as it began."""
    threads: int | None = None
    """Threads of the network, by default one for each core."""
    json: bool = False
    """Print the result as one line of JSON, and no progress."""


_OWN = ("out", "resume", "threads", "json")


def run(config: Config) -> int:
    """Trains; exit code 130 if the run was stopped before its end."""
    # Threads of torch that wait by spinning slow each other down where something else runs too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from train.progress import training_bar  # noqa: PLC0415 - not needed for --help
    from train.run import train  # noqa: PLC0415 - imports torch

    folder = config.out if config.out is not None else Path("runs") / config.name
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(TrainConfig)}
    with training_bar(hidden=config.json) as on_progress:
        result = train(
            TrainConfig(**values), folder, resume=config.resume, threads=config.threads, on_progress=on_progress
        )
    if config.json:
        cli.print_json({**result._asdict(), "checkpoint": str(result.checkpoint)})
    else:
        print(f"checkpoint  {result.checkpoint}")
        print(f"TensorBoard tensorboard --logdir {folder / 'tensorboard'}")
        took = f"{result.seconds / 60:.1f} minutes" if result.seconds >= 120 else f"{result.seconds:.0f} seconds"
        print(f"trained on  {result.steps:,} decisions in {took}")
        if config.resume and result.finished and result.steps == result.resumed_at:
            print("the run was at its end already: nothing was trained")
        if not result.finished:
            print(f"stopped; go on with: chicago train --resume --out {folder}")
    return cli.OK if result.finished else cli.INTERRUPTED
