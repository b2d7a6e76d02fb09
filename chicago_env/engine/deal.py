"""Dealing, drawing and the reshuffle of an empty stock (docs/rules.md §2)."""

from typing import Any

from chicago_env._jit import inlined, jit
from chicago_env.bits import SEAT_BITS, lowest, popcount
from chicago_env.engine.chance import DECK, RESHUFFLE, key_of, shuffle
from chicago_env.engine.log import DEAL, add_card, emit, position
from chicago_env.engine.log import RESHUFFLE as RESHUFFLE_EVENT
from chicago_env.hands import hand_value
from chicago_env.layout import HAND as HAND_SIZE
from chicago_env.layout import ROUNDS, TRICKS
from chicago_env.state import EXCHANGE


@inlined
def left_of(g: Any, seat: int) -> int:
    """The seat at the left of `seat`, next in turn."""
    return seat + 1 if seat + 1 < g["players"] else 0


@jit
def _clear_history(g: Any) -> None:
    players = int(g["players"])
    for s in range(players):
        g["draws"][s] = 0
        g["known"][s] = 0
        g["discards"][s] = 0
    for r in range(ROUNDS):
        for s in range(players):
            g["discarded"][s, r] = 0
            g["received"][s, r] = 0
            g["shown"][r, s] = 0
            g["ranks"][r, s] = 0
        g["exchanged"][r] = 0
        g["open"][r] = 0
        g["open_card"][r] = 0
        g["announced"][r] = 0
        g["suit"][r] = 0
        g["standing"][r] = 0
        g["tied"][r] = 0
        g["breaker"][r] = 0
        g["broken"][r] = 0
    g["reshuffled"] = 0
    g["four"] = 0
    g["asked"] = 0
    g["played"] = 0
    g["trick_cards"] = 0
    for t in range(TRICKS):
        g["plays"][t] = 0
    g["winners"] = 0
    g["void"] = 0


@jit
def _mark_stopped(g: Any) -> None:
    """Who is under buy stop in this deal (docs/rules.md §2.1)."""
    stopped = 0
    for s in range(int(g["players"])):
        if g["scores"][s] >= g["r_buy_stop"]:
            stopped |= 1 << s
    g["ever_stopped"] |= stopped
    g["stopped"] = g["ever_stopped"] if g["r_buy_stop_permanent"] else stopped


@jit
def start_deal(g: Any, decks: Any, log: Any) -> None:
    """Deals five cards to each seat; `decks` (K, 52) int8 prescribes the first K deals card by card, the rest is keyed."""
    players = int(g["players"])
    deal = int(g["deal"])
    _clear_history(g)
    _mark_stopped(g)
    given = deal < decks.shape[0]
    deck = g["deck"]
    if given:
        for i in range(52):
            deck[i] = decks[deal, i]
    else:
        for i in range(52):
            deck[i] = i
        shuffle(deck, 52, key_of(int(g["seed"]), DECK, deal, 0))
    forehand = left_of(g, int(g["dealer"]))
    event = position(log)
    emit(log, DEAL, int(g["dealer"]), deal)
    for s in range(players):
        g["hand"][s] = 0
    for k in range(HAND_SIZE):
        s = forehand
        for j in range(players):
            # Keyed cards belong to a seat, not to a place at the table, so that boards can be replayed with seats rotated.
            card = int(deck[k * players + (j if given else s)])
            g["hand"][s] |= 1 << card
            add_card(log, event, card)
            s = left_of(g, s)
    for s in range(players):
        g["value"][s] = hand_value(int(g["hand"][s]))
        g["held"][s] = 0
    g["listed"] = 1 if given else 0
    g["stock_at"] = HAND_SIZE * players
    g["stock_n"] = 52 - HAND_SIZE * players
    g["taken"] = 0
    g["reshuffles"] = 0
    g["pile"] = 0
    g["pending"] = 0
    g["drawn_n"] = 0
    g["upcard"] = -1
    g["best"] = 0
    g["scored_seat"] = -1
    g["caller"] = -1
    g["failed"] = 0
    g["trick"] = 0
    g["leader"] = forehand
    g["led"] = -1
    g["win_card"] = -1
    g["win_seat"] = -1
    g["stage"] = 0
    g["round"] = 0
    g["turn"] = 0
    g["phase"] = EXCHANGE
    g["to_act"] = forehand


@jit
def _reshuffle(g: Any, seat: int, log: Any) -> None:
    """All discards of the deal except those of the turn in progress become the stock, a list from now on."""
    deck = g["deck"]
    n = popcount(int(g["pile"]))
    if g["next_stock_n"] == n:
        for i in range(n):
            deck[i] = g["next_stock"][i]
        g["next_stock_n"] = 0
    else:
        rest = int(g["pile"])
        for i in range(n):
            deck[i] = lowest(rest)
            rest &= rest - 1
        shuffle(deck, n, key_of(int(g["seed"]), RESHUFFLE, int(g["deal"]), int(g["reshuffles"])))
    g["pile"] = 0
    g["listed"] = 1
    g["stock_at"] = 0
    g["stock_n"] = n
    g["reshuffles"] += 1
    g["reshuffled"] |= 1 << (SEAT_BITS * int(g["round"]) + seat)
    event = position(log)
    emit(log, RESHUFFLE_EVENT, seat, 0)
    for i in range(n):
        add_card(log, event, int(deck[i]))


@inlined
def draw(g: Any, seat: int, log: Any) -> int:
    """Takes a card from the stock for `seat`, after a reshuffle if none is left.

    Keyed cards: draw k of a seat has the place 5P + kP + seat of the keyed deck. A seat that has used up its own places
    takes the last place that is free, so that others lose theirs as late as possible.
    """
    if g["stock_n"] == 0:
        _reshuffle(g, seat, log)
    g["stock_n"] -= 1
    if g["listed"]:
        g["stock_at"] += 1
        return int(g["deck"][int(g["stock_at"]) - 1])
    players = int(g["players"])
    place = HAND_SIZE * players + int(g["draws"][seat]) * players + seat
    g["draws"][seat] += 1
    taken = int(g["taken"])
    if place >= 52 or taken >> place & 1:
        place = 51
        while taken >> place & 1:
            place -= 1
    g["taken"] = taken | 1 << place
    return int(g["deck"][place])
