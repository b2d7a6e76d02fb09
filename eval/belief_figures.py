"""Prints how well beliefs say where unseen cards are: `python -m eval.belief_figures CHECKPOINT`, one with a location head.

At the decisions of single deals that the network plays against itself, of every card that the seat to act has not seen: minus
the log probability of its true place (the hand of a seat, or none), in nats. By nothing but the sizes of hands, by the network's
location head, by the share of worlds drawn by that head, and by the share of worlds drawn by habit.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents import load
from agents.locations import SEEN, log_odds, places
from agents.networks import NetworkAgent
from agents.search.rebuild import rebuilt
from agents.search.worlds import BY_HABIT, worlds_of
from chicago_env.cli import told
from chicago_env.layout import CARDS
from chicago_env.notation import parse_rules
from chicago_env.opponents import check_game
from chicago_env.setup import check_int
from chicago_env.state import PHASES
from chicago_env.vector import BatchEnv

SIZES, HEAD, HEAD_WORLDS, HABIT_WORLDS = "sizes of hands", "head", "worlds by the head", "worlds by habit"
_START_SCORES = 50
_MAX = 10**6  # deals, and worlds of a decision

Array = np.ndarray[Any, Any]


def shares(worlds: Array, players: int) -> Array:
    """(52, P) share of worlds (W,) with each card in each place; half a world more everywhere, so that nothing is impossible."""
    held = np.zeros((CARDS, players))
    for j in range(1, players):
        held[:, j] = ((worlds["hand"][:, j][:, None] >> np.arange(CARDS)) & 1).sum(axis=0)
    held[:, 0] = len(worlds) - held.sum(axis=1)
    return np.asarray((held + 0.5) / (len(worlds) + 0.5 * players))


def surprises(agent: NetworkAgent, players: int, rules: str, deals: int, worlds: int, seed: int) -> dict[str, Array]:
    """(N,) mean surprise of a decision, by belief and, under `kind`, the kind of decision.

    Args:
        agent: a network with a location head.
        players: number of players.
        rules: the rules.
        deals: deals to play.
        worlds: worlds drawn at a decision.
        seed: of all chance.
    """
    batch, rng = (
        BatchEnv(deals, players, rules, seed, max_deals=1, start_scores=_START_SCORES),
        np.random.default_rng(seed),
    )
    step, live = batch.reset(), np.ones(deals, dtype=np.bool_)
    found: dict[str, list[Any]] = defaultdict(list)
    while live.any():
        located, true = agent.locations(step.observation), places(step.observation, batch.hidden())
        for row in np.flatnonzero(live & (step.mask.sum(axis=1) > 1)):
            key = int(rng.integers(1 << 50))
            drawn = [worlds_of(step.observation[row], worlds, key, odds) for odds in (log_odds(located[row]), BY_HABIT)]
            cards = np.flatnonzero(true[row] != SEEN)
            if not all(map(len, drawn)) or not len(cards):
                continue
            place = true[row][cards]
            sizes = np.bincount(place, minlength=players) / len(cards)
            found["kind"].append(PHASES[int(rebuilt(step.observation[row][None]).states["phase"][0])])
            found[SIZES].append(-np.log(sizes[place]).mean())
            found[HEAD].append(-np.log(np.maximum(located[row][cards, place], 1e-9)).mean())
            for name, some in zip((HEAD_WORLDS, HABIT_WORLDS), drawn, strict=True):
                found[name].append(-np.log(shares(some, players)[cards, place]).mean())
        step = batch.step(agent.act(step.observation, step.mask, rng))
        live &= ~step.done
    return {name: np.array(values) for name, values in found.items()}


def table(found: dict[str, Array]) -> str:
    """The figures as a Markdown table."""
    names = (SIZES, HEAD, HEAD_WORLDS, HABIT_WORLDS)
    lines = ["| decision | number | " + " | ".join(names) + " |", "|---" * (2 + len(names)) + "|"]
    for kind in PHASES:
        rows = found["kind"] == kind
        if rows.any():
            lines.append(
                f"| {kind} | {rows.sum()} | " + " | ".join(f"{found[name][rows].mean():.3f}" for name in names) + " |"
            )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", help="name or path of a network with a location head")
    parser.add_argument("--players", type=int, default=2, help="number of players")
    parser.add_argument("--rules", default="pagat", help="the rules")
    parser.add_argument("--deals", type=int, default=120, help="deals")
    parser.add_argument("--worlds", type=int, default=400, help="worlds drawn at a decision")
    parser.add_argument("--seed", type=int, default=9, help="root of all chance")
    given = parser.parse_args(arguments)
    agent = load(given.checkpoint)
    if not isinstance(agent, NetworkAgent) or not agent.net.config.locations:
        parser.error(f"{given.checkpoint} has no location head")
    check_game(agent, given.players, parse_rules(given.rules))
    for name in ("deals", "worlds"):
        check_int(name, getattr(given, name), 1, _MAX)
    sys.stdout.write(table(surprises(agent, given.players, given.rules, given.deals, given.worlds, given.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
