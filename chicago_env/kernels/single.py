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


@jit
def replay(states: Any, decks: Any, choices: Any, at: int, log: Any, room: int) -> int:
    """Goes on in `states[0]` with `choices` (N,) uint8 from index `at`, playing forced decisions by itself.

    Stops when the choices are used up, at an illegal one, when the match is over, or when the log has less than `room`
    words left (at once if the log is empty and `room` positive). Returns the index of the next choice.
    """
    g = states[0]
    while log.shape[0] == 0 or log[0] + room < log.shape[0]:
        action = flow.forced(g)
        if action < 0:
            if at >= choices.shape[0] or not flow.is_legal(g, int(choices[at])):
                break
            action = int(choices[at])
            at += 1
        flow.step(g, decks, action, log)
    return at
