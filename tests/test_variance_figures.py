"""The table of variance factors: boards from 0-0 alone, and what is written."""

import numpy as np

from agents import load
from chicago_env.rules import Rules
from eval.boards import board_root, make_board
from eval.variance_figures import from_nothing, measured
from tests.test_eval_variance import meeting_of


def test_boards_from_nothing_are_those_with_even_numbers() -> None:
    root = board_root(0, "deal")
    for number in range(20):
        scores = make_board(root, number, "deal", 2, Rules()).scores
        assert (number % 2 == 1) or scores == (0, 0)
    assert any(any(make_board(root, number, "deal", 2, Rules()).scores) for number in range(1, 20, 2))
    dealt = meeting_of("deal", [[0, 1], [1, 0]], [[3, 0], [2, 1], [1, 0], [0, 5], [7, 0], [0, 0]], [-1] * 6)
    kept = from_nothing(dealt, np.arange(3))
    assert kept.points_by_board.tolist() == dealt.points_by_board[[0, 2]].tolist()
    assert kept.points.shape == (2, 2)


def test_an_agent_against_itself_has_no_factor_and_others_have_all() -> None:
    novice, tricks = load("heuristic:novice"), load("heuristic:tricks")
    novice_again = load("heuristic:novice")
    novice_again.name = "again"  # type: ignore[misc]  # one name for each of two agents
    assert measured(novice, novice_again, 2, 20, 0)[1:] == (None, None, None)
    found = measured(tricks, novice, 2, 50, 0)
    assert found.wins is None
    assert all(factor is not None and 0.5 < factor < 20 for factor in found[1:])
