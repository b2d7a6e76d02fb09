"""What comes after what: the phases of a deal, the deals of a match. `step` and `legal` are all that others need."""

from typing import Any

from chicago_env import actions
from chicago_env._jit import inlined, jit
from chicago_env.arrays import write_bits
from chicago_env.bits import lowest, nth, popcount
from chicago_env.engine.announcing import announce, may_name
from chicago_env.engine.chance import FIRST_DEALER, key_of, unit
from chicago_env.engine.deal import left_of, start_deal
from chicago_env.engine.exchange import choose_open, discard, take_upcard, under_stop
from chicago_env.engine.log import CHICAGO as CHICAGO_EVENT
from chicago_env.engine.log import DEAL_END, SCORE_CHICAGO, SCORE_LAST_TRICK, emit
from chicago_env.engine.scoring import (
    best_of_all,
    choose_four,
    eligible,
    lowest_seat_at_target,
    score,
    score_hand,
    win,
)
from chicago_env.engine.tricks import play, playable, start_tricks
from chicago_env.layout import ROUNDS
from chicago_env.state import (
    ANNOUNCE,
    CHICAGO,
    EXCHANGE,
    FOUR,
    HAND_SCORES,
    LAST_TRICK_SCORES,
    OPEN_ACCEPT,
    OPEN_CHOICE,
    OVER,
    PLAY,
    TARGET,
    TRUNCATED,
)

_TAIL = actions.NUM_ACTIONS - 64  # the last 64 actions

ALL_DISCARDS = (1 << 32) - 1


@jit
def start_match(g: Any, seed: int, first_dealer: int, max_deals: int, decks: Any, log: Any) -> None:
    """Starts a match in a record whose rules, players and scores are set; `first_dealer` -1 draws one by the seed."""
    players = int(g["players"])
    g["seed"] = seed
    if first_dealer < 0:
        first_dealer = int(unit(key_of(seed, FIRST_DEALER, 0, 0), 0) * players)
    g["first_dealer"] = first_dealer
    g["max_deals"] = max_deals
    g["ever_stopped"] = 0
    g["attempted"] = 0
    g["succeeded"] = 0
    g["winner"] = -1
    g["reason"] = 0
    g["deal"] = 0
    g["dealer"] = first_dealer
    g["decisions"] = 0
    g["next_stock_n"] = 0
    start_deal(g, decks, log)


@jit
def legal(g: Any) -> tuple[int, int]:
    """The legal actions as (base, bits): action base + i is legal where bit i is set; (0, 0) when the match is over."""
    phase, seat = int(g["phase"]), int(g["to_act"])
    if phase == PLAY:
        return actions.PLAY, playable(g, seat)
    if phase == EXCHANGE:
        if under_stop(g, seat) and g["r_penalty"] == 0:
            return actions.EXCHANGE, 1
        return actions.EXCHANGE, ALL_DISCARDS
    if phase == ANNOUNCE:
        if not may_name(g, seat):
            return actions.ANNOUNCE, 1
        named = 1 << (int(g["value"][seat]) >> 20)
        return actions.ANNOUNCE, named if g["r_compulsory"] else named | 1
    if phase == CHICAGO:
        return actions.CHICAGO, 3
    if phase == OPEN_CHOICE:
        return actions.OPEN_CHOICE, 3
    if phase == OPEN_ACCEPT:
        return actions.OPEN_ACCEPT, 3
    if phase == FOUR:
        return actions.FOUR, 3
    return 0, 0


@jit
def is_legal(g: Any, action: int) -> bool:
    """Whether `action` is legal now; any int is accepted."""
    base, bits = legal(g)
    return 0 <= action - base < 64 and bits >> (action - base) & 1 == 1


@jit
def forced(g: Any) -> int:
    """The only legal action, or -1 where there is a choice or nobody is to act."""
    base, bits = legal(g)
    if bits == 0 or bits & (bits - 1):
        return -1
    return base + lowest(bits)


@inlined
def nth_legal(g: Any, fraction: float) -> int:
    """The legal action at `fraction` in [0, 1) of the ascending list of legal ones."""
    base, bits = legal(g)
    return base + nth(bits, int(fraction * popcount(bits)))


@jit
def write_mask(g: Any, out: Any) -> None:
    """Writes the legal actions of the acting seat into `out` (A,) int8 or uint8."""
    base, bits = legal(g)
    write_bits(out, 0, bits << base)
    write_bits(out, _TAIL, bits >> (_TAIL - base) if base < _TAIL else bits << (base - _TAIL))


@jit
def _end_match(g: Any, log: Any) -> None:
    g["phase"] = OVER
    g["to_act"] = -1
    emit(log, DEAL_END, -1, 0)


@jit
def _test_end_of_deal(g: Any) -> None:
    if g["r_first_past"]:
        seat = lowest_seat_at_target(g)
        if seat >= 0:
            win(g, seat, TARGET)
        return
    best, tied = -1, False
    for s in range(int(g["players"])):
        if g["scores"][s] < g["r_target"] or not eligible(g, s):
            continue
        if best < 0 or g["scores"][s] > g["scores"][best]:
            best, tied = s, False
        elif g["scores"][s] == g["scores"][best]:
            tied = True
    if best >= 0 and not tied:
        win(g, best, TARGET)


@jit
def end_deal(g: Any, decks: Any, log: Any) -> None:
    """Ends the deal in progress as its scores stand: the match is over, or the next deal is dealt."""
    _test_end_of_deal(g)
    if not g["reason"] and g["deal"] + 1 >= g["max_deals"]:
        g["reason"] = TRUNCATED
    if g["reason"]:
        _end_match(g, log)
        return
    emit(log, DEAL_END, -1, 0)
    g["deal"] += 1
    g["dealer"] = left_of(g, int(g["dealer"]))
    start_deal(g, decks, log)


@jit
def _scores_after_tricks(g: Any, what: int) -> bool:
    """Whether last trick or showdown score in this deal: always without a Chicago, else as its outcome says."""
    if g["caller"] < 0:
        return True
    return int(g["r_failure"] if g["failed"] else g["r_success"]) & what != 0


@jit
def _after_tricks(g: Any, decks: Any, log: Any) -> None:
    """Stages 1 Chicago, 2 and 3 last trick and showdown, 4 end of the deal; a choice in between comes back here."""
    while g["stage"] < 4:
        stage = int(g["stage"])
        g["stage"] = stage + 1
        if stage == 1:
            if g["caller"] >= 0 and not g["failed"]:
                caller = int(g["caller"])
                g["succeeded"] |= 1 << caller
                score(g, caller, int(g["r_chicago_points"]), SCORE_CHICAGO, log)
        elif (stage == 2) != (g["r_showdown_first"] == 1):
            if _scores_after_tricks(g, LAST_TRICK_SCORES):
                points = int(g["r_last_trick"])
                if g["r_two_doubles"] and int(g["win_card"]) >> 2 == 0:
                    points *= 2
                score(g, int(g["win_seat"]), points, SCORE_LAST_TRICK, log)
        elif _scores_after_tricks(g, HAND_SCORES):
            seat = best_of_all(g)
            if seat >= 0:
                score_hand(g, seat, log)
                if g["phase"] == FOUR:
                    return
        if g["reason"]:
            _end_match(g, log)
            return
    end_deal(g, decks, log)


@jit
def _ask_chicago(g: Any) -> None:
    """Moves on to the next seat that may call, from `turn` on; to the tricks when there is none."""
    players = int(g["players"])
    if g["r_chicago"]:
        while g["turn"] < players:
            seat = (int(g["dealer"]) + 1 + int(g["turn"])) % players
            if g["scores"][seat] >= g["r_threshold"]:
                g["phase"] = CHICAGO
                g["to_act"] = seat
                return
            g["turn"] += 1
    start_tricks(g)


@inlined
def _next_round(g: Any) -> None:
    g["turn"] = 0
    if g["round"] + 1 < g["r_exchanges"]:
        g["round"] += 1
        g["phase"] = EXCHANGE
        g["to_act"] = left_of(g, int(g["dealer"]))
    else:
        _ask_chicago(g)


@inlined
def _next_turn(g: Any) -> bool:
    """Moves on to the next seat of an exchange or announcing; True when every seat is done."""
    g["turn"] += 1
    g["to_act"] = left_of(g, int(g["to_act"]))
    return bool(g["turn"] == g["players"])


@jit
def _end_exchange_turn(g: Any) -> None:
    g["phase"] = EXCHANGE
    if not _next_turn(g):
        return
    g["scored_seat"] = -1
    if int(g["r_scored"]) >> int(g["round"]) & 1:
        g["turn"] = 0
        g["best"] = 0
        g["phase"] = ANNOUNCE
    else:
        _next_round(g)


@jit
def _end_announcing(g: Any, log: Any) -> None:
    r = int(g["round"])
    if g["standing"][r] > 0 and not g["tied"][r]:
        score_hand(g, int(g["standing"][r]) - 1, log)
        if g["reason"]:
            _end_match(g, log)
        if g["reason"] or g["phase"] == FOUR:
            return
    _next_round(g)


@jit
def _end_four(g: Any, decks: Any, log: Any) -> None:
    if g["reason"]:
        _end_match(g, log)
    elif g["stage"]:
        g["phase"] = PLAY
        _after_tricks(g, decks, log)
    else:
        _next_round(g)


@jit
def _answer_chicago(g: Any, call: bool, log: Any) -> None:
    seat = int(g["to_act"])
    g["asked"] |= (2 if call else 1) << 2 * seat
    emit(log, CHICAGO_EVENT, seat, 1 if call else 0)
    if call:
        g["caller"] = seat
        g["attempted"] |= 1 << seat
        start_tricks(g)
    else:
        g["turn"] += 1
        _ask_chicago(g)


@jit
def step(g: Any, decks: Any, action: int, log: Any) -> None:
    """Carries out a legal `action` of the acting seat, up to the next decision. The caller has checked that it is legal.

    Args:
        g: a record of `STATE`.
        decks: (K, 52) int8, the first K deals of the match card by card; K may be 0.
        action: action id.
        log: (N,) int32 event log, or an empty array.
    """
    g["decisions"] += 1
    phase = int(g["phase"])
    if phase == PLAY:
        if play(g, action - actions.PLAY, log):
            if g["reason"]:
                _end_match(g, log)
            elif g["trick"] < 5:
                end_deal(g, decks, log)
            else:
                # A Chicago that failed in the very last trick, with nothing scored after a failure, ends the deal as well.
                g["stage"] = 1 if not g["failed"] or g["r_failure"] else 4
                _after_tricks(g, decks, log)
    elif phase == EXCHANGE:
        if discard(g, action - actions.EXCHANGE, log):
            _end_exchange_turn(g)
    elif phase == ANNOUNCE:
        announce(g, action - actions.ANNOUNCE, log)
        if _next_turn(g):
            _end_announcing(g, log)
    elif phase == CHICAGO:
        _answer_chicago(g, action == actions.CALL, log)
    elif phase == OPEN_CHOICE:
        if choose_open(g, action == actions.OPEN, log):
            _end_exchange_turn(g)
    elif phase == OPEN_ACCEPT:
        if take_upcard(g, action == actions.ACCEPT, log):
            _end_exchange_turn(g)
    elif phase == FOUR:
        choose_four(g, action == actions.RESET, ROUNDS if g["stage"] else int(g["round"]), log)
        _end_four(g, decks, log)
