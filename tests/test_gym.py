"""The Gymnasium environments: the interface, seats, rewards, opponents, and that the vector form plays the same matches."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import agents
from chicago_env import records
from chicago_env.errors import ChicagoError, IllegalAction, SetupError
from chicago_env.gym_env import ChicagoEnv
from chicago_env.gym_vector import ChicagoVectorEnv, RowGenerators
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.rules import PRESETS
from chicago_env.view import decode

ENV = "chicago_env/Chicago-v0"


def pick(masks, rng):
    """A random legal action for each row of masks (B, A)."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def play(env, seed, actions=None):
    """Plays a match at random; gives what was seen: observations, rewards, ends and the last info."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    seen, over = [(observation.tobytes(), 0.0)], False
    while not over:
        action = int(pick(info["action_mask"][None], rng)[0])
        if actions is not None:
            actions.append(action)
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((observation.tobytes(), reward))
        over = terminated or truncated
    return seen, terminated, info


class Scripted:
    """Answers as told."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def act(self, observations, masks, rng):
        self.asked.append((observations.copy(), masks.copy()))
        return self.answer(masks)


def first_legal(masks):
    return masks.argmax(axis=1)


# --- one table --------------------------------------------------------------------------------------------------------


def test_gymnasiums_own_check_passes() -> None:
    env = gymnasium.make(ENV, opponents=[agents.load("random"), agents.load("heuristic:novice")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", message=".*not set to the recommended.*|.*For Box.*|.*different from the unwrapped.*"
        )
        check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("rules", sorted(PRESETS))
@pytest.mark.parametrize("players", range(2, 7))
def test_every_preset_and_number_of_players(rules, players) -> None:
    env = ChicagoEnv(players=players, rules=rules, max_deals=4)
    seats = set()
    for seed in range(3):
        _, _, info = play(env, seed)
        seats.add(info["seat"])
        assert len(info["scores"]) == players
        assert not info["action_mask"].any()
        assert records.verify_record(records.record_of_game(env.game)).deals <= 4
    assert seats <= set(range(players))


def test_the_same_seed_gives_the_same_match_and_no_seed_the_next() -> None:
    env = ChicagoEnv(players=3, max_deals=3)
    first = play(env, 4)
    assert play(ChicagoEnv(players=3, max_deals=3), 4)[0] == first[0]
    assert play(env, 5)[0] != first[0]
    env.reset(seed=4)
    after = env.reset()[0].tobytes()
    twin = ChicagoEnv(players=3, max_deals=3)
    twin.reset(seed=4)
    assert twin.reset()[0].tobytes() == after != first[0][0][0]


def test_the_own_seat_is_fixed_or_changes() -> None:
    assert {ChicagoEnv(seat=1, players=4).reset(seed=s)[1]["seat"] for s in range(9)} == {1}
    assert {ChicagoEnv(players=4).reset(seed=s)[1]["seat"] for s in range(40)} == {0, 1, 2, 3}


def test_opponents_sit_from_the_left_and_see_their_own_hand_only() -> None:
    left, right = Scripted(first_legal), Scripted(first_legal)
    env = ChicagoEnv([left, right], seat=1, max_deals=2)
    play(env, 0)
    asked = {}
    for place, opponent in ((1, left), (2, right)):
        assert opponent.asked
        for observations, masks in opponent.asked:
            view = decode(observations[0])
            assert view.to_act == 0
            assert masks.sum() > 1
            asked.setdefault(place, set()).add((view.dealer + 1 + place) % 3)
    assert asked[1] == asked[2] == {env.game.state["dealer"], (env.game.state["dealer"] - 1) % 3}


def test_forced_decisions_are_shown_on_request() -> None:
    opponent = Scripted(first_legal)
    counts = {}
    for skip in (True, False):
        opponent.asked.clear()
        env = ChicagoEnv([opponent], skip_forced=skip, max_deals=3)
        rng, forced = np.random.default_rng(0), 0
        _, info = env.reset(seed=3)
        over = False
        while not over:
            forced += info["action_mask"].sum() == 1
            _, _, terminated, truncated, info = env.step(int(pick(info["action_mask"][None], rng)[0]))
            over = terminated or truncated
        counts[skip] = forced, sum(masks.sum() == 1 for _, masks in opponent.asked)
    assert counts[True] == (0, 0)
    assert min(counts[False]) > 0


def test_rewards_and_ends() -> None:
    ends = {True: 0, False: 0}
    for seed in range(30):
        env = ChicagoEnv(players=3, rules="pagat+target=15", max_deals=4)
        seen, terminated, info = play(env, seed)
        own = info["seat"]
        total = sum(reward for _, reward in seen)
        if terminated:
            assert info["is_success"] == (info["winner"] == own)
            assert total == pytest.approx(1 if info["winner"] == own else -0.5)
        else:
            assert info["winner"] is None
            assert not info["is_success"]
            assert total == 0
        ends[terminated] += 1
        points = play(ChicagoEnv(players=3, rules="pagat+target=15", max_deals=4, reward="points"), seed)[0]
        others = [score for seat, score in enumerate(info["scores"]) if seat != own]
        assert sum(reward for _, reward in points) == pytest.approx(info["scores"][own] - sum(others) / 2)
    assert min(ends.values()) > 3


def test_options_of_a_reset() -> None:
    env = ChicagoEnv()
    env.reset(seed=0, options={"scores": [10, 20], "first_dealer": 1, "deals": 1})
    assert env.game.scores == [10, 20]
    assert env.game.state["dealer"] == 1
    assert env.game.state["max_deals"] == 1
    with pytest.raises(SetupError, match="frist_dealer"):
        env.reset(options={"frist_dealer": 1})


def test_an_illegal_action_changes_nothing() -> None:
    env = ChicagoEnv(render_mode="ansi")
    observation, info = env.reset(seed=0)
    shown = env.render()
    for action in (int((info["action_mask"] == 0).argmax()), -1, 102, 10**9):
        with pytest.raises(IllegalAction):
            env.step(action)
    assert (env.game.observe(info["seat"])[0] == observation).all()
    assert env.render() == shown


@pytest.mark.parametrize(
    "answer", [lambda masks: masks[0], lambda masks: None, lambda masks: np.zeros(1), lambda _: [1, 2]]
)
def test_an_opponents_odd_answer_is_refused(answer) -> None:
    for env in (ChicagoEnv([Scripted(answer)], seat=0), ChicagoVectorEnv(1, [Scripted(answer)], seat=0)):
        with pytest.raises(SetupError, match="opponent"):
            env.reset(seed=0, options={"first_dealer": 0})  # so that the opponent comes first
        with pytest.raises(ChicagoError):
            env.step(0 if isinstance(env, ChicagoEnv) else np.zeros(1, dtype=np.int64))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"opponents": [agents.load("random")], "players": 3}, "2 are needed"),
        ({"opponents": [object()]}, "no method `act`"),
        ({"players": 7}, "players"),
        ({"players": 1}, "players"),
        ({"rules": "pagatt"}, "pagat"),
        ({"seat": 2}, "seat"),
        ({"reward": "money"}, "win, placement, points"),
        ({"max_deals": 0}, "max_deals"),
    ],
)
@pytest.mark.parametrize("kind", [ChicagoEnv, ChicagoVectorEnv])
def test_arguments_are_checked(kind, arguments, text) -> None:
    with pytest.raises(ChicagoError, match=text):
        kind(**arguments)


# --- many tables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("reward", ["win", "placement", "points"])
def test_a_row_is_the_environment_played_alone(reward, skip_forced) -> None:
    """Opponents use chance: each row's is its own, and so is what follows a match that has ended."""
    options = {
        "opponents": [agents.load("random"), agents.load("heuristic:novice")],
        "rules": "pagat+target=15",
        "max_deals": 3,
        "reward": reward,
        "skip_forced": skip_forced,
    }
    env = gymnasium.make_vec(ENV, num_envs=5, vectorization_mode="vector_entry_point", **options)
    alone = [ChicagoEnv(**options) for _ in range(5)]
    rng, ends = np.random.default_rng(1), {"terminated": 0, "truncated": 0}
    observation, info = env.reset(seed=7)
    twins = [one.reset(seed=7 + row) for row, one in enumerate(alone)]
    for _ in range(250):
        for row, (shown, told) in enumerate(twins):
            assert (observation[row] == shown).all()
            assert (info["action_mask"][row] == told["action_mask"]).all()
            assert info["seat"][row] == told["seat"]
        actions = pick(info["action_mask"], rng)
        observation, rewards, terminations, truncations, info = env.step(actions)
        for row, one in enumerate(alone):
            shown, paid, terminated, truncated, told = one.step(actions[row])
            assert (paid, terminated, truncated) == (
                pytest.approx(rewards[row]),
                terminations[row],
                truncations[row],
            )
            twins[row] = shown, told
            if terminated or truncated:
                ends["terminated" if terminated else "truncated"] += 1
                final = info["final_info"]
                assert info["_final_obs"][row]
                assert final["_scores"][row]
                assert (info["final_obs"][row] == shown).all()
                assert final["scores"][row].tolist() == told["scores"]
                assert final["winner"][row] == (-1 if told["winner"] is None else told["winner"])
                assert final["is_success"][row] == told["is_success"]
                assert final["seat"][row] == told["seat"]
                twins[row] = one.reset()
            else:
                assert "final_obs" not in info or info["final_obs"][row] is None
    assert min(ends.values()) > 3


def test_spaces_and_seeds() -> None:
    env = ChicagoVectorEnv(3)
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert env.observation_space.shape == (3, OBSERVATION_SIZE)
    observation, _ = env.reset(seed=[5, None, 1])
    assert observation in env.observation_space
    assert (observation[[0, 2]] == ChicagoVectorEnv(3).reset(seed=[5, 6, 1])[0][[0, 2]]).all()
    following = env.reset()[0]
    assert (following != observation).any(axis=1).all()
    for seed in ([1, 2], -1, 1.5, "abc", [1, 2, 1 << 63], 1 << 63):
        with pytest.raises(SetupError, match="seed"):
            env.reset(seed=seed)
    assert (env.reset(seed=1)[0] == ChicagoVectorEnv(3).reset(seed=[1, 2, 3])[0]).all()


def test_options_hold_for_all_matches_until_the_next_reset() -> None:
    env = ChicagoVectorEnv(4, seat=0)
    _, info = env.reset(seed=0, options={"deals": 1, "scores": [3, 4], "first_dealer": 1})
    rng, ended = np.random.default_rng(0), 0
    while ended < 8:
        assert (env.games.states["max_deals"] == 1).all()
        assert (env.games.states["dealer"] == 1).all()
        _, _, _, truncations, info = env.step(pick(info["action_mask"], rng))
        ended += truncations.sum()
    env.reset()
    assert (env.games.states["scores"] == 0).all()
    assert (env.games.states["max_deals"] > 1).all()
    with pytest.raises(SetupError, match="decks"):
        env.reset(options={"decks": [list(range(52))]})


def test_the_first_own_turn_is_shown_even_if_it_is_forced() -> None:
    """Under buy stop there is nothing to choose before the hands are announced."""
    options = {"scores": [50, 0], "first_dealer": 0}
    observation, info = ChicagoEnv(seat=0).reset(seed=1, options=options)
    rows, told = ChicagoVectorEnv(2, seat=0).reset(seed=1, options=options)
    assert np.flatnonzero(info["action_mask"]).tolist() == [0]
    assert (rows[0] == observation).all()
    assert (told["action_mask"][0] == info["action_mask"]).all()


def test_samples_without_a_mask_are_legal() -> None:
    env = ChicagoEnv(max_deals=2)
    assert env.action_space.sample() == 0
    env.action_space.seed(0)
    for seed in range(3):
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
        assert env.action_space.contains(env.action_space.sample())


def test_an_illegal_action_moves_no_row() -> None:
    env = ChicagoVectorEnv(3)
    with pytest.raises(SetupError, match="reset"):
        env.step(np.zeros(3, dtype=np.int64))
    _, info = env.reset(seed=0)
    before = env.games.states.tobytes()
    actions = info["action_mask"].argmax(axis=1)
    actions[2] = 101
    with pytest.raises(IllegalAction, match="row 2"):
        env.step(actions)
    for wrong in (actions[:2], actions[:, None], actions.astype(float), None):
        with pytest.raises(SetupError, match="actions"):
            env.step(wrong)
    assert env.games.states.tobytes() == before


def test_an_opponents_illegal_action_stops_the_matches() -> None:
    env = ChicagoVectorEnv(8, [Scripted(lambda masks: np.full(len(masks), 101))])
    with pytest.raises(IllegalAction):
        env.reset(seed=0)
    with pytest.raises(SetupError, match="reset"):
        env.step(np.zeros(8, dtype=np.int64))


def test_what_was_shown_is_never_written_again() -> None:
    env = ChicagoVectorEnv(4, max_deals=1)
    observation, info = env.reset(seed=0)
    kept = observation.copy(), info["action_mask"].copy()
    info["action_mask"][:] = 0
    assert (env.action_masks() == (kept[1] != 0)).all()
    info["action_mask"][:] = kept[1]
    rng, now = np.random.default_rng(0), info
    for _ in range(30):
        now = env.step(pick(now["action_mask"], rng))[-1]
    assert (observation == kept[0]).all()
    assert (info["action_mask"] == kept[1]).all()


def test_chance_of_rows_has_the_rows_as_first_axis() -> None:
    rows = RowGenerators([np.random.default_rng(i) for i in range(3)])
    assert rows.random((3, 2))[1].tolist() == np.random.default_rng(1).random(2).tolist()
    assert rows.random(3).shape == (3,)
    with pytest.raises(SetupError, match="3 rows"):
        rows.random(2)


@pytest.mark.parametrize("options", [5, "x", [1], {"deals": 0}, {"scores": {1, 2}}, {"first_dealer": 7}])
def test_a_refused_reset_uses_up_no_seed(options) -> None:
    env, twin = ChicagoEnv(), ChicagoEnv()
    for one in (env, twin):
        one.reset(seed=4)
    for seed in (None, 9):
        with pytest.raises(SetupError):
            env.reset(seed=seed, options=options)
    for one in (env, twin):
        one.reset()
    assert env.game.setup == twin.game.setup
    with pytest.raises(SetupError):
        ChicagoVectorEnv(2).reset(options=options)


def test_seeds_and_answers_of_odd_kinds() -> None:
    env = ChicagoVectorEnv(2)
    with pytest.raises(SetupError, match="seed"):
        env.reset(seed=b"12")
    env.reset(seed=np.array(5))
    assert [setup.seed for setup in env.games.setups] == [5, 6]
    with pytest.raises(SetupError, match="actions"):
        env.step([[1], [2, 3]])

    class Ragged:
        def act(self, observations, masks, rng):
            return [[1], [1, 2]]

    with pytest.raises(SetupError, match="answered"):
        ChicagoVectorEnv(20, Ragged()).reset(seed=1)


def test_an_interrupted_opponent_stops_the_matches() -> None:
    class Stopped:
        def act(self, observations, masks, rng):
            raise KeyboardInterrupt

    env = ChicagoVectorEnv(20, Stopped())
    with pytest.raises(KeyboardInterrupt):
        env.reset(seed=1)
    with pytest.raises(SetupError, match="reset"):
        env.step(np.zeros(20, dtype=np.int64))
