"""Luck of the draw: against going through every draw, mean 0, and less spread in what is left."""

import itertools

import numpy as np
import pytest

import agents
from agents.odds import CLASSES, class_of
from chicago_env.game import Game
from chicago_env.layout import ROUNDS
from chicago_env.notation import parse_rules
from chicago_env.setup import MatchSetup
from chicago_env.vector import GameBatch
from eval.luck import COEFFICIENTS, DIGEST, HAND_VALUES, correction_of, corrections_of, luck_of
from eval.make_luck import check, play, points_of
from eval.sources import VOID
from tests.play import pick

POKER, NOVICE = agents.load("heuristic:poker"), agents.load("heuristic:novice")


def value(cards: list[int]) -> float:
    return float(HAND_VALUES[class_of(sum(1 << card for card in cards))])


def slow_luck(setup: MatchSetup, choices: bytes) -> np.ndarray:
    """One game again, every draw of one or two cards gone through; nan where more were drawn."""
    game, luck = Game(setup=setup), np.zeros((setup.players, ROUNDS))
    seen = {card for seat in range(setup.players) for card in game.hand(seat)}
    game.play_forced()
    for action in choices:
        seat, r, phase, hand = game.seat, int(game.state["round"]), game.phase, game.hand(game.seat)
        upcard = int(game.state["upcard"])
        kept = [card for i, card in enumerate(hand) if not action >> i & 1] if phase == "exchange" else hand
        drawn = 5 - len(kept)
        if phase == "exchange" and setup.rules.open_card and drawn == 1:
            drawn = 0
        if phase == "open_choice":
            drawn = int(action == 42)
        stock = [card for card in range(52) if card not in seen]
        game.step(action)
        after = game.hand(seat)
        if upcard >= 0 or game.state["upcard"] >= 0:
            seen |= {upcard, int(game.state["upcard"])}
        if game.deal == 0 and phase in {"exchange", "open_choice", "open_accept"}:
            seen |= set(after)
        if drawn and phase in {"exchange", "open_choice"}:
            draws = itertools.combinations(stock, drawn) if drawn <= 2 else None
            mean = np.nan if draws is None else np.mean([value([*kept, *cards]) for cards in draws])
            luck[seat, r] += value(after) - mean
        game.play_forced()
    return luck


@pytest.mark.parametrize("rules", ["pagat", "open-card"])
def test_luck_is_the_value_less_its_mean_over_all_draws(rules: str) -> None:
    rng = np.random.default_rng(0)
    setups = [MatchSetup(2, parse_rules(rules), seed=seed, first_dealer=0, max_deals=1) for seed in range(60)]
    batch = GameBatch(setups, keep_choices=True)
    few = [a for a in range(32) if bin(a).count("1") > 2]
    while len(live := batch.live):
        _, mask = batch.observe(live)
        mask[:, few] = 0
        batch.step(live, pick(mask, rng))
    assert batch.choices is not None
    found = luck_of(setups, batch.choices)
    assert (found != 0).mean() > 0.5
    for i, setup in enumerate(setups[:12]):
        np.testing.assert_allclose(found[i], slow_luck(setup, bytes(batch.choices[i])), atol=1e-9)


def test_the_numbers_are_fixed() -> None:
    """Results name them by this: whoever changes them changes it."""
    assert HAND_VALUES.shape == (CLASSES,)
    assert COEFFICIENTS.shape == (5, ROUNDS)
    assert np.isfinite(HAND_VALUES).all()
    assert ((COEFFICIENTS > 0) & (COEFFICIENTS < 1.5)).all()
    assert DIGEST == "e1b2bfc18263ee06"


@pytest.mark.parametrize(("players", "boards"), [(2, 1500), (4, 250)])
def test_nothing_is_shifted_and_less_is_left(players: int, boards: int) -> None:
    setups, games, mine = play(POKER, NOVICE, players, 0, boards, 5)
    off = correction_of(corrections_of(luck_of(setups, games.choices)), mine)
    size = 2 if players == 2 else 2 * players
    points, corrected = (
        x.reshape(-1, size).mean(axis=1) for x in (points_of(games, mine), points_of(games, mine) - off)
    )
    by_board = off.reshape(-1, size).mean(axis=1)
    assert abs(by_board.mean()) < 4 * by_board.std() / boards**0.5
    assert by_board.std() > 0
    assert corrected.var() < 0.9 * points.var()


def test_an_agent_against_itself_has_no_luck() -> None:
    setups, games, mine = play(POKER, POKER, 2, 0, 100, 5)
    off = correction_of(corrections_of(luck_of(setups, games.choices)), mine)
    assert off.any()
    np.testing.assert_allclose(off.reshape(-1, 2).sum(axis=1), 0, atol=1e-9)


def test_after_a_void_deal_nothing_is_measured() -> None:
    setups, games, _ = play(POKER, NOVICE, 2, 0, 3, 5)
    whole, cut = luck_of(setups, games.choices), [choices[:1] + bytes([VOID]) for choices in games.choices]
    assert luck_of([], []).shape == (0, 0, ROUNDS)
    part = luck_of(setups, cut)
    assert (part[:, :, 1:] == 0).all()
    assert np.abs(part).sum() < np.abs(whole).sum()


def test_a_line_of_the_table() -> None:
    assert check("heuristic:poker", "heuristic:novice", 2, 50, 3).count("|") == 10


@pytest.mark.slow
def test_unbiased_on_many_deals() -> None:
    corrected = []
    for low in range(0, 50_000, 5000):
        setups, games, mine = play(POKER, NOVICE, 2, low, low + 5000, 11)
        corrected.append(
            correction_of(corrections_of(luck_of(setups, games.choices)), mine).reshape(-1, 2).mean(axis=1)
        )
    off = np.concatenate(corrected)
    assert abs(off.mean()) < 3 * off.std() / len(off) ** 0.5
