"""Writes what a seat may know (docs/rules.md §6) into the vector that `chicago_env.layout` describes.

Written in the order of the layout, without gaps: `write_bits` and `write_bytes` write 64 and 8 entries, of which those
that belong to the next blocks are 0 and overwritten by what comes next. The places within a word are taken from the
layout as well: `AT.trick - AT.phase` is the bit of `trick` in the word that starts with `phase`. There are next to no
branches, because what has happened in a deal is a toss-up for the processor: what has not happened is written as 0.
"""

from typing import Any

from chicago_env._jit import inlined, jit
from chicago_env.arrays import copy_bytes, write_bits, write_bytes
from chicago_env.bits import lowest, positions, turned, turned_sets
from chicago_env.hands import group_of
from chicago_env.layout import (
    AT,
    CARDS,
    HAND,
    HIDDEN_SIZE,
    OBSERVATION_SIZE,
    ROUNDS,
    RULES_AT,
    RULES_SIZE,
    SCORE_OFFSET,
    SEATS,
    SMALL_OFFSET,
    TRICKS,
)
from chicago_env.state import ANNOUNCE, OPEN_ACCEPT, OPEN_CHOICE, OVER, PLAY

_FULL = (1 << CARDS) - 1
_STOCK_AT = (SEATS - 1) * CARDS  # in what a state has after the observation
_PILE_AT = _STOCK_AT + CARDS
_SCORE_LIMIT = SCORE_OFFSET - 1
_LAST_CARD_AT = AT.hand_ranks + 13 * (HAND - 1)


@inlined
def _one_hot(i: int) -> int:
    """Bit i; nothing for -1."""
    return (1 << (i + 1)) >> 1


@inlined
def _seat_at(j: int, seat: int, players: int) -> int:
    """The seat that `seat` sees as j; where there is none, j itself, one that does not play and has nothing but zeros."""
    s = seat + j
    s -= players & -int(s >= players)
    return (s if j < players else j) & 7  # the mask tells the compiler that no index is negative


@inlined
def _situation(g: Any, seat: int, out: Any) -> None:
    players, phase = int(g["players"]), int(g["phase"])
    turns = turned_sets(_one_hot(int(g["dealer"])) | _one_hot(int(g["to_act"])) << SEATS, seat, players)
    write_bits(
        out,
        AT.phase,
        int(phase != OVER) << phase
        | 1 << (AT.round + int(g["round"]))
        | int(phase == PLAY) << (AT.trick + int(g["trick"]))
        | 1 << (AT.players + players - 2)
        | turns << AT.dealer,
    )


@inlined
def _own_cards(g: Any, seat: int, out: Any) -> None:
    hand, phase, value = int(g["hand"][seat]), int(g["phase"]), int(g["value"][seat])
    write_bits(out, AT.hand, hand)
    ranks, suits, rest = 0, 0, hand
    for i in range(HAND - 1):
        card = lowest(rest | 1 << CARDS)
        ranks |= int(card < CARDS) << (13 * i + (card >> 2))
        suits |= int(card < CARDS) << (4 * i + (card & 3))
        rest &= rest - 1
    write_bits(out, AT.hand_ranks, ranks)
    card = lowest(rest | 1 << CARDS)
    complete = int(card < CARDS)
    suits |= complete << (4 * (HAND - 1) + (card & 3))
    drawing = (phase == OPEN_CHOICE or phase == OPEN_ACCEPT) and g["to_act"] == seat
    write_bits(
        out,
        _LAST_CARD_AT,
        complete << (card >> 2)
        | suits << (AT.hand_suits - _LAST_CARD_AT)
        | int(not drawing) << (AT.category - _LAST_CARD_AT + (value >> 20))
        | (positions(hand, group_of(hand, value)) & -complete) << (AT.group - _LAST_CARD_AT),
    )
    write_bits(out, AT.discards, int(g["discards"][seat]))
    for r in range(ROUNDS):
        write_bytes(out, AT.discards_by_round + HAND * r, int(g["discarded"][seat, r]))
    for r in range(ROUNDS):
        write_bytes(out, AT.draws_by_round + HAND * r, int(g["received"][seat, r]))


@inlined
def _exchanges(g: Any, seat: int, out: Any) -> None:
    players = int(g["players"])
    for r in range(ROUNDS):
        write_bits(out, AT.exchanged + 6 * SEATS * r, turned(int(g["exchanged"][r]), 6, seat, players))
    if g["r_open_card"]:
        for r in range(ROUNDS):
            write_bits(out, AT.open + 4 * SEATS * r, turned(int(g["open"][r]), 4, seat, players))
        for r in range(ROUNDS):
            write_bytes(out, AT.open_card + SEATS * r, turned(int(g["open_card"][r]), 8, seat, players))
    else:
        write_bits(out, AT.open, 0)
        write_bits(out, AT.open + 64, 0)
    write_bits(out, AT.upcard, _one_hot(int(g["upcard"])))
    write_bits(out, AT.reshuffled, turned_sets(int(g["reshuffled"]), seat, players))


@inlined
def _lists_by_seat(lists: Any, at: int, seat: int, players: int, out: Any) -> None:
    """Lists of up to five bytes: (ROUNDS, SEATS) int64."""
    for r in range(ROUNDS):
        for j in range(SEATS):
            write_bytes(out, at + HAND * (SEATS * r + j), int(lists[r, _seat_at(j, seat, players)]))


@inlined
def _announcings(g: Any, seat: int, out: Any) -> None:
    players = int(g["players"])
    for r in range(ROUNDS):
        write_bits(out, AT.announced + 10 * SEATS * r, turned(int(g["announced"][r]), 10, seat, players))
    best = _one_hot(int(g["best"]) - 1) if g["phase"] == ANNOUNCE else 0
    standing, tied = 0, 0
    for r in range(ROUNDS):
        standing |= _one_hot(int(g["standing"][r]) - 1) << SEATS * r
        tied |= int(g["tied"][r]) << r
    standing = turned_sets(standing, seat, players)
    write_bits(out, AT.best, best | standing << (AT.standing - AT.best) | tied << (AT.tied - AT.best))
    if g["r_reveal_ranks"]:
        write_bits(out, AT.shown, 0)
        write_bits(out, AT.shown + 64, 0)
        _lists_by_seat(g["ranks"], AT.shown_ranks, seat, players, out)
    else:
        _lists_by_seat(g["shown"], AT.shown, seat, players, out)
        write_bits(out, AT.shown_ranks, 0)
        write_bits(out, AT.shown_ranks + 64, 0)
    for r in range(ROUNDS):
        write_bytes(out, AT.shown_suit + SEATS * r, turned(int(g["suit"][r]), 8, seat, players))
    breakers = _one_hot(int(g["breaker"][1]) - 1) | _one_hot(int(g["breaker"][2]) - 1) << SEATS
    write_bits(out, AT.breaker, turned_sets(breakers, seat, players))
    for r in range(1, ROUNDS):
        write_bytes(out, AT.broken + HAND * (r - 1), int(g["broken"][r]))


@inlined
def _known(g: Any, seat: int, out: Any) -> None:
    players = int(g["players"])
    for j in range(SEATS):
        write_bits(out, AT.known + CARDS * j, int(g["known"][_seat_at(j, seat, players)]))


@inlined
def _tricks(g: Any, seat: int, out: Any) -> None:
    players = int(g["players"])
    write_bits(out, AT.played, int(g["played"]))
    write_bits(out, AT.trick_cards, int(g["trick_cards"]))
    for t in range(TRICKS):
        write_bytes(out, AT.plays + SEATS * t, turned(int(g["plays"][t]), 8, seat, players))
    winners = int(g["winners"]) | _one_hot(int(g["leader"])) << (AT.leader - AT.winners)
    write_bits(
        out,
        AT.winners,
        turned_sets(winners, seat, players) | _one_hot(int(g["led"])) << (AT.led_suit - AT.winners),
    )
    in_progress = -int(g["led"] >= 0)  # all bits set; else the winner of the last trick still stands in the state
    write_bits(out, AT.winning_card, _one_hot(int(g["win_card"])) & in_progress)
    winning = turned_sets(_one_hot(int(g["win_seat"])) & in_progress, seat, players)
    voids = turned(int(g["void"]), 4, seat, players)
    write_bits(out, AT.winning_seat, winning | voids << (AT.void - AT.winning_seat))


@inlined
def _match(g: Any, seat: int, out: Any) -> None:
    players = int(g["players"])
    clipped = 0
    for j in range(SEATS):
        score = int(g["scores"][_seat_at(j, seat, players)])
        clipped |= (min(max(score + SMALL_OFFSET, 0), 255) & -int(j < players)) << 8 * j
    write_bytes(out, AT.scores, clipped)
    for j in range(SEATS):
        score = int(g["scores"][_seat_at(j, seat, players)])
        exact = (min(max(score, -_SCORE_LIMIT), _SCORE_LIMIT) + SCORE_OFFSET) & -int(j < players)
        first_byte_lowest = exact >> 24 | (exact >> 8 & 0xFF00) | (exact & 0xFF00) << 8 | (exact & 0xFF) << 24
        write_bytes(out, AT.scores_exact + 4 * j, first_byte_lowest)
    sets = int(g["stopped"]) | int(g["attempted"]) << SEATS | int(g["succeeded"]) << 2 * SEATS
    write_bits(
        out,
        AT.stopped,
        turned_sets(sets, seat, players)
        | turned(int(g["asked"]), 2, seat, players) << (AT.asked - AT.stopped)
        | turned_sets(_one_hot(int(g["caller"])), seat, players) << (AT.caller - AT.stopped)
        | int(g["failed"]) << (AT.failed - AT.stopped)
        | int(g["four"]) << (AT.four - AT.stopped),
    )
    deal = min(int(g["deal"]), 65535)
    left = min(int(g["max_deals"]) - 1 - int(g["deal"]), 65535)
    write_bytes(
        out,
        AT.stock,
        int(g["stock_n"]) | deal >> 8 << 8 | (deal & 255) << 16 | left >> 8 << 24 | (left & 255) << 32,
    )


@jit
def observe(g: Any, seat: int, out: Any) -> None:
    """Writes the observation of `seat` into `out` (D or more,) uint8, every entry of it.

    Raises:
        IndexError: `out` is shorter.
    """
    if out.shape[0] < OBSERVATION_SIZE:
        raise IndexError("no room for an observation")
    seat &= 7  # tells the compiler that no index is negative
    _situation(g, seat, out)
    _own_cards(g, seat, out)
    _exchanges(g, seat, out)
    _announcings(g, seat, out)
    _known(g, seat, out)
    _tricks(g, seat, out)
    _match(g, seat, out)
    copy_bytes(out, RULES_AT, g["r_block"], RULES_SIZE)


@jit
def observe_state(g: Any, seat: int, out: Any) -> None:
    """Writes the full information, seen from `seat`, into `out` (STATE_SIZE,) uint8: the observation, then
    `layout.STATE_BLOCKS`.
    """
    observe(g, seat, out)
    observe_hidden(g, seat, out[OBSERVATION_SIZE:])


@jit
def observe_hidden(g: Any, seat: int, out: Any) -> None:
    """Writes the cards that `seat` does not see, `layout.STATE_BLOCKS`, into `out` (HIDDEN_SIZE,) uint8.

    Raises:
        IndexError: `out` is shorter.
    """
    if out.shape[0] < HIDDEN_SIZE:
        raise IndexError("no room for the hidden cards")
    players = int(g["players"])
    stock = _FULL & ~int(g["pile"]) & ~int(g["pending"]) & ~int(g["played"]) & ~_one_hot(int(g["upcard"]))
    stock &= ~int(g["hand"][seat])
    for j in range(1, SEATS):
        hand = int(g["hand"][(seat + j) % players]) if j < players else 0
        stock &= ~hand
        write_bits(out, CARDS * (j - 1), hand)
    write_bits(out, _STOCK_AT, stock)
    for card in range(CARDS):
        out[_PILE_AT + card] = int(g["pile"]) >> card & 1
