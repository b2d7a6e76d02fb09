"""What is in a store, for other programs: JSON, CSV and match records."""

import csv
import json
from collections.abc import Iterator
from typing import Any, TextIO

from chicago_env.errors import SetupError
from chicago_env.notation import parse_rules
from chicago_env.records import record_of
from chicago_env.rules import Rules
from eval.boards import KINDS, Kind, board_root, make_board, setup_of
from eval.luck import UNIT
from eval.plan import Plan
from eval.store.file import Store
from eval.store.reading import Played

FORMAT, VERSION = "chicago-games", 2


def record(plan: Plan, kind: Kind, number: int, names: list[str], choices: bytes) -> dict[str, Any]:
    """The record of one game of an event, a dict in record format 1."""
    return _record(plan.seed, plan.players, plan.rules, plan.max_deals, kind, number, names, choices)


def _record(
    seed: int, players: int, rules: Rules, max_deals: int, kind: Kind, number: int, names: list[str], choices: bytes
) -> dict[str, Any]:
    board = make_board(board_root(seed, kind), number, kind, players, rules, max_deals)
    return record_of(setup_of(board, players, rules), choices, names=names)


def records(store: Store) -> Iterator[dict[str, Any]]:
    """The record of every game, in the order of the store; a game with a void deal has none.

    Raises:
        SetupError: the store was made without what records need.
    """
    if not store.frame["records"]:
        raise SetupError(f"{store.path}: keeps no records; play with --keep-records")
    rules, players, deals = parse_rules(store.frame["rules_fields"]), store.players, store.frame["max_deals"]
    for seed, kind, board, lineup, choices in store.choices():
        if choices:
            names = [store.names[agent] for agent in lineup]
            yield _record(seed, players, rules, deals, kind, board, names, choices)


def _games(played: Played) -> Iterator[tuple[int, ...]]:
    for i in range(len(played.boards)):
        yield int(played.seeds[i]), int(played.boards[i]), i


def write_csv(store: Store, out: TextIO) -> None:
    """One line for each seat of each game: seed, kind, board, game, seat, agent, gain, winner, ..., sources by name.

    The last column is the luck of the draw in points, where it was measured: empty in matches.
    """
    columns, measured = store.frame["sources"], store.frame["luck"] is not None
    writer = csv.writer(out, lineterminator="\n")
    head = ["seed", "kind", "board", "game", "seat", "agent", "gain", "won", "truncated", "deals", "forfeited"]
    writer.writerow([*head, *columns, *(["luck"] if measured else [])])
    names = store.names
    for kind in KINDS:
        played = store.played(kind)
        last, game = (-1, -1), 0
        for seed, board, i in _games(played):
            game = game + 1 if (seed, board) == last else 0
            last = seed, board
            for seat in range(store.players):
                writer.writerow(
                    [
                        seed,
                        kind,
                        board,
                        game,
                        seat,
                        names[played.lineups[i, seat]],
                        int(played.gains[i, seat]),
                        int(played.winner[i] == seat),
                        int(played.truncated[i]),
                        int(played.deals[i]),
                        int(played.forfeited[i, seat]),
                        *played.sources[i, seat].tolist(),
                        *([played.luck[i, seat] / UNIT if kind == "deal" else ""] if measured else []),
                    ]
                )


def write_json(store: Store, out: TextIO) -> None:
    """Everything but choices as one JSON object: plan, then one row for each game, then faults."""
    head = {"format": FORMAT, "version": VERSION, **store.frame, "agents": store.agents, "runs": store.runs}
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
    out.write(text.removesuffix("\n}") + ',\n "games": [')
    separator = "\n"
    for kind in KINDS:
        played = store.played(kind)
        for seed, board, i in _games(played):
            row = {
                "seed": seed,
                "kind": kind,
                "board": board,
                "lineup": played.lineups[i].tolist(),
                "gains": played.gains[i].tolist(),
                "winner": int(played.winner[i]),
                "truncated": bool(played.truncated[i]),
                "deals": int(played.deals[i]),
                "forfeited": played.forfeited[i].tolist(),
                "sources": played.sources[i].tolist(),
                "luck": (played.luck[i] / UNIT).tolist() or None,
            }
            out.write(f"{separator}  {json.dumps(row)}")
            separator = ",\n"
    out.write('\n ],\n "faults": [')
    separator = "\n"
    for fault in store.faults():
        out.write(f"{separator}  {json.dumps(fault._asdict(), ensure_ascii=False)}")
        separator = ",\n"
    out.write("\n ]\n}\n")
