"""The table as text, for people: what one seat may see, or with `reveal` everything.

What a seat may see is drawn from its observation alone (`chicago_env.view`), so nothing else can show. Events are those
of records (docs/record-format.md), with `["deal", dealer, …]` and `["deal_end"]` between the deals.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from chicago_env.cards import CATEGORIES, RANKS, SUIT_SYMBOLS, card_symbol, parse_card
from chicago_env.game import Game
from chicago_env.notation import format_rules
from chicago_env.state import REASONS
from chicago_env.view import Announcement, Exchange, View, decode

WIDTH = 100
"""Columns of a rendering as plain text."""

NARROW = 74
"""Columns below which seats and tricks are told in lines of text and not in tables."""

Event = Sequence[Any]

_SUIT_STYLES = ("green", "blue", "red", "default")  # of a four-colour pack: clubs, diamonds, hearts, spades
_LONGEST_WORD = 10
_HIDDEN = "··"
_WHY = {"hand": "for the best hand", "chicago": "for the Chicago", "breaker": "for breaking the Chicago",
        "last_trick": "for the last trick"}  # fmt: skip
_PHASES = {
    "exchange": "to exchange cards",
    "open_choice": "to choose: closed or open card",
    "open_accept": "to accept or decline the card",
    "announce": "to announce",
    "four": "to choose: points or reset",
    "chicago": "to call Chicago or not",
    "play": "to play",
}


def card_text(card: int) -> Text:
    """A card with the symbol and the colour of its suit."""
    return Text(card_symbol(card), style=_SUIT_STYLES[card & 3])


def cards_text(cards: Iterable[int]) -> Text:
    """Cards, separated by spaces."""
    return Text(" ").join(map(card_text, cards))


class _Table:
    """One rendering: the view of the observer, with seats at the table and their names."""

    def __init__(self, game: Game, seat: int, reveal: bool, names: Sequence[str]) -> None:
        self.game = game
        self.view: View = decode(game.observation(seat))
        self.observer = seat
        self.reveal = reveal
        self.names = names

    def place(self, seat: int) -> int:
        """A seat at the table as the view counts it."""
        return (seat - self.observer) % self.view.players

    def name(self, relative: int | None) -> str:
        """Name of a seat of the view."""
        return "nobody" if relative is None else self.names[(relative + self.observer) % self.view.players]

    # --- parts -------------------------------------------------------------------------------------------------------

    def headline(self) -> Text:
        view, game = self.view, self.game
        if game.over:
            if game.winner is None:
                return Text(f"The match is over after {view.deal + 1} deals: truncated, nobody wins", style="bold")
            reason = " with an instant win" if REASONS.index(game.reason) == REASONS.index("instant") else ""
            name = self.names[game.winner]
            return Text(f"The match is over: {name} {'win' if name == 'you' else 'wins'}{reason}", style="bold")
        stage = f"trick {view.trick + 1}" if view.trick is not None else f"exchange {view.round + 1}"
        line = Text(f"{stage} · ")
        line.append(f"{self.name(view.to_act)} {_PHASES[view.phase]}", style="bold")
        if view.upcard is not None:
            line.append(" ").append_text(card_text(view.upcard))
        line.append(f" · {view.stock} cards in the stock")
        if view.caller is not None:
            line.append(
                f" · Chicago by {self.name(view.caller)}{', failed' if view.failed else ''}", style="bold magenta"
            )
        return line

    def seats(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), expand=False)
        for head in ("", "seat", "points", "exchanged", "announced", "tricks", "hand"):
            said = head == "announced"  # wraps where there is no room, but no word of it is cut
            justify: Literal["left", "right"] = "right" if head in {"points", "tricks"} else "left"
            table.add_column(head, justify=justify, no_wrap=not said, min_width=_LONGEST_WORD if said else None)
        for seat in range(self.view.players):
            i = self.place(seat)
            acts = self.view.to_act == i
            table.add_row(
                "▸" if acts else "",
                self.seat_name(i),
                Text(str(self.view.scores[i]), style="bold"),
                self.exchanges(i),
                self.announcements(i),
                str(self.view.winners.count(i) or "") if self.view.plays[0].count(None) < self.view.players else "",
                self.hand(i),
                style="on grey15" if acts else "",
            )
        return table

    def seat_name(self, i: int) -> Text:
        view = self.view
        text = Text(self.name(i), style="bold" if i == 0 and not self.reveal else "")
        for mark, holds in ((" D", view.dealer == i), (" stop", view.stopped[i]), (" Chicago", view.caller == i)):
            if holds:
                text.append(mark, style="dim")
        return text

    def exchanges(self, i: int) -> Text:
        turns = [(r, part.exchanges[i]) for r, part in enumerate(self.view.rounds)]
        return Text(" ").join(self.turn(r, i, turn) for r, turn in turns if turn is not None)

    def turn(self, r: int, i: int, turn: Exchange) -> Text:
        text = Text(str(turn.count))
        if turn.open_card is not None:
            sign = {"accepted": "+", "declined": "-", "open": "?"}[turn.open or "open"]
            text.append(sign).append_text(card_text(turn.open_card))
        if turn.reshuffled:
            text.append("↻")
        part = self.view.rounds[r]
        if part.breaker == i:
            text.append(" broke ").append_text(cards_text(part.broken))
        return text

    def announcements(self, i: int) -> Text:
        said = [(r, part.announcements[i]) for r, part in enumerate(self.view.rounds)]
        return Text(", ").join(self.said(r, i, what) for r, what in said if what is not None)

    def said(self, r: int, i: int, said: Announcement) -> Text:
        part = self.view.rounds[r]
        text = Text(CATEGORIES[said.category] if said.category else "pass", style="" if said.category else "dim")
        if said.shown:
            text.append(" ").append_text(cards_text(said.shown))
        elif said.ranks:
            text.append(f" {''.join(RANKS[rank] for rank in said.ranks)}")
            text.append("" if said.suit is None else SUIT_SYMBOLS[said.suit])
        if part.standing == i:
            text.append(" =" if part.tied else " ★", style="bold yellow")
            text.append("" if part.four is None else f" takes {part.four}")
        return text

    def hand(self, i: int) -> Text:
        view = self.view
        if self.reveal:
            return cards_text(self.game.hand((i + self.observer) % view.players))
        if i == 0:
            return cards_text(view.hand)
        drawing = view.to_act == i and view.phase in {"open_choice", "open_accept"}
        held = 5 - sum(trick[i] is not None for trick in view.plays) - drawing
        known = [card_text(card) for card in view.known[i]]
        return Text(" ").join([*known, *[Text(_HIDDEN, style="dim")] * (held - len(known))])

    def tricks(self) -> Table | None:
        view = self.view
        if not view.played:
            return None
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        table.add_column("trick")
        for seat in range(view.players):
            table.add_column(self.names[seat], min_width=7)
        for t, cards in enumerate(view.plays):
            if any(card is not None for card in cards):
                table.add_row(str(t + 1), *(self.played(t, self.place(seat)) for seat in range(view.players)))
        return table

    def played(self, t: int, i: int) -> Text:
        view = self.view
        card = view.plays[t][i]
        text = Text("›" if view.leader_of(t) == i else " ", style="dim")
        if card is not None:
            text.append_text(card_text(card))
        if view.winners[t] == i:
            text.append(" ★", style="bold yellow")
        return text

    # --- for narrow terminals ----------------------------------------------------------------------------------------

    def seat_lines(self) -> list[Text]:
        """What `seats` has, a paragraph for each seat."""
        lines = []
        for seat in range(self.view.players):
            i = self.place(seat)
            line = Text("▸ " if self.view.to_act == i else "  ").append_text(self.seat_name(i))
            line.append(f" {self.view.scores[i]}", style="bold").append(" points")
            if won := self.view.winners.count(i):
                line.append(f", {won} trick{'s' if won > 1 else ''}")
            parts = [("exchanged ", self.exchanges(i)), ("said ", self.announcements(i)), ("", self.hand(i))]
            for what, text in parts:
                if text.plain:
                    line.append(f"\n    {what}", style="dim").append_text(text)
            lines.append(line)
        return lines

    def trick_lines(self) -> list[Text]:
        """What `tricks` has, a line for each trick in the order of play."""
        view, lines = self.view, []
        for t, cards in enumerate(view.plays):
            leader = view.leader_of(t)
            if leader is None or all(card is None for card in cards):
                continue
            order = [(leader + k) % view.players for k in range(view.players)]
            said = [
                Text(f"{self.name(i)} ")
                .append_text(card_text(card))
                .append(" ★" if view.winners[t] == i else "", "yellow")
                for i in order
                if (card := cards[i]) is not None
            ]
            lines.append(Text(f"trick {t + 1}: ").append_text(Text(", ").join(said)))
        return lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts: list[RenderableType | None] = [self.headline()]
        if options.max_width < NARROW:
            parts += [*self.seat_lines(), *self.trick_lines()]
        else:
            parts += [self.seats(), self.tricks()]
        yield Group(*(part for part in [*parts, self.own()] if part is not None))

    def own(self) -> Text | None:
        gone = self.view.discards
        if not gone or self.reveal:
            return None
        return Text(f"{self.name(0)} discarded ").append_text(cards_text(gone))

    # --- what happened -----------------------------------------------------------------------------------------------

    def told(self, events: Iterable[Event]) -> list[Text]:
        return [line for event in events if (line := self.tell(event)) is not None]

    def tell(self, event: Event) -> Text | None:
        kind = event[0]
        if kind == "deal_end":
            return Text("the deal is over", style="dim")
        if kind == "reshuffle":
            return Text(f"the discards become the new stock of {len(event[1])} cards")
        seat = event[1]
        line = Text(f"{self.names[seat]} ")
        if kind == "exchange":
            line.append(f"exchanges {len(event[2])}" if event[2] else "keeps all")
            if event[2] and (self.reveal or seat == self.observer):
                line.append(": ").append_text(_named(event[2])).append(" for ").append_text(_named(event[3]))
            return line
        if kind == "open":
            return line.append("accepts " if event[3] else "declines ").append_text(_named([event[2]]))
        if kind == "penalty":
            return line.append(f"pays {-event[2]} for exchanging under buy stop")
        if kind == "announce":
            return line.append(f"announces {CATEGORIES[event[2]]}" if event[2] else "passes")
        if kind == "show":
            return line.append("shows ").append_text(_named(event[2]))
        if kind == "four":
            return line.append("takes the reset" if event[2] == "reset" else "takes the points")
        if kind == "score":
            return line.append(f"{event[2]:+} {_WHY[event[3]]}", style="bold yellow")
        if kind == "reset":
            return line.append("resets all others to 0", style="bold yellow")
        if kind == "chicago":
            return line.append(
                "calls Chicago" if event[2] else "does not call Chicago", style="magenta" if event[2] else ""
            )
        if kind == "play":
            return line.append("plays ").append_text(_named([event[2]]))
        return line.append("wins the trick" if kind == "trick" else "deals")


def _named(names: Iterable[str]) -> Text:
    return cards_text(map(parse_card, names))


def render(
    game: Game,
    seat: int | None = None,
    *,
    reveal: bool = False,
    names: Sequence[str] | None = None,
    events: Iterable[Event] = (),
) -> RenderableType:
    """The table, for a rich console.

    Args:
        game: the match.
        seat: whose observation is drawn; by default the seat to act (seat 0 when the match is over).
        reveal: show all hands and all exchanged cards.
        names: P names by seat; `player_0` and so on by default.
        events: what has just happened, told below the table; of others' exchanges only the number of cards.

    Raises:
        SetupError: no such seat.
    """
    names = [f"player_{s}" for s in range(game.players)] if names is None else names
    table = _Table(game, max(game.seat, 0) if seat is None else seat, reveal, names)
    view = table.view
    title = f"Chicago · {format_rules(game.rules)} · deal {view.deal + 1} of at most {view.deal + 1 + view.deals_left}"
    sees = "all cards" if reveal else f"as {table.name(0)} {'see' if table.name(0) == 'you' else 'sees'} it"
    shown = Group(table, *table.told(events))
    return Panel(shown, title=title, title_align="left", subtitle=sees, subtitle_align="right", box=box.ROUNDED)


def tell(game: Game, seat: int, events: Iterable[Event], names: Sequence[str]) -> list[Text]:
    """A line for each event, as `seat` may know it.

    Args:
        game: the match.
        seat: who is told.
        events: what has happened.
        names: P names by seat.
    """
    return _Table(game, seat, False, names).told(events)


def as_text(renderable: RenderableType, width: int = WIDTH) -> str:
    """A rendering as plain text, without colours."""
    console = Console(width=width, color_system=None, force_terminal=False, force_jupyter=False, legacy_windows=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def print_table(renderable: RenderableType) -> None:
    """Prints a rendering to standard output, in colours where it is a terminal."""
    Console(highlight=False).print(renderable)
