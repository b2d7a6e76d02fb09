"""A training run from start, or from where it was interrupted, to its checkpoint."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

from chicago_env.errors import CheckpointError, SetupError, UsageError
from chicago_env.files import check_writable, replacing
from chicago_env.pool import default_threads
from train import past
from train.build import begin_with, compile_for, make_model
from train.callback import Progress, RunCallback, checkpoint_path, snapshots_in
from train.config import CONFIG, STATE, TrainConfig, read_config
from train.log import run_logger
from train.ppo import SelfPlayPPO, TrainingDiverged
from train.state import load_state, read_about

_FOREVER = 1 << 60
_MAX_THREADS = 1024
_OUT_OF_MEMORY = ("allocate memory", "not enough memory", "out of memory", "Storage size calculation overflowed")


class Result(NamedTuple):
    """What a run has made.

    Attributes:
        checkpoint: the file.
        steps: decisions trained on.
        resumed_at: decisions that it had been trained on before this call; 0 unless it was resumed.
        seconds: seconds of training.
        finished: whether the budget was used up and the last evaluation made; otherwise the run was stopped and can be
            resumed.
    """

    checkpoint: Path
    steps: int
    resumed_at: int
    seconds: float
    finished: bool


def prepare_folder(folder: Path, config: TrainConfig, *, resume: bool) -> TrainConfig:
    """Makes the folder of a run; gives its configuration, or the one of the run to be resumed.

    Raises:
        UsageError: there is a run already, or none to resume, or it has another configuration, or this machine has not
            the device.
        OSError: the folder cannot be written.
    """
    if resume:
        if not (folder / STATE).exists():
            raise UsageError(f"{folder}: no run to resume there (no {STATE})")
        saved, standard = read_config(folder / CONFIG).to_dict(), TrainConfig().to_dict()
        for name, value in config.to_dict().items():
            if value not in (saved[name], standard[name]):
                raise UsageError(f"a run is resumed as it began: {name} is {saved[name]} there, not {value}")
        config = TrainConfig.from_dict(saved)
    elif (folder / STATE).exists():
        raise UsageError(f"{folder} holds a run already; resume it, or give another folder")
    if config.device == "cuda" and not torch.cuda.is_available():
        raise UsageError("device: cuda is not available here")
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / STATE, checkpoint_path(folder, config)):
        check_writable(path)
    return config


def add_snapshots(model: SelfPlayPPO, folder: Path, config: TrainConfig) -> None:
    """Seats the snapshots of a run that is to be resumed.

    Raises:
        CheckpointError: state or a snapshot is damaged or missing.
    """
    if model.guests is None:
        return
    try:
        numbers = snapshots_in(read_about(folder / STATE), config)
    except SetupError as error:
        raise CheckpointError(folder / STATE, f"damaged: {error}") from None
    model.guests.agents += [past.load_snapshot(folder, number) for number in numbers]


@contextlib.contextmanager
def _stopping(run: RunCallback) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM lets the update in progress end; a second Ctrl-C breaks it off."""
    old: dict[int, Any] = {}

    def stop(number: int, frame: object) -> None:
        run.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            old[number] = signal.signal(number, stop)
    except ValueError:  # not in the main thread, where signals are none of ours
        pass
    try:
        yield
    finally:
        for caught, handler in old.items():
            signal.signal(caught, handler)


@contextlib.contextmanager
def _memory() -> Iterator[None]:
    """Says what to do where memory does not suffice.

    Raises:
        UsageError: in place of the errors of numpy and torch.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:  # torch has no class of its own for it, away from a GPU
        if isinstance(error, RuntimeError) and not any(words in str(error) for words in _OUT_OF_MEMORY):
            raise
        raise UsageError(
            "the memory does not suffice for this run; fewer envs, a shorter rollout or smaller layers need less"
        ) from error


@_memory()
def train(
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Trains, and writes `NAME.safetensors`, `config.json`, `log.jsonl`, TensorBoard files and the state of the run.

    Args:
        config: what to train; with `resume` only what differs from the defaults counts, and must agree with the run.
        folder: folder of the run; made if it is not there.
        resume: go on with the run in `folder`.
        threads: threads of torch; by default one for each core this process may use.
        on_progress: called after every update.

    Raises:
        UsageError: a configuration that is impossible or does not fit folder, device or memory.
        CheckpointError: the saved state is damaged, or of another configuration.
        TrainingDiverged: a weight is no longer finite; the state of the last saving is kept.
        OSError: the folder cannot be written.
    """
    if threads is not None and (type(threads) is not int or not 1 <= threads <= _MAX_THREADS):
        raise UsageError(f"threads: {threads!r} is no whole number from 1 to {_MAX_THREADS}")
    config = prepare_folder(folder, config, resume=resume)
    torch.set_num_threads(default_threads() if threads is None else threads)
    model = make_model(config)
    compile_for(model)
    run = RunCallback(config, folder, on_progress)
    run.init_callback(model)
    if config.init is not None and not resume:
        begin_with(model, config.init)
    about: dict[str, Any] = {}
    if resume:
        add_snapshots(model, folder, config)
        about = load_state(folder / STATE, model)
    else:
        with replacing(folder / CONFIG) as file:
            file.write((json.dumps(config.to_dict(), indent=2) + "\n").encode())
    run.start(about, model.num_timesteps)
    logger = run_logger(folder, model.num_timesteps)
    model.set_logger(logger)
    model.budget = run.remaining
    try:
        with _stopping(run):
            model.learn(_FOREVER, callback=run, reset_num_timesteps=not resume)
            finished = run.remaining() <= 0
            if finished and run.evaluation_due:
                finished = run.evaluate()
                if finished:
                    logger.dump(model.num_timesteps)
                    run.save()  # so that a resumed run knows that it was evaluated
                run.report(0.0)
    except TrainingDiverged as error:
        note = f"{error}. The state before is kept in {folder / STATE}" if (folder / STATE).exists() else str(error)
        raise TrainingDiverged(note) from error
    finally:
        logger.close()
    return Result(checkpoint_path(folder, config), model.num_timesteps, run.first_steps, run.seconds, finished)
