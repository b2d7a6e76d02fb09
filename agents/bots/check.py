"""Finds out what a bot does wrong (`chicago bot-check`): it is asked every kind of question under every preset, at 2-6
players, one by one and slowly, and many at once.
"""

import itertools
import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.bots import messages
from agents.bots.agent import WINDOW, Match, Runner
from agents.bots.limits import Limits
from agents.bots.logs import last_lines, log_file, tidy
from agents.bots.process import BotFailure, BotProcess, resolve_command
from agents.bots.situations import PLAYERS, RULES, PlayedMatch, Situation, situations
from chicago_env.view import PHASES, decode

MOST_FAILURES = 20
"""Failures after which no more is asked."""

MOST_OF_A_CHECK = 8
"""Failures after which a check is left for the next one."""

MOST_TIMEOUTS = 3
"""Timeouts after which no more is asked: each takes as long as the clocks allow."""

_SAME = re.compile(r"\d+(\.\d+)?|'[^']*'")
_PIECES = 3
_PAUSE_SECONDS = 0.002
_QUIT_SECONDS = 1.0
_SLOW = 60
_TURN = re.compile(rb'\{"type":"act","turn":(\d+),')


class Failure(NamedTuple):
    """Something a bot did wrong, the first time.

    Attributes:
        checks: how often each check showed a mistake of this kind, by name; the first is the one that showed this.
        status: `ERROR`, `INVALID` or `TIMEOUT`.
        reason: what is wrong.
        message: the message to the bot that showed it, a JSON object; None where there is none.
        line: what the bot wrote, printable and cut.
        stderr: the last lines that the bot wrote to standard error before it ended.
    """

    checks: dict[str, int]
    status: str
    reason: str
    message: dict[str, Any] | None
    line: str
    stderr: list[str]

    @property
    def check(self) -> str:
        """The check that showed it."""
        return next(iter(self.checks))

    @property
    def times(self) -> int:
        """How often a mistake of this kind was made."""
        return sum(self.checks.values())

    @property
    def kind(self) -> tuple[str, str]:
        """What mistakes of one kind share: status, and the reason but for numbers and what is quoted."""
        return self.status, _SAME.sub("", self.reason.partition(";")[0])


class Report(NamedTuple):
    """What came out.

    Attributes:
        command: program and arguments.
        name: what the bot calls itself; None if it does not say.
        version: the same.
        asked: questions of each check, by name.
        kinds: questions of each kind of decision.
        failures: what it did wrong, the first of each kind.
        unchecked: what was not checked because of failures, in words.
        notes: what is no fault, but worth knowing.
        decisions_per_second: with many questions at once, the harness's share included; None if it did not get there.
        slowest_seconds: the slowest answer.
        log: file with its standard error.
    """

    command: list[str]
    name: str | None
    version: str | None
    asked: dict[str, int]
    kinds: dict[str, int]
    failures: list[Failure]
    unchecked: list[str]
    notes: list[str]
    decisions_per_second: float | None
    slowest_seconds: float
    log: str

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.failures

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {"ok": self.ok, **self._asdict(), "failures": [failure._asdict() for failure in self.failures]}


class _SlowProcess(BotProcess):
    """Sends every line in pieces, with pauses: a bot must wait for the end of a line."""

    def send(self, line: bytes, *, later: bool = False) -> None:
        size = max(1, -(-len(line) // _PIECES))
        for at in range(0, len(line), size):
            super().send(line[at : at + size])
            time.sleep(_PAUSE_SECONDS)


class _SlowRunner(Runner):
    """One question at a time, in pieces."""

    make = _SlowProcess


class Checker:
    """Runs the checks, one after the other."""

    def __init__(self, words: Sequence[str], limits: Limits, log: str | None, on_check: Callable[[str], None]) -> None:
        """Takes the command and what the bot may use; `on_check` is told the name of each check as it begins.

        Raises:
            FileNotFoundError: no such program.
        """
        self.argv = resolve_command(words)
        self.log = log_file(words[0], log)
        self.limits = limits
        self.on_check = on_check
        self.check = ""
        self.asked: dict[str, int] = {}
        self.kinds = dict.fromkeys(PHASES, 0)
        self.failures: list[Failure] = []
        self.unchecked: list[str] = []
        self.notes: list[str] = []
        self.slowest = 0.0
        self.speed: float | None = None
        self.hello: messages.BotHello | None = None
        self._questions: dict[int, bytes] = {}
        self._times: dict[int, float] = {}

    def run(self) -> Report:
        """All of it; after `MOST_FAILURES` failures or `MOST_TIMEOUTS` timeouts no more is asked."""
        many = [s for rules in RULES for players in PLAYERS for s in situations(rules, players)]
        few = many[:: max(1, len(many) // _SLOW)]
        first: list[tuple[Situation, Any]] = []
        checks: list[tuple[str, Callable[[], object]]] = [
            ("hello", self._hello),
            ("slow: one question at a time, in pieces", lambda: first.extend(self._situations(few, 1, slow=True))),
            ("every kind of decision", lambda: self._situations(many, 1)),
            ("the same, many at once", lambda: self._many(many)),
            ("the same questions again", lambda: self._repeats(first)),
            ("matches side by side", self._matches),
            ("started anew in the middle of matches", self._resumed),
            ("the end", self._ends),
        ]
        for name, check in checks:
            if self._enough() or ("again" in name and self.failures):
                self.unchecked.append(name)
                continue
            self.check = name
            self.asked[name] = 0
            self.on_check(name)
            check()
        tidy(self.log)
        hello = self.hello
        return Report(
            self.argv,
            hello.name if hello else None,
            hello.version if hello else None,
            self.asked,
            self.kinds,
            self.failures,
            self.unchecked,
            self.notes,
            self.speed,
            self.slowest,
            str(self.log) if self.log.exists() else "",
        )

    def _left(self) -> int:
        """Failures after which this check ends."""
        here = sum(failure.checks.get(self.check, 0) for failure in self.failures)
        return min(MOST_FAILURES - sum(failure.times for failure in self.failures), MOST_OF_A_CHECK - here)

    def _timeouts_left(self) -> int:
        return MOST_TIMEOUTS - sum(failure.times for failure in self.failures if failure.status == "TIMEOUT")

    def _enough(self) -> bool:
        """No further check begins."""
        failed = sum(failure.times for failure in self.failures)
        return failed >= MOST_FAILURES or self._timeouts_left() <= 0 or (failed > 0 and self.hello is None)

    def _over(self) -> bool:
        """This check asks no more."""
        return self._left() <= 0 or self._timeouts_left() <= 0

    def _runner(self, window: int, *, slow: bool = False) -> Runner:
        self._questions.clear()
        return (_SlowRunner if slow else Runner)(self.argv, self.limits, self.log, self._listen, window)

    def _listen(self, way: str, line: bytes) -> None:
        if way == ">" and (found := _TURN.match(line)):
            turn = int(found.group(1))
            self._questions[turn] = line
            self._questions.pop(turn - 4 * WINDOW, None)

    def _failed(self, failure: BotFailure, message: bytes | None = None) -> None:
        if failure.turn is not None:
            message = self._questions.get(failure.turn, message)
        shown = None if message is None else json.loads(message)
        stderr = list(failure.stderr)
        found = Failure({self.check: 1}, failure.status, failure.reason, shown, failure.line, stderr)
        known = next((known for known in self.failures if known.kind == found.kind), None)
        if known is None:
            self.failures.append(found)
        else:
            known.checks[self.check] = known.checks.get(self.check, 0) + 1

    def _ask(self, runner: Runner, matches: list[Match], asked: list[Situation]) -> list[int | BotFailure | None]:
        """Answers; failures are written down."""
        marks = [time.perf_counter()]
        answers = runner.ask(
            matches,
            np.array([s.observation for s in asked]),
            np.array([s.mask for s in asked]),
            self._left(),
            lambda _: marks.append(time.perf_counter()),
            self._timeouts_left(),
        )
        for situation, answer in zip(asked, answers, strict=True):
            if answer is None:
                continue
            self.asked[self.check] += 1
            self.kinds[situation.kind] += 1
            if isinstance(answer, BotFailure):
                self._failed(answer)
        if left := answers.count(None):
            self.unchecked.append(f"{self.check}: {left} of {len(asked)} questions")
        self.slowest = max([self.slowest, *(b - a for a, b in itertools.pairwise(marks))])
        return answers

    # --- the checks --------------------------------------------------------------------------------------------------

    def _hello(self) -> None:
        runner = self._runner(WINDOW)
        try:
            runner.running()
        except BotFailure as failure:
            runner.kill()
            failure.stderr = last_lines(self.log, runner.log_from)
            self._failed(failure, messages.encode(messages.hello(self.limits)))
        finally:
            self.hello = runner.hello
            runner.kill()

    def _situations(self, asked: list[Situation], window: int, *, slow: bool = False) -> list[tuple[Situation, Any]]:
        """Each situation as a match that is told of in its middle."""
        runner = self._runner(window, slow=slow)
        matches = [self._match_of(runner, situation) for situation in asked]
        answers = self._ask(runner, matches, asked)
        runner.close()
        return list(zip(asked, answers, strict=True))

    def _many(self, asked: list[Situation]) -> None:
        """As many at once as are ever asked; measures the speed."""
        started = time.perf_counter()
        self._situations(asked, WINDOW)
        if not self.failures:
            self.speed = len(asked) / (time.perf_counter() - started)

    def _match_of(self, runner: Runner, situation: Situation) -> Match:
        view = decode(situation.observation)
        match = runner.new_match(0, view.rules, view.scores, view.deal + view.deals_left + 1, 1)
        match.fresh = False
        return match

    def _repeats(self, before: list[tuple[Situation, Any]]) -> None:
        """Whether the same questions get the same answers: results can be repeated then."""
        runner = self._runner(WINDOW)
        asked = [situation for situation, _ in before]
        answers = self._ask(runner, [self._match_of(runner, s) for s in asked], asked)
        runner.close()
        different = sum(new != old for new, (_, old) in zip(answers, before, strict=True))
        if different:
            self.notes.append(
                f"{different} of {len(asked)} answers were different when the same was asked again with the same seed: "
                "results cannot be repeated"
            )

    def _matches(self) -> None:
        """Whole matches side by side, with all events; the bot has two seats where there is room."""
        runner = self._runner(WINDOW)
        games = [PlayedMatch(runner, rules, players) for rules in RULES for players in PLAYERS]
        while games and not self._over():
            asked = [(game, game.situation()) for game in games]
            answers = self._ask(runner, [game.match() for game, _ in asked], [situation for _, situation in asked])
            for (game, _), answer in zip(asked, answers, strict=True):
                if isinstance(answer, int):
                    game.step(answer)
                elif answer is not None:
                    game.over = True
            games = [game for game in games if not game.over]
        runner.close()

    def _resumed(self) -> None:
        """A bot that is started anew in the middle of matches is told so, and has to go on."""
        runner = self._runner(WINDOW)
        games = [PlayedMatch(runner, rules, 3) for rules in RULES]
        for _ in range(6):
            games = [game for game in games if not game.over]
            asked = [game.situation() for game in games]
            if not asked or self._over():
                break
            for game, answer in zip(games, self._ask(runner, [g.match() for g in games], asked), strict=True):
                if isinstance(answer, int):
                    game.step(answer)
                elif answer is not None:
                    game.over = True
            runner.kill()
        runner.close()

    def _ends(self) -> None:
        """`quit` ends a bot, and so does the end of its input."""
        for what in ("quit", "the end of its input"):
            runner = self._runner(WINDOW)
            try:
                process = runner.running()
                quit_line = messages.encode(messages.QUIT)
                if what == "quit":
                    runner.send(quit_line)
                else:
                    process.close_input()
                process.read_line(time.monotonic() + _QUIT_SECONDS)
            except BotFailure as failure:
                if failure.status == "TIMEOUT":
                    reason = f"it has not ended {_QUIT_SECONDS:g} s after {what}"
                    self._failed(BotFailure("TIMEOUT", reason), quit_line if what == "quit" else None)
                elif "exit code 0" not in failure.reason:
                    self._failed(BotFailure(failure.status, f"after {what}: {failure.reason}"), quit_line)
            else:
                self._failed(BotFailure("INVALID", f"it wrote something after {what}"), quit_line)
            finally:
                runner.kill()


def check_bot(
    words: Sequence[str],
    limits: Limits | None = None,
    *,
    log: str | None = None,
    on_check: Callable[[str], None] = lambda _: None,
) -> Report:
    """Checks a bot.

    Args:
        words: program and arguments.
        limits: what it may use.
        log: file for its standard error.
        on_check: is told the name of each check as it begins.

    Raises:
        FileNotFoundError: no such program.
    """
    return Checker(words, Limits() if limits is None else limits, log, on_check).run()
