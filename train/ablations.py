"""What each option of training is worth at an equal budget, as a table: `python -m train.ablations`.

It is printed, or written into a page, `--page docs/training.md`.
Every variant differs from the base in what its name says, and trains on the same number of decisions from nothing. Then it
plays mirrored matches against the base and against the expert. The first variant is the base with another seed: what it
differs by is chance. Runs are kept in a folder; what is finished there is not trained again.
"""

import argparse
import dataclasses
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents import load
from chicago_env.cli import told
from chicago_env.docs import FOLDER, filled
from chicago_env.errors import UsageError
from chicago_env.files import replacing
from chicago_env.setup import check_int
from eval.ranking import rank
from eval.stats import Estimate
from train.callback import checkpoint_path
from train.config import CONFIG, STATE, TrainConfig, read_config
from train.run import train

PAGE = FOLDER / "training.md"
NAME = "ablations"
EXPERT = "heuristic:expert"
RESULT = "result.json"

BASE = TrainConfig(
    name="base", hidden=(256, 128), teacher=EXPERT, teacher_share=0.2, eval_matches=0, save_seconds=600.0, seed=1
)
"""Small layers, so that all of it takes an hour; the expert is imitated first, without which nobody calls Chicago."""

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "seed 2": {"seed": 2},
    "suits canonical": {"suits": "canonical"},
    "critic state": {"critic": "state"},
    "locations .1": {"locations": 0.1},
    "vine 8192": {"vine": 8192},
    "equity-rounds 3": {"equity_rounds": 3},
    "reward points": {"reward": "points"},
    "average .99": {"average": 0.99},
    "advantage-share .5": {"advantage_share": 0.5},
    "past-share .15": {"past_share": 0.15},
    "gae-lambda .5": {"gae_lambda": 0.5},
    "gae-lambda .95": {"gae_lambda": 0.95},
    "entropy .2 to .004": {"entropy": 0.2},
    "entropy .01 to .001": {"entropy": 0.01, "entropy_end": 0.001},
    "exploration .1": {"exploration": 0.1},
    "learning-rate .001": {"learning_rate": 0.001},
    "no teacher": {"teacher": None, "teacher_share": TrainConfig.teacher_share},
}
"""Changes to the base, by name; the first is no change but of chance."""


def config_of(variant: str, steps: int) -> TrainConfig:
    """The configuration of a variant, or of the base where it is none."""
    name = variant.replace(" ", "-")
    return dataclasses.replace(BASE, steps=steps, name=name, **VARIANTS.get(variant, {}))


def trained(variant: str, steps: int, folder: Path, threads: int | None) -> Path:
    """The checkpoint of a variant, which is trained, or trained to its end, if it is not there.

    Raises:
        UsageError: the folder holds that variant with another budget, or with other options.
    """
    config = config_of(variant, steps)
    run = folder / config.name
    if (run / CONFIG).exists() and (kept := read_config(run / CONFIG)) != config:
        ours, theirs = config.to_dict(), kept.to_dict()
        differs = ", ".join(f"{name} {theirs[name]}, not {ours[name]}" for name in ours if theirs[name] != ours[name])
        raise UsageError(f"{run} holds a run of another kind ({differs}); give another folder")
    if not (run / RESULT).exists():
        result = train(config, run, resume=(run / STATE).exists(), threads=threads)
        if not result.finished:
            raise KeyboardInterrupt
        _keep(run / RESULT, {"steps": result.steps})
    return checkpoint_path(run, config)


def measured(variant: str, checkpoint: Path, base: Path, boards: int) -> dict[str, Any]:
    """What a variant won; it is kept beside its checkpoint."""
    path = checkpoint.parent / RESULT
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    played = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (checkpoint, base)]
    if found.get("boards") != boards or found.get("played") != played:
        others = {"expert": load(EXPERT)} if variant == "base" else {"base": load(str(base)), "expert": load(EXPERT)}
        agents = {"variant": load(str(checkpoint)), **others}
        ranking = rank(agents, field="first", boards=2, matches=boards, seed=1_000_003)
        wins = {name: list(ranking.pair("variant", name).wins) for name in others}
        found |= {"boards": boards, "played": played, "wins": wins}
        _keep(path, found)
    return found


def _keep(path: Path, found: Mapping[str, Any]) -> None:
    with replacing(path) as file:
        file.write((json.dumps(found) + "\n").encode())


def ablations_table(results: Mapping[str, Mapping[str, Any]], steps: int) -> str:
    """The results of all variants, the base first, as a Markdown table."""
    boards = results["base"]["boards"]
    layers = "-".join(map(str, BASE.hidden))
    lines = [
        f"Two players, `pagat`, layers {layers}, {steps / 1e6:g} million decisions from nothing each, `{BASE.teacher}` imitated "
        f"for the first {100 * BASE.teacher_share:.0f} %, one seed; {boards:,} boards of mirrored matches, 95 % intervals over "
        "boards, bold where clear of one half.",
        "",
        "| variant | against the base, % | against the expert, % |",
        "|---|---|---|",
    ]
    for variant, found in results.items():
        wins = {name: Estimate(*values) for name, values in found["wins"].items()}
        base = "" if variant == "base" else _percent(wins["base"])
        lines.append(f"| {variant} | {base} | {_percent(wins['expert'])} |")
    return "\n".join(lines)


def _percent(wins: Estimate) -> str:
    """A share with its interval, bold where it is clear of one half."""
    if wins.mean is None or wins.low is None or wins.high is None:
        return "–"
    clear = "**" if wins.low > 0.5 or wins.high < 0.5 else ""
    return f"{clear}{100 * wins.mean:.1f}{clear} [{100 * wins.low:.1f}, {100 * wins.high:.1f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--variants", nargs="+", metavar="NAME", help=f"variants to train, of: {', '.join(VARIANTS)}; without it all"
    )
    parser.add_argument("--steps", type=int, default=2_000_000, help="decisions that each is trained on, %(default)s")
    parser.add_argument(
        "--boards", type=int, default=2000, help="boards of mirrored matches against each opponent, %(default)s"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/ablations"), help="folder that keeps the runs, %(default)s"
    )
    parser.add_argument("--threads", type=int, help="threads of the network; without it one for each core")
    parser.add_argument("--page", type=Path, help=f"page to write the whole table into, e.g. {FOLDER.name}/{PAGE.name}")
    given = parser.parse_args(arguments)
    variants = list(VARIANTS) if given.variants is None else given.variants
    unknown = set(variants) - set(VARIANTS)
    if unknown:
        raise UsageError(f"variants: there is no {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    if given.page is not None:
        if set(variants) != set(VARIANTS):
            raise UsageError("a page takes the table of all variants: give no --variants, or no --page")
        filled(given.page.read_text("utf-8"), NAME, "")  # before anything is trained: whether it has a place for it
    check_int("boards", given.boards, 2, 10**6)
    results = {}
    base = trained("base", given.steps, given.folder, given.threads)
    for variant in ("base", *variants):
        checkpoint = trained(variant, given.steps, given.folder, given.threads)
        results[variant] = measured(variant, checkpoint, base, given.boards)
        sys.stderr.write(f"{variant}: {json.dumps(results[variant])}\n")
    table = ablations_table(results, given.steps)
    if given.page is None:
        sys.stdout.write(table + "\n")
        return 0
    page = given.page.read_text("utf-8")  # now: somebody may have written into it meanwhile
    with replacing(given.page) as file:
        file.write(filled(page, NAME, table).encode())
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
