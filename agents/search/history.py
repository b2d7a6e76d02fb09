"""A hidden history: what every seat held, discarded and drew in the deal so far, as far as the observer did not see it.

It is an array (7, 6) int64 of sets of cards: rows 0-2 discarded in that exchange, rows 3-5 received, row `FIVE` the cards
held after the last exchange, cards played since included; columns are seats. Hands before are rolled back from these.
"""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.bits import FULL_DECK, SUIT_CARDS, popcount
from chicago_env.hands import group_of, hand_value, suit_key
from chicago_env.layout import ROUNDS, SEATS, TRICKS
from chicago_env.state import OPEN_ACCEPT, OPEN_ACCEPTED, OPEN_CHOICE, OPEN_DECLINED, OPEN_OPEN

FIVE = 2 * ROUNDS
ROWS = FIVE + 1

TURN_SEAT, TURN_ROUND, TURN_N, TURN_CARD, TURN_TAKEN, TURN_STOCK, TURN_SHUFFLED = range(7)
"""Columns of the list of turns: seat, exchange, cards discarded, the face-up card that was not taken or not yet (-1), the
one that was taken (-1), cards in the stock before the turn, and whether the stock was reshuffled in it."""

MAX_TURNS = ROUNDS * SEATS


@jit
def list_turns(g: Any, turns: Any) -> int:
    """Writes the turns of the exchanges so far, the one in progress included, into `turns` (18, 7) int64; their number."""
    players = int(g["players"])
    forehand = (int(g["dealer"]) + 1) % players
    drawing = g["phase"] == OPEN_CHOICE or g["phase"] == OPEN_ACCEPT
    stock, pile, count = 52 - 5 * players, 0, 0
    for r in range(ROUNDS):
        for j in range(players):
            s = (forehand + j) % players
            if g["exchanged"][r, s] == 0:
                return count
            n = int(g["exchanged"][r, s]) - 1
            unfinished = drawing and s == 0 and r == g["round"]
            opened = int(g["open"][r, s])
            card = int(g["open_card"][r, s]) - 1
            loose = opened == OPEN_DECLINED or opened == OPEN_OPEN
            turns[count, TURN_SEAT] = s
            turns[count, TURN_ROUND] = r
            turns[count, TURN_N] = n
            turns[count, TURN_CARD] = card if loose else -1
            turns[count, TURN_TAKEN] = card if opened == OPEN_ACCEPTED else -1
            turns[count, TURN_STOCK] = stock
            turns[count, TURN_SHUFFLED] = g["reshuffled"][r, s]
            drawn = (0 if unfinished else n) + int(loose)
            if g["reshuffled"][r, s]:
                stock += pile
                pile = 0
            stock -= drawn
            pile += n + int(loose)
            count += 1
    return count


@jit
def required_cards(g: Any, required: Any) -> None:
    """Writes the cards that each seat is known to have held into `required` (4, 6) int64: before exchange t, or after the
    last one (t = 3).
    """
    for t in range(ROUNDS + 1):
        for s in range(SEATS):
            required[t, s] = 0
    last = int(g["r_exchanges"])
    for s in range(1, int(g["players"])):
        for r in range(ROUNDS):
            required[r + 1, s] |= int(g["shown"][r, s])
            if g["open"][r, s] == OPEN_ACCEPTED:
                required[r + 1, s] |= 1 << (int(g["open_card"][r, s]) - 1)
            if g["breaker"][r] == s + 1:
                required[r, s] |= int(g["broken"][r])
        for k in range(TRICKS):
            if g["plays"][k, s]:
                required[last, s] |= 1 << (int(g["plays"][k, s]) - 1)
        for t in range(last, ROUNDS):
            required[t + 1, s] |= required[last, s]


@jit
def hand_at(w: Any, s: int, t: int) -> int:
    """The hand of seat `s` before exchange t, or after the last one (t = 3)."""
    hand = int(w[FIVE, s])
    for r in range(ROUNDS - 1, t - 1, -1):
        hand = hand & ~int(w[ROUNDS + r, s]) | int(w[r, s])
    return hand


@jit
def own_history(g: Any, w: Any) -> None:
    """Writes the observer's own cards into `w` and clears the rest."""
    for i in range(ROWS):
        for s in range(SEATS):
            w[i, s] = 0
    for r in range(ROUNDS):
        w[r, 0] = g["discarded"][r, 0]
        w[ROUNDS + r, 0] = g["received"][r, 0]
    w[FIVE, 0] = int(g["hand"][0]) | int(g["held"][0])


@jit
def leader_of(g: Any, trick: int) -> int:
    """Seat that led a trick that has begun."""
    if trick:
        return int(g["winners"][trick - 1]) - 1
    if g["r_caller_leads"] and g["caller"] >= 0:
        return int(g["caller"])
    return (int(g["dealer"]) + 1) % int(g["players"])


@jit
def best_before(g: Any, r: int, seat: int) -> int:
    """Highest category named in announcing r before it was the turn of `seat`."""
    players = int(g["players"])
    best = 0
    s = (int(g["dealer"]) + 1) % players
    while s != seat:
        best = max(best, int(g["announced"][r, s]) - 1)
        s = (s + 1) % players
    return best


@jit
def fits_announcing(g: Any, r: int, s: int, hand: int) -> bool:
    """Whether five cards agree with what seat `s` said and showed in announcing r."""
    said = int(g["announced"][r, s]) - 1
    if said < 0:
        return True
    value = hand_value(hand)
    category = value >> 20
    if said == 0:
        return not g["r_compulsory"] or category == 0 or category < best_before(g, r, s)
    if category != said or (g["shown"][r, s] and g["shown"][r, s] != hand):
        return False
    for k in range(int(g["ranks_n"][r, s])):
        if g["ranks"][r, s, k] != 1 + (value >> (16 - 4 * k) & 15):
            return False
    return not g["suit"][r, s] or g["suit"][r, s] == 1 + (suit_key(hand, value, g["r_suit_rank"]) & 3)


@jit
def fits_exchange(g: Any, r: int, s: int, hand: int, discarded: int) -> bool:
    """Whether it agrees with what was shown that seat `s` discarded `discarded` from `hand` at exchange r."""
    if not g["r_show_broken"] or r == 0 or not discarded:
        return True
    group = group_of(hand, hand_value(hand))
    if g["breaker"][r] == s + 1:
        return group == g["broken"][r] and group & discarded != 0
    scored = g["standing"][r - 1] == s + 1 and not g["tied"][r - 1]
    return not scored or group & discarded == 0


@jit
def fits_play(g: Any, s: int, five: int) -> bool:
    """Whether seat `s` held the cards that it played, and followed suit where it could."""
    for k in range(TRICKS):
        card = int(g["plays"][k, s]) - 1
        if card < 0:
            return True
        led = (int(g["plays"][k, leader_of(g, k)]) - 1) & 3
        if not five >> card & 1 or (card & 3 != led and five & (SUIT_CARDS << led)):
            return False
        five &= ~(1 << card)
    return True


@jit
def fits(g: Any, w: Any, s: int) -> bool:
    """Whether the history of seat `s` agrees with everything that is public about it."""
    hand = int(w[FIVE, s])
    if not fits_play(g, s, hand):
        return False
    for r in range(ROUNDS - 1, -1, -1):
        if not fits_announcing(g, r, s, hand):
            return False
        hand = hand & ~int(w[ROUNDS + r, s]) | int(w[r, s])
        if not fits_exchange(g, r, s, hand, int(w[r, s])):
            return False
    return True


@jit
def is_sound(g: Any, turns: Any, count: int, w: Any) -> bool:
    """Whether every card is in one place at every time, and every number of cards is as the turns say."""
    players = int(g["players"])
    hands = np.zeros(SEATS, dtype=np.int64)
    held = 0
    for s in range(players):
        hands[s] = hand_at(w, s, 0)
        if popcount(hands[s]) != 5 or hands[s] & held:
            return False
        held |= hands[s]
    stock, pile = FULL_DECK & ~held, 0
    for i in range(count):
        s, r = int(turns[i, TURN_SEAT]), int(turns[i, TURN_ROUND])
        gone, got = int(w[r, s]), int(w[ROUNDS + r, s])
        card = 1 << int(turns[i, TURN_CARD]) if turns[i, TURN_CARD] >= 0 else 0
        taken = 1 << int(turns[i, TURN_TAKEN]) if turns[i, TURN_TAKEN] >= 0 else 0
        drawn = got | card
        if gone & ~hands[s] or popcount(gone) != turns[i, TURN_N] or got & card or taken & ~got:
            return False
        if turns[i, TURN_SHUFFLED]:
            up = card | taken
            if stock & ~drawn or (stock and up and not stock & up):
                return False
            stock, pile = stock | pile, 0
        if drawn & ~stock or (got and popcount(got) != turns[i, TURN_N]):
            return False
        stock &= ~drawn
        pile |= gone | card
        hands[s] = hands[s] & ~gone | got
    for s in range(players):
        if hands[s] != w[FIVE, s]:
            return False
    return bool(popcount(stock) == g["stock_n"])
