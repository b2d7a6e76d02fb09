"""The agent `heuristic:expert`: whatever it weighs, it weighs by the chance to win the match (`agents.equity`).

- Exchange, where it cannot or hardly call a Chicago: points of hands by exact odds and the last trick by the formula of
  `heuristic:tricks`, both at what they are worth at this score; at the last exchange every outcome of showdown and last
  trick at its own worth, against the hands that exchanges, announcements and shown cards leave the others.
- Exchange, where it may call and would lead: sampled draws for some sets of cards to keep (the safest ones, what makes the
  hand, the best for points), played on to the last exchange both for tricks and for points; then the better of calling and
  not calling. So it collects high cards for a Chicago.
- Announcing: names what it has. To pass gives its points away; whether hiding a hand is ever worth that was not measured.
- Chicago: calls when the counted chance of all five tricks (`agents.heuristics.sweep`, exact at two players but for squeezes)
  makes calling better than not, the failure at what it costs: where it ends the deal at once a call may only spoil it.
- Tricks: at two players each card is tried over sampled hands of the other and the rest solved, for the last trick, for all
  as caller, or against the caller; at more it counts for the last trick as `heuristic:tricks` does.
- Four of a kind: points or reset by the chance to win. Under buy stop it keeps all, also where it might pay for more.
"""

from typing import Any

import numpy as np

from agents.heuristics.base import Heuristic
from agents.heuristics.cardplay import best_card, choose_card, count_cards, legal_cards
from agents.heuristics.chicago import break_card, sweep_card
from agents.heuristics.drawing import write_points
from agents.heuristics.last_trick import last_trick_chance
from agents.heuristics.novice import name_hand
from agents.heuristics.outlook import (
    POINT,
    SIZE,
    TRICK,
    call_value,
    final_value,
    quiet_value,
    reset_pays,
    sweep_chance,
    write_outlook,
    write_slopes,
)
from agents.heuristics.planning import by_outlook, by_points, by_samples
from agents.heuristics.reading import (
    ANNOUNCE,
    CHICAGO,
    EXCHANGE,
    FOUR,
    OPEN_ACCEPT,
    OPEN_CHOICE,
    PLAY,
    cards,
    current_round,
    exchanges,
    flag_at,
    number_at,
    phase,
    place,
    players,
    rule,
    score,
    scored,
    unseen,
)
from agents.odds import CLASSES, class_of
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.bits import lowest
from chicago_env.layout import AT, CARDS, SEATS

_CHICAGO, _CALLER_LEADS, _THRESHOLD = flag_at("chicago"), flag_at("caller_leads"), flag_at("threshold")
_FROM = number_at("chicago_threshold")


@jit
def _may_call(o: Any) -> bool:
    """Whether seat 0 would be asked for a Chicago with its score now."""
    return bool(o[_CHICAGO]) and (not o[_THRESHOLD] or score(o, 0) >= rule(o, _FROM))


@jit
def _exchange(o: Any, u: float) -> int:
    if o[AT.stopped]:
        return A.KEEP_ALL
    count, r, rounds, announced = players(o), current_round(o), exchanges(o), scored(o)
    hand, hidden = cards(o, AT.hand), unseen(o)
    points = np.empty(CLASSES, dtype=np.float64)
    outlook = np.empty(SIZE, dtype=np.float64)
    write_points(o, count, r, rounds, announced, points)
    leads = o[AT.leader] == 1
    if _may_call(o) and (leads or o[_CALLER_LEADS]):
        write_outlook(o, outlook)
        return A.EXCHANGE + by_samples(o, outlook, points, hand, hidden, count, leads, r, rounds, announced, u)
    if r == rounds - 1:
        write_outlook(o, outlook)
        return A.EXCHANGE + by_outlook(outlook, hand, hidden, count, leads)
    write_slopes(o, outlook)
    return A.EXCHANGE + by_points(outlook, points, hand, hidden, count, leads, rounds - 1 - r)


@jit
def _accepts(o: Any) -> bool:
    count, r, rounds = players(o), current_round(o), exchanges(o)
    hand, hidden = cards(o, AT.hand), unseen(o)
    leads = o[AT.leader] == 1
    may_call, first = _may_call(o), leads or o[_CALLER_LEADS] == 1
    points = np.empty(CLASSES, dtype=np.float64)
    outlook = np.empty(SIZE, dtype=np.float64)
    write_points(o, count, r, rounds, scored(o), points)
    write_outlook(o, outlook)
    up = cards(o, AT.upcard)
    shown, other, n = 0.0, 0.0, 0
    rest = hidden | up
    while rest:
        bit = rest & -rest
        rest ^= bit
        full = hand | bit
        value = outlook[POINT] * points[class_of(full)]
        if r == rounds - 1:
            value = final_value(outlook, full, hidden & ~bit, count, leads, first, may_call)
        else:
            value += 0.5 * outlook[TRICK] * last_trick_chance(full, hidden & ~bit, leads, count)
        if bit == up:
            shown = value
        else:
            other += value
            n += 1
    return shown * n >= other


@jit
def _calls(o: Any) -> bool:
    count = players(o)
    hand, hidden = cards(o, AT.hand), unseen(o)
    outlook = np.empty(SIZE, dtype=np.float64)
    write_outlook(o, outlook)
    leads = o[AT.leader] == 1
    of_class = class_of(hand)
    quiet = quiet_value(outlook, of_class, last_trick_chance(hand, hidden, leads, count))
    chance = sweep_chance(hand, hidden, count, leads or o[_CALLER_LEADS] == 1)
    return call_value(outlook, of_class, chance) > quiet


@jit
def _card(o: Any, mask: Any, u: float) -> int:
    legal = legal_cards(o, mask)
    if legal & (legal - 1) == 0:
        return lowest(legal)
    count = players(o)
    hand, hidden = cards(o, AT.hand), unseen(o)
    caller = place(o, AT.caller, SEATS)
    aim = 0
    if caller >= 0 and not o[AT.failed]:
        aim = 1 if caller == 0 else 2
    if count > 2 and aim == 1:
        return sweep_card(o, legal, hand, hidden)
    if count > 2 and aim == 2:
        return break_card(o, legal, hand, caller)
    if count > 2:
        values = np.empty(CARDS, dtype=np.float64)
        count_cards(o, legal, hand, hidden, values)
        return best_card(legal, values)
    return choose_card(o, legal, hand, hidden, aim, u)


@jit
def decide(o: Any, mask: Any, u: float) -> int:
    """The action for an observation row (D,) and its mask (A,); all chance follows from `u` in [0, 1)."""
    now = phase(o)
    if now == PLAY:
        return A.PLAY + _card(o, mask, u)
    if now == EXCHANGE:
        return _exchange(o, u)
    if now == ANNOUNCE:
        return name_hand(mask)
    if now == CHICAGO:
        return A.CALL if _calls(o) else A.NO_CALL
    if now == OPEN_CHOICE:
        return A.OPEN
    if now == OPEN_ACCEPT:
        return A.ACCEPT if _accepts(o) else A.DECLINE
    if now == FOUR:
        return A.RESET if reset_pays(o) else A.POINTS
    return -1  # no phase: not an observation of a seat to act


@jit
def decide_rows(observations: Any, masks: Any, chance: Any, actions: Any, low: int, high: int) -> None:
    """Writes the action of rows `low` to `high` into `actions` (B,) int64; `chance`: (B,) numbers in [0, 1)."""
    for i in range(low, high):
        actions[i] = decide(observations[i], masks[i], chance[i])


class ExpertAgent(Heuristic):
    """The agent `heuristic:expert`; the module says how it plays."""

    name = "heuristic:expert"
    rows = staticmethod(decide_rows)
    uses_chance = True
