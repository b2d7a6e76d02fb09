"""What happens in a game as each seat may know it (docs/rules.md §6), made from the engine's event log.

Every event is a dict of JSON values with the key `event`; seats are absolute, cards are names. docs/bot-protocol.md and
`schema.json` beside this file list them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chicago_env.actions import CLOSED
from chicago_env.cards import CARD_NAMES, CATEGORIES, RANKS, SUITS
from chicago_env.engine import log
from chicago_env.engine.log import CAPACITY
from chicago_env.kernels import single
from chicago_env.setup import NO_DECKS, MatchSetup
from chicago_env.state import ANNOUNCE, OPEN_CHOICE

Event = dict[str, Any]

_WHY = {
    log.SCORE_HAND: "hand",
    log.SCORE_CHICAGO: "chicago",
    log.SCORE_BREAKER: "breaker",
    log.SCORE_LAST_TRICK: "last_trick",
}


class Told:
    """An event, and what single seats learn besides.

    Attributes:
        public: what every seat learns.
        private: what certain seats are told in its place, by seat.
    """

    __slots__ = ("private", "public")

    def __init__(self, public: Event, private: dict[int, Event] | None = None) -> None:
        self.public = public
        self.private = private

    def to(self, seat: int) -> Event:
        """The event as `seat` may know it."""
        return self.public if self.private is None else self.private.get(seat, self.public)


class Narrator:
    """Steps one game of an array of states, decision by decision, and tells what happens."""

    def __init__(self, states: np.ndarray[Any, Any], row: int, setup: MatchSetup) -> None:
        """Takes the game in `states[row]`; it is stepped in place. `setup` has no decks."""
        self._states = states[row : row + 1]
        self._setup = setup
        self._log = np.zeros(CAPACITY, dtype=np.int32)
        self._open: str | None = None  # how the one-card exchange in progress goes
        self._scores = list(setup.scores)

    def start(self) -> list[Told]:
        """Starts the match, up to its first decision, forced or not."""
        setup = self._setup
        self._log[0] = 1
        dealer = -1 if setup.first_dealer is None else setup.first_dealer
        single.start(self._states, setup.seed, dealer, setup.max_deals, setup.decks, self._log)
        self._scores = list(setup.scores)
        return list(self._told())

    def step(self, action: int) -> list[Told]:
        """Carries out a legal action."""
        state = self._states[0]
        if int(state["phase"]) == OPEN_CHOICE and action == CLOSED:
            self._open = "closed"
        shown = self._shown_ranks() if state["r_reveal_ranks"] and int(state["phase"]) == ANNOUNCE else None
        self._log[0] = 1
        single.step(self._states, NO_DECKS, action, self._log)
        told = list(self._told())
        if shown is not None:
            told[1:1] = self._ranks_since(shown)  # right after the announcement that showed them
        return told

    def forced(self) -> int:
        """The only legal action, or -1."""
        base, bits = single.legal(self._states)
        return -1 if bits == 0 or bits & (bits - 1) else base + bits.bit_length() - 1

    def void(self, seat: int, penalty: int, scores: Sequence[int]) -> Told:
        """The event of a deal made void by a fault of `seat`; scores (P,) are those that hold again."""
        self._open = None
        self._scores = list(scores)
        return Told({"event": "void", "seat": seat, "penalty": penalty, "scores": list(scores)})

    def dealt(self) -> Told:
        """The event of the deal that has just been dealt by something else than `start` or `step`."""
        state = self._states[0]
        hands = [[CARD_NAMES[c] for c in range(52) if int(state["hand"][s]) >> c & 1] for s in range(self._players)]
        self._scores = [int(s) for s in state["scores"][: self._players]]
        return self._deal(int(state["dealer"]), int(state["deal"]), hands)

    @property
    def _players(self) -> int:
        return self._setup.players

    def _shown_ranks(self) -> tuple[int, list[int], int]:
        state = self._states[0]
        r = int(state["round"])
        return r, [int(n) for n in state["ranks"][r]], int(state["suit"][r])

    def _ranks_since(self, before: tuple[int, list[int], int]) -> Iterator[Told]:
        r, ranks, suits = before
        state = self._states[0]
        now_suits = int(state["suit"][r])
        for seat in range(self._players):
            now = int(state["ranks"][r][seat])
            suit = now_suits >> 8 * seat & 255
            if now == ranks[seat] and suit == suits >> 8 * seat & 255:
                continue
            names = [RANKS[n - 1] for n in now.to_bytes(8, "little") if n]
            yield Told({"event": "ranks", "seat": seat, "ranks": names, "suit": SUITS[suit - 1] if suit else None})

    def _deal(self, dealer: int, number: int, hands: Sequence[list[str]]) -> Told:
        public = {"event": "deal", "deal": number, "dealer": dealer, "scores": list(self._scores), "hand": []}
        return Told(public, {seat: {**public, "hand": hand} for seat, hand in enumerate(hands)})

    def _told(self) -> Iterator[Told]:
        words = self._log[1 : self._log[0]].tolist()
        at = 0
        while at < len(words):
            code, seat, value, n = words[at : at + 4]
            cards = words[at + 4 : at + 4 + n]
            at += 4 + n
            yield self._one(code, seat, value, cards)

    def _one(self, code: int, seat: int, value: int, cards: list[int]) -> Told:
        names = [CARD_NAMES[card] for card in cards]
        if code == log.PLAY:
            return Told({"event": "play", "seat": seat, "card": names[0]})
        if code == log.TRICK:
            return Told({"event": "trick", "seat": seat})
        if code == log.EXCHANGE:
            public: Event = {"event": "exchange", "seat": seat, "count": value, "open": self._open}
            self._open = None
            return Told(public, {seat: {**public, "discarded": names[:value], "drawn": names[value:]}})
        if code == log.ANNOUNCE:
            state = self._states[0]
            r = int(state["round"])
            # the round stays at this one, or has gone on by one, when everybody has spoken
            r -= int(int(state["announced"][r]) >> 10 * seat & 1023 == 0)
            stands = int(state["standing"][r]) - 1
            return Told({
                "event": "announce",
                "seat": seat,
                "category": CATEGORIES[value] if value else None,
                "standing": stands if stands >= 0 else None,
                "tied": bool(state["tied"][r]),
            })  # fmt: skip
        if code in _WHY:
            self._scores[seat] += value
            return Told({"event": "score", "seat": seat, "points": value, "why": _WHY[code]})
        if code == log.SHOW:
            return Told({"event": "show", "seat": seat, "cards": names})
        if code == log.CHICAGO:
            return Told({"event": "chicago", "seat": seat, "call": value == 1})
        if code == log.OPEN:
            self._open = "accepted" if value else "declined"
            return Told({"event": "open", "seat": seat, "card": names[0], "accepted": value == 1})
        if code == log.RESET:
            self._scores = [score if s == seat else 0 for s, score in enumerate(self._scores)]
            return Told({"event": "reset", "seat": seat})
        if code == log.PENALTY:
            self._scores[seat] += value
            return Told({"event": "penalty", "seat": seat, "points": value})
        if code == log.RESHUFFLE:
            return Told({"event": "reshuffle", "seat": seat, "count": len(cards)})
        if code == log.FOUR:
            return Told({"event": "four", "seat": seat, "choice": "reset" if value else "points"})
        if code == log.DEAL:
            order = [(seat + 1 + j) % self._players for j in range(self._players)]
            hands = [sorted(cards[order.index(s) :: self._players]) for s in range(self._players)]
            return self._deal(seat, value, [[CARD_NAMES[card] for card in hand] for hand in hands])
        return Told({"event": "deal_end", "scores": list(self._scores)})
