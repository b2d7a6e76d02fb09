"""The single game: invariants at every step, copies, saved states, refusals, known counts of trick lines."""

import copy
import pickle
import random  # noqa: TID251 - the choices of a test
from math import factorial

import numpy as np
import pytest

from chicago_env.actions import NUM_ACTIONS, PLAY
from chicago_env.cards import NUM_CARDS
from chicago_env.errors import ActionError, ChicagoError, IllegalAction, RulesError, SetupError, StateError
from chicago_env.game import Game, cards_of
from chicago_env.records import record_of_game
from chicago_env.rules import Rules
from chicago_env.setup import MatchSetup
from tests.play import PLAYERS, RULE_SETS, cautious, play

FULL = (1 << NUM_CARDS) - 1


def played(game: Game) -> int:
    return sum(1 << (card - 1) for trick in game.state["plays"] for card in int(trick).to_bytes(8, "little") if card)


def check_cards(game: Game) -> None:
    """52 cards, each in one place: a hand, the table, the discards, or the stock."""
    state = game.state
    places = [int(state["hand"][s]) for s in range(game.players)]
    places += [played(game), int(state["pile"]), int(state["pending"])]
    if state["upcard"] >= 0:
        places.append(1 << int(state["upcard"]))
    union = 0
    for place in places:
        assert union & place == 0
        union |= place
    assert (FULL & ~union).bit_count() == state["stock_n"]
    if state["listed"]:
        at, n = int(state["stock_at"]), int(state["stock_n"])
        assert sum(1 << int(c) for c in state["deck"][at : at + n]) == FULL & ~union


def check_turn(game: Game) -> None:
    legal = game.legal_actions()
    assert legal, "a live seat has a legal action"
    assert 0 <= game.seat < game.players
    assert game.mask().nonzero()[0].tolist() == legal
    for seat in range(game.players):
        if seat != game.seat:
            assert not game.mask(seat).any()


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_cards_are_conserved_and_somebody_is_always_to_act(players: int, rules: str) -> None:
    rng = random.Random(players)

    def check(game: Game) -> None:
        check_cards(game)
        check_turn(game)

    for seed in range(2):
        game = Game(players, rules, seed=seed, max_deals=4)
        play(game, rng, each=check)
        check_cards(game)
        assert game.seat == -1
        assert game.legal_actions() == []
        assert not game.mask().any()
        assert game.reason in {"target", "instant", "truncated"}
        assert (game.winner is None) == (game.reason == "truncated")


def test_decks_given_as_names_or_ids_are_dealt_in_order() -> None:
    deck = list(range(51, -1, -1))
    for given in (deck, ["23456789TJQKA"[c // 4] + "CDHS"[c % 4] for c in deck], np.array(deck)):
        game = Game(2, decks=[given], first_dealer=0)
        assert game.hand(1) == [43, 45, 47, 49, 51]
        assert game.hand(0) == [42, 44, 46, 48, 50]
        game.step(31)
        assert game.hand(1) == [37, 38, 39, 40, 41]
        game.step(1)
        assert game.hand(0) == [36, 44, 46, 48, 50]


def test_decks_beyond_the_given_ones_are_keyed() -> None:
    rng = random.Random(0)
    game = Game(3, seed=4, decks=[list(range(52))], max_deals=2)
    plain = Game(3, seed=4, max_deals=2)
    while game.deal == 0:
        play(game, rng, 1)
    while plain.deal == 0:
        play(plain, rng, 1)
    assert [game.hand(s) for s in range(3)] == [plain.hand(s) for s in range(3)]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_copies_pickles_and_saved_states_continue_exactly(rules: str) -> None:
    rng = random.Random(3)
    for stop in (1, 7, 19, 40, 77):
        game = Game(4, rules, seed=stop, max_deals=5)
        play(game, rng, stop)
        other = Game(2, "pagat", seed=1)
        other.set_state(game.get_state())
        twins = [copy.deepcopy(game), copy.copy(game), other]
        twins.append(pickle.loads(pickle.dumps(game)))  # noqa: TID251 - our own bytes
        state = game.get_state()
        for _ in range(60):
            if game.over:
                break
            action = cautious(game, rng)
            game.step(action)
            for twin in twins:
                twin.step(action)
                assert twin.state.tobytes() == game.state.tobytes()
        assert all(record_of_game(twin) == record_of_game(game) for twin in twins)
        again = Game()
        again.set_state(state)
        assert again.get_state() == state


def test_a_copy_is_independent() -> None:
    game = Game(3, seed=1)
    twin = copy.deepcopy(game)
    before = game.state.tobytes()
    play(twin, random.Random(0), 30)
    assert game.state.tobytes() == before
    assert game.choices == b""


@pytest.mark.parametrize(
    "action", [-1, 32, 50, 101, 102, 10**20, -(10**20), None, "keep all", 1.0, True, np.array([0])]
)
def test_illegal_actions_are_named_and_change_nothing(action: object) -> None:
    game = Game(3, seed=1)
    before = game.get_state()
    with pytest.raises(IllegalAction) as caught:
        game.step(action)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.seat == game.seat
    assert caught.value.phase == "exchange"
    assert caught.value.legal == tuple(range(32))
    assert isinstance(caught.value, ValueError)
    assert game.get_state() == before


def test_every_illegal_action_of_every_phase_is_refused() -> None:
    rng = random.Random(0)
    phases = set()

    def check(game: Game) -> None:
        phases.add(game.phase)
        legal = game.legal_actions()
        before = game.state.tobytes()
        for action in range(-1, NUM_ACTIONS + 1):
            if action not in legal:
                with pytest.raises(IllegalAction):
                    game.step(action)
        assert game.state.tobytes() == before

    play(Game(3, RULE_SETS[4] + "+chicago_from=none", seed=2, max_deals=3), rng, each=check)
    assert phases >= {"exchange", "open_choice", "open_accept", "announce", "chicago", "play"}
    over = Game(2, seed=0, max_deals=1)
    play(over, rng)
    with pytest.raises(IllegalAction):
        over.step(0)


def test_damaged_states_are_refused_and_change_nothing() -> None:
    rng = random.Random(0)
    game = Game(4, "race", seed=3)
    play(game, rng, 50)
    state = game.get_state()
    other = Game(2, seed=9)
    before = other.get_state()
    damaged: list[object] = [b"", b"x", None, "text", state[:-1], state + b" ", state[20:]]
    for _ in range(200):
        copy_of = bytearray(state)
        copy_of[rng.randrange(len(state))] ^= 1 << rng.randrange(8)
        damaged.append(bytes(copy_of))
    for bad in damaged:
        with pytest.raises(StateError):
            other.set_state(bad)  # type: ignore[arg-type]  # wrong on purpose
    assert other.get_state() == before


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"players": 1}, "1"),
        ({"players": "4"}, "players"),
        ({"rules": "whist"}, "whist"),
        ({"rules": "pagat+targt=3"}, "targt"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"seed": 1.0}, "seed"),
        ({"seed": True}, "seed"),
        ({"scores": [1, 2, 3]}, "scores"),
        ({"scores": [0, 0, 0, 10**9]}, "scores"),
        ({"scores": [0, 0, 0, 0.5]}, "scores"),
        ({"scores": "0000"}, "scores"),
        ({"first_dealer": 4}, "first_dealer"),
        ({"max_deals": 0}, "max_deals"),
        ({"decks": [list(range(51))]}, "decks"),
        ({"decks": [[0] * 52]}, "2C is there twice"),
        ({"decks": [["XX"] * 52]}, "XX"),
        ({"decks": 7}, "decks"),
        ({"decks": list(range(52))}, "decks"),
    ],
)
def test_impossible_setups_are_refused(options: dict[str, object], text: str) -> None:
    with pytest.raises((SetupError, RulesError, ChicagoError), match=text):
        Game(**options)  # type: ignore[arg-type]  # wrong on purpose


def deck_of(hands: list[list[int]]) -> list[int]:
    """A deck that deals these hands, the first one to the dealer's left."""
    dealt = [hand[k] for k in range(5) for hand in hands]
    return dealt + [c for c in range(NUM_CARDS) if c not in dealt]


def count_lines(game: Game) -> int:
    """Number of ways in which the rest of the tricks can be played."""
    if game.over:
        return 1
    if int(game.state["trick"]) == 4:  # the last card is forced for everybody
        return 1
    total = 0
    for action in game.legal_actions():
        twin = game.copy()
        twin.step(action)
        total += count_lines(twin)
    return total


CLUBS, HEARTS = [c for c in range(52) if c % 4 == 0], [c for c in range(52) if c % 4 == 2]


@pytest.mark.parametrize(
    "hands",
    [
        [CLUBS[:5], CLUBS[5:10]],  # one suit: every card follows
        [CLUBS[:5], HEARTS[:5]],  # no suit in common: every card may be thrown
    ],
    ids=["one suit", "disjoint suits"],
)
def test_trick_lines_of_two_hands_against_the_closed_form(hands: list[list[int]]) -> None:
    """Nobody is ever bound in one suit or in disjoint ones, so there are 5!·5! lines, whoever leads."""
    game = Game(2, "pagat+chicago=no", decks=[deck_of(hands)], max_deals=1)
    while game.phase != "play":
        game.step(game.legal_actions()[0])
    assert count_lines(game) == factorial(5) ** 2 == 14400


def test_trick_lines_where_one_card_must_follow() -> None:
    """A leads one of five clubs, B holds one club and four hearts: B must play the club to the first trick, so that
    1·5 leads have one answer, and after it 4!·4! orders follow; B's club wins or loses without changing their number."""
    hands = [CLUBS[1:6], [CLUBS[0], *HEARTS[:4]]]
    game = Game(2, "pagat+chicago=no", decks=[deck_of(hands)], max_deals=1)
    while game.phase != "play":
        game.step(game.legal_actions()[0])
    assert len(game.legal_actions()) == 5
    game.step(game.legal_actions()[0])
    assert game.legal_actions() == [PLAY + CLUBS[0]]
    twin = Game(2, "pagat+chicago=no", decks=[deck_of(hands)], max_deals=1)
    while twin.phase != "play":
        twin.step(twin.legal_actions()[0])
    assert count_lines(twin) == 5 * factorial(4) ** 2


def test_sets_read_as_lists() -> None:
    assert cards_of(0) == []
    assert cards_of(FULL) == list(range(52))
    assert cards_of((1 << 51) | 1) == [0, 51]


def test_setups_made_directly_are_checked() -> None:
    assert MatchSetup(3, Rules()).scores == (0, 0, 0)
    assert Game(setup=MatchSetup(np.int64(2), Rules(), np.int64(3))).setup == MatchSetup.make(2, seed=3)
    for arguments in ((1, Rules()), (2, "pagat"), (2, None)):
        with pytest.raises(RulesError):
            MatchSetup(*arguments)
    for name, value in (
        ("seed", -1), ("scores", (1,)), ("scores", {1, 2}), ("scores", {0: 1, 1: 2}), ("scores", b"ab"), ("first_dealer", 2),
        ("max_deals", 0), ("decks", [[1]]), ("decks", {1}), ("decks", [set(range(52))]), ("scores", np.array(2)),
    ):  # fmt: skip
        with pytest.raises(SetupError, match=name):
            MatchSetup(2, Rules(), **{name: value})
    with pytest.raises(SetupError, match="setup: 5"):
        Game(setup=5)


@pytest.mark.parametrize("action", ["x", None, 1.5, [1]])
def test_text_of_what_is_no_action(action: object) -> None:
    with pytest.raises(ActionError):
        Game(2).text_of(action)
