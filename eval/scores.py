"""From the games of a store to numbers of boards: the unit of every statistic.

Points and wins are whole numbers until the last division, so that nothing is lost to rounding and no order of the games
matters.
"""

import dataclasses
from typing import Any

import numpy as np

from eval.boards import Kind
from eval.luck import UNIT
from eval.store import Played

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


def of_sides(values: Ints, is_first: Bools) -> Ints:
    """(N,) difference of the mean values of two sides times P - 1, where one of them has a single seat.

    Args:
        values: (N, P) int64, by seat.
        is_first: (N, P) bool, the first agent sits there; one seat or all but one.
    """
    own, mine = is_first.sum(axis=1), (values * is_first).sum(axis=1)
    return np.asarray(mine * (is_first.shape[1] - own) - (values.sum(axis=1) - mine) * own)


def score_games(gains: Ints, winner: Ints, is_first: Bools) -> tuple[Ints, Ints, Ints]:
    """Scores games between two agents, in whole numbers.

    Args:
        gains: (N, P) points gained by each seat.
        winner: (N,) seat that won, or -1.
        is_first: (N, P) bool, the first agent sits there; one seat or all but one.

    Returns:
        (N,) each: difference of the mean points of their seats times P - 1; share of the win of the first agent times P
        (a game without a winner is shared out over all seats); 0, 1 or -1 as the first agent won, the second, nobody.
    """
    players = is_first.shape[1]
    own = is_first.sum(axis=1)
    won = is_first[np.arange(len(is_first)), winner]
    nobody = winner < 0
    wins = np.where(nobody, own, np.where(won, players, 0))
    who = np.where(nobody, -1, np.where(won, 0, 1))
    return of_sides(gains, is_first), wins, who


@dataclasses.dataclass(frozen=True)
class Meeting:
    """The boards of one kind that two agents played against each other, from the view of the first.

    Attributes:
        boards: (n,) int64, index of each board among all boards of the event.
        points: (n, G) int64, difference of points in each game, times `of_points`.
        shares: (n, G) int64, share of each game's win, times `of_shares`.
        even: (n, G) int64, the share that is even in each game, times `of_shares`: seats of the first, or 1 of 2.
        winner: (n, G) int64: 0 first, 1 second, -1 nobody.
        equity: (n, G) float64, change of the chance to win in each game, of all seats of the first together.
        of_points: what a point counts in `points`.
        of_shares: what a win counts in `shares`.
        corrected: (n, G) int64, as `points` but less the luck of the draw, times `of_points` and `eval.luck.UNIT`; None
            where it was not measured.
    """

    boards: Ints
    points: Ints
    shares: Ints
    even: Ints
    winner: Ints
    equity: Floats
    of_points: int = 1
    of_shares: int = 1
    corrected: Ints | None = None

    @property
    def points_by_board(self) -> Floats:
        """(n,) mean difference of points in a game."""
        return np.asarray(self.points.sum(axis=1) / (self.points.shape[1] * self.of_points))

    @property
    def corrected_by_board(self) -> Floats:
        """(n,) mean difference of points less the luck of the draw; (0,) where it was not measured."""
        if self.corrected is None:
            return np.zeros(0)
        return np.asarray(self.corrected.sum(axis=1) / (self.corrected.shape[1] * self.of_points * UNIT))

    @property
    def shares_by_board(self) -> Floats:
        """(n,) share of wins."""
        return np.asarray(self.shares.sum(axis=1) / (self.shares.shape[1] * self.of_shares))

    @property
    def equity_by_board(self) -> Floats:
        """(n,) mean change of the chance to win; rounded, so that what cancels out is 0 and not what floats leave of it."""
        return np.asarray(self.equity.mean(axis=1).round(12))


_NONE = np.zeros((0, 1), dtype=np.int64)
NO_MEETING = Meeting(_NONE[:, 0], _NONE, _NONE, _NONE, _NONE, np.zeros((0, 1)))
"""Two agents that did not meet."""


@dataclasses.dataclass(frozen=True)
class Scores:
    """Everything that was played of one kind, board by board.

    Attributes:
        kind: single deals or matches.
        keys: (n, 2) int64, seed and number of each board.
        meetings: by numbers of two agents, the smaller first.
        points: (n, k) value of each board for each agent, nan where it did not play it: points against the others.
        corrected: (n, k) the same, less the luck of the draw; nan where it was not measured.
        shares: (n, k) the same, share of wins.
        equity: (n, k) the same, change of the chance to win.
        games: (k,) int64, games that count in which each agent sat.
    """

    kind: Kind
    keys: Ints
    meetings: dict[tuple[int, int], Meeting]
    points: Floats
    corrected: Floats
    shares: Floats
    equity: Floats
    games: Ints


def scores_of(kind: Kind, played: Played, agents: int, *, tables: bool, equity: Floats | None = None) -> Scores:
    """Scores of a kind of boards.

    A board counts for two agents (`tables`: for those who sat at its table) when all its games are there. Games
    with faults, and forfeited ones, count as they ended (docs/evaluation.md).

    Args:
        kind: single deals or matches.
        played: the games.
        agents: k, number of agents.
        tables: all seats of a game have different agents; else there are two.
        equity: (N, P) change of each seat's chance to win; 0 by default.
    """
    if equity is None:
        equity = np.zeros(played.gains.shape)
    keys, board = np.unique(np.stack([played.seeds, played.boards], axis=1), axis=0, return_inverse=True)
    board = board.reshape(-1)  # numpy 2.0 gives another shape
    score = _score_tables if tables else _score_pairs
    return score(kind, played, agents, keys.reshape(-1, 2), board, equity)


def _whole(groups: Ints, size: int) -> Ints:
    """(m, size) rows of each group of `size`; groups are equal numbers in a row."""
    edges = np.flatnonzero(np.diff(groups, prepend=-1, append=-1)) if len(groups) else np.zeros(1, dtype=np.int64)
    starts = edges[:-1][np.diff(edges) == size]
    return np.asarray(starts[:, None] + np.arange(size))


def _score_pairs(kind: Kind, played: Played, agents: int, keys: Ints, board: Ints, equity: Floats) -> Scores:
    players = played.lineups.shape[1]
    first, second = played.lineups.min(axis=1), played.lineups.max(axis=1)
    order = np.lexsort((np.arange(len(board)), board, second, first))
    group = ((first * agents + second) * (len(keys) + 1) + board)[order]
    size = 2 if players == 2 else 2 * players
    chosen = order[_whole(group, size)]  # (m, G)
    flat = chosen.reshape(-1)
    is_first = played.lineups[flat] == first[flat, None]
    corrected = None
    if played.luck.shape[1]:
        less = played.gains[flat] * UNIT - played.luck[flat]
        corrected = of_sides(less, is_first).reshape(chosen.shape)
    points, wins, winner = (
        values.reshape(chosen.shape) for values in score_games(played.gains[flat], played.winner[flat], is_first)
    )
    even = is_first.sum(axis=1).reshape(chosen.shape)
    changes = (equity[flat] * is_first).sum(axis=1).reshape(chosen.shape)
    meetings = {}
    pair = (first * agents + second)[chosen[:, 0]] if len(chosen) else np.zeros(0, dtype=np.int64)
    for number in np.unique(pair).tolist():
        mine = pair == number
        meetings[divmod(number, agents)] = Meeting(
            board[chosen[mine, 0]],
            points[mine],
            wins[mine],
            even[mine],
            winner[mine],
            changes[mine],
            players - 1,
            players,
            None if corrected is None else corrected[mine],
        )
    games = np.zeros(agents, dtype=np.int64)
    for (a, b), meeting in meetings.items():
        games[[a, b]] += meeting.winner.size
    return Scores(
        kind,
        keys,
        meetings,
        _means(len(keys), agents, meetings, "points"),
        _means(len(keys), agents, meetings, "corrected"),
        _means(len(keys), agents, meetings, "shares"),
        _means(len(keys), agents, meetings, "equity"),
        games,
    )


def _means(boards: int, agents: int, meetings: dict[tuple[int, int], Meeting], what: str) -> Floats:
    """(n, k) values of each board for each agent, whose mean is the mean over its opponents, each weighing the same.

    Where an agent met all its opponents on every board, that is the mean over the opponents. Else it is what makes
    both the mean and its variance right: mean plus n times the influence of the board on it.
    """
    values = np.full((boards, agents), np.nan)
    for agent in range(agents):
        mine = []
        for (a, b), meeting in meetings.items():
            if agent in {a, b} and len(meeting.boards) and not (what == "corrected" and meeting.corrected is None):
                by_board = {
                    "points": meeting.points_by_board,
                    "corrected": meeting.corrected_by_board,
                    "shares": meeting.shares_by_board,
                    "equity": meeting.equity_by_board,
                }[what]
                turned = 1 - by_board if what == "shares" else 0.0 - by_board
                mine.append((meeting.boards, by_board if a == agent else turned))
        if not mine:
            continue
        everywhere = np.unique(np.concatenate([at for at, _ in mine]))
        if all(len(at) == len(everywhere) for at, _ in mine):
            total = np.zeros(boards)
            for at, by_board in mine:
                total[at] += by_board
            values[everywhere, agent] = total[everywhere] / len(mine)
            continue
        mean = sum(by_board.mean() for _, by_board in mine) / len(mine)
        values[everywhere, agent] = mean
        for at, by_board in mine:
            values[at, agent] += len(everywhere) / len(mine) * (by_board - by_board.mean()) / len(by_board)
    return values


def _score_tables(kind: Kind, played: Played, agents: int, keys: Ints, board: Ints, equity: Floats) -> Scores:
    players = played.lineups.shape[1]
    chosen = _whole(board, players)  # (m, G)
    points, corrected, shares, changes = (np.full((len(keys), agents), np.nan) for _ in range(4))
    lineups, gains, winner = played.lineups[chosen], played.gains[chosen], played.winner[chosen]
    who = lineups[:, 0] if len(chosen) else np.zeros((0, players), dtype=np.int64)
    games = np.bincount(who.reshape(-1), minlength=agents) * players
    against: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    at = board[chosen[:, 0]] if len(chosen) else np.zeros(0, dtype=np.int64)
    # (m, G, P) → by place in `who`: seat of each agent in each game
    seats = (lineups[:, :, None, :] == who[:, None, :, None]).argmax(axis=3)
    own = np.take_along_axis(gains, seats, axis=2)
    won = np.where(winner[:, :, None] < 0, 1 / players, seats == winner[:, :, None])
    change = np.take_along_axis(equity[chosen], seats, axis=2)
    value = own - (gains.sum(axis=2, keepdims=True) - own) / (players - 1)
    less = own * UNIT
    if measured := bool(played.luck.shape[1]):
        less = less - np.take_along_axis(played.luck[chosen], seats, axis=2)
    rest = less - (less.sum(axis=2, keepdims=True) - less) / (players - 1)
    for place in range(players):
        points[at, who[:, place]] = value[:, :, place].mean(axis=1)
        if measured:
            corrected[at, who[:, place]] = rest[:, :, place].mean(axis=1) / UNIT
        shares[at, who[:, place]] = won[:, :, place].mean(axis=1)
        changes[at, who[:, place]] = change[:, :, place].mean(axis=1).round(12)
    # the winner stands above all, the others by their scores
    rank = own + np.where(seats == winner[:, :, None], 1 << 40, 0)
    for i in range(players):
        for j in range(players):
            difference, apart_less = own[:, :, i] - own[:, :, j], less[:, :, i] - less[:, :, j]
            above = np.sign(rank[:, :, i] - rank[:, :, j])
            apart = (change[:, :, i] - change[:, :, j]) / 2
            code = np.where(above > 0, 0, np.where(above < 0, 1, -1))
            for m in np.flatnonzero(who[:, i] < who[:, j]).tolist():
                pair = (int(who[m, i]), int(who[m, j]))
                against.setdefault(pair, []).append(
                    (at[m], difference[m], above[m] + 1, code[m], apart[m], apart_less[m])
                )
    meetings = {}
    for pair in sorted(against):
        boards, differences, parts, codes, changed, rests = zip(
            *sorted(against[pair], key=lambda row: int(row[0])), strict=True
        )
        shares_of = np.array(parts)
        meetings[pair] = Meeting(
            np.array(boards),
            np.array(differences),
            shares_of,
            np.ones_like(shares_of),
            np.array(codes),
            np.array(changed),
            of_shares=2,
            corrected=np.array(rests) if measured else None,
        )
    return Scores(kind, keys, meetings, points, corrected, shares, changes, games)


class Standings:
    """Running means of all agents, every game weighing the same: to be shown while an event is played."""

    def __init__(self, agents: int, players: int) -> None:
        self._players = players
        self._points = np.zeros((agents, 2))  # sum and number of games
        self._wins = np.zeros((agents, 2))

    def add(self, kind: Kind, lineups: Ints, gains: Ints, winner: Ints) -> None:
        """Counts games: lineups and gains (N, P), winner (N,)."""
        rows = np.arange(len(winner))
        of_winner = np.where(winner < 0, -1, lineups[rows, winner])
        sums = gains.sum(axis=1)
        for agent in range(len(self._points)):
            here = lineups == agent
            own = here.sum(axis=1)
            sat = (own > 0) & (own < self._players)
            if not sat.any():
                continue
            if kind == "deal":
                mine = (gains * here).sum(axis=1)[sat]
                difference = mine / own[sat] - (sums[sat] - mine) / (self._players - own[sat])
                self._points[agent] += difference.sum(), sat.sum()
            else:
                share = np.where(of_winner < 0, own / self._players, of_winner == agent)[sat]
                self._wins[agent] += share.sum(), sat.sum()

    def order(self) -> list[tuple[int, float | None, float | None]]:
        """Number, points and share of wins of each agent, best first."""

        def mean(sums: Floats) -> float | None:
            return float(sums[0] / sums[1]) if sums[1] else None

        rows = [(a, mean(self._points[a]), mean(self._wins[a])) for a in range(len(self._points))]
        worst = float("-inf")
        return sorted(
            rows,
            key=lambda row: (worst if row[2] is None else row[2], worst if row[1] is None else row[1]),
            reverse=True,
        )
