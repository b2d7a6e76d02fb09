"""The agent `heuristic:novice`: plays as one does after reading the rules once.

- Exchange: keeps the cards that make its pair or better (all five of a straight, a flush or a full house), discards the
  rest; under buy stop it keeps all.
- Face-up card: asks for it whenever it exchanges one card, for that gives two chances; accepts a rank that it holds.
- Announcing: names its hand whenever it may.
- Four of a kind, where it may choose: the reset when the best opponent has more points than the four gives, unless the
  points win the match (they reach the target, or four of a kind wins at once).
- Chicago: calls only when it cannot fail. Every card it holds must be the highest of its suit but for others that it
  holds itself, and it must lead the first trick or hold all four suits (then it wins whatever suit is led).
- Tricks: the highest card when it leads; the highest of the suit when that beats the trick; else the lowest legal card.

The same at every number of players, under all rules. Knows nothing of odds, of other hands or of the score.
"""

from typing import Any

from agents.heuristics.base import Heuristic
from agents.heuristics.reading import (
    ANNOUNCE,
    CHICAGO,
    EXCHANGE,
    FOUR,
    OPEN_ACCEPT,
    OPEN_CHOICE,
    PLAY,
    flag_at,
    number_at,
    phase,
    rule,
    score,
    target,
)
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.layout import AT, CARDS, HAND, SEATS

_FOUR_WINS = flag_at("instant_7")
_CALLER_LEADS = flag_at("caller_leads")
_FOUR_POINTS = number_at("hand_points_7")


@jit
def _exchange(o: Any) -> int:
    if o[AT.stopped]:
        return A.KEEP_ALL
    discards = 0
    for i in range(HAND):
        if not o[AT.group + i]:
            discards |= 1 << i
    return A.EXCHANGE + discards


@jit
def _accepts(o: Any) -> bool:
    rank = 0
    for card in range(CARDS):
        if o[AT.upcard + card]:
            rank = card >> 2
    held = 0
    for suit in range(4):
        held += o[AT.hand + 4 * rank + suit]
    return held > 0


@jit
def resets(o: Any) -> bool:
    """Whether to take the reset for a four of a kind rather than its points."""
    points = rule(o, _FOUR_POINTS)
    if o[_FOUR_WINS] or score(o, 0) + points >= target(o):
        return False
    best = points
    for seat in range(1, SEATS):
        # seats that do not exist have no bytes at all, and so the lowest score there is
        best = max(best, score(o, seat))
    return best > points


@jit
def calls(o: Any) -> bool:
    """Whether the hand makes a Chicago whatever the others hold."""
    suits = 0
    for suit in range(4):
        held, gap = 0, False
        for rank in range(12, -1, -1):
            if o[AT.hand + 4 * rank + suit]:
                if gap:
                    return False
                held += 1
            else:
                gap = True
        suits += held > 0
    return bool(o[_CALLER_LEADS] or o[AT.leader] or suits == 4)


@jit
def plain_card(o: Any, mask: Any) -> int:
    """The card to play: of equal ranks the highest, or lowest, by id."""
    highest, lowest = -1, -1
    for card in range(CARDS):
        if mask[A.PLAY + card]:
            highest = card
            if lowest < 0:
                lowest = card
    for winning in range(CARDS):
        if o[AT.winning_card + winning]:
            # all legal cards are of the suit led, or none is
            beats = highest & 3 == winning & 3 and highest > winning
            return A.PLAY + (highest if beats else lowest)
    return A.PLAY + highest


@jit
def name_hand(mask: Any) -> int:
    """Names the hand where the rules let it."""
    for category in range(9, 0, -1):
        if mask[A.ANNOUNCE + category]:
            return A.ANNOUNCE + category
    return A.PASS


@jit
def decide(o: Any, mask: Any, u: float) -> int:
    """The novice's action for an observation row (D,) and its mask (A,); no chance, so that `u` does not matter."""
    now = phase(o)
    if now == PLAY:
        return plain_card(o, mask)
    if now == EXCHANGE:
        return _exchange(o)
    if now == ANNOUNCE:
        return name_hand(mask)
    if now == CHICAGO:
        return A.CALL if calls(o) else A.NO_CALL
    if now == OPEN_CHOICE:
        return A.OPEN
    if now == OPEN_ACCEPT:
        return A.ACCEPT if _accepts(o) else A.DECLINE
    if now == FOUR:
        return A.RESET if resets(o) else A.POINTS
    return -1  # no phase: not an observation of a seat to act


@jit
def decide_rows(observations: Any, masks: Any, chance: Any, actions: Any, low: int, high: int) -> None:
    """Writes the novice's action of rows `low` to `high` into `actions` (B,) int64; `chance`: (B,) numbers in [0, 1)."""
    for i in range(low, high):
        actions[i] = decide(observations[i], masks[i], chance[i])


class NoviceAgent(Heuristic):
    """The agent `heuristic:novice`; the module says how it plays. It uses no chance."""

    name = "heuristic:novice"
    rows = staticmethod(decide_rows)
