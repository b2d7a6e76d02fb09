"""Agents that are made for some games only are refused for others before anything is played, by every tool."""

import gymnasium
import pytest

import agents
import chicago_env  # noqa: F401 - registers the environment
from chicago_env.cli import BAD_INPUT
from chicago_env.errors import SetupError
from chicago_env.notation import parse_rules
from eval import rank
from train.cli import run

OTHER_RULES, OTHER_PLAYERS = "made for the rules pagat, not for race", "made for 2 players, not for 3"


@pytest.mark.parametrize("spec", ["ppo-2p", "ppo-2p-canonical?greedy=yes", "search:policy?checkpoint=ppo-2p"])
def test_networks_and_searches_with_them_say_what_they_play(spec) -> None:
    agent = agents.load(spec)
    agent.check_game(2, parse_rules("pagat"))
    with pytest.raises(SetupError, match=OTHER_RULES):
        agent.check_game(2, parse_rules("race"))
    with pytest.raises(SetupError, match=OTHER_PLAYERS):
        agent.check_game(3, parse_rules("pagat"))
    with pytest.raises(SetupError, match="not for"):
        agent.check_game(2, parse_rules("pagat+target=51"))


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
@pytest.mark.parametrize("opponents", [["ppo-2p"], {"random": 1.0, "ppo-2p": 1.0}])
def test_opponents(make, opponents) -> None:
    make("chicago_env/Chicago-v0", opponents=opponents).close()
    with pytest.raises(SetupError, match=OTHER_RULES):
        make("chicago_env/Chicago-v0", opponents=opponents, rules="race")
    with pytest.raises(SetupError, match=OTHER_PLAYERS):
        make("chicago_env/Chicago-v0", opponents=["ppo-2p", "random"])


def test_rankings() -> None:
    with pytest.raises(SetupError, match=OTHER_RULES):
        rank({"a": "random", "b": "ppo-2p"}, rules="race", boards=1, matches=0, max_faults=10)
    with pytest.raises(SetupError, match=OTHER_PLAYERS):
        rank({"a": "random", "b": agents.load("ppo-2p")}, players=3, boards=1, matches=0)


@pytest.mark.parametrize(
    "words",
    [
        ["eval", "rank", "random", "ppo-2p"],
        ["eval", "match", "random", "ppo-2p"],
        ["eval", "sprt", "random", "ppo-2p", "--out", "test.json"],
        ["play", "--against", "ppo-2p"],
        ["play", "--against", "random", "--hint", "ppo-2p"],
    ],
)
def test_commands(words, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*words, "--rules", "race"]) == BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == f"chicago: error: ppo-2p is {OTHER_RULES}"
    assert not list(tmp_path.iterdir())
