"""Reads an observation: `decode` gives a `View`, which holds all that the observation holds, in words and numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from chicago_env.cards import CATEGORIES, NUM_CARDS, RANKS, SUITS, card_name, format_cards
from chicago_env.errors import ObservationError
from chicago_env.layout import (
    AT,
    BLOCKS,
    HAND,
    OBSERVATION_SIZE,
    ROUNDS,
    RULES_AT,
    SCORE_OFFSET,
    SEATS,
    TRICKS,
    decode_rules,
)
from chicago_env.notation import format_rules
from chicago_env.rules import Rules

PHASES = ("exchange", "open_choice", "open_accept", "announce", "four", "chicago", "play")
OPEN_STATES = ("closed", "open", "accepted", "declined")
FOUR_CHOICES = ("points", "reset")

_HIGH = np.concatenate([np.full(block.size, block.high, dtype=np.uint8) for block in BLOCKS])

Cards = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One seat's turn in an exchange.

    Attributes:
        count: number of cards discarded, 0 to 5.
        open: one-card exchange with open cards: `closed`, `open` (turned up and not yet answered), `accepted` or
            `declined`; None: not asked, or not yet answered.
        open_card: the card that was turned up.
        reshuffled: the stock was reshuffled in this turn.
    """

    count: int
    open: str | None = None
    open_card: int | None = None
    reshuffled: bool = False


@dataclass(frozen=True, slots=True)
class Announcement:
    """What one seat announced, and what of its hand became public.

    Attributes:
        category: category id 1 to 9, 0 for pass.
        shown: all five cards, ascending, if they were shown.
        ranks: ranks that were shown (0 for two … 12 for ace), in the order compared.
        suit: suit that was shown (0 clubs … 3 spades).
    """

    category: int
    shown: Cards = ()
    ranks: tuple[int, ...] = ()
    suit: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """An exchange and the announcing after it. Tuples over seats have P entries.

    Attributes:
        exchanges: each seat's turn; None: not yet.
        discards: own discards, ascending.
        draws: own draws, ascending.
        breaker: seat that broke a hand that had scored, and so showed it.
        broken: the group that it showed, ascending.
        announcements: what each seat announced; None: not yet, or nothing is announced after this exchange.
        standing: seat that stands.
        tied: whether the best hands tie.
        four: choice at a four of a kind that was best here: `points`, `reset`, or None.
    """

    exchanges: tuple[Exchange | None, ...]
    discards: Cards
    draws: Cards
    breaker: int | None
    broken: Cards
    announcements: tuple[Announcement | None, ...]
    standing: int | None
    tied: bool
    four: str | None


@dataclass(frozen=True, slots=True)
class View:
    """All that a seat may know. Seats are relative: 0 is the observer, 1 the seat to its left, and so on.

    Cards are ids (rank * 4 + suit), sets of cards are ascending. Tuples over seats have P entries.

    Attributes:
        players: P.
        rules: the rules in force.
        phase: `exchange`, `open_choice`, `open_accept`, `announce`, `four`, `chicago`, `play` or `over`.
        round: index of the exchange, 0 to 2; stays at the last one afterwards.
        trick: index of the trick in progress, 0 to 4; None unless in play.
        dealer: seat of the dealer.
        to_act: seat to act; None when the match is over.
        hand: own hand.
        category: category of the own five cards, in the tricks of those taken into them; None while one is to be drawn.
        group: cards of the own hand that make its category, before the tricks.
        rounds: the three exchanges with their announcings.
        upcard: the face-up card on offer.
        best: highest category named in the announcing in progress.
        known: for each seat the cards that everybody knows it to hold.
        plays: for each of five tricks, for each seat, the card it played.
        winners: seat that won each of five tricks.
        leader: leader of the trick in progress; before the tricks forehand.
        led_suit: suit led in the trick in progress.
        winning_card: card that wins the trick in progress so far.
        winning_seat: seat that wins it so far.
        voids: for each seat the suits that it has shown in play not to hold.
        scores: scores.
        stopped: which seats are under buy stop in this deal.
        attempted: which seats have called a Chicago in this match.
        succeeded: which seats have made one.
        asked: for each seat None (not asked for a Chicago), False (declined) or True (called).
        caller: caller of the Chicago.
        failed: whether the Chicago has failed.
        showdown_four: choice at a four of a kind that was best at the showdown: `points`, `reset`, or None.
        stock: cards left in the stock.
        deal: deals finished in this match, at most 65,535.
        deals_left: deals after this one before the match is truncated, at most 65,535.
    """

    players: int
    rules: Rules
    phase: str
    round: int
    trick: int | None
    dealer: int
    to_act: int | None
    hand: Cards
    category: int | None
    group: Cards
    rounds: tuple[Round, ...]
    upcard: int | None
    best: int | None
    known: tuple[Cards, ...]
    plays: tuple[tuple[int | None, ...], ...]
    winners: tuple[int | None, ...]
    leader: int
    led_suit: int | None
    winning_card: int | None
    winning_seat: int | None
    voids: tuple[tuple[int, ...], ...]
    scores: tuple[int, ...]
    stopped: tuple[bool, ...]
    attempted: tuple[bool, ...]
    succeeded: tuple[bool, ...]
    asked: tuple[bool | None, ...]
    caller: int | None
    failed: bool
    showdown_four: str | None
    stock: int
    deal: int
    deals_left: int

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return self.phase == "over"

    @property
    def forehand(self) -> int:
        """The seat at the dealer's left."""
        return (self.dealer + 1) % self.players

    @property
    def order(self) -> tuple[int, ...]:
        """(P,) seats in the order of turns before the tricks, from forehand."""
        return tuple((self.forehand + i) % self.players for i in range(self.players))

    @property
    def discards(self) -> Cards:
        """All own discards of this deal, ascending."""
        return tuple(sorted({card for r in self.rounds for card in r.discards}))

    @property
    def played(self) -> Cards:
        """Cards played in this deal, ascending."""
        return tuple(sorted(card for trick in self.plays for card in trick if card is not None))

    def leader_of(self, trick: int) -> int | None:
        """Seat that led, or is to lead, a trick (0 to 4); None if that is not known yet."""
        if trick:
            return self.winners[trick - 1]
        return self.caller if self.caller is not None and self.rules.chicago_caller_leads else self.forehand

    @property
    def trick_cards(self) -> Cards:
        """Cards of the trick in progress, in the order of play."""
        if self.trick is None:
            return ()
        cards = (self.plays[self.trick][(self.leader + i) % self.players] for i in range(self.players))
        return tuple(card for card in cards if card is not None)

    @property
    def unseen(self) -> Cards:
        """Cards of which the observer does not know where they are, ascending: they may be held by other seats.

        Not among them: the own hand, played cards, cards that a seat is known to hold, the card on offer, and those own
        discards and declined open cards that no reshuffle has brought back.
        """
        seen = {*self.hand, *self.played, *(card for cards in self.known for card in cards), *self._dead()}
        return tuple(card for card in range(NUM_CARDS) if card not in seen and card != self.upcard)

    def _dead(self) -> set[int]:
        turns = [(r, i, seat) for r in range(ROUNDS) for i, seat in enumerate(self.order)]
        reshuffled = [(r, i) for r, i, seat in turns if (e := self.rounds[r].exchanges[seat]) and e.reshuffled]
        since = max(reshuffled, default=(-1, 0))
        dead: set[int] = set()
        for r, i, seat in turns:
            exchange = self.rounds[r].exchanges[seat]
            if exchange is None or (r, i) < since:
                continue
            if seat == 0:
                dead.update(self.rounds[r].discards)
            if exchange.open == "declined" and exchange.open_card is not None:
                dead.add(exchange.open_card)
        return dead

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def decode(observation: Any) -> View:
    """The `View` of an observation.

    Args:
        observation: (D,) uint8.

    Raises:
        ObservationError: another shape or dtype, or values that no observation has.
    """
    if not isinstance(observation, np.ndarray) or observation.dtype != np.uint8:
        kind = observation.dtype if isinstance(observation, np.ndarray) else type(observation).__name__
        raise ObservationError(f"an observation is an array of uint8, not {kind}")
    if observation.shape != (OBSERVATION_SIZE,):
        raise ObservationError(f"an observation has shape ({OBSERVATION_SIZE},), not {observation.shape}")
    if (observation > _HIGH).any():
        at = int((observation > _HIGH).argmax())
        raise ObservationError(f"entry {at} of the observation is {observation[at]}, at most {_HIGH[at]} is allowed")
    data = observation.tobytes()
    players = _one(data, AT.players, SEATS - 1)
    dealer, current = _one(data, AT.dealer, SEATS), _one(data, AT.round, ROUNDS)
    leader = _one(data, AT.leader, SEATS)
    if players is None or dealer is None or current is None or leader is None:
        raise ObservationError("the observation lacks the number of players, the dealer, the leader or the round")
    p = players + 2
    phase = _one(data, AT.phase, len(PHASES))
    hand = _set(data, AT.hand)
    group = data[AT.group : AT.group + HAND]
    return View(
        players=p,
        rules=decode_rules(data[RULES_AT:]),
        phase="over" if phase is None else PHASES[phase],
        round=current,
        trick=_one(data, AT.trick, TRICKS),
        dealer=dealer,
        to_act=_one(data, AT.to_act, SEATS),
        hand=hand,
        category=_one(data, AT.category, len(CATEGORIES)),
        group=tuple(card for card, made in zip(hand, group, strict=False) if made),
        rounds=tuple(_round(data, r, p) for r in range(ROUNDS)),
        upcard=_one(data, AT.upcard, NUM_CARDS),
        best=_plus_one(_one(data, AT.best, len(CATEGORIES) - 1)),
        known=tuple(_set(data, AT.known + NUM_CARDS * s) for s in range(p)),
        plays=tuple(tuple(_minus_one(data[AT.plays + SEATS * t + s]) for s in range(p)) for t in range(TRICKS)),
        winners=tuple(_one(data, AT.winners + SEATS * t, SEATS) for t in range(TRICKS)),
        leader=leader,
        led_suit=_one(data, AT.led_suit, 4),
        winning_card=_one(data, AT.winning_card, NUM_CARDS),
        winning_seat=_one(data, AT.winning_seat, SEATS),
        voids=tuple(tuple(s for s in range(4) if data[AT.void + 4 * seat + s]) for seat in range(p)),
        scores=tuple(_number(data, AT.scores_exact + 4 * s, 4) - SCORE_OFFSET for s in range(p)),
        stopped=_flags(data, AT.stopped, p),
        attempted=_flags(data, AT.attempted, p),
        succeeded=_flags(data, AT.succeeded, p),
        asked=tuple((None, False, True)[_plus_one(_one(data, AT.asked + 2 * s, 2)) or 0] for s in range(p)),
        caller=_one(data, AT.caller, SEATS),
        failed=bool(data[AT.failed]),
        showdown_four=_word(FOUR_CHOICES, _one(data, AT.four + 2 * ROUNDS, 2)),
        stock=data[AT.stock],
        deal=_number(data, AT.deal, 2),
        deals_left=_number(data, AT.deals_left, 2),
    )


# --- parts of an observation -----------------------------------------------------------------------------------------


def _one(data: bytes, at: int, size: int) -> int | None:
    """Place of the 1 in a one-hot part."""
    place = data.find(1, at, at + size)
    return None if place < 0 else place - at


def _set(data: bytes, at: int) -> Cards:
    """The cards of 52 bits."""
    cards = []
    place = data.find(1, at, at + NUM_CARDS)
    while place >= 0:
        cards.append(place - at)
        place = data.find(1, place + 1, at + NUM_CARDS)
    return tuple(cards)


def _listed(data: bytes, at: int) -> Cards:
    """The cards of HAND entries of kind `card + 1`; also ranks of kind `rank + 1`."""
    return tuple(entry - 1 for entry in data[at : at + HAND] if entry)


def _flags(data: bytes, at: int, size: int) -> tuple[bool, ...]:
    return tuple(map(bool, data[at : at + size]))


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _minus_one(entry: int) -> int | None:
    return entry - 1 if entry else None


def _plus_one(entry: int | None) -> int | None:
    return None if entry is None else entry + 1


def _word(words: tuple[str, ...], place: int | None) -> str | None:
    return None if place is None else words[place]


def _exchange(data: bytes, r: int, s: int) -> Exchange | None:
    place = r * SEATS + s
    count = _one(data, AT.exchanged + 6 * place, 6)
    if count is None:
        return None
    answer = _word(OPEN_STATES, _one(data, AT.open + 4 * place, 4))
    return Exchange(count, answer, _minus_one(data[AT.open_card + place]), bool(data[AT.reshuffled + place]))


def _announcement(data: bytes, r: int, s: int) -> Announcement | None:
    place = r * SEATS + s
    category = _one(data, AT.announced + 10 * place, 10)
    if category is None:
        return None
    ranks = _listed(data, AT.shown_ranks + HAND * place)
    shown = _listed(data, AT.shown + HAND * place)
    return Announcement(category, shown, ranks, _minus_one(data[AT.shown_suit + place]))


def _round(data: bytes, r: int, players: int) -> Round:
    return Round(
        exchanges=tuple(_exchange(data, r, s) for s in range(players)),
        discards=_listed(data, AT.discards_by_round + HAND * r),
        draws=_listed(data, AT.draws_by_round + HAND * r),
        breaker=_one(data, AT.breaker + SEATS * (r - 1), SEATS) if r else None,
        broken=_listed(data, AT.broken + HAND * (r - 1)) if r else (),
        announcements=tuple(_announcement(data, r, s) for s in range(players)),
        standing=_one(data, AT.standing + SEATS * r, SEATS),
        tied=bool(data[AT.tied + r]),
        four=_word(FOUR_CHOICES, _one(data, AT.four + 2 * r, 2)),
    )


# --- text ------------------------------------------------------------------------------------------------------------


def seat_name(seat: int) -> str:
    """Name of a relative seat: `you`, `+1`, …."""
    return f"+{seat}" if seat else "you"


def _lines(view: View) -> list[str]:
    """What `str(view)` has."""
    turn = "nobody to act" if view.to_act is None else f"{seat_name(view.to_act)} to act"
    where = f"trick {view.trick + 1}" if view.trick is not None else f"round {view.round + 1}"
    lines = [
        f"rules {format_rules(view.rules)}, {view.players} players, deal {view.deal + 1}, {view.deals_left} left",
        f"phase {view.phase}, {where}, {turn}, dealer {seat_name(view.dealer)}, stock {view.stock}",
    ]
    made = "" if view.category is None else f" ({CATEGORIES[view.category]})"
    lines.append(f"hand {format_cards(view.hand) or '-'}{made}")
    if view.upcard is not None:
        lines.append(f"on offer {card_name(view.upcard)}")
    for seat in range(view.players):
        lines.append(_seat_line(view, seat))
    for r, part in enumerate(view.rounds):
        lines.extend(_round_lines(r, part, view.order))
    if view.caller is not None:
        lines.append(f"Chicago called by {seat_name(view.caller)}{', failed' if view.failed else ''}")
    for t, cards in enumerate(view.plays):
        leader = view.leader_of(t)
        order = [] if leader is None else [(leader + i) % view.players for i in range(view.players)]
        shown = [f"{seat_name(s)} {card_name(card)}" for s in order if (card := cards[s]) is not None]
        if shown:
            winner = view.winners[t]
            won = "" if winner is None else f"; {seat_name(winner)} won"
            lines.append(f"trick {t + 1}: {', '.join(shown)}{won}")
    if view.showdown_four is not None:
        lines.append(f"four of a kind at the showdown: {view.showdown_four}")
    return lines


def _seat_line(view: View, seat: int) -> str:
    notes = [
        note
        for note, holds in (
            ("under buy stop", view.stopped[seat]),
            ("has called a Chicago", view.attempted[seat]),
            ("has made a Chicago", view.succeeded[seat]),
            ("does not call Chicago", view.asked[seat] is False),
        )
        if holds
    ]
    if view.known[seat]:
        notes.append(f"holds {format_cards(view.known[seat])}")
    if view.voids[seat]:
        notes.append(f"has no {' '.join(SUITS[s] for s in view.voids[seat])}")
    return "; ".join([f"{seat_name(seat)}: {view.scores[seat]} points", *notes])


def _round_lines(r: int, part: Round, order: tuple[int, ...]) -> list[str]:
    lines = []
    turns = [_turn_text(seat, turn) for seat in order if (turn := part.exchanges[seat]) is not None]
    if turns:
        own = ""
        if part.discards:
            own = f"; you gave {format_cards(part.discards)}, drew {format_cards(part.draws) or '-'}"
        lines.append(f"exchange {r + 1}: {', '.join(turns)}{own}")
    if part.breaker is not None:
        lines.append(f"  {seat_name(part.breaker)} broke {format_cards(part.broken)}")
    named = [_said_text(seat, said) for seat in order if (said := part.announcements[seat]) is not None]
    if named:
        stands = "" if part.standing is None else f"; {seat_name(part.standing)} {'ties' if part.tied else 'stands'}"
        four = "" if part.four is None else f"; takes {part.four}"
        lines.append(f"announcing {r + 1}: {', '.join(named)}{stands}{four}")
    return lines


def _turn_text(seat: int, turn: Exchange) -> str:
    card = "" if turn.open_card is None else f" {card_name(turn.open_card)}"
    answer = "" if turn.open is None else f" {turn.open}{card}"
    return f"{seat_name(seat)} {turn.count}{answer}{' reshuffled' if turn.reshuffled else ''}"


def _said_text(seat: int, said: Announcement) -> str:
    named = CATEGORIES[said.category] if said.category else "pass"
    shown = format_cards(said.shown) or "".join(RANKS[rank] for rank in said.ranks)
    suit = "" if said.suit is None else SUITS[said.suit]
    return " ".join(part for part in (seat_name(seat), named, shown, suit) if part)
