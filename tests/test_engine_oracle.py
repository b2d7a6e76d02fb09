"""The engine against the oracle: the same matches, compared decision by decision and event by event.

`python -m tests.compare_with_oracle` does the same for any number of matches and says what came up in them.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from chicago_env.rules import FIELDS, Rules
from tests.compare_with_oracle import Disagreement, Task, play_both, tasks
from tests.oracle.random_rules import named_rules

MANY = 10_000
CHUNK = 500


def test_random_matches_agree_and_reach_everything() -> None:
    counts: Counter[str] = Counter()
    for task in tasks(400, seed=0):
        counts += play_both(task)[1]
    assert counts["matches"] == 400
    for what in [
        *(f"hand {category}" for category in range(10)),
        *(f"announced {category}" for category in (7, 8, 9)),
        *("ended: target", "ended: instant", "ended: truncated", "Chicago made", "Chicago failed"),
        *("scored: hand", "scored: last_trick", "scored: breaker", "four of a kind: points", "four of a kind: reset"),
        *("open card accepted", "open card declined", "penalty", "reset", "reshuffle"),
        *("broken hand shown", "shown in a tie"),
    ]:
        assert counts[what] > 0, what


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY, CHUNK))
def test_many_random_matches_agree(start: int) -> None:
    for task in islice(tasks(MANY, seed=0), start, start + CHUNK):
        play_both(task)


def test_tasks_hold_every_preset_and_variant_with_every_number_of_players() -> None:
    found = {(task.name, task.players) for task in tasks(MANY, seed=0)}
    assert {(name, players) for name, _ in named_rules() for players in range(2, 7)} <= found
    arranged = Counter(task.arranged for task in tasks(MANY, seed=0))
    assert abs(arranged[True] - arranged[False]) <= 3


OTHER = {
    "target": 40,
    "finish": "first_past",
    "exchanges": 2,
    "scored_exchanges": (True, False, True),
    "open_card": True,
    "hand_points": (0, 1, 2, 3, 4, 5, 7, 7, 8, 52),
    "instant_win": frozenset({7, 8, 9}),
    "four_of_a_kind": "choose",
    "royal_resets": True,
    "suit_order": "SHDC",
    "tie_reveal": "ranks",
    "show_broken_hand": True,
    "last_trick_points": 6,
    "last_trick_two_doubles": True,
    "chicago": False,
    "chicago_threshold": 0,
    "chicago_points": 14,
    "chicago_penalty": 14,
    "chicago_caller_leads": True,
    "chicago_success_scores": ("hand",),
    "chicago_failure_scores": ("last_trick", "hand"),
    "chicago_breaker_points": 8,
    "buy_stop": 41,
    "buy_stop_permanent": True,
    "buy_stop_penalty": 15,
    "win_needs_chicago": "success",
    "announcing": "compulsory",
    "showdown_first": True,
}


@pytest.mark.parametrize("field", FIELDS)
def test_comparison_sees_a_difference_in_every_field_of_the_rules(field: str) -> None:
    """Else an engine that ignores the field would pass."""
    rules = Rules().to_dict()
    changes = {field: OTHER[field]}
    if field == "exchanges":
        changes["scored_exchanges"] = (True, True)
    other = Rules().replace(**changes)

    def play_all() -> None:
        for seed in range(500):
            play_both(Task(f"pagat, {field} changed", rules, 2 + seed % 3, seed % 8 > 0, seed), other)

    with pytest.raises(Disagreement):
        play_all()
