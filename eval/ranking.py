"""Ranks agents: every pair plays the same boards; points by single deals, wins by whole matches."""

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from chicago_env.actions import ACTION_VERSION
from chicago_env.errors import SetupError
from chicago_env.layout import OBSERVATION_VERSION, layout_hash
from chicago_env.notation import format_rules, parse_rules
from chicago_env.rules import Rules, check_players, suggestion
from chicago_env.setup import MAX_DEALS, MAX_MATCH_DEALS, SEED_LIMIT, check_int
from eval.boards import Kind, Lineup, board_root, lineups, make_board, pairs, setup_of
from eval.extras import STATISTICS, require
from eval.play import Clock, Games, play_games
from eval.ratings import bradley_terry
from eval.results import PairResult, Result, Row
from eval.stats import CONFIDENCE, mean_interval, share_interval, variance_factor

MAX_BOARDS = 10_000_000
DEFAULT_ROWS = 4096
"""Games in lock-step. The result does not depend on it."""

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Progress(NamedTuple):
    """How far a ranking has come.

    Attributes:
        kind: what is being played, single deals or whole matches.
        done: boards of this kind that have been played, by the number of games finished.
        total: boards of this kind.
    """

    kind: Kind
    done: int
    total: int


class Ranking(Result):
    """The result of `rank`, with the ways to show it."""

    def text(self, *, width: int = 110) -> str:
        """The tables as plain text."""
        from eval.tables import text_of  # noqa: PLC0415 - drawing is not part of ranking

        return text_of(self, width)

    def write_report(self, folder: str | Path) -> Path:
        """Writes `ranking.json`, `ranking.html`, one self-contained page, and each plot as PNG into `folder`.

        Returns:
            Path of the page.

        Raises:
            MissingExtra: matplotlib or jinja2 is not installed.
            OSError: the folder cannot be written.
        """
        from eval.report import write_report  # noqa: PLC0415 - needs optional packages

        return write_report(self, Path(folder))


class Plan(NamedTuple):
    """What `rank` is to play, checked; names as there."""

    names: list[str]
    players: int
    rules: Rules
    boards: int
    matches: int
    seed: int
    anchor: str
    max_deals: int
    rows: int


def _is_name(name: object) -> bool:
    """Whether this is text that can be written as JSON and into a page: not bytes of a path that are no UTF-8."""
    return isinstance(name, str) and name == name.encode("utf-8", "replace").decode()


def check_plan(
    agents: Mapping[str, Agent],
    *,
    players: int = 2,
    rules: str | Mapping[str, object] | Rules = "pagat",
    boards: int = 1000,
    matches: int = 200,
    seed: int = 0,
    anchor: str | None = None,
    max_deals: int = MAX_DEALS,
    rows: int = DEFAULT_ROWS,
) -> Plan:
    """Checks the arguments of `rank`, so that something else can be done before it plays.

    Raises:
        SetupError: an impossible argument.
        RulesError: impossible rules or number of players.
        MissingExtra: scipy or choix is not installed.
    """
    if not isinstance(agents, Mapping):
        raise SetupError(
            "agents: a mapping from names to agents is needed, {'novice': agents.load('heuristic:novice')}"
        )
    names = list(agents)
    if not names:
        raise SetupError("agents: none given; a ranking needs at least one")
    for name, agent in agents.items():
        if not _is_name(name):
            raise SetupError(f"agents: {name!r} is no name; a name is text that UTF-8 can write")
        if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
            hint = "; text is turned into an agent by agents.load" if isinstance(agent, str) else ""
            raise SetupError(f"agents[{name!r}]: {agent!r} has no method `act` of an object{hint}")
    if anchor is not None and anchor not in names:
        raise SetupError(f"anchor: {anchor!r} is none of the agents{suggestion(str(anchor), names)}")
    plan = Plan(
        names,
        check_players(players),
        parse_rules(rules),
        check_int("boards", boards, 0, MAX_BOARDS),
        check_int("matches", matches, 0, MAX_BOARDS),
        check_int("seed", seed, 0, SEED_LIMIT - 1),
        names[0] if anchor is None else anchor,
        check_int("max_deals", max_deals, 1, MAX_MATCH_DEALS),
        check_int("rows", rows, 1, 1 << 20),
    )
    require(*STATISTICS)
    return plan


def rank(
    agents: Mapping[str, Agent],
    *,
    players: int = 2,
    rules: str | Mapping[str, object] | Rules = "pagat",
    boards: int = 1000,
    matches: int = 200,
    seed: int = 0,
    anchor: str | None = None,
    max_deals: int = MAX_DEALS,
    rows: int = DEFAULT_ROWS,
    progress: Callable[[Progress], None] | None = None,
    on_record: Callable[[dict[str, Any]], None] | None = None,
) -> Ranking:
    """Ranks agents by a round robin of pairs.

    All pairs play the same boards (`eval.boards`): at two players each board in both seatings, beyond in 2P games, one
    against P - 1 and the complement.

    Args:
        agents: agents by name.
        players: P, seats at a table, 2 to 6.
        rules: preset name, notation, mapping or `Rules`.
        boards: boards of single deals for each pair.
        matches: boards of whole matches for each pair.
        seed: root of all chance, 0 <= seed < 2**63.
        anchor: the agent whose rating is 0, by default the first.
        max_deals: deals after which a match is truncated.
        rows: games in lock-step, at least; a matter of speed and memory alone.
        progress: called from time to time.
        on_record: called with the record of every game, a dict in record format 1.

    Raises:
        SetupError: an impossible argument.
        RulesError: impossible rules or number of players.
        AgentError: an agent failed, or answered with what is not allowed.
        MissingExtra: scipy or choix is not installed.
    """
    started = time.perf_counter()
    plan = check_plan(
        agents,
        players=players,
        rules=rules,
        boards=boards,
        matches=matches,
        seed=seed,
        anchor=anchor,
        max_deals=max_deals,
        rows=rows,
    )
    table, names = _Tables(plan), plan.names
    deals = table.play(agents, "deal", plan.boards, progress, on_record)
    decided = table.play(agents, "match", plan.matches, progress, on_record)
    config = {
        "versions": _versions(),
        "players": plan.players,
        "rules": format_rules(table.rules),
        "rules_fields": table.rules.to_dict(),
        "agents": names,
        "boards": plan.boards,
        "matches": plan.matches,
        "seed": table.seed,
        "max_deals": table.max_deals,
        "start_scores": "deals: even boards 0, odd boards uniform over 0 … target - 1; matches: 0",
        "confidence": CONFIDENCE,
        "anchor": plan.anchor,
    }
    results = tuple(_pair_result(names, p, pair, deals, decided) for p, pair in enumerate(table.pairs))
    speeds = {name: table.clock.speed(name) for name in names}
    lines = _rows(table, deals, decided, names.index(str(config["anchor"])))
    return Ranking(config, lines, results, speeds, time.perf_counter() - started)


@dataclasses.dataclass
class _Played:
    """Results of the boards of one kind.

    Attributes:
        points: (n, pairs, G) int64, points of the first agent's seats less those of the second's, times P - 1.
        wins: (n, pairs, G) int64, share of the win that goes to the first agent, times P.
        winner: (n, pairs, G) int8: 0 first agent, 1 second, -1 nobody.
    """

    players: int
    points: Ints
    wins: Ints
    winner: np.ndarray[Any, np.dtype[np.int8]]

    def points_by_board(self) -> Floats:
        """(n, pairs), mean difference of points in a game."""
        games = self.points.shape[2]
        return np.asarray(self.points.sum(axis=2) / (games * (self.players - 1)))

    def shares_by_board(self) -> Floats:
        """(n, pairs), share of wins of the first agent."""
        games = self.wins.shape[2]
        return np.asarray(self.wins.sum(axis=2) / (games * self.players))


class _Tables:
    """Plays the boards of all pairs."""

    def __init__(self, plan: Plan) -> None:
        self.names = plan.names
        self.players = plan.players
        self.rules = plan.rules
        self.seed = plan.seed
        self.max_deals = plan.max_deals
        self.rows = plan.rows
        self.pairs = pairs(len(plan.names))
        self.lineups = lineups(plan.players)
        self.clock = Clock()

    def play(
        self,
        agents: Mapping[str, Agent],
        kind: Kind,
        total: int,
        progress: Callable[[Progress], None] | None,
        on_record: Callable[[dict[str, Any]], None] | None,
    ) -> _Played:
        shape = (total, len(self.pairs), len(self.lineups))
        played = _Played(
            self.players,
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.full(shape, -1, dtype=np.int8),
        )
        games_each = max(1, shape[1] * shape[2])
        step = max(1, self.rows // games_each)
        for low in range(0, total if self.pairs else 0, step):
            high = min(low + step, total)

            def on_finished(games: int, low: int = low) -> None:
                if progress is not None:
                    progress(Progress(kind, low + games // games_each, total))

            self._play_some(agents, kind, low, high, played, on_record, on_finished)
        return played

    def _play_some(
        self,
        agents: Mapping[str, Agent],
        kind: Kind,
        low: int,
        high: int,
        played: _Played,
        on_record: Callable[[dict[str, Any]], None] | None,
        on_finished: Callable[[int], None],
    ) -> None:
        root = board_root(self.seed, kind)
        made = [make_board(root, i, kind, self.players, self.rules, self.max_deals) for i in range(low, high)]
        one = np.array([[seat_of(pair, table) for table in self.lineups] for pair in self.pairs])
        games = one.shape[0] * one.shape[1]
        seating = np.tile(one.reshape(games, self.players), (high - low, 1))
        setups = [setup for board in made for setup in [setup_of(board, self.players, self.rules)] * games]
        boards = np.repeat(np.arange(low, high), games)
        keep = on_record is not None
        result = play_games(
            agents, setups, boards, seating, root, clock=self.clock, keep_choices=keep, on_finished=on_finished
        )
        is_first = np.tile(np.array(self.lineups) == 0, (len(setups) // len(self.lineups), 1))
        shape = (high - low, *one.shape[:2])
        points, wins, winner = score_games(result, is_first)
        played.points[low:high] = points.reshape(shape)
        played.wins[low:high] = wins.reshape(shape)
        played.winner[low:high] = winner.reshape(shape)
        if on_record is not None:
            from chicago_env.records import record_of  # noqa: PLC0415 - only where records are asked for

            for setup, choices, seats in zip(setups, result.choices, seating.tolist(), strict=True):
                on_record(record_of(setup, choices, names=[self.names[a] for a in seats]))


def seat_of(pair: tuple[int, int], table: Lineup) -> tuple[int, ...]:
    """Who sits where, by number of the agent, when `pair` plays at `table` (0 for the first, 1 for the second)."""
    return tuple(pair[side] for side in table)


def score_games(games: Games, is_first: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[Ints, Ints, Ints]:
    """Scores games between two agents, in whole numbers, so that nothing is lost to rounding.

    Args:
        games: N games of P seats.
        is_first: (N, P) bool, the first agent sits there; one seat or all but one.

    Returns:
        (N,) each: difference of the mean points of their seats times P - 1; share of the win of the first agent times P
        (a game without a winner is shared out over all seats); 0, 1 or -1 as the first agent won, the second, nobody.
    """
    players = is_first.shape[1]
    own = is_first.sum(axis=1)
    mine = (games.gains * is_first).sum(axis=1)
    others = games.gains.sum(axis=1) - mine
    points = mine * (players - own) - others * own
    won = is_first[np.arange(len(is_first)), games.winner]
    nobody = games.winner < 0
    wins = np.where(nobody, own, np.where(won, players, 0))
    winner = np.where(nobody, -1, np.where(won, 0, 1))
    return points, wins, winner


def _pair_result(names: list[str], p: int, pair: tuple[int, int], deals: _Played, matches: _Played) -> PairResult:
    points = deals.points_by_board()[:, p]
    winner = matches.winner[:, p]
    games = {
        "deals": int(deals.points[:, p].size),
        "matches": int(winner.size),
        "won_by_first": int((winner == 0).sum()),
        "won_by_second": int((winner == 1).sum()),
        "truncated": int((winner == -1).sum()),
    }
    factor = variance_factor(deals.points[:, p] / (deals.players - 1), points)
    wins = share_interval(matches.shares_by_board()[:, p])
    return PairResult(names[pair[0]], names[pair[1]], mean_interval(points), wins, games, factor)


def _rows(table: _Tables, deals: _Played, matches: _Played, anchor: int) -> tuple[Row, ...]:
    names, count = table.names, len(table.names)
    by_board = deals.points_by_board(), matches.shares_by_board()
    points = np.zeros((len(by_board[0]), count, count))
    shares = np.zeros((len(by_board[1]), count, count))
    for p, (a, b) in enumerate(table.pairs):
        points[:, a, b], points[:, b, a] = by_board[0][:, p], -by_board[0][:, p]
        shares[:, a, b], shares[:, b, a] = by_board[1][:, p], 1 - by_board[1][:, p]
    # A Bradley-Terry model is about two opponents; at larger tables there is none yet that fits.
    ratings = bradley_terry(shares, anchor, table.seed) if table.players == 2 and len(shares) else [None] * count
    others = max(1, count - 1)
    games = (deals.points.shape[0] + matches.points.shape[0]) * len(table.lineups) * (count - 1)
    # One agent has played nobody: no values at all, not a mean of 0.
    alone = slice(0, 0) if count == 1 else slice(None)
    rows = [
        Row(
            names[a],
            mean_interval(points[alone, a].sum(axis=1) / others),
            share_interval(shares[alone, a].sum(axis=1) / others),
            ratings[a],
            games,
        )
        for a in range(count)
    ]
    worst = float("-inf")
    order = sorted(
        range(count),
        key=lambda a: (
            worst if rows[a].wins.mean is None else rows[a].wins.mean,
            worst if rows[a].points.mean is None else rows[a].points.mean,
        ),
        reverse=True,
    )
    return tuple(rows[a] for a in order)


def _versions() -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to import

    try:
        package = version("chicago-env")
    except PackageNotFoundError:  # run from a checkout that is not installed
        package = None
    return {
        "chicago_env": package,
        "observation": OBSERVATION_VERSION,
        "layout_hash": layout_hash(),
        "actions": ACTION_VERSION,
    }
