"""The state of one match as a NumPy record: rules, match, deal. A batch is an array of such records.

Flat and without references, so that a copy, a pickle or a snapshot of a game is a copy of its bytes. Seats are absolute
here; sets of cards, tables by seat and lists of cards are words as in `chicago_env.bits`. Sizes: 6 seats, 3 exchange
rounds, 5 tricks.
"""

from typing import Any

import numpy as np

from chicago_env.layout import ROUNDS, RULES_SIZE, TRICKS, encode_rules
from chicago_env.layout import SEATS as MAX_PLAYERS
from chicago_env.rules import Rules

EXCHANGE, OPEN_CHOICE, OPEN_ACCEPT, ANNOUNCE, FOUR, CHICAGO, PLAY, OVER = range(8)
PHASES = ("exchange", "open_choice", "open_accept", "announce", "four", "chicago", "play", "over")

NOT_ENDED, TARGET, INSTANT, TRUNCATED = range(4)
REASONS = (None, "target", "instant", "truncated")

NEVER = np.iinfo(np.int32).max  # a buy stop that nobody reaches
ALWAYS = np.iinfo(np.int32).min  # a threshold that everybody has reached
PENALTY_ALL = -1
LAST_TRICK_SCORES, HAND_SCORES = 1, 2  # bits of r_success and r_failure
OPEN_CLOSED, OPEN_OPEN, OPEN_ACCEPTED, OPEN_DECLINED = range(4)

_I64, _I32, _I16, _I8 = np.int64, np.int32, np.int16, np.int8
_S, _R, _T = MAX_PLAYERS, ROUNDS, TRICKS

STATE = np.dtype(
    [
        # --- the rules in force -----------------------------------------------------------------------------------
        ("r_block", np.uint8, RULES_SIZE),  # as in the observation
        ("r_first_past", _I8), ("r_exchanges", _I8),
        ("r_scored", _I8),  # bit r: announcing after exchange r
        ("r_open_card", _I8),
        ("r_four", _I8),  # 0 points, 1 reset, 2 choose
        ("r_royal_resets", _I8),
        ("r_suits", _I8), ("r_suit_rank", _I8, 4),  # rank of each suit, larger is better; 0 where suits do not count
        ("r_compulsory", _I8), ("r_reveal_ranks", _I8), ("r_show_broken", _I8),
        ("r_two_doubles", _I8), ("r_showdown_first", _I8), ("r_chicago", _I8), ("r_caller_leads", _I8),
        ("r_success", _I8), ("r_failure", _I8), ("r_buy_stop_permanent", _I8),
        ("r_needs", _I8),  # 0 none, 1 attempt, 2 success
        ("r_instant", _I16),  # bit c: category c wins at once
        ("r_hand_points", _I16, 10), ("r_last_trick", _I16),
        ("r_chicago_points", _I16), ("r_chicago_penalty", _I16), ("r_breaker", _I16), ("r_target", _I16),
        ("r_penalty", _I16),  # 0 none (no discards under buy stop), n points, PENALTY_ALL
        ("r_threshold", _I32), ("r_buy_stop", _I32),
        # --- the match --------------------------------------------------------------------------------------------
        ("players", _I64), ("seed", _I64), ("first_dealer", _I64), ("max_deals", _I64),
        ("scores", _I64, _S),
        ("winner", _I64), ("reason", _I64),
        ("deal", _I64), ("dealer", _I64),
        ("ever_stopped", _I8), ("attempted", _I8), ("succeeded", _I8),  # bit per seat
        # --- whose turn it is -------------------------------------------------------------------------------------
        ("round", _I8),  # exchange round; stays at the last one afterwards
        ("turn", _I8),  # seats that are done in this round, announcing, asking or trick
        ("trick", _I8), ("leader", _I8), ("led", _I8),  # led: suit, -1 before the lead
        ("win_card", _I8), ("win_seat", _I8),
        ("stage", _I8),  # 0 before the tricks are over; then 1 Chicago, 2 and 3 last trick and showdown, 4 done
        ("phase", _I64), ("to_act", _I64),
        ("decisions", _I64),  # made in this match, forced ones included
        # --- cards ------------------------------------------------------------------------------------------------
        ("hand", _I64, _S),
        ("value", _I32, _S),  # hand_value of each seat's five cards
        ("known", _I64, _S),  # cards that everybody knows the seat to hold
        ("played", _I64), ("trick_cards", _I64),  # cards played in this deal, and in the trick in progress
        ("upcard", _I8),  # face-up card on offer, -1 for none
        ("stock_n", _I8),  # cards left to draw
        # --- public history of the deal, and each seat's own --------------------------------------------------------
        ("stopped", _I8),  # bit per seat: under buy stop in this deal
        ("best", _I8),  # highest category announced in this announcing
        ("scored_seat", _I8),  # who scored in the announcing before this exchange, -1 for nobody
        ("standing", _I8, _R), ("tied", _I8, _R),  # seat + 1; 1 while the best hands tie
        ("caller", _I8), ("failed", _I8),
        ("four", _I16),  # 2 bits for each announcing and the showdown: 1 points, 2 reset, 0 no choice
        ("asked", _I16),  # table, 2 bits: 1 declined, 2 called, 0 not asked
        ("void", _I32),  # table, 4 bits: bit s says that the seat showed in play to hold none of suit s
        ("winners", _I32),  # six bits for each trick, bit of the seat that won it
        ("reshuffled", _I32),  # six bits for each exchange, bit per seat: the stock was reshuffled in this turn
        ("plays", _I64, _T),  # table of each trick, 8 bits: card + 1
        ("exchanged", _I64, _R),  # table, 6 bits: bit n says that n cards were discarded; 0 not yet
        ("announced", _I64, _R),  # table, 10 bits: bit of the category, bit 0 for pass; 0 not yet
        ("suit", _I64, _R),  # table, 8 bits: the suit shown + 1
        ("breaker", _I8, _R), ("broken", _I64, _R),  # seat + 1 that broke a scored hand; the group it showed, a list
        ("discards", _I64, _S),  # all of this deal
        ("discarded", _I64, (_S, _R)), ("received", _I64, (_S, _R)),  # lists
        ("ranks", _I64, (_R, _S)),  # lists of the ranks shown in announcing r, rank + 1, in the order compared
        ("shown", _I64, (_R, _S)),  # lists of the cards shown in announcing r
        ("open", _I64, _R), ("open_card", _I64, _R),  # tables: 4 bits, bit OPEN_*; 8 bits, card + 1
        # --- what is looked at seldom -------------------------------------------------------------------------------
        ("held", _I64, _S),  # the five cards a seat took into the tricks
        ("pile", _I64),  # discards that a reshuffle would bring back
        ("pending", _I64),  # discards of the turn in progress
        ("taken", _I64),  # places of the keyed deck that have been drawn
        ("drawn", _I8, 5), ("drawn_n", _I8),  # cards drawn in the turn in progress, in order
        ("draws", _I8, _S),  # of each seat
        ("listed", _I8),  # 1: the stock is drawn in order from `stock_at`; 0: each seat has places of its own
        ("stock_at", _I8), ("reshuffles", _I8),
        ("deck", _I8, 52),
        ("next_stock", _I8, 52), ("next_stock_n", _I8),  # order of the next reshuffle, where a record prescribes it
    ],
    align=True,
)  # fmt: skip
"""One match; what is used together stands together, so that less memory is touched. `np.zeros(B, STATE)` makes a batch that
`set_rules` and the engine then fill.
"""


def set_rules(states: np.ndarray[Any, Any], rules: Rules, players: int) -> None:
    """Writes rules and number of players into records `states` (any shape)."""
    states["players"] = players
    states["r_target"] = rules.target
    states["r_first_past"] = rules.finish == "first_past"
    states["r_exchanges"] = rules.exchanges
    states["r_scored"] = sum(1 << r for r, scored in enumerate(rules.scored_exchanges) if scored)
    states["r_open_card"] = rules.open_card
    states["r_hand_points"] = rules.hand_points
    states["r_instant"] = sum(1 << c for c in rules.instant_win)
    states["r_four"] = ("points", "reset", "choose").index(rules.four_of_a_kind)
    states["r_royal_resets"] = rules.royal_resets
    order = rules.suit_order
    states["r_suits"] = order is not None
    states["r_suit_rank"] = [0] * 4 if order is None else [3 - order.index(suit) for suit in "CDHS"]
    states["r_compulsory"] = rules.announcing == "compulsory"
    states["r_reveal_ranks"] = rules.tie_reveal == "ranks"
    states["r_show_broken"] = rules.show_broken_hand
    states["r_last_trick"] = rules.last_trick_points
    states["r_two_doubles"] = rules.last_trick_two_doubles
    states["r_showdown_first"] = rules.showdown_first
    states["r_chicago"] = rules.chicago
    states["r_threshold"] = ALWAYS if rules.chicago_threshold is None else rules.chicago_threshold
    states["r_chicago_points"] = rules.chicago_points
    states["r_chicago_penalty"] = rules.chicago_penalty
    states["r_caller_leads"] = rules.chicago_caller_leads
    bits = {"last_trick": LAST_TRICK_SCORES, "hand": HAND_SCORES}
    states["r_success"] = sum(bits[what] for what in rules.chicago_success_scores)
    states["r_failure"] = sum(bits[what] for what in rules.chicago_failure_scores)
    states["r_breaker"] = rules.chicago_breaker_points
    states["r_buy_stop"] = NEVER if rules.buy_stop is None else rules.buy_stop
    states["r_buy_stop_permanent"] = rules.buy_stop_permanent
    penalty = rules.buy_stop_penalty
    states["r_penalty"] = 0 if penalty is None else PENALTY_ALL if penalty == "all" else penalty
    states["r_block"] = encode_rules(rules)
    states["r_needs"] = (None, "attempt", "success").index(rules.win_needs_chicago)
