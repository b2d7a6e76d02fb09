"""Makes `agents/equity.npy`, `python -m eval.make_equity --out agents/equity.npy`; `--check` compares it with whole matches.

For every preset and number of players, single deals from scores of all kinds are played by one agent in every seat, and the
chances to win are solved from them (`eval.solved_equity`). Where little was played a formula speaks, `eval.equity.ClosedEquity`.
Tables that are not asked for stay as they are.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents import equity as tables
from agents import load
from agents.base import Agent
from chicago_env.cli import told
from chicago_env.errors import UsageError
from chicago_env.files import check_writable, replacing
from chicago_env.notation import parse_rules
from chicago_env.opponents import check_game
from chicago_env.setup import MatchSetup, check_int
from eval.equity import ClosedEquity, Deals, MatchEquity
from eval.play import play_games
from eval.solved_equity import solve_equity

DEALS = {2: 100_000, 3: 120_000, 4: 150_000, 5: 100_000, 6: 100_000}
"""Deals of each table, by number of players."""

LOWEST_START = -20
"""Start scores are drawn from here to below the target."""

SEED = 1_000_033
"""Of the deals: no result is likely to use it."""

SCORES, MATCHES = ((20, 0), (10, 45), (48, 20), (33, 48), (40, 48), (48, 48)), 4000
"""From where matches are played for `--check`, and how many from each."""

_PART = 8192  # deals at once
_MAX_DEALS = 10**8


def agent_for(players: int, preset: str) -> str:
    """Who plays: the best network there is for a game, or the best heuristic."""
    if players > 4:
        return "heuristic:expert"
    if preset == "open-card":
        return "ppo-open-card"
    return "ppo-2p-presets" if players == 2 else "ppo-all-canonical"


def play_deals(agent: Agent, players: int, preset: str, deals: int, seed: int) -> Deals:
    """Single deals with one agent in all seats.

    Args:
        agent: who plays.
        players: number of seats.
        preset: name of the rules.
        deals: how many.
        seed: of scores, dealers, cards and choices.
    """
    rules = parse_rules(preset)
    rng = np.random.default_rng((seed, players, tables.KINDS.index(preset)))
    before = rng.integers(LOWEST_START, rules.target, (deals, players))
    dealers = rng.integers(players, size=deals)
    after, winners = np.empty_like(before), np.empty(deals, dtype=np.int64)
    for low in range(0, deals, _PART):
        part = slice(low, min(low + _PART, deals))
        numbers = np.arange(part.start, part.stop)
        setups = [
            MatchSetup(players, rules, seed + int(i), tuple(before[i].tolist()), int(dealers[i]), 1) for i in numbers
        ]
        games = play_games({"agent": agent}, setups, numbers, np.zeros((len(numbers), players), dtype=np.int64), seed)
        after[part], winners[part] = before[part] + games.gains, games.winner
    return Deals(before, after, dealers, winners)


def make_table(players: int, preset: str, agent: str, deals: int, seed: int = SEED) -> np.ndarray:
    """(K ** P, P) uint16 as `agents.equity` has it."""
    rules = parse_rules(preset)
    assert rules.target == tables.TARGET
    solved = solve_equity(play_deals(load(agent), players, preset, deals, seed), ClosedEquity(rules), rules.target)
    chances = solved.table / np.maximum(solved.table.sum(axis=1, keepdims=True), 1e-9)
    return np.asarray(np.rint(chances * tables.SCALE).astype(np.uint16))


def compare(agents: Sequence[str], preset: str = "pagat", matches: int = MATCHES) -> str:
    """What share of matches from `SCORES` the first of two seats wins, by formula, by table, and with an agent in both seats.

    A row of the table (Markdown) for each pair of scores and dealer.
    """
    rules, numbers = parse_rules(preset), np.arange(matches)
    rows = [["scores", "first deal by", "formula", "table", *agents]]
    for scores in SCORES:
        for dealer in range(2):
            one = np.array([scores]), np.array([2]), np.array([dealer])
            chances = [equity.chances(*one)[0, 0] for equity in (ClosedEquity(rules), MatchEquity(rules))]
            row = [
                "–".join(map(str, scores)),
                ("the first", "the second")[dealer],
                *(f"{100 * c:.1f}" for c in chances),
            ]
            for agent in agents:
                setups = [MatchSetup(2, rules, SEED + int(i), scores, dealer) for i in numbers]
                seats = np.zeros((matches, 2), dtype=np.int64)
                games = play_games({agent: load(agent)}, setups, numbers, seats, SEED)
                wins = games.winner == 0
                row.append(f"{100 * wins.mean():.1f} ± {196 * wins.std() / np.sqrt(matches):.1f}")
            rows.append(row)
    rows.insert(1, ["---"] * len(rows[0]))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description="Makes the tables of the chance to win a match.")
    parser.add_argument(
        "--players", type=int, nargs="+", choices=tables.KNOTS, default=list(tables.KNOTS), help="only these tables"
    )
    parser.add_argument(
        "--rules", nargs="+", choices=tables.KINDS, default=list(tables.KINDS), help="only these tables"
    )
    parser.add_argument("--agent", help="who plays, instead of the best there is for each game")
    parser.add_argument(
        "--deals", type=int, help="deals of each table; without it 100,000 to 150,000, by the number of players"
    )
    parser.add_argument("--out", type=Path, help="file to write; that of the project is agents/equity.npy")
    parser.add_argument(
        "--check", action="store_true", help="compare with whole matches at two players, and make nothing"
    )
    chosen = parser.parse_args(arguments)
    if chosen.check == (chosen.out is not None):
        raise UsageError("give either --check, or --out with the file to write")
    if chosen.check:
        sys.stdout.write(compare(["ppo-2p-presets", "heuristic:expert"]))
        return 0
    if chosen.deals is not None:
        check_int("deals", chosen.deals, 1, _MAX_DEALS)
    if chosen.agent is not None:  # before anything is played
        for players in chosen.players:
            for preset in chosen.rules:
                check_game(load(chosen.agent), players, parse_rules(preset))
    check_writable(chosen.out)
    parts = []
    for players in tables.KNOTS:
        for kind, preset in enumerate(tables.KINDS):
            if players in chosen.players and preset in chosen.rules:
                agent = chosen.agent or agent_for(players, preset)
                deals = DEALS[players] if chosen.deals is None else chosen.deals
                table = make_table(players, preset, agent, deals)
                sys.stdout.write(f"{players} players, {preset}: {deals} deals of {agent}\n")
                sys.stdout.flush()
            else:
                table = np.rint(tables.table_of(players, kind) * tables.SCALE).astype(np.uint16)
            parts.append(table.ravel())
    with replacing(chosen.out) as file:
        np.save(file, np.concatenate(parts))
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
