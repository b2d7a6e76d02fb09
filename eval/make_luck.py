"""Makes the numbers of `eval.luck`, `python -m eval.make_luck`, and shows what they do, `python -m eval.make_luck --check`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents import load
from agents.base import Agent
from agents.odds import CLASSES, class_of
from chicago_env.cli import told
from chicago_env.layout import ROUNDS
from chicago_env.notation import parse_rules
from chicago_env.setup import MatchSetup
from chicago_env.vector import GameBatch
from eval.boards import board_root, lineups, make_board, setup_of
from eval.luck import correction_of, corrections_of, luck_of
from eval.play import Games, play_games
from eval.stats import mean_interval, variance_factor

FOLDER = Path(__file__).parent
SEED = 1_000_003
"""Of the boards that the numbers are made from: no result is likely to use it."""

_SMOOTH = 200.0  # weight, in games, of the difference between neighbouring classes
_PART = 2000  # boards at once

Floats = np.ndarray[Any, np.dtype[np.float64]]


def play(
    first: Agent, second: Agent, players: int, low: int, high: int, seed: int
) -> tuple[list[MatchSetup], Games, Any]:
    """Single deals between two agents: setups, games and (N, P) which seats the first has."""
    rules = parse_rules("pagat")
    root, table = board_root(seed, "deal"), np.array(lineups(players))
    made = [make_board(root, i, "deal", players, rules) for i in range(low, high)]
    setups = [setup for board in made for setup in [setup_of(board, players, rules)] * len(table)]
    seating = np.tile(table, (len(made), 1))
    boards = np.repeat(np.arange(low, high), len(table))
    games = play_games({"first": first, "second": second}, setups, boards, seating, root, keep_choices=True)
    return setups, games, seating == 0


def hand_values(boards: int) -> Floats:
    """(CLASSES,) least squares of the difference of two novices' gains by what they held after the exchanges."""
    rows = np.zeros((CLASSES, CLASSES))
    wanted = np.zeros(CLASSES)
    novice = load("heuristic:novice")
    for low in range(0, boards, _PART):
        setups, games, _ = play(novice, novice, 2, low, low + _PART, SEED)
        for setup, choices, gains in zip(setups[::2], games.choices[::2], games.gains[::2].tolist(), strict=True):
            batch = GameBatch([setup])
            for choice in choices:
                batch.step(np.zeros(1, dtype=np.int64), np.array([choice]))
            one, other = (class_of(int(hand)) for hand in batch.states["held"][0, :2])
            if one == other or not batch.states["played"][0]:
                continue
            rows[one, one] += 1
            rows[other, other] += 1
            rows[one, other] -= 1
            rows[other, one] -= 1
            wanted[one] += gains[0] - gains[1]
            wanted[other] -= gains[0] - gains[1]
    bend = np.diff(np.eye(CLASSES), axis=0)
    found = np.linalg.lstsq(rows + _SMOOTH * bend.T @ bend, wanted, rcond=None)[0]
    return np.asarray(found - found.mean())


def points_of(games: Games, mine: Any) -> Floats:
    """(N,) mean gain of the seats of the first agent less that of the others."""
    own, total = mine.sum(axis=1), (games.gains * mine).sum(axis=1)
    return np.asarray(total / own - (games.gains.sum(axis=1) - total) / (mine.shape[1] - own))


def coefficients(values: Floats, players: int, boards: int) -> Floats:
    """(ROUNDS,) least squares of the values of boards between two heuristics by their luck."""
    first, second = load("heuristic:poker"), load("heuristic:novice")
    x, y = [], []
    for low in range(0, boards, _PART):
        setups, games, mine = play(first, second, players, low, min(boards, low + _PART), SEED)
        luck = luck_of(setups, games.choices, values)
        own = mine.sum(axis=1)[:, None]
        side = (luck * mine[:, :, None]).sum(axis=1) / own - (luck * ~mine[:, :, None]).sum(axis=1) / (players - own)
        size = 2 if players == 2 else 2 * players
        x.append(side.reshape(-1, size, ROUNDS).mean(axis=1))
        y.append(points_of(games, mine).reshape(-1, size).mean(axis=1))
    features, target = np.concatenate(x), np.concatenate(y)
    return np.asarray(np.linalg.lstsq(features - features.mean(axis=0), target - target.mean(), rcond=None)[0])


def check(first: str, second: str, players: int, boards: int, seed: int) -> str:
    """A line of the table of docs/evaluation.md: raw and corrected points, and the correction alone."""
    raw, off = [], []
    one, other = load(first), load(second)
    for low in range(0, boards, _PART):
        setups, games, mine = play(one, other, players, low, min(boards, low + _PART), seed)
        raw.append(points_of(games, mine))
        off.append(correction_of(corrections_of(luck_of(setups, games.choices)), mine))
    size = 2 if players == 2 else 2 * players
    games_raw, games_off = np.concatenate(raw).reshape(-1, size), np.concatenate(off).reshape(-1, size)
    lines = []
    for values in (games_raw, games_raw - games_off, games_off):
        estimate = mean_interval(values.mean(axis=1))
        lines.append(f"{estimate.mean:+.4f} ± {estimate.half_width:.4f}")
    before = variance_factor(games_raw, games_raw.mean(axis=1)) or 0.0
    gained = games_raw.mean(axis=1).var() / (games_raw - games_off).mean(axis=1).var()
    alone = games_raw.var() / (games_raw - games_off).var()
    return (
        f"| {first} against {second} | {players} | {games_raw.size:,} | {' | '.join(lines)} | {before:.2f} | "
        f"{before * gained:.2f} | {alone:.2f} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="make nothing; print what the numbers do")
    parser.add_argument("--boards", type=int, default=20_000, help="boards for each number, or each line")
    parser.add_argument("--players", type=int, nargs="+", default=(2, 3, 4, 5, 6), help="numbers of players")
    parser.add_argument(
        "--agents", nargs=2, default=("heuristic:poker", "heuristic:novice"), help="agents to check with"
    )
    given = parser.parse_args(arguments)
    if given.check:
        for players in given.players:
            sys.stdout.write(check(given.agents[0], given.agents[1], players, given.boards, 77) + "\n")
            sys.stdout.flush()
        return 0
    values = hand_values(given.boards)
    # the fewer seats of one kind, the fewer boards are needed for the same games
    found = [coefficients(values, players, max(500, given.boards // players**2 * 4)) for players in given.players]
    np.save(FOLDER / "luck_values.npy", values)
    np.save(FOLDER / "luck_coefficients.npy", np.array(found))
    sys.stdout.write(f"{np.round(found, 3)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
