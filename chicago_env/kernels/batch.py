"""Kernels over rows of a batch. Rows are independent: any split over threads gives the same bytes."""

from typing import Any

import numpy as np

from chicago_env._jit import jit
from chicago_env.actions import NUM_ACTIONS
from chicago_env.arrays import borrowed
from chicago_env.engine import flow
from chicago_env.engine.chance import MATCH, START_SCORES, key_of, unit
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.observation import observe, observe_hidden
from chicago_env.rewards import save_scores, write_rewards
from chicago_env.state import OVER

SEED_MASK = (1 << 63) - 1


@jit
def match_seed(seed: int, row: int, episode: int) -> int:
    """Seed of the match that a batch with `seed` plays as number `episode` in `row`."""
    return key_of(seed, MATCH, row, episode) & SEED_MASK


@jit
def first_bad_row(rows: Any, count: int, different: bool) -> int:
    """Index of the first of `rows` (L,) outside 0 … count - 1 or, where they must be `different`, there before; or -1."""
    last = -1
    ascending = True
    for i in range(rows.shape[0]):
        row = rows[i]
        if row < 0 or row >= count:
            return i
        ascending &= row > last
        last = row
    if ascending or not different:
        return -1
    seen = np.zeros(count, dtype=np.bool_)
    for i in range(rows.shape[0]):
        if seen[rows[i]]:
            return i
        seen[rows[i]] = True
    return -1


@jit
def first_illegal(states: Any, rows: Any, actions: Any) -> int:
    """Index i of the first illegal `actions[i]` in `states[rows[i]]`, -1 if all are legal."""
    for i in range(rows.shape[0]):
        if not flow.is_legal(states[rows[i]], int(actions[i])):
            return i
    return -1


@jit
def _skip(g: Any, decks: Any, log: Any) -> None:
    action = flow.forced(g)
    while action >= 0:
        flow.step(g, decks, action, log)
        action = flow.forced(g)


@jit
def start_rows(
    states: Any, rows: Any, seeds: Any, dealers: Any, max_deals: Any, decks: Any, skip_forced: bool, log: Any
) -> None:
    """Starts a match in each row: seeds, first dealers (-1: by the seed) and lengths are (N,) int64, as `rows`."""
    for i in range(rows.shape[0]):
        g = states[rows[i]]
        flow.start_match(g, int(seeds[i]), int(dealers[i]), int(max_deals[i]), decks, log)
        if skip_forced:
            _skip(g, decks, log)


@jit
def step_rows(states: Any, rows: Any, actions: Any, decks: Any, skip_forced: bool, log: Any) -> None:
    """Carries out a legal action in each row."""
    for i in range(rows.shape[0]):
        g = states[rows[i]]
        flow.step(g, decks, int(actions[i]), log)
        if skip_forced:
            _skip(g, decks, log)


@jit
def observe_rows(states: Any, rows: Any, observation: Any, mask: Any) -> None:
    """Observation (N, D) and mask (N, A) of the seat to act in each row; zeros where the match is over."""
    for i in range(rows.shape[0]):
        g = states[rows[i]]
        if g["phase"] == OVER:
            observation[i, :] = 0
            mask[i, :] = 0
        else:
            observe(g, int(g["to_act"]), observation[i])
            flow.write_mask(g, mask[i])


@jit
def observe_seats(states: Any, seats: Any) -> Any:
    """Observation (N, D) uint8 and mask (N, A) int8 of `seats[i]` in each row: the mask is 0 where it is not to act."""
    observation = np.empty((states.shape[0], OBSERVATION_SIZE), dtype=np.uint8)
    mask = np.zeros((states.shape[0], NUM_ACTIONS), dtype=np.int8)
    for i in range(states.shape[0]):
        g = states[i]
        observe(g, int(seats[i]), observation[i])
        if g["phase"] != OVER and g["to_act"] == seats[i]:
            flow.write_mask(g, mask[i])
    return observation, mask


@jit
def observe_hidden_rows(states: Any, out: Any) -> None:
    """The cards that the seat to act in each row does not see (N, H) uint8; zeros where the match is over."""
    for i in range(states.shape[0]):
        g = states[i]
        if g["phase"] == OVER:
            out[i, :] = 0
        else:
            observe_hidden(g, int(g["to_act"]), out[i])


@jit
def forced_actions(states: Any, rows: Any) -> Any:
    """(L,) int64: the only legal action in each of `rows` (L,), -1 where there are more."""
    out = np.empty(rows.shape[0], dtype=np.int64)
    for i in range(rows.shape[0]):
        out[i] = flow.forced(states[rows[i]])
    return out


@jit
def seat_rewards(states: Any, seats: Any, kind: int, before: Any) -> Any:
    """(N,) float32: what `seats[i]` is paid in row i for what happened since its scores were `before` (N, 6)."""
    every = np.empty(6, dtype=np.float32)
    out = np.empty(states.shape[0], dtype=np.float32)
    for i in range(states.shape[0]):
        write_rewards(states[i], kind, before[i], every)
        out[i] = every[seats[i]]
    return out


@jit
def are_choices(states: Any) -> Any:
    """(B,) bool: the seat to act has more than one legal action."""
    out = np.zeros(states.shape[0], dtype=np.bool_)
    for i in range(states.shape[0]):
        bits = flow.legal(states[i])[1]
        out[i] = bits & (bits - 1) != 0
    return out


@jit
def start_scores(seed: int, players: int, spread: int) -> Any:
    """(P,) int64 start scores of the match with `seed`: 0, or drawn from 0 … `spread` - 1."""
    out = np.zeros(players, dtype=np.int64)
    if spread:
        key = key_of(seed, START_SCORES, 0, 0)
        for s in range(players):
            out[s] = int(unit(key, s) * spread)
    return out


@jit
def start_episode(g: Any, seed: int, row: int, episode: int, max_deals: int, spread: int, decks: Any, log: Any) -> None:
    """Starts the match of (seed, row, episode); start scores are 0, or drawn from 0 … `spread` - 1."""
    own = match_seed(seed, row, episode)
    scores = start_scores(own, int(g["players"]), spread)
    for s in range(scores.shape[0]):
        g["scores"][s] = scores[s]
    flow.start_match(g, own, -1, max_deals, decks, log)


@jit
def advance(
    states: Any,
    low: int,
    high: int,
    episodes: Any,
    setting: Any,
    decks: Any,
    actions: Any,
    observation: Any,
    mask: Any,
    seat: Any,
    rewards: Any,
    done: Any,
    outcome: Any,
    log: Any,
) -> None:
    """One step of rows `low` to `high` of a batch environment, with automatic reset, in one pass over the memory.

    Args:
        states: (B,) records.
        low: first row.
        high: one past the last row.
        episodes: (B,) int64, number of the match in progress; counted up at its end.
        setting: (5,) int64: seed, max_deals, spread of start scores, skip_forced, kind of reward.
        decks: no decks.
        actions: (B,) legal actions; an empty array only observes, and starts rows that are over.
        observation: (B, D) uint8, written.
        mask: (B, A) int8, written.
        seat: (B,) int64, seat to act, written.
        rewards: (B, P) float32, written.
        done: (B,) bool, written.
        outcome: (B, 3 + P) int64: winner, reason, deals and scores of a match that ended in this step.
        log: an empty array: batches keep no event log.
    """
    states, decks, log = borrowed(states), borrowed(decks), borrowed(log)
    observation, mask, rewards = borrowed(observation), borrowed(mask), borrowed(rewards)
    before = np.zeros(6, dtype=np.int64)
    seed, max_deals, spread = int(setting[0]), int(setting[1]), int(setting[2])
    skip_forced, kind = setting[3] != 0, int(setting[4])
    acting = actions.shape[0] > 0
    for row in range(low, high):
        g = states[row]
        save_scores(g, before)
        if acting:
            flow.step(g, decks, int(actions[row]), log)
            if skip_forced:
                _skip(g, decks, log)
        write_rewards(g, kind, before, rewards[row])
        done[row] = acting and g["phase"] == OVER
        while g["phase"] == OVER:
            if acting:
                outcome[row, 0] = g["winner"]
                outcome[row, 1] = g["reason"]
                outcome[row, 2] = g["deal"] + 1
                for s in range(int(g["players"])):
                    outcome[row, 3 + s] = g["scores"][s]
                episodes[row] += 1
            start_episode(g, seed, row, int(episodes[row]), max_deals, spread, decks, log)
            if skip_forced:
                _skip(g, decks, log)
            if not acting and g["phase"] == OVER:
                episodes[row] += 1
        observe(g, int(g["to_act"]), observation[row])
        flow.write_mask(g, mask[row])
        seat[row] = g["to_act"]


@jit
def play_uniformly(
    states: Any, low: int, high: int, steps: int, key: int, decks: Any, observation: Any, mask: Any, log: Any
) -> None:
    """`steps` uniformly random decisions in each row, observation and mask written for each; for measuring."""
    states, decks, log = borrowed(states), borrowed(decks), borrowed(log)
    observation, mask = borrowed(observation), borrowed(mask)
    for row in range(low, high):
        g = states[row]
        stream = key_of(key, MATCH, row, 0)
        for i in range(steps):
            observe(g, int(g["to_act"]), observation[row])
            flow.write_mask(g, mask[row])
            flow.step(g, decks, flow.nth_legal(g, unit(stream, i)), log)
            if g["phase"] == OVER:
                start_episode(g, key, row, i, int(g["max_deals"]), 0, decks, log)


@jit
def choose_uniformly(mask: Any, key: int) -> Any:
    """(B,) int64: a legal action of each row of `mask` (B, A), uniformly at random by `key` and row."""
    out = np.zeros(mask.shape[0], dtype=np.int64)
    for row in range(mask.shape[0]):
        count = 0
        for a in range(mask.shape[1]):
            count += int(mask[row, a] != 0)
        left = int(unit(key_of(key, MATCH, row, 1), 0) * count)
        for a in range(mask.shape[1]):
            if mask[row, a]:
                if left == 0:
                    out[row] = a
                    break
                left -= 1
    return out
