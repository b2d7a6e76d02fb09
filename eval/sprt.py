"""Is one agent better than another, and by more than a margin? Boards are played until a sequential test knows."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from agents.equity import POINTS_PER_DEAL
from chicago_env.errors import SetupError
from chicago_env.notation import format_rules, parse_rules
from chicago_env.opponents import check_game
from chicago_env.rules import Rules, check_players
from chicago_env.setup import MAX_DEALS, SEED_LIMIT, check_int
from eval.boards import KINDS, Kind, board_root, lineups, make_board, setup_of
from eval.equity import MatchEquity, equity_gains
from eval.extras import STATISTICS, require
from eval.faults import faults_text
from eval.luck import DIGEST, correction_of
from eval.play import Clock, Games, play_games
from eval.sequential import Design, SequentialTest, Step, anytime_interval, elo_of_wins, wins_of_elo
from eval.sprt_log import BoardFault, Log, Shape, board_fault
from eval.stats import Estimate, mean_interval, variance_factor

_DIGITS = 12  # of values: what is even up to rounding is to be even

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is fixed before the first board; see `sprt`."""

    first: str
    second: str
    players: int
    rules: str
    kind: Kind
    seed: int
    elo: float
    scale: float
    equity: str
    luck: str
    design: Design

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return dataclasses.asdict(self)

    @property
    def names(self) -> list[str]:
        """Of the agents in what was recorded: two of one name are told apart by their places."""
        return [self.first, self.second] if self.first != self.second else [f"{self.first}#1", f"{self.second}#2"]

    @property
    def text(self) -> str:
        """In a line, for people."""
        design = self.design
        boards = "single deals, scored in match equity" if self.kind == "deal" else "whole matches"
        return (
            f"{self.first} against {self.second}: {self.players} players, {self.rules}, boards of {boards}; margin {self.elo:g} "
            f"Elo, {design.margin:.5f} a board; alpha {design.alpha:g}, beta {design.beta:g}; a look every {design.look} "
            f"boards, at most {design.cap:,}; seed {self.seed}"
        )


def make_plan(
    first: str,
    second: str,
    *,
    players: int = 2,
    rules: str | Mapping[str, object] | Rules = "pagat",
    kind: Kind = "deal",
    seed: int = 0,
    elo: float = 20.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    look: int = 100,
    cap: int = 20_000,
) -> Plan:
    """Checks the arguments of `sprt` and works out the rest.

    The margin in a board: of matches it is `wins_of_elo`. A match lasts about target/6.5 deals, and the changes of the
    chance to win add up to the win, so that the value of a deal is about that part of it (measured: docs/evaluation.md).

    Raises:
        SetupError: an impossible argument.
        RulesError: impossible rules or number of players.
    """
    parsed = parse_rules(rules)
    if kind not in KINDS:
        raise SetupError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    numbers: tuple[tuple[str, Any, float], ...] = (("elo", elo, 400.0), ("alpha", alpha, 0.5), ("beta", beta, 0.5))
    for name, number, high in numbers:
        if not isinstance(number, int | float) or not 0 < number <= high:
            raise SetupError(f"{name}: {number!r} is not a number above 0 and up to {high:g}")
    scale = parsed.target / POINTS_PER_DEAL if kind == "deal" else 1.0
    look = check_int("look", look, 2, 1_000_000)
    design = Design(wins_of_elo(elo) / scale, alpha, beta, look, check_int("cap", cap, look, 100_000_000))
    return Plan(
        first,
        second,
        check_players(players),
        format_rules(parsed),
        kind,
        check_int("seed", seed, 0, SEED_LIMIT - 1),
        float(elo),
        scale,
        MatchEquity(parsed).digest if kind == "deal" else "",
        DIGEST if kind == "deal" else "",
        design,
    )


@dataclasses.dataclass(frozen=True)
class Result:
    """What a test found.

    Attributes:
        plan: what was fixed beforehand.
        step: where the test stands: boards, mean, ratios, verdict.
        low: lower limit of the mean of a board, at any time.
        high: upper limit.
        points: points per deal, None for matches; its interval is for a fixed number of boards.
        corrected: points per deal less the luck of the draw (`eval.luck`).
        variance_factor: how many times as many independent games would be needed for the same interval.
        faults: failures of the two agents, in the order of games.
        forfeit: who forfeited a game, which ends the test; "" for nobody.
    """

    plan: Plan
    step: Step
    low: float
    high: float
    points: Estimate | None
    corrected: Estimate | None
    variance_factor: float | None
    faults: tuple[BoardFault, ...]
    forfeit: str

    @property
    def verdict(self) -> str:
        """In words."""
        plan, margin = self.plan, f"{self.plan.elo:g} Elo"
        if self.forfeit:
            return f"{plan.second if self.forfeit == plan.first else plan.first} is better: {self.forfeit} forfeits"
        names = {"first": plan.first, "second": plan.second}
        if self.step.verdict in names:
            return f"{names[self.step.verdict]} is better"
        if self.step.verdict == "equivalent":
            return f"equivalent within {margin}"
        return "undecided" if self.step.verdict else "not decided yet"

    def elo(self) -> tuple[float | None, float, float]:
        """Mean of a board and its limits as Elo of match wins; ±inf where it is beyond all wins."""
        scale = self.plan.scale
        mean = None if self.step.mean is None else elo_of_wins(self.step.mean * scale)
        return mean, elo_of_wins(self.low * scale), elo_of_wins(self.high * scale)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; None for what is unknown or infinite."""
        elo, low, high = (None if x is None or not np.isfinite(x) else x for x in self.elo())
        return {
            "verdict": self.verdict,
            "outcome": self.step.verdict,
            "boards": self.step.boards,
            "board_value": {"mean": self.step.mean, "low": self.low, "high": self.high},
            "elo": {"mean": elo, "low": low, "high": high},
            "log_ratios": list(self.step.ratios),
            "points_per_deal": None if self.points is None else self.points.to_dict(),
            "corrected_points_per_deal": None if self.corrected is None else self.corrected.to_dict(),
            "variance_factor": self.variance_factor,
            "faults": [fault._asdict() for fault in self.faults],
            "forfeit": self.forfeit,
        }

    @property
    def text(self) -> str:
        """For people."""
        plan, step = self.plan, self.step
        elo, low, high = self.elo()
        lines = [
            f"{self.verdict}, after {step.boards:,} board{'' if step.boards == 1 else 's'}",
            f"  {plan.first}: {'–' if elo is None else format(elo, '+.1f')} Elo [{low:+.1f}, {high:+.1f}], 95 % at any time",
        ]
        for title, points in (("points a deal", self.points), ("less the luck of the draw", self.corrected)):
            if points is not None and points.mean is not None:
                half = points.half_width
                lines.append(f"  {title} {points.mean:+.2f} ± {'–' if half is None else format(half, '.2f')}")
        if self.variance_factor is not None:
            lines.append(f"  independent games for the same interval: {self.variance_factor:.1f} times as many")
        lines += [f"  {line}" for line in faults_text(plan.names, self.faults)]
        return "\n".join(lines)


class Look(NamedTuple):
    """Boards that were played from one look to the next, from the view of the first agent.

    Attributes:
        values: (look, G) value of each game.
        points: (look, G) difference of points.
        luck: (look, G) what is taken off the points for luck; (look, 0) for matches.
        games: how they ended.
    """

    values: Floats
    points: Floats
    luck: Floats
    games: Games


class Boards:
    """Plays the boards of a test, `look` at a time."""

    def __init__(self, plan: Plan, agents: Mapping[str, Agent], max_deals: int) -> None:
        self.plan = plan
        self.agents = dict(agents)
        self.max_deals = max_deals
        self.rules = parse_rules(plan.rules)
        self.lineups = np.array(lineups(plan.players))
        self.equity = MatchEquity(self.rules)
        self.root = board_root(plan.seed, plan.kind)
        self.clock = Clock()

    def play(self, low: int, faults: Mapping[str, int]) -> Look:
        """The boards from `low` on."""
        plan, size = self.plan, len(self.lineups)
        numbers = range(low, low + plan.design.look)
        made = [make_board(self.root, i, plan.kind, plan.players, self.rules, self.max_deals) for i in numbers]
        setups = [setup for board in made for setup in [setup_of(board, plan.players, self.rules)] * size]
        seating = np.tile(self.lineups, (len(made), 1))
        games = play_games(
            self.agents,
            setups,
            np.repeat(np.array(numbers), size),
            seating,
            self.root,
            clock=self.clock,
            luck=plan.kind == "deal",
            on_fault="forfeit",
            faults_before=faults,
        )
        mine = seating == 0
        own = mine.sum(axis=1)
        total = (games.gains * mine).sum(axis=1)
        points = total / own - (games.gains.sum(axis=1) - total) / (plan.players - own)
        if plan.kind == "deal":
            starts = np.array([setup.scores for setup in setups])
            dealers = np.array([setup.first_dealer for setup in setups])
            changes = equity_gains(self.equity, starts, games.gains, dealers, games.winner, games.deals)
            values = (changes * mine).sum(axis=1)
        else:
            won = mine[np.arange(len(mine)), games.winner]
            values = np.where(games.winner < 0, 0.0, won - own / plan.players)
        luck = np.zeros(0) if games.luck is None else correction_of(games.luck, mine)
        values, points = np.round(values, _DIGITS).reshape(len(made), size), points.reshape(len(made), size)
        return Look(values, points, np.round(luck, _DIGITS).reshape(len(made), -1), games)


def board_values(games: Floats) -> Floats:
    """Value (n,) of each board, the mean of its games (n, G); exactly 0 where they are even."""
    return np.asarray(np.round(games.mean(axis=1), _DIGITS))


def sprt(
    plan: Plan,
    first: Agent,
    second: Agent,
    *,
    max_deals: int = MAX_DEALS,
    out: Path | None = None,
    on_step: Callable[[Result], None] | None = None,
) -> Result:
    """Plays until there is a verdict.

    Args:
        plan: from `make_plan`.
        first: the first agent.
        second: the second.
        max_deals: deals after which a match is truncated.
        out: file for plan, values of all boards and result as JSON; the plan is in it before anything is played. A
            test that was stopped goes on from it.
        on_step: called after every look.

    Raises:
        SetupError: `out` is of another test, or no such file; or an agent is made for other games.
        OSError: `out` cannot be written.
        MissingExtra: scipy is not installed.
    """
    require(*STATISTICS)
    for agent in (first, second):
        check_game(agent, plan.players, parse_rules(plan.rules))
    boards = Boards(plan, dict(zip(plan.names, (first, second), strict=True)), max_deals)
    size = len(boards.lineups)
    log = Log(Shape(plan.to_dict(), plan.names, plan.players, size, plan.design.look, plan.kind == "deal"), out)
    test = SequentialTest(plan.design)
    forfeit = log.forfeit
    for low in range(0, len(log.values), plan.design.look):
        test.add(board_values(np.array(log.values[low : low + plan.design.look])))
    result = _result(plan, test.step, log, forfeit)
    while test.step.verdict is None and not forfeit:
        low = len(log.values)
        look = boards.play(low, log.counts())
        games = look.games
        log.faults += [board_fault(fault, low, size) for fault in games.faults]
        if games.forfeited.any():
            mine = np.tile(boards.lineups == 0, (len(look.values), 1))
            forfeit = plan.first if games.forfeited[mine].any() else plan.second
        else:
            log.values += look.values.tolist()
            log.points += look.points.tolist()
            log.luck += look.luck.tolist()
            test.add(board_values(look.values))
        result = _result(plan, test.step, log, forfeit)
        log.write(result.to_dict())
        if on_step is not None:
            on_step(result)
    return result


def _result(plan: Plan, step: Step, log: Log, forfeit: str) -> Result:
    games = np.array(log.values, dtype=np.float64).reshape(-1, len(lineups(plan.players)))
    values = board_values(games)
    low, high = anytime_interval((values + 1) / 2)
    points, corrected = None, None
    if plan.kind == "deal":
        of_games, luck = np.array(log.points).reshape(games.shape), np.array(log.luck).reshape(games.shape)
        points = mean_interval(of_games.mean(axis=1))
        corrected = mean_interval((of_games - luck).mean(axis=1))
    faults, factor = tuple(log.faults), variance_factor(games, values)
    return Result(plan, step, 2 * low - 1, 2 * high - 1, points, corrected, factor, faults, forfeit)
