"""Plays a world out to the end of its deal, every seat by the same policy.

Which policy that is, a number says: `HABITS` reads the record and plays as the models of `agents.search.habits`, the others
are agents that are asked with observation and mask. `EXPERT` plays the tricks itself; for the others they are solved with
open cards where they can be.
"""

import math
from typing import Any

from agents.heuristics.expert import decide as expert_decide
from agents.heuristics.novice import decide as novice_decide
from agents.search.habit_weights import NAME
from agents.search.habits import aim_of, call_chance, keep_utilities, play_utilities
from agents.search.tricks import is_solvable, seat_values, solve
from chicago_env import actions
from chicago_env._jit import jit
from chicago_env.bits import nth
from chicago_env.engine import flow
from chicago_env.engine.announcing import may_name
from chicago_env.engine.chance import unit
from chicago_env.engine.exchange import under_stop
from chicago_env.hands import FOUR as FOUR_OF_A_KIND
from chicago_env.hands import STRAIGHT, hand_value
from chicago_env.observation import observe
from chicago_env.state import ANNOUNCE, CHICAGO, EXCHANGE, OPEN_ACCEPT, OPEN_CHOICE, OVER, PLAY

EXPERT, HABITS, NOVICE = 0, 1, 2
POLICIES = ("expert", "habits", "novice")


@jit
def _sample(utilities: Any, n: int, u: float) -> int:
    """Index drawn with probabilities that are the softmax of n utilities."""
    top = utilities[0]
    for i in range(1, n):
        top = max(top, utilities[i])
    total = 0.0
    for i in range(n):
        total += math.exp(utilities[i] - top)
    left = u * total
    for i in range(n):
        left -= math.exp(utilities[i] - top)
        if left < 0:
            return i
    return n - 1


@jit
def _accepts(hand: int, card: int) -> bool:
    """Whether a card makes a pair or better with four others that they do not make alone, or a straight or a flush."""
    if hand & (15 << 4 * (card >> 2)):
        return True
    return hand_value(hand | 1 << card) >> 20 >= STRAIGHT


@jit
def _resets(g: Any, seat: int) -> bool:
    points = int(g["r_hand_points"][FOUR_OF_A_KIND])
    if int(g["r_instant"]) >> FOUR_OF_A_KIND & 1 or g["scores"][seat] + points >= g["r_target"]:
        return False
    behind = False
    for s in range(int(g["players"])):
        behind |= s != seat and g["scores"][s] > points
    return bool(behind)


@jit
def _card(g: Any, seat: int, u: float, scratch: Any) -> int:
    """A card by habit."""
    _, legal = flow.legal(g)
    aim = aim_of(int(g["caller"]), g["failed"] != 0, seat)
    n = play_utilities(int(g["hand"][seat]), int(g["led"]), int(g["win_card"]), int(g["trick"]), aim, scratch)
    return nth(legal, _sample(scratch, n, u))


@jit
def habit(g: Any, u: float, scratch: Any) -> int:
    """What the acting seat does by habit; `u` in [0, 1) draws, `scratch` (64,) float64 is overwritten."""
    seat, phase = int(g["to_act"]), int(g["phase"])
    if phase == PLAY:
        return actions.PLAY + _card(g, seat, u, scratch)
    if phase == EXCHANGE:
        if under_stop(g, seat):
            return actions.KEEP_ALL
        keep_utilities(g, int(g["round"]), seat, int(g["hand"][seat]), scratch)
        return actions.EXCHANGE + _sample(scratch, 32, u)
    if phase == ANNOUNCE:
        if not may_name(g, seat):
            return actions.PASS
        category = int(g["value"][seat]) >> 20
        names = g["r_compulsory"] or u < NAME[int(g["round"]), category]
        return actions.ANNOUNCE + category if names else actions.PASS
    if phase == CHICAGO:
        return actions.CALL if u < call_chance(g, seat, int(g["hand"][seat]), scratch) else actions.NO_CALL
    if phase == OPEN_CHOICE:
        return actions.OPEN
    if phase == OPEN_ACCEPT:
        return actions.ACCEPT if _accepts(int(g["hand"][seat]), int(g["upcard"])) else actions.DECLINE
    return actions.RESET if _resets(g, seat) else actions.POINTS


@jit
def policy_action(g: Any, policy: int, u: float, scratch: Any, row: Any, mask: Any) -> int:
    """The action of a roll-out policy, a number in `POLICIES`; `row` (D,) and `mask` (A,) are overwritten."""
    action = flow.forced(g)
    if action >= 0:
        return action
    if policy == HABITS:
        return habit(g, u, scratch)
    observe(g, int(g["to_act"]), row)
    flow.write_mask(g, mask)
    return int(expert_decide(row, mask, u) if policy == EXPERT else novice_decide(row, mask, u))


@jit
def play_out(raw: Any, states: Any, decks: Any, log: Any, ends: Any, at_once: Any, values: Any,
             deal: int, policy: int, key: int, scratch: Any, row: Any, mask: Any) -> None:  # fmt: skip
    """Plays `states[0]` on to the end of deal `deal`; `values[0]` gets each seat's chance to win the match.

    Args:
        raw: this and the next six as in `agents.search.tricks.solve`.
        states: see there.
        decks: see there.
        log: see there.
        ends: see there.
        at_once: see there.
        values: see there.
        deal: the number of the deal that is searched.
        policy: the roll-out policy.
        key: of the policy's chance, which hangs on it and on whose decision it is.
        scratch: (64,) float64, overwritten.
        row: (D,) uint8, overwritten.
        mask: (A,) int8, overwritten.
    """
    g = states[0]
    dealer = int(g["dealer"])
    while g["phase"] != OVER and g["deal"] == deal:
        phase = int(g["phase"])
        if phase == PLAY and policy != EXPERT and is_solvable(g):
            solve(raw, states, decks, log, ends, at_once, values)
            return
        stage = int(g["trick"]) if phase == PLAY else int(g["round"])
        u = unit(key, (stage * 8 + phase) * 8 + int(g["to_act"]))
        flow.step(g, decks, policy_action(g, policy, u, scratch, row, mask), log)
    seat_values(g, dealer, values[0])
