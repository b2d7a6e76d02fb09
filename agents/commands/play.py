"""The command `chicago play`."""

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from agents.base import Agent
from agents.play import LeftError, Screen, Session
from agents.registry import bot_spec, load
from chicago_env.cli import OK
from chicago_env.errors import UsageError
from chicago_env.game import Game
from chicago_env.opponents import check_game
from chicago_env.records import RecordWriter, record_of_game
from chicago_env.rules import check_players
from chicago_env.setup import MAX_DEALS, SEED_LIMIT, check_int

_NAME = 14
"""Characters of a name at the table: longer ones leave no room for what is announced."""


@dataclass(frozen=True)
class Config:
    """Play Chicago yourself, in the terminal, against agents."""

    against: tuple[str, ...] = ("heuristic:expert",)
    """Agents, from your left; one alone plays all other seats (`chicago agents` lists them)."""
    players: int | None = None
    """Number of players, 2 to 6; by default one more than there are agents."""
    rules: str = "pagat"
    """Preset or notation of rules (docs/rules.md)."""
    seat: int | None = None
    """Your seat, from 0; by default a random one."""
    seed: int | None = None
    """Seed of the cards; by default another one each time."""
    deals: int = MAX_DEALS
    """The match ends undecided after so many deals."""
    hint: tuple[str, ...] = ("heuristic:expert",)
    """Agents that are asked for hints."""
    record: Path | None = None
    """Add the match to this file of records, `*.jsonl` or `*.jsonl.gz`, also one that you leave."""
    name: str = "you"
    """Your name at the table."""


def run(config: Config) -> int:
    """Plays a match."""
    if not config.against:
        raise UsageError("--against needs an agent")
    if not 0 < len(config.name) <= 30 or not config.name.isprintable():
        raise UsageError("--name is 1 to 30 printable characters")
    players = check_players(len(config.against) + 1 if config.players is None else config.players)
    specs = list(config.against) * (players - 1) if len(config.against) == 1 else list(config.against)
    if len(specs) != players - 1:
        raise UsageError(f"--against names {len(specs)} agents; with {players} players one or {players - 1} are needed")
    seed = secrets.randbits(32) if config.seed is None else check_int("seed", config.seed, 0, SEED_LIMIT - 1)
    own = seed % players if config.seat is None else check_int("seat", config.seat, 0, players - 1)
    game = Game(players, config.rules, seed=seed, max_deals=config.deals)
    with contextlib.ExitStack() as stack:
        agents = {spec: _load(spec, stack) for spec in dict.fromkeys([*specs, *config.hint])}
        for agent in agents.values():
            check_game(agent, players, game.rules)
        writer = None if config.record is None else stack.enter_context(RecordWriter(config.record))
        others = {(own + 1 + i) % players: agents[spec] for i, spec in enumerate(specs)}
        hints = {spec: agents[spec] for spec in config.hint}
        names = _names(players, own, config.name, specs)
        screen = Screen(Console(highlight=False))
        session = Session(game, own, others, names, hints, screen)
        try:
            screen.say(Text(f"Seed {seed}, seat {own}: the same cards come again with --seed {seed}", style="dim"))
            session.play()
            screen.say(Text(_outcome(game, own), style="bold"))
        except LeftError:
            pairs = ", ".join(f"{name} {score}" for name, score in zip(names, game.scores, strict=True))
            screen.say(Text(f"Left in deal {game.deal + 1}. Points: {pairs}"))
        finally:
            if writer is not None:
                writer.write(record_of_game(game, names))
        if config.record is not None:
            screen.say(Text(f"The record is in {config.record}", style="dim"))
    return OK


def _load(spec: str, stack: contextlib.ExitStack) -> Agent:
    agent = load(spec)
    close: Any = getattr(agent, "close", None)
    if callable(close):
        stack.callback(close)
    return agent


def _names(players: int, own: int, name: str, specs: list[str]) -> list[str]:
    """Names by seat: of several of a kind the later ones are numbered."""
    names, seen = [""] * players, {name: 1}
    names[own] = name
    for i, spec in enumerate(specs):
        short = _short(spec)[:_NAME]
        seen[short] = seen.get(short, 0) + 1
        names[(own + 1 + i) % players] = short if seen[short] == 1 else f"{short} {seen[short]}"
    return names


def _short(spec: str) -> str:
    """A name for a seat: the file that a program reads, or the program; else the last part of the spec."""
    bot = bot_spec(spec)
    if bot is None:
        return spec.partition("?")[0].rpartition("/")[2].removesuffix(".safetensors").rpartition(":")[2] or "agent"
    files = [word for word in bot.words[1:] if Path(word).is_file()]
    return Path((files or bot.words)[0]).stem or "bot"


def _outcome(game: Game, own: int) -> str:
    if game.winner is None:
        return "Undecided: the last deal has been played."
    return "You have won!" if game.winner == own else "You have lost."
