"""What the heuristics read from a row of observations (`chicago_env.layout`), as numbers and sets of cards."""

from typing import Any

from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK
from chicago_env.layout import (
    AT,
    CARDS,
    ROUNDS,
    RULE_FLAGS,
    RULE_NUMBERS,
    RULE_OFFSET,
    SCORE_OFFSET,
    SEATS,
)

EXCHANGE, OPEN_CHOICE, OPEN_ACCEPT, ANNOUNCE, FOUR, CHICAGO, PLAY = range(7)
"""Phases, as in the block `phase`."""

_DECLINED = 3  # in the block `open`


def flag_at(name: str) -> int:
    """Place of a flag of the rules in the observation."""
    return int(AT.rule_flags) + RULE_FLAGS.index(name)


def number_at(name: str) -> int:
    """Place of a number of the rules in the observation, for `rule`."""
    return int(AT.rule_numbers_exact) + 2 * RULE_NUMBERS.index(name)


_TARGET = number_at("target")
_HAND_POINTS = number_at("hand_points_1")
_EXCHANGES = flag_at("exchanges_1")
_SCORED = flag_at("scored_1")


@jit
def rule(o: Any, at: int) -> int:
    """A number of the rules; `at` from `number_at`."""
    return (int(o[at]) << 8 | int(o[at + 1])) - RULE_OFFSET


@jit
def target(o: Any) -> int:
    """Score at which the match can be won."""
    return rule(o, _TARGET)


@jit
def hand_points(o: Any, category: int) -> int:
    """Points of a hand of this category."""
    return 0 if category == 0 else rule(o, _HAND_POINTS + 2 * (category - 1))


@jit
def exchanges(o: Any) -> int:
    """Number of exchanges in a deal."""
    return 1 if o[_EXCHANGES] else 2 if o[_EXCHANGES + 1] else 3


@jit
def scored(o: Any) -> int:
    """Bit r: hands are announced after exchange r (from 0)."""
    return int(o[_SCORED]) | int(o[_SCORED + 1]) << 1 | int(o[_SCORED + 2]) << 2


@jit
def score(o: Any, seat: int) -> int:
    """Score of a seat; seats that do not exist have the lowest score there is."""
    at = AT.scores_exact + 4 * seat
    total = 0
    for k in range(4):
        total = total << 8 | int(o[at + k])
    return total - SCORE_OFFSET


@jit
def phase(o: Any) -> int:
    """The phase, -1 when there is none: the row is not an observation of a seat to act."""
    for p in range(7):
        if o[AT.phase + p]:
            return p
    return -1


@jit
def players(o: Any) -> int:
    """Number of players."""
    for p in range(SEATS - 2):
        if o[AT.players + p]:
            return p + 2
    return SEATS


@jit
def current_round(o: Any) -> int:
    """Exchange in progress or last, from 0."""
    return 0 if o[AT.round] else 1 if o[AT.round + 1] else 2


@jit
def place(o: Any, at: int, size: int) -> int:
    """Place of the 1 in a one-hot part, -1 for none."""
    for i in range(size):
        if o[at + i]:
            return i
    return -1


@jit
def cards(o: Any, at: int) -> int:
    """The set of cards of 52 bits."""
    mask = 0
    for card in range(CARDS):
        mask |= int(o[at + card]) << card
    return mask


@jit
def known(o: Any, seat: int) -> int:
    """Cards that everybody knows the seat to hold."""
    return cards(o, AT.known + CARDS * seat)


@jit
def _since_reshuffle(o: Any, count: int) -> tuple[int, int]:
    """Round and place in the turn order of the last reshuffle, (-1, 0) for none."""
    forehand = (place(o, AT.dealer, SEATS) + 1) % count
    for r in range(ROUNDS - 1, -1, -1):
        for i in range(count - 1, -1, -1):
            if o[AT.reshuffled + SEATS * r + (forehand + i) % count]:
                return r, i
    return -1, 0


@jit
def dead(o: Any) -> int:
    """Own discards and declined open cards that no reshuffle has brought back: nobody holds them or can draw them."""
    count = players(o)
    since_round, since = _since_reshuffle(o, count)
    forehand = (place(o, AT.dealer, SEATS) + 1) % count
    gone = 0
    for r in range(max(since_round, 0), ROUNDS):
        for i in range(count):
            seat = (forehand + i) % count
            if r == since_round and i < since:
                continue
            if seat == 0:
                for k in range(5):
                    card = int(o[AT.discards_by_round + 5 * r + k])
                    if card:
                        gone |= 1 << (card - 1)
            if o[AT.open + 4 * (SEATS * r + seat) + _DECLINED]:
                gone |= 1 << (int(o[AT.open_card + SEATS * r + seat]) - 1)
    return gone


@jit
def unseen(o: Any) -> int:
    """Cards of which the observer does not know where they are (as `chicago_env.view.View.unseen`)."""
    seen = cards(o, AT.hand) | cards(o, AT.upcard) | dead(o)
    for seat in range(players(o)):
        seen |= known(o, seat)
    if o[AT.phase + PLAY]:
        seen |= cards(o, AT.played)
    return FULL_DECK & ~seen
