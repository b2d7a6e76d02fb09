"""What `chicago bot-check` asks: every kind of decision under every preset, alone and in matches."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from agents.bots.agent import Match, Runner
from agents.bots.events import Narrator
from chicago_env.actions import NUM_ACTIONS
from chicago_env.cards import NUM_CARDS, parse_cards
from chicago_env.game import Game, new_states
from chicago_env.kernels import single
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.notation import parse_rules
from chicago_env.setup import MatchSetup
from chicago_env.state import OVER
from chicago_env.view import PHASES

RULES = (
    "pagat",
    "open-card",
    "race",
    "family",
    "pagat+four=choose",
    "open-card+four=choose+show_broken=yes+penalty=15+announcing=compulsory",
    "family+open_card=yes+needs_chicago=success+breaker=8+suits=HSDC+reveal=ranks",
)
"""Every preset, and variants with what no preset has."""

PLAYERS = range(2, 7)
EACH = 2
"""Situations of each kind, for each rule set and number of players."""

_DEALS = 3
_MATCH_SCORES = (0, 20, 45, 30, 10, 50)


class Situation(NamedTuple):
    """A decision: observation (D,), mask (A,), and its kind, a phase."""

    observation: Any
    mask: Any
    kind: str


def kinds_of(rules: str) -> set[str]:
    """The kinds of decisions that there are under some rules."""
    made = parse_rules(rules)
    kinds = {"exchange", "play"}
    if made.announcing == "free":  # what is compulsory leaves no choice
        kinds.add("announce")
    if made.open_card:
        kinds |= {"open_choice", "open_accept"}
    if made.four_of_a_kind == "choose":
        kinds.add("four")
    if made.chicago:
        kinds.add("chicago")
    return kinds


def four_of_a_kind(rules: str, players: int) -> Game:
    """A game in which seat 0 has to keep four aces, so that it comes to choose between the points and the reset."""
    aces = parse_cards("AC AD AH AS KS")
    rest = [card for card in range(NUM_CARDS) if card not in aces]
    deck = [0] * (5 * players)
    for k in range(5):
        for seat in range(players):
            place = k * players + (seat - 1) % players  # seat 0 deals, and is dealt to last
            deck[place] = aces[k] if seat == 0 else rest.pop(0)
    made = parse_rules(f"{rules}+penalty=none")
    scores = [made.buy_stop or 46, *(0,) * (players - 1)]
    return Game(players, made, seed=1, scores=scores, first_dealer=0, decks=[deck + rest], max_deals=1)


def situations(rules: str, players: int, each: int = EACH, seed: int = 0) -> list[Situation]:
    """At least one, and up to `each`, decisions of every kind that there is under these rules."""
    wanted = dict.fromkeys(sorted(kinds_of(rules)), each)
    rng = np.random.default_rng((seed, players, RULES.index(rules) if rules in RULES else len(RULES)))
    found: list[Situation] = []
    if "four" in wanted:
        wanted["four"] = 1
        found += [s for s in _decisions(four_of_a_kind(rules, players), rng, calm=True) if s.kind == "four"][:1]
        del wanted["four"]
    for number in range(1000):
        scores = [int(s) for s in rng.integers(0, 40, players)]
        game = Game(players, rules, seed=int(rng.integers(1 << 40)), scores=scores, max_deals=2)
        for situation in _decisions(game, rng, calm=number % 2 == 0):
            if wanted.get(situation.kind, 0):
                found.append(situation)
                wanted[situation.kind] -= 1
        if not any(wanted.values()):
            break
    return found


def _decisions(game: Game, rng: np.random.Generator, *, calm: bool) -> Iterator[Situation]:
    """The decisions of a game of random players, who never call a Chicago where `calm` is set."""
    game.play_forced()
    while not game.over:
        observation, mask = game.observe()
        phase = game.phase
        yield Situation(observation, mask, phase)
        legal = game.legal_actions()
        game.step(legal[0] if calm and phase == "chicago" else int(rng.choice(legal)))
        game.play_forced()


class PlayedMatch:
    """A match in which the bot has seat 0, and seat 2 where there is one; the others play at random."""

    def __init__(self, runner: Runner, rules: str, players: int) -> None:
        made = parse_rules(rules)
        scores = tuple(min(score, made.target - 1) for score in _MATCH_SCORES[:players])
        setup = MatchSetup(players, made, players, scores, None, _DEALS)
        self.states = new_states([setup])
        self.narrator = Narrator(self.states, 0, setup)
        self.runner = runner
        self.rng = np.random.default_rng((players, len(rules)))
        seats = [0, 2] if players > 2 else [0]
        self.matches = {s: runner.new_match(s, made, setup.scores, _DEALS, seed=players + s) for s in seats}
        self.over = False
        self._tell(self.narrator.start())
        self._go_on()

    def _tell(self, told: Any) -> None:
        for seat, match in self.matches.items():
            match.events += [event.to(seat) for event in told]

    def _go_on(self) -> None:
        """Plays until the bot is to act, or all is over."""
        state = self.states[0]
        while int(state["phase"]) != OVER:
            action = self.narrator.forced()
            if action < 0:
                if int(state["to_act"]) in self.matches:
                    return
                base, bits = single.legal(self.states)
                legal = [base + i for i in range(64) if bits >> i & 1]
                action = int(self.rng.choice(legal))
            self._tell(self.narrator.step(action))
        self.over = True
        scores = [int(s) for s in state["scores"][: int(state["players"])]]
        winner = int(state["winner"])
        reason = ("", "target", "instant", "truncated")[int(state["reason"])]
        for match in self.matches.values():
            self.runner.finish(match, {"scores": scores, "winner": winner if winner >= 0 else None, "reason": reason})

    def match(self) -> Match:
        """The bot's seat that is to act."""
        return self.matches[int(self.states[0]["to_act"])]

    def situation(self) -> Situation:
        """What it is asked."""
        observation = np.empty(OBSERVATION_SIZE, dtype=np.uint8)
        mask = np.empty(NUM_ACTIONS, dtype=np.int8)
        single.view(self.states, int(self.states[0]["to_act"]), observation, mask)
        return Situation(observation, mask, PHASES[int(self.states[0]["phase"])])

    def step(self, action: int) -> None:
        """Carries out the bot's action."""
        self._tell(self.narrator.step(action))
        self._go_on()
