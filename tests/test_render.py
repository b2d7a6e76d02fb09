"""Renderings: what a seat may see and nothing more, everything with `reveal`, the same in every environment."""

import io

import numpy as np
import pytest
from rich.console import Console

from chicago_env import render
from chicago_env.cards import card_symbol
from chicago_env.chicago_v0 import raw_env
from chicago_env.game import Game
from chicago_env.gym_env import ChicagoEnv
from chicago_env.rules import PRESETS
from chicago_env.view import decode


def text_of(game: Game, seat: int | None = None, **options) -> str:
    return render.as_text(render.render(game, seat, **options))


def random_game(players, rules, seed):
    """A match at random; gives the game at every decision."""
    game, rng = Game(players, rules, seed=seed, max_deals=2), np.random.default_rng(seed)
    while not game.over:
        yield game
        game.step(int(rng.choice(game.legal_actions())))
    yield game


def seen_cards(view) -> set[int]:
    """Every card that a seat has seen, and may still be told of."""
    cards = {*view.hand, *view.discards, *(card for known in view.known for card in known)}
    cards |= {card for trick in view.plays for card in trick if card is not None}
    for part in view.rounds:
        cards |= {*(part.broken or ())}
        for said in part.announcements:
            cards |= {*((said and said.shown) or ())}
        for turn in part.exchanges:
            cards |= {turn.open_card} if turn and turn.open_card is not None else set()
    return cards | ({view.upcard} if view.upcard is not None else set())


@pytest.mark.parametrize("rules", sorted(PRESETS))
@pytest.mark.parametrize("players", [2, 4, 6])
def test_only_what_a_seat_has_seen_is_drawn(rules, players) -> None:
    symbols = [card_symbol(card) for card in range(52)]
    for i, game in enumerate(random_game(players, rules, 1)):
        for seat in {i % players, game.seat, 0} if i % 3 == 0 else ():
            if seat < 0:
                continue
            text = text_of(game, seat)
            view = decode(game.observation(seat))
            drawn = {card for card, symbol in enumerate(symbols) if symbol in text}
            # a flush that only names its rank and suit has the look of a card
            named = {4 * said.ranks[0] + said.suit for part in view.rounds for said in part.announcements
                     if said and said.suit is not None and said.ranks}  # fmt: skip
            assert drawn <= seen_cards(view) | named
            assert {*view.hand} <= drawn
            assert max(map(len, text.splitlines())) <= render.WIDTH


@pytest.mark.parametrize("players", [2, 6])
def test_reveal_draws_every_hand(players) -> None:
    for i, game in enumerate(random_game(players, "open-card", 2)):
        if i % 4:
            continue
        text = text_of(game, 0, reveal=True)
        assert "all cards" in text
        for seat in range(players):
            assert all(card_symbol(card) in text for card in game.hand(seat))


def test_names_points_and_the_end() -> None:
    game = Game(3, "pagat+target=10", seed=0)
    while not game.over:
        game.step(game.legal_actions()[-1])
    text = text_of(game, 0, names=["Ada", "Bo", "Cy"])
    assert f"{['Ada', 'Bo', 'Cy'][game.winner]} wins" in text
    for score in game.scores:
        assert f" {score} " in text


def test_modes_of_the_environments() -> None:
    aec, gym = raw_env(players=2, render_mode="ansi"), ChicagoEnv(render_mode="ansi", seat=0)
    aec.reset(seed=9, options={"first_dealer": 1})
    gym.reset(seed=9, options={"first_dealer": 1})
    assert aec.render() == gym.render()
    assert "player_0 to exchange cards" in gym.render()
    assert ChicagoEnv().render_mode is None


def test_the_human_mode_prints_each_step(capsys) -> None:
    env = ChicagoEnv(render_mode="human", seat=0)
    _, info = env.reset(seed=1)
    assert capsys.readouterr().out.count("Chicago · pagat") == 1
    env.step(int(info["action_mask"].argmax()))
    out = capsys.readouterr().out
    assert out.count("Chicago · pagat") == 1
    assert "keeps all" in out
    assert env.render() is None


def test_what_others_exchange_is_told_by_number_only() -> None:
    env = raw_env(players=2, render_mode="ansi")
    env.reset(seed=3, options={"first_dealer": 1})
    env.step(7)
    for text, hidden in ((env.render(), True), (raw_text(env, reveal=True), False)):
        assert "player_0 exchanges 3" in text
        assert (":" not in text.split("exchanges 3")[1].splitlines()[0]) == hidden


def raw_text(env, reveal):
    """The rendering of an environment that reveals or not."""
    twin = raw_env(players=2, render_mode="ansi", reveal=reveal)
    twin.reset(seed=3, options={"first_dealer": 1})
    twin.step(7)
    return twin.render()


def test_suits_have_colours() -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=100).print(render.card_text(2))
    assert "\x1b[31m2♥" in out.getvalue()
