"""What an event plays: who, by which rules, on which boards, in which seats. All of it is checked before anything is played."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from agents.base import Agent
from chicago_env.actions import ACTION_VERSION
from chicago_env.engine.chance import key_of, unit
from chicago_env.errors import SetupError
from chicago_env.layout import OBSERVATION_VERSION, layout_hash
from chicago_env.notation import format_rules, parse_rules
from chicago_env.rules import Rules, check_players, suggestion
from chicago_env.setup import MAX_DEALS, MAX_MATCH_DEALS, SEED_LIMIT, check_int
from eval.boards import KINDS, Kind, board_root, lineups, pairs
from eval.entrants import Entrant, entrants_of
from eval.extras import STATISTICS, require
from eval.luck import DIGEST
from eval.rng import TABLES
from eval.sources import COLUMNS

MAX_BOARDS = 10_000_000
MAX_AGENTS = 255
MAX_ROWS = 1 << 20
DEFAULT_ROWS = 4096
"""Games in lock-step. The result does not depend on it."""

START_SCORES = "deals: even boards 0, odd boards uniform over 0 … target - 1; matches: 0"

Ints = np.ndarray[Any, np.dtype[np.int64]]

Field = Literal["pairs", "first", "tables"]
FIELDS: tuple[Field, ...] = get_args(Field)
"""Who meets whom.

- `pairs`: every pair, a round robin.
- `first`: the first agent against each of the others.
- `tables`: as many agents as there are seats, drawn from all of them board by board, in all rotations.

Two agents at more than two seats: one against P - 1 of the other in every seat, and the other way round.
"""


class Unit(NamedTuple):
    """Boards that are played at once and written down at once: `low` … `high` - 1 of one kind."""

    kind: Kind
    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """An event.

    Attributes:
        entrants: who takes part.
        players: P, seats at a table.
        rules: rules in force.
        field: who meets whom, see `FIELDS`.
        boards: boards of single deals.
        matches: boards of whole matches.
        seed: root of all chance.
        max_deals: deals after which a match is truncated.
        records: keep what records of the games need.
        max_faults: faults after which an agent forfeits the rest of its games (docs/evaluation.md); 0: the first fault
            of anybody ends the event with an error.
        luck: measure the luck of the draw in single deals (`eval.luck`).
    """

    entrants: tuple[Entrant, ...]
    players: int
    rules: Rules
    field: Field = "pairs"
    boards: int = 1000
    matches: int = 200
    seed: int = 0
    max_deals: int = MAX_DEALS
    records: bool = False
    max_faults: int = 0
    luck: bool = False

    @property
    def names(self) -> list[str]:
        """The agents' names, in their order."""
        return [entrant.name for entrant in self.entrants]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Which two agents meet, where two meet."""
        count = len(self.entrants)
        return [(0, other) for other in range(1, count)] if self.field == "first" else pairs(count)

    @property
    def games_of_board(self) -> int:
        """G, games of one board, all tables taken together; 0 if nobody meets anybody."""
        if self.field == "tables":
            return self.players
        return len(self.pairs) * len(lineups(self.players))

    def total(self, kind: Kind) -> int:
        """Boards of a kind."""
        return (self.boards if kind == "deal" else self.matches) if self.games_of_board else 0

    def seating(self, kind: Kind, low: int, high: int) -> Ints:
        """Who sits where: (high - low, G, P) numbers of agents, in the games of boards `low` … `high` - 1."""
        if self.field != "tables":
            one = np.array([[pair[side] for side in table] for pair in self.pairs for table in lineups(self.players)])
            return np.broadcast_to(one.astype(np.int64), (high - low, *one.shape))
        root = board_root(self.seed, kind)
        tables = np.array([_draw(root, number, len(self.entrants), self.players) for number in range(low, high)])
        return np.stack([np.roll(tables, turn, axis=1) for turn in range(self.players)], axis=1)

    def units(self, rows: int) -> Iterator[Unit]:
        """All boards in pieces of about `rows` games, in order. They do not depend on what has been played already."""
        for kind in KINDS:
            total = self.total(kind)
            if total:
                step = max(1, rows // self.games_of_board)
                ends = np.linspace(0, total, -(-total // step) + 1).round().astype(int).tolist()
                yield from (Unit(kind, low, high) for low, high in itertools.pairwise(ends))

    def frame(self) -> dict[str, Any]:
        """What two events must share for their games to be put together, as JSON has it."""
        return {
            "versions": versions(),
            "players": self.players,
            "rules": format_rules(self.rules),
            "rules_fields": self.rules.to_dict(),
            "max_deals": self.max_deals,
            "start_scores": START_SCORES,
            "records": self.records,
            "max_faults": self.max_faults,
            "sources": list(COLUMNS),
            "luck": DIGEST if self.luck else None,
        }

    def run(self) -> dict[str, Any]:
        """The rest of the plan: who plays how many boards, as JSON has it."""
        return {
            "agents": self.names,
            "field": self.field,
            "boards": self.boards,
            "matches": self.matches,
            "seed": self.seed,
        }


def _draw(root: int, number: int, count: int, players: int) -> list[int]:
    """`players` different ones of `count`, in any order, each as likely as any other."""
    key = key_of(root, TABLES, number, 0)
    pool = list(range(count))
    return [pool.pop(int(unit(key, seat) * len(pool))) for seat in range(players)]


def is_name(name: object) -> bool:
    """Whether this is text that can be written as JSON and into a page: not bytes of a path that are no UTF-8."""
    return isinstance(name, str) and name == name.encode("utf-8", "replace").decode()


def check_agents(agents: object) -> None:
    """Checks that these are agents by name.

    Raises:
        SetupError: they are not.
    """
    if not isinstance(agents, Mapping):
        raise SetupError(
            "agents: a mapping from names to agents is needed, {'novice': agents.load('heuristic:novice')}"
        )
    if not agents:
        raise SetupError("agents: none given; at least one is needed")
    if len(agents) > MAX_AGENTS:
        raise SetupError(f"agents: {len(agents)} given; at most {MAX_AGENTS} can take part")
    for name, agent in agents.items():
        if not is_name(name):
            raise SetupError(f"agents: {name!r} is no name; a name is text that UTF-8 can write")
        if not isinstance(agent, str) and (isinstance(agent, type) or not callable(getattr(agent, "act", None))):
            raise SetupError(f"agents[{name!r}]: {agent!r} has no method `act` of an object")


def check_plan(
    agents: Mapping[str, Agent | str],
    *,
    players: int = 2,
    rules: str | Mapping[str, object] | Rules = "pagat",
    field: str = "pairs",
    boards: int = 1000,
    matches: int = 200,
    seed: int = 0,
    max_deals: int = MAX_DEALS,
    records: bool = False,
    max_faults: int = 0,
    luck: bool = False,
) -> Plan:
    """The plan of an event, checked.

    Args:
        agents: agents by name, or what `agents.load` takes.
        players: seats at a table, 2 to 6.
        rules: preset name, notation, mapping or `Rules`.
        field: who meets whom, one of `FIELDS`.
        boards: boards of single deals.
        matches: boards of whole matches.
        seed: root of all chance, 0 <= seed < 2**63.
        max_deals: deals after which a match is truncated.
        records: keep what records of the games need.
        max_faults: faults after which an agent forfeits the rest; 0: the first fault ends the event.
        luck: measure the luck of the draw in single deals.

    Raises:
        SetupError: an impossible argument.
        RulesError: impossible rules or number of players.
        OSError: a checkpoint cannot be read.
        MissingExtra: scipy or choix is not installed.
    """
    check_agents(agents)
    if field not in FIELDS:
        raise SetupError(f"field: {field!r} is not one of {', '.join(FIELDS)}{suggestion(str(field), FIELDS)}")
    players = check_players(players)
    if field == "tables" and len(agents) < players:
        raise SetupError(f"field: tables of {players} different agents cannot be drawn from {len(agents)}")
    require(*STATISTICS)
    return Plan(
        entrants_of(agents),
        players,
        parse_rules(rules),
        next(name for name in FIELDS if name == field),
        check_int("boards", boards, 0, MAX_BOARDS),
        check_int("matches", matches, 0, MAX_BOARDS),
        check_int("seed", seed, 0, SEED_LIMIT - 1),
        check_int("max_deals", max_deals, 1, MAX_MATCH_DEALS),
        bool(records),
        check_int("max_faults", max_faults, 0, MAX_BOARDS),
        bool(luck),
    )


def check_anchor(anchor: str | None, names: list[str]) -> str:
    """The agent whose rating is 0, by default the first.

    Raises:
        SetupError: none of the agents.
    """
    if anchor is not None and anchor not in names:
        raise SetupError(f"anchor: {anchor!r} is none of the agents{suggestion(str(anchor), names)}")
    return names[0] if anchor is None else anchor


def versions() -> dict[str, Any]:
    """Versions that results depend on, as JSON has them."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to import

    try:
        package = version("chicago-env")
    except PackageNotFoundError:  # run from a checkout that is not installed
        package = None
    return {
        "chicago_env": package,
        "observation": OBSERVATION_VERSION,
        "layout_hash": layout_hash(),
        "actions": ACTION_VERSION,
    }
