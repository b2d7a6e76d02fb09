"""What `heuristic:novice` does, case by case (agents/heuristics/novice.py), on games with given cards."""

from collections.abc import Sequence

import numpy as np
import pytest

from agents.heuristics.novice import NoviceAgent
from chicago_env import actions
from chicago_env.cards import CARD_NAMES, format_cards, parse_cards
from chicago_env.game import Game, cards_of
from chicago_env.layout import AT
from chicago_env.setup import MatchSetup
from chicago_env.vector import GameBatch
from tests.play import PLAYERS, RULE_SETS

NOVICE = NoviceAgent()
RNG = np.random.default_rng(0)


def deal(*hands: str, draws: str = "") -> list[str]:
    """A deck that gives these hands, the first to forehand (the seat to the dealer's left), and then these draws."""
    table = [[CARD_NAMES[card] for card in parse_cards(hand)] for hand in hands]
    top = [table[seat][i] for i in range(5) for seat in range(len(hands))]
    top += [CARD_NAMES[card] for card in parse_cards(draws)]
    assert len(set(top)) == len(top)
    return top + [name for name in CARD_NAMES if name not in top]


def game_of(*hands: str, draws: str = "", rules: str = "pagat", scores: Sequence[int] | None = None) -> Game:
    """A match whose forehand is seat 0."""
    players = len(hands)
    deck = deal(*hands, draws=draws)
    return Game(players, rules, decks=[deck], scores=scores, first_dealer=players - 1)


def answer(game: Game) -> str:
    observation, mask = game.observe()
    action = NOVICE.act(observation[None], mask[None], RNG)
    assert action.shape == (1,)
    return game.text_of(int(action[0]))


def go(game: Game, *texts: str) -> Game:
    for text in texts:
        game.step(actions.parse_action(text, game.hand(game.seat)))
    return game


@pytest.mark.parametrize(
    ("hand", "discards"),
    [
        ("2C 5D 7H TS KC", "2C 5D 7H TS KC"),
        ("2C 5D 5H TS AC", "2C TS AC"),
        ("2C 5D 5H TS TC", "2C"),
        ("5C 5D 5H TS AC", "TS AC"),
        ("5C 5D 5H 5S AC", "AC"),
        ("5C 5D 5H TS TC", ""),
        ("2C 5C 7C TC AC", ""),
        ("AC 2D 3H 4S 5C", ""),
        ("6D 7D 8D 9D TD", ""),
    ],
)
def test_exchange_keeps_what_makes_the_hand(hand: str, discards: str) -> None:
    other = format_cards([card for card in range(50, -1, -6) if CARD_NAMES[card] not in hand.split()][:5])
    game = game_of(hand, other)
    expected = actions.discard_action(parse_cards(hand), parse_cards(discards))
    assert answer(game) == game.text_of(expected)


def test_keeps_all_where_an_exchange_costs_points() -> None:
    weak, other = "2C 5D 7H TS KC", "3C 6D 8H JS QC"
    assert answer(game_of(weak, other, rules="pagat+penalty=15", scores=[46, 0])) == "keep all"
    assert answer(game_of(weak, other, rules="pagat+penalty=15", scores=[45, 0])) == "discard 2C 5D 7H TS KC"


def test_names_the_hand_unless_a_better_one_was_named() -> None:
    game = go(game_of("2C 5D 5H TS AC", "3C 3D 3H JS QC"), "keep all", "keep all")
    assert answer(game) == "announce pair"
    assert answer(go(game, "announce pair")) == "announce three of a kind"
    better = go(game_of("3C 3D 3H JS QC", "2C 5D 5H TS AC"), "keep all", "keep all", "announce three of a kind")
    assert answer(better) == "announce pass"


def test_one_card_is_asked_for_face_up_and_taken_if_its_rank_is_held() -> None:
    for card, expected in (("5S", "accept card"), ("9H", "decline card"), ("KH", "decline card")):
        game = game_of("2C 5D 5H TS TC", "3C 6D 8H JS QC", draws=card, rules="open-card")
        assert answer(game) == "discard 2C"
        go(game, "discard 2C")
        assert answer(game) == "exchange open"
        go(game, "exchange open")
        assert answer(game) == expected


def test_a_single_card_of_the_rank_is_enough_to_take_a_face_up_card() -> None:
    game = game_of("2C 5D 7H TS KC", "3C 6D 8H JS QC", draws="KH", rules="open-card")
    go(game, "discard 2C", "exchange open")
    assert answer(game) == "accept card"


@pytest.mark.parametrize(
    ("rules", "scores", "expected"),
    [
        ("pagat+four=choose", [0, 0], "four points"),
        ("pagat+four=choose", [0, 7], "four points"),  # four of a kind gives 7
        ("pagat+four=choose", [0, 8], "four reset"),
        ("pagat+four=choose", [44, 45], "four reset"),
        ("pagat+four=choose", [45, 45], "four points"),  # 52 points win
        ("pagat+four=choose+target=100", [45, 45], "four reset"),
        ("pagat+four=choose+instant_win=7", [0, 45], "four points"),
    ],
)
def test_four_of_a_kind_resets_a_lead_that_is_worth_more(rules: str, scores: list[int], expected: str) -> None:
    game = game_of("5C 5D 5H 5S AC", "3C 6D 8H JS QC", rules=rules, scores=scores)
    go(
        game,
        "keep all",
        "keep all",
        "announce four of a kind",
        *(["announce pass"] if game.phase == "announce" else []),
    )
    while game.phase == "announce":
        go(game, "announce pass")
    assert game.phase == "four"
    assert answer(game) == expected


def test_the_best_of_several_opponents_counts_for_the_reset() -> None:
    hands = ("5C 5D 5H 5S AC", "3C 6D 8H JS QC", "2D 7C 9H TS KD", "4D 6C 8D TC QS")
    for scores, expected in (([0, 1, 8, 2], "four reset"), ([30, 1, 7, 2], "four points")):
        game = game_of(*hands, rules="pagat+four=choose", scores=scores)
        go(game, *["keep all"] * 4, "announce four of a kind")
        while game.phase == "announce":
            go(game, "announce pass")
        assert answer(game) == expected


def chicago_game(hand: str, *, leads: bool, rules: str = "pagat+scored_exchanges=no+exchanges=1") -> Game:
    """The hand's owner is asked for a Chicago; forehand, who leads, is the other one unless `leads`."""
    taken = hand.split()
    other = format_cards([card for card in range(45) if CARD_NAMES[card] not in taken][::7][:5])
    if leads:
        game = game_of(hand, other, rules=rules, scores=[20, 0])
    else:
        game = game_of(other, hand, rules=rules, scores=[0, 20])
    return go(game, "keep all", "keep all")


@pytest.mark.parametrize(
    ("hand", "call"),
    [
        ("AC KC QC JC TC", True),
        ("AC KC QC JC 9C", False),
        ("AC AD AH AS KS", True),
        ("AC AD AH AS QS", False),
        ("AC KC AD KD AH", True),
        ("KC QC JC TC 9C", False),
        ("AC AD AH QS KS", False),
    ],
)
def test_chicago_is_called_with_top_cards_alone(hand: str, call: bool) -> None:
    game = chicago_game(hand, leads=True)
    assert game.phase == "chicago"
    assert answer(game) == ("call chicago" if call else "no chicago")


def test_who_does_not_lead_needs_all_four_suits() -> None:
    for hand, call in (("AC KC AD KD AH", False), ("AC AD AH AS KS", True)):
        game = chicago_game(hand, leads=False)
        assert answer(game) == ("call chicago" if call else "no chicago")
    caller_leads = "pagat+scored_exchanges=no+exchanges=1+chicago_caller_leads=yes"
    assert answer(chicago_game("AC KC AD KD AH", leads=False, rules=caller_leads)) == "call chicago"


def test_a_called_chicago_is_made() -> None:
    """Against a player that does what it can: every card of each suit is tried by uniform play."""
    rng = np.random.default_rng(1)
    for hand, leads in (("AC KC AD KD AH", True), ("AC AD AH AS KS", False)):
        for _ in range(30):
            game = chicago_game(hand, leads=leads)
            caller = game.seat
            go(game, "call chicago")
            while game.phase == "play" and game.deal == 0:
                if game.seat == caller:
                    go(game, answer(game))
                else:
                    game.step(int(rng.choice(game.legal_actions())))
            assert game.scores[caller] >= 35


def trick_game(first: str, second: str) -> Game:
    rules = "pagat+scored_exchanges=no+exchanges=1+chicago=no"
    return go(game_of(first, second, rules=rules), "keep all", "keep all")


def test_leads_its_highest_card() -> None:
    assert answer(trick_game("2C 5D 7H TS KC", "3C 6D 8H JS QC")) == "play KC"


@pytest.mark.parametrize(
    ("led", "hand", "expected"),
    [
        ("7H", "8H QH AS 2C 3D", "play QH"),  # wins with the highest of the suit
        ("JH", "8H TH AS 2C 3D", "play 8H"),  # cannot win: the lowest of the suit
        ("7H", "9S QS AS 3C 2D", "play 2D"),  # void: the lowest of all
    ],
)
def test_follows_with_the_highest_if_it_wins_else_with_the_lowest(led: str, hand: str, expected: str) -> None:
    taken = [*hand.split(), led]
    rest = [name for name in CARD_NAMES if name not in taken and name[1] != led[1]][:4]
    game = go(trick_game(" ".join([led, *rest]), hand), f"play {led}")
    assert answer(game) == expected


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("players", PLAYERS)
def test_legal_under_all_rules_and_unmoved_by_other_rows(rules: str, players: int) -> None:
    setups = [MatchSetup.make(players, rules, seed=seed, max_deals=3) for seed in range(40)]
    batch = GameBatch(setups)
    chance = np.random.default_rng(players)
    phases = set()
    for _ in range(200):
        live = batch.live
        if not len(live):
            break
        observations, masks = batch.observe(live)
        phases |= {int(row[AT.phase : AT.phase + 7].argmax()) for row in observations}
        chosen = NOVICE.act(observations, masks, chance)
        assert (masks[np.arange(len(live)), chosen] == 1).all()
        order = chance.permutation(len(live))
        assert (NOVICE.act(observations[order], masks[order], chance) == chosen[order]).all()
        # now and then something else, so that it is asked in every kind of place
        other = (masks * chance.random(masks.shape)).argmax(axis=1)
        batch.step(live, np.where(chance.random(len(live)) < 0.3, other, chosen))
    assert {0, 6} <= phases  # where announcing is compulsory there is no choice in it


def test_uses_nothing_but_the_observation_of_unseen_cards() -> None:
    """Cards that the seat has not seen are dealt anew: the same answer."""
    chance = np.random.default_rng(3)
    hand = "2C 5D 5H TS AC"
    rest = [name for name in CARD_NAMES if name not in hand.split()]
    answers = set()
    for _ in range(10):
        others = chance.permutation(rest)
        game = game_of(hand, " ".join(others[:5]), draws=" ".join(others[5:]))
        answers.add(answer(game))
        assert cards_of(int(game.state["hand"][0])) == sorted(parse_cards(hand))
    assert answers == {"discard 2C TS AC"}
