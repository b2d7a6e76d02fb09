"""The agent `search:pimc`: plays every action out in many worlds, and leaves the expert's choice where another is better.

- Worlds: sampled games that the seat cannot tell from its own, likely ones more often (`agents.search.worlds`).
- Each action that is looked at is played out in the same worlds, with the same chance, by default by `heuristic:expert` in
  every seat. Which actions those are of the 32 exchanges, the expert and habits say (`agents.search.habits`).
- A play-out ends with the deal, and its value is the chance to win the match from the scores then.

Means over few worlds differ mostly by luck. So the worse half of the actions is left out again and again, the last ones meet
in most worlds, and the expert's own choice stands unless another is better by more than `DOUBT` standard errors of the
difference, world by world. The number of play-outs is fixed, not the time: results do not depend on the machine.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from agents.base import Actions, Masks, Observations, Rng
from agents.heuristics.expert import decide as expert_decide
from agents.search.habits import keep_utilities
from agents.search.rebuild import Known, rebuilt
from agents.search.rollout import EXPERT, POLICIES, play_out
from agents.search.tricks import ENDS
from agents.search.worlds import BY_HABIT, SCRATCH, copies, sample_worlds
from chicago_env._jit import jit
from chicago_env.actions import NUM_ACTIONS
from chicago_env.bits import lowest
from chicago_env.engine import flow
from chicago_env.engine.chance import key_of, unit
from chicago_env.game import NO_LOG, Game
from chicago_env.layout import OBSERVATION_SIZE, SEATS
from chicago_env.pool import default_threads, run_chunks
from chicago_env.setup import NO_DECKS
from chicago_env.state import EXCHANGE, STATE

BUDGET = 500
"""Play-outs of a decision at two players unless told otherwise; at more, which take longer, in proportion fewer."""

MOST, FEWEST = 100_000, 8
"""Limits of the budget."""

EXCHANGES = 8
"""Exchanges looked at, of 32."""

DOUBT = 1.0
"""Standard errors by which an action must be better than the expert's choice to be taken instead."""

_WORLDS, _PLAY_OUTS, _EXPERT = 1, 2, 3  # purposes of keys


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
def candidates(g: Any, first: int, limit: int, scratch: Any, chosen: Any) -> int:
    """Writes the actions to look at into `chosen` (64,) int64; returns their number.

    Args:
        g: record of `STATE`, what the seat to act knows.
        first: the action that comes first.
        limit: most of the exchanges; the others are the likeliest by habit.
        scratch: (64,) float64, overwritten.
        chosen: written.
    """
    base, bits = flow.legal(g)
    chosen[0], n = first, 1
    bits &= ~(1 << (first - base))
    exchange = g["phase"] == EXCHANGE
    if exchange:
        keep_utilities(g, int(g["round"]), 0, int(g["hand"][0]), scratch)
    while bits and (n < limit or not exchange):
        best = lowest(bits)
        if exchange:
            for p in range(32):
                if bits >> p & 1 and scratch[p] > scratch[best]:
                    best = p
        chosen[n] = base + best
        bits &= ~(1 << best)
        n += 1
    return n


@jit
def evaluate(raw_worlds: Any, low: int, high: int, chosen: Any, rows: Any, deal: int, policy: int, key: int, work: Any,
             out: Any) -> None:  # fmt: skip
    """Plays some actions out in each of the worlds `low` to `high`.

    Args:
        raw_worlds: (W, bytes of a record) uint8.
        low: first world.
        high: the world after the last.
        chosen: (n,) action ids.
        rows: (m,) which of them.
        deal: the deal in progress.
        policy: the roll-out policy.
        key: of the policy's chance; each world has its own, all actions the same.
        work: `Work`.
        out: (n, W) float64, written: chance of seat 0 to win the match.
    """
    for i in range(low, high):
        own = key_of(key, _PLAY_OUTS, i, 0)
        for a in rows:
            work.raw[0] = raw_worlds[i]
            flow.step(work.states[0], work.decks, int(chosen[a]), work.log)
            play_out(work.raw, work.states, work.decks, work.log, work.ends, work.at_once, work.values,
                     deal, policy, own, work.scratch, work.row, work.mask)  # fmt: skip
            out[a, i] = work.values[0, 0]


def stages(actions: int, budget: int) -> list[tuple[int, int]]:
    """How many actions are compared in how many more worlds: first all, then half of them and so on to two."""
    sizes = [actions]
    while sizes[-1] > 2:
        sizes.append((sizes[-1] + 1) // 2)
    return [(size, max(budget // (len(sizes) * size), 1)) for size in sizes]


def keys_of(rng: Rng, rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """(B,) int64 keys, one number of `rng` for each row."""
    return np.asarray(rng.random(rows) * 2.0**53).astype(np.int64)


@functools.cache
def load_kernels() -> None:
    """Compiles all that a search needs, or loads it: numba crashes when two threads begin with that at once."""
    observation, mask = Game(2, "pagat", seed=0).observe()
    PimcAgent(budget=FEWEST).decide(observation, mask, rebuilt(observation[None]), 0, new_work())


class PimcAgent:
    """The agent `search:pimc`; the module says how it plays.

    Attributes:
        name: the agent's name.
        budget: play-outs of a decision at two players.
        policy: number of the roll-out policy.
    """

    def __init__(self, *, budget: int = BUDGET, rollout: str = POLICIES[EXPERT]) -> None:
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
                actions[row] = self.decide(observations[row], masks[row], known.row(row), int(keys[row]), work)

        run_chunks(part, len(masks), default_threads(), min_rows=1)
        return actions

    def decide(self, observation: Observations, mask: Masks, known: Known, key: int, work: Work) -> int:
        """The action of one row.

        Args:
            observation: (D,) uint8.
            mask: (A,) int8.
            known: what the observation says.
            key: key of all chance.
            work: overwritten.
        """
        facts, state = known.facts[0], known.states[0]
        chosen = np.zeros(64, dtype=np.int64)
        chosen[0] = expert_decide(observation, mask, unit(key_of(key, _EXPERT, 0, 0), 0))
        n = candidates(state, int(chosen[0]), EXCHANGES, work.scratch, chosen)
        if n == 1:
            return int(chosen[0])
        plan = stages(n, 2 * self.budget // int(state["players"]))
        worlds = copies(known.states, sum(count for _, count in plan))
        if sample_worlds(facts, worlds, BY_HABIT, np.array([key_of(key, _WORLDS, 0, 0), 0])) == 0:
            return int(chosen[0])
        values = np.empty((n, len(worlds)))
        raw = worlds.view(np.uint8).reshape(len(worlds), STATE.itemsize)
        rows, used = np.arange(n), 0
        for size, count in plan:
            if size < len(rows):
                means = values[rows[1:], :used].mean(axis=1)
                rows = np.append(0, np.sort(rows[1:][np.argsort(-means, kind="stable")[: size - 1]]))
            evaluate(raw, used, used + count, chosen, rows, int(state["deal"]), self.policy, key, work, values)
            used += count
        gains = values[rows] - values[0]
        doubt = DOUBT * gains.std(axis=1) / np.sqrt(used)
        return int(chosen[rows[(gains.mean(axis=1) - doubt).argmax()]])
