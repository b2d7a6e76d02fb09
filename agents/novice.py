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

import numpy as np

from agents.base import Actions, Masks, Observations, Rng
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.layout import (
    AT,
    CARDS,
    HAND,
    RULE_FLAGS,
    RULE_NUMBERS,
    RULE_OFFSET,
    SCORE_OFFSET,
    SEATS,
)

_EXCHANGE, _OPEN_CHOICE, _OPEN_ACCEPT, _ANNOUNCE, _FOUR, _CHICAGO, _PLAY = range(7)  # as in the block `phase`
_FOUR_WINS = AT.rule_flags + RULE_FLAGS.index("instant_7")
_CALLER_LEADS = AT.rule_flags + RULE_FLAGS.index("caller_leads")
_TARGET = AT.rule_numbers_exact + 2 * RULE_NUMBERS.index("target")
_FOUR_POINTS = AT.rule_numbers_exact + 2 * RULE_NUMBERS.index("hand_points_7")


@jit
def _rule(o: Any, at: int) -> int:
    return (int(o[at]) << 8 | int(o[at + 1])) - RULE_OFFSET


@jit
def _score(o: Any, seat: int) -> int:
    score = 0
    for k in range(4):
        score = score << 8 | int(o[AT.scores_exact + 4 * seat + k])
    return score - SCORE_OFFSET


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
def _resets(o: Any) -> bool:
    points = _rule(o, _FOUR_POINTS)
    if o[_FOUR_WINS] or _score(o, 0) + points >= _rule(o, _TARGET):
        return False
    best = points
    for seat in range(1, SEATS):
        # seats that do not exist have no bytes at all, and so the lowest score there is
        best = max(best, _score(o, seat))
    return best > points


@jit
def _calls(o: Any) -> bool:
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
def _card(o: Any, mask: Any) -> int:
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
def _decide(o: Any, mask: Any) -> int:
    phase = -1
    for p in range(7):
        if o[AT.phase + p]:
            phase = p
    if phase == _PLAY:
        return _card(o, mask)
    if phase == _EXCHANGE:
        return _exchange(o)
    if phase == _ANNOUNCE:
        for category in range(9, 0, -1):
            if mask[A.ANNOUNCE + category]:
                return A.ANNOUNCE + category
        return A.PASS
    if phase == _CHICAGO:
        return A.CALL if _calls(o) else A.NO_CALL
    if phase == _OPEN_CHOICE:
        return A.OPEN
    if phase == _OPEN_ACCEPT:
        return A.ACCEPT if _accepts(o) else A.DECLINE
    if phase == _FOUR:
        return A.RESET if _resets(o) else A.POINTS
    return -1  # no phase: not an observation of a seat to act


@jit
def decide_rows(observations: Any, masks: Any, actions: Any) -> None:
    """Writes the novice's action of each row into `actions` (B,) int64."""
    for i in range(observations.shape[0]):
        actions[i] = _decide(observations[i], masks[i])


class NoviceAgent:
    """The agent `heuristic:novice`; the module says how it plays. It uses no chance."""

    name = "heuristic:novice"

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`."""
        actions = np.empty(len(masks), dtype=np.int64)
        decide_rows(observations, masks, actions)
        return actions
