"""Plays matches with the engine and the oracle side by side and compares every decision, event and score.

`python -m tests.compare_with_oracle --matches 10000 --seed 0` prints what was compared and what came up.
Half of the matches have decks arranged so that rare hands are dealt, the others the engine's own keyed cards.
"""

from __future__ import annotations

import argparse
import dataclasses
import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
import sys
from collections import Counter, deque
from typing import Any

import numpy as np

from chicago_env.engine.log import CAPACITY
from chicago_env.game import cards_of, new_states
from chicago_env.kernels import single
from chicago_env.records import record_of, verify_record
from chicago_env.records.events import decode
from chicago_env.rules import Rules
from chicago_env.setup import MatchSetup
from chicago_env.state import OVER, PHASES, REASONS
from tests.oracle import OracleMatch
from tests.oracle.cards import CARD_OF, category_of
from tests.oracle.random_play import KINDS, POLICIES, arranged_deck, pick, random_start_scores
from tests.oracle.random_rules import named_rules, random_rules
from tests.oracle.verify import comparable
from tests.oracle.verify import verify_record as oracle_verifies

PHASE_OF = {"one_card": "open_choice", "face_up": "open_accept"}
"""Phases that the oracle calls otherwise."""


class Disagreement(AssertionError):
    """Engine and oracle differ."""


@dataclasses.dataclass
class Task:
    """What to play: rules with their name, and whether the decks are arranged."""

    name: str
    rules: dict[str, Any]
    players: int
    arranged: bool
    seed: int


@dataclasses.dataclass
class Engine:
    """A match of the engine, with the events of the last step."""

    setup: MatchSetup
    events: list[list[Any]] = dataclasses.field(default_factory=list)
    choices: bytearray = dataclasses.field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.states = new_states([self.setup])
        self.log = np.zeros(CAPACITY, dtype=np.int32)
        self.log[0] = 1
        dealer = -1 if self.setup.first_dealer is None else self.setup.first_dealer
        single.start(self.states, self.setup.seed, dealer, self.setup.max_deals, self.setup.decks, self.log)
        self._read()

    def __getitem__(self, name: str) -> int:
        return int(self.states[name][0])

    def legal(self) -> list[int]:
        base, bits = single.legal(self.states)
        return [base + i for i in cards_of(bits)]

    def step(self, action: int) -> None:
        if len(self.legal()) > 1:
            self.choices.append(action)
        if not single.step(self.states, self.setup.decks, action, self.log):
            raise Disagreement(f"the engine refuses {action}")
        self._read()

    def _read(self) -> None:
        words = self.log[: self.log[0]].tolist()
        self.log[0] = at = 1
        self.events = []
        while at < len(words):
            event, at = decode(words, at)
            self.events.append(event)

    @property
    def scores(self) -> list[int]:
        return [int(score) for score in self.states["scores"][0, : self.setup.players]]


class Cards:
    """Gives the oracle the cards that the engine has just dealt, drawn and shuffled."""

    def __init__(self, engine: Engine, *, arranged: bool) -> None:
        self.engine = engine
        self.arranged = arranged
        self.deck: list[int] = []
        self.drawn: deque[int] = deque()
        self.new_stock: list[int] | None = None
        self.drawn_at: dict[tuple[int, int, int], int] = {}
        self.note()

    def note(self) -> None:
        """Takes up the events of the engine's last step."""
        self.drawn.clear()
        self.new_stock = None
        accepted = None
        for event in self.engine.events:
            if event[0] == "deal":
                dealt = [CARD_OF[card] for card in event[2]]
                self.deck = dealt + [card for card in range(52) if card not in dealt]
            elif event[0] == "open":
                accepted = event[2] if event[3] else None
            elif event[0] == "exchange":
                self.drawn.extend(CARD_OF[card] for card in event[3] if card != accepted)
            elif event[0] == "reshuffle":
                self.new_stock = [CARD_OF[card] for card in event[1]]
        if PHASES[self.engine["phase"]] == "open_accept":
            self.drawn.append(self.engine["upcard"])

    def deck_of(self, deal: int) -> list[int]:
        if self.arranged:
            return [int(card) for card in self.engine.setup.decks[deal]]
        return self.deck

    def draw_of(self, deal: int, seat: int, k: int) -> int:
        self.drawn_at[deal, seat, k] = self.drawn[0]
        return self.drawn.popleft()

    def reshuffle_of(self, deal: int, n: int, cards: list[int]) -> list[int]:
        if self.new_stock is None:
            raise Disagreement(f"deal {deal}: the oracle reshuffles and the engine does not")
        return self.new_stock


def tasks(matches: int, seed: int) -> list[Task]:
    """Every preset, and every preset with each variant, in turn for 2-6 players; every third rules are random."""
    rng = random.Random(seed)
    named = named_rules()
    result = []
    turn = 0
    for i in range(matches):
        if i % 3 == 2:
            name, rules, players = "random", random_rules(rng), rng.randint(2, 6)
        else:
            name, rules = named[turn % len(named)]
            players = 2 + turn // len(named) % 5
            turn += 1
        result.append(Task(name, rules, players, i // 3 % 2 == 0, rng.randrange(1 << 62)))
    rng.shuffle(result)
    return result


def setup_of(task: Task, rng: random.Random) -> MatchSetup:
    max_deals = rng.choice([1, 3, 4, 6])
    decks = [arranged_deck(rng, rng.choice(KINDS), task.players) for _ in range(max_deals)] if task.arranged else None
    return MatchSetup.make(
        task.players,
        Rules.from_dict(task.rules, complete=True),
        seed=task.seed,
        scores=random_start_scores(rng, task.players, task.rules["target"]),
        first_dealer=rng.choice([None, rng.randrange(task.players)]),
        max_deals=max_deals,
        decks=decks,
    )


def _same(what: str, engine: object, oracle: object, where: str) -> None:
    if engine != oracle:
        raise Disagreement(f"{where}: {what}: engine {engine}, oracle {oracle}")


def play_both(task: Task, engine_rules: Rules | None = None) -> tuple[dict[str, Any], Counter[str]]:
    """Plays a match with both; returns its record and counts of what came up.

    engine_rules: other rules for the engine, to see that the comparison finds out.

    Raises:
        Disagreement: the first difference.
    """
    rng = random.Random(task.seed)
    setup = setup_of(task, rng)
    if engine_rules is not None:
        setup = dataclasses.replace(setup, rules=engine_rules)
    engine = Engine(setup)
    cards = Cards(engine, arranged=task.arranged)
    oracle = OracleMatch(
        task.rules,
        task.players,
        deck_of=cards.deck_of,
        reshuffle_of=cards.reshuffle_of,
        draw_of=None if task.arranged else cards.draw_of,
        start_scores=setup.scores,
        first_dealer=engine["first_dealer"],
        max_deals=setup.max_deals,
        seed=setup.seed,
        names=[f"player {seat}" for seat in range(task.players)],
    )
    policy = rng.choice(POLICIES)
    counts: Counter[str] = Counter()
    told = 0
    deals = 1
    while not oracle.over:
        where = f"{task.name}, {task.players} players, seed {task.seed}, deal {deals - 1}, event {told}"
        _same("phase", PHASES[engine["phase"]], PHASE_OF.get(oracle.phase, oracle.phase), where)
        _same("seat", engine["to_act"], oracle.to_act, where)
        _same("legal", engine.legal(), oracle.legal(), where)
        if oracle.phase == "play" and engine["turn"] == 0 and engine["trick"] == 0:
            counts.update(f"hand {category_of(oracle.hand(seat))}" for seat in range(task.players))
        action = pick(oracle, rng, policy)
        counts["decisions"] += 1
        engine.step(action)
        cards.note()
        oracle.step(action)
        new = [event for event in engine.events if event[0] != "deal"]
        if ["deal_end"] in new:
            at = new.index(["deal_end"])
            _compare_events(new[:at], oracle.deals[deals - 1]["events"][told:], where)
            _same("events of the next deal", new[at + 1 :], [] if oracle.over else oracle.events, where)
            told = 0
            deals += 1
        else:
            _compare_events(new, oracle.events[told:], where)
            told += len(new)
        _same("scores", engine.scores, oracle.scores, where)
    where = f"{task.name}, {task.players} players, seed {task.seed}"
    _same("over", engine["phase"], OVER, where)
    winner = engine["winner"] if engine["winner"] >= 0 else None
    _same("winner", winner, oracle.winner, where)
    _same("reason", REASONS[engine["reason"]], oracle.reason, where)
    record = record_of(setup, bytes(engine.choices))
    _same("rules", Rules.from_dict(record["rules"], complete=True), setup.rules, where)
    _compare_records(record, oracle.record(), where)
    verify_record(record)
    oracle_verifies(record)
    _count(record, counts)
    return record, counts


def _compare_events(engine: list[list[Any]], oracle: list[list[Any]], where: str) -> None:
    if list(map(comparable, engine)) != list(map(comparable, oracle)):
        raise Disagreement(f"{where}: events: engine {engine}, oracle {oracle}")


def _compare_records(engine: dict[str, Any], oracle: dict[str, Any], where: str) -> None:
    for name in engine.keys() | oracle.keys():
        if name == "deals":
            _same("number of deals", len(engine["deals"]), len(oracle["deals"]), where)
            for mine, other in zip(engine["deals"], oracle["deals"], strict=True):
                _compare_events(mine["events"], other["events"], where)
                dealt = 5 * engine["players"] + sum(len(e[3]) for e in mine["events"] if e[0] == "exchange")
                _same("deck", mine["deck"][:dealt], other["deck"][:dealt], where)
                _same("dealer and scores", (mine["dealer"], mine["scores"]), (other["dealer"], other["scores"]), where)
        elif name != "rules":
            _same(name, engine.get(name), oracle.get(name), where)


def _count(record: dict[str, Any], counts: Counter[str]) -> None:
    counts["matches"] += 1
    counts["deals"] += len(record["deals"])
    counts[f"ended: {record['result']['reason']}"] += 1
    for deal in record["deals"]:
        counts["events"] += len(deal["events"])
        before = ""
        for event in deal["events"]:
            match event:
                case ["show", *_]:
                    counts["shown in a tie" if before in {"announce", "show"} else "broken hand shown"] += 1
                case ["score", _, points, "chicago"]:
                    counts["Chicago made" if points > 0 else "Chicago failed"] += 1
                case ["score", _, _, why]:
                    counts[f"scored: {why}"] += 1
                case ["open", _, _, taken]:
                    counts["open card accepted" if taken else "open card declined"] += 1
                case ["four", _, choice]:
                    counts[f"four of a kind: {choice}"] += 1
                case ["announce", _, category] if category >= 7:
                    counts[f"announced {category}"] += 1
                case ["exchange" | "play" | "trick" | "announce" | "chicago", *_]:
                    pass
                case [kind, *_]:
                    counts[kind] += 1
            before = event[0]


HANDS = (
    *("high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind"),
    *("straight flush", "royal flush"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=1000, help="number of matches")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for i, task in enumerate(tasks(options.matches, options.seed)):
        try:
            total += play_both(task)[1]
        except Exception as error:
            print(f"match {i}, {task.name}, {task.players} players: {type(error).__name__}: {error}")
            return 1
        if sys.stderr.isatty() and i % 50 == 49:
            print(f"\r{i + 1} matches", end="", file=sys.stderr, flush=True)
    print(f"engine and oracle agree, seed {options.seed}:")
    for name in ("matches", "deals", "decisions", "events"):
        print(f"  {total.pop(name, 0):>9,} {name}")
    print("came up:")
    for category in range(9, 0, -1):
        print(f"  {total.pop(f'hand {category}', 0):>9,} {HANDS[category]} taken into the tricks")
        if category >= 7:
            print(f"  {total.pop(f'announced {category}', 0):>9,} {HANDS[category]} announced")
    total.pop("hand 0", 0)
    for name, count in sorted(total.items()):
        print(f"  {count:>9,} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
