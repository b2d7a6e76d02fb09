"""What the cards gave and took: a correction of results for luck that nobody had a hand in.

Whenever a seat draws, what it gets is worth more or less than what it could expect, and by how much can be worked out
exactly: the value of the hand after the draw less its mean over all draws from the stock. The mean of that difference is 0
whatever anybody plays, so a multiple of it can be taken off a result, and nothing is shifted on average; what is left
varies less. This is a control variate, the chance part of AIVAT (Burch, Schmid, Moravcik, Morrill & Bowling, "AIVAT: a new
variance reduction technique for agent evaluation in imperfect information games", AAAI 2018). The values and the multiples
are fixed in this file, before any result is seen, and `DIGEST` names them.

Of the five cards dealt nothing is taken off: on a board everybody has had the same ones.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.odds import class_of, draw_odds
from chicago_env import actions
from chicago_env._jit import jit
from chicago_env.arrays import borrowed
from chicago_env.bits import FULL_DECK, lowest, popcount, select
from chicago_env.engine import flow
from chicago_env.game import NO_LOG, new_states
from chicago_env.layout import ROUNDS
from chicago_env.setup import NO_DECKS, MatchSetup
from chicago_env.state import EXCHANGE, OPEN_CHOICE
from eval.equity import digest_of
from eval.sources import CHUNK, VOID, flattened

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

_FOLDER = Path(__file__).parent

HAND_VALUES: Floats = np.load(_FOLDER / "luck_values.npy")
"""(CLASSES,) points that a hand of each class gains on another player's in the tricks and the showdown, up to a constant."""

COEFFICIENTS: Floats = np.load(_FOLDER / "luck_coefficients.npy")
"""(5, ROUNDS), for 2 to 6 players: what is taken off for one point of luck in each exchange."""

UNIT = 1_000_000
"""Parts of a point in which the correction of a seat is kept: whole numbers, whose sums are exact."""

DIGEST = digest_of("luck", HAND_VALUES, COEFFICIENTS)
"""16 hex digits of all numbers; a corrected result names them."""


@jit
def _stock(g: Any) -> int:
    """The cards that may be drawn, as a set, as long as nothing was reshuffled: what nobody has held or has been shown."""
    gone = int(g["pile"]) | int(g["pending"])
    for s in range(int(g["players"])):
        gone |= int(g["hand"][s]) | int(g["discards"][s])
    return FULL_DECK & ~gone


@jit
def _expected(kept: int, stock: int, values: Any, odds: Any) -> float:
    """Mean value of a hand after the cards that it lacks are drawn."""
    draw_odds(kept, stock, odds)
    total = 0.0
    for i in range(odds.shape[0]):
        total += odds[i] * values[i]
    return total


@jit
def _kept_at(g: Any, action: int) -> int:
    """The cards that the acting seat keeps when what it does makes it draw unseen cards; -1 when it does not."""
    hand = int(g["hand"][int(g["to_act"])])
    if g["phase"] == EXCHANGE and action > actions.KEEP_ALL:
        kept = hand & ~select(hand, action - actions.EXCHANGE)
        return -1 if g["r_open_card"] and popcount(kept) == 4 else kept
    return hand if g["phase"] == OPEN_CHOICE and action == actions.CLOSED else -1


@jit
def measure_games(
    states: Any, setting: Any, choices: Any, ends: Any, decks: Any, log: Any, values: Any, luck: Any
) -> None:
    """Plays games again and measures; the arguments are those of `eval.sources.count_games`, and:

    Args:
        states: (N,) records whose rules, players and scores are set.
        setting: (N, 3) int64.
        choices: (M,) uint8.
        ends: (N,) int64.
        decks: no decks.
        log: an empty array.
        values: (CLASSES,) value of each class of hands.
        luck: (N, P, ROUNDS) float64, added to.
    """
    states, decks, log, luck = borrowed(states), borrowed(decks), borrowed(log), borrowed(luck)
    odds = np.zeros(values.shape[0], dtype=np.float64)
    at = 0
    for i in range(states.shape[0]):
        g = states[i]
        flow.start_match(g, int(setting[i, 0]), int(setting[i, 1]), int(setting[i, 2]), decks, log)
        base, bits = flow.legal(g)
        while bits != 0:
            if bits & (bits - 1):
                # A void deal ends it: what was measured until then has the mean 0, as at any time that depends on the past.
                if at == ends[i] or choices[at] >= VOID:
                    break
                action = int(choices[at])
                at += 1
            else:
                action = base + lowest(bits)
            seat, r = int(g["to_act"]), int(g["round"])
            kept, stock = _kept_at(g, action), _stock(g)
            known = g["reshuffles"] == 0 and g["stock_n"] >= 5 - popcount(kept)
            flow.step(g, decks, action, log)
            if kept >= 0 and known:
                luck[i, seat, r] += values[class_of(int(g["hand"][seat]))] - _expected(kept, stock, values, odds)
            base, bits = flow.legal(g)
        at = int(ends[i])


def luck_of(setups: Sequence[MatchSetup], choices: Sequence[bytes | bytearray], values: Floats = HAND_VALUES) -> Floats:
    """Luck of each seat in each exchange of games, (N, P, ROUNDS) float64, in points.

    Cards drawn after a reshuffle, and face-up cards, are left out of account.

    Args:
        setups: N setups without given decks, with one number of players.
        choices: of each game, as `eval.sources.sources_of` takes them.
        values: value of each class of hands.
    """
    luck = np.zeros((len(setups), setups[0].players if setups else 0, ROUNDS))
    for low in range(0, len(setups), CHUNK):
        part = setups[low : low + CHUNK]
        setting, joined, ends = flattened(part, choices[low : low + CHUNK])
        measure_games(new_states(part), setting, joined, ends, NO_DECKS, NO_LOG, values, luck[low : low + CHUNK])
    return luck


def corrections_of(luck: Floats) -> Ints:
    """What is to be taken off the points of each seat, (N, P) int64, in parts of a point (`UNIT`).

    Args:
        luck: (N, P, ROUNDS) from `luck_of`.
    """
    # one product after another: a matrix product may round in another way for another number of games
    points = sum(luck[:, :, r] * COEFFICIENTS[luck.shape[1] - 2, r] for r in range(ROUNDS))
    return np.asarray(np.rint(np.asarray(points) * UNIT), dtype=np.int64)


def correction_of(corrections: Ints, mine: Bools) -> Floats:
    """What is to be taken off the points of one side in each game, (N,) float64: the mean of its seats less that of the others.

    Args:
        corrections: (N, P) from `corrections_of`.
        mine: (N, P) bool, seats of that side; neither none nor all.
    """
    own, total = mine.sum(axis=1), (corrections * mine).sum(axis=1)
    others = corrections.sum(axis=1) - total
    return np.asarray((total / own - others / (mine.shape[1] - own)) / UNIT)
