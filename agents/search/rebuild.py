"""From an observation back to a record of the game: everything that its seat knows, seen from that seat as seat 0.

There are two forms of it: `FACTS`, one number for each fact, which the sampler reads, and `STATE`, which the engine plays on.
What the seat does not know is left empty for `agents.search.worlds`: other hands, their exchanges, the stock. Chance to
come is not known either: the seed is 0 until a world gets one of its own.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from agents.base import Observations
from chicago_env._jit import jit
from chicago_env.bits import card_list
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

_I64, _I8 = np.int64, np.int8

FACTS = np.dtype(
    [
        # rules
        ("r_exchanges", _I64), ("r_compulsory", _I64), ("r_suit_rank", _I8, 4), ("r_show_broken", _I64),
        ("r_caller_leads", _I64), ("r_penalty", _I64), ("r_showdown_first", _I64), ("r_target", _I64),
        ("r_chicago", _I64), ("r_threshold", _I64), ("r_chicago_points", _I64), ("r_chicago_penalty", _I64),
        # the match, and whose turn it is
        ("players", _I64), ("deal", _I64), ("max_deals", _I64), ("dealer", _I64), ("scores", _I64, SEATS),
        ("attempted", _I64), ("succeeded", _I64),
        ("phase", _I64), ("to_act", _I64), ("round", _I64), ("turn", _I64), ("trick", _I64), ("leader", _I64), ("led", _I64),
        ("win_card", _I64), ("win_seat", _I64), ("stage", _I64), ("scored_seat", _I64),
        # cards: sets
        ("hand", _I64, SEATS), ("held", _I64, SEATS), ("known", _I64, SEATS), ("pending", _I64), ("upcard", _I64),
        ("stock_n", _I64), ("discarded", _I64, (ROUNDS, SEATS)), ("received", _I64, (ROUNDS, SEATS)),
        # exchanges
        ("stopped", _I64), ("exchanged", _I8, (ROUNDS, SEATS)),  # 0 not yet, else 1 + number of cards
        ("open", _I8, (ROUNDS, SEATS)), ("open_card", _I8, (ROUNDS, SEATS)),  # -1 or OPEN_*; card + 1
        ("reshuffled", _I8, (ROUNDS, SEATS)), ("reshuffles", _I64),
        ("breaker", _I8, ROUNDS), ("broken", _I64, ROUNDS),  # seat + 1
        # announcings
        ("announced", _I8, (ROUNDS, SEATS)),  # 0 not yet, else 1 + category
        ("standing", _I8, ROUNDS), ("tied", _I8, ROUNDS), ("best", _I64), ("four", _I8, ROUNDS + 1),
        ("shown", _I64, (ROUNDS, SEATS)), ("ranks_n", _I8, (ROUNDS, SEATS)), ("ranks", _I8, (ROUNDS, SEATS, HAND)),
        ("suit", _I8, (ROUNDS, SEATS)),
        # Chicago and tricks
        ("asked", _I8, SEATS), ("caller", _I64), ("failed", _I64),
        ("plays", _I8, (TRICKS, SEATS)), ("winners", _I8, TRICKS), ("void", _I8, SEATS),  # card + 1; seat + 1; suits
    ],
    align=True,
)  # fmt: skip
"""What a seat knows. Numbers and sets of cards; seats are seen from the observer."""


class Known(NamedTuple):
    """What the seats to act know.

    Attributes:
        facts: (B,) of `FACTS`.
        states: (B,) of `STATE`.
    """

    facts: States
    states: States

    def row(self, i: int) -> "Known":
        """Row i alone."""
        return Known(self.facts[i : i + 1], self.states[i : i + 1])


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
    deal = int(o[AT.deal]) << 8 | int(o[AT.deal + 1])
    g["deal"] = deal
    g["max_deals"] = deal + 1 + (int(o[AT.deals_left]) << 8 | int(o[AT.deals_left + 1]))
    for s in range(players):
        score = 0
        for k in range(4):
            score = score << 8 | int(o[AT.scores_exact + 4 * s + k])
        g["scores"][s] = score - SCORE_OFFSET
    g["stopped"] = bits_at(o, AT.stopped, players)
    g["attempted"] = bits_at(o, AT.attempted, players)
    g["succeeded"] = bits_at(o, AT.succeeded, players)
    g["dealer"] = index_at(o, AT.dealer, players)


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
            g["open"][r, s] = index_at(o, AT.open + 4 * at, 4)
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
    """Writes all that the observation `o` (D,) says into the facts `g`, whose rules and number of players are set."""
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
    g["pending"] = 0
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


@jit
def _list_of(values: Any) -> int:
    """A list of bytes, as in `chicago_env.bits`."""
    result = 0
    for i in range(values.shape[0]):
        result |= int(values[i]) << 8 * i
    return result


@jit
def _publish_match(f: Any, g: Any) -> None:
    g["seed"] = 0
    g["first_dealer"] = 0
    g["winner"] = -1
    g["reason"] = 0
    g["decisions"] = 0
    g["drawn_n"] = 0
    g["next_stock_n"] = 0
    g["ever_stopped"] = f["stopped"]
    for s in range(SEATS):
        g["scores"][s] = f["scores"][s]
        g["known"][s] = f["known"][s]
    g["deal"] = f["deal"]
    g["max_deals"] = f["max_deals"]
    g["dealer"] = f["dealer"]
    g["attempted"] = f["attempted"]
    g["succeeded"] = f["succeeded"]
    g["phase"] = f["phase"]
    g["to_act"] = f["to_act"]
    g["round"] = f["round"]
    g["turn"] = f["turn"]
    g["trick"] = f["trick"]
    g["leader"] = f["leader"]
    g["led"] = f["led"]
    g["win_card"] = f["win_card"]
    g["win_seat"] = f["win_seat"]
    g["stage"] = f["stage"]
    g["scored_seat"] = f["scored_seat"]
    g["pending"] = f["pending"]
    g["upcard"] = f["upcard"]
    g["stock_n"] = f["stock_n"]
    g["stopped"] = f["stopped"]
    g["reshuffles"] = f["reshuffles"]
    g["best"] = f["best"]
    g["caller"] = f["caller"]
    g["failed"] = f["failed"]


@jit
def _publish_history(f: Any, g: Any) -> None:
    players = int(f["players"])
    reshuffled, winners, four, asked, void, played, on_table = 0, 0, 0, 0, 0, 0, 0
    for r in range(ROUNDS):
        exchanged, opened, cards, announced, suits = 0, 0, 0, 0, 0
        for s in range(players):
            if f["exchanged"][r, s]:
                exchanged |= 1 << (6 * s + int(f["exchanged"][r, s]) - 1)
            if f["open"][r, s] >= 0:
                opened |= 1 << (4 * s + int(f["open"][r, s]))
            cards |= int(f["open_card"][r, s]) << 8 * s
            reshuffled |= int(f["reshuffled"][r, s]) << (SEATS * r + s)
            if f["announced"][r, s]:
                announced |= 1 << (10 * s + int(f["announced"][r, s]) - 1)
            suits |= int(f["suit"][r, s]) << 8 * s
            g["shown"][r, s] = card_list(int(f["shown"][r, s]))
            g["ranks"][r, s] = _list_of(f["ranks"][r, s])
        g["exchanged"][r] = exchanged
        g["open"][r] = opened
        g["open_card"][r] = cards
        g["announced"][r] = announced
        g["suit"][r] = suits
        g["standing"][r] = f["standing"][r]
        g["tied"][r] = f["tied"][r]
        g["breaker"][r] = f["breaker"][r]
        g["broken"][r] = card_list(int(f["broken"][r]))
    for r in range(ROUNDS + 1):
        four |= int(f["four"][r]) << 2 * r
    for t in range(TRICKS):
        g["plays"][t] = _list_of(f["plays"][t])
        if f["winners"][t]:
            winners |= 1 << (SEATS * t + int(f["winners"][t]) - 1)
        for s in range(players):
            if f["plays"][t, s]:
                card = 1 << (int(f["plays"][t, s]) - 1)
                played |= card
                if f["winners"][t] == 0:
                    on_table |= card
    for s in range(players):
        asked |= int(f["asked"][s]) << 2 * s
        void |= int(f["void"][s]) << 4 * s
    g["reshuffled"] = reshuffled
    g["winners"] = winners
    g["four"] = four
    g["asked"] = asked
    g["void"] = void
    g["played"] = played
    g["trick_cards"] = on_table


@jit
def rebuild_rows(observations: Any, facts: Any, states: Any) -> None:
    """Fills records `facts` (B,) and `states` (B,), whose rules are set, from (B, D) uint8."""
    for i in range(observations.shape[0]):
        f, g = facts[i], states[i]
        f["players"] = g["players"]
        f["r_exchanges"] = g["r_exchanges"]
        f["r_compulsory"] = g["r_compulsory"]
        for suit in range(4):
            f["r_suit_rank"][suit] = g["r_suit_rank"][suit]
        f["r_show_broken"] = g["r_show_broken"]
        f["r_caller_leads"] = g["r_caller_leads"]
        f["r_penalty"] = g["r_penalty"]
        f["r_showdown_first"] = g["r_showdown_first"]
        f["r_target"] = g["r_target"]
        f["r_chicago"] = g["r_chicago"]
        f["r_threshold"] = g["r_threshold"]
        f["r_chicago_points"] = g["r_chicago_points"]
        f["r_chicago_penalty"] = g["r_chicago_penalty"]
        rebuild(observations[i], f)
        _publish_match(f, g)
        _publish_history(f, g)
        held = int(f["held"][0])
        g["hand"][0] = f["hand"][0]
        g["value"][0] = hand_value(held if held else int(f["hand"][0]) | int(f["pending"]))


@functools.lru_cache(maxsize=256)
def _template(rules: bytes, players: int) -> States:
    state = np.zeros(1, dtype=STATE)
    set_rules(state, decode_rules(rules), players)
    return state.view(np.uint8)


def rebuilt(observations: Observations) -> Known:
    """What the acting seats of `observations` (B, D) know; each observer is seat 0.

    Raises:
        ObservationError: a row that holds impossible rules.
    """
    states = np.empty(len(observations), dtype=STATE)
    rows = states.view(np.uint8).reshape(len(states), STATE.itemsize)
    players = observations[:, _PLAYERS].argmax(axis=1) + 2
    for i, o in enumerate(observations):
        rows[i] = _template(o[RULES_AT:].tobytes(), int(players[i]))
    facts = np.zeros(len(observations), dtype=FACTS)
    rebuild_rows(observations, facts, states)
    return Known(facts, states)
