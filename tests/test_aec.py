"""The PettingZoo environment: API, rewards, ends, copies, seeds, options and refusals."""

import copy
import json
import pickle
import warnings
import zlib

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from chicago_env import chicago_v0
from chicago_env.actions import NUM_ACTIONS
from chicago_env.errors import CardError, ChicagoError, IllegalAction, RulesError, SetupError, StateError
from chicago_env.game import Game
from chicago_env.layout import OBSERVATION_SIZE, STATE_SIZE
from chicago_env.records import record_of_game, verify_record
from tests.play import PLAYERS, RULE_SETS

REWARDS = ("win", "placement", "points")
SHORT = "race+target=15+chicago_from=none"


def choose(mask, rng) -> int:
    """A random legal action that seldom calls Chicago, so that matches end."""
    legal = np.flatnonzero(mask)
    if list(legal) == [48, 49]:
        return 49 if rng.random() < 0.1 else 48
    return int(rng.choice(legal))


def play(env, rng, limit=10**9, each=None) -> int:
    """Plays up to `limit` decisions, and on to the end where there is no limit; returns the decisions made."""
    made = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if each is not None:
            each(agent)
        if terminated or truncated:
            env.step(None)
        else:
            if made == limit:
                break
            env.step(choose(observation["action_mask"], rng))
            made += 1
    return made


def snapshot(env):
    """Everything that an episode consists of, as comparable values."""
    raw = env.unwrapped
    tables = (raw.rewards, raw._cumulative_rewards, raw.terminations, raw.truncations)
    masks = {agent: info["action_mask"].tobytes() for agent, info in raw.infos.items()}
    state = raw.game.state.tobytes()
    return raw.agent_selection, list(raw.agents), [dict(table) for table in tables], masks, state


# --- PettingZoo's own tests ---


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("skip_forced", [False, True])
def test_api_test(players: int, skip_forced: bool, capsys) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # api_test only knows the names of PettingZoo's own environments with a mask beside the observation.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        # It also looks at the masks of agents whose match is over.
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        env = chicago_v0.env(players, SHORT, reward="points", max_deals=3, skip_forced=skip_forced)
        api_test(env, num_cycles=300)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("players", PLAYERS)
def test_seed_test(players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seed_test(lambda: chicago_v0.env(players, "open-card"), num_cycles=50)


# --- rewards and the end ---


def expected_return(reward: str, game: Game, start) -> list[float]:
    """Returns of the seats from the result alone."""
    p = game.players
    if reward == "points":
        gained = np.array(game.scores) - np.array(start)
        return [g - (gained.sum() - g) / (p - 1) for g in gained]
    if reward == "win":
        if game.winner is None:
            return [0.0] * p
        return [1.0 if seat == game.winner else -1 / (p - 1) for seat in range(p)]
    # Places: the winner first, then by score; tied seats share the mean of theirs.
    keys = [(seat == game.winner, score) for seat, score in enumerate(game.scores)]
    order = sorted(keys, reverse=True)
    values = [1 - 2 * place / (p - 1) for place in range(p)]
    return [float(np.mean([v for v, key in zip(values, order, strict=True) if key == own])) for own in keys]


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_are_zero_sum_and_sum_over_last_to_the_return(players: int, reward: str) -> None:
    rng = np.random.default_rng(players)
    ends = set()
    actors = set()
    for episode in range(12):
        skip = episode % 3 == 0
        env = chicago_v0.raw_env(players, SHORT, reward=reward, max_deals=2 + 30 * (episode % 2), skip_forced=skip)
        start = [int(s) for s in rng.integers(-5, 10, players)]
        env.reset(seed=episode, options={"scores": start})
        total = dict.fromkeys(env.possible_agents, 0.0)
        last_actor = None
        for agent in env.agent_iter():
            assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-9) or len(env.agents) < players
            observation, amount, terminated, truncated, _ = env.last()
            total[agent] += amount
            if terminated or truncated:
                ends.add((terminated, truncated))
                env.step(None)
            else:
                last_actor = agent
                env.step(choose(observation["action_mask"], rng))
        actors.add(last_actor)
        assert list(total.values()) == pytest.approx(expected_return(reward, env.game, start))
    assert ends == {(True, False), (False, True)}
    assert len(actors) > 1


def test_placement_puts_the_winner_first_even_with_fewer_points() -> None:
    # Seat 1 holds a royal flush, which wins at once, while seat 0 has more points.
    deck = ["2C", "TS", "3D", "JS", "4C", "QS", "5D", "KS", "7H", "AS"]
    rest = [r + s for r in "23456789TJQKA" for s in "CDHS" if r + s not in deck]
    env = chicago_v0.raw_env(2, "pagat", reward="placement")
    env.reset(seed=0, options={"decks": [deck + rest], "scores": [40, 0], "first_dealer": 1})
    for action in (0, 0, 32, 41):
        env.step(action)
    assert env.game.reason == "instant"
    assert env.game.winner == 1
    assert env.game.scores[0] == 40
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


def test_tied_places_are_shared() -> None:
    env = chicago_v0.raw_env(3, "pagat+chicago=no+last_trick_points=0+exchanges=1", reward="placement", max_deals=1)
    # Nobody ever has a pair: the deal gives no points, and the start scores decide.
    deck = ["2C", "4D", "6H", "5C", "7D", "9H", "8S", "TC", "QD", "JS", "KC", "3D", "AC", "8H", "4S"]
    rest = [r + s for r in "23456789TJQKA" for s in "CDHS" if r + s not in deck]
    env.reset(options={"decks": [deck + rest], "scores": [7, 3, 3], "first_dealer": 2})
    while not env.game.over:
        action = 0 if env.game.phase == "exchange" else env.game.legal_actions()[0]
        env.step(action)
    assert env.game.scores == [7, 3, 3]
    assert env.rewards == {"player_0": 1.0, "player_1": -0.5, "player_2": -0.5}
    assert all(env.truncations.values())
    assert not any(env.terminations.values())


@pytest.mark.parametrize("players", PLAYERS)
def test_at_the_end_every_agent_is_selected_once_in_order_of_seats(players: int) -> None:
    env = chicago_v0.raw_env(players, SHORT, max_deals=1)
    env.reset(seed=players)
    rng = np.random.default_rng(0)
    while not env.game.over:
        assert not any(env.terminations.values())
        assert not any(env.truncations.values())
        env.step(choose(env.infos[env.agent_selection]["action_mask"], rng))
    final = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        final.append(agent)
        assert terminated != truncated
        assert terminated == (env.game.winner is not None)
        assert not observation["action_mask"].any()
        assert not info["action_mask"].any()
        assert observation["observation"].any()
        with pytest.raises(ValueError, match="None"):
            env.step(0)
        env.step(None)
    assert final == env.possible_agents
    assert env.agents == []
    assert env.rewards == env.infos == env.terminations == env.truncations == {}
    with pytest.raises(IllegalAction, match="over"):
        env.step(0)


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("players", [2, 3, 6])
def test_skipping_forced_decisions_gives_the_same_match(players: int, rules: str) -> None:
    for reward in REWARDS:
        plain = chicago_v0.raw_env(players, rules, reward=reward, max_deals=3)
        quick = chicago_v0.raw_env(players, rules, reward=reward, max_deals=3, skip_forced=True)
        plain.reset(seed=4)
        quick.reset(seed=4)
        totals = [dict.fromkeys(plain.possible_agents, 0.0), dict.fromkeys(plain.possible_agents, 0.0)]
        rng = np.random.default_rng(1)
        skipped = 0
        while plain.agents:
            observation, amount, terminated, truncated, _ = plain.last()
            totals[0][plain.agent_selection] += amount
            action = None if terminated or truncated else choose(observation["action_mask"], rng)
            choice = action is None or observation["action_mask"].sum() > 1
            if choice:
                assert plain.agent_selection == quick.agent_selection
                assert (quick.observe(quick.agent_selection)["observation"] == observation["observation"]).all()
                totals[1][quick.agent_selection] += quick.last()[1]
                quick.step(action)
            skipped += not choice
            plain.step(action)
        assert skipped > 0
        assert not quick.agents
        assert plain.record() == quick.record()
        assert totals[0] == pytest.approx(totals[1])


# --- what is given ---


@pytest.mark.parametrize("players", PLAYERS)
def test_observations_and_masks(players: int) -> None:
    env = chicago_v0.raw_env(players, "open-card+four=choose", max_deals=3)
    env.reset(seed=11)

    def check(acting: str) -> None:
        for agent in env.agents:
            seen = env.observe(agent)
            mask = seen["action_mask"]
            assert env.observation_space(agent).contains(seen)
            assert (env.infos[agent]["action_mask"] == mask).all()
            assert (seen["observation"] == env.game.observation(env.possible_agents.index(agent))).all()
            legal = env.game.legal_actions() if agent == acting and not env.game.over else []
            assert np.flatnonzero(mask).tolist() == legal
        assert bool(env.infos[acting]["action_mask"].any()) != env.game.over
        assert env.state_space.contains(env.state())

    assert play(env, np.random.default_rng(3), each=check) > 40
    assert env.state().shape == (STATE_SIZE,)
    assert env.observation_space("player_0")["observation"].shape == (OBSERVATION_SIZE,)
    assert env.action_space("player_1").n == NUM_ACTIONS
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    with pytest.raises(KeyError):
        env.observe("player_9")


def test_state_holds_every_card_once() -> None:
    env = chicago_v0.raw_env(3, "open-card", max_deals=2)
    env.reset(seed=5)
    rng = np.random.default_rng(5)

    def check(acting: str) -> None:
        if env.game.over:
            return
        hidden = env.state()[OBSERVATION_SIZE:].reshape(-1, 52)
        seat = env.possible_agents.index(acting)
        for place in range(1, 3):
            assert np.flatnonzero(hidden[place - 1]).tolist() == env.game.hand((seat + place) % 3)
        assert hidden.sum(axis=0).max() == 1
        assert hidden[5].sum() == int(env.game.state["stock_n"])
        assert (env.state()[:OBSERVATION_SIZE] == env.observe(acting)["observation"]).all()

    play(env, rng, each=check)


def test_nothing_that_was_handed_out_is_written_again() -> None:
    env = chicago_v0.raw_env(3, SHORT, max_deals=2)
    env.reset(seed=1)
    given = []

    def keep(agent: str) -> None:
        for _ in range(2):
            seen = env.last()[0]
            arrays = [seen["observation"], seen["action_mask"], env.infos[agent]["action_mask"], env.state()]
            given.extend((array, array.copy()) for array in arrays)

    play(env, np.random.default_rng(1), each=keep)
    env.reset()
    assert len(given) > 200
    assert all((array == kept).all() for array, kept in given)
    assert all(array.flags.writeable and array.base is None for array, _ in given)


def test_writing_into_what_was_handed_out_changes_nothing() -> None:
    env = chicago_v0.raw_env(3)
    env.reset(seed=1)
    expected = copy.deepcopy(env.last()[0])
    for _ in range(2):
        seen = env.last()[0]
        seen["observation"][:] = 9
        seen["action_mask"][:] = 0
    env.state()[:] = 9
    again = env.last()[0]
    assert (again["observation"] == expected["observation"]).all()
    assert (again["action_mask"] == expected["action_mask"]).all()
    assert env.infos[env.agent_selection]["action_mask"].any()


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("action", [None, -1, 32, 101, 102, 10**30, 1.0, np.float64(3), "1", [1], np.array([1])])
def test_an_illegal_action_is_refused_and_changes_nothing(wrapped: bool, action: object) -> None:
    env = (chicago_v0.env if wrapped else chicago_v0.raw_env)(3, "pagat", reward="points")
    env.reset(seed=2)
    env.step(3)
    before, seen = snapshot(env), env.observe(env.agent_selection)
    with pytest.raises(IllegalAction) as caught:
        env.step(action)
    assert caught.value.seat == env.unwrapped.game.seat
    assert caught.value.phase == "exchange"
    assert caught.value.legal == tuple(range(32))
    assert "keep all" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert snapshot(env) == before
    assert (env.observe(env.agent_selection)["observation"] == seen["observation"]).all()
    env.step(np.int32(5))


# --- seeds and options ---


def opening(env) -> bytes:
    return env.unwrapped.game.state.tobytes()


def test_seeds() -> None:
    env, other = chicago_v0.env(4), chicago_v0.env(4)

    def openings(some, seed, count=4):
        some.reset(seed=seed)
        result = [opening(some)]
        for _ in range(count - 1):
            some.reset()
            result.append(opening(some))
        return result

    zero, five = openings(env, 0), openings(env, 5)
    assert openings(other, 0) == zero
    assert openings(env, 5) == five == openings(other, np.int64(5))
    assert len({*zero, *five}) == 8
    env.reset(seed=0)
    env.reset(seed=None)
    assert opening(env) == zero[1]
    assert openings(chicago_v0.env(4), None)[0] != openings(chicago_v0.env(4), None)[0]


def test_a_seed_is_that_of_the_match() -> None:
    env = chicago_v0.raw_env(3, "race", max_deals=5)
    env.reset(seed=77)
    play(env, np.random.default_rng(0))
    game = Game(3, "race", seed=77, max_deals=5)
    for action in env.game.choices:
        game.play_forced()
        game.step(action)
    game.play_forced()
    assert env.record() == record_of_game(game, env.possible_agents)
    assert env.record()["seed"] == 77


def test_options() -> None:
    env = chicago_v0.raw_env(2, "pagat")
    order = np.random.default_rng(0).permutation(52).tolist()
    env.reset(seed=3, options={"decks": [order], "scores": [4, -6], "first_dealer": 1, "deals": 2})
    assert env.game.hand(0) == sorted(order[:10:2])
    assert env.game.hand(1) == sorted(order[1:10:2])
    assert env.game.scores == [4, -6]
    assert env.game.dealer == 1
    play(env, np.random.default_rng(0))
    assert len(env.record()["deals"]) == 2
    assert env.record()["result"]["reason"] == "truncated"
    env.reset(seed=3)
    assert env.game.scores == [0, 0]
    assert env.game.setup.max_deals == 200


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"deck": []}, SetupError),
        ({"decks": [[0] * 52]}, SetupError),
        ({"decks": [["XX"] * 52]}, CardError),
        ({"scores": [1]}, SetupError),
        ({"first_dealer": 2}, SetupError),
        ({"deals": 0}, SetupError),
        ({"deals": True}, SetupError),
    ],
)
def test_a_refused_reset_leaves_the_match_and_the_seeds(options, error) -> None:
    env = chicago_v0.raw_env(2)
    env.reset(seed=3)
    env.step(1)
    before = snapshot(env)
    with pytest.raises(error):
        env.reset(options=options)
    with pytest.raises(error):
        env.reset(seed=9, options=options)
    assert snapshot(env) == before
    env.reset()
    twin = chicago_v0.raw_env(2)
    twin.reset(seed=3)
    twin.reset()
    assert opening(env) == opening(twin)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"players": 7}, RulesError, "players"),
        ({"rules": "nope"}, RulesError, "unknown preset 'nope'"),
        ({"reward": "score"}, SetupError, "win, placement, points"),
        ({"max_deals": 0}, SetupError, "max_deals"),
        ({"render_mode": "rgb_array"}, SetupError, "human, ansi"),
    ],
)
def test_refused_arguments(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        chicago_v0.env(**arguments)


def test_refused_seeds() -> None:
    env = chicago_v0.env(2)
    for seed in (-1, 1 << 63, 1.5, True):
        with pytest.raises(SetupError, match="seed"):
            env.reset(seed=seed)


def test_calls_in_the_wrong_order_are_refused() -> None:
    env = chicago_v0.env(2)
    with pytest.raises(Exception, match="reset"):
        env.step(0)
    with pytest.raises(AttributeError, match="reset"):
        _ = env.agent_selection


# --- copies and records ---


def through_pickle(env):
    return pickle.loads(pickle.dumps(env))  # noqa: TID251  # our own bytes


def through_state(env):
    raw = env.unwrapped
    arguments = {name: getattr(raw, name) for name in ("players", "rules", "reward", "max_deals", "skip_forced")}
    twin = chicago_v0.env(**arguments)
    twin.reset(seed=123)
    twin.set_state(env.get_state())
    return twin


@pytest.mark.parametrize("way", [copy.deepcopy, through_pickle, through_state])
@pytest.mark.parametrize(("players", "rules"), [(2, "pagat"), (3, "open-card"), (6, "family+four=choose")])
def test_copies_continue_exactly(way, players: int, rules: str) -> None:
    env = chicago_v0.env(players, rules, reward="points", max_deals=3)
    env.reset(seed=8)
    rng = np.random.default_rng(8)
    at = 0
    while env.agents:
        env.agent_iter()
        if at % 7 == 0 or env.unwrapped.game.over:
            twin = way(env)
            assert snapshot(twin) == snapshot(env)
            choices = np.random.default_rng(at)
            followed, original = [], []
            for some, log in ((twin, followed), (copy.deepcopy(env), original)):
                mine = copy.deepcopy(choices)
                play(some, mine, 25, each=lambda agent, some=some, log=log: log.append((agent, *some.last()[1:4])))
                some.reset()
                log.append(opening(some))
            assert followed == original
            assert len(followed) > 1
        action = None
        if not env.unwrapped.game.over:
            action = choose(env.last()[0]["action_mask"], rng)
        env.step(action)
        at += 1


def test_a_copy_does_not_share_its_match() -> None:
    env = chicago_v0.env(3)
    env.reset(seed=8)
    twin = copy.deepcopy(env)
    before = snapshot(env)
    twin.step(31)
    assert snapshot(env) == before


def test_refused_states() -> None:
    env = chicago_v0.raw_env(3, "race", reward="points")
    env.reset(seed=1)
    env.step(7)
    state = env.get_state()
    before = snapshot(env)
    for wrong in (
        b"",
        "text",
        state[:-1],
        state[:20] + b"?" + state[21:],
        env.game.get_state(),
    ):
        with pytest.raises(StateError):
            env.set_state(wrong)
    for arguments, name in (
        ({"players": 2, "rules": "race", "reward": "points"}, "players"),
        ({"players": 3, "rules": "pagat", "reward": "points"}, "rules"),
        ({"players": 3, "rules": "race", "reward": "win"}, "reward"),
        ({"players": 3, "rules": "race", "reward": "points", "skip_forced": True}, "skip_forced"),
    ):
        other = chicago_v0.raw_env(**arguments)
        with pytest.raises(StateError, match=name):
            other.set_state(state)
    assert snapshot(env) == before


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("players", PLAYERS)
def test_records_verify_and_their_rules_are_taken(players: int, rules: str) -> None:
    env = chicago_v0.raw_env(players, rules, max_deals=2)
    env.reset(seed=2)
    play(env, np.random.default_rng(2))
    record = json.loads(json.dumps(env.record()))
    verify_record(record)
    assert record["names"] == env.possible_agents
    assert record["result"]["scores"] == env.game.scores
    assert chicago_v0.raw_env(players, record["rules"]).rules == env.rules
    assert env.record(["x"] * players)["names"] == ["x"] * players


def test_the_record_of_a_match_in_progress() -> None:
    env = chicago_v0.raw_env(2)
    env.reset(seed=1)
    assert env.record()["result"] is None
    assert env.record()["deals"][0]["events"] == []
    env.step(1)
    assert [event[:2] for event in env.record()["deals"][0]["events"]] == [
        ["exchange", env.game.setup.players - 1 - env.game.seat]
    ]
    with pytest.raises(ChicagoError):
        verify_record(env.record())


@pytest.mark.parametrize(
    ("path", "value"),
    [(("rewards", "player_0"), 10**400), (("rewards", "player_0"), float("nan"))]
    + [(("generator", "state", "state"), number) for number in (-1, 1 << 200)],
)
def test_states_with_impossible_numbers_are_refused(path, value) -> None:
    env = chicago_v0.raw_env(2)
    env.reset(seed=1)
    head = len(chicago_v0._MAGIC)
    body = json.loads(env.get_state()[head + 4 :])
    place = body
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    data = json.dumps(body).encode()
    with pytest.raises(StateError, match="damaged"):
        env.set_state(env.get_state()[:head] + zlib.crc32(data).to_bytes(4, "big") + data)
