"""The agent `search:pimc`: plays every action out in many worlds, and takes the one that wins most matches.

- Worlds: sampled games that the seat cannot tell from its own, likely ones more often (`agents.search.worlds`).
- Each action that is looked at is played out in the same worlds, with the same chance; which actions those are of the 32
  exchanges, habits say (`agents.search.habits`).
- A play-out ends with the deal, and its value is the chance to win the match from the scores then; the tricks are solved with
  open cards as soon as they are few enough, at two players at once (`agents.search.tricks`).

It takes the action of the best mean; an exchange also counts `TRUST` times its log likelihood by habit, for the means of
many exchanges that are nearly as good differ mostly by luck. The number of play-outs is fixed, not the time: results do
not depend on the machine.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from agents.base import Actions, Masks, Observations, Rng
from agents.search.habits import keep_utilities
from agents.search.rebuild import Known, rebuilt
from agents.search.rollout import HABITS, POLICIES, habit, play_out
from agents.search.tricks import ENDS
from agents.search.worlds import BY_HABIT, SCRATCH, copies, sample_worlds
from chicago_env._jit import jit
from chicago_env.actions import NUM_ACTIONS
from chicago_env.bits import lowest, popcount
from chicago_env.engine import flow
from chicago_env.engine.chance import key_of, unit
from chicago_env.game import NO_LOG, Game
from chicago_env.layout import OBSERVATION_SIZE, SEATS
from chicago_env.pool import default_threads, run_chunks
from chicago_env.setup import NO_DECKS
from chicago_env.state import EXCHANGE, STATE

BUDGET = 800
"""Play-outs of a decision unless told otherwise."""

MOST, FEWEST = 100_000, 8
"""Limits of the budget."""

EXCHANGES = 8
"""Exchanges looked at, of 32."""

TRUST = 0.01
"""Weight of habit at exchanges: chance to win the match that is worth a factor of e in likelihood."""

_WORLDS, _PLAY_OUTS, _FALLBACK = 1, 2, 3  # purposes of keys


class Work(NamedTuple):
    """Memory that a search overwrites: see `agents.search.rollout.play_out`."""

    raw: Any
    states: Any
    decks: Any
    log: Any
    ends: Any
    at_once: Any
    values: Any
    scratch: Any
    row: Any
    mask: Any


def new_work() -> Work:
    """Memory for one search at a time."""
    states = np.zeros(4, dtype=STATE)
    return Work(
        raw=states.view(np.uint8).reshape(4, STATE.itemsize),
        states=states,
        decks=NO_DECKS,
        log=NO_LOG,
        ends=np.zeros((ENDS, SEATS)),
        at_once=np.zeros((SEATS, SEATS)),
        values=np.zeros((32, SEATS)),
        scratch=np.zeros(SCRATCH),
        row=np.zeros(OBSERVATION_SIZE, dtype=np.uint8),
        mask=np.zeros(NUM_ACTIONS, dtype=np.int8),
    )


@jit
def candidates(g: Any, limit: int, scratch: Any, chosen: Any) -> int:
    """Writes the actions to look at into `chosen` (64,) int64, at most `limit` of the exchanges; returns their number."""
    base, bits = flow.legal(g)
    n = 0
    if g["phase"] != EXCHANGE or popcount(bits) <= limit:
        while bits:
            chosen[n] = base + lowest(bits)
            bits &= bits - 1
            n += 1
        return n
    keep_utilities(g, int(g["round"]), int(g["hand"][0]), scratch)
    while n < limit:
        best = 0
        for p in range(32):
            if scratch[p] > scratch[best]:
                best = p
        chosen[n] = base + best
        scratch[best] = -1e300
        n += 1
    return n


@jit
def evaluate(raw_worlds: Any, count: int, chosen: Any, actions: int, deal: int, policy: int, key: int, work: Any,
             out: Any) -> None:  # fmt: skip
    """Plays each of the first `actions` actions of `chosen` out in each of `count` worlds.

    Args:
        raw_worlds: (W, bytes of a record) uint8.
        count: worlds used.
        chosen: action ids.
        actions: number of them.
        deal: the deal in progress.
        policy: the roll-out policy.
        key: of the policy's chance; each world has its own, all actions the same.
        work: `Work`.
        out: (at least `actions`, at least `count`) float64, written: chance of seat 0 to win the match.
    """
    for i in range(count):
        own = key_of(key, _PLAY_OUTS, i, 0)
        for a in range(actions):
            work.raw[0] = raw_worlds[i]
            flow.step(work.states[0], work.decks, int(chosen[a]), work.log)
            play_out(work.raw, work.states, work.decks, work.log, work.ends, work.at_once, work.values,
                     deal, policy, own, work.scratch, work.row, work.mask)  # fmt: skip
            out[a, i] = work.values[0, 0]


def keys_of(rng: Rng, rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """(B,) int64 keys, one number of `rng` for each row."""
    return np.asarray(rng.random(rows) * 2.0**53).astype(np.int64)


@functools.cache
def load_kernels() -> None:
    """Compiles all that a search needs, or loads it: numba crashes when two threads begin with that at once."""
    known = rebuilt(Game(2, "pagat", seed=0).observation()[None])
    work = new_work()
    habit(known.states[0], 0.5, work.scratch)
    PimcAgent(budget=FEWEST).decide(known, 0, work)


class PimcAgent:
    """The agent `search:pimc`; the module says how it plays.

    Attributes:
        name: the agent's name.
        budget: play-outs of a decision.
        policy: number of the roll-out policy.
    """

    def __init__(self, *, budget: int = BUDGET, rollout: str = POLICIES[HABITS]) -> None:
        self.name = "search:pimc"
        self.budget = budget
        self.policy = POLICIES.index(rollout)

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`; one number of `rng` is used for each row."""
        load_kernels()
        known = rebuilt(observations)
        keys = keys_of(rng, len(masks))
        actions = np.empty(len(masks), dtype=np.int64)

        def part(low: int, high: int) -> None:
            work = new_work()
            for row in range(low, high):
                actions[row] = self.decide(known.row(row), int(keys[row]), work)

        run_chunks(part, len(masks), default_threads(), min_rows=1)
        return actions

    def decide(self, known: Known, key: int, work: Work) -> int:
        """The action of one row; `key` is that of its chance, `work` is overwritten."""
        facts, state = known.facts[0], known.states[0]
        chosen = np.zeros(64, dtype=np.int64)
        n = candidates(state, EXCHANGES, work.scratch, chosen)
        if n == 1:
            return int(chosen[0])
        worlds = copies(known.states, max(self.budget // n, 1))
        if sample_worlds(facts, worlds, BY_HABIT, np.array([key_of(key, _WORLDS, 0, 0), 0])) == 0:
            return habit(state, unit(key_of(key, _FALLBACK, 0, 0), 0), work.scratch)
        values = np.empty((n, len(worlds)))
        raw = worlds.view(np.uint8).reshape(len(worlds), STATE.itemsize)
        evaluate(raw, len(worlds), chosen, n, int(state["deal"]), self.policy, key, work, values)
        means = values.mean(axis=1)
        if state["phase"] == EXCHANGE:
            keep_utilities(state, int(state["round"]), int(state["hand"][0]), work.scratch)
            means += TRUST * work.scratch[chosen[:n]]
        return int(chosen[means.argmax()])
