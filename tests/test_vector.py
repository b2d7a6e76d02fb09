"""Batches against single games, row by row; what is handed out, refused and kept."""

import copy
import pickle

import numpy as np
import pytest

from chicago_env.errors import ChicagoError, IllegalAction, RulesError, SetupError
from chicago_env.game import Game
from chicago_env.kernels.batch import match_seed
from chicago_env.records import record_of, record_of_game, verify_record
from chicago_env.setup import MatchSetup
from chicago_env.vector import BatchEnv, GameBatch
from tests.play import PLAYERS, RULE_SETS, pick


def follow(env: BatchEnv, steps: int, rng: np.random.Generator) -> int:
    """Plays `steps` steps of `env` and the same matches alone, comparing everything; returns finished matches."""
    now = env.reset()
    games = [Game(setup=env.setup(row)) for row in range(env.num_envs)]
    finished = 0
    for game in games:
        if env.skip_forced:
            game.play_forced()
    for _ in range(steps):
        hidden = env.hidden()
        for row, game in enumerate(games):
            observation, mask = game.observe()
            assert (now.observation[row] == observation).all()
            assert (now.mask[row] == mask).all()
            assert now.seat[row] == game.seat
            assert (hidden[row] == game.full_state()[len(observation) :]).all()
        actions = pick(now.mask, rng)
        before = [game.scores for game in games]
        now = env.step(actions)
        for row, game in enumerate(games):
            game.step(int(actions[row]))
            if env.skip_forced:
                game.play_forced()
            assert now.done[row] == game.over
            assert now.rewards[row].sum() == pytest.approx(0, abs=1e-5)
            if env.reward == "points":
                gained = [b - a for a, b in zip(before[row], game.scores, strict=True)]
                others = [(sum(gained) - own) / (game.players - 1) for own in gained]
                expected = [own - other for own, other in zip(gained, others, strict=True)]
                assert now.rewards[row, : game.players].tolist() == pytest.approx(expected, abs=1e-4)
            if game.over:
                finished += 1
                outcome = env.outcome
                assert outcome.scores[row, : game.players].tolist() == game.scores
                assert outcome.winner[row] == (-1 if game.winner is None else game.winner)
                assert outcome.truncated[row] == (game.reason == "truncated")
                assert outcome.deals[row] == game.deal + 1
                games[row] = Game(setup=env.setup(row))
                if env.skip_forced:
                    games[row].play_forced()
    return finished


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("skip_forced", [False, True])
def test_rows_are_single_games(players: int, skip_forced: bool) -> None:
    rng = np.random.default_rng(players)
    rules = [RULE_SETS[i % len(RULE_SETS)] for i in range(16)]
    env = BatchEnv(
        16, players, rules, seed=players, max_deals=2, reward="points", start_scores=52, skip_forced=skip_forced
    )
    assert follow(env, 150, rng) > 16


def test_rows_may_differ_in_rules_and_players() -> None:
    env = BatchEnv(10, [2, 3, 4, 5, 6] * 2, [*RULE_SETS, "pagat", "race"], seed=9, max_deals=1, reward="placement")
    assert env.players == 6
    assert follow(env, 120, np.random.default_rng(1)) > 10


@pytest.mark.parametrize("reward", ["win", "placement", "points"])
def test_rewards_of_an_absent_seat_are_zero(reward: str) -> None:
    env = BatchEnv(2, [2, 6], "race+target=5", seed=1, reward=reward)
    now = env.reset()
    seen = 0.0
    rng = np.random.default_rng(0)
    for _ in range(300):
        now = env.step(pick(now.mask, rng))
        assert (now.rewards[0, 2:] == 0).all()
        seen += float(np.abs(now.rewards[0, :2]).sum())
    assert seen > 0


def test_threads_make_no_difference() -> None:
    runs = []
    for threads in (1, 3):
        env = BatchEnv(700, 4, "open-card", seed=5, num_threads=threads)
        rng = np.random.default_rng(2)
        now = env.reset()
        trail = []
        for _ in range(60):
            now = env.step(pick(now.mask, rng))
            trail.append([array.copy() for array in now])
        runs.append(trail)
    for one, other in zip(*runs, strict=True):
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


def test_rows_differ_from_each_other_and_seeds_from_rows() -> None:
    env = BatchEnv(64, 2, seed=0)
    assert len({row.tobytes() for row in env.reset().observation}) == 64
    first = env.match_seeds
    assert len(set(first.tolist())) == 64
    env.reset()
    assert not set(env.match_seeds.tolist()) & set(first.tolist())
    env.reset(seed=0)
    assert (env.match_seeds == first).all()
    other = BatchEnv(64, 2, seed=1)
    other.reset()
    assert not set(other.match_seeds.tolist()) & set(first.tolist())


def test_matches_of_a_row_are_numbered_one_by_one() -> None:
    env = BatchEnv(4, 2, seed=6, max_deals=1)
    rng = np.random.default_rng(0)
    now, numbers = env.reset(), np.zeros(4, dtype=np.int64)
    for _ in range(100):
        assert env.match_seeds.tolist() == [match_seed(6, row, int(numbers[row])) for row in range(4)]
        now = env.step(pick(now.mask, rng))
        numbers += now.done
    assert (numbers > 2).all()


def test_arrays_handed_out_are_never_written_again() -> None:
    env = BatchEnv(256, 3, seed=3)
    rng = np.random.default_rng(0)
    kept = []
    now = env.reset()
    for i in range(60):
        if i % 3 == 0:
            kept.append((now, [array.copy() for array in now]))
        elif i % 3 == 1:
            view = now.observation[5:7]  # a view keeps the memory too
            kept.append(((view,), [view.copy()]))
        now = env.step(pick(now.mask, rng))
    for handed, copies in kept:
        assert all((a == b).all() for a, b in zip(handed, copies, strict=True))


def test_arrays_that_came_back_are_used_again() -> None:
    env = BatchEnv(256, 3, seed=3)
    rng = np.random.default_rng(0)
    now = env.reset()
    addresses = set()
    for _ in range(50):
        addresses.add(now.observation.ctypes.data)
        now = env.step(pick(now.mask, rng))
    assert len(addresses) < 10


def test_illegal_action_names_the_row_and_moves_no_row() -> None:
    env = BatchEnv(8, 3, seed=3)
    now = env.reset()
    actions = pick(now.mask, np.random.default_rng(0))
    for bad in (101, -1, 500, 10**12):
        wrong = actions.astype(np.int64)
        wrong[6] = bad
        with pytest.raises(IllegalAction, match="row 6"):
            env.step(wrong)
    twin = BatchEnv(8, 3, seed=3)
    twin.reset()
    assert (env.step(actions).observation == twin.step(actions).observation).all()


@pytest.mark.parametrize(
    "actions",
    [0, [0] * 7, [[0]] * 8, [0.0] * 8, ["a"] * 8, [True] * 8, None, np.zeros((8, 102), dtype=np.int8)],
    ids=str,
)
def test_actions_of_a_wrong_shape_or_kind(actions: object) -> None:
    env = BatchEnv(8, 3, seed=3)
    env.reset()
    with pytest.raises(SetupError, match="actions"):
        env.step(actions)


def test_hidden_cards_need_a_reset() -> None:
    with pytest.raises(SetupError, match=r"reset\(\) before hidden"):
        BatchEnv(1, 2).hidden()


def test_step_needs_a_reset() -> None:
    with pytest.raises(SetupError, match="reset"):
        BatchEnv(2).step([0, 0])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"num_envs": 1.5}, "num_envs"),
        ({"players": 7}, "7"),
        ({"players": [2]}, "players"),
        ({"rules": "poker"}, "poker"),
        ({"rules": ["pagat"]}, "rules"),
        ({"seed": -1}, "seed"),
        ({"seed": 1 << 63}, "seed"),
        ({"reward": "money"}, "money"),
        ({"max_deals": 0}, "max_deals"),
        ({"start_scores": -1}, "start_scores"),
        ({"num_threads": 0}, "num_threads"),
    ],
)
def test_bad_arguments(options: dict[str, object], text: str) -> None:
    with pytest.raises((SetupError, RulesError), match=text):
        BatchEnv(**({"num_envs": 4} | options))  # type: ignore[arg-type]  # wrong on purpose


def test_copies_and_pickles_continue_exactly() -> None:
    env = BatchEnv(16, 4, "race", seed=4, keep_matches=True)
    rng = np.random.default_rng(0)
    now = env.reset()
    for _ in range(25):
        now = env.step(pick(now.mask, rng))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: TID251 - our own bytes
    for _ in range(40):
        actions = pick(now.mask, rng)
        now = env.step(actions)
        for twin in twins:
            assert all((a == b).all() for a, b in zip(now, twin.step(actions), strict=True))


@pytest.mark.parametrize("skip_forced", [False, True])
def test_finished_matches_make_records_that_verify(skip_forced: bool) -> None:
    env = BatchEnv(6, 3, "race", seed=8, max_deals=3, start_scores=40, skip_forced=skip_forced, keep_matches=True)
    rng = np.random.default_rng(0)
    now = env.reset()
    for _ in range(400):
        now = env.step(pick(now.mask, rng))
    matches = env.take_matches()
    assert len(matches) > 6
    assert env.take_matches() == []
    for match in matches:
        verify_record(record_of(match.setup, match.choices))


def test_matches_are_kept_only_on_request() -> None:
    with pytest.raises(SetupError, match="keep_matches"):
        BatchEnv(2).take_matches()


def setups() -> list[MatchSetup]:
    return [
        MatchSetup.make(players, rules, seed=i, max_deals=2, first_dealer=i % 2, scores=[i] * players)
        for i, (players, rules) in enumerate(zip([2, 3, 4, 5, 6, 2, 3, 4], RULE_SETS, strict=True))
    ]


def test_game_batch_plays_any_rows_in_any_order() -> None:
    batch = GameBatch(setups(), skip_forced=False, keep_choices=True)
    games = [Game(setup=setup) for setup in setups()]
    rng = np.random.default_rng(0)
    while len(batch.live):
        rows = rng.permutation(batch.live)[: rng.integers(1, 9)]
        observation, mask = batch.observe(rows)
        actions = pick(mask, rng)
        assert batch.seats(rows).tolist() == [games[row].seat for row in rows]
        for i, row in enumerate(rows.tolist()):
            assert (games[row].observation() == observation[i]).all()
            games[row].step(int(actions[i]))
        batch.step(rows, actions)
    assert batch.choices is not None
    for row, game in enumerate(games):
        assert game.over
        assert record_of(batch.setups[row], bytes(batch.choices[row])) == record_of_game(game)


def test_game_batch_refuses_and_stays_as_it_was() -> None:
    batch = GameBatch(setups())
    rows = batch.live
    before = batch.states.tobytes()
    with pytest.raises(IllegalAction, match=f"row {rows[-1]}"):
        batch.step(rows, [0] * (len(rows) - 1) + [99])
    with pytest.raises(SetupError):
        batch.step(rows, [0])
    assert batch.states.tobytes() == before
    with pytest.raises(ChicagoError):
        GameBatch([])
    with pytest.raises(SetupError, match="decks"):
        GameBatch([MatchSetup.make(2, decks=[list(range(52))])])


@pytest.mark.parametrize(
    "rows", [[5], [-1], [1 << 63], [0.5], [[0]], [True], 0, None, [[0], [1, 2]], np.array([1 << 40])]
)
def test_rows_that_do_not_exist_are_refused(rows: object) -> None:
    batch = GameBatch([MatchSetup.make(2, seed=seed) for seed in range(3)])
    before = batch.states.tobytes()
    for call in (
        lambda: batch.seats(rows),
        lambda: batch.observe(rows),
        lambda: batch.step(rows, [0]),
        lambda: batch.restart(rows, [0]),
    ):
        with pytest.raises(SetupError, match="rows"):
            call()
    assert batch.states.tobytes() == before


def test_rows_that_move_are_different() -> None:
    batch = GameBatch([MatchSetup.make(2, seed=seed) for seed in range(3)])
    before = batch.states.tobytes()
    for rows in ([2, 2], [0, 2, 0]):
        with pytest.raises(SetupError, match="twice"):
            batch.step(rows, [31] * len(rows))
        with pytest.raises(SetupError, match="twice"):
            batch.restart(rows, [1] * len(rows))
        assert len(batch.observe(rows)[0]) == len(batch.seats(rows)) == len(rows)
    with pytest.raises(SetupError, match="seed"):
        batch.restart([0, 1], [5, -1])
    assert batch.setups[0].seed == 0
    assert batch.states.tobytes() == before
    batch.step([2, 0], [0, 0])


def test_odd_arguments_of_batches() -> None:
    for arguments in ({"players": [2, 2.0]}, {"players": [[2], [3]]}, {"rules": [["pagat"], ["race"]]}):
        with pytest.raises(RulesError):
            BatchEnv(2, **arguments)
    for arguments in ({"players": np.array(2)}, {"skip_forced": np.zeros(2)}, {"skip_forced": "no"}):
        with pytest.raises(SetupError):
            BatchEnv(2, **arguments)
    with pytest.raises(SetupError, match="no MatchSetup"):
        GameBatch([5])
    env = BatchEnv(2)
    env.reset()
    for row in (-1, 2, 0.0):
        with pytest.raises(SetupError, match="row"):
            env.setup(row)
    with pytest.raises(SetupError, match="actions"):
        env.step([[1], [2, 3]])
    for state in (None, [1], {name: array.tolist() for name, array in env.get_state().items()}):
        with pytest.raises(SetupError, match="saved state"):
            env.set_state(state)
