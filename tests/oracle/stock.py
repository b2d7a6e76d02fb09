"""Where the cards of one deal come from (docs/rules.md §2, docs/record-format.md)."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.cards import DECK, OracleError

DeckOf = Callable[[int], list[int]]
ReshuffleOf = Callable[[int, int, list[int]], list[int]]
DrawOf = Callable[[int, int, int], int]


class Stock:
    """The deck of one deal, its discards and its reshuffles."""

    def __init__(
        self, deal: int, players: int, deck_of: DeckOf, reshuffle_of: ReshuffleOf, draw_of: DrawOf | None
    ) -> None:
        self._deal = deal
        self._cards = list(deck_of(deal))
        if sorted(self._cards) != list(DECK):
            raise OracleError(f"deal {deal}: the deck is not the 52 cards")
        self._reshuffle_of = reshuffle_of
        self._draw_of = draw_of
        self._drawn_by = [0] * players
        self._taken: list[int] = []  # from the first stock, in the order it came about
        self._discards: list[int] = []
        self.reshuffles = 0

    def deal_card(self) -> int:
        card = self._cards.pop(0)
        self._taken.append(card)
        return card

    def is_empty(self) -> bool:
        return not self._cards

    def draw(self, seat: int) -> int:
        """The next card for the seat. draw_of names cards of the first stock; a reshuffled stock is a list."""
        if self.reshuffles:
            return self._cards.pop(0)
        card = self._cards[0]
        if self._draw_of is not None:
            card = self._draw_of(self._deal, seat, self._drawn_by[seat])
            if card not in self._cards:
                raise OracleError(f"deal {self._deal}: seat {seat} draws card {card}, which is not in the stock")
        self._drawn_by[seat] += 1
        self._cards.remove(card)
        self._taken.append(card)
        return card

    def reshuffle(self) -> list[int]:
        """All discards of earlier turns become the stock. Returns its order, top first."""
        new = list(self._reshuffle_of(self._deal, self.reshuffles, sorted(self._discards)))
        if sorted(new) != sorted(self._discards):
            raise OracleError(f"deal {self._deal}: the reshuffled stock is not the discards")
        self.reshuffles += 1
        self._cards = list(new)
        self._discards = []
        return new

    def discard(self, cards: list[int]) -> None:
        self._discards += cards

    def order_that_came_about(self) -> list[int]:
        """The 52 cards: those dealt and drawn from the first stock, then the ones nobody took."""
        return self._taken + ([] if self.reshuffles else self._cards)
