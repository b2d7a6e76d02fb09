"""The cards of a called Chicago at three and more players: the caller's, and those of the players against it."""

from typing import Any

from agents.heuristics.reading import place
from chicago_env._jit import jit
from chicago_env.bits import SUIT_CARDS, highest, lowest, popcount
from chicago_env.layout import AT, CARDS, SEATS


@jit
def sweep_card(o: Any, legal: int, hand: int, hidden: int) -> int:
    """The caller's card: when it leads the highest of its longest suit, when it follows the one with which it wins."""
    led = place(o, AT.led_suit, 4)
    if led < 0:
        best, chosen = -1, 0
        for suit in range(4):
            mine = hand & (SUIT_CARDS << suit)
            if mine:
                top = highest(mine)
                above = popcount(hidden & (SUIT_CARDS << suit) & -(1 << top))
                rating = 20 * (13 - above) + popcount(mine)
                if rating > best:
                    best, chosen = rating, top
        return chosen
    return highest(legal)


@jit
def break_card(o: Any, legal: int, hand: int, caller: int) -> int:
    """The card of a player against the caller: beats the trick if it can, else keeps its high cards."""
    led = place(o, AT.led_suit, 4)
    winning = place(o, AT.winning_card, CARDS)
    if led >= 0 and place(o, AT.winning_seat, SEATS) == caller:
        better = legal & (SUIT_CARDS << led) & -(1 << winning)
        if better:
            return highest(better)
    if led < 0:
        return highest(legal)
    return lowest(legal)
