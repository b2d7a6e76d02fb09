"""Makes `habits.npy`: `python -m agents.search.make_habits`. About a minute. Deterministic on
one thread (`OPENBLAS_NUM_THREADS=1`): with more, sums are rounded otherwise and weights differ by up to 2e-4.

Single deals of `heuristic:expert` against itself and as many of a checkpoint against itself, from start scores of all kinds,
under the rules `pagat` at two to four players; half of all deals are at two. The models of `agents.search.habits` are
fitted to what was done in them, by Newton's method. Prints how well each model foretells the decisions of other deals.
"""

import sys
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from agents.heuristics.cardplay import playable
from agents.registry import load
from agents.search.habit_weights import (
    AIMS,
    CALL_FEATURES,
    FILE,
    KEEP_FEATURES,
    PLAY_FEATURES,
    STAGES,
    WEIGHTS,
)
from agents.search.habits import aim_of, call_features, keep_features, play_features, stage_of
from chicago_env import actions as A
from chicago_env._jit import jit
from chicago_env.bits import lowest, popcount, select
from chicago_env.engine.announcing import may_name
from chicago_env.engine.chance import key_of, unit
from chicago_env.files import replacing
from chicago_env.game import Game
from chicago_env.layout import HAND
from chicago_env.rules import Rules
from chicago_env.state import ANNOUNCE, CHICAGO, EXCHANGE, PLAY, STATE

TABLES = ((2, "ppo-2p-canonical", 6000), (3, "ppo-all-canonical", 2000), (4, "ppo-all-canonical", 2000))
"""Players, checkpoint, and deals of each of the two kinds of player."""

PASSES, RIDGE = 12, 1.0
HELD_OUT = 5
"""One deal in so many is not fitted to, but foretold."""

LEAST_NAMED = 0.02
"""A hand is taken to be named, and passed over, at least that often."""


class Decisions(NamedTuple):
    """Decisions of one kind: (N, options, F) features, (N,) options there are, taken, model, and the number of the deal."""

    features: Any
    options: Any
    taken: Any
    model: Any
    deal: Any


@jit
def _exchanges(states: Any, features: Any, model: Any) -> None:
    for i in range(states.shape[0]):
        g = states[i]
        seat = int(g["to_act"])
        hand = int(g["hand"][seat])
        model[i] = stage_of(g, int(g["round"]), seat)
        for p in range(1 << HAND):
            keep_features(hand, hand & ~select(hand, p), features[i, p])


@jit
def _plays(states: Any, actions: Any, features: Any, options: Any, taken: Any, model: Any) -> None:
    for i in range(states.shape[0]):
        g = states[i]
        seat, led = int(g["to_act"]), int(g["led"])
        hand = int(g["hand"][seat])
        model[i] = aim_of(int(g["caller"]), g["failed"] != 0, seat)
        legal = playable(hand, led)
        taken[i] = popcount(legal & ((1 << (int(actions[i]) - A.PLAY)) - 1))
        n = 0
        while legal:
            play_features(hand, lowest(legal), led, int(g["win_card"]), int(g["trick"]), features[i, n])
            n += 1
            legal &= legal - 1
        options[i] = n


@jit
def _calls(states: Any, features: Any) -> None:
    for i in range(states.shape[0]):
        g = states[i]
        seat = int(g["to_act"])
        call_features(g, seat, int(g["hand"][seat]), features[i, 1])


@jit
def _may_name(states: Any, out: Any) -> None:
    for i in range(states.shape[0]):
        out[i] = may_name(states[i], int(states[i]["to_act"]))


def play(agent: Agent, players: int, deals: int, key: int) -> tuple[Any, Any, Any]:
    """Plays single deals of an agent against itself.

    Returns:
        (N,) records of `STATE` before each decision with a choice, (N,) int64 actions, (N,) int64 number of the deal.
    """
    rules = Rules()
    games = []
    for i in range(deals):
        own = key_of(key, players, i, 0)
        scores = [int(unit(own, 1 + s) * rules.target) if i % 2 else 0 for s in range(players)]
        games.append(Game(players, rules, seed=i, scores=scores, first_dealer=i % players, max_deals=1))
    rng = np.random.default_rng(key)
    states, taken, deal = [], [], []
    going = list(range(deals))
    while going:
        for i in going:
            while (forced := games[i].forced) is not None:
                games[i].step(forced)
        going = [i for i in going if not games[i].over]
        if not going:
            break
        seen = [games[i].observe() for i in going]
        chosen = agent.act(np.stack([o for o, _ in seen]), np.stack([m for _, m in seen]), rng)
        for i, action in zip(going, chosen, strict=True):
            states.append(games[i].state.tobytes())
            taken.append(int(action))
            deal.append(i)
            games[i].step(int(action))
    return np.frombuffer(b"".join(states), dtype=STATE), np.array(taken), np.array(deal)


def decisions(states: Any, taken: Any, deal: Any, phase: int) -> Decisions:
    """The decisions of one kind."""
    here = np.flatnonzero(states["phase"] == phase)
    states, taken, deal = states[here], taken[here], deal[here]
    n = len(here)
    options, model, index = np.full(n, 2), np.zeros(n, np.int64), np.zeros(n, np.int64)
    if phase == EXCHANGE:
        features = np.zeros((n, 1 << HAND, KEEP_FEATURES), dtype=np.float32)
        options[:] = 1 << HAND
        _exchanges(states, features, model)
        index = taken - A.EXCHANGE
    elif phase == CHICAGO:
        features = np.zeros((n, 2, CALL_FEATURES), dtype=np.float32)
        _calls(states, features)
        index = taken - A.NO_CALL
    else:
        features = np.zeros((n, HAND, PLAY_FEATURES), dtype=np.float32)
        _plays(states, taken, features, options, index, model)
    return Decisions(features, options, index, model, deal)


def chances(features: Any, options: Any, weights: Any) -> Any:
    """(N, options) probabilities of a conditional logit model."""
    u = features @ weights.astype(np.float32)
    u = np.where(np.arange(u.shape[1]) < options[:, None], u, -np.inf)
    e = np.exp(u - u.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def fit(features: Any, options: Any, taken: Any) -> Any:
    """Weights of a conditional logit model by Newton's method, each step halved until it helps."""
    rows, size = np.arange(len(taken)), features.shape[2]
    weights = np.zeros(size)

    def loss(w: Any) -> float:
        p = chances(features, options, w)[rows, taken]
        return float(-np.log(np.maximum(p, 1e-12)).sum() + RIDGE / 2 * w @ w)

    now = loss(weights)
    for _ in range(PASSES):
        p = chances(features, options, weights)
        mean = np.einsum("no,nof->nf", p, features)
        gradient = (features[rows, taken] - mean).sum(axis=0) - RIDGE * weights
        flat = features.reshape(-1, size)
        hessian = (flat * p.reshape(-1, 1)).T @ flat - mean.T @ mean + RIDGE * np.eye(size)
        step = np.linalg.solve(hessian.astype(np.float64), gradient.astype(np.float64))
        while (after := loss(weights + step)) > now and np.abs(step).max() > 1e-4:
            step /= 2
        if after >= now:
            break
        weights, now = weights + step, after
    return weights


def naming(states: Any, taken: Any) -> tuple[Any, Any]:
    """(3, 10) how often a hand was named and might have been, by announcing and category."""
    may = np.zeros(len(states), dtype=np.int8)
    _may_name(states, may)
    here = (states["phase"] == ANNOUNCE) & (may != 0)
    states, taken = states[here], taken[here]
    category = states["value"][np.arange(len(states)), states["to_act"]] >> 20
    named, could = np.zeros((3, 10)), np.zeros((3, 10))
    np.add.at(could, (states["round"], category), 1)
    np.add.at(named, (states["round"], category), taken != A.PASS)
    return named, could


def main() -> None:
    """Writes the file."""
    played = []
    for players, checkpoint, deals in TABLES:
        for number, agent in enumerate((load("heuristic:expert"), load(checkpoint))):
            played.append((f"{players} players, {agent.name}", play(agent, players, deals, 10 * players + number)))
    table = np.zeros(1, dtype=WEIGHTS)
    named, could = (sum(parts) for parts in zip(*(naming(p[0], p[1]) for _, p in played), strict=True))
    table["name"] = np.clip((named + 1) / (could + 1), LEAST_NAMED, 1 - LEAST_NAMED)
    for name, phase, models in (("keep", EXCHANGE, STAGES), ("call", CHICAGO, 1), ("play", PLAY, AIMS)):
        sources = [(source, decisions(*p, phase)) for source, p in played]
        weights = np.zeros((models, sources[0][1].features.shape[2]))
        for m in range(models):
            parts = [(d, (d.model == m) & (d.deal % HELD_OUT > 0)) for _, d in sources]
            features, options, taken = (
                np.concatenate([getattr(d, key)[use] for d, use in parts]) for key in ("features", "options", "taken")
            )
            weights[m] = fit(features, options, taken)
        table[name] = weights if models > 1 else weights[0]
        for source, d in sources:
            for m in range(models):
                use = (d.model == m) & (d.deal % HELD_OUT == 0)
                p = chances(d.features[use], d.options[use], weights[m])[np.arange(use.sum()), d.taken[use]]
                mean = np.log(np.maximum(p, 1e-12)).mean()
                sys.stdout.write(f"{name} {m}, {source}: log likelihood {mean:.3f} over {use.sum()} decisions\n")
    with replacing(FILE) as file:
        np.save(file, table, allow_pickle=False)


if __name__ == "__main__":
    main()
