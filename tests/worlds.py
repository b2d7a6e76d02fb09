"""Sampled worlds played again from their deal, through the engine alone."""

from collections.abc import Sequence

import numpy as np

from chicago_env.actions import discard_action
from chicago_env.game import Game, cards_of
from tests.hidden_cards import listed

Observation = np.ndarray


def mask_of(cards: int) -> int:
    """The set of the cards of a list."""
    return sum(1 << card for card in listed(cards))


class Told:
    """A hidden history as lists of cards, in the order of turns."""

    def __init__(self, world: np.void, game: Game) -> None:
        self.players = game.players
        self.forehand = (int(world["dealer"]) + 1) % self.players
        self.world = world
        order = [(self.forehand + j) % self.players for j in range(self.players)]
        self.turns = [(r, s) for r in range(3) for s in order if int(world["exchanged"][r]) >> 6 * s & 63]

    def first_hand(self, seat: int) -> list[int]:
        world = self.world
        hand = int(world["held"][seat]) or int(world["hand"][seat])
        for r in (2, 1, 0):
            hand = hand & ~mask_of(world["received"][seat, r]) | mask_of(world["discarded"][seat, r])
        return cards_of(hand)

    def face_up(self, r: int, seat: int) -> list[int]:
        card = int(self.world["open_card"][r]) >> 8 * seat & 255
        return [card - 1] if card else []

    def drawn(self, r: int, seat: int, old: set[int]) -> list[int]:
        """Cards that left the stock in a turn, in an order in which they may have: those of the old stock first."""
        up = self.face_up(r, seat)
        rest = [card for card in listed(self.world["received"][seat, r]) if card not in up]
        return up + sorted(rest, key=lambda card: card not in old)


def replay(world: np.void, game: Game, actions: Sequence[int]) -> Game:
    """Deals the cards of `world` and plays the deal of `game` again, whose acting seat is the observer, seat 0 there.

    Args:
        world: a sampled record of that moment.
        game: a game in its first deal.
        actions: its actions so far.
    """
    seat, players = game.seat, game.players
    told = Told(world, game)
    hands = [told.first_hand(s) for s in range(players)]
    deck = [hands[(told.forehand + j) % players][k] for k in range(5) for j in range(players)]
    left = set(range(52)) - set(deck)
    pile: set[int] = set()
    stocks: list[list[int]] = [[]]
    for r, s in told.turns:
        cards = told.drawn(r, s, left)
        for card in cards:
            if not left:
                assert int(world["reshuffled"]) >> (6 * r + s) & 1
                left, pile = pile, set()
                stocks.append([])
            left.remove(card)
            stocks[-1].append(card)
        pile |= set(listed(world["discarded"][s, r])) | (set(told.face_up(r, s)) - set(listed(world["received"][s, r])))
    deck += stocks[0]
    deck += sorted(set(range(52)) - set(deck))
    setup = game.setup
    twin = Game(
        players,
        setup.rules,
        decks=[deck],
        scores=[setup.scores[(seat + j) % players] for j in range(players)],
        first_dealer=int(world["dealer"]),
        max_deals=setup.max_deals,
    )
    epoch = 0
    for action in actions:
        chosen = action
        state = twin._states[0]
        if twin.phase == "exchange":
            r, s = int(state["round"]), twin.seat
            chosen = discard_action(twin.hand(s), listed(world["discarded"][s, r]))
        if int(state["reshuffles"]) == epoch and epoch + 1 < len(stocks):
            in_pile = int(state["pile"])
            order = stocks[epoch + 1] + sorted(set(cards_of(in_pile)) - set(stocks[epoch + 1]))
            state["next_stock"][: len(order)] = order
            state["next_stock_n"] = len(order)
        twin.step(chosen)
        state["next_stock_n"] = 0
        epoch = int(state["reshuffles"])
    return twin
