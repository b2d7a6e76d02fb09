"""The command `chicago eval sprt`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

from chicago_env.cli import OK, print_json
from chicago_env.setup import MAX_DEALS

if TYPE_CHECKING:
    from eval.sprt import Result


@dataclass(frozen=True)
class Config:
    """Play boards between two agents until a sequential test knows: the first is better, the second, or neither by the margin."""

    first: tyro.conf.Positional[str]
    """Name as `chicago agents` lists it, or path of a checkpoint."""
    second: tyro.conf.Positional[str]
    """The same, of the other agent."""
    players: int = 2
    """Seats at a table, 2 to 6; beyond 2 one agent plays against copies of the other, and the other way round."""
    rules: str = "pagat"
    """Preset, or notation such as pagat+target=51."""
    kind: Literal["deal", "match"] = "deal"
    """Boards of single deals, scored by the change of the chance to win the match, or of whole matches."""
    elo: float = 20.0
    """Margin: a difference in match wins, in Elo."""
    alpha: float = 0.05
    """Chance of a verdict for either where they are equal."""
    beta: float = 0.05
    """Chance of any other verdict where the difference is the margin."""
    look: int = 100
    """Boards from one look at the results to the next."""
    cap: int = 20_000
    """Boards after which there is no verdict."""
    seed: int = 0
    """Root of all chance. The result is the same for the same seed."""
    max_deals: int = MAX_DEALS
    """Deals after which a match is truncated."""
    out: str | None = None
    """File for plan, values of all boards and result, as JSON; a test that was stopped goes on from it."""
    json: bool = False
    """Print the result as JSON."""


def run(config: Config) -> int:
    """Plays and prints."""
    from agents import load  # noqa: PLC0415 - `--help` needs none of it
    from eval.sprt import make_plan, sprt  # noqa: PLC0415 - as above

    names = ("players", "rules", "kind", "seed", "elo", "alpha", "beta", "look", "cap")
    plan = make_plan(config.first, config.second, **{name: getattr(config, name) for name in names})
    first, second = load(config.first), load(config.second)
    print(plan.text, file=sys.stderr, flush=True)
    shown = sys.stderr.isatty()

    def show(result: "Result") -> None:
        if shown:
            up, down = result.step.ratios
            print(
                f"\r{result.step.boards:,} boards, log ratios {up:+.2f} {down:+.2f} ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    result = sprt(
        plan,
        first,
        second,
        max_deals=config.max_deals,
        out=None if config.out is None else Path(config.out),
        on_step=show,
    )
    if shown:
        print(file=sys.stderr)
    if config.json:
        print_json({"plan": plan.to_dict(), "result": result.to_dict()})
    else:
        print(result.text)
    return OK
