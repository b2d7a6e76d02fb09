"""Single decisions of the ladder's stronger agents, case by case, on games with given cards."""

from collections.abc import Sequence

import numpy as np
import pytest

from agents import load
from agents.equity import closed_chance
from agents.heuristics.solve import STACK, leader_takes_all, leader_takes_last
from agents.heuristics.sweep import lead_sweep
from agents.odds import unseen_of
from chicago_env.bits import FULL_DECK
from chicago_env.cards import parse_cards
from chicago_env.game import Game
from tests.test_novice import game_of, go

SCRATCH = np.empty(STACK, dtype=np.int64)

EXPERT, TRICKS, POKER = (load(f"heuristic:{name}") for name in ("expert", "tricks", "poker"))


def answer(agent: object, game: Game, seed: int = 0) -> str:
    observation, mask = game.observe()
    action = agent.act(observation[None], mask[None], np.random.default_rng(seed))  # type: ignore[attr-defined]
    return game.text_of(int(action[0]))


def cards(text: str) -> int:
    return sum(1 << card for card in parse_cards(text))


# --- drawing ---


@pytest.mark.parametrize(
    ("hand", "discards"),
    [
        ("2C 5D 5H TS AC", "discard 2C TS AC"),
        ("2C 5D 5H TS TC", "discard 2C"),
        ("2C 5C 7C TC AD", "discard AD"),  # four of a suit
        ("5C 6D 7H 8S KC", "discard KC"),  # open straight
        ("5C 5D 5H TS TC", "keep all"),
        ("2C 5C 7C TC AC", "keep all"),
    ],
)
def test_poker_draws_by_the_odds(hand: str, discards: str) -> None:
    assert answer(POKER, game_of(hand, "3C 6S 8H JS QD")) == discards


def test_a_made_flush_is_not_broken_for_the_last_trick() -> None:
    rules = "pagat+exchanges=1"
    for agent in (TRICKS, EXPERT):
        assert answer(agent, game_of("2C 5C 7C TC JC", "3S 6S 8H JS QD", rules=rules)) == "keep all"


def test_an_ace_is_kept_for_the_last_exchange() -> None:
    """A low pair and an ace: drawing for points lets the ace go, with the last trick in mind it stays."""
    rules = "pagat+exchanges=1+scored_exchanges=no"
    game = game_of("2C 2D 7H 9S AC", "3S 6S 8H JS QD", rules=rules)
    assert "AC" in answer(POKER, game)
    for agent in (TRICKS, EXPERT):
        assert "AC" not in answer(agent, game)


# --- Chicago ---


def asked(hand: str, other: str, scores: Sequence[int], *, leads: bool = True) -> Game:
    hands = (hand, other) if leads else (other, hand)
    rules = "pagat+scored_exchanges=no+exchanges=1"
    game = game_of(*hands, rules=rules, scores=scores if leads else scores[::-1])
    return go(game, "keep all", "keep all")


def test_calls_what_pays_and_not_what_does_not() -> None:
    assert answer(EXPERT, asked("AC KC AD KD QC", "2C 5D 7H TS 9C", [20, 0])) == "call chicago"
    assert answer(EXPERT, asked("AC AD KH KS QC", "2C 5D 7H TS 9C", [20, 0])) == "call chicago"
    assert answer(EXPERT, asked("AC 3D 7H 8S QC", "2C 5D 7S TS 9C", [20, 0])) == "no chicago"


def test_spoils_a_deal_that_an_opponent_would_win_with() -> None:
    """A weak hand against 51 points: a call that fails ends the deal before anything scores."""
    weak = ("2C 4D 7H 8S 9C", "AS AD KH KS QC")
    assert answer(EXPERT, asked(*weak, [48, 51])) == "call chicago"
    assert answer(EXPERT, asked(*weak, [20, 20])) == "no chicago"


def test_the_counted_chance_of_all_tricks() -> None:
    """Five top cards of a suit cannot fail; one king under an ace not seen fails if that ace is held: 5 of 47 cards."""
    for hand, chance in (("AC KC QC JC TC", 1.0), ("AC KC QC JC AD", 1.0), ("AC AD AH KS AS", 1.0)):
        own = cards(hand)
        assert lead_sweep(own, unseen_of(own), 5, 1) == pytest.approx(chance)
    own = cards("AC KC QC JC KD")
    assert lead_sweep(own, unseen_of(own), 5, 1) == pytest.approx(42 / 47)
    assert lead_sweep(own, unseen_of(own), 5, 2) == pytest.approx((42 / 47) ** 2)


def test_the_counted_chance_is_that_of_solved_deals() -> None:
    rng = np.random.default_rng(0)
    counted, solved = 0.0, 0
    for _ in range(4000):
        order = rng.permutation(52)
        own, other = (sum(1 << int(card) for card in order[k : k + 5]) for k in (0, 5))
        counted += lead_sweep(own, FULL_DECK & ~own, 5, 1)
        solved += leader_takes_all(own, other, SCRATCH)
    assert counted / 4000 == pytest.approx(solved / 4000, abs=0.012)


# --- tricks ---


def brute_last(leads: int, follows: int) -> bool:
    """Whether the leader takes the last trick, without any shortcut."""
    for lead in range(52):
        if not leads >> lead & 1:
            continue
        suit = [c for c in range(52) if follows >> c & 1 and c & 3 == lead & 3]
        good = True
        for reply in suit or [c for c in range(52) if follows >> c & 1]:
            beaten = reply & 3 == lead & 3 and reply > lead
            a, b = leads & ~(1 << lead), follows & ~(1 << reply)
            if a == 0:
                good = good and not beaten
            else:
                good = good and (not brute_last(b, a) if beaten else brute_last(a, b))
        if good:
            return True
    return False


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_solved_tricks_against_brute_force(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(200 if size < 4 else 30):
        order = rng.permutation(30)
        own, other = (sum(1 << int(card) for card in order[k : k + size]) for k in (0, size))
        assert leader_takes_last(own, other, SCRATCH) == brute_last(own, other)


def brute_all(leads: int, follows: int) -> bool:
    """Whether the leader takes every trick, without any shortcut."""
    for lead in (c for c in range(52) if leads >> c & 1):
        held = [c for c in range(52) if follows >> c & 1]
        replies = [c for c in held if c & 3 == lead & 3] or held
        rest = leads & ~(1 << lead)
        if all(
            (reply & 3 != lead & 3 or reply < lead) and (rest == 0 or brute_all(rest, follows & ~(1 << reply)))
            for reply in replies
        ):
            return True
    return False


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_solved_sweeps_against_brute_force(size: int) -> None:
    rng = np.random.default_rng(size)
    found = set()
    for _ in range(300):
        order = rng.permutation(30)
        own, other = (sum(1 << int(card) for card in order[k : k + size]) for k in (0, size))
        expected = brute_all(own, other)
        assert leader_takes_all(own, other, SCRATCH) == expected
        found.add(expected)
    assert found == {False, True}


def last_two(first: str, second: str) -> Game:
    """Two players with two cards left each; the first leads."""
    rules = "pagat+scored_exchanges=no+exchanges=1+chicago=no"
    game = go(game_of(f"AS KS QS {first}", f"4S 3S 2S {second}", rules=rules), "keep all", "keep all")
    return go(game, "play AS", "play 2S", "play KS", "play 3S", "play QS", "play 4S")


@pytest.mark.parametrize("agent", [TRICKS, EXPERT])
def test_the_fifth_trick_is_planned_from_the_fourth(agent: object) -> None:
    """Who takes the fourth trick leads the fifth."""
    game = go(last_two("TC 3H", "JC 2D"), "play TC")
    assert answer(agent, game) == "play JC"


# --- match equity ---


def test_closed_chances() -> None:
    def chance(*scores: int, seat: int = 0) -> float:
        return closed_chance(np.array(scores, dtype=np.float64), len(scores), 52, seat)

    assert chance(0, 0) == pytest.approx(0.5)
    assert chance(52, 51) == 1
    assert chance(51, 52) == 0
    assert chance(53, 53) == 0.5
    assert sum(chance(10, 20, 30, seat=s) for s in range(3)) == pytest.approx(1)
    assert chance(50, 40) > chance(20, 10) > 0.5
