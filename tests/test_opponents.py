"""Opponents of the Gymnasium environments: given by text, as objects, or drawn from pools, at one table and at many."""

import warnings
from collections import Counter
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import agents
import chicago_env._packages as packages
from agents.registry import CHECKPOINTS, AgentSpecError
from chicago_env import opponents
from chicago_env.errors import ChicagoError, SetupError
from chicago_env.gym_env import ChicagoEnv
from chicago_env.gym_vector import ChicagoVectorEnv
from chicago_env.opponents import Table
from chicago_env.rules import Rules
from tests.test_gym import pick, play

ENV = "chicago_env/Chicago-v0"
POOL = {"random": 1, "heuristic:novice": 2, None: 1}


class Marked:
    """Plays its lowest legal action, and counts the rows of each call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[int] = []

    def act(self, observations, masks, rng):
        self.calls.append(len(masks))
        return masks.argmax(axis=1)


@pytest.mark.parametrize(
    "opponents",
    [["heuristic:novice"], "random", POOL, [POOL, "heuristic:novice"], [None, POOL, "random", "random", POOL]],
)
def test_gymnasiums_own_check_passes(opponents) -> None:
    env = gymnasium.make(ENV, opponents=opponents)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", message=".*not set to the recommended.*|.*For Box.*|.*different from the unwrapped.*"
        )
        check_env(env.unwrapped, skip_render_check=True)


def test_text_is_what_agents_load_gives() -> None:
    named = ChicagoEnv(["heuristic:novice", "random"], max_deals=3)
    given = ChicagoEnv([agents.load("heuristic:novice"), agents.load("random")], max_deals=3)
    for seed in range(3):
        told = play(named, seed)
        assert told[:2] == play(given, seed)[:2]
        assert told[2]["opponents"] == ("heuristic:novice", "random")


def test_a_checkpoint_by_name_and_by_path() -> None:
    path = CHECKPOINTS / "ppo-2p.safetensors"
    seen = {str(one): play(ChicagoEnv([one], max_deals=2), 5)[0] for one in ("ppo-2p", str(path), Path(path))}
    assert seen["ppo-2p"] == seen[str(path)]
    assert ChicagoEnv("ppo-2p").reset(seed=0)[1]["opponents"] == ("ppo-2p",)


def test_one_opponent_is_loaded_once(monkeypatch) -> None:
    loaded = []
    load = agents.load

    class Agents:
        @staticmethod
        def load(spec):
            loaded.append(spec)
            return load(spec)

    monkeypatch.setattr(opponents, "sibling", lambda name: {"agents": Agents}[name])
    table = Table(["random", {"random": 1, "heuristic:novice": 1}, "heuristic:novice", None], None, Rules())
    assert loaded == ["random", "heuristic:novice"]
    assert table.names == ["random", "heuristic:novice", "random"]
    assert len(table.agents) == 3


def test_no_package_of_another_project_is_asked(monkeypatch, tmp_path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("load = lambda spec: 1 / 0")
    monkeypatch.setattr(packages, "_ROOT", tmp_path / "elsewhere")
    with pytest.raises(ImportError, match="not the package of chicago-env"):
        ChicagoEnv("random")


def test_a_pool_is_drawn_from_by_weight_and_each_place_by_itself() -> None:
    one, two, three = Marked("one"), Marked("two"), Marked("three")
    table = Table([{one: 1, two: 3, three: 0}, {one: 1, two: 3}], None, Rules())
    drawn = Counter(table.lineup(seed) for seed in range(4000))
    for (left, right), share in {(0, 0): 1 / 16, (0, 1): 3 / 16, (1, 0): 3 / 16, (1, 1): 9 / 16}.items():
        assert drawn[left, right] / 4000 == pytest.approx(share, abs=0.03)
    assert sum(drawn.values()) == 4000
    assert len(drawn) == 4


def test_what_a_place_draws_does_not_depend_on_the_others() -> None:
    pool, other = {"random": 1, None: 1}, {"heuristic:novice": 1, "random": 5}
    first, second = Table([pool, pool, "random"], None, Rules()), Table([other, pool, other], None, Rules())
    for seed in range(50):
        by_name = first.agents[first.lineup(seed)[1]], second.agents[second.lineup(seed)[1]]
        assert type(by_name[0]) is type(by_name[1])


def test_nobody_changes_within_a_match() -> None:
    one, two = Marked("one"), Marked("two")
    env = ChicagoEnv({one: 1, two: 1}, players=2, max_deals=3)
    seen = set()
    for seed in range(20):
        one.calls.clear()
        two.calls.clear()
        _, _, info = play(env, seed)
        (name,) = info["opponents"]
        seen.add(name)
        assert bool(one.calls) == (name == "one")
        assert bool(two.calls) == (name == "two")
    assert seen == {"one", "two"}


def test_the_seat_does_not_depend_on_the_pool() -> None:
    plain, pooled = ChicagoEnv(players=4), ChicagoEnv(POOL, players=4)
    for seed in range(20):
        assert plain.reset(seed=seed)[1]["seat"] == pooled.reset(seed=seed)[1]["seat"]
        assert plain.game.state["dealer"] == pooled.game.state["dealer"]
    fixed = ChicagoEnv(POOL, players=4, seat=2)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(9)} == {2}


@pytest.mark.parametrize("seat", [None, 1])
def test_a_row_is_the_environment_played_alone(seat) -> None:
    options = {"opponents": [POOL, "heuristic:novice", POOL], "rules": "race+target=15", "max_deals": 2, "seat": seat}
    env = gymnasium.make_vec(ENV, num_envs=6, vectorization_mode="vector_entry_point", **options)
    alone = [ChicagoEnv(**options) for _ in range(6)]
    rng, ends, lineups = np.random.default_rng(1), 0, set()
    observation, info = env.reset(seed=7)
    twins = [one.reset(seed=7 + row) for row, one in enumerate(alone)]
    for _ in range(120):
        for row, (shown, told) in enumerate(twins):
            assert (observation[row] == shown).all()
            assert tuple(info["opponents"][row]) == told["opponents"]
            assert info["seat"][row] == told["seat"]
            lineups.add(told["opponents"])
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
                ends += 1
                assert tuple(info["final_info"]["opponents"][row]) == told["opponents"]
                twins[row] = one.reset()
    assert ends > 6
    assert lineups == {
        (a, "heuristic:novice", b) for a in ("random", "heuristic:novice") for b in (a, "random", "heuristic:novice")
    }


def test_an_opponent_at_several_places_is_asked_once_for_all_tables() -> None:
    both = Marked("both")
    env = ChicagoVectorEnv(64, both, players=3, seat=0)
    env.reset(seed=0, options={"first_dealer": 0})
    # Seats 1 and 2 come before the own one: at first seat 1 at all tables, then seat 2.
    assert both.calls == [64, 64]
    both.calls.clear()
    env = ChicagoVectorEnv(64, both, players=3)
    env.reset(seed=0)
    assert len(both.calls) < 6


class Program(Marked):
    closed = 0

    def close(self) -> None:
        Program.closed += 1


@pytest.mark.parametrize("kind", [ChicagoEnv, ChicagoVectorEnv])
def test_what_was_loaded_here_is_closed_here(monkeypatch, kind) -> None:
    class Agents:
        load = staticmethod(Program)

    monkeypatch.setattr(opponents, "sibling", lambda name: Agents)
    given = Program("given")
    env = kind(opponents=[given, "exec:x", {"exec:x": 1, "exec:y": 1}])
    Program.closed = 0
    env.close()
    assert Program.closed == 2


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["heuristic:novise"], "heuristic:novice"),
        ({"heuristic:novise": 1}, "heuristic:novice"),
        (["nothing.safetensors"], "no such file"),
        ([{}], r"opponents\[0\]: a pool of 0"),
        ({}, "opponents: a pool of 0"),
        ([{"random": -1}], r"opponents\[0\], 'random': weight -1"),
        ([{"random": "1"}], "weight '1'"),
        ([{"random": True}], "weight True"),
        ([{"random": None}], "weight None"),
        ([{"random": float("nan")}], "weight nan"),
        ([{"random": float("inf")}], "weight inf"),
        ([{"random": 10**400}], "weight 1000"),
        ([{"random": 1e308, None: 1e308}], "add up to inf"),
        ([{"random": 0, None: 0}], "add up to 0"),
        ([["random", "heuristic:novice"]], r"\{opponent: weight\}"),
        ([{"random", "heuristic:novice"}], r"\{opponent: weight\}"),
        ([object()], "no method `act`"),
        ([{5: 1}], "no method `act`"),
        ([POOL, POOL, POOL, POOL, POOL, POOL], "players"),
        ([], "players"),
        ([b"random"], "no method `act`"),
    ],
)
@pytest.mark.parametrize("kind", [ChicagoEnv, ChicagoVectorEnv])
def test_impossible_opponents_are_refused(kind, given, text) -> None:
    with pytest.raises(ChicagoError, match=text):
        kind(opponents=given)


def test_a_number_of_players_that_does_not_fit() -> None:
    with pytest.raises(SetupError, match="2 given for 2 players; 1 are needed"):
        ChicagoEnv([POOL, "random"], players=2)
    with pytest.raises(AgentSpecError):
        ChicagoEnv("nobody", players=4)
