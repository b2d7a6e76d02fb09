"""Agents that fail cost themselves the deal; the event goes on, and its result does not depend on how it was played."""

import numpy as np
import pytest

import agents
from agents import AgentError
from chicago_env.actions import NUM_ACTIONS
from chicago_env.layout import AT
from chicago_env.setup import MatchSetup
from eval.boards import Kind
from eval.faults import FAULT_PENALTY, Fault, Referee
from eval.play import Games, play_games
from eval.sources import FAULT, points_of
from tests.test_eval_play import Broken, small_event

RANDOM = agents.load("random")
NOVICE = agents.load("heuristic:novice")


class Flawed:
    """Plays the first legal action; fails where a number of its observation says so, whatever else is in the batch."""

    name = "flawed"

    def __init__(self, what: str, one_in: int = 40) -> None:
        self.what = what
        self.one_in = one_in
        self.calls = 0

    def bad(self, observations: np.ndarray) -> np.ndarray:
        return (observations[:, AT.hand : AT.hand + 52] @ np.arange(52) % self.one_in) == 0

    def act(self, observations, masks, rng):
        self.calls += 1
        actions = masks.argmax(axis=1)
        bad = self.bad(observations) & (self.what != "none")
        if self.what == "illegal":
            return np.where(bad, (masks == 0).argmax(axis=1), actions)
        if self.what == "range":
            return np.where(bad, NUM_ACTIONS, actions)
        if not bad.any():
            return actions
        if self.what == "raise":
            raise ZeroDivisionError("division by zero")
        if self.what == "exit":
            raise SystemExit(1)
        return actions[:, None] if self.what == "shape" else actions * np.nan


def play(event: tuple, by_name: dict, **options) -> Games:
    setups, boards, seating = event
    return play_games(by_name, setups, boards, seating, 17, on_fault="forfeit", **options)


FIELDS = ("gains", "winner", "truncated", "deals", "sources")


def same(one: Games, other: Games) -> bool:
    arrays = all(np.array_equal(getattr(one, n), getattr(other, n)) for n in FIELDS)
    return arrays and one.faults == other.faults and np.array_equal(one.forfeited, other.forfeited)


KINDS = {
    "raise": "ERROR",
    "exit": "ERROR",
    "illegal": "INVALID",
    "range": "INVALID",
    "shape": "INVALID",
    "nan": "INVALID",
}


@pytest.mark.parametrize(("what", "status"), KINDS.items())
@pytest.mark.parametrize(("players", "rules", "kind"), [(2, "pagat", "deal"), (3, "family", "match")])
def test_a_fault_is_recorded_and_the_event_goes_on(
    what: str, status: str, players: int, rules: str, kind: Kind
) -> None:
    event = small_event(players, rules, kind, 25)
    games = play(event, {"a": RANDOM, "b": Flawed(what)}, max_faults=None)
    assert games.faults
    assert (points_of(games.sources) == games.gains).all()
    assert (games.sources[:, :, FAULT] <= 0).all()
    assert games.sources[:, :, FAULT].sum() == -FAULT_PENALTY * len(games.faults)
    assert {fault.status for fault in games.faults} == {status}
    assert {fault.agent for fault in games.faults} == {"b"}
    assert [fault.game for fault in games.faults] == sorted(fault.game for fault in games.faults)
    assert not games.forfeited.any()
    for fault in games.faults:
        assert event[2][fault.game, fault.seat] == 1
        assert fault.reason.startswith("act() r")
    # who has no fault plays as if there were none elsewhere
    plain = play_games({"a": RANDOM, "b": Flawed("none")}, *event, 17)
    clean = np.ones(len(event[0]), dtype=bool)
    clean[[fault.game for fault in games.faults]] = False
    assert clean.any()
    assert (games.gains[clean] == plain.gains[clean]).all()


def test_a_void_single_deal_costs_the_seat_at_fault_and_nobody_else() -> None:
    event = small_event(4, "race", "deal", 20)
    games = play(event, {"a": RANDOM, "b": Flawed("raise")}, max_faults=None)
    at_fault = {fault.game: fault.seat for fault in games.faults}
    assert len(at_fault) == len(games.faults) > 5
    for game, seat in at_fault.items():
        assert games.gains[game].tolist() == [-FAULT_PENALTY if s == seat else 0 for s in range(4)]
        assert games.winner[game] == -1
        assert games.truncated[game]
        assert games.deals[game] == 1


def test_a_match_goes_on_with_the_next_deal() -> None:
    """The other side wins: a seat that fails in every deal falls by the penalty each time and never scores."""
    setups = [MatchSetup.make(2, "pagat", seed=seed, max_deals=6) for seed in range(10)]
    event = (setups, np.arange(10), np.tile([0, 1], (10, 1)))
    games = play(event, {"a": RANDOM, "b": Broken("raise", 0)}, max_faults=None)
    assert (games.gains == [0, -6 * FAULT_PENALTY]).all()
    assert [(fault.deal, fault.decision) for fault in games.faults if fault.game == 3] == [(i, i) for i in range(6)]
    assert (games.deals == 6).all()


def test_what_was_scored_in_a_void_deal_is_taken_back() -> None:
    class FailsInTheTricks(Flawed):
        def bad(self, observations):
            return observations[:, AT.trick] > 0

    event = small_event(2, "family", "match", 10)
    failing = play(event, {"a": NOVICE, "b": FailsInTheTricks("raise")}, max_faults=None)
    assert len(failing.faults) > 20
    deals = [sum(fault.game == game for fault in failing.faults) for game in range(len(failing.gains))]
    for game, faults in enumerate(deals):
        if faults == failing.deals[game]:  # every deal was void, though hands had been scored in them
            seat = event[2][game].tolist().index(1)
            assert failing.gains[game, seat] == -faults * FAULT_PENALTY
            assert failing.gains[game, 1 - seat] == 0
    assert any(faults == failing.deals[game] for game, faults in enumerate(deals))


@pytest.mark.parametrize("max_faults", [1, 3, 10, None])
@pytest.mark.parametrize("what", ["raise", "illegal"])
def test_neither_batch_nor_order_of_play_matters(what: str, max_faults: int | None) -> None:
    setups, boards, two = small_event(3, "pagat", "match", 6)
    seating = (two + np.arange(len(two))[:, None]) % 3  # all pairs of the three
    whole = play(
        (setups, boards, seating), {"a": RANDOM, "b": Flawed(what), "c": Flawed("nan", 60)}, max_faults=max_faults
    )
    counts: dict[str, int] = {}
    for i in range(len(setups)):
        one = setups[i : i + 1], boards[i : i + 1], seating[i : i + 1]
        alone = play(
            one, {"a": RANDOM, "b": Flawed(what), "c": Flawed("nan", 60)}, max_faults=max_faults, faults_before=counts
        )
        assert alone.gains[0].tolist() == whole.gains[i].tolist()
        assert alone.winner[0] == whole.winner[i]
        assert (alone.forfeited[0] == whole.forfeited[i]).all()
        assert [f._replace(game=i) for f in alone.faults] == [f for f in whole.faults if f.game == i]
        for fault in alone.faults:
            counts[fault.agent] = counts.get(fault.agent, 0) + 1
    if max_faults is not None:
        assert counts["b"] == max_faults
        assert whole.forfeited.any()


def test_after_the_last_fault_the_rest_is_forfeited() -> None:
    event = small_event(2, "pagat", "match", 20)
    games = play(event, {"a": NOVICE, "b": Broken("raise", 0)}, max_faults=3)
    assert (points_of(games.sources) == games.gains).all()
    assert len(games.faults) == 3
    last = games.faults[-1].game
    for game in range(last, 40):
        seat = event[2][game].tolist().index(1)
        assert games.forfeited[game].tolist() == [s == seat for s in range(2)]
        assert games.gains[game].tolist() == [-FAULT_PENALTY if s == seat else 0 for s in range(2)]
        assert games.winner[game] == 1 - seat
        assert not games.truncated[game]
        assert games.deals[game] == 0


def test_an_agent_that_is_out_is_asked_no_more() -> None:
    event = small_event(2, "pagat", "deal", 10)
    flawed = Flawed("none")
    games = play(event, {"a": NOVICE, "b": flawed}, max_faults=3, faults_before={"b": 3})
    assert flawed.calls == 0
    assert games.forfeited[event[2] == 1].all()
    assert not games.forfeited[event[2] == 0].any()
    assert (games.winner == -1).all()  # single deals have no winner, forfeited or not


def test_an_agent_that_fails_only_in_company_is_recorded() -> None:
    class Lonely:
        name = "lonely"

        def act(self, observations, masks, rng):
            if len(masks) > 1:
                raise RuntimeError("one at a time")
            return masks.argmax(axis=1)

    games = play(small_event(2, "pagat", "deal", 3), {"a": NOVICE, "b": Lonely()}, max_faults=None)
    assert games.faults
    assert all("one at a time" in fault.reason for fault in games.faults)


def test_records_are_kept_of_clean_games_only() -> None:
    from chicago_env.records import record_of

    event = small_event(2, "pagat", "match", 15)
    games = play(event, {"a": NOVICE, "b": Flawed("raise", 90)}, max_faults=None, keep_choices=True)
    faulty = {fault.game for fault in games.faults}
    assert 0 < len(faulty) < 30
    for game, setup in enumerate(event[0]):
        if game in faulty:
            assert games.choices[game] == b""
        else:
            record = record_of(setup, games.choices[game])
            assert record["result"]["scores"] == games.gains[game].tolist()


def test_by_default_a_fault_ends_everything() -> None:
    with pytest.raises(AgentError) as caught:
        play_games({"a": NOVICE, "b": Flawed("nan", 2)}, *small_event(2, "pagat", "deal", 3), 17)
    assert caught.value.status == "INVALID"


def test_faults_without_failures_change_nothing() -> None:
    event = small_event(4, "open-card", "match", 5)
    plain = play_games({"a": RANDOM, "b": NOVICE}, *event, 17)
    assert same(play(event, {"a": RANDOM, "b": NOVICE}), plain)
    assert plain.faults == ()


# --- the rule, by itself ---------------------------------------------------------------------------------------------


def fault(game: int, seat: int, agent: str) -> Fault:
    return Fault(game, seat, agent, "ERROR", 0, 0, "")


def test_a_forfeited_game_counts_no_faults_of_others() -> None:
    """Agent b is out in game 0, so that its fault of a in game 1 does not count, and a plays on in game 2."""
    seating = np.array([[0, 1], [0, 1], [0, 2], [0, 2]])
    referee = Referee("abc", seating, 1)
    referee.add([fault(1, 0, "a")])
    assert referee.out.tolist() == [False, True, True, True]
    referee.add([fault(0, 1, "b")])
    assert referee.out.tolist() == [True, True, False, False]
    assert [f.game for f in referee.faults] == [0]
    assert referee.winner(0) == 0
    assert referee.winner(1) == 0


def test_who_wins_a_forfeited_match() -> None:
    seating = np.array([[0, 1, 0, 2], [1, 0, 0, 0], [0, 0, 0, 0]])
    referee = Referee("abc", seating, 2, {"a": 2})
    assert [referee.winner(game) for game in range(3)] == [1, 0, -1]
    assert referee.forfeited.tolist() == [[True, False, True, False], [False, True, True, True], [True] * 4]
