"""`decode` loses nothing: the observation can be written again from the View alone."""

import dataclasses
import random  # noqa: TID251  # keyed chance is what is tested

import numpy as np
import pytest

from chicago_env.cards import parse_cards
from chicago_env.errors import ObservationError
from chicago_env.game import Game
from chicago_env.layout import AT, BY_NAME, OBSERVATION_SIZE, SEATS, encode_rules, slice_of
from chicago_env.notation import parse_rules
from chicago_env.view import FOUR_CHOICES, OPEN_STATES, PHASES, View, decode
from tests.hidden_cards import seen_by, strong
from tests.oracle.random_play import KINDS, arranged_deck
from tests.oracle.random_rules import random_rules
from tests.play import PLAYERS, RULE_SETS


class Writer:
    """Writes blocks of an observation by name and place."""

    def __init__(self) -> None:
        self.out = np.zeros(OBSERVATION_SIZE, dtype=np.uint8)

    def set(self, name: str, *place: int, value: int = 1) -> None:
        block = BY_NAME[name]
        self.out[slice_of(name)].reshape(block.shape)[place] = value

    def one(self, name: str, *place: int | None) -> None:
        """Sets a one-hot entry unless the last part of its place is None."""
        if place[-1] is not None:
            self.set(name, *place)  # type: ignore[arg-type]

    def cards(self, name: str, *place: int, cards) -> None:
        for i, card in enumerate(cards):
            self.set(name, *place, i, value=card + 1)


def encode(view: View) -> np.ndarray:
    """The observation of which `view` is the View."""
    w = Writer()
    w.one("phase", PHASES.index(view.phase) if view.phase != "over" else None)
    w.set("round", view.round)
    w.one("trick", view.trick)
    w.set("players", view.players - 2)
    w.set("dealer", view.dealer)
    w.one("to_act", view.to_act)
    for i, card in enumerate(view.hand):
        w.set("hand", card)
        w.set("hand_ranks", i, card >> 2)
        w.set("hand_suits", i, card & 3)
        if card in view.group:
            w.set("group", i)
    w.one("category", view.category)
    for card in view.discards:
        w.set("discards", card)
    for r, part in enumerate(view.rounds):
        encode_round(w, r, part)
    w.one("upcard", view.upcard)
    w.one("best", None if view.best is None else view.best - 1)
    for t, cards in enumerate(view.plays):
        w.one("winners", t, view.winners[t])
        for seat, card in enumerate(cards):
            if card is not None:
                w.set("plays", t, seat, value=card + 1)
                w.set("played", card)
    for card in view.trick_cards:
        w.set("trick_cards", card)
    w.set("leader", view.leader)
    w.one("led_suit", view.led_suit)
    w.one("winning_card", view.winning_card)
    w.one("winning_seat", view.winning_seat)
    for seat in range(view.players):
        encode_seat(w, seat, view)
    w.one("caller", view.caller)
    w.set("failed", 0, value=int(view.failed))
    w.one("four", 3, None if view.showdown_four is None else FOUR_CHOICES.index(view.showdown_four))
    w.set("stock", 0, value=view.stock)
    for name, number in (("deal", view.deal), ("deals_left", view.deals_left)):
        w.set(name, 0, value=number >> 8)
        w.set(name, 1, value=number & 255)
    w.out[AT.rule_flags :] = encode_rules(view.rules)
    return w.out


def encode_round(w: Writer, r: int, part) -> None:
    w.cards("discards_by_round", r, cards=part.discards)
    w.cards("draws_by_round", r, cards=part.draws)
    for seat, turn in enumerate(part.exchanges):
        if turn is not None:
            w.set("exchanged", r, seat, turn.count)
            w.one("open", r, seat, None if turn.open is None else OPEN_STATES.index(turn.open))
            w.set("open_card", r, seat, value=0 if turn.open_card is None else turn.open_card + 1)
            w.set("reshuffled", r, seat, value=int(turn.reshuffled))
    for seat, said in enumerate(part.announcements):
        if said is not None:
            w.set("announced", r, seat, said.category)
            w.cards("shown", r, seat, cards=said.shown)
            w.cards("shown_ranks", r, seat, cards=said.ranks)
            w.set("shown_suit", r, seat, value=0 if said.suit is None else said.suit + 1)
    w.one("standing", r, part.standing)
    w.set("tied", r, value=int(part.tied))
    if r:
        w.one("breaker", r - 1, part.breaker)
        w.cards("broken", r - 1, cards=part.broken)
    w.one("four", r, None if part.four is None else FOUR_CHOICES.index(part.four))


def encode_seat(w: Writer, seat: int, view: View) -> None:
    for card in view.known[seat]:
        w.set("known", seat, card)
    for suit in view.voids[seat]:
        w.set("void", seat, suit)
    score = view.scores[seat]
    w.set("scores", seat, value=min(max(score + 100, 0), 255))
    for k, byte in enumerate((score + (1 << 31)).to_bytes(4, "big")):
        w.set("scores_exact", seat, k, value=byte)
    w.set("stopped", seat, value=int(view.stopped[seat]))
    w.set("attempted", seat, value=int(view.attempted[seat]))
    w.set("succeeded", seat, value=int(view.succeeded[seat]))
    w.one("asked", seat, None if view.asked[seat] is None else int(view.asked[seat]))


@pytest.mark.parametrize("players", PLAYERS)
def test_an_observation_can_be_written_again_from_its_view(players: int) -> None:
    for i in range(60):
        rng = random.Random(1000 * players + i)
        rules = RULE_SETS[i] if i < len(RULE_SETS) else random_rules(rng)
        decks = [arranged_deck(rng, rng.choice(KINDS), players) for _ in range(2)]
        scores = [rng.randint(-120, 200) for _ in range(players)]
        game = Game(players, rules, seed=i, decks=decks, scores=scores, max_deals=rng.choice([2, 300]))
        while not game.over and game.deal < 2:
            for seat in range(players):
                observation = game.observation(seat)
                assert (encode(decode(observation)) == observation).all()
            game.step(strong(game, rng))
        assert (encode(decode(game.observation(0))) == game.observation(0)).all()


@pytest.mark.parametrize("players", PLAYERS)
def test_a_view_says_what_the_game_says(players: int) -> None:
    for i, rules in enumerate(RULE_SETS):
        rng = random.Random(i)
        game = Game(players, rules, seed=i, scores=[rng.randint(-20, 50) for _ in range(players)], max_deals=2)
        while not game.over:
            seat = rng.randrange(players)
            view = decode(game.observation(seat))
            assert view.players == players
            assert view.rules == game.rules
            assert view.phase == game.phase
            assert view.to_act == (game.seat - seat) % players
            assert view.dealer == (game.dealer - seat) % players
            assert view.forehand == view.order[0] == (game.dealer + 1 - seat) % players
            assert sorted(view.order) == list(range(players))
            assert list(view.hand) == game.hand(seat)
            assert list(view.scores) == [game.scores[(seat + k) % players] for k in range(players)]
            assert (view.deal, view.deals_left) == (game.deal, 1 - game.deal)
            assert view.stock == game.state["stock_n"]
            assert not view.over
            if view.phase == "play":
                assert view.leader_of(view.trick) == view.leader
                assert len(view.trick_cards) == (view.to_act - view.leader) % players
            game.step(strong(game, rng))
        assert decode(game.observation(1)).over
        assert decode(game.observation(1)).to_act is None


def test_unseen_cards_are_those_that_others_may_hold() -> None:
    reshuffled = 0
    for i in range(60):
        rng = random.Random(i)
        players = 2 + i % 5
        game = Game(players, "open-card+show_broken=yes+reveal=cards", seed=i, max_deals=1)
        while not game.over:
            seat = rng.randrange(players)
            view = decode(game.observation(seat))
            unseen = set(view.unseen)
            for k in range(1, players):
                held = set(game.hand((seat + k) % players))
                assert held <= unseen | set(view.known[k])
                assert set(view.known[k]) <= held
            assert not unseen & (set(view.hand) | set(view.played))
            assert len(unseen) >= view.stock
            # Whatever was never seen may be anywhere.
            assert set(range(52)) - seen_by(game, seat) <= unseen
            if any(turn and turn.reshuffled for part in view.rounds for turn in part.exchanges):
                reshuffled += bool(unseen & set(view.discards))
            else:
                assert not unseen & set(view.discards)
            game.step(strong(game, rng))
    assert reshuffled > 0


def test_a_view_of_a_known_deal() -> None:
    deck = parse_cards("AS 2C KH KD QS JS 3D 7S 4H 4C 8D 9H")
    deck += [card for card in range(52) if card not in deck]
    game = Game(2, "open-card", decks=[deck], first_dealer=0, scores=[3, 42], max_deals=5)
    assert game.hand(1) == sorted(parse_cards("AS KH QS 3D 4H"))
    assert game.hand(0) == sorted(parse_cards("2C KD JS 7S 4C"))
    game.step(0)  # seat 1 is under buy stop
    game.step(1)  # seat 0 discards 2C …
    game.step(43)  # … and asks for the 8D
    view = decode(game.observation(1))
    assert (view.phase, view.to_act, view.round, view.dealer) == ("open_accept", 1, 0, 1)
    assert view.upcard == parse_cards("8D")[0]
    assert view.rounds[0].exchanges[1] == dataclasses.replace(
        view.rounds[0].exchanges[1], count=1, open="open", open_card=view.upcard, reshuffled=False
    )
    assert view.scores == (42, 3)
    assert view.stopped == (True, False)
    game.step(45)
    view = decode(game.observation(1))
    assert view.known == ((), (view.rounds[0].exchanges[1].open_card,))
    own = decode(game.observation(0))
    assert (own.rounds[0].discards, own.rounds[0].draws) == (tuple(parse_cards("2C")), tuple(parse_cards("8D")))
    game.step(32)
    game.step(33 - 1)
    text = str(decode(game.observation(0)))
    assert "rules open-card, 2 players, deal 1, 4 left" in text
    assert "hand 4C 7S 8D JS KD (high card)" in text
    assert "exchange 1: +1 0, you 1 accepted 8D; you gave 2C, drew 8D" in text
    assert "announcing 1: +1 pass, you pass" in text
    assert "+1: 42 points; under buy stop" in text
    assert "AS" not in text


def test_the_text_of_a_view_tells_two_views_apart() -> None:
    texts, views = set(), set()
    for i, rules in enumerate(RULE_SETS):
        game = Game(4, rules, seed=i, max_deals=2)
        rng = random.Random(i)
        while not game.over:
            view = decode(game.observation())
            views.add(view)
            texts.add(str(view))
            game.step(strong(game, rng))
    assert len(views) > 400
    assert len(texts) >= 0.98 * len(views)


def test_refused_observations() -> None:
    observation = Game(3, "race").observation()
    assert decode(observation).players == 3
    bad = observation.copy()
    bad[AT.hand] = 2
    no_players = observation.copy()
    no_players[slice_of("players")] = 0
    no_dealer = observation.copy()
    no_dealer[slice_of("dealer")] = 0
    no_target = observation.copy()
    no_target[slice_of("rule_numbers_exact")] = 0
    for wrong, message in (
        (observation[:-1], r"shape \(\d+,\), not \(\d+,\)"),
        (observation[None], "shape"),
        (observation.astype(np.int64), "uint8, not int64"),
        (observation.tolist(), "uint8, not list"),
        (bad, f"entry {AT.hand} of the observation is 2, at most 1"),
        (no_players, "number of players"),
        (no_dealer, "dealer"),
        (no_target, "impossible rules: rules field target"),
    ):
        with pytest.raises(ObservationError, match=message):
            decode(wrong)


def test_rules_are_read_back_exactly() -> None:
    for i in range(300):
        rules = parse_rules(random_rules(random.Random(i)))
        assert decode(Game(2, rules).observation()).rules == rules


def test_a_view_can_be_kept_in_sets_and_not_changed() -> None:
    view = decode(Game(3).observation())
    assert view == decode(Game(3).observation())
    assert len({view, decode(Game(3).observation())}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        view.phase = "play"  # type: ignore[misc]
    assert len(view.scores) == len(view.known) == view.players < SEATS
