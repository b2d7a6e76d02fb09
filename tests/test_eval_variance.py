"""Variance factors of pairs: worked out by hand, where nothing varies, and shown."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval import Ranking, rank
from eval.boards import Kind, lineups
from eval.scores import NO_MEETING, Meeting, scores_of
from eval.sources import COLUMNS
from eval.stats import variance_factor
from eval.store import Played
from eval.variance import factors_of

NOTHING = [0, 0, 0]


def meeting_of(
    kind: Kind,
    seating: Sequence[Sequence[int]],
    gains: Sequence[Sequence[int]],
    winner: list[int],
    *,
    tables: bool = False,
    equity: np.ndarray | None = None,
    luck: np.ndarray | None = None,
) -> Meeting:
    """Agents 0 and 1 on boards that all have the same lineups, in the order of a store."""
    lineup = np.tile(np.array(seating), (len(gains) // len(seating), 1))
    n, players = lineup.shape
    boards = np.repeat(np.arange(n // len(seating)), len(seating))
    played = Played(
        np.zeros(n, np.int64),
        boards,
        lineup,
        np.array(gains),
        np.array(winner),
        np.array(winner) < 0,
        np.ones(n, np.int64),
        np.zeros((n, players, len(COLUMNS)), np.int64),
        np.zeros((n, players), bool),
        np.zeros((n, 0), np.int64) if luck is None else luck,
    )
    return scores_of(kind, played, 1 + lineup.max(), tables=tables, equity=equity).meetings[0, 1]


def test_two_players_by_hand() -> None:
    seating = [[0, 1], [1, 0]]
    # 3, -1 and 1, 5 for agent 0: s² of games 20/3, of boards (1 and 3) 2
    changes = np.array([[0.4, -0.4], [0.2, -0.2], [0.2, -0.2], [-0.6, 0.6]])
    dealt = meeting_of("deal", seating, [[3, 0], [2, 1], [1, 0], [0, 5]], [-1] * 4, equity=changes)
    # won, lost; won, won; nobody, won: s² of games .175, of boards (.5, 1, .75) .0625
    decided = meeting_of("match", seating, [[0, 0]] * 6, [0, 0, 0, 1, -1, 1])
    found = factors_of(dealt, decided)
    assert found.points == pytest.approx((20 / 3) / (2 * 2))
    assert found.wins == pytest.approx(0.175 / (2 * 0.0625))
    # .4, -.2 and .2, .6: s² of games .35/3, of boards (.1 and .4) .045
    assert found.equity == pytest.approx((0.35 / 3) / (2 * 0.045))


def test_one_against_two_by_hand() -> None:
    seating = sorted([*lineup] for lineup in lineups(3))  # 001 010 011 100 101 110
    alone = [2, 4, 5]  # where agent 0 has one seat
    gains = np.zeros((12, 3), np.int64)
    gains[2] = [3, 0, 0]  # its seat: 3 more than the others
    gains[6] = [0, 0, -6]  # agent 1 has one seat, and loses 6
    changes = gains / 100
    # won by agent 0: board 0 alone 1 of 3, with two seats 2 of 3; board 1 2 of 3 and 3 of 3
    won = np.zeros(12, bool)
    won[[2, 0, 1, 6 + 2, 6 + 4, 6 + 0, 6 + 1, 6 + 3]] = True
    winner = [lineup.index(0 if won[i] else 1) for i, lineup in enumerate(seating * 2)]
    dealt = meeting_of("deal", seating, gains.tolist(), [-1] * 12, equity=changes)
    found = factors_of(dealt, meeting_of("match", seating, [NOTHING] * 12, winner))
    # games 3, 6 and ten times 0: s² (45 - 81/12)/11; boards .5 and 1: s² 1/8
    assert found.points == pytest.approx((45 - 81 / 12) / 11 / (6 / 8))
    # of the change only what its own seats gained: .03 and 0 otherwise, boards .005 and 0
    assert found.equity == pytest.approx((9 - 9 / 12) / 11 / (6 * 0.5**2 / 2))
    # with one seat 3 of 6 won, with two 5 of 6; boards 3/6 and 5/6
    assert alone == [i for i, lineup in enumerate(seating) if lineup.count(0) == 1]
    assert found.wins == pytest.approx((6 / 4 + 5 / 36 + 25 / 36) / 11 / (6 * (1 / 3) ** 2 / 2))


def test_the_seats_of_an_agent_are_no_luck() -> None:
    """Won by its seats alone, one of four and three of four: without the seats, games at random are no better."""
    chance = np.random.default_rng(0)
    seating = sorted([*lineup] for lineup in lineups(4))
    winner = chance.integers(0, 4, 8 * 4000).tolist()
    decided = meeting_of("match", seating, [[0] * 4] * len(winner), winner)
    assert factors_of(NO_MEETING, decided).wins == pytest.approx(1, abs=0.07)


def test_tables_by_hand() -> None:
    seating = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    seat = [0, 2, 1]  # of agent 0
    gains = np.zeros((6, 3), np.int64)
    gains[range(6), seat * 2] = [2, 0, 1, 4, 0, 5]
    dealt = meeting_of("deal", seating, gains.tolist(), [-1] * 6, tables=True, equity=gains / 10)
    # who won: 0, 1, 2 and 0, 0, 2; where neither did they are level
    winner = [lineup.index(who) for lineup, who in zip(seating * 2, [0, 1, 2, 0, 0, 2], strict=True)]
    found = factors_of(dealt, meeting_of("match", seating, [NOTHING] * 6, winner, tables=True))
    assert found.points == found.equity == pytest.approx((22 / 5) / (3 * 2))
    # 1, 0, ½ and 1, 1, ½: s² of games 1/6, of boards (1/2 and 5/6) 1/18
    assert found.wins == pytest.approx((1 / 6) / (3 / 18))


@pytest.mark.parametrize(("players", "field"), [(2, "pairs"), (3, "pairs"), (5, "pairs"), (3, "tables")])
def test_the_same_agent_twice_has_no_factors(players: int, field: str) -> None:
    """Every board is even, to the last bit: there is nothing that independent games could be measured by."""
    names = "abc" if field == "tables" else "ab"
    ranking = rank(dict.fromkeys(names, "random"), players=players, field=field, boards=15, matches=8, max_deals=40)
    for pair in ranking.pairs:
        assert pair.points.mean == pair.equity.mean == 0
        factors = pair.to_dict()["variance_factors"]
        if field == "tables":  # who of two stands higher is not even on a board of three rotations
            assert factors.pop("wins") > 1
        assert list(factors.values()) == [None] * len(factors)


def test_what_does_not_vary_has_no_factor() -> None:
    thirds = np.full(3, 0.1)  # numpy finds their variance to be above 0
    assert thirds.var(ddof=1) > 0
    assert variance_factor(np.array([[0.2, 0.0]] * 3), thirds) is None
    assert set(factors_of(NO_MEETING, NO_MEETING)) == {None}


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return rank(
        {name: name for name in ("heuristic:novice", "heuristic:poker")}, boards=60, matches=20, max_deals=20, seed=3
    )


def test_factors_are_shown(ranking: Ranking, tmp_path: Path) -> None:
    (pair,) = ranking.pairs
    shown = [f"{factor:.2f}" for factor in pair.variance_factors if factor]
    assert len(shown) == 3
    assert pair.variance_factors.corrected is None
    assert len(set(shown)) == 3
    line = next(line for line in ranking.text().splitlines() if line.startswith("heuristic:novice against"))
    assert line.split()[-3:] == shown
    page = ranking.write_report(tmp_path).read_text("utf-8")
    assert "".join(f"<td>{factor}</td>" for factor in shown) in page
    assert list(ranking.to_dict()["pairs"][0]["variance_factors"].values()) == list(pair.variance_factors)
