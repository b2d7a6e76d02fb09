"""A training run from start, or from where it was interrupted, to its checkpoint."""

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents import load
from agents.base import Agent
from agents.checkpoint import SUFFIX, CheckpointInfo, save_checkpoint
from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet
from chicago_env.errors import CheckpointError, SetupError, UsageError
from chicago_env.files import replacing
from chicago_env.notation import parse_rules
from chicago_env.pool import default_threads
from chicago_env.setup import MAX_DEALS, check_int
from chicago_env.vector import BatchEnv
from eval.equity import ClosedEquity
from eval.ranking import rank
from eval.solved_equity import solve_equity
from train.config import CONFIG, MAX_SEED, STATE, TrainConfig, read_config
from train.deal_reward import DealLog, DealReward
from train.envs import SelfPlayVecEnv
from train.log import run_logger
from train.ppo import SelfPlayPPO, TrainingDiverged
from train.state import load_state, save_state

OPPONENTS = ("random", "heuristic:novice")
"""The fixed opponents of evaluations during a run."""

_SCORES_SPREAD = 52  # start scores of single deals are drawn from 0 … 51, less where the target is lower
_LOGGED_DEALS = 400_000  # the last deals, from which the chance to win is solved
_FOREVER = 1 << 60
_MAX_THREADS = 1024
_OUT_OF_MEMORY = ("allocate memory", "not enough memory", "out of memory", "Storage size calculation overflowed")


class Progress(NamedTuple):
    """Where a run stands.

    Attributes:
        done: share of the budget, 0 to 1.
        steps: decisions so far.
        seconds: seconds of training so far, of all parts of an interrupted run.
        speed: decisions per second in this part.
        note: newest results, in words.
    """

    done: float
    steps: int
    seconds: float
    speed: float
    note: str


class Result(NamedTuple):
    """What a run has made.

    Attributes:
        checkpoint: the file.
        steps: decisions trained on.
        seconds: seconds of training.
        finished: whether the budget was used up; otherwise the run was stopped and can be resumed.
    """

    checkpoint: Path
    steps: int
    seconds: float
    finished: bool


def prepare_folder(folder: Path, config: TrainConfig, *, resume: bool) -> TrainConfig:
    """Makes the folder of a run, writes the configuration into it, or reads the one of the run to be resumed.

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
        with contextlib.suppress(_Tried), replacing(path):
            raise _Tried
    if not resume:
        with replacing(folder / CONFIG) as file:
            file.write((json.dumps(config.to_dict(), indent=2) + "\n").encode())
    return config


class _Tried(Exception):
    """A file could be written; it is left as it was."""


def _compile() -> None:
    """Compiles what a run needs of the engine, before the clock starts."""
    batch = BatchEnv(1, 2)
    batch.step(batch.reset().mask.argmax(axis=1))


def use_bfloat16(config: TrainConfig) -> bool:
    """Whether the hidden layers are computed in bfloat16."""
    if config.precision != "auto":
        return config.precision == "bfloat16"
    return config.device == "cuda" or torch.cpu._is_avx512_bf16_supported()


def network_of(config: TrainConfig) -> NetworkConfig:
    """Shape of the network of a run."""
    return NetworkConfig((parse_rules(config.rules),), (config.players,), config.hidden)


def make_model(config: TrainConfig) -> SelfPlayPPO:
    """The learner of a run, at its start."""
    rules = parse_rules(config.rules)
    single = config.reward != "win"
    batch = BatchEnv(
        config.envs,
        config.players,
        rules,
        config.seed,
        reward="points" if config.reward == "points" else "win",
        start_scores=min(_SCORES_SPREAD, rules.target) if single else 0,
        max_deals=1 if single else MAX_DEALS,
    )
    env = SelfPlayVecEnv(
        batch,
        DealReward(ClosedEquity(rules), DealLog(_LOGGED_DEALS, config.players) if config.equity_rounds else None)
        if config.reward == "equity"
        else None,
        scale=1 / config.points_scale if config.reward == "points" else 1.0,
    )
    return SelfPlayPPO(
        env,
        network_of(config),
        seed=config.seed,
        ent_coef=lambda left: config.entropy_end + (config.entropy - config.entropy_end) * left,
        exploration=config.exploration,
        learning_rate=lambda left: config.learning_rate * left,
        n_steps=config.rollout,
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        vf_coef=config.value_coefficient,
        max_grad_norm=config.max_grad_norm,
        bfloat16=use_bfloat16(config),
        device=config.device,
    )


def begin_with(model: SelfPlayPPO, spec: str) -> None:
    """Puts the weights of a checkpoint into a model.

    Raises:
        UsageError: no checkpoint, or one of another network.
        AgentSpecError: no agent of that name.
        CheckpointError: a damaged file.
    """
    agent = load(spec)
    if not isinstance(agent, NetworkAgent):
        raise UsageError(f"init: {spec!r} is no checkpoint")
    if agent.net.config != model.policy.net.config:
        raise UsageError(f"init: {spec} is a network for other rules, players or layers than this run trains")
    model.policy.net.load_state_dict(agent.net.state_dict())


def source_commit() -> str | None:
    """Commit of the sources, with `+` if they were changed since; None outside a checkout."""
    root = Path(__file__).parent.parent
    if not (root / ".git").exists():
        return None

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def frozen_agent(net: PolicyValueNet, name: str = "agent") -> NetworkAgent:
    """An agent that plays as the network does now, whatever is trained later."""
    copy = PolicyValueNet(net.config)
    copy.load_state_dict({key: tensor.detach().cpu().clone() for key, tensor in net.state_dict().items()})
    return NetworkAgent(copy.requires_grad_(False), name=name)


class _Run(BaseCallback):
    """Keeps time, saves, evaluates and stops, always between an update and the next rollout."""

    model: SelfPlayPPO

    def __init__(self, config: TrainConfig, folder: Path, on_progress: Callable[[Progress], None] | None) -> None:
        super().__init__()
        self.config, self.folder, self.on_progress = config, folder, on_progress
        self.before = 0.0  # seconds of earlier parts of this run
        self.first_steps = 0
        self.paused = 0.0  # seconds of evaluations and savings in this part: not training
        self.evaluations = 0
        self.rounds = 0  # times that the chance to win was solved
        self.note = ""
        self.interrupted = False
        self.minutes, self.steps = config.budget
        self.source = source_commit()
        self._started = self._saved = self._evaluated = time.monotonic()

    def start(self, about: dict[str, Any], steps: int) -> None:
        """Takes up what earlier parts of the run left.

        Raises:
            CheckpointError: the run was of another configuration, or what is said about it makes no sense.
        """
        path, standard = self.folder / STATE, TrainConfig().to_dict()
        if about:
            saved = about.get("config")
            if not isinstance(saved, dict):
                raise CheckpointError(path, "does not say of which configuration it is")
            ours = self.config.to_dict()
            for name in (*ours, *saved):
                was = saved.get(name, standard.get(name))  # a field that is newer than the run
                if name not in ours or ours[name] != was:
                    now = ours.get(name, "unknown")
                    raise CheckpointError(
                        path, f"of another configuration: {name} was {was!r}; in {CONFIG} it is {now!r}"
                    )
        try:
            seconds = about.get("seconds", 0.0)
            if type(seconds) not in (int, float) or not 0 <= seconds <= _FOREVER:
                raise SetupError(f"seconds: {seconds!r} is no time")
            self.before = float(seconds)
            self.evaluations = check_int("evaluations", about.get("evaluations", 0), 0, MAX_SEED)
            self.rounds = check_int("equity_rounds", about.get("equity_rounds", 0), 0, self.config.equity_rounds)
        except SetupError as error:
            raise CheckpointError(path, f"damaged: {error}") from None
        self.first_steps = steps
        self._started = self._saved = self._evaluated = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds of training so far."""
        return self.before + time.monotonic() - self._started - self.paused

    def remaining(self) -> float:
        """What is left of the budget, 1 to 0."""
        if self.minutes is not None:
            used = self.seconds / (60 * self.minutes) if self.minutes > 0 else 1.0
        else:
            assert self.steps is not None
            used = self.model.num_timesteps / self.steps
        return min(1.0, max(0.0, 1.0 - used))

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        left = self.remaining()
        if self.interrupted or left <= 0:
            self.model.stop = True
        self.solve(left)
        now = time.monotonic()
        if self.model.stop or now - self._saved >= self.config.save_seconds:
            self.save()
        if self.config.eval_matches and now - self._evaluated >= self.config.eval_seconds and not self.model.stop:
            self.evaluate()
        self.paused += time.monotonic() - now
        self.report(left)

    def _on_rollout_end(self) -> None:
        self.logger.record("time/decisions_per_second", self.speed)
        self.logger.record("time/seconds", self.seconds)
        self.logger.record("time/remaining", self.remaining())

    @property
    def speed(self) -> float:
        """Decisions per second in this part of the run."""
        return (self.model.num_timesteps - self.first_steps) / max(1e-9, self.seconds - self.before)

    def report(self, left: float) -> None:
        """Says where the run stands."""
        if self.on_progress is not None:
            self.on_progress(Progress(1 - left, self.model.num_timesteps, self.seconds, self.speed, self.note))

    def solve(self, left: float) -> None:
        """Solves the chance to win from the run's own deals where it is time, which counts as training."""
        rounds, reward = self.config.equity_rounds, self.model.env.reward
        due = min(rounds, int((1 - left) * (rounds + 1)))
        if reward is None or reward.log is None or due <= self.rounds or not len(reward.log):
            return
        target = parse_rules(self.config.rules).target
        reward.use(
            self.model.env.batch, solve_equity(reward.log.deals(), ClosedEquity(parse_rules(self.config.rules)), target)
        )
        self.rounds = due

    def save(self) -> None:
        """Writes checkpoint and state."""
        about = {
            "config": self.config.to_dict(),
            "seconds": self.seconds,
            "evaluations": self.evaluations,
            "equity_rounds": self.rounds,
        }
        self.write_checkpoint()
        save_state(self.folder / STATE, self.model, about)
        self._saved = time.monotonic()

    def write_checkpoint(self) -> None:
        """Writes the checkpoint."""
        info = CheckpointInfo(
            network=self.model.policy.net.config,
            training={"algorithm": "self-play PPO", **self.config.to_dict()},
            steps=self.model.num_timesteps,
            seconds=round(self.seconds, 1),
            seed=self.config.seed,
            parent=self.config.init,
            source=self.source,
        )
        save_checkpoint(checkpoint_path(self.folder, self.config), self.model.policy.net, info)

    def evaluate(self) -> None:
        """Plays mirrored matches against the fixed opponents."""
        agent = frozen_agent(self.model.policy.net)
        notes = []
        for name in OPPONENTS:
            field: dict[str, Agent] = {"agent": agent, name: load(name)}
            result = rank(
                field,
                players=self.config.players,
                rules=self.config.rules,
                boards=0,
                matches=self.config.eval_matches,
                seed=self.config.seed + self.evaluations,
            )
            wins = result.pairs[0].wins
            short = name.rpartition(":")[2]
            for what, value in (("", wins.mean), ("_low", wins.low), ("_high", wins.high)):
                if value is not None:
                    self.logger.record(f"eval/wins_{short}{what}", value)
            if wins.mean is not None:
                notes.append(f"{100 * wins.mean:.0f} % against {short}")
        self.note = ", ".join(notes)
        self.evaluations += 1
        self._evaluated = time.monotonic()


def checkpoint_path(folder: Path, config: TrainConfig) -> Path:
    """The checkpoint that a run in `folder` writes."""
    return folder / f"{config.name}{SUFFIX}"


@contextlib.contextmanager
def _stopping(run: _Run) -> Iterator[None]:
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
    _compile()
    model = make_model(config)
    run = _Run(config, folder, on_progress)
    run.init_callback(model)
    if config.init is not None and not resume:
        begin_with(model, config.init)
    about = load_state(folder / STATE, model) if resume else {}
    run.start(about, model.num_timesteps)
    logger = run_logger(folder, model.num_timesteps)
    model.set_logger(logger)
    model.budget = run.remaining
    try:
        with _stopping(run):
            model.learn(_FOREVER, callback=run, reset_num_timesteps=not resume)
    except TrainingDiverged as error:
        note = f"{error}. The state before is kept in {folder / STATE}" if (folder / STATE).exists() else str(error)
        raise TrainingDiverged(note) from error
    else:
        finished = run.remaining() <= 0
        if finished and config.eval_matches and model.num_timesteps > run.first_steps:
            run.evaluate()
            logger.dump(model.num_timesteps)
            run.report(0.0)
    finally:
        logger.close()
    return Result(checkpoint_path(folder, config), model.num_timesteps, run.seconds, finished)
