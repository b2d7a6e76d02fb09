"""Decks in which rare hands come up, and players that get somewhere, so that random matches reach every rule."""

from __future__ import annotations

import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
from collections import Counter
from collections.abc import Sequence

from tests.oracle.actions import ACCEPT, CALL, NO_CALL, PASS, PLAY
from tests.oracle.cards import FLUSH, PAIR, category_of, group_of, rank_of, suit_of
from tests.oracle.match import OracleMatch

KINDS = [
    "random",
    "four",
    "straight_flush",
    "royal",
    "full_house",
    "flush",
    "straight",
    "tied_pairs",
    "tied_two_pairs",
    "tied_straights",
    "chicago",
    "low",
    "draws",
]
POLICIES = ["uniform", "keen", "mixed"]


def _card(rank: int, suit: int) -> int:
    return rank * 4 + suit


def _aces_and_king(suit: int) -> list[int]:
    return [_card(12, other) for other in range(4)] + [_card(11, suit)]


def _hands(kind: str, rng: random.Random) -> list[list[int]]:
    """Cards (five or fewer each) for some players, all different."""
    rank, other = rng.sample(range(13), 2)
    a, b, c, d = rng.sample(range(4), 4)
    low = rng.randint(0, 7)
    singles = [_card(r, b) for r in rng.sample([r for r in range(13) if r not in (rank, other)], 3)]
    match kind:
        case "four":
            return [[_card(rank, suit) for suit in range(4)]]
        case "straight_flush":
            return [[_card(low + i, a) for i in range(5)], [_card(i, b) for i in (12, 0, 1, 2, 3)]]
        case "royal":
            return [[_card(rank, a) for rank in range(8, 13)]]
        case "full_house":
            return [[_card(rank, s) for s in (a, b, c)] + [_card(other, s) for s in (a, b)]]
        case "flush":
            return [[_card(r, suit) for r in rng.sample(range(13), 5)] for suit in (a, b)]
        case "straight":
            return [[_card(low + i, (a, b)[i % 2]) for i in range(5)]]
        case "tied_pairs":
            pairs = [[_card(rank, a), _card(rank, b)], [_card(rank, c), _card(rank, d)]]
            return [pair + [_card(rank_of(s), suit) for s in singles] for pair, suit in zip(pairs, (a, c), strict=True)]
        case "tied_two_pairs":
            return [
                [_card(r, s) for r in (rank, other) for s in suits] + [_card(rank_of(singles[0]), suits[0])]
                for suits in ((a, b), (c, d))
            ]
        case "tied_straights":
            return [[_card(low + i, s if i else t) for i in range(5)] for s, t in ((a, b), (b, a), (c, d))]
        case "chicago":
            return [_aces_and_king(a)]
        case "low":
            return [[_card(r, (a, b, c)[i % 3]) for i, r in enumerate((0, 1, 2, 3, 5))]]
        case "draws":
            return [[_card(low, suit) for suit in range(4)], [_card(royal, d) for royal in range(8, 13)]]
        case _:
            return []


def arranged_deck(rng: random.Random, kind: str, players: int) -> list[int]:
    """The 52 cards in the order of dealing and drawing, with hands of the kind dealt to some of the players.

    Half of the time (kind "draws": always) one card of each hand lies at the top of the stock instead, to be drawn.
    """
    hands = _hands(kind, rng)[:players]
    near_top = [hand.pop(rng.randrange(len(hand))) for hand in hands if kind == "draws" or rng.random() < 0.5]
    rng.shuffle(near_top)
    used = {card for hand in hands for card in hand} | set(near_top)
    rest = [card for card in rng.sample(range(52), 52) if card not in used]
    seats: list[list[int]] = [[] for _ in range(players)]
    places = [0] if kind == "chicago" else rng.sample(range(players), len(hands))  # 0: who leads the first trick
    for place, hand in zip(places, hands, strict=True):
        seats[place] = hand
    for seat in seats:
        while len(seat) < 5:
            seat.append(rest.pop())
        rng.shuffle(seat)
    dealt = [seats[place][i] for i in range(5) for place in range(players)]
    return dealt + near_top + rest


def _cards_to_keep(hand: Sequence[int], rng: random.Random) -> list[int]:
    suit, suited = Counter(map(suit_of, hand)).most_common(1)[0]
    if category_of(hand) >= PAIR:
        group = group_of(hand)
        return group if category_of(hand) < FLUSH and rng.random() < 0.9 else list(hand)
    if suited >= 3:
        return [card for card in hand if suit_of(card) == suit]
    return sorted(hand)[3:]


def _keen(match: OracleMatch, rng: random.Random) -> int:
    """An action of a player who keeps good hands, announces, and calls Chicago with high cards only."""
    legal = match.legal()
    seat = match.to_act
    assert seat is not None
    hand = match.hand(seat)
    match match.phase:
        case "exchange" if len(legal) > 1 and not (match.under_buy_stop[seat] and rng.random() < 0.7):
            keep = _cards_to_keep(hand, rng)
            return sum(1 << i for i, card in enumerate(hand) if card not in keep)
        case "exchange":
            return 0
        case "face_up" if rng.random() < 0.6:
            return ACCEPT
        case "announce":
            return legal[-1] if rng.random() < 0.9 else PASS if PASS in legal else legal[0]
        case "chicago":
            strong = sum(rank_of(card) >= 10 for card in hand) >= 4
            return CALL if rng.random() < (0.7 if strong else 0.05) else NO_CALL
        case "play" if rng.random() < 0.7:
            return max(legal, key=lambda action: (rank_of(action - PLAY), action))
    return rng.choice(legal)


def pick(match: OracleMatch, rng: random.Random, policy: str) -> int:
    """A legal action by the policy: uniform, keen, or mixed (one or the other, each time anew)."""
    if policy == "uniform" or (policy == "mixed" and rng.random() < 0.5):
        return rng.choice(match.legal())
    return _keen(match, rng)


def play_random(match: OracleMatch, rng: random.Random, policy: str = "mixed") -> list[int]:
    """Play to the end; returns the actions taken, forced ones included."""
    actions = []
    while not match.over:
        action = pick(match, rng, policy)
        match.step(action)
        actions.append(action)
    return actions


def random_start_scores(rng: random.Random, players: int, target: int) -> list[int]:
    """Start scores: mostly near the target, near the limits of buy stop and Chicago, sometimes past or below zero."""
    around = [0, 0, 14, 15, 41, 45, 46, target - 1, target - 6, target, -3]
    return [0] * players if rng.random() < 0.4 else [rng.choice(around) for _ in range(players)]


def random_match(
    rng: random.Random, rules: dict[str, object], players: int, max_deals: int = 4, kinds: Sequence[str] = KINDS
) -> OracleMatch:
    """A match by the rules with arranged decks, random start scores and a random first dealer."""
    target = rules["target"]
    assert isinstance(target, int)
    decks = [arranged_deck(rng, rng.choice(kinds), players) for _ in range(max_deals)]
    return OracleMatch(
        rules,
        players,
        deck_of=lambda deal: decks[deal],
        start_scores=random_start_scores(rng, players, target),
        first_dealer=rng.randrange(players),
        max_deals=max_deals,
        seed=rng.randrange(1000),
    )
