"""The agent `search:policy`: a network's policy, improved where it is asked and still mixed.

Every legal action, but of exchanges only those that the network gives some weight, is played out in the same worlds, all
seats by the network for a few decisions, then by habit (`agents.search.rollout`); the tricks are solved where they are few
enough. Worlds (`agents.search.worlds`) are drawn by what the network believes of where cards are, if it has a head for that,
else by habits. Then one step of mirror descent from the network's logits, `logits + step * value`, as in Ataraxos (arXiv
2511.07312): where values are alike, the network decides, and it stays as unpredictable as it was. An action counts at least
`LEAST` before the step, so that search can find what the network never tries.
"""

from typing import Any

import numpy as np

from agents.base import Actions, Floats, Masks, Observations, Rng
from agents.locations import log_odds
from agents.networks import NetworkAgent
from agents.search.pimc import Work, keys_of, new_work
from agents.search.rebuild import Known, States, rebuilt
from agents.search.rollout import HABITS, play_out
from agents.search.tricks import is_solvable
from agents.search.worlds import BY_HABIT, copies, sample_worlds
from chicago_env._jit import jit
from chicago_env.actions import NUM_ACTIONS
from chicago_env.engine import flow
from chicago_env.engine.chance import key_of, unit
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.observation import observe
from chicago_env.rules import Rules
from chicago_env.state import EXCHANGE, OVER, PLAY, STATE

BUDGET = 400
"""Play-outs of a decision unless told otherwise."""

STEP = 100.0
"""Size of the step: logits for a chance to win of 1."""

DEPTH = 8
"""Decisions of a play-out that the network takes."""

LEAST = 0.01
"""Probability of the network below which an exchange is not looked at, and to which other actions are raised."""

_WORLDS, _PLAY_OUTS, _NETWORK = 11, 12, 13  # purposes of keys


@jit
def start_play_outs(raw_worlds: Any, raw: Any, states: Any, chosen: Any, decks: Any, log: Any) -> None:
    """Carries each of `chosen` (n,) out in each of W worlds; action a in world i is row a * W + i of `states` (n W,)."""
    count = raw_worlds.shape[0]
    for a in range(chosen.shape[0]):
        for i in range(count):
            raw[a * count + i] = raw_worlds[i]
            flow.step(states[a * count + i], decks, int(chosen[a]), log)


@jit
def observe_open(states: Any, deal: int, count: int, key: int, depth: int, rows: Any, observations: Any, masks: Any,
                 chance: Any, decks: Any, log: Any) -> int:  # fmt: skip
    """Plays forced decisions, and observes where there is a choice before tricks that can be solved.

    Args:
        states: (N,) records.
        deal: the deal in progress.
        count: worlds: rows of one world have the same chance.
        key: of the chance.
        depth: number of this call.
        rows: (N,) int64, written: the rows observed.
        observations: (N, D) uint8, written.
        masks: (N, A) int8, written.
        chance: (N,) float64, written: a number in [0, 1) for each.
        decks: no decks.
        log: an empty log.

    Returns:
        Number of rows observed.
    """
    n = 0
    for row in range(states.shape[0]):
        g = states[row]
        while g["phase"] != OVER and g["deal"] == deal:
            if g["phase"] == PLAY and is_solvable(g):
                break
            action = flow.forced(g)
            if action < 0:
                rows[n] = row
                observe(g, int(g["to_act"]), observations[n])
                flow.write_mask(g, masks[n])
                chance[n] = unit(key_of(key, _NETWORK, row % count, depth), int(g["to_act"]))
                n += 1
                break
            flow.step(g, decks, action, log)
    return n


@jit
def step_chosen(states: Any, rows: Any, probabilities: Any, chance: Any, decks: Any, log: Any) -> None:
    """Draws an action for each of `rows` (N,) from `probabilities` (N, A) with `chance` (N,), and carries it out."""
    for i in range(rows.shape[0]):
        left = chance[i]
        action = -1
        for a in range(probabilities.shape[1]):
            if probabilities[i, a] > 0:
                action = a
                left -= probabilities[i, a]
                if left < 0:
                    break
        flow.step(states[rows[i]], decks, action, log)


@jit
def finish_play_outs(raw: Any, count: int, deal: int, key: int, work: Any, out: Any) -> None:
    """Plays rows (N, bytes of a record) on to the end of the deal by habit; seat 0's chance to win goes to `out` (N,)."""
    for row in range(raw.shape[0]):
        work.raw[0] = raw[row]
        play_out(work.raw, work.states, work.decks, work.log, work.ends, work.at_once, work.values, deal, HABITS,
                 key_of(key, _PLAY_OUTS, row % count, 0), work.scratch, work.row, work.mask)  # fmt: skip
        out[row] = work.values[0, 0]


class SearchPolicyAgent:
    """The agent `search:policy`; the module says how it plays.

    Attributes:
        name: the agent's name.
        blueprint: the network's agent.
        budget: play-outs of a decision.
        step: size of the mirror-descent step.
    """

    def __init__(self, blueprint: NetworkAgent, *, budget: int = BUDGET, step: float = STEP) -> None:
        self.name = f"search:policy({blueprint.name})"
        self.blueprint = blueprint
        self.budget = budget
        self.step = step

    def check_game(self, players: int, rules: Rules) -> None:
        """Checks that the network is made for a game.

        Raises:
            SetupError: it is not.
        """
        self.blueprint.check_game(players, rules)

    def act(self, observations: Observations, masks: Masks, rng: Rng, /) -> Actions:
        """See `agents.Agent.act`; two numbers of `rng` are used for each row.

        Raises:
            SetupError: a game for which the network is not made.
        """
        known = rebuilt(observations)
        keys, draws = keys_of(rng, len(masks)), rng.random(len(masks))
        work = new_work()
        actions = np.empty(len(masks), dtype=np.int64)
        # Row by row: a network's numbers may depend on what else is in its batch, and answers must not.
        for row in range(len(masks)):
            one = slice(row, row + 1)
            probabilities = self.policy(known.row(row), observations[one], masks[one], int(keys[row]), work)
            sums = probabilities.cumsum()
            limit = min(draws[row] * sums[-1], np.nextafter(sums[-1], 0))
            actions[row] = (sums <= limit).sum()
        return actions

    def policy(self, known: Known, observation: Observations, mask: Masks, key: int, work: Work) -> Floats:
        """(A,) float64, the improved policy for one row.

        Args:
            known: one row of what the seat knows.
            observation: (1, D) uint8.
            mask: (1, A).
            key: key of all chance.
            work: memory to be overwritten.
        """
        blueprint: Floats = self.blueprint.probabilities(observation, mask)[0]
        chosen = np.flatnonzero(blueprint >= LEAST if known.states["phase"][0] == EXCHANGE else mask[0])
        if len(chosen) < 2:
            return blueprint
        worlds = copies(known.states, max(self.budget // len(chosen), 1))
        head = self.blueprint.net.config.locations
        odds = log_odds(self.blueprint.locations(observation)[0]) if head else BY_HABIT
        if sample_worlds(known.facts[0], worlds, odds, np.array([key_of(key, _WORLDS, 0, 0), 0])) == 0:
            return blueprint
        values = self._play_outs(worlds, chosen, int(known.states["deal"][0]), key, work).mean(axis=1)
        logits = np.log(np.maximum(blueprint[chosen], LEAST)) + self.step * values
        weights = np.exp(logits - logits.max())
        improved: Floats = np.zeros_like(blueprint)
        improved[chosen] = weights / weights.sum()
        return improved

    def _play_outs(self, worlds: States, chosen: Any, deal: int, key: int, work: Work) -> Floats:
        """(n, W) values of actions by worlds."""
        count, size = len(worlds), len(worlds) * len(chosen)
        states = np.empty(size, dtype=STATE)
        raw = states.view(np.uint8).reshape(size, STATE.itemsize)
        raw_worlds = worlds.view(np.uint8).reshape(count, STATE.itemsize)
        start_play_outs(raw_worlds, raw, states, chosen, work.decks, work.log)
        rows = np.empty(size, dtype=np.int64)
        observations = np.empty((size, OBSERVATION_SIZE), dtype=np.uint8)
        masks = np.empty((size, NUM_ACTIONS), dtype=np.int8)
        chance = np.empty(size)
        for depth in range(DEPTH):
            n = observe_open(states, deal, count, key, depth, rows, observations, masks, chance, work.decks, work.log)
            if n == 0:
                break
            probabilities = self.blueprint.probabilities(observations[:n], masks[:n])
            step_chosen(states, rows[:n], probabilities, chance[:n], work.decks, work.log)
        values = np.empty(size)
        finish_play_outs(raw, count, deal, key, work, values)
        return values.reshape(len(chosen), count)
