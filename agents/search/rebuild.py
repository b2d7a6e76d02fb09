"""From an observation back to a record of the game: everything that its seat knows, seen from that seat as seat 0.

What the seat does not know is left empty for `agents.search.worlds`: other hands, their exchanges, the stock. Chance to
come is not known either: the seed is 0 until a world gets one of its own.
"""

import functools
from typing import Any

import numpy as np

from agents.base import Observations
from chicago_env._jit import jit
from chicago_env.hands import hand_value
from chicago_env.layout import AT, CARDS, HAND, ROUNDS, RULES_AT, SCORE_OFFSET, SEATS, TRICKS, decode_rules, slice_of
from chicago_env.state import (
    ANNOUNCE,
    FOUR,
    OPEN_ACCEPT,
    OPEN_CHOICE,
    PLAY,
    STATE,
    set_rules,
)

States = np.ndarray[Any, Any]

_PLAYERS = slice_of("players")


@jit
def bits_at(o: Any, at: int, n: int) -> int:
    """The set of those of the n entries from `at` that are not 0."""
    mask = 0
    for i in range(n):
        if o[at + i]:
            mask |= 1 << i
    return mask


@jit
def index_at(o: Any, at: int, n: int) -> int:
    """Index of the 1 in a one-hot part of n entries, -1 if there is none."""
    for i in range(n):
        if o[at + i]:
            return i
    return -1


@jit
def _cards_at(o: Any, at: int, n: int) -> int:
    mask = 0
    for i in range(n):
        if o[at + i]:
            mask |= 1 << (int(o[at + i]) - 1)
    return mask


@jit
def _rebuild_match(o: Any, g: Any) -> None:
    players = int(g["players"])
    g["seed"] = 0
    g["first_dealer"] = 0
    deal = int(o[AT.deal]) << 8 | int(o[AT.deal + 1])
    g["deal"] = deal
    g["max_deals"] = deal + 1 + (int(o[AT.deals_left]) << 8 | int(o[AT.deals_left + 1]))
    for s in range(players):
        score = 0
        for k in range(4):
            score = score << 8 | int(o[AT.scores_exact + 4 * s + k])
        g["scores"][s] = score - SCORE_OFFSET
    g["stopped"] = bits_at(o, AT.stopped, players)
    g["ever_stopped"] = g["stopped"]
    g["attempted"] = bits_at(o, AT.attempted, players)
    g["succeeded"] = bits_at(o, AT.succeeded, players)
    g["winner"] = -1
    g["reason"] = 0
    g["dealer"] = index_at(o, AT.dealer, players)
    g["decisions"] = 0


@jit
def _rebuild_exchanges(o: Any, g: Any) -> None:
    players = int(g["players"])
    g["reshuffles"] = 0
    for r in range(ROUNDS):
        g["discarded"][r, 0] = _cards_at(o, AT.discards_by_round + HAND * r, HAND)
        g["received"][r, 0] = _cards_at(o, AT.draws_by_round + HAND * r, HAND)
        for s in range(players):
            at = r * SEATS + s
            g["exchanged"][r, s] = index_at(o, AT.exchanged + 6 * at, 6) + 1
            g["open"][r, s] = index_at(o, AT.open + 4 * at, 4) + 1
            g["open_card"][r, s] = o[AT.open_card + at]
            g["reshuffled"][r, s] = o[AT.reshuffled + at]
            g["reshuffles"] += int(o[AT.reshuffled + at])
        if r:
            g["breaker"][r] = index_at(o, AT.breaker + (r - 1) * SEATS, players) + 1
            g["broken"][r] = _cards_at(o, AT.broken + (r - 1) * HAND, HAND)


@jit
def _rebuild_announcings(o: Any, g: Any) -> None:
    players = int(g["players"])
    for r in range(ROUNDS):
        g["standing"][r] = index_at(o, AT.standing + r * SEATS, players) + 1
        g["tied"][r] = o[AT.tied + r]
        g["four"][r] = index_at(o, AT.four + 2 * r, 2) + 1
        g["compared"][r] = 0
        for s in range(players):
            at = r * SEATS + s
            g["announced"][r, s] = index_at(o, AT.announced + 10 * at, 10) + 1
            g["shown"][r, s] = _cards_at(o, AT.shown + HAND * at, HAND)
            n = 0
            for k in range(HAND):
                rank = int(o[AT.shown_ranks + HAND * at + k])
                g["ranks"][r, s, k] = rank
                n += rank > 0
            g["ranks_n"][r, s] = n
            g["suit"][r, s] = o[AT.shown_suit + at]
            if g["shown"][r, s] or n:
                g["compared"][r] = 1
    g["four"][ROUNDS] = index_at(o, AT.four + 2 * ROUNDS, 2) + 1
    g["best"] = index_at(o, AT.best, 9) + 1


@jit
def _rebuild_tricks(o: Any, g: Any) -> None:
    players, phase = int(g["players"]), int(g["phase"])
    for t in range(TRICKS):
        for s in range(players):
            g["plays"][t, s] = o[AT.plays + t * SEATS + s]
        g["winners"][t] = index_at(o, AT.winners + t * SEATS, players) + 1
    for s in range(players):
        g["void"][s] = bits_at(o, AT.void + 4 * s, 4)
        g["asked"][s] = index_at(o, AT.asked + 2 * s, 2) + 1
        g["known"][s] = bits_at(o, AT.known + CARDS * s, CARDS)
    g["caller"] = index_at(o, AT.caller, players)
    g["failed"] = o[AT.failed]
    g["leader"] = index_at(o, AT.leader, players)
    g["led"] = index_at(o, AT.led_suit, 4)
    g["win_card"] = index_at(o, AT.winning_card, CARDS)
    g["win_seat"] = index_at(o, AT.winning_seat, players)
    g["stage"] = 0
    g["trick"] = max(index_at(o, AT.trick, TRICKS), 0)
    if phase == FOUR and g["winners"][TRICKS - 1]:  # the choice at the showdown
        g["trick"] = TRICKS
        g["stage"] = 3 if g["r_showdown_first"] else 4
        g["win_seat"] = int(g["winners"][TRICKS - 1]) - 1
        g["win_card"] = int(g["plays"][TRICKS - 1, int(g["win_seat"])]) - 1


@jit
def _scored_seat(g: Any) -> int:
    """Who scored in the announcing before the exchange in progress, or just now; -1 for nobody."""
    r = int(g["round"]) - (0 if g["phase"] == FOUR else 1)
    if g["phase"] == ANNOUNCE or r < 0 or g["tied"][r]:
        return -1
    return int(g["standing"][r]) - 1


@jit
def in_tricks(g: Any) -> bool:
    """Whether the hands have been taken into the tricks."""
    return bool(g["phase"] == PLAY or g["stage"] > 0)


@jit
def rebuild(o: Any, g: Any) -> None:
    """Writes all that the observation `o` (D,) says into `g`, whose rules and number of players are set."""
    players = int(g["players"])
    phase = index_at(o, AT.phase, 7)
    g["phase"] = phase
    g["to_act"] = 0
    g["round"] = index_at(o, AT.round, ROUNDS)
    _rebuild_match(o, g)
    _rebuild_exchanges(o, g)
    _rebuild_announcings(o, g)
    _rebuild_tricks(o, g)
    forehand = (int(g["dealer"]) + 1) % players
    first = int(g["leader"]) if phase == PLAY else forehand
    g["turn"] = players if phase == FOUR else (players - first) % players
    g["scored_seat"] = _scored_seat(g)
    g["upcard"] = index_at(o, AT.upcard, CARDS)
    g["drawn_n"] = 0
    g["pending"] = 0
    g["next_stock_n"] = 0
    g["stock_n"] = o[AT.stock]
    hand = bits_at(o, AT.hand, CARDS)
    g["hand"][0] = hand
    g["held"][0] = 0
    if phase == OPEN_CHOICE or phase == OPEN_ACCEPT:
        g["pending"] = g["discarded"][int(g["round"]), 0]
        hand |= int(g["pending"])
    if in_tricks(g):
        for t in range(TRICKS):
            if g["plays"][t, 0]:
                hand |= 1 << (int(g["plays"][t, 0]) - 1)
        g["held"][0] = hand
    g["value"][0] = hand_value(hand)


@jit
def rebuild_rows(observations: Any, states: Any) -> None:
    """`rebuild` of each row: (B, D) uint8 into records (B,)."""
    for i in range(observations.shape[0]):
        rebuild(observations[i], states[i])


@functools.lru_cache(maxsize=256)
def _template(rules: bytes, players: int) -> States:
    state = np.zeros(1, dtype=STATE)
    set_rules(state, decode_rules(rules), players)
    return state.view(np.uint8)


def rebuilt(observations: Observations) -> States:
    """Records (B,) of what the acting seats of `observations` (B, D) know; each observer is seat 0.

    Raises:
        ObservationError: a row that holds impossible rules.
    """
    states = np.empty(len(observations), dtype=STATE)
    rows = states.view(np.uint8).reshape(len(states), STATE.itemsize)
    players = observations[:, _PLAYERS].argmax(axis=1) + 2
    for i, o in enumerate(observations):
        rows[i] = _template(o[RULES_AT:].tobytes(), int(players[i]))
    rebuild_rows(observations, states)
    return states
