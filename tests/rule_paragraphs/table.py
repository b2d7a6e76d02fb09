"""A match from cards that a test writes out, with moves in words."""

from __future__ import annotations

import random  # noqa: TID251  # fills up hands the same way each time, with no part of the package
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.drivers import Driver, Event
from tests.oracle.cards import CARD_OF, HIGH, category_of, rank_of, texts
from tests.oracle.random_rules import rules_with

Deal = Callable[..., "Table"]
Hands = Mapping[int, str] | Sequence[str]

ACTIONS = {
    "closed": 42,
    "open": 43,
    "decline": 44,
    "accept": 45,
    "points": 46,
    "reset": 47,
    "no chicago": 48,
    "chicago": 49,
}
PASS = 32
_PHASES = [(0, 31, "exchange"), (32, 41, "announce"), (42, 43, "one card"), (44, 45, "face up"), (46, 47, "four")]
_PHASES += [(48, 49, "chicago"), (50, 101, "play")]

# What a test lets happen until it comes to its point: keep, pass where allowed, points, no call, the lowest card.
_LET_HAPPEN = {"exchange": 0, "one card": 42, "face up": 44, "four": 46, "chicago": 48}


def cards(text: str) -> list[int]:
    return [CARD_OF[name] for name in text.split()]


def nothing_hand(left: list[int], rng: random.Random) -> list[int]:
    """Five cards without a pair and with nothing above a jack."""
    low = [card for card in left if rank_of(card) <= 9]
    while True:
        hand = rng.sample(low, 5)
        if category_of(hand) == HIGH:
            return hand


def deck_of(hands: Hands, stock: str, players: int, forehand: int) -> list[int]:
    """The deck that deals these hands (by seat; seats left out get nothing) and then draws this stock."""
    given = dict(hands) if isinstance(hands, Mapping) else dict(enumerate(hands))
    used = [card for text in given.values() for card in cards(text)] + cards(stock)
    assert len(set(used)) == len(used), "a card twice"
    left = [card for card in range(52) if card not in used]
    rng = random.Random(1)
    full = {}
    for seat in range(players):
        full[seat] = cards(given[seat]) if seat in given else nothing_hand(left, rng)
        assert len(full[seat]) == 5
        left = [card for card in left if card not in full[seat]]
    dealt = [full[(forehand + i % players) % players][i // players] for i in range(5 * players)]
    return dealt + cards(stock) + left


class Table:
    """A match. Seat 0 is forehand of the first deal unless first_dealer says otherwise.

    hands, stock: of the first deal; more_deals: (hands, stock) of the next ones. fields: rules that differ from the
    preset.
    """

    def __init__(
        self,
        driver: Driver,
        hands: Hands = (),
        *,
        players: int = 2,
        preset: str = "pagat",
        stock: str = "",
        more_deals: Sequence[tuple[Hands, str]] = (),
        scores: Sequence[int] | None = None,
        first_dealer: int | None = None,
        max_deals: int | None = None,
        **fields: Any,
    ) -> None:
        dealer = players - 1 if first_dealer is None else first_dealer
        decks = [
            deck_of(some_hands, some_stock, players, (dealer + 1 + i) % players)
            for i, (some_hands, some_stock) in enumerate([(hands, stock), *more_deals])
        ]
        self.players = players
        self.match = driver.make(
            rules_with(preset, **fields),
            players,
            decks,
            list(scores) if scores is not None else [0] * players,
            dealer,
            len(decks) if max_deals is None else max_deals,
        )

    # What is seen

    @property
    def seat(self) -> int | None:
        return self.match.to_act

    @property
    def phase(self) -> str:
        legal = self.match.legal()
        if not legal:
            return "over"
        return next(phase for first, last, phase in _PHASES if first <= legal[0] <= last)

    @property
    def legal(self) -> list[int]:
        return self.match.legal()

    @property
    def scores(self) -> list[int]:
        return list(self.match.scores)

    @property
    def result(self) -> tuple[int | None, str] | None:
        """(winner, reason), or None while the match goes on."""
        result = self.match.record()["result"]
        return None if result is None else (result["winner"], result["reason"])

    def events(self, *kinds: str, deal: int = -1) -> list[Event]:
        """The events of a deal (of the latest, unless told), of all kinds or of some; cards shown are sorted."""
        found = []
        for event in self.match.record()["deals"][deal]["events"]:
            if not kinds or event[0] in kinds:
                found.append([event[0], event[1], _sorted(event[2])] if event[0] == "show" else list(event))
        return found

    @property
    def number_of_deals(self) -> int:
        return len(self.match.record()["deals"])

    def hand(self, seat: int | None = None) -> list[int]:
        """The cards of a seat, from the record alone."""
        seat = self.seat if seat is None else seat
        assert seat is not None
        deal = self.match.record()["deals"][-1]
        place = (seat - deal["dealer"] - 1) % self.players
        held = set(cards(" ".join(deal["deck"][place : 5 * self.players : self.players])))
        for event in deal["events"]:
            if event[0] == "exchange" and event[1] == seat:
                held = (held - set(cards(" ".join(event[2])))) | set(cards(" ".join(event[3])))
            elif event[0] == "play" and event[1] == seat:
                held.remove(CARD_OF[event[2]])
        return sorted(held)

    # What is done

    def do(self, *moves: str) -> Table:
        """Moves in words: keep, discard 2C 7D, pass, say 3, name (the own category), play AS, and those of ACTIONS."""
        for move in moves:
            word, _, rest = move.partition(" ")
            if move in ACTIONS:
                action = ACTIONS[move]
            elif word == "keep":
                action = 0
            elif word == "discard":
                hand = self.hand()
                action = sum(1 << hand.index(card) for card in cards(rest))
            elif word == "name":
                action = self.legal[-1]
                assert action > PASS
            elif word == "pass":
                action = PASS
            elif word == "say":
                action = PASS + int(rest)
            else:
                assert word == "play"
                action = 50 + CARD_OF[rest]
            assert action in self.legal, f"{move}: seat {self.seat}, {self.phase}, {self.legal}"
            self.match.step(action)
        return self

    def until(self, phase: str, seat: int | None = None) -> Table:
        """Lets happen what happens up to the next decision of the phase (by the seat)."""
        while not (self.phase == phase and (seat is None or self.seat == seat)):
            assert self.phase != "over", f"the match ended before {phase}"
            self._let_happen()
        return self

    def finish_deal(self) -> Table:
        """Lets the rest of the deal happen."""
        deals = self.number_of_deals
        while self.phase != "over" and self.number_of_deals == deals:
            self._let_happen()
        return self

    def plays(self, text: str) -> Table:
        """Cards played one after another by whoever is to play."""
        return self.do(*(f"play {card}" for card in text.split()))

    def _let_happen(self) -> None:
        self.match.step(_LET_HAPPEN.get(self.phase, self.legal[0]))


def _sorted(names: list[str]) -> list[str]:
    return texts(sorted(cards(" ".join(names))))


def shown(seat: int, text: str) -> Event:
    """The show event of these cards, as Table.events gives it."""
    return ["show", seat, _sorted(text.split())]
