"""The agent `exec:COMMAND`: a program that plays."""

import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Actions, AgentError, Masks, Observations, Rng, Table
from agents.bots import messages
from agents.bots.events import Event
from agents.bots.limits import Limits
from agents.bots.logs import begin, last_lines, log_file, tidy, written
from agents.bots.messages import BotHello
from agents.bots.process import BotFailure, BotProcess, resolve_command
from chicago_env.errors import SetupError
from chicago_env.rules import Rules
from chicago_env.setup import MatchSetup
from chicago_env.view import View, decode

WINDOW = 64
"""Questions that a bot is sent before it has answered them."""

_TOGETHER = 8
"""Questions written at once when the bot has others to answer: fewer system calls, fewer wake-ups."""


class Match:
    """A match as the bot sees it.

    Attributes:
        game: its number for the bot.
        bank: seconds left.
        events: what the bot has not been told yet.
        told: the run of the bot that has been told of the match, 0 for none.
        fresh: nothing has been told of it to any run.
    """

    __slots__ = ("bank", "events", "fresh", "game", "max_deals", "rules", "scores", "seat", "seed", "told")

    def __init__(
        self, game: int, seat: int, rules: Rules, scores: Sequence[int], max_deals: int, seed: int, bank: float
    ) -> None:
        self.game = game
        self.seat = seat
        self.rules = rules
        self.scores = scores
        self.max_deals = max_deals
        self.seed = seed
        self.bank = bank
        self.events: list[Event] = []
        self.told = 0
        self.fresh = True


class Runner:
    """The process of a bot, started when it is needed and again after each fault."""

    make = BotProcess

    def __init__(
        self, argv: Sequence[str], limits: Limits, log: Path, listener: "Listener | None", window: int = WINDOW
    ) -> None:
        self.window = window
        self.argv = argv
        self.limits = limits
        self.log = log
        self.listener = listener
        self.process: BotProcess | None = None
        self.hello: BotHello | None = None
        self.log_from = 0  # where in the log this run of the bot begins
        self.runs = 0
        self.games = 0
        self.turns = 0

    def running(self) -> BotProcess:
        """The process, after its hello.

        Raises:
            BotFailure: it does not start as it should.
        """
        if self.process is not None and not self.process.foreign:
            return self.process
        self.runs += 1
        begin(self.log)
        self.log_from = written(self.log)
        try:
            process = self.process = self.make(self.argv, self.limits, self.log)
        except OSError as error:
            raise BotFailure("ERROR", f"the program cannot be run: {error.strerror}") from error
        self.send(messages.encode(messages.hello(self.limits)))
        line, _ = process.read_line(
            time.monotonic() + self.limits.start, f"hello within {self.limits.start:g} s (start)"
        )
        self.heard(line)
        self.hello = messages.parse_hello(line)
        return process

    def send(self, line: bytes, *, later: bool = False) -> None:
        """Sends a line to the running process, see `BotProcess.send`."""
        assert self.process is not None
        if self.listener is not None:
            self.listener(">", line)
        self.process.send(line, later=later)

    def heard(self, line: bytes) -> None:
        """Passes on what the bot said."""
        if self.listener is not None:
            self.listener("<", line)

    def kill(self) -> None:
        """Ends the process at once."""
        if self.process is not None:
            self.process.kill()
            self.process = None

    def close(self) -> None:
        """Ends the process, after a word; a log without a word in it goes."""
        if self.process is not None:
            if self.process.foreign:
                return
            self.process.quit(messages.encode(messages.QUIT))
            self.process = None
        tidy(self.log)

    def new_match(self, seat: int, rules: Rules, scores: Sequence[int], max_deals: int, seed: int) -> Match:
        """A match that the bot has not been told of."""
        self.games += 1
        return Match(self.games, seat, rules, scores, max_deals, seed, self.limits.bank)

    def introduce(self, match: Match, view: View) -> None:
        """Tells this run of the bot of a match, if it does not know it."""
        if match.told == self.runs:
            return
        if not match.fresh:
            match.events.clear()  # the view has what this run was not told
        message = messages.match(
            match.game, match.rules, match.seat, match.scores, match.max_deals, match.seed, not match.fresh
        )
        if match.told:
            message["scores"] = messages.view_of(view, match.seat)["scores"]
        match.told, match.fresh = self.runs, False
        self.send(messages.encode(message), later=True)

    def finish(self, match: Match, result: Mapping[str, Any]) -> None:
        """Tells this run of the bot that a match is over, if it knew it."""
        if self.process is not None and match.told == self.runs:
            self.send(messages.encode(messages.match_end(match.game, match.events, result)), later=True)

    def ask(
        self,
        matches: Sequence[Match],
        observations: Observations,
        masks: Masks,
        max_failures: int | None,
        done: Callable[[int], None] | None = None,
        max_timeouts: int | None = None,
    ) -> list[int | BotFailure | None]:
        """Asks for B actions, some ahead of others; answers come in the order of the questions.

        A failure concerns the question that was to be answered then; the bot is started anew for those after it. After
        `max_failures` failures, or `max_timeouts` timeouts, the rest is None. `done` is called when a question is answered
        or failed.
        """
        count = len(matches)
        answers: list[int | BotFailure | None] = [None] * count
        failures = timeouts = 0
        at = sent = 0
        since = 0.0  # when the clock of question `at` began
        asked: list[tuple[int, float]] = []  # turn, and when it was asked, from question 0 on
        while at < count and _below(failures, max_failures) and _below(timeouts, max_timeouts):
            try:
                process = self.running()
                if sent == at and (line := process.unasked()) is not None:
                    unasked = BotFailure("INVALID", "a line that nobody asked for", line)
                    unasked.turn = self.turns or None  # after the last answer
                    raise unasked
                if sent - at <= self.window // 2:
                    for i in range(sent, min(count, at + self.window)):
                        later = i > at and i % _TOGETHER > 0 and i + 1 < min(count, at + self.window)
                        asked.append((self._question(matches[i], observations[i], masks[i], later), time.monotonic()))
                        sent += 1
                turn, when = asked[at]
                since = max(since, when)
                answers[at], since = self._answer(process, matches[at], turn, since, masks[at], observations[at])
            except BotFailure as failure:
                if failure.turn is None and at < len(asked):
                    failure.turn = asked[at][0]
                self.kill()
                failure.stderr = last_lines(self.log, self.log_from)
                answers[at] = failure
                failures += 1
                timeouts += failure.status == "TIMEOUT"
                del asked[at:]
                asked.append((0, 0.0))
                sent = at + 1
                since = 0.0
            if done is not None:
                done(at)
            at += 1
        return answers

    def _question(self, match: Match, observation: Any, mask: Any, later: bool) -> int:
        view = decode(observation)
        self.introduce(match, view)
        self.turns += 1
        raw = observation if self.hello is not None and self.hello.raw else None
        line = messages.act(self.turns, match.game, match.bank, match.events, view, match.seat, mask, raw)
        self.send(line, later=later)
        match.events.clear()
        return self.turns

    def _answer(
        self, process: BotProcess, match: Match, turn: int, since: float, mask: Any, observation: Any
    ) -> tuple[int, float]:
        """The action, and when the answer came."""
        limit = self.limits.move + match.bank
        allowed = f"{limit:.3f} s ({self.limits.move:g} of move and {match.bank:.3f} left of the bank)"
        try:
            line, came = process.read_line(since + limit, f"answer within {allowed}")
        except BotFailure as failure:
            if failure.status == "TIMEOUT":
                match.bank = 0.0
            raise
        self.heard(line)
        match.bank -= max(0.0, came - since - self.limits.move)
        if match.bank < 0:
            match.bank = 0.0
            raise BotFailure("TIMEOUT", f"the answer took {came - since:.3f} s, allowed were {allowed}", line)
        return messages.parse_answer(line, turn, mask, observation), came


def _below(count: int, most: int | None) -> bool:
    return most is None or count < most


Listener = Callable[[str, bytes], None]
"""Is told every line, `>` to the bot and `<` from it."""


class BotTable:
    """The games of one event; see `agents.base.Table`."""

    def __init__(self, name: str, runner: Runner) -> None:
        self._name = name
        self._runner = runner
        self._matches: dict[int, Match] = {}

    def start(self, place: int, seat: int, setup: MatchSetup, seed: int, /) -> None:
        """See `agents.base.Table`."""
        self._matches[place] = self._runner.new_match(seat, setup.rules, setup.scores, setup.max_deals, seed)

    def tell(self, place: int, events: Sequence[Mapping[str, Any]], /) -> None:
        """See `agents.base.Table`."""
        self._matches[place].events += map(dict, events)

    def decide(
        self, places: Sequence[int], observations: Observations, masks: Masks, max_failures: int | None, /
    ) -> Sequence[int | AgentError | None]:
        """See `agents.base.Table`."""
        matches = [self._matches[place] for place in places]
        answers = self._runner.ask(matches, observations, masks, max_failures)
        log = self._runner.log
        return [error_of(self._name, a, log) if isinstance(a, BotFailure) else a for a in answers]

    def end(self, place: int, result: Mapping[str, Any], /) -> None:
        """See `agents.base.Table`."""
        self._runner.finish(self._matches.pop(place), result)

    def close(self) -> None:
        """See `agents.base.Table`."""
        for place in list(self._matches):
            match = self._matches[place]
            self.end(place, {"scores": list(match.scores), "winner": None, "reason": "broken off"})


_NUMBER = re.compile(r'("turn"\s*:\s*)-?\d+')


def error_of(name: str, failure: BotFailure, log: Path, row: int | None = None) -> AgentError:
    """A failure of a bot as one of an agent.

    The number of the question is taken out of the line: it depends on what else this run of the bot was asked, and
    results must not.
    """
    return AgentError(
        name, failure.reason, row, failure.status, _NUMBER.sub(r"\1#", failure.line), str(log) if written(log) else ""
    )


class BotAgent:
    """A program that plays, by the bot protocol; an `agents.Follower`.

    Its process is started when it is first asked. `close` ends it; so does the end of this object or of the program.

    Attributes:
        name: the spec, or `exec:COMMAND`.
        command: program and arguments.
        limits: its limits.
        log: the file for its standard error.
    """

    def __init__(
        self,
        words: Sequence[str],
        limits: Limits | None = None,
        *,
        log: str | None = None,
        name: str | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Starts nothing yet.

        Args:
            words: program and arguments.
            limits: what it may use.
            log: file for its standard error.
            name: what it is called.
            listener: is told every line.

        Raises:
            FileNotFoundError: no such program.
        """
        self._made_of = (tuple(words), limits, log, name)
        self.name = f"exec:{' '.join(words)}" if name is None else name
        self.command = resolve_command(words)
        self.limits = Limits() if limits is None else limits
        self.log = log_file(words[0], log)
        self._runner = Runner(self.command, self.limits, self.log, listener)
        self._finalizer = weakref.finalize(self, self._runner.close)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, self._made_of

    @property
    def hello(self) -> BotHello | None:
        """What the bot calls itself; None before it was asked."""
        return self._runner.hello

    @property
    def runs(self) -> int:
        """How often the program was started."""
        return self._runner.runs

    def check_game(self, players: int, rules: Rules) -> None:
        """Starts the bot if it does not run: one that cannot even greet is refused before anything is played.

        Raises:
            SetupError: it does not answer `hello`.
        """
        try:
            self._runner.running()
        except BotFailure as failure:
            self._runner.kill()
            said = last_lines(self.log, self._runner.log_from)
            told = f"; last on its standard error: {said[-1]}; all of it: {self.log}" if said else ""
            line = f"; it wrote: {failure.line}" if failure.line else ""
            tidy(self.log)
            raise SetupError(f"agent {self.name} does not say hello: {failure.reason}{line}{told}") from None

    def sit(self) -> Table:
        """See `agents.base.Follower`."""
        return BotTable(self.name, self._runner)

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`. Each row is a match by itself, told of in its middle, with a bank of its own.

        Raises:
            AgentError: the bot failed in a row; rows after it were not asked.
        """
        seeds = (rng.random(len(masks)) * (1 << 53)).astype(np.int64).tolist()
        views = [decode(observation) for observation in observations]
        matches = []
        for view, seed in zip(views, seeds, strict=True):
            match = self._runner.new_match(0, view.rules, view.scores, view.deal + view.deals_left + 1, seed)
            match.fresh = False
            matches.append(match)

        def done(row: int) -> None:
            result = {"scores": list(views[row].scores), "winner": None, "reason": "broken off"}
            self._runner.finish(matches[row], result)

        answers = self._runner.ask(matches, observations, masks, 1, done)
        for row, answer in enumerate(answers):
            if isinstance(answer, BotFailure):
                raise error_of(self.name, answer, self.log, row)
        return np.array(answers, dtype=np.int64)

    def close(self) -> None:
        """Ends the bot and all that it started. It is started again when it is asked again."""
        self._runner.close()


def _remake(words: Sequence[str], limits: Limits | None, log: str | None, name: str | None) -> BotAgent:
    return BotAgent(words, limits, log=log, name=name)
