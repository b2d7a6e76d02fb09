"""The event log: what a record is made of. Words of an `int32` array; `log[0]` is the next free place.

An array of length 0 switches logging off. Each event is `code, seat, value, n, card_1 … card_n`; what value and cards
mean for each code stands beside the code. `chicago_env.records` turns the words into record events.
"""

from typing import Any

from chicago_env._jit import jit
from chicago_env.bits import lowest

CAPACITY = 4096  # words; one step plus the next deal's start need far less (a reshuffle is 56 words)

DEAL = 1  # seat: dealer; value: deal index; cards: 5·P in the order dealt
EXCHANGE = 2  # value: number discarded; cards: the discarded, then the drawn
OPEN = 3  # value: 1 accepted, 0 declined; one card
RESHUFFLE = 4  # seat: who draws; cards: the new stock, top first
PENALTY = 5  # value: points, negative or 0
ANNOUNCE = 6  # value: category, 0 for pass
SHOW = 7  # cards: what is shown
FOUR = 8  # value: 1 reset, 0 points
SCORE_HAND = 9  # value: points
SCORE_CHICAGO = 10
SCORE_BREAKER = 11
SCORE_LAST_TRICK = 12
RESET = 13
CHICAGO = 14  # value: 1 called, 0 declined
PLAY = 15  # one card
TRICK = 16  # seat: winner
DEAL_END = 17  # the deal is over; the next word group, if any, is a DEAL


@jit
def emit(log: Any, code: int, seat: int, value: int) -> None:
    """Writes an event without cards."""
    if log.shape[0] == 0:
        return
    at = int(log[0])
    log[at] = code
    log[at + 1] = seat
    log[at + 2] = value
    log[at + 3] = 0
    log[0] = at + 4


@jit
def add_card(log: Any, event: int, card: int) -> None:
    """Adds a card to the event that starts at word `event` and is the last one."""
    if log.shape[0] == 0:
        return
    log[int(log[0])] = card
    log[0] += 1
    log[event + 3] += 1


@jit
def add_cards(log: Any, event: int, mask: int) -> None:
    """Adds a set of cards, by ascending id."""
    if log.shape[0] == 0:
        return
    while mask:
        add_card(log, event, lowest(mask))
        mask &= mask - 1


@jit
def add_list(log: Any, event: int, cards: int) -> None:
    """Adds a list of cards."""
    while cards:
        add_card(log, event, (cards & 255) - 1)
        cards >>= 8


@jit
def position(log: Any) -> int:
    """Where the next event will start."""
    return int(log[0]) if log.shape[0] else 0
