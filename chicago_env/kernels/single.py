"""Entry points for single games: each takes an array of one record, which is cheaper to pass from Python than a record."""

from typing import Any

from chicago_env._jit import jit
from chicago_env.engine import flow
from chicago_env.observation import observe, observe_state


@jit
def start(states: Any, seed: int, first_dealer: int, max_deals: int, decks: Any, log: Any) -> None:
    """`flow.start_match` of `states[0]`."""
    flow.start_match(states[0], seed, first_dealer, max_deals, decks, log)


@jit
def legal(states: Any) -> tuple[int, int]:
    """`flow.legal` of `states[0]`: (base, bits)."""
    return flow.legal(states[0])


@jit
def step(states: Any, decks: Any, action: int, log: Any) -> bool:
    """Carries out `action` in `states[0]` if it is legal; False, and nothing done, if not."""
    g = states[0]
    if not flow.is_legal(g, action):
        return False
    flow.step(g, decks, action, log)
    return True


@jit
def play_forced(states: Any, decks: Any, log: Any) -> None:
    """Plays forced decisions of `states[0]` until there is a choice or the match is over."""
    g = states[0]
    action = flow.forced(g)
    while action >= 0:
        flow.step(g, decks, action, log)
        action = flow.forced(g)


@jit
def view(states: Any, seat: int, out: Any, mask: Any) -> None:
    """Observation of `seat` (D,) and its mask (A,), which is all 0 when it is not to act."""
    g = states[0]
    observe(g, seat, out)
    if seat == g["to_act"]:
        flow.write_mask(g, mask)
    else:
        for i in range(mask.shape[0]):
            mask[i] = 0


@jit
def view_state(states: Any, seat: int, out: Any) -> None:
    """Full information (STATE_SIZE,) seen from `seat`."""
    observe_state(states[0], seat, out)
