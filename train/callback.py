"""What happens between the updates of a run: saving, evaluating, solving the chance to win, keeping snapshots, stopping."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stable_baselines3.common.callbacks import BaseCallback

from agents import load
from agents.base import Agent
from agents.checkpoint import SUFFIX, CheckpointInfo, save_checkpoint
from agents.networks import NetworkAgent
from chicago_env.errors import CheckpointError, SetupError
from chicago_env.notation import parse_rules
from chicago_env.setup import check_int
from eval.equity import MatchEquity
from eval.ranking import rank
from eval.solved_equity import solve_equity
from eval.stats import Estimate
from train import past
from train.config import CONFIG, MAX_SEED, STATE, TrainConfig
from train.ppo import SelfPlayPPO
from train.state import save_state

_FOREVER = 1 << 60
_NOTES = 3  # results beside the progress bar


def snapshots_in(about: dict[str, Any], config: TrainConfig) -> list[int]:
    """Numbers of the snapshots that a saved state says the run has.

    Raises:
        SetupError: it says what cannot be.
    """
    numbers = about.get("snapshots", [])
    if not isinstance(numbers, list):
        raise SetupError(f"snapshots: {numbers!r} is no list")
    found = [check_int("snapshots", number, 1, config.past_snapshots) for number in numbers]
    if found != sorted(set(found)):
        raise SetupError(f"snapshots: {found} are not in order")
    return found


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


def checkpoint_path(folder: Path, config: TrainConfig) -> Path:
    """The checkpoint that a run in `folder` writes."""
    return folder / f"{config.name}{SUFFIX}"


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


def _short(name: str) -> str:
    """What results call an opponent."""
    return name.rpartition(":")[2]


class RunCallback(BaseCallback):
    """Keeps time, saves, evaluates and stops, always between an update and the next rollout."""

    model: SelfPlayPPO

    def __init__(self, config: TrainConfig, folder: Path, on_progress: Callable[[Progress], None] | None) -> None:
        super().__init__()
        self.config, self.folder, self.on_progress = config, folder, on_progress
        self.before = 0.0  # seconds of earlier parts of this run
        self.first_steps = 0
        self.paused = 0.0  # seconds of evaluations and savings in this part: not training
        self.evaluations = 0
        self.evaluated_at = -1  # decisions at the last evaluation
        self.rounds = 0  # times that the chance to win was solved
        self.snapshots: list[int] = []  # of the past, by number
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
            self.evaluated_at = check_int("evaluated_at", about.get("evaluated_at", -1), -1, _FOREVER)
            self.rounds = check_int("equity_rounds", about.get("equity_rounds", 0), 0, self.config.equity_rounds)
            self.snapshots = snapshots_in(about, self.config)
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
        with self._pausing():
            if self.keep_snapshot(left) or self.model.stop or now - self._saved >= self.config.save_seconds:
                self.save()
        if self.config.eval_matches and now - self._evaluated >= self.config.eval_seconds and not self.model.stop:
            self.evaluate()
        self.report(left)

    @contextlib.contextmanager
    def _pausing(self) -> Iterator[None]:
        """What is done meanwhile does not count as training."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.paused += time.monotonic() - began

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
        if reward is None or not reward.logs or due <= self.rounds:
            return
        for kind, (log, (_, text)) in enumerate(zip(reward.logs, self.config.games, strict=True)):
            if len(log):
                rules = parse_rules(text)
                reward.use(self.model.env.batch, kind, solve_equity(log.deals(), MatchEquity(rules), rules.target))
        self.rounds = due

    def keep_snapshot(self, left: float) -> bool:
        """Keeps a snapshot of the past where it is time, and says whether it did."""
        due = min(self.config.past_snapshots, int((1 - left) * (self.config.past_snapshots + 1)))
        guests = self.model.guests
        if guests is None or not self.config.past_share or due <= max(self.snapshots, default=0):
            return False
        guests.agents.append(past.keep(self.folder, due, self.model.play_net(), self.info()))
        self.snapshots.append(due)
        return True

    def save(self) -> None:
        """Writes checkpoint and state."""
        about = {
            "config": self.config.to_dict(),
            "seconds": self.seconds,
            "evaluations": self.evaluations,
            "evaluated_at": self.evaluated_at,
            "equity_rounds": self.rounds,
            "snapshots": self.snapshots,
        }
        save_checkpoint(checkpoint_path(self.folder, self.config), self.model.play_net(), self.info())
        save_state(self.folder / STATE, self.model, about)
        self._saved = time.monotonic()

    def info(self) -> CheckpointInfo:
        """What a checkpoint written now says about itself."""
        return CheckpointInfo(
            network=self.model.policy.net.config,
            training={"algorithm": "self-play PPO", **self.config.to_dict()},
            steps=self.model.num_timesteps,
            seconds=round(self.seconds, 1),
            seed=self.config.seed,
            parent=self.config.init,
            source=self.source,
        )

    @property
    def evaluation_due(self) -> bool:
        """Whether a run at its end was not evaluated there yet."""
        return bool(self.config.eval_matches) and self.evaluated_at != self.model.num_timesteps

    def evaluate(self) -> bool:
        """Plays mirrored matches against the fixed opponents and the run's own past, in every kind of game.

        Returns:
            Whether it came to its end; otherwise the run is to be stopped, and nothing is logged.
        """
        left, before = self.remaining(), self.note
        self.note = "evaluating" + (f" (before: {before})" if before else "")
        self.report(left)
        with self._pausing():
            results = self._results()
        if results is None:
            self.note = before
            return False
        for name, value in results.items():
            self.logger.record(f"eval/{name}", value)
        self.note = self._in_words(results)
        self.evaluations += 1
        self.evaluated_at = self.model.num_timesteps
        self._evaluated = time.monotonic()
        return True

    def _results(self) -> dict[str, float] | None:
        """What an evaluation logs, by name; None if the run is to be stopped meanwhile."""
        agent = NetworkAgent(self.model.play_net(), name="agent")
        past_agents = [] if not self.snapshots or self.model.guests is None else self.model.guests.agents
        found: dict[str, float] = {}
        for players, rules in self.config.games:
            kind = self._kind(players, rules)
            for name in self.config.eval_opponents:
                if self.interrupted:
                    return None
                wins = self._match(agent, load(name), players, rules)
                for what, value in (("", wins.mean), ("_low", wins.low), ("_high", wins.high)):
                    if value is not None:
                        found[f"wins_{_short(name)}{kind}{what}"] = value
            against = []
            for each in past_agents:
                if self.interrupted:
                    return None
                mean = self._match(agent, each, players, rules).mean
                against.append(0.5 if mean is None else mean)
            if against:
                found[f"wins_past_min{kind}"] = min(against)
        return found

    def _kind(self, players: int, rules: str) -> str:
        """What the name of a result of a kind of game ends with: nothing where there is one kind alone."""
        return "" if len(self.config.games) == 1 else f"_{players}_{rules}"

    def _in_words(self, results: dict[str, float]) -> str:
        """The results against the first fixed opponents, of several kinds of games the lowest and the highest."""
        notes = []
        for name in self.config.eval_opponents[:_NOTES]:
            keys = (f"wins_{_short(name)}{self._kind(*game)}" for game in self.config.games)
            wins = [f"{100 * results[key]:.0f}" for key in keys if key in results]
            if wins:
                low, high = min(wins, key=int), max(wins, key=int)
                notes.append(f"{low if low == high else f'{low} to {high}'} % against {_short(name)}")
        return ", ".join(notes)

    def _match(self, agent: Agent, opponent: Agent, players: int, rules: str) -> Estimate:
        """Match wins of the agent."""
        result = rank(
            {"agent": agent, "opponent": opponent},
            players=players,
            rules=rules,
            boards=0,
            matches=self.config.eval_matches,
            seed=self.config.seed + self.evaluations,
        )
        return result.pairs[0].wins
