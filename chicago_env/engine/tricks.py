"""The play of one card and the end of a trick (docs/rules.md §2.4)."""

from typing import Any

from chicago_env._jit import inlined, jit
from chicago_env.bits import SEAT_BITS, SUIT_CARDS
from chicago_env.engine.deal import left_of
from chicago_env.engine.log import PLAY as PLAY_EVENT
from chicago_env.engine.log import SCORE_BREAKER, SCORE_CHICAGO, TRICK, add_card, emit, position
from chicago_env.engine.scoring import score
from chicago_env.layout import TRICKS
from chicago_env.state import PLAY


@inlined
def playable(g: Any, seat: int) -> int:
    """The cards that `seat` may play: of the suit led if it has one, else any."""
    hand = int(g["hand"][seat])
    led = int(g["led"])
    if led >= 0:
        following = hand & (SUIT_CARDS << led)
        if following:
            return following
    return hand


@jit
def start_tricks(g: Any) -> None:
    """Every hand is taken into the tricks; forehand leads, or the caller where the rules say so."""
    players = int(g["players"])
    for s in range(players):
        g["held"][s] = g["hand"][s]
    leader = left_of(g, int(g["dealer"]))
    if g["r_caller_leads"] and g["caller"] >= 0:
        leader = int(g["caller"])
    g["phase"] = PLAY
    g["leader"] = leader
    g["to_act"] = leader
    g["turn"] = 0


@inlined
def _end_trick(g: Any, log: Any) -> bool:
    """Returns True when the play of cards is over."""
    winner, caller = int(g["win_seat"]), int(g["caller"])
    g["winners"] |= 1 << (SEAT_BITS * int(g["trick"]) + winner)
    g["trick_cards"] = 0
    emit(log, TRICK, winner, 0)
    g["trick"] += 1
    g["turn"] = 0
    g["leader"] = winner
    g["to_act"] = winner
    g["led"] = -1
    if caller >= 0 and winner != caller and not g["failed"]:
        g["failed"] = 1
        score(g, caller, -int(g["r_chicago_penalty"]), SCORE_CHICAGO, log)
        if g["r_breaker"] and not g["reason"]:
            score(g, winner, int(g["r_breaker"]), SCORE_BREAKER, log)
        if g["reason"] or g["r_failure"] == 0:
            return True
    return bool(g["trick"] == TRICKS)


@inlined
def play(g: Any, card: int, log: Any) -> bool:
    """The acting seat plays `card`; True when the play of cards is over."""
    seat = int(g["to_act"])
    g["hand"][seat] &= ~(1 << card)
    g["known"][seat] &= ~(1 << card)
    g["plays"][int(g["trick"])] |= (card + 1) << 8 * seat
    g["played"] |= 1 << card
    g["trick_cards"] |= 1 << card
    event = position(log)
    emit(log, PLAY_EVENT, seat, 0)
    add_card(log, event, card)
    if g["turn"] == 0:
        g["led"] = card & 3
        g["win_card"] = card
        g["win_seat"] = seat
    elif card & 3 != g["led"]:
        g["void"] |= 1 << (4 * seat + int(g["led"]))
    elif card > g["win_card"]:
        g["win_card"] = card
        g["win_seat"] = seat
    g["turn"] += 1
    if g["turn"] == g["players"]:
        return _end_trick(g, log)
    g["to_act"] = left_of(g, seat)
    return False
