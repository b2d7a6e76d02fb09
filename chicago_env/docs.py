"""Writes the tables of docs/ from the code: `python -m chicago_env.docs`, or `--check` to see whether they are up to date."""

import argparse
import sys
from pathlib import Path

from chicago_env import layout
from chicago_env.actions import ACTION_VERSION, NUM_ACTIONS, PLAY, format_action
from chicago_env.cli import told
from chicago_env.errors import UsageError
from chicago_env.files import replacing
from chicago_env.notation import rules_table, variants_table

FOLDER = Path(__file__).resolve().parent.parent / "docs"
_BEGIN, _END = "<!-- generated: {} -->", "<!-- end -->"


def observations_table() -> str:
    """The blocks of the observation and of `state()`, as a Markdown table."""
    lines = [
        "| block | first | shape | entries | highest | network input | what it says |",
        "|---|---|---|---|---|---|---|",
    ]
    at = 0
    for block in layout.BLOCKS + layout.STATE_BLOCKS:
        shape = " × ".join(map(str, block.shape))
        scale = "x" if (block.offset, block.scale) == (0, 1) else f"(x - {block.offset}) / {block.scale}"
        name = f"`{block.name}`" + ("" if at < layout.OBSERVATION_SIZE else " (`state()` only)")
        lines.append(f"| {name} | {at} | {shape} | {block.kind} | {block.high} | {scale} | {block.help} |")
        at += block.size
    head = (
        f"Version {layout.OBSERVATION_VERSION}, hash `{layout.layout_hash()}`: D = {layout.OBSERVATION_SIZE} entries, "
        f"`state()` has {layout.STATE_SIZE}.\n\n"
    )
    return head + "\n".join(lines)


def actions_table() -> str:
    """All actions and their texts, as a Markdown table."""
    hand = [0, 5, 10, 15, 20]
    lines = [f"Version {ACTION_VERSION}: Discrete({NUM_ACTIONS}).", "", "| id | text |", "|---|---|"]
    lines += [f"| {a} | `{format_action(a, hand)}` |" for a in (0, 1, 2, 3, 31)]
    lines += [f"| {a} | `{format_action(a)}` |" for a in range(32, PLAY)]
    lines += [f"| {a} | `{format_action(a)}` |" for a in (PLAY, PLAY + 1, NUM_ACTIONS - 1)]
    return "\n".join(lines)


TABLES = {
    "observations": ("observations.md", observations_table),
    "actions": ("actions.md", actions_table),
    "rules": ("environment.md", rules_table),
    "variants": ("environment.md", variants_table),
}
"""Name of each table, the page it stands in, and what makes it."""


def filled(text: str, name: str, table: str) -> str:
    """The page `text` with the table `name` in its place.

    Raises:
        UsageError: the page has no place for it.
    """
    begin = _BEGIN.format(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(_END)
    if not found or not closed:
        raise UsageError(f"no place for the table {name}: it stands between {begin} and {_END}")
    return f"{before}{begin}\n\n{table.strip()}\n\n{_END}{after}"


def pages() -> dict[Path, str]:
    """Each page with generated tables as it should be."""
    result: dict[Path, str] = {}
    for name, (page, make) in TABLES.items():
        path = FOLDER / page
        result[path] = filled(result.get(path) or path.read_text("utf-8"), name, make())
    return result


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is out of date")
    check = parser.parse_args().check
    stale = {path: text for path, text in pages().items() if path.read_text("utf-8") != text}
    for path, text in stale.items():
        sys.stdout.write(f"{path.name} {'is out of date: run make docs' if check else 'written'}\n")
        if not check:
            with replacing(path) as file:
                file.write(text.encode())
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(told(main))
