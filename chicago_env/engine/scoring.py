"""Scoring events, resets and the end of the match (docs/rules.md §3 and §4)."""

from typing import Any

from chicago_env._jit import jit
from chicago_env.engine.log import FOUR as FOUR_EVENT
from chicago_env.engine.log import RESET, SCORE_HAND, emit
from chicago_env.hands import FOUR as FOUR_OF_A_KIND
from chicago_env.hands import ROYAL, suit_key
from chicago_env.state import FOUR, INSTANT, TARGET


@jit
def eligible(g: Any, seat: int) -> bool:
    """Whether `seat` may win, as far as `win_needs_chicago` goes."""
    needs = int(g["r_needs"])
    if needs == 0:
        return True
    flags = int(g["attempted"]) if needs == 1 else int(g["succeeded"])
    return flags >> seat & 1 == 1


@jit
def win(g: Any, seat: int, reason: int) -> None:
    """Ends the match; whoever called sees `g["reason"]` and stops."""
    g["winner"] = seat
    g["reason"] = reason


@jit
def lowest_seat_at_target(g: Any) -> int:
    """Lowest eligible seat with `target` points or more, -1 for none."""
    for s in range(int(g["players"])):
        if g["scores"][s] >= g["r_target"] and eligible(g, s):
            return s
    return -1


@jit
def test_first_past(g: Any, scorer: int) -> None:
    """The end test of `finish = "first_past"` at a scoring event: the scorer first, then the lowest seat."""
    if not g["r_first_past"] or g["reason"]:
        return
    if g["scores"][scorer] >= g["r_target"] and eligible(g, scorer):
        win(g, scorer, TARGET)
        return
    seat = lowest_seat_at_target(g)
    if seat >= 0:
        win(g, seat, TARGET)


@jit
def score(g: Any, seat: int, points: int, why: int, log: Any) -> None:
    """One scoring event of a kind other than a hand, and the end test after it."""
    g["scores"][seat] += points
    emit(log, why, seat, points)
    test_first_past(g, seat)


@jit
def _reset_others(g: Any, seat: int, log: Any) -> None:
    for s in range(int(g["players"])):
        if s != seat:
            g["scores"][s] = 0
    emit(log, RESET, seat, 0)


@jit
def _hand_points(g: Any, seat: int, resets: bool, log: Any) -> None:
    category = int(g["value"][seat]) >> 20
    points = int(g["r_hand_points"][category])
    g["scores"][seat] += points
    emit(log, SCORE_HAND, seat, points)
    if resets:
        _reset_others(g, seat, log)
    if int(g["r_instant"]) >> category & 1:
        win(g, seat, INSTANT)
    test_first_past(g, seat)


@jit
def score_hand(g: Any, seat: int, log: Any) -> None:
    """The best hand scores; under `choose` a four of a kind only moves to the phase FOUR, where its owner decides."""
    category = int(g["value"][seat]) >> 20
    g["scored_seat"] = seat
    if category == FOUR_OF_A_KIND and g["r_four"] == 2:
        g["phase"] = FOUR
        g["to_act"] = seat
        return
    resets = (category == FOUR_OF_A_KIND and g["r_four"] == 1) or (category == ROYAL and g["r_royal_resets"] == 1)
    _hand_points(g, seat, resets, log)


@jit
def choose_four(g: Any, reset: bool, slot: int, log: Any) -> None:
    """The owner of a four of a kind takes its points or the reset; `slot`: announcing 0-2, or 3 for the showdown."""
    seat = int(g["to_act"])
    g["four"] |= (2 if reset else 1) << 2 * slot
    emit(log, FOUR_EVENT, seat, 1 if reset else 0)
    if reset:
        _reset_others(g, seat, log)
        test_first_past(g, seat)
    else:
        _hand_points(g, seat, False, log)


@jit
def compare(g: Any, mask_a: int, value_a: int, mask_b: int, value_b: int) -> int:
    """1 if hand a is better than b, -1 if worse, 0 for an exact tie (`suit_order` counts where it is set)."""
    if value_a != value_b:
        return 1 if value_a > value_b else -1
    if not g["r_suits"]:
        return 0
    a = suit_key(mask_a, value_a, g["r_suit_rank"])
    b = suit_key(mask_b, value_b, g["r_suit_rank"])
    return 1 if a > b else -1


@jit
def best_of_all(g: Any) -> int:
    """Seat with the best of the hands that went into the tricks; -1 if the best ones tie or have not even a pair."""
    best = 0
    tied = False
    for s in range(1, int(g["players"])):
        order = compare(g, int(g["held"][s]), int(g["value"][s]), int(g["held"][best]), int(g["value"][best]))
        if order > 0:
            best = s
            tied = False
        elif order == 0:
            tied = True
    return -1 if tied or int(g["value"][best]) >> 20 == 0 else best
