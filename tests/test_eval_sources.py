"""Points by source and counts of decisions, against a slow count over the events of the same game."""

import collections

import numpy as np
import pytest

from chicago_env.actions import ACCEPT, CALL, OPEN, PASS
from chicago_env.game import Game
from chicago_env.notation import parse_rules
from chicago_env.records.events import decode
from chicago_env.setup import MatchSetup
from chicago_env.vector import GameBatch
from eval.sources import COLUMNS, COUNTS, POINTS, points_of, sources_of
from tests.play import PLAYERS, RULE_SETS, pick


def played(rules: str, players: int, games: int, seed: int) -> tuple[GameBatch, np.ndarray, np.ndarray]:
    """Random matches from all kinds of scores, their sources, and what each seat gained."""
    rng = np.random.default_rng(seed)
    parsed = parse_rules(rules)
    starts = rng.integers(-20, parsed.target, (games, players))
    setups = [
        MatchSetup(
            players, parsed, seed=int(rng.integers(1 << 40)), scores=tuple(row), first_dealer=i % players, max_deals=4
        )
        for i, row in enumerate(starts.tolist())
    ]
    batch = GameBatch(setups, keep_choices=True)
    while len(live := batch.live):
        _, mask = batch.observe(live)
        mask[mask[:, CALL] > 0, CALL] = rng.random() < 0.3
        batch.step(live, pick(mask, rng))
    assert batch.choices is not None
    return batch, sources_of(batch.setups, batch.choices), batch.states["scores"][:, :players] - starts


def slow_count(setup: MatchSetup, choices: bytes) -> list[collections.Counter]:
    """The same columns, by name, from the game played again one decision at a time."""
    game, at = Game(setup=setup), 0
    counts = [collections.Counter(deals=1) for _ in range(setup.players)]
    scores, deal_tricks = list(setup.scores), collections.Counter()
    announcing = 0
    while not game.over:
        seat, phase, legal, stage = game.seat, game.phase, game.legal_actions(), int(game.state["stage"])
        mine = counts[seat]
        r = int(game.state["round"]) + 1
        action = legal[0]
        if len(legal) > 1 and at == len(choices):
            return counts
        if len(legal) > 1:
            action, at = choices[at], at + 1
        if phase == "exchange" and len(legal) > 1:
            mine[f"turns_{r}"] += 1
            mine[f"cards_{r}"] += bin(action).count("1")
            mine[f"pat_{r}"] += action == 0
        if phase == "announce":
            mine["nameable"] += legal != [PASS]
            mine["named"] += action != PASS
        mine["asked"] += phase == "chicago"
        mine["called"] += phase == "chicago" and action == CALL
        mine["open"] += phase == "open_choice" and action == OPEN
        mine["accepted"] += phase == "open_accept" and action == ACCEPT
        announcing = r if phase == "announce" or (phase == "four" and not stage) else 0
        words, start = game.step_logged(action), 0
        while start < len(words):
            event, start = decode(words, start)
            kind = event[0]
            if kind == "deal":
                deal_tricks.clear()
                for one in counts:
                    one["deals"] += 1
            elif kind == "trick":
                counts[event[1]]["tricks"] += 1
                deal_tricks[event[1]] += 1
            elif kind == "penalty":
                counts[event[1]]["penalty"] += event[2]
                scores[event[1]] += event[2]
            elif kind == "reset":
                counts[event[1]]["resets"] += 1
                for s, one in enumerate(counts):
                    if s != event[1]:
                        one["reset"] -= scores[s]
                        scores[s] = 0
            elif kind == "score":
                _, winner, points, why = event
                scores[winner] += points
                own = counts[winner]
                if why == "hand":
                    own[f"hand_{announcing}" if announcing else "showdown"] += points
                    own[f"best_{announcing}" if announcing else "best_shown"] += 1
                elif why == "chicago":
                    made = deal_tricks[winner] == 5
                    own["chicago_made" if made else "chicago_failed"] += points
                    own["made"] += made
                else:
                    own[why] += points
                    own["last_tricks"] += why == "last_trick"
    assert scores == game.scores
    return counts


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_points_add_up_and_all_counts_are_right(rules: str, players: int) -> None:
    batch, sources, gains = played(rules, players, 60, seed=players)
    assert (points_of(sources) == gains).all()
    for row in range(0, 60, 5):
        assert batch.choices is not None
        slow = slow_count(batch.setups[row], bytes(batch.choices[row]))
        for seat, one in enumerate(slow):
            found = dict(zip(COLUMNS, sources[row, seat].tolist(), strict=True))
            assert found == {name: one[name] for name in COLUMNS}


def test_every_column_is_reached() -> None:
    totals = np.zeros(len(COLUMNS), dtype=np.int64)
    for rules in RULE_SETS:
        for players in (2, 5):
            totals += np.abs(played(rules, players, 300, seed=1)[1]).sum(axis=(0, 1))
    assert dict(zip(COLUMNS, totals > 0, strict=True)) == {name: name != "fault" for name in COLUMNS}


def test_a_game_may_be_broken_off() -> None:
    batch, sources, _ = played("pagat", 2, 20, 3)
    assert batch.choices is not None
    half = [bytes(choices)[: len(choices) // 2] for choices in batch.choices]
    broken = sources_of(batch.setups, half)
    assert (broken.sum(axis=2) < sources.sum(axis=2)).all()
    longer = slow_count(batch.setups[3], half[3])
    assert broken[3, 0].tolist() == [longer[0][name] for name in COLUMNS]
    assert sources_of([], []).shape == (0, 0, len(COLUMNS))


def test_columns_have_one_name_each() -> None:
    assert len(set(COLUMNS)) == len(POINTS) + len(COUNTS) == len(COLUMNS)
