"""How a match starts: players, rules, seed, scores, dealer, decks and length. The same for games, batches and records."""

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from chicago_env.cards import NUM_CARDS, card_name, parse_card
from chicago_env.errors import RulesError, SetupError
from chicago_env.notation import parse_rules
from chicago_env.rules import Rules, check_players

MAX_DEALS = 200
"""Deals after which a match is truncated, unless `max_deals` says otherwise."""

MAX_MATCH_DEALS = 1_000_000
MAX_START_SCORE = 1_000_000
SEED_LIMIT = 1 << 63

NO_DECKS = np.zeros((0, NUM_CARDS), dtype=np.int8)
NO_DECKS.flags.writeable = False

Decks = np.ndarray[Any, np.dtype[np.int8]]


@dataclasses.dataclass(frozen=True)
class MatchSetup:
    """Everything that fixes a match but the actions.

    Attributes:
        players: P, 2 to 6.
        rules: the rules in force.
        seed: key of all chance, 0 <= seed < 2**63.
        scores: P start scores; () stands for 0 everywhere.
        first_dealer: seat of the first dealer; None draws it by the seed.
        max_deals: the match is truncated after so many deals.
        decks: the first K deals card by card, `decks[k, 0]` dealt first; later deals are keyed by the seed.

    Raises:
        RulesError: no `Rules`, or an impossible number of players.
        SetupError: anything else that cannot be played; the message names the field.
    """

    players: int
    rules: Rules
    seed: int = 0
    scores: tuple[int, ...] = ()
    first_dealer: int | None = None
    max_deals: int = MAX_DEALS
    decks: Decks = dataclasses.field(default_factory=lambda: NO_DECKS, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Rules):
            raise RulesError(f"rules: {self.rules!r} is not Rules; MatchSetup.make takes text", value=self.rules)
        players = check_players(self.players)
        dealer = self.first_dealer
        given: object = self.scores
        scores = None if isinstance(given, tuple) and not given else given
        fields = {
            "players": players,
            "seed": check_int("seed", self.seed, 0, SEED_LIMIT - 1),
            "scores": check_scores(scores, players),
            "first_dealer": None if dealer is None else check_int("first_dealer", dealer, 0, players - 1),
            "max_deals": check_int("max_deals", self.max_deals, 1, MAX_MATCH_DEALS),
            "decks": check_decks(self.decks),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def make(
        cls,
        players: int,
        rules: str | Mapping[str, object] | Rules = "pagat",
        *,
        seed: int = 0,
        scores: Sequence[int] | None = None,
        first_dealer: int | None = None,
        max_deals: int = MAX_DEALS,
        decks: Sequence[Sequence[int]] | np.ndarray[Any, Any] | None = None,
    ) -> "MatchSetup":
        """Checks everything.

        Args:
            players: number of players, 2 to 6.
            rules: preset name, notation (`"pagat+target=51"`), mapping or `Rules`.
            seed: 0 <= seed < 2**63.
            scores: start scores, one for each seat; all 0 by default.
            first_dealer: a seat, or None for a draw by the seed.
            max_deals: at least 1.
            decks: K decks of 52 different cards, as ids or names (`"AS"`); a single deck stands in a list of one.

        Raises:
            RulesError: rules or number of players.
            SetupError: anything else; the message names the argument.
        """
        players = check_players(players)
        start = check_scores(scores, players)
        return cls(players, parse_rules(rules), seed, start, first_dealer, max_deals, check_decks(decks))


def check_int(name: str, value: object, low: int, high: int) -> int:
    """`value` as an int of low … high.

    Raises:
        SetupError: not an integer, or outside the range.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]  # what has no __index__ raises TypeError
    except TypeError:
        raise SetupError(f"{name}: {value!r} is not an integer") from None
    if not low <= number <= high:
        raise SetupError(f"{name}: {number} is not within {low} to {high}")
    return number


def check_flag(name: str, value: object) -> bool:
    """`value` as a bool.

    Raises:
        SetupError: neither True nor False.
    """
    if not isinstance(value, bool | np.bool_):
        raise SetupError(f"{name}: {value!r} is neither True nor False")
    return bool(value)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether it is a sequence or an array of values in their order: no text, no bytes, no set, no single number."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def check_scores(scores: Any, players: int) -> tuple[int, ...]:
    """Start scores of every seat, within ±1,000,000.

    Raises:
        SetupError: not one integer for each seat.
    """
    if scores is None:
        return (0,) * players
    if not is_list(scores) or len(scores) != players:
        raise SetupError(f"scores: {scores!r} is not a list of {players} start scores, one for each seat")
    return tuple(check_int(f"scores[{s}]", value, -MAX_START_SCORE, MAX_START_SCORE) for s, value in enumerate(scores))


def _card_id(value: object, where: str) -> int:
    if isinstance(value, str):
        return parse_card(value)
    return check_int(where, value, 0, NUM_CARDS - 1)


def check_decks(decks: Any) -> Decks:
    """Decks as (K, 52) int8, each a permutation of the 52 cards.

    Raises:
        SetupError: another shape, or a card that is missing or there twice.
        CardError: text that is no card.
    """
    if decks is None or decks is NO_DECKS:
        return NO_DECKS
    if not is_list(decks):
        raise SetupError(f"decks: {decks!r} is not a list of decks")
    result = np.zeros((len(decks), NUM_CARDS), dtype=np.int8)
    for k, deck in enumerate(decks):
        if not is_list(deck) or len(deck) != NUM_CARDS:
            raise SetupError(f"decks[{k}] is not a list of {NUM_CARDS} cards")
        ids = [_card_id(card, f"decks[{k}][{i}]") for i, card in enumerate(deck)]
        if len(set(ids)) != NUM_CARDS:
            twice = next(card for i, card in enumerate(ids) if card in ids[:i])
            raise SetupError(f"decks[{k}]: {card_name(twice)} is there twice")
        result[k] = ids
    result.flags.writeable = False
    return result
