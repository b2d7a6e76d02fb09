"""How likely players are to do what they did, given the hand they held: what makes some worlds likelier than others.

Conditional logit models, fitted by `agents.search.make_habits` to games of `heuristic:expert` and of a checkpoint. They read
a hand, not an observation: so a move of the sampler that changes one seat's history costs about a microsecond.
"""

import math
from typing import Any

import numpy as np

from agents.equity import closed_chance
from agents.heuristics.cardplay import playable
from agents.search.habit_weights import CALL, CALL_FEATURES, KEEP, KEEP_FEATURES, NAME, PLAY, PLAY_FEATURES
from agents.search.history import best_before, leader_of
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, lowest, popcount, positions
from chicago_env.hands import STRAIGHT, hand_value
from chicago_env.layout import ROUNDS, SEATS, TRICKS

FLOOR = math.log(0.003)
"""Log likelihood below which nothing that a player did counts: opponents may be of any kind."""

_OTHERS = 6  # points that others may score in the rest of a deal


@jit
def stage_of(g: Any, r: int, s: int) -> int:
    """Which model seat `s` exchanges by at exchange r: an index of `KEEP`."""
    last = r + 1 == g["r_exchanges"]
    stage = 2 if last else min(r, 1)
    leads = s == (int(g["dealer"]) + 1) % int(g["players"]) or g["r_caller_leads"] != 0
    return 2 * stage + int(leads and g["r_chicago"] != 0 and g["scores"][s] >= g["r_threshold"])


@jit
def keep_features(hand: int, kept: int, out: Any) -> None:
    """Features (31,) of keeping the cards `kept` of `hand` at an exchange."""
    for i in range(KEEP_FEATURES):
        out[i] = 0.0
    k = popcount(kept)
    category = hand_value(hand) >> 20
    suits = 0
    for suit in range(4):
        suits = max(suits, popcount(kept & (SUIT_CARDS << suit)))
    ranks, singles, pairs, triples, fours, broken = 0, 0, 0, 0, 0, 0
    low, high = 13, -1
    for rank in range(13):
        n = popcount(kept & (15 << 4 * rank))
        held = popcount(hand & (15 << 4 * rank))
        if n == 0:
            broken += held > 1
            continue
        broken += n < held
        ranks |= 1 << rank
        low, high = min(low, rank), max(high, rank)
        pairs += n == 2
        triples += n == 3
        fours += n == 4
        if n == 1:
            singles += 1
            # the lone cards kept: aces, kings, queens, knaves, tens and lower
            out[10 + (12 - max(rank, 7))] += 1.0
        else:
            out[24] += rank / 12
            out[25] += rank >= 9
    if k == 5 and category >= STRAIGHT:
        out[0] = 1.0
    out[1] = pairs == 1 and triples == 0
    out[2] = pairs == 2
    out[3] = triples > 0
    out[4] = fours
    out[5] = broken
    out[6] = k == 4 and suits == 4
    out[7] = k == 3 and suits == 3
    distinct = pairs + triples + fours == 0
    out[8] = distinct and k == 4 and high - low == 3 and high < 12
    out[9] = distinct and k == 4 and (high - low == 4 or (high == 12 and popcount(ranks & 0b1111) == 3))
    if k < 5:
        out[16 + k] = 1.0
    out[21] = singles > 0 and pairs + triples + fours > 0
    out[22] = k == 5 and category < STRAIGHT
    out[23] = k == 2 and suits == 2
    gone = hand & ~kept
    # the highest cards of the hand and no others
    out[26] = kept != 0 and gone < (kept & -kept)
    out[27] = suits / 5
    # the longest run of high cards of a suit from the ace down, and what is thrown away of it
    for suit in range(4):
        for rank in range(12, 7, -1):
            bit = 1 << (4 * rank + suit)
            if not hand & bit:
                break
            out[28] += kept & bit != 0
            out[29] += gone & bit != 0
    out[30] = gone != 0 and kept != 0 and lowest(kept) >> 2 >= 8


@jit
def _log_sum(utilities: Any, n: int) -> float:
    top = utilities[0]
    for i in range(1, n):
        top = max(top, utilities[i])
    total = 0.0
    for i in range(n):
        total += math.exp(utilities[i] - top)
    return float(top + math.log(total))


@jit
def keep_utilities(g: Any, r: int, s: int, hand: int, scratch: Any) -> None:
    """Utilities of the 32 ways of seat `s` to exchange from `hand` at exchange r, by action.

    `scratch` (64,) float64: the first 32.
    """
    stage = stage_of(g, r, s)
    features = scratch[32:]
    for p in range(32):
        kept, rest, bit = 0, hand, 0
        while rest:
            low = rest & -rest
            if not p >> bit & 1:
                kept |= low
            rest ^= low
            bit += 1
        keep_features(hand, kept, features)
        u = 0.0
        for i in range(KEEP_FEATURES):
            u += KEEP[stage, i] * features[i]
        scratch[p] = u


@jit
def log_exchange(g: Any, r: int, s: int, hand: int, discarded: int, scratch: Any) -> float:
    """Log likelihood of discarding `discarded` from `hand`, seat `s` at exchange r; `scratch` (64,) float64 is overwritten."""
    keep_utilities(g, r, s, hand, scratch)
    return float(max(scratch[positions(hand, discarded)] - _log_sum(scratch, 32), FLOOR))


@jit
def log_announcing(g: Any, r: int, s: int, hand: int) -> float:
    """Log likelihood of what seat `s` said in announcing r, holding `hand`."""
    said = int(g["announced"][r, s]) - 1
    if said < 0 or g["r_compulsory"]:
        return 0.0
    category = hand_value(hand) >> 20
    if category == 0 or category < best_before(g, r, s):
        return 0.0
    names = NAME[min(r, 2), category]
    return math.log(names if said else 1 - names)


@jit
def call_features(g: Any, s: int, hand: int, out: Any) -> None:
    """Features (15,) of calling Chicago with the five cards `hand` in seat `s`."""
    players = int(g["players"])
    leads = s == (int(g["dealer"]) + 1) % players or g["r_caller_leads"] != 0
    longest, suits = 0, 0
    for suit in range(4):
        n = popcount(hand & (SUIT_CARDS << suit))
        longest = max(longest, n)
        suits += n > 0
    for i in range(CALL_FEATURES):
        out[i] = 0.0
    out[0] = 1.0
    out[1] = leads
    rest = hand
    while rest:
        rank = lowest(rest) >> 2
        out[2 + (12 - max(rank, 8))] += 1.0  # aces, kings, queens, knaves, tens and lower
        rest &= rest - 1
    out[7] = longest
    out[8] = suits
    # cards that nobody can beat in their suit
    for suit in range(4):
        for rank in range(12, -1, -1):
            if not hand >> (4 * rank + suit) & 1:
                break
            out[9] += 1.0
    out[10] = players - 2
    # what a call may win and lose: a failed one also keeps the others from what they would score
    points = np.zeros(SEATS)
    for k in range(players):
        points[k] = g["scores"][k]
    target = int(g["r_target"])
    now = closed_chance(points, players, target, s)
    points[s] += g["r_chicago_points"]
    made = closed_chance(points, players, target, s)
    points[s] -= g["r_chicago_points"] + g["r_chicago_penalty"]
    failed = closed_chance(points, players, target, s)
    points[s] += g["r_chicago_penalty"]
    for k in range(players):
        if k != s:
            points[k] += _OTHERS
    denied = closed_chance(points, players, target, s)
    out[11] = made - now
    out[12] = failed - now
    out[13] = failed - denied
    quiet = max(now, denied)
    out[14] = math.log((made - failed + 0.02) / (quiet - failed + 0.02)) if quiet > failed else 4.0


@jit
def call_chance(g: Any, s: int, hand: int, scratch: Any) -> float:
    """Chance that seat `s` calls Chicago with `hand`; `scratch` (64,) float64 is overwritten."""
    call_features(g, s, hand, scratch)
    u = 0.0
    for i in range(CALL_FEATURES):
        u += CALL[i] * scratch[i]
    return float(1 / (1 + math.exp(-u)))


@jit
def log_call(g: Any, s: int, hand: int, scratch: Any) -> float:
    """Log likelihood of the answer of seat `s` to the question for Chicago, with five cards."""
    if g["asked"][s] == 0:
        return 0.0
    chance = call_chance(g, s, hand, scratch)
    return float(max(math.log(max(chance if g["asked"][s] == 2 else 1 - chance, 1e-9)), FLOOR))


@jit
def play_features(hand: int, card: int, led: int, winning: int, trick: int, out: Any) -> None:
    """Features (18,) of playing `card` from the cards `hand` to a trick; `led` is -1 for the leader."""
    for i in range(PLAY_FEATURES):
        out[i] = 0.0
    rank, suit = card >> 2, card & 3
    legal = playable(hand, led)
    higher, lower = 0, 0
    rest = legal
    while rest:
        other = lowest(rest) >> 2
        higher += other > rank
        lower += other < rank
        rest &= rest - 1
    top, bottom = int(higher == 0), int(lower == 0)
    length = popcount(hand & (SUIT_CARDS << suit))
    paired = int(popcount(hand & (15 << 4 * rank)) > 1)
    late = int(trick >= 3)
    if led < 0:
        out[0] = rank / 12
        out[1] = top
        out[2] = bottom
        out[3] = length / 5
        out[4] = paired
        out[5] = late * rank / 12
        out[6] = late * top
        out[7] = length == 1
        out[16] = (length > 1) * rank / 12
    elif suit == led:
        wins = int(card > winning)
        out[8] = wins
        out[9] = wins * bottom
        out[10] = wins * top
        out[11] = rank / 12
        out[12] = (1 - wins) * bottom
        out[17] = late * wins
    else:
        out[13] = rank / 12
        out[14] = bottom
        out[15] = length == 1


@jit
def play_utilities(hand: int, led: int, winning: int, trick: int, aim: int, scratch: Any) -> int:
    """Utilities of the legal cards of `hand`, ascending, written to `scratch` (64,) float64; returns their number.

    `aim`: an index of `PLAY`, from `aim_of`.
    """
    legal = playable(hand, led)
    features = scratch[32:]
    n = 0
    while legal:
        play_features(hand, lowest(legal), led, winning, trick, features)
        u = 0.0
        for i in range(PLAY_FEATURES):
            u += PLAY[aim, i] * features[i]
        scratch[n] = u
        n += 1
        legal &= legal - 1
    return n


@jit
def aim_of(caller: int, failed: bool, s: int) -> int:
    """What seat `s` plays its cards for: 0 the last trick, 1 its Chicago, 2 to break another's."""
    if caller < 0 or failed:
        return 0
    return 1 if caller == s else 2


@jit
def _log_play(hand: int, card: int, led: int, winning: int, trick: int, aim: int, scratch: Any) -> float:
    n = play_utilities(hand, led, winning, trick, aim, scratch)
    if n < 2:
        return 0.0
    legal = playable(hand, led)
    below = popcount(legal & ((1 << card) - 1))
    return float(max(scratch[below] - _log_sum(scratch, n), FLOOR))


@jit
def log_tricks(g: Any, s: int, five: int, scratch: Any) -> float:
    """Log likelihood of the cards that seat `s` played, from the five it took into the tricks."""
    players, caller = int(g["players"]), int(g["caller"])
    total, failed = 0.0, False
    for k in range(TRICKS):
        card = int(g["plays"][k, s]) - 1
        if card < 0:
            break
        leader = leader_of(g, k)
        led, winning = -1, -1
        failed |= k > 0 and leader != caller
        other = leader
        while other != s:
            played = int(g["plays"][k, other]) - 1
            if led < 0:
                led, winning = played & 3, played
            elif played & 3 == led and played > winning:
                winning = played
            other = (other + 1) % players
        total += _log_play(five, card, led, winning, k, aim_of(caller, failed, s), scratch)
        five &= ~(1 << card)
    return total


@jit
def log_likelihood(g: Any, w: Any, s: int, scratch: Any) -> float:
    """Log likelihood of all that seat `s` did in this deal, with the hidden history `w`; `scratch` (64,) float64."""
    hand = int(w[2 * ROUNDS, s])
    total = log_tricks(g, s, hand, scratch) + log_call(g, s, hand, scratch)
    stopped = int(g["stopped"]) >> s & 1 and g["r_penalty"] == 0
    for r in range(ROUNDS - 1, -1, -1):
        total += log_announcing(g, r, s, hand)
        hand = hand & ~int(w[ROUNDS + r, s]) | int(w[r, s])
        if g["exchanged"][r, s] and not stopped:
            total += log_exchange(g, r, s, hand, int(w[r, s]), scratch)
    return total
