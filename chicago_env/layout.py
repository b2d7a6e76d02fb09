"""The observation, version 1: one flat `uint8` vector in named blocks, the same length for 2-6 players and all rules.

Seats are relative: 0 is the observer, 1 the seat to its left, and so on; the entries of seats that do not exist are 0.
`BLOCKS` is the only place where sizes and places stand; docs/observations.md is generated from it.
"""

import functools
import hashlib
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from chicago_env.cards import SUITS
from chicago_env.errors import ObservationError, RulesError
from chicago_env.rules import Rules

OBSERVATION_VERSION = 1

SEATS, ROUNDS, TRICKS, HAND, CARDS = 6, 3, 5, 5, 52
SMALL_OFFSET = 100  # clipped numbers: 0 stands for -100 or less, 255 for 155 or more
RULE_OFFSET = 1 << 15
SCORE_OFFSET = 1 << 31

ONE_HOT, BITS, CARD, NUMBER, SMALL, EXACT = "one-hot", "bits", "card + 1", "number", "clipped", "exact"
"""Kinds of entries. `card + 1`: 0 for none; `clipped`: number + 100, at least 0 and at most 255; `exact`: the bytes of a
number, most significant first, plus half of what they can hold."""


class Block(NamedTuple):
    """A named part of the observation.

    Attributes:
        name: name, as in `AT.name` and `slice_of(name)`.
        shape: shape of the part, its last axis varying fastest.
        kind: what an entry is, one of the kinds above.
        high: largest value of an entry.
        offset: a network's input is (entry - offset) / scale.
        scale: see `offset`.
        help: what it says.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    high: int
    offset: int
    scale: int
    help: str

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))


def _one_hot(name: str, *shape: int, text: str) -> Block:
    return Block(name, shape, ONE_HOT, 1, 0, 1, text)


def _bits(name: str, *shape: int, text: str) -> Block:
    return Block(name, shape, BITS, 1, 0, 1, text)


def _card(name: str, *shape: int, text: str) -> Block:
    return Block(name, shape, CARD, CARDS, 0, CARDS, text)


def _small(name: str, *shape: int, text: str) -> Block:
    return Block(name, shape, SMALL, 255, SMALL_OFFSET, 52, text)


def _exact(name: str, *shape: int, text: str) -> Block:
    return Block(name, shape, EXACT, 255, 0, 255, text)


RULE_FLAGS = (
    "first_past", "scored_1", "scored_2", "scored_3", "exchanges_1", "exchanges_2", "exchanges_3", "open_card",
    *(f"instant_{c}" for c in range(1, 10)),
    "four_points", "four_reset", "four_choose", "royal_resets", "suits", "compulsory", "reveal_ranks", "show_broken",
    "two_doubles", "showdown_first", "chicago", "threshold", "caller_leads",
    "success_last_trick", "success_hand", "failure_last_trick", "failure_hand",
    "buy_stop", "buy_stop_permanent", "penalty_points", "penalty_all", "needs_attempt", "needs_success",
)  # fmt: skip
"""Flags of the rules; `threshold`, `buy_stop` and `penalty_points` say that the number of that name is in force."""

RULE_NUMBERS = (
    "target", *(f"hand_points_{c}" for c in range(1, 10)), "last_trick_points", "chicago_threshold", "chicago_points",
    "chicago_penalty", "chicago_breaker_points", "buy_stop", "buy_stop_penalty",
    "suit_C", "suit_D", "suit_H", "suit_S",
)  # fmt: skip
"""Numbers of the rules, 0 where not in force; `suit_X` is the rank of a suit, 3 the best."""

EXACT_NUMBERS = RULE_NUMBERS[: RULE_NUMBERS.index("buy_stop_penalty")]
"""Those that a clipped entry may not hold."""

BLOCKS = (
    _one_hot("phase", 7, text="exchange, open_choice, open_accept, announce, four, chicago, play; all 0 when over"),
    _one_hot("round", ROUNDS, text="exchange round; stays at the last one afterwards"),
    _one_hot("trick", TRICKS, text="trick in progress; all 0 before the tricks"),
    _one_hot("players", SEATS - 1, text="number of players: 2, 3, 4, 5, 6"),
    _one_hot("dealer", SEATS, text="seat of the dealer"),
    _one_hot("to_act", SEATS, text="seat to act; all 0 when the match is over"),
    _bits("hand", CARDS, text="own hand, by card id"),
    _one_hot("hand_ranks", HAND, 13, text="rank of the i-th card of the own hand, sorted by card id (as exchange actions count)"),
    _one_hot("hand_suits", HAND, 4, text="suit of the i-th card of the own hand"),
    _one_hot("category", 10, text="category of the own five cards, in the tricks of those taken into them; all 0 while drawing"),
    _bits("group", HAND, text="which cards of the own hand make its category, before the tricks"),
    _bits("discards", CARDS, text="all own discards of this deal"),
    _card("discards_by_round", ROUNDS, HAND, text="own discards of each exchange, ascending"),
    _card("draws_by_round", ROUNDS, HAND, text="own draws of each exchange, ascending"),
    _one_hot("exchanged", ROUNDS, SEATS, 6, text="cards discarded, 0 to 5; all 0: not yet"),
    _one_hot("open", ROUNDS, SEATS, 4, text="one-card exchange: closed, open and not yet answered, accepted, declined"),
    _card("open_card", ROUNDS, SEATS, text="the face-up card of that exchange"),
    _bits("upcard", CARDS, text="the face-up card on offer now"),
    _bits("reshuffled", ROUNDS, SEATS, text="the stock was reshuffled in that seat's turn"),
    _one_hot("announced", ROUNDS, SEATS, 10, text="pass, category 1 to 9; all 0: not yet, or not an announcing"),
    _one_hot("best", 9, text="highest category named in the announcing in progress, 1 to 9"),
    _one_hot("standing", ROUNDS, SEATS, text="who stands in that announcing"),
    _bits("tied", ROUNDS, text="the best hands of that announcing tie"),
    _card("shown", ROUNDS, SEATS, HAND, text="hands shown in that announcing, ascending"),
    Block("shown_ranks", (ROUNDS, SEATS, HAND), "rank + 1", 13, 0, 13, "ranks shown in that announcing, in the order compared"),
    Block("shown_suit", (ROUNDS, SEATS), "suit + 1", 4, 0, 4, "suit shown in that announcing"),
    _one_hot("breaker", ROUNDS - 1, SEATS, text="who broke a scored hand at the second and the third exchange"),
    _card("broken", ROUNDS - 1, HAND, text="the group then shown, ascending"),
    _bits("known", SEATS, CARDS, text="cards that everybody knows the seat to hold"),
    _bits("played", CARDS, text="cards played in this deal"),
    _bits("trick_cards", CARDS, text="cards of the trick in progress"),
    _card("plays", TRICKS, SEATS, text="card played to each trick"),
    _one_hot("winners", TRICKS, SEATS, text="winner of each completed trick"),
    _one_hot("leader", SEATS, text="leader of the trick in progress; before the tricks forehand"),
    _one_hot("led_suit", 4, text="suit led in the trick in progress"),
    _one_hot("winning_card", CARDS, text="card that wins the trick in progress so far"),
    _one_hot("winning_seat", SEATS, text="seat that wins the trick in progress so far"),
    _bits("void", SEATS, 4, text="seat has shown in play that it holds none of a suit"),
    _small("scores", SEATS, text="score"),
    _exact("scores_exact", SEATS, 4, text="score, exactly"),
    _bits("stopped", SEATS, text="under buy stop in this deal"),
    _bits("attempted", SEATS, text="has called a Chicago in this match"),
    _bits("succeeded", SEATS, text="has made a Chicago in this match"),
    _one_hot("asked", SEATS, 2, text="asked for a Chicago: declined, called"),
    _one_hot("caller", SEATS, text="caller of the Chicago"),
    _bits("failed", 1, text="the Chicago has failed"),
    _one_hot("four", ROUNDS + 1, 2, text="choice at a four of a kind, points or reset: three announcings and the showdown"),
    Block("stock", (1,), NUMBER, 52, 0, 52, "cards left in the stock"),
    Block("deal", (2,), EXACT, 255, 0, 255, "deals finished in this match, at most 65,535; two bytes without offset"),
    Block("deals_left", (2,), EXACT, 255, 0, 255, "deals after this one before the match is truncated; as `deal`"),
    _bits("rule_flags", len(RULE_FLAGS), text="rules: " + ", ".join(RULE_FLAGS)),
    _small("rule_numbers", len(RULE_NUMBERS), text="rules: " + ", ".join(RULE_NUMBERS)),
    _exact("rule_numbers_exact", len(EXACT_NUMBERS), 2, text="the same numbers up to buy_stop, exactly"),
)  # fmt: skip

BY_NAME = {block.name: block for block in BLOCKS}

_starts = np.concatenate([[0], np.cumsum([block.size for block in BLOCKS])])
OBSERVATION_SIZE = int(_starts[-1])
"""D, the length of an observation."""

_Offsets: Any = namedtuple("Offsets", list(BY_NAME))  # type: ignore[misc]  # the fields are those of the table above
AT: Any = _Offsets(*(int(start) for start in _starts[:-1]))
"""Place of the first entry of each block, by name: a plain tuple, which compiled code sees as constants."""

RULES_AT = AT.rule_flags
RULES_SIZE = OBSERVATION_SIZE - RULES_AT

STATE_BLOCKS = (
    _bits("hands", SEATS - 1, CARDS, text="hands of the other seats, from the left of the observer"),
    _bits("stock", CARDS, text="cards that can still be drawn"),
    _bits("pile", CARDS, text="discards that a reshuffle would bring back"),
)
"""What `state()` has after the observation: the cards that no seat sees."""

HIDDEN_SIZE = sum(block.size for block in STATE_BLOCKS)
"""H, the length of what `state()` has after the observation."""

STATE_SIZE = OBSERVATION_SIZE + HIDDEN_SIZE
"""Length of the vector of full information."""


def slice_of(name: str) -> slice:
    """The part of the observation that a block fills.

    Raises:
        KeyError: no block of that name.
    """
    start = int(getattr(AT, name)) if name in BY_NAME else None
    if start is None:
        raise KeyError(f"no block {name!r}; there are {', '.join(BY_NAME)}")
    return slice(start, start + BY_NAME[name].size)


def layout_hash() -> str:
    """16 hex digits that change with every change of the layout; stored in checkpoints beside the version."""
    text = repr([(b.name, b.shape, b.kind, b.high, b.offset, b.scale) for b in BLOCKS + STATE_BLOCKS])
    return hashlib.sha256(f"{OBSERVATION_VERSION} {text} {RULE_FLAGS} {RULE_NUMBERS}".encode()).hexdigest()[:16]


def _flags(rules: Rules) -> list[bool]:
    scored = [*rules.scored_exchanges, False, False][:ROUNDS]
    four = rules.four_of_a_kind
    success, failure = rules.chicago_success_scores, rules.chicago_failure_scores
    penalty = rules.buy_stop_penalty
    return [
        rules.finish == "first_past",
        *scored,
        *(rules.exchanges == n for n in (1, 2, 3)),
        rules.open_card,
        *(c in rules.instant_win for c in range(1, 10)),
        *(four == word for word in ("points", "reset", "choose")),
        rules.royal_resets,
        rules.suit_order is not None,
        rules.announcing == "compulsory",
        rules.tie_reveal == "ranks",
        rules.show_broken_hand,
        rules.last_trick_two_doubles,
        rules.showdown_first,
        rules.chicago,
        rules.chicago_threshold is not None,
        rules.chicago_caller_leads,
        "last_trick" in success,
        "hand" in success,
        "last_trick" in failure,
        "hand" in failure,
        rules.buy_stop is not None,
        rules.buy_stop_permanent,
        isinstance(penalty, int),
        penalty == "all",
        rules.win_needs_chicago == "attempt",
        rules.win_needs_chicago == "success",
    ]


def _numbers(rules: Rules) -> list[int]:
    order = rules.suit_order
    penalty = rules.buy_stop_penalty
    return [
        rules.target,
        *rules.hand_points[1:],
        rules.last_trick_points,
        rules.chicago_threshold or 0,
        rules.chicago_points,
        rules.chicago_penalty,
        rules.chicago_breaker_points,
        rules.buy_stop or 0,
        penalty if isinstance(penalty, int) else 0,
        *(0 if order is None else 3 - order.index(suit) for suit in SUITS),
    ]


def encode_rules(rules: Rules) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The blocks `rule_flags`, `rule_numbers` and `rule_numbers_exact`: (RULES_SIZE,) uint8."""
    numbers = np.array(_numbers(rules), dtype=np.int64)
    small = np.clip(numbers + SMALL_OFFSET, 0, 255)
    exact = numbers[: len(EXACT_NUMBERS)] + RULE_OFFSET
    return np.concatenate([_flags(rules), small, np.stack([exact >> 8, exact & 255], axis=1).ravel()]).astype(np.uint8)


@functools.lru_cache(maxsize=1024)
def decode_rules(block: bytes) -> Rules:
    """Inverse of `encode_rules`.

    Raises:
        ObservationError: no rules have this block.
    """
    flag = dict(zip(RULE_FLAGS, map(bool, block), strict=False))
    numbers = block[len(RULE_FLAGS) :]
    number = {name: numbers[i] - SMALL_OFFSET for i, name in enumerate(RULE_NUMBERS)}
    for i, name in enumerate(EXACT_NUMBERS):
        at = len(RULE_NUMBERS) + 2 * i
        number[name] = int.from_bytes(numbers[at : at + 2], "big") - RULE_OFFSET
    exchanges = next((n for n in (1, 2, 3) if flag[f"exchanges_{n}"]), 0)
    penalty: Any = "all" if flag["penalty_all"] else number["buy_stop_penalty"] if flag["penalty_points"] else None
    needs = "attempt" if flag["needs_attempt"] else "success" if flag["needs_success"] else None
    values: dict[str, Any] = {
        "target": number["target"],
        "finish": "first_past" if flag["first_past"] else "end_of_deal",
        "exchanges": exchanges,
        "scored_exchanges": [flag[f"scored_{r + 1}"] for r in range(exchanges)],
        "open_card": flag["open_card"],
        "hand_points": [0, *(number[f"hand_points_{c}"] for c in range(1, 10))],
        "instant_win": [c for c in range(1, 10) if flag[f"instant_{c}"]],
        "four_of_a_kind": next((word for word in ("points", "reset", "choose") if flag[f"four_{word}"]), None),
        "royal_resets": flag["royal_resets"],
        "suit_order": "".join(sorted(SUITS, key=lambda s: -number[f"suit_{s}"])) if flag["suits"] else None,
        "tie_reveal": "ranks" if flag["reveal_ranks"] else "cards",
        "show_broken_hand": flag["show_broken"],
        "last_trick_points": number["last_trick_points"],
        "last_trick_two_doubles": flag["two_doubles"],
        "chicago": flag["chicago"],
        "chicago_threshold": number["chicago_threshold"] if flag["threshold"] else None,
        "chicago_points": number["chicago_points"],
        "chicago_penalty": number["chicago_penalty"],
        "chicago_caller_leads": flag["caller_leads"],
        "chicago_success_scores": [what for what in ("last_trick", "hand") if flag[f"success_{what}"]],
        "chicago_failure_scores": [what for what in ("last_trick", "hand") if flag[f"failure_{what}"]],
        "chicago_breaker_points": number["chicago_breaker_points"],
        "buy_stop": number["buy_stop"] if flag["buy_stop"] else None,
        "buy_stop_permanent": flag["buy_stop_permanent"],
        "buy_stop_penalty": penalty,
        "win_needs_chicago": needs,
        "announcing": "compulsory" if flag["compulsory"] else "free",
        "showdown_first": flag["showdown_first"],
    }
    try:
        return Rules.from_dict(values, complete=True)
    except RulesError as error:
        raise ObservationError(f"the observation holds impossible rules: {error}") from None
