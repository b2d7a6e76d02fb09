"""`chicago bench train`."""

import dataclasses
import os

from chicago_env import cli

_MAX_UPDATES = 10**6


@dataclasses.dataclass(frozen=True)
class Config:
    """Measure how fast this machine trains, against what the network alone would allow."""

    players: int = 2
    """Number of players."""
    rules: str = "pagat"
    """Rules: a preset or its variants."""
    hidden: tuple[int, ...] = (512, 256)
    """Widths of the hidden layers."""
    epochs: int = 2
    """Passes over the decisions of an update."""
    updates: int = 8
    """Updates in each of the three measurements."""
    threads: int | None = None
    """Threads of the network, by default one for each core."""
    json: bool = False
    """Print one line of JSON instead of a table."""


def run(config: Config) -> int:
    """Measures and prints."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `chicago train`
    import torch  # noqa: PLC0415 - not needed for --help
    from rich.console import Console  # noqa: PLC0415 - as above

    from chicago_env.bench import machine  # noqa: PLC0415 - as above
    from chicago_env.figures import FigureTable, print_table  # noqa: PLC0415 - as above
    from chicago_env.pool import default_threads  # noqa: PLC0415 - as above
    from chicago_env.setup import check_int  # noqa: PLC0415 - as above
    from train.bench import SHARE, TIMES, measure  # noqa: PLC0415 - imports torch
    from train.config import TrainConfig  # noqa: PLC0415 - as above

    torch.set_num_threads(default_threads() if config.threads is None else config.threads)
    check_int("updates", config.updates, 1, _MAX_UPDATES)
    training = TrainConfig(players=(config.players,), rules=(config.rules,), hidden=config.hidden, epochs=config.epochs)
    with Console(stderr=True).status("measuring") as status:
        speeds = measure(training, config.updates, lambda what: status.update(f"measuring: {what}"))
    share, times = speeds.training / speeds.bound, speeds.training / speeds.plain
    if config.json:
        cli.print_json({"machine": machine(), **speeds._asdict(), "share_of_bound": share, "times_plain": times})
        return cli.OK
    table = FigureTable("chicago bench train", ["measured", "goal"], names="what")
    table.add("self-play and learning", [f"{speeds.training:,.0f} decisions/s", ""])
    table.add("bound: the network's passes alone", [f"{speeds.bound:,.0f} decisions/s", ""])
    table.add("share of the bound", [f"{share:.0%}", f"{'✓' if share >= SHARE else '✗'} {SHARE:.0%}"])
    table.add("plain MaskablePPO, DummyVecEnv", [f"{speeds.plain:,.0f} decisions/s", ""])
    table.add("times plain MaskablePPO", [f"{times:.1f}", f"{'✓' if times >= TIMES else '✗'} {TIMES:.0f}"])
    for name, part in speeds.parts.items():
        table.add(f"time in: {name}", [f"{part:.0%}", ""])
    print_table(machine(), table)
    return cli.OK
