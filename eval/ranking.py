"""Ranks agents: everybody plays the same boards; points by single deals, wins by whole matches."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from chicago_env.errors import SetupError
from chicago_env.notation import parse_rules
from chicago_env.opponents import check_game
from chicago_env.rules import Rules
from chicago_env.setup import MAX_DEALS, check_int
from eval.boards import KINDS, Kind, board_root, make_board
from eval.cycles import clear_wins, cycles_of
from eval.equity import MatchEquity, equity_gains
from eval.event import Event, OnProgress, OnRecord, Progress
from eval.faults import Logs, add_logs
from eval.placements import places_of, plackett_luce
from eval.plan import DEFAULT_ROWS, MAX_ROWS, Plan, check_agents, check_anchor, check_plan
from eval.ratings import Rating, bradley_terry
from eval.results import PairResult, Result, Row
from eval.scores import NO_MEETING, Scores, scores_of
from eval.stats import CONFIDENCE, mean_interval, share_interval
from eval.store import Store
from eval.variance import factors_of

MAX_WORKERS = 256


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


def rank(
    agents: Mapping[str, Agent | str],
    *,
    players: int = 2,
    rules: str | Mapping[str, object] | Rules = "pagat",
    field: str = "pairs",
    boards: int = 1000,
    matches: int = 200,
    seed: int = 0,
    anchor: str | None = None,
    max_deals: int = MAX_DEALS,
    rows: int = DEFAULT_ROWS,
    workers: int = 1,
    store: str | os.PathLike[str] | None = None,
    records: bool = False,
    max_faults: int = 0,
    luck: bool = False,
    progress: OnProgress | None = None,
    on_record: OnRecord | None = None,
) -> Ranking:
    """Ranks agents on boards that are the same for all (`eval.boards`).

    Two agents at a table: at two players each board in both seatings, beyond in 2P games, one against P - 1 and the
    complement. With `field="tables"` there are as many agents as seats, drawn board by board, in all rotations.

    Args:
        agents: agents by name, or what `agents.load` takes for them.
        players: P, seats at a table, 2 to 6.
        rules: preset name, notation, mapping or `Rules`.
        field: who meets whom: `pairs`, a round robin; `first`, the first agent against each other; `tables`.
        boards: boards of single deals (for each pair, where there are pairs).
        matches: boards of whole matches.
        seed: root of all chance, 0 <= seed < 2**63.
        anchor: the agent whose rating is 0, by default the first.
        max_deals: deals after which a match is truncated.
        rows: games in lock-step, and written down at once; a matter of speed and memory alone.
        workers: processes that play. More than one need agents that are given as text.
        store: file that keeps the games (`eval.store`). What is in it already is not played again: a ranking that was
            broken off goes on. It needs agents that are given as text.
        records: keep in the store what records need.
        max_faults: faults after which an agent forfeits the rest of its games, each costing it the deal
            (docs/evaluation.md); 0: the first fault ends the ranking with an error.
        luck: give points less the luck of the draw as well (`eval.luck`).
        progress: called from time to time.
        on_record: called with the record of every game that is played now, a dict in record format 1, in their order.

    Raises:
        SetupError: an impossible argument.
        RulesError: impossible rules or number of players.
        AgentSpecError: text that names no agent.
        AgentError: an agent failed, or answered with what is not allowed, and `max_faults` is 0.
        WorkerError: worker processes died.
        StoreError: a store that is damaged, foreign, full, or holds something else.
        MissingExtra: scipy or choix is not installed.
    """
    prepared = prepare(
        agents,
        players=players,
        rules=rules,
        field=field,
        boards=boards,
        matches=matches,
        seed=seed,
        anchor=anchor,
        max_deals=max_deals,
        rows=rows,
        workers=workers,
        records=records or on_record is not None,
        max_faults=max_faults,
        luck=luck,
    )
    return prepared.rank(store, progress=progress, on_record=on_record)


class Prepared(NamedTuple):
    """A ranking whose arguments are checked: what is left is to play.

    Attributes:
        plan: what is to be played.
        agents: who plays it.
        anchor: the agent whose rating is 0.
        rows: games in lock-step.
        workers: processes.
        logs: standard error of programs that played, by name of the agent, a file for each process; filled by `rank`.
    """

    plan: Plan
    agents: dict[str, Agent]
    anchor: str
    rows: int
    workers: int
    logs: Logs

    def rank(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        progress: OnProgress | None = None,
        on_record: OnRecord | None = None,
    ) -> Ranking:
        """Plays, and ranks; see `rank`."""
        if store is None:
            with closing(Store.in_memory(self.plan)) as kept:
                return self._play(kept, progress, on_record)
        with Store.playing(store, self.plan) as kept:
            return self._play(kept, progress, on_record)

    def _play(self, store: Store, progress: OnProgress | None, on_record: OnRecord | None) -> Ranking:
        started = time.perf_counter()
        event = Event(self.plan, store, rows=self.rows, on_progress=progress, on_record=on_record)
        event.play(self.agents, self.workers)
        add_logs(self.logs, event.logs)
        speeds = {name: event.clock.speed(name) for name in self.plan.names}
        return ranking_of(store, anchor=self.anchor, speeds=speeds, seconds=time.perf_counter() - started)


def prepare(
    agents: Mapping[str, Agent | str],
    *,
    anchor: str | None = None,
    rows: int = DEFAULT_ROWS,
    workers: int = 1,
    **plan: Any,
) -> Prepared:
    """Checks the arguments of `rank` and loads the agents, so that something else can be done before it plays.

    Raises:
        SetupError, RulesError, AgentSpecError, MissingExtra: as `rank`.
    """
    from agents.registry import load  # noqa: PLC0415 - `eval` is imported fast

    loaded: Any = agents
    if isinstance(agents, Mapping):
        loaded = {name: load(agent) if isinstance(agent, str) else agent for name, agent in agents.items()}
        check_agents(loaded)
    made = check_plan(agents, **plan)
    for agent in loaded.values():
        check_game(agent, made.players, made.rules)
    check_int("rows", rows, 1, MAX_ROWS)
    if check_int("workers", workers, 1, MAX_WORKERS) > 1:
        for entrant in made.entrants:
            if entrant.spec is None:
                raise SetupError(
                    f"agents[{entrant.name!r}]: worker processes need agents given as text, as agents.load takes it"
                )
    return Prepared(made, loaded, check_anchor(anchor, made.names), rows, workers, {})


def ranking_of(
    store: Store, *, anchor: str | None = None, speeds: Mapping[str, float | None] | None = None, seconds: float = 0.0
) -> Ranking:
    """The ranking that the games of a store give.

    Args:
        store: the games.
        anchor: the agent whose rating is 0, by default the first.
        speeds: decisions per second of each agent, where they were measured.
        seconds: how long it took.

    Raises:
        SetupError: the anchor is none of the agents.
        StoreError: a damaged store.
    """
    names = store.names
    anchor = check_anchor(anchor, names)
    deals, matches = (scores_of_store(store, kind) for kind in KINDS)
    pairs = set(deals.meetings) | set(matches.meetings)
    if len(store.runs) == 1:  # those that were to meet, too
        pairs |= {(0, b) for b in range(1, len(names))} if store.runs[0]["field"] == "first" else _all_pairs(len(names))
    measured = store.frame["luck"] is not None
    results = tuple(_pair_result(names, pair, deals, matches, measured) for pair in sorted(pairs))
    rows = _rows(store, deals, matches, names.index(anchor))
    speeds = dict.fromkeys(names) if speeds is None else speeds
    shares = {pair: meeting.shares_by_board for pair, meeting in matches.meetings.items()}
    cycles = tuple(tuple(names[a] for a in cycle) for cycle in cycles_of(clear_wins(shares, len(names))))
    return Ranking(_config(store, anchor), rows, results, speeds, seconds, tuple(store.faults()), cycles)


def scores_of_store(store: Store, kind: Kind) -> Scores:
    """Scores of all boards of a kind, single deals with match equity."""
    tables = store.runs[0]["field"] == "tables"
    played = store.played(kind)
    changes = None
    if kind == "deal" and len(played.boards):
        rules, seeds = parse_rules(store.frame["rules_fields"]), played.seeds.tolist()
        boards = {
            key: make_board(board_root(key[0], kind), key[1], kind, store.players, rules)
            for key in dict.fromkeys(zip(seeds, played.boards.tolist(), strict=True))
        }
        each = [boards[key] for key in zip(seeds, played.boards.tolist(), strict=True)]
        starts, dealers = np.array([board.scores for board in each]), np.array([board.first_dealer for board in each])
        changes = equity_gains(MatchEquity(rules), starts, played.gains, dealers, played.winner, played.deals)
    return scores_of(kind, played, len(store.names), tables=tables, equity=changes)


def _all_pairs(count: int) -> set[tuple[int, int]]:
    return {(a, b) for a in range(count) for b in range(a + 1, count)}


def _config(store: Store, anchor: str) -> dict[str, Any]:
    """What was asked for, as JSON has it."""
    frame, runs = store.frame, store.runs
    seeds = [run["seed"] for run in runs]
    return {
        "versions": frame["versions"],
        "players": frame["players"],
        "rules": frame["rules"],
        "rules_fields": frame["rules_fields"],
        "field": runs[0]["field"],
        "agents": store.names,
        "entrants": store.agents,
        "boards": runs[0]["boards"] if len(runs) == 1 else _distinct(runs, "boards"),
        "matches": runs[0]["matches"] if len(runs) == 1 else _distinct(runs, "matches"),
        "seed": seeds[0],
        "runs": runs,
        "max_deals": frame["max_deals"],
        "max_faults": frame["max_faults"],
        "start_scores": frame["start_scores"],
        "confidence": CONFIDENCE,
        "equity": MatchEquity(parse_rules(frame["rules_fields"])).digest,
        "luck": frame["luck"],
        "anchor": anchor,
    }


def _distinct(runs: list[dict[str, Any]], what: str) -> int:
    """Different boards in several runs: those of one seed are the same."""
    return sum(max(run[what] for run in runs if run["seed"] == seed) for seed in {run["seed"] for run in runs})


def _pair_result(names: list[str], pair: tuple[int, int], deals: Scores, matches: Scores, measured: bool) -> PairResult:
    dealt, decided = deals.meetings.get(pair, NO_MEETING), matches.meetings.get(pair, NO_MEETING)
    games = {
        "deals": int(dealt.points.size),
        "matches": int(decided.winner.size),
        "won_by_first": int((decided.winner == 0).sum()),
        "won_by_second": int((decided.winner == 1).sum()),
        "truncated": int((decided.winner == -1).sum()),
    }
    points, wins = mean_interval(dealt.points_by_board), share_interval(decided.shares_by_board)
    factors, equity = factors_of(dealt, decided), mean_interval(dealt.equity_by_board)
    corrected = mean_interval(dealt.corrected_by_board) if measured else None
    return PairResult(names[pair[0]], names[pair[1]], points, wins, games, factors, equity, corrected)


def _rows(store: Store, deals: Scores, matches: Scores, anchor: int) -> tuple[Row, ...]:
    names, count = store.names, len(store.names)
    ratings = _ratings(store, matches, anchor)
    sources, measured = _sources(store), store.frame["luck"] is not None
    rows = [
        Row(
            names[a],
            mean_interval(_known(deals.points[:, a])),
            share_interval(_known(matches.shares[:, a])),
            ratings[a],
            int(deals.games[a] + matches.games[a]),
            mean_interval(_known(deals.equity[:, a])),
            sources[a],
            mean_interval(_known(deals.corrected[:, a])) if measured else None,
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


def _known(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(values[~np.isnan(values)])


def _ratings(store: Store, matches: Scores, anchor: int) -> Sequence[Rating | None]:
    """Bradley-Terry at two players, Plackett-Luce on placements beyond; none without matches."""
    count, seed = len(store.names), int(store.runs[0]["seed"])
    boards = len(matches.keys)
    if not boards:
        return [None] * count
    if store.players > 2:
        played = store.played("match")
        places = places_of(played.gains, played.winner)  # matches start at 0
        keys = np.stack([played.seeds, played.boards], axis=1)
        board = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        return plackett_luce(played.lineups, places, board, count, anchor, seed)
    shares = np.zeros((boards, count, count))
    for (a, b), meeting in matches.meetings.items():
        shares[meeting.boards, a, b] = meeting.shares_by_board
        shares[meeting.boards, b, a] = 1 - shares[meeting.boards, a, b]
    return bradley_terry(shares, anchor, seed)


def _sources(store: Store) -> list[dict[str, int]]:
    """Of each agent the sums of all columns over its seats in single deals, or in matches where there are none."""
    played = store.played("deal")
    if not len(played.boards):
        played = store.played("match")
    columns = store.frame["sources"]
    totals = [played.sources[played.lineups == agent].sum(axis=0).tolist() for agent in range(len(store.names))]
    return [dict(zip(columns, total, strict=True)) for total in totals]


__all__ = ["Prepared", "Progress", "Ranking", "prepare", "rank", "ranking_of", "scores_of_store"]
