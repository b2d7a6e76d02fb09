"""The command `chicago eval bench`."""

from dataclasses import dataclass

from chicago_env.cli import OK, print_json


@dataclass(frozen=True)
class Config:
    """Measure how fast the arena plays: heuristics alone, with a checkpoint until every pair is known to ±1 %, and each alone."""

    workers: int = 2
    """Processes that play."""
    quick: bool = False
    """A tenth of the work: shows that it runs, with rough figures."""
    json: bool = False
    """Print one line of JSON instead of a table."""


def run(config: Config) -> int:
    """Measures and prints."""
    from rich.console import Console  # noqa: PLC0415 - not needed for --help

    from chicago_env.bench import machine  # noqa: PLC0415 - as above
    from chicago_env.commands.bench import print_figures  # noqa: PLC0415 - as above
    from eval.bench import measure  # noqa: PLC0415 - as above

    with Console(stderr=True).status("measuring") as status:
        figures = measure(
            quick=config.quick, workers=config.workers, told=lambda what: status.update(f"measuring: {what}")
        )
    if config.json:
        print_json({"machine": machine(), "figures": [figure._asdict() for figure in figures]})
    else:
        print_figures("chicago eval bench", machine(), figures)
    return OK
