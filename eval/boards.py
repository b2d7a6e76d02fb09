"""Boards: the same cards for everybody.

A board is one deal, or one whole match, fixed by a key, start scores and a first dealer. It is played once in every
arrangement of the players round the table, so that each has had every seat with the same cards. A board, not a game, is
the unit of every interval: the games of one board depend on each other.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from chicago_env.engine.chance import MATCH, START_SCORES, key_of, unit
from chicago_env.rules import Rules
from chicago_env.setup import MAX_DEALS, SEED_LIMIT, MatchSetup
from eval.rng import BOARDS

Kind = Literal["deal", "match"]
KINDS: tuple[Kind, ...] = ("deal", "match")

Lineup = tuple[int, ...]
"""Who sits where: P indices of players, by seat."""


class Board(NamedTuple):
    """What a board has in common in all its games.

    Attributes:
        number: its number; with the root of the boards it fixes everything else.
        seed: key of its cards.
        scores: P start scores, by seat.
        first_dealer: seat of the first dealer.
        max_deals: 1 for a single deal, else when a match is truncated.
    """

    number: int
    seed: int
    scores: tuple[int, ...]
    first_dealer: int
    max_deals: int


def board_root(seed: int, kind: Kind) -> int:
    """Root key of the boards of one kind in a tournament with `seed`."""
    return key_of(seed, BOARDS, KINDS.index(kind), 0)


def make_board(root: int, number: int, kind: Kind, players: int, rules: Rules, max_deals: int = MAX_DEALS) -> Board:
    """Board `number` of those with `root`.

    Single deals start from a spread of scores: boards with an even number from 0-0, the others with each seat's score
    uniform over 0 … target - 1, for what is right depends on the score (buy stop, target, who may call). Matches
    start from 0-0. The dealer moves on by one seat from board to board.
    """
    seed = key_of(root, MATCH, number, 0) % SEED_LIMIT
    scores = (0,) * players
    if kind == "deal" and number % 2:
        key = key_of(root, START_SCORES, number, 0)
        scores = tuple(int(unit(key, seat) * rules.target) for seat in range(players))
    # Two boards in a row, one of each kind of start, have the same dealer.
    dealer = number // 2 % players if kind == "deal" else number % players
    return Board(number, seed, scores, dealer, 1 if kind == "deal" else max_deals)


def setup_of(board: Board, players: int, rules: Rules) -> MatchSetup:
    """The setup with which every game of a board starts."""
    return MatchSetup(players, rules, board.seed, board.scores, board.first_dealer, board.max_deals)


def lineups(players: int) -> list[Lineup]:
    """The games of a board between player 0 and player 1.

    At two players both seatings; beyond, one against P - 1 in every seat, and the complement: 2P games, in which either
    has P·P seats. Each has every seat as often as the other.
    """
    tables: Sequence[Lineup] = [(0,) + (1,) * (players - 1)]
    if players > 2:
        tables = [*tables, (1,) + (0,) * (players - 1)]
    return [tuple(np.roll(table, turn).tolist()) for table in tables for turn in range(players)]


def pairs(players: int) -> list[tuple[int, int]]:
    """All pairs of so many players."""
    return [(a, b) for a in range(players) for b in range(a + 1, players)]
