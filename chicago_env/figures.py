"""Tables of figures that are never cut: names wrap, columns that find no room stand in a further table below."""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_NARROWEST_NAME = 12
_UNBOUND = 10_000
"""Characters of a line where nobody says how wide one may be: more than any table here needs."""


def output_console() -> Console:
    """Standard output: as wide as the terminal or `COLUMNS` says, as wide as is needed where neither says anything."""
    bound = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(highlight=False, width=None if bound else _UNBOUND)


def wrapped(name: str, width: int) -> str:
    """A name in lines of at most `width` cells, broken behind blanks and marks, and before slashes, where that is possible."""
    lines = [""]
    for piece in re.findall(r"/?[^ /:&?+_-]*[ :&?+_-]|/?[^ /:&?+_-]+|/", name):
        if cell_len(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += piece
        while cell_len(lines[-1].rstrip()) > width:
            end = next(i for i in range(len(lines[-1]), 0, -1) if i == 1 or cell_len(lines[-1][:i]) <= width)
            lines[-1:] = [lines[-1][:end], lines[-1][end:]]
    return "\n".join(line.rstrip() for line in lines)


def _width(text: str) -> int:
    return max((cell_len(line) for line in text.split("\n")), default=0)


class FigureTable:
    """A title, and rows of a name and figures."""

    def __init__(self, title: str, headings: Sequence[str], *, names: str = "", header_style: str = "bold underline"):
        """Takes the headings of the figures, which may have several lines, and the one of the names."""
        self.title = title
        self.names = names
        self.headings = list(headings)
        self.header_style = header_style
        self.rows: list[tuple[str, list[str]]] = []

    def add(self, name: str, figures: Iterable[str]) -> None:
        """Adds a row."""
        self.rows.append((name, list(figures)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title:
            yield Text(self.title, style="italic")
        widths = [
            max(map(_width, column)) for column in zip(self.headings, *(row for _, row in self.rows), strict=True)
        ]
        longest = max((_width(name) for name, _ in [*self.rows, (self.names, [])]), default=0)
        needed = min(longest, _NARROWEST_NAME)
        gap = 2 if sum(widths) + 2 * len(widths) + needed <= options.max_width else 1
        room = options.max_width - needed
        at = 0
        while at < len(widths) or at == 0:
            end = at + 1
            while end < len(widths) and sum(widths[at : end + 1]) + gap * (end + 1 - at) <= room:
                end += 1
            taken = sum(widths[at:end]) + gap * len(widths[at:end])
            yield self._block(slice(at, end), widths, max(1, min(longest, options.max_width - taken)), gap)
            at = end
            if at < len(widths):
                yield ""

    def _block(self, part: slice, widths: Sequence[int], name_width: int, gap: int) -> Table:
        table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style=self.header_style)
        table.add_column(self.names, width=name_width, no_wrap=True)
        for heading, width in zip(self.headings[part], widths[part], strict=True):
            table.add_column(heading, justify="right", no_wrap=True, width=width)
        for name, figures in self.rows:
            table.add_row(Text(wrapped(name, name_width), style="bold"), *figures[part])
        return table


def print_table(machine: Mapping[str, object], table: FigureTable) -> None:
    """Prints what was measured, and on which machine."""
    console = output_console()
    console.print(table)
    console.print(Text(", ".join(f"{name} {value}" for name, value in machine.items())))
