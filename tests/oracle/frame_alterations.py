"""Ways to falsify what stands around the events of a record: scores, result, rules, and the form itself.

Each takes (record, rng), alters the record in place and returns whether the record offered a place for it.
"""

from __future__ import annotations

import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
Alteration = Callable[[Record, random.Random], bool]


def _deal_score_changed(record: Record, rng: random.Random) -> bool:
    scores = rng.choice(record["deals"])["scores"]
    scores[rng.randrange(len(scores))] += rng.choice([-1, 1, 15])
    return True


def _deal_score_missing(record: Record, rng: random.Random) -> bool:
    rng.choice(record["deals"])["scores"].pop()
    return True


def _wrong_dealer(record: Record, rng: random.Random) -> bool:
    deal = rng.choice(record["deals"])
    deal["dealer"] = (deal["dealer"] + 1) % record["players"]
    return True


def _wrong_first_dealer(record: Record, rng: random.Random) -> bool:
    record["first_dealer"] = (record["first_dealer"] + 1) % record["players"]
    return True


def _first_dealer_no_seat(record: Record, rng: random.Random) -> bool:
    record["first_dealer"] = record["players"]
    return True


def _start_score_changed(record: Record, rng: random.Random) -> bool:
    # A reset, or a penalty of all points, may hide what the score was.
    events = record["deals"][0]["events"]
    if any(event[0] == "reset" for event in events) or record["rules"]["buy_stop_penalty"] == "all":
        return False
    record["start_scores"][rng.randrange(record["players"])] += 1
    return True


def _start_score_missing(record: Record, rng: random.Random) -> bool:
    record["start_scores"].pop()
    return True


def _final_score_changed(record: Record, rng: random.Random) -> bool:
    record["result"]["scores"][rng.randrange(record["players"])] += rng.choice([-1, 1])
    return True


def _winner_changed(record: Record, rng: random.Random) -> bool:
    winner = record["result"]["winner"]
    record["result"]["winner"] = 0 if winner is None else (winner + 1) % record["players"]
    return True


def _winner_removed(record: Record, rng: random.Random) -> bool:
    if record["result"]["winner"] is None:
        return False
    record["result"]["winner"] = None
    return True


def _reason_changed(record: Record, rng: random.Random) -> bool:
    reason = record["result"]["reason"]
    record["result"]["reason"] = rng.choice([r for r in ("target", "instant", "truncated", "resigned") if r != reason])
    return True


def _unfinished(record: Record, rng: random.Random) -> bool:
    record["result"] = None
    return True


def _result_lacks_a_field(record: Record, rng: random.Random) -> bool:
    del record["result"][rng.choice(["scores", "winner", "reason"])]
    return True


def _last_deal_missing(record: Record, rng: random.Random) -> bool:
    record["deals"].pop()
    return True


def _first_deal_missing(record: Record, rng: random.Random) -> bool:
    del record["deals"][0]
    return True


def _deal_too_many(record: Record, rng: random.Random) -> bool:
    record["deals"].append(record["deals"][0])
    return True


def _deals_swapped(record: Record, rng: random.Random) -> bool:
    deals = record["deals"]
    if len(deals) < 2:
        return False
    deals[0], deals[1] = deals[1], deals[0]
    return True


def _max_deals_too_small(record: Record, rng: random.Random) -> bool:
    record["max_deals"] = len(record["deals"]) - 1
    return True


def _truncated_too_soon(record: Record, rng: random.Random) -> bool:
    if record["result"]["reason"] != "truncated":
        return False
    record["max_deals"] += 1
    return True


def _wrong_number_of_players(record: Record, rng: random.Random) -> bool:
    record["players"] += rng.choice([-1, 1])
    return True


def _name_missing(record: Record, rng: random.Random) -> bool:
    record["names"].pop()
    return True


def _name_no_text(record: Record, rng: random.Random) -> bool:
    record["names"][0] = 7
    return True


def _another_format(record: Record, rng: random.Random) -> bool:
    record["format"] = "hearts-record"
    return True


def _another_version(record: Record, rng: random.Random) -> bool:
    record["version"] = 2
    return True


def _field_missing(record: Record, rng: random.Random) -> bool:
    del record[rng.choice(["rules", "players", "start_scores", "first_dealer", "max_deals", "deals", "result"])]
    return True


def _deal_field_missing(record: Record, rng: random.Random) -> bool:
    deal = rng.choice(record["deals"])
    del deal[rng.choice(sorted(deal))]
    return True


def _text_for_a_list(record: Record, rng: random.Random) -> bool:
    deal = rng.choice(record["deals"])
    deal[rng.choice(["deck", "events", "scores"])] = "none"
    return True


def _events_no_lists(record: Record, rng: random.Random) -> bool:
    events = rng.choice(record["deals"])["events"]
    events[rng.randrange(len(events))] = rng.choice([None, 3, "play", {}, []])
    return True


# Rules


def _rule_missing(record: Record, rng: random.Random) -> bool:
    del record["rules"][rng.choice(sorted(record["rules"]))]
    return True


def _rule_unknown(record: Record, rng: random.Random) -> bool:
    record["rules"]["jokers"] = 2
    return True


def _rule_impossible(record: Record, rng: random.Random) -> bool:
    field, value = rng.choice(
        [
            ("target", 0),
            ("finish", "never"),
            ("exchanges", 4),
            ("scored_exchanges", []),
            ("open_card", 1),
            ("hand_points", [0, 1, 2]),
            ("hand_points", [1, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            ("instant_win", [0]),
            ("instant_win", [10]),
            ("four_of_a_kind", "reset7"),
            ("suit_order", "HSD"),
            ("suit_order", "HHSD"),
            ("tie_reveal", "all"),
            ("chicago_success_scores", ["tricks"]),
            ("buy_stop_penalty", 16),
            ("win_needs_chicago", "call"),
            ("announcing", "silent"),
        ]
    )
    record["rules"][field] = value
    return True


def _win_needs_chicago_without_chicago(record: Record, rng: random.Random) -> bool:
    record["rules"]["chicago"] = False
    record["rules"]["win_needs_chicago"] = "attempt"
    return True


def _score_by_another_rule(record: Record, rng: random.Random) -> bool:
    """A point value changes in the rules that a score event of the record shows."""
    events = [event for deal in record["deals"] for event in deal["events"]]
    why = {event[3] for event in events if event[0] == "score"}
    rules = record["rules"]
    if "last_trick" in why:
        rules["last_trick_points"] += 1
    elif "chicago" in why:
        rules["chicago_points"] += 1
        rules["chicago_penalty"] += 1
    elif "hand" in why:
        rules["hand_points"] = [0] + [points + 1 for points in rules["hand_points"][1:]]
    return bool(why)


def _another_number_of_exchanges(record: Record, rng: random.Random) -> bool:
    # In the first deal, a match that ends early may not get so far as to tell.
    rules = record["rules"]
    if not any(event[0] == "play" for event in record["deals"][0]["events"]):
        return False
    rules["exchanges"] = rules["exchanges"] % 3 + 1
    rules["scored_exchanges"] = (rules["scored_exchanges"] + [True, True])[: rules["exchanges"]]
    return True


def _chicago_struck_from_the_rules(record: Record, rng: random.Random) -> bool:
    asked = any(event[0] == "chicago" for deal in record["deals"] for event in deal["events"])
    record["rules"].update(chicago=False, win_needs_chicago=None)
    return asked


FRAME_ALTERATIONS: dict[str, Alteration] = {
    name.strip("_").replace("_", " "): function
    for name, function in list(globals().items())
    if name.startswith("_") and callable(function) and getattr(function, "__module__", "") == __name__
}
