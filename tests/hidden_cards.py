"""Other worlds that a seat cannot tell from this one: cards that it has not seen change places."""

import random  # noqa: TID251  # keyed chance is what is tested
from collections import Counter
from collections.abc import Sequence

import numpy as np

from chicago_env.actions import discard_action
from chicago_env.bits import card_list
from chicago_env.errors import ChicagoError
from chicago_env.game import Game, cards_of
from chicago_env.hands import group_of, hand_value
from chicago_env.records.events import decode
from chicago_env.rules import Rules

Event = list[object]


def strong(game: Game, rng: random.Random) -> int:
    """A random action of a player that keeps and announces good hands and seldom calls Chicago."""
    legal = game.legal_actions()
    roll = rng.random()
    if game.phase == "exchange" and len(legal) > 1 and roll < 0.7:
        hand = game.hand(game.seat)
        kept = cards_of(group_of(int(game.state["hand"][game.seat]), int(game.state["value"][game.seat])))
        rest = [card for card in hand if card not in kept]
        return discard_action(hand, rest[:1] if roll < 0.3 else rest)  # one card may be drawn face up
    if game.phase == "announce" and roll < 0.8:
        return legal[-1]
    if game.phase == "chicago":
        return 49 if roll < 0.15 else 48
    return rng.choice(legal)


def seen_by(game: Game, seat: int) -> set[int]:
    """Cards of this deal whose place `seat` has ever been told."""
    state = game.state
    own = int(state["hand"][seat]) | int(state["held"][seat])
    cards = set(cards_of(own | int(state["played"])))
    for table in (
        state["discarded"][seat],
        state["received"][seat],
        state["shown"],
        state["open_card"],
        state["broken"],
    ):
        for cards_listed in table.ravel():
            cards.update(listed(cards_listed))
    return cards


def listed(cards: int) -> list[int]:
    """Card ids of a list of cards, or of a table of one card for each seat."""
    return [card - 1 for card in int(cards).to_bytes(8, "little") if card]


def shuffled(cards: Sequence[int], rng: random.Random, moved: int = 52) -> list[int]:
    """A permutation of the 52 cards that moves up to `moved` of `cards` and no others."""
    order = list(range(52))
    chosen = rng.sample(list(cards), min(moved, len(cards)))
    for card, to in zip(chosen, rng.sample(chosen, len(chosen)), strict=True):
        order[card] = to
    return order


def _moved(mask: int, order: Sequence[int]) -> int:
    return sum(1 << order[card] for card in cards_of(mask))


def with_other_hidden_cards(game: Game, seat: int, rng: random.Random) -> Game:
    """A copy in which all that `seat` has not seen is another card: in hands, stock, discards and their history."""
    twin = game.copy()
    hidden = sorted(set(range(52)) - seen_by(game, seat))
    order = shuffled(hidden, rng)
    state = twin._states[0]
    for s in range(game.players):
        if s == seat:
            continue
        state["hand"][s] = _moved(int(state["hand"][s]), order)
        state["held"][s] = _moved(int(state["held"][s]), order)
        five = int(state["held"][s]) or int(state["hand"][s])
        if len(cards_of(five)) == 5:
            state["value"][s] = hand_value(five)
        state["discards"][s] = _moved(int(state["discards"][s]), order)
        for table in ("discarded", "received"):
            for r in range(3):
                state[table][s, r] = card_list(sum(1 << order[card] for card in listed(state[table][s, r])))
    for name in ("pile", "pending"):
        state[name] = _moved(int(state[name]), order)
    for name in ("deck", "drawn", "next_stock"):
        state[name] = [order[card] for card in state[name]]
    state["seed"] = rng.randrange(1 << 62)
    return twin


# --- replaying ---


def told(words: list[int]) -> list[Event]:
    """Events of `Game.step_logged`."""
    events: list[Event] = []
    at = 0
    while at < len(words):
        event, at = decode(words, at)
        events.append(event)
    return events


def _compared_ranks(hand: Sequence[int]) -> list[int]:
    counts = Counter(card >> 2 for card in hand)
    ranks = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    if len(ranks) == 5 and ranks[0] - ranks[4] == 4:
        return ranks[:1]
    if ranks == [12, 3, 2, 1, 0]:
        return [3]
    return ranks


def _comparison(a: Sequence[int], b: Sequence[int], rules: Rules) -> tuple[object, ...]:
    """What everybody learns when equal categories are compared; cards that are shown are events of their own."""
    ranks = _compared_ranks(a), _compared_ranks(b)
    outcome = (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
    if rules.tie_reveal == "cards":
        return (outcome,)
    differ = next((i for i, (x, y) in enumerate(zip(*ranks, strict=True)) if x != y), len(ranks[0]) - 1)
    suits = []
    if outcome == 0 and rules.suit_order:
        for hand in (a, b):
            held = ["CDHS"[card & 3] for card in hand if card >> 2 == ranks[0][0]]
            suits.append(min(held, key=rules.suit_order.index))
    return (outcome, ranks[0][: differ + 1], ranks[1][: differ + 1], suits)


class Public:
    """Collects what `seat` is told of a deal: its own cards, and of everything else what rules §6 makes public."""

    def __init__(self, game: Game, seat: int) -> None:
        self.game = game
        self.seat = seat
        self.best = 0
        self.standing = -1
        self.known: list[object] = [game.hand(seat), game.dealer, game.scores]

    def add(self, events: list[Event], hands: list[list[int]]) -> None:
        """Adds the events of a step before which the seats held `hands`."""
        for event in events:
            kind = event[0]
            if kind == "exchange" and event[1] != self.seat:
                self.known.append((kind, event[1], len(event[2])))  # type: ignore[arg-type]
                self.best = 0
            elif kind in {"reshuffle", "deal"}:
                self.known.append(kind)
            else:
                self.known.append(tuple(map(str, event)))
                self.best = 0 if kind == "exchange" else self.best
            if kind == "announce" and event[2]:
                self._announce(event, hands)
        self.known.append((self.game.scores, self.game.seat, self.game.phase))
        if self.game.phase == "open_accept":
            self.known.append(int(self.game.state["upcard"]))

    def _announce(self, event: Event, hands: list[list[int]]) -> None:
        seat, category = int(event[1]), int(event[2])  # type: ignore[call-overload]
        if category > self.best:
            self.best, self.standing = category, seat
            return
        compared = _comparison(hands[seat], hands[self.standing], self.game.rules)
        self.known.append((seat, self.standing, str(compared)))
        if compared[0] == 1 or (compared[0] == 0 and self.game.rules.suit_order and self._beats_by_suit(seat, hands)):
            self.standing = seat

    def _beats_by_suit(self, seat: int, hands: list[list[int]]) -> bool:
        order = self.game.rules.suit_order
        assert order is not None
        best = []
        for hand in (hands[seat], hands[self.standing]):
            top = _compared_ranks(hand)[0]
            best.append(min(order.index("CDHS"[card & 3]) for card in hand if card >> 2 == top))
        return best[0] < best[1]


def same_story(game: Game, actions: Sequence[int], seat: int, order: Sequence[int]) -> bool | None:
    """Plays one deal twice, with and without the cards permuted by `order`, and compares all observations of `seat`.

    Args:
        game: its setup prescribes the deck; only that is used.
        actions: the actions of the deal so far.
        seat: the observer; `order` leaves all cards alone that it has seen in this story.
        order: permutation of the cards.

    Returns:
        None when the other story differs in what the seat is told; else whether all observations and masks agree.
    """
    first = Game(setup=game.setup)
    moved = np.array(order)[np.asarray(game.setup.decks, dtype=int)]
    second = Game(
        game.players, game.rules, seed=game.setup.seed, scores=game.setup.scores, decks=moved,
        first_dealer=game.setup.first_dealer, max_deals=game.setup.max_deals,
    )  # fmt: skip
    stories = Public(first, seat), Public(second, seat)
    same = True
    for action in actions:
        other = action
        hands = [[some.hand(s) for s in range(some.players)] for some in (first, second)]
        try:
            if first.phase == "exchange":
                gone = [card for i, card in enumerate(hands[0][first.seat]) if action >> i & 1]
                other = discard_action(hands[1][second.seat], [order[card] for card in gone])
            events = told(first.step_logged(action)), told(second.step_logged(other))
        except ChicagoError:  # not legal with the other cards, or another order after a reshuffle
            return None
        for story, some, now in zip(stories, events, hands, strict=True):
            story.add(some, now)
        if stories[0].known != stories[1].known:
            return None
        seen = first.observe(seat), second.observe(seat)
        same = same and all((a == b).all() for a, b in zip(*seen, strict=True))
    return same
