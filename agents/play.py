"""A person at the table: asks for decisions in a terminal or from a pipe (docs/agents.md, `chicago play`).

The person is shown what their seat may know (`chicago_env.render` draws it from the observation) and nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console, RenderableType
from rich.text import Text

from agents.base import Agent, AgentError, ask
from chicago_env.actions import KEEP_ALL, NUM_ACTIONS, discard_action, format_action, parse_action
from chicago_env.cards import CATEGORIES, SUIT_SYMBOLS, parse_card, parse_cards
from chicago_env.errors import ActionError, CardError
from chicago_env.game import Game
from chicago_env.records.events import decode_all
from chicago_env.render import card_text, render, tell
from chicago_env.rules import Rules
from chicago_env.view import decode

OPPONENTS, HINTS = 2, 4
"""Purposes of chance beside the cards. A hint asked for, or not, changes nothing of the match."""

_HELP = "a number, ? for a hint, t for the table, q to leave"
_PLAIN = str.maketrans({**dict(zip(SUIT_SYMBOLS, "cdhs", strict=True)), "▸": ">", "★": "*", "›": "<", "·": ".", "↻": "@",
                        "–": "-", "±": "+-", "…": "...", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "─": "-", "│": "|"})  # fmt: skip


class LeftError(Exception):
    """The person has left the table."""


class Screen:
    """Where a person reads and answers."""

    def __init__(self, console: Console) -> None:
        """On a terminal without suit symbols suits are letters, and frames plain characters."""
        self.console = console
        try:
            f"{SUIT_SYMBOLS}★▸╭".encode(console.encoding or "ascii")
            self._plain = False
        except (UnicodeEncodeError, LookupError):
            self._plain = True

    def say(self, what: RenderableType = "") -> None:
        """Prints."""
        if not self._plain:
            self.console.print(what)
            return
        with self.console.capture() as captured:
            self.console.print(what)
        self.console.file.write(captured.get().translate(_PLAIN))
        self.console.file.flush()

    def ask(self, prompt: str) -> str:
        """One line of input.

        Raises:
            LeftError: there is no more input.
        """
        try:
            answer = self.console.input(prompt, markup=False)
        except (EOFError, UnicodeDecodeError):
            self.say()
            raise LeftError from None
        if not self.console.is_terminal:
            self.say(Text(answer[:200]))  # what comes from a pipe is not seen otherwise
        return answer


def read_answer(text: str, legal: Sequence[int], hand: Sequence[int], *, exchange: bool) -> int:
    """The action that an answer means.

    Args:
        text: in an exchange places of the cards to discard (`1 3` or `13`), `0` to keep all, or names of cards; else the
            number of a choice. Also any text of an action, with or without its verb.
        legal: legal actions, ascending; choices are numbered from 1 in this order.
        hand: card ids of the own hand, ascending.
        exchange: whether cards are to be exchanged.

    Raises:
        ActionError: it means no legal action; the message says what was expected.
    """
    words = " ".join(text.split()).lower()
    if exchange:
        action = _discards(words, hand)
    elif re.fullmatch(r"[0-9]{1,3}", words):
        if not 1 <= int(words) <= len(legal):
            raise ActionError(f"{words} is none of 1 to {len(legal)}")
        action = legal[int(words) - 1]
    else:
        read = (_parsed(f"{verb}{words}", hand) for verb in ("", "play ", "announce ", "four ", "exchange "))
        action = next((found for found in read if found is not None), -1)
    if action not in legal:
        raise ActionError(f"{text.strip()[:40]!r} is no legal choice here; {_HELP}")
    return action


def _parsed(text: str, hand: Sequence[int]) -> int | None:
    try:
        return parse_action(text, hand)
    except ActionError:
        return None


def _discards(words: str, hand: Sequence[int]) -> int:
    if words in {"0", "k", "keep", "keep all"}:
        return KEEP_ALL
    if re.fullmatch(r"[1-5][1-5 ,]*", words):
        places = [int(digit) for digit in words if digit.isdigit()]
        if len(set(places)) != len(places):
            raise ActionError(f"{words}: a card is named twice")
        return sum(1 << (place - 1) for place in places)
    try:
        if not (cards := parse_cards(words.removeprefix("discard").strip().upper())):
            raise ActionError("no card is named")
        return discard_action(hand, cards)
    except (ActionError, CardError) as error:
        raise ActionError(f"{error}; name cards by place, as in 1 3, or 0 to keep all") from None


@dataclass
class Session:
    """A match between a person and agents.

    Attributes:
        game: the match.
        own: seat of the person.
        others: agents by seat, all seats but the own one.
        names: P names by seat.
        hints: agents that are asked for hints, by name.
        screen: where the person reads and answers.
    """

    game: Game
    own: int
    others: Mapping[int, Agent]
    names: Sequence[str]
    hints: Mapping[str, Agent]
    screen: Screen

    def __post_init__(self) -> None:
        self._chance = np.random.default_rng((self.game.setup.seed, OPPONENTS))
        observation, mask = self.game.observe()
        for agent in self.others.values():  # a network made for other games says so now and not in the middle
            self._chances(agent, (observation[None], mask[None]))

    def play(self) -> None:
        """Plays the match to its end.

        Raises:
            LeftError: the person has left.
            AgentError: an opponent failed or answered with what is not allowed.
        """
        game = self.game
        self.screen.say(Text(about(game.rules, game.players), style="dim"))
        while not game.over:
            forced = game.forced
            if forced is not None:
                self._step(forced)
            elif game.seat == self.own:
                self._step(self._decide())
            else:
                observation, mask = game.observe()
                agent = self.others[game.seat]
                try:
                    action = int(ask(agent, observation[None], mask[None], self._chance)[0])
                except AgentError as error:  # the row of a batch means nothing to a person
                    reason = f"{error.reason}; this ends the match"
                    raise AgentError(error.agent, reason, None, error.status, error.line, error.log) from error
                self._step(action)
        self._table()

    def _step(self, action: int) -> None:
        events = decode_all(self.game.step_logged(action))
        for event in events:
            for line in tell(self.game, self.own, [event], self.names):
                self.screen.say(Text("  ").append_text(addressed(line)))
            if event[0] == "deal_end":
                pairs = zip(self.names, self.game.scores, strict=True)
                self.screen.say(
                    Text("  points: " + ", ".join(f"{name} {score}" for name, score in pairs), style="bold")
                )
                self.screen.say()

    def _table(self) -> None:
        self.screen.say(render(self.game, self.own, names=self.names))

    # --- asking ------------------------------------------------------------------------------------------------------

    def _decide(self) -> int:
        game = self.game
        legal, hand, exchange = game.legal_actions(), game.hand(self.own), game.phase == "exchange"
        self._table()
        self._offer(legal, hand, exchange=exchange)
        while True:
            answer = self.screen.ask("> ")
            words = answer.strip().lower()
            if words in {"q", "quit", "exit"}:
                raise LeftError
            if words in {"?", "h", "hint"}:
                self._hint(hand)
            elif words in {"t", "table"}:
                self._table()
                self._offer(legal, hand, exchange=exchange)
            elif words:
                try:
                    return read_answer(answer, legal, hand, exchange=exchange)
                except ActionError as error:
                    self.screen.say(Text(str(error), style="red"))
            else:
                self.screen.say(Text(_HELP, style="dim"))

    def _offer(self, legal: Sequence[int], hand: Sequence[int], *, exchange: bool) -> None:
        view, say = decode(self.game.observation(self.own)), self.screen.say
        if exchange:
            made = "" if view.category is None else f" ({CATEGORIES[view.category]})"
            say(Text(f"Exchange {view.round + 1} of {view.rules.exchanges}. Your cards{made}:", style="bold"))
            line = Text("  ")
            for place, card in enumerate(hand, start=1):
                line.append(f"{place} ", style="dim").append_text(card_text(card)).append("   ")
            say(line)
            if view.stopped[0]:
                price = view.rules.buy_stop_penalty
                paid = "all your points" if price == "all" else f"{price} points"
                say(Text(f"You are under buy stop: to exchange costs {paid}.", style="red"))
            say(Text("Discard which? Their numbers, as in 1 3; 0 keeps all. ? hint, t table, q leave", style="dim"))
            return
        question = {
            "open_choice": "The card you draw: closed, or face up for all?",
            "open_accept": "Take the face-up card?",
            "announce": "You hold: " + ("" if view.category is None else CATEGORIES[view.category]),
            "four": "Your four of a kind: points, or everybody else back to 0?",
            "chicago": f"Chicago? All five tricks: +{view.rules.chicago_points}, else -{view.rules.chicago_penalty}.",
            "play": "You lead." if view.trick is not None and view.leader_of(view.trick) == 0 else "Your card?",
        }[self.game.phase]
        say(Text(question, style="bold"))
        for number, action in enumerate(legal, start=1):
            say(Text(f"  {number} ", style="dim").append_text(choice_text(action, hand)))
        say(Text(f"{_HELP}", style="dim"))

    def _hint(self, hand: Sequence[int]) -> None:
        observation, mask = self.game.observe(self.own)
        rows = observation[None], mask[None]
        if not self.hints:
            self.screen.say(Text("nobody to ask: start with --hint AGENT", style="dim"))
        for name, agent in self.hints.items():
            key = (self.game.setup.seed, HINTS, int(self.game.state["decisions"]))
            line = Text(f"{name}: ", style="cyan")
            try:
                action = int(ask(agent, *rows, np.random.default_rng(key), name=name)[0])
                chances = self._chances(agent, rows)
            except AgentError as error:
                self.screen.say(line.append(error.reason))
                continue
            if chances is None:
                line.append_text(choice_text(action, hand))
            else:
                best = [a for a in np.argsort(-chances, kind="stable")[:3].tolist() if chances[a] >= 0.005]
                said = [choice_text(a, hand).append(f" {chances[a]:.0%}") for a in best]
                line.append_text(Text(", ").join(said))
            self.screen.say(line)

    @staticmethod
    def _chances(agent: Agent, rows: tuple[Any, Any]) -> Any:
        """(A,) probabilities by which an agent plays, or None where it does not say."""
        probabilities = getattr(agent, "probabilities", None)
        if not callable(probabilities):
            return None
        chances = np.asarray(probabilities(*rows))
        return chances[0] if chances.shape == (1, NUM_ACTIONS) else None


def addressed(line: Text) -> Text:
    """A line about `you`, with the verb as one speaks to a person."""
    found = re.match("you ([a-z]+)", line.plain)
    if found is None:
        return line
    verb = {"does": "do", "passes": "pass"}.get(found[1], found[1].removesuffix("s"))
    return Text(f"you {verb}").append_text(line[found.end() :])


def choice_text(action: int, hand: Sequence[int]) -> Text:
    """Text of an action with coloured cards."""
    text = Text()
    for i, word in enumerate(format_action(action, hand).split()):
        text.append(" " if i else "")
        if re.fullmatch("[2-9TJQKA][CDHS]", word):
            text.append_text(card_text(parse_card(word)))
        else:
            text.append(word)
    return text


def about(rules: Rules, players: int) -> str:
    """The rules in force, in a few words."""
    scored = [str(r + 1) for r, holds in enumerate(rules.scored_exchanges) if holds]
    after = f"hands are announced after exchange {' and '.join(scored)}" if scored else "no hands are announced"
    parts = [f"{players} players, to {rules.target} points", f"{rules.exchanges} exchanges, {after}"]
    if rules.chicago:
        free = rules.chicago_threshold is None
        parts.append(f"Chicago {'for anybody' if free else f'from {rules.chicago_threshold} points on'}")
    if rules.buy_stop is not None:
        parts.append(f"buy stop from {rules.buy_stop} points on")
    return "; ".join(parts) + "."
