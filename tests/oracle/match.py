"""The oracle: a whole match, told as slowly and as literally as docs/rules.md tells it.

It shares no code with the engine it checks. One coroutine walks through the match; it yields every decision and is
sent the action taken, forced decisions included.
"""

from __future__ import annotations

import random  # noqa: TID251  # the oracle shares nothing with the package, its keyed chance included
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from tests.oracle.actions import (
    ACCEPT,
    CALL,
    CLOSED,
    DECLINE,
    NO_CALL,
    OPEN,
    PASS,
    PLAY,
    TAKE_POINTS,
    TAKE_RESET,
    Decision,
)
from tests.oracle.cards import FOUR, PAIR, ROYAL, OracleError, group_of, hand_value, rank_of, suit_of, texts
from tests.oracle.rulebook import RulesDict, check_rules
from tests.oracle.stock import DeckOf, DrawOf, ReshuffleOf, Stock

Event = list[Any]
Flow = Generator[Decision, int, None]


class _MatchOver(Exception):
    def __init__(self, winner: int | None, reason: str) -> None:
        super().__init__(reason)
        self.winner = winner
        self.reason = reason


class OracleMatch:
    """One match.

    rules: the `rules` object of a record. deck_of(deal): the 52 cards in the order they are dealt and then drawn.
    reshuffle_of(deal, n, cards): the order, top first, of the stock made by the n-th reshuffle of a deal.
    draw_of(deal, seat, k): where given, the k-th card a seat draws from the first stock of a deal, in place of the top.
    Left out, decks and reshuffles are random from `seed`.
    """

    def __init__(
        self,
        rules: Mapping[str, Any],
        players: int,
        *,
        deck_of: DeckOf | None = None,
        reshuffle_of: ReshuffleOf | None = None,
        draw_of: DrawOf | None = None,
        start_scores: Sequence[int] | None = None,
        first_dealer: int = 0,
        max_deals: int = 200,
        seed: int = 0,
        names: Sequence[str] | None = None,
    ) -> None:
        check_rules(rules)
        self.rules: RulesDict = dict(rules)
        if not 2 <= players <= 6:
            raise OracleError(f"{players} players")
        self.players = players
        self.seed = seed
        self.max_deals = max_deals
        self.first_dealer = first_dealer
        self.names = list(names) if names is not None else [f"p{seat}" for seat in range(players)]
        self.start_scores = list(start_scores) if start_scores is not None else [0] * players
        if len(self.start_scores) != players or len(self.names) != players or max_deals < 1:
            raise OracleError("start_scores, names or max_deals do not fit the match")
        if not 0 <= first_dealer < players:
            raise OracleError(f"first_dealer {first_dealer} is no seat")
        chance = random.Random(seed)
        self._deck_of = deck_of or (lambda deal: chance.sample(range(52), 52))
        self._reshuffle_of = reshuffle_of or (lambda deal, n, cards: chance.sample(cards, len(cards)))
        self._draw_of = draw_of

        self.scores = list(self.start_scores)
        self.attempted = [False] * players  # called a Chicago in this match
        self.succeeded = [False] * players  # made one
        self.reached_buy_stop = [False] * players  # stood at it when a deal of this match began
        self.winner: int | None = None
        self.reason: str | None = None
        self._past: list[dict[str, Any]] = []
        self._flow = self._match()
        self._decision: Decision | None = None
        self._resume(None)

    # What can be asked of a match

    @property
    def over(self) -> bool:
        return self.reason is not None

    @property
    def to_act(self) -> int | None:
        return self._decision.seat if self._decision else None

    @property
    def phase(self) -> str:
        return self._decision.phase if self._decision else "over"

    def legal(self) -> list[int]:
        return sorted(self._decision.legal) if self._decision else []

    def step(self, action: int) -> None:
        if self._decision is None:
            raise OracleError(f"action {action} after the end of the match")
        if action not in self._decision.legal:
            seat, phase, legal = self._decision
            raise OracleError(f"seat {seat}, {phase}: action {action} is none of {sorted(legal)}")
        self._resume(action)

    def hand(self, seat: int) -> list[int]:
        """The cards the seat holds and has not played, sorted."""
        return sorted(self.hands[seat])

    @property
    def deal_index(self) -> int:
        return len(self._past)

    @property
    def deals(self) -> list[dict[str, Any]]:
        current = {
            "dealer": self.dealer,
            "deck": texts(self.stock.order_that_came_about()),
            "events": self.events,
            "scores": list(self.scores),
        }
        return [*self._past, current]

    @property
    def result(self) -> dict[str, Any] | None:
        if self.reason is None:
            return None
        return {"scores": list(self.scores), "winner": self.winner, "reason": self.reason}

    def record(self) -> dict[str, Any]:
        return {
            "format": "chicago-record",
            "version": 1,
            "rules": self.rules,
            "players": self.players,
            "names": self.names,
            "seed": self.seed,
            "first_dealer": self.first_dealer,
            "start_scores": self.start_scores,
            "max_deals": self.max_deals,
            "deals": self.deals,
            "result": self.result,
        }

    # The match

    def _resume(self, action: int | None) -> None:
        try:
            self._decision = next(self._flow) if action is None else self._flow.send(action)
        except _MatchOver as end:
            self._decision = None
            self.winner, self.reason = end.winner, end.reason

    def _match(self) -> Flow:
        for index in range(self.max_deals):
            if index:
                self._past = self.deals
            self.dealer = (self.first_dealer + index) % self.players
            yield from self._deal(index)
            self._test_end_after_deal()
        raise _MatchOver(None, "truncated")

    def _from(self, seat: int) -> list[int]:
        """All seats clockwise, from this one on."""
        return [(seat + step) % self.players for step in range(self.players)]

    def _deal(self, index: int) -> Flow:
        self.events: list[Event] = []
        self.forehand = (self.dealer + 1) % self.players
        self.stock = Stock(index, self.players, self._deck_of, self._reshuffle_of, self._draw_of)
        self.hands: list[list[int]] = [[] for _ in range(self.players)]
        for _ in range(5):
            for seat in self._from(self.forehand):
                self.hands[seat].append(self.stock.deal_card())
        self._note_buy_stop()
        self.scored_just_now: int | None = None  # whose hand scored in the announcing right before
        for r in range(self.rules["exchanges"]):
            for seat in self._from(self.forehand):
                yield from self._exchange_turn(seat)
            self.scored_just_now = None
            if self.rules["scored_exchanges"][r]:
                yield from self._announcing()
        caller = None
        if self.rules["chicago"]:
            caller = yield from self._chicago_call()
        yield from self._tricks_and_scoring(caller)

    def _note_buy_stop(self) -> None:
        limit = self.rules["buy_stop"]
        at_limit = [limit is not None and score >= limit for score in self.scores]
        self.reached_buy_stop = [a or b for a, b in zip(self.reached_buy_stop, at_limit, strict=True)]
        self.under_buy_stop = self.reached_buy_stop if self.rules["buy_stop_permanent"] else at_limit

    # Exchanges

    def _exchange_turn(self, seat: int) -> Flow:
        penalty = self.rules["buy_stop_penalty"]
        stopped = self.under_buy_stop[seat]
        legal = (0,) if stopped and penalty is None else tuple(range(32))
        action = yield Decision(seat, "exchange", legal)
        held = sorted(self.hands[seat])
        discards = [card for i, card in enumerate(held) if action >> i & 1]
        if stopped and discards:
            points = -15 if penalty == 15 else -max(self.scores[seat], 0)
            self.scores[seat] += points
            self.events.append(["penalty", seat, points])
        if self.rules["show_broken_hand"] and self.scored_just_now == seat:
            group = group_of(held)
            if set(group) & set(discards):
                self.events.append(["show", seat, texts(group)])
        self.hands[seat] = [card for card in held if card not in discards]
        declined: list[int] = []
        drawn: list[int] = []
        if self.rules["open_card"] and len(discards) == 1:
            choice = yield Decision(seat, "one_card", (CLOSED, OPEN))
            if choice == OPEN:
                card = self._draw(seat)
                answer = yield Decision(seat, "face_up", (DECLINE, ACCEPT))
                self.events.append(["open", seat, texts([card])[0], answer == ACCEPT])
                (drawn if answer == ACCEPT else declined).append(card)
        while len(drawn) < len(discards):
            drawn.append(self._draw(seat))
        self.events.append(["exchange", seat, texts(discards), texts(drawn)])
        self.hands[seat] += drawn
        self.stock.discard(discards + declined)  # the turn is over: from now on they may be shuffled in

    def _draw(self, seat: int) -> int:
        if self.stock.is_empty():
            self.events.append(["reshuffle", texts(self.stock.reshuffle())])
        return self.stock.draw(seat)

    # Announcing

    def _announcing(self) -> Flow:
        highest = 0
        standing: int | None = None
        tied = False
        shown: set[int] = set()
        for seat in self._from(self.forehand):
            value = hand_value(self.hands[seat], self.rules["suit_order"])
            category = value[0]
            may_name = category >= PAIR and category >= highest
            if not may_name:
                legal: tuple[int, ...] = (PASS,)
            elif self.rules["announcing"] == "compulsory":
                legal = (PASS + category,)
            else:
                legal = (PASS, PASS + category)
            named = (yield Decision(seat, "announce", legal)) - PASS
            self.events.append(["announce", seat, named])
            if named == 0:
                continue
            if standing is None or named > highest:
                highest, standing, tied = named, seat, False
                continue
            if self.rules["tie_reveal"] == "cards":
                for other in (standing, seat):
                    if other not in shown:
                        self.events.append(["show", other, texts(self.hands[other])])
                        shown.add(other)
            best = hand_value(self.hands[standing], self.rules["suit_order"])
            if value > best:
                standing, tied = seat, False
            elif value == best:
                tied = True
        if standing is not None and not tied:
            self.scored_just_now = standing
            yield from self._score_hand(standing)

    # Chicago and the tricks

    def _chicago_call(self) -> Generator[Decision, int, int | None]:
        threshold = self.rules["chicago_threshold"]
        for seat in self._from(self.forehand):
            if threshold is not None and self.scores[seat] < threshold:
                continue
            action = yield Decision(seat, "chicago", (NO_CALL, CALL))
            self.events.append(["chicago", seat, action == CALL])
            if action == CALL:
                self.attempted[seat] = True
                return seat
        return None

    def _tricks_and_scoring(self, caller: int | None) -> Flow:
        five_cards = [list(hand) for hand in self.hands]
        leader = caller if caller is not None and self.rules["chicago_caller_leads"] else self.forehand
        failed = False
        for _ in range(5):
            leader, winning_card = yield from self._trick(leader)
            if caller is not None and leader != caller and not failed:
                failed = True
                self._score(caller, -self.rules["chicago_penalty"], "chicago")
                if self.rules["chicago_breaker_points"] != 0:
                    self._score(leader, self.rules["chicago_breaker_points"], "breaker")
                if not self.rules["chicago_failure_scores"]:
                    return
        if caller is None:
            also = ["last_trick", "hand"]
        elif failed:
            also = self.rules["chicago_failure_scores"]
        else:
            also = self.rules["chicago_success_scores"]
            self.succeeded[caller] = True
            self._score(caller, self.rules["chicago_points"], "chicago")
        for part in ("hand", "last_trick") if self.rules["showdown_first"] else ("last_trick", "hand"):
            if part not in also:
                continue
            if part == "hand":
                yield from self._showdown(five_cards)
            else:
                doubled = self.rules["last_trick_two_doubles"] and rank_of(winning_card) == 0
                self._score(leader, self.rules["last_trick_points"] * (2 if doubled else 1), "last_trick")

    def _trick(self, leader: int) -> Generator[Decision, int, tuple[int, int]]:
        """One trick; returns its winner and the winning card."""
        cards: dict[int, int] = {}
        for seat in self._from(leader):
            hand = self.hands[seat]
            follow = [card for card in hand if cards and suit_of(card) == suit_of(cards[leader])]
            card = (yield Decision(seat, "play", tuple(PLAY + card for card in follow or hand))) - PLAY
            hand.remove(card)
            cards[seat] = card
            self.events.append(["play", seat, texts([card])[0]])
        of_suit_led = {seat: card for seat, card in cards.items() if suit_of(card) == suit_of(cards[leader])}
        winner = max(of_suit_led, key=lambda seat: of_suit_led[seat])
        self.events.append(["trick", winner])
        return winner, cards[winner]

    def _showdown(self, five_cards: list[list[int]]) -> Flow:
        values = [hand_value(hand, self.rules["suit_order"]) for hand in five_cards]
        best = max(values)
        if values.count(best) > 1 or best[0] < PAIR:
            return
        owner = values.index(best)
        yield from self._score_hand(owner, five_cards[owner])

    # Scoring and the end of the match

    def _score_hand(self, seat: int, cards: list[int] | None = None) -> Flow:
        category = hand_value(cards or self.hands[seat])[0]
        four = self.rules["four_of_a_kind"]
        if category == FOUR and four == "choose":
            if (yield Decision(seat, "four", (TAKE_POINTS, TAKE_RESET))) == TAKE_RESET:
                self.events.append(["four", seat, "reset"])
                self._reset_others(seat)
                self._test_end_after_score(seat, instant=False)
                return
            self.events.append(["four", seat, "points"])
        points = self.rules["hand_points"][category]
        self.scores[seat] += points
        self.events.append(["score", seat, points, "hand"])
        if (category == FOUR and four == "reset") or (category == ROYAL and self.rules["royal_resets"]):
            self._reset_others(seat)
        self._test_end_after_score(seat, instant=category in self.rules["instant_win"])

    def _reset_others(self, seat: int) -> None:
        self.events.append(["reset", seat])
        self.scores = [score if other == seat else 0 for other, score in enumerate(self.scores)]

    def _score(self, seat: int, points: int, why: str) -> None:
        self.scores[seat] += points
        self.events.append(["score", seat, points, why])
        self._test_end_after_score(seat, instant=False)

    def _eligible_at_target(self) -> list[int]:
        needs = self.rules["win_needs_chicago"]
        has = {None: [True] * self.players, "attempt": self.attempted, "success": self.succeeded}[needs]
        return [seat for seat in range(self.players) if self.scores[seat] >= self.rules["target"] and has[seat]]

    def _test_end_after_score(self, scorer: int, *, instant: bool) -> None:
        if instant:
            raise _MatchOver(scorer, "instant")
        if self.rules["finish"] == "first_past":
            standing = self._eligible_at_target()
            if standing:
                raise _MatchOver(scorer if scorer in standing else standing[0], "target")

    def _test_end_after_deal(self) -> None:
        standing = self._eligible_at_target()
        if not standing:
            return
        if self.rules["finish"] == "first_past":
            raise _MatchOver(standing[0], "target")
        most = max(self.scores[seat] for seat in standing)
        highest = [seat for seat in standing if self.scores[seat] == most]
        if len(highest) == 1:
            raise _MatchOver(highest[0], "target")
