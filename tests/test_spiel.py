"""The OpenSpiel game: OpenSpiel's own random simulations, and that it plays the matches of the engine."""

import numpy as np
import pytest

from chicago_env.actions import NUM_ACTIONS
from chicago_env.chicago_v0 import raw_env
from chicago_env.errors import ChicagoError, SetupError
from chicago_env.layout import BLOCKS, OBSERVATION_SIZE
from chicago_env.rules import PRESETS

pyspiel = pytest.importorskip("pyspiel")

from chicago_env.spiel import BASE, DIGITS, ChicagoState  # noqa: E402 - it needs pyspiel


def load(**params):
    return pyspiel.load_game("python_chicago", params)


def started(game, seed: int) -> ChicagoState:
    state = game.new_initial_state()
    for place in reversed(range(DIGITS)):
        state.apply_action(seed // BASE**place % BASE)
    return state


def play(state, rng, seen=lambda state: None) -> None:
    while not state.is_terminal():
        seen(state)
        state.apply_action(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize(
    "rules", [*sorted(PRESETS), "open-card+four=choose+show_broken=yes+penalty=15+chicago_from=none"]
)
def test_open_spiels_own_simulations(players, rules) -> None:
    for options in ({"max_deals": 2}, {"max_deals": 1, "reward": "points", "skip_forced": False}):
        game = load(players=players, rules=rules, **options)
        pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("reward", ["win", "placement", "points"])
def test_it_is_the_match_of_its_seed(reward) -> None:
    seed = 2**62 + 12345
    game = load(players=3, rules="race+target=15", max_deals=3, reward=reward)
    state, rng = started(game, seed), np.random.default_rng(0)
    env = raw_env(3, "race+target=15", reward=reward, max_deals=3, skip_forced=True)
    env.reset(seed=seed)
    totals = np.zeros(3)
    while not state.is_terminal():
        observation, *_ = env.last()
        assert state.current_player() == int(env.agent_selection[-1])
        assert state.legal_actions() == np.flatnonzero(observation["action_mask"]).tolist()
        blocks = np.concatenate([(np.zeros(b.size) + b.offset, np.zeros(b.size) + b.scale) for b in BLOCKS], axis=1)
        tensor = np.array(state.observation_tensor(state.current_player()))
        assert np.allclose(tensor * blocks[1] + blocks[0], observation["observation"], atol=1e-4)
        assert state.returns() == [0, 0, 0]
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        env.step(action)
        totals += [env.rewards[f"player_{seat}"] for seat in range(3)]
    assert state.returns() == pytest.approx(totals)
    assert sum(state.returns()) == pytest.approx(0)
    assert state.match.scores == env.infos["player_0"]["scores"]


def test_chance_spells_every_seed() -> None:
    assert BASE**DIGITS == 1 << 63
    game = load()
    assert started(game, (1 << 63) - 1).match.setup.seed == (1 << 63) - 1
    state = game.new_initial_state()
    assert state.is_chance_node()
    outcomes = state.chance_outcomes()
    assert len(outcomes) == game.max_chance_outcomes() == BASE
    assert sum(share for _, share in outcomes) == 1
    assert state.observation_tensor(0) == [0] * OBSERVATION_SIZE
    assert state.information_state_string(1) == "player 1\n\nhistory " + state.recall(1)


def test_a_copy_goes_on_by_itself() -> None:
    game, rng = load(players=4, max_deals=2), np.random.default_rng(3)
    state = started(game, 5)
    for _ in range(20):
        state.apply_action(int(rng.choice(state.legal_actions())))
    before, twin = str(state), state.clone()
    play(twin, rng)
    assert str(state) == before
    again = game.new_initial_state()
    for action in state.history():
        again.apply_action(action)
    assert str(again) == before
    for seat in range(4):
        assert again.information_state_string(seat) == state.information_state_string(seat)


def test_strings_remember_what_tensors_of_matches_do_not() -> None:
    assert load(max_deals=1).get_type().provides_information_state_tensor
    assert not load(max_deals=2).get_type().provides_information_state_tensor
    state = started(load(max_deals=1), 0)
    assert len(state.information_state_tensor(0)) == OBSERVATION_SIZE
    actions = state.legal_actions()
    children = [state.child(actions[0]), state.child(actions[-1])]
    own, other = state.current_player(), 1 - state.current_player()
    for player in (own, other):
        assert len({child.information_state_string(player) for child in children}) == 2
    # Which card goes is seen by the own player alone.
    children = [state.child(1), state.child(2)]
    assert children[0].observation_string(other) == children[1].observation_string(other)
    assert children[0].information_state_string(other) == children[1].information_state_string(other)
    assert children[0].information_state_string(own) != children[1].information_state_string(own)


def test_longest_and_highest_are_limits() -> None:
    rng = np.random.default_rng(0)
    for reward in ("win", "points"):
        game = load(players=3, rules="open-card+four=choose", max_deals=2, reward=reward, skip_forced=False)
        for seed in range(10):
            state = started(game, seed)
            play(state, rng)
            assert len(state.history()) - DIGITS <= game.max_game_length()
            assert max(map(abs, state.returns())) <= game.max_utility() == -game.min_utility()
    assert game.num_distinct_actions() == NUM_ACTIONS
    assert game.max_chance_nodes_in_history() == DIGITS


def test_texts() -> None:
    game = load(rules="pagat+target=51+hand_points=0,1,2,3,4,5,6,7,8,9")
    assert "pagat+target:51+hand_points:0;1;2;3;4;5;6;7;8;9" in str(game)
    assert pyspiel.load_game(str(game)).rules == game.rules
    assert game.rules.target == 51
    state = started(game, 1)
    assert state.action_to_string(state.current_player(), 0) == state.match.text_of(0)
    assert game.new_initial_state().action_to_string(pyspiel.PlayerId.CHANCE, 3) == "seed digit 3"


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"players": 7}, "players"),
        ({"rules": "pagatt"}, "pagat"),
        ({"max_deals": 0}, "max_deals"),
        ({"reward": "money"}, "win, placement, points"),
    ],
)
def test_impossible_parameters_are_refused(params, text) -> None:
    with pytest.raises((ChicagoError, pyspiel.SpielError), match=text):
        load(**params)


def test_observers_of_other_kinds_are_refused() -> None:
    game = load()
    with pytest.raises(SetupError, match="one player"):
        game.make_py_observer(
            pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
        )
    with pytest.raises(SetupError, match="parameters"):
        game.make_py_observer(None, {"x": 1})
    observer = game.make_py_observer()
    observer.set_from(started(game, 1), 0)
    assert observer.dict["hand"].sum() == 5
