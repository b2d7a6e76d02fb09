"""Boards and their play: what is keyed by what, and that nothing else matters."""

from collections.abc import Mapping

import numpy as np
import pytest

import agents
from agents import Agent, AgentError
from chicago_env.actions import NUM_ACTIONS
from chicago_env.engine.chance import key_of, unit
from chicago_env.game import Game
from chicago_env.layout import AT, OBSERVATION_SIZE
from chicago_env.notation import parse_rules
from chicago_env.setup import MatchSetup
from eval.boards import KINDS, board_root, lineups, make_board, pairs, setup_of
from eval.play import Clock, play_games
from eval.rng import AGENTS, DECISION, RowRng, decision_keys
from tests.play import PLAYERS

RANDOM = agents.load("random")
NOVICE = agents.load("heuristic:novice")
PAGAT = parse_rules("pagat")


# --- boards -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_every_agent_has_every_seat_equally_often(players: int) -> None:
    tables = np.array(lineups(players))
    assert tables.shape == (2 if players == 2 else 2 * players, players)
    assert len({tuple(table) for table in tables}) == len(tables)
    assert set((tables == 0).sum(axis=1)) == ({1} if players == 2 else {1, players - 1})
    assert set((tables == 0).sum(axis=0)) == {len(tables) // 2}


def test_pairs_are_a_round_robin() -> None:
    assert pairs(1) == []
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("kind", KINDS)
def test_boards_depend_on_root_and_number_alone(kind) -> None:
    root = board_root(7, kind)
    boards = [make_board(root, number, kind, 3, PAGAT) for number in range(100)]
    assert boards == [make_board(root, number, kind, 3, PAGAT) for number in range(100)]
    assert len({board.seed for board in boards}) == 100
    other = [make_board(board_root(8, kind), number, kind, 3, PAGAT) for number in range(100)]
    assert not {board.seed for board in boards} & {board.seed for board in other}
    assert {board.first_dealer for board in boards} == {0, 1, 2}


def test_deals_start_from_a_spread_of_scores_and_matches_from_nothing() -> None:
    deals = [make_board(board_root(1, "deal"), number, "deal", 4, PAGAT) for number in range(2000)]
    assert all(board.scores == (0, 0, 0, 0) for board in deals[::2])
    spread = np.array([board.scores for board in deals[1::2]])
    assert spread.min() == 0
    assert spread.max() == 51
    # means of 1000 numbers uniform over 0 … 51, sd 15: within four standard errors
    assert np.abs(spread.mean(axis=0) - 25.5).max() < 4 * 15 / 1000**0.5
    assert {board.max_deals for board in deals} == {1}
    matches = [make_board(board_root(1, "match"), number, "match", 4, PAGAT, 20) for number in range(20)]
    assert {board.scores for board in matches} == {(0, 0, 0, 0)}
    assert {board.max_deals for board in matches} == {20}
    for boards in (deals, matches):
        # both kinds of start have every dealer
        assert {(board.first_dealer, board.number % 2 if boards is deals else 0) for board in boards} == {
            (dealer, start) for dealer in range(4) for start in ((0, 1) if boards is deals else (0,))
        }


def test_single_deals_and_matches_have_different_cards() -> None:
    seeds = [{make_board(board_root(1, kind), n, kind, 2, PAGAT).seed for n in range(100)} for kind in KINDS]
    assert not seeds[0] & seeds[1]


# --- chance of the agents ---------------------------------------------------------------------------------------------


def keys_of(root: int, boards: list[int], seats: list[int], decisions: list[int]) -> np.ndarray:
    keys = np.zeros(len(boards), dtype=np.int64)
    decision_keys(root, np.array(boards), np.array(seats), np.array(decisions), keys)
    return keys


def test_numbers_are_keyed_row_by_row() -> None:
    rows = [(board, seat, decision) for board in range(5) for seat in range(3) for decision in range(4)]
    boards, seats, decisions = (list(column) for column in zip(*rows, strict=True))
    keys = keys_of(9, boards, seats, decisions)
    assert len(set(keys.tolist())) == len(rows)
    whole = RowRng(keys).random((len(rows), 2, 3))
    assert whole.shape == (len(rows), 2, 3)
    assert ((whole >= 0) & (whole < 1)).all()
    assert len(set(whole.ravel().tolist())) == whole.size
    for i, (board, seat, decision) in enumerate(rows):
        key = key_of(key_of(9, AGENTS, board, seat), DECISION, decision, 0)
        assert whole[i].ravel().tolist() == [unit(key, j) for j in range(6)]
    order = np.random.default_rng(0).permutation(len(rows))[:17]
    assert (RowRng(keys[order]).random((17, 2, 3)) == whole[order]).all()
    assert not (keys_of(10, boards, seats, decisions) == keys).any()


def test_later_calls_go_on_in_each_rows_stream() -> None:
    keys = keys_of(0, [0, 1, 2], [0, 0, 0], [0, 0, 0])
    whole = RowRng(keys).random((3, 5))
    rng = RowRng(keys)
    assert (rng.random(3) == whole[:, 0]).all()
    assert (rng.random((3, 4)) == whole[:, 1:]).all()


@pytest.mark.parametrize("size", [4, (4, 2), (), (2, 3)])
def test_numbers_that_are_not_by_row_are_refused(size) -> None:
    with pytest.raises(ValueError, match="the 3 rows of the batch"):
        RowRng(np.zeros(3, dtype=np.int64)).random(size)


# --- play -------------------------------------------------------------------------------------------------------------


def small_event(players: int, rules: str, kind: str, boards: int) -> tuple[list[MatchSetup], np.ndarray, np.ndarray]:
    made = [make_board(board_root(3, kind), n, kind, players, parse_rules(rules), 5) for n in range(boards)]
    tables = lineups(players)
    setups = [setup_of(board, players, parse_rules(rules)) for board in made for _ in tables]
    return setups, np.repeat(np.arange(boards), len(tables)), np.tile(np.array(tables), (boards, 1))


def replay(
    by_name: Mapping[str, Agent], setup: MatchSetup, board: int, seating: list[int], root: int
) -> tuple[list[int], bytes, int | None]:
    """One game played alone through `Game`, with plain Python in place of the kernels."""
    players = list(by_name.values())
    game = Game(setup=setup)
    decisions = [0] * setup.players
    game.play_forced()
    while not game.over:
        seat = game.seat
        observation, mask = game.observe()
        key = key_of(key_of(root, AGENTS, board, seat), DECISION, decisions[seat], 0)
        action = players[seating[seat]].act(observation[None], mask[None], RowRng(np.array([key])))
        decisions[seat] += 1
        game.step(int(action[0]))
        game.play_forced()
    return [a - b for a, b in zip(game.scores, setup.scores, strict=True)], game.choices, game.winner


@pytest.mark.parametrize(
    ("players", "rules", "kind"), [(2, "pagat", "deal"), (3, "open-card", "match"), (6, "race", "deal")]
)
def test_games_in_lock_step_are_the_games_played_alone(players: int, rules: str, kind: str) -> None:
    both = {"a": RANDOM, "b": NOVICE}
    setups, boards, seating = small_event(players, rules, kind, 6)
    games = play_games(both, setups, boards, seating, 17, keep_choices=True)
    for i, setup in enumerate(setups):
        gains, choices, winner = replay(both, setup, int(boards[i]), seating[i].tolist(), 17)
        assert games.gains[i].tolist() == gains
        assert games.choices[i] == choices
        assert games.winner[i] == (-1 if winner is None else winner)
        assert games.truncated[i] == (winner is None)


def test_neither_order_nor_size_of_a_batch_matters() -> None:
    both = {"a": RANDOM, "b": NOVICE}
    setups, boards, seating = small_event(4, "family", "match", 8)
    whole = play_games(both, setups, boards, seating, 5)
    order = np.random.default_rng(1).permutation(len(setups))
    shuffled = play_games(both, [setups[i] for i in order], boards[order], seating[order], 5)
    assert (shuffled.gains == whole.gains[order]).all()
    assert (shuffled.winner == whole.winner[order]).all()
    assert (shuffled.deals == whole.deals[order]).all()
    for i in (0, 13, len(setups) - 1):
        alone = play_games(both, [setups[i]], boards[i : i + 1], seating[i : i + 1], 5)
        assert (alone.gains[0] == whole.gains[i]).all()


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_against_itself_plays_one_game_in_every_rotation(players: int, kind: str) -> None:
    twins = {"a": RANDOM, "b": agents.load("random")}
    setups, boards, seating = small_event(players, "pagat", kind, 10)
    games = play_games(twins, setups, boards, seating, 5)
    by_board = games.gains.reshape(10, -1, players)
    assert (by_board == by_board[:, :1]).all()
    assert len(np.unique(by_board[:, 0], axis=0)) > 5


def test_agents_see_observations_and_masks_alone() -> None:
    class Spy:
        name = "spy"

        def __init__(self) -> None:
            self.calls = 0

        def act(self, observations, masks, rng):
            self.calls += 1
            assert type(observations) is np.ndarray
            assert type(masks) is np.ndarray
            assert observations.shape == (len(masks), OBSERVATION_SIZE)
            assert masks.shape == (len(masks), NUM_ACTIONS)
            # no view of anything that belongs to the games
            for array in (observations, masks):
                assert array.base is None
            assert (observations[:, AT.to_act] == 1).all()
            assert vars(rng).keys() == {"_keys", "_used"}
            actions = masks.argmax(axis=1)
            observations[:] = 255
            return actions

    class First:
        name = "first"

        def act(self, observations, masks, rng):
            return masks.argmax(axis=1)

    setups, boards, seating = small_event(3, "pagat", "deal", 5)
    spy = Spy()
    spied = play_games({"a": spy, "b": RANDOM}, setups, boards, seating, 5)
    plain = play_games({"a": First(), "b": RANDOM}, setups, boards, seating, 5)
    assert spy.calls > 0
    assert (spied.gains == plain.gains).all()


class Broken:
    """Plays well, until its turn `after`."""

    name = "not used"

    def __init__(self, what: str, after: int) -> None:
        self.what = what
        self.left = after

    def act(self, observations, masks, rng):
        actions = masks.argmax(axis=1)
        self.left -= 1
        if self.left >= 0:
            return actions
        if self.what == "raise":
            raise ZeroDivisionError("division by zero")
        if self.what == "illegal":
            return np.where(np.arange(len(actions)) == 1, (masks == 0).argmax(axis=1), actions)
        return actions[:, None] if self.what == "shape" else actions.astype(float) * np.nan


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("raise", "agent b: act.. raised ZeroDivisionError: division by zero"),
        ("illegal", "agent b, row 1: act.. returned .* which is illegal"),
        ("shape", "agent b: act.. returned int64 of shape"),
        ("nan", "agent b: act.. returned float64"),
    ],
)
@pytest.mark.parametrize("after", [0, 7])
def test_a_broken_agent_is_named(what: str, words: str, after: int) -> None:
    setups, boards, seating = small_event(2, "pagat", "match", 20)
    with pytest.raises(AgentError, match=words) as caught:
        play_games({"a": NOVICE, "b": Broken(what, after)}, setups, boards, seating, 5)
    assert caught.value.agent == "b"


def test_truncated_matches_have_no_winner() -> None:
    setups = [MatchSetup.make(2, "pagat", seed=seed, max_deals=2) for seed in range(20)]
    seating = np.tile([0, 1], (20, 1))
    games = play_games({"a": RANDOM, "b": NOVICE}, setups, np.arange(20), seating, 5)
    assert games.truncated.all()
    assert (games.winner == -1).all()
    assert (games.deals == 2).all()


def test_a_clock_leaves_the_first_call_out() -> None:
    clock = Clock()
    clock.add("a", 100.0, 5)
    assert clock.speed("a") is None
    clock.add("a", 0.5, 50)
    assert clock.speed("a") == 100
