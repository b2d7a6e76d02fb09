"""What the commands of `eval` read and write: agents by spec, files that are checked before anything is played."""

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chicago_env.errors import UsageError
from eval.extras import REPORT, require

if TYPE_CHECKING:
    from eval.ranking import Ranking

STDOUT = "-"


def by_name(specs: Sequence[str], example: str) -> dict[str, str]:
    """The specs by the names of the agents.

    A name is the spec; of the path of a checkpoint the name of the file, where no agent before it is called so. A spec
    that is given again is `NAME#2` and so on. Further agents at the end change no name.

    Raises:
        UsageError: no specs; it shows `example`.
    """
    from agents.registry import SUFFIX, is_path, names  # noqa: PLC0415 - `--help` needs none of it

    if not specs:
        raise UsageError(f"no agents given; `chicago agents` lists them, e.g. {example}")
    named: dict[str, str] = {}
    known = set(names())
    for i, spec in enumerate(specs):
        name = spec
        if is_path(spec):
            stem = Path(spec).name.removesuffix(SUFFIX)
            if stem and stem not in known and named.get(stem, spec) == spec:
                name = stem
        again = specs[:i].count(spec)
        named[f"{name}#{again + 1}" if again else name] = spec
    return named


def name_of(agent: str, named: Mapping[str, str]) -> str:
    """The name of an agent that may be given by its spec as well."""
    return agent if agent in named else next((name for name, spec in named.items() if spec == agent), agent)


def check_outputs(
    *, json: str | None, out: str | None = None, records: str | None = None, store: str | None = None
) -> None:
    """Finds out before anything is played whether everything can be written, rather than after. Makes nothing.

    Raises:
        UsageError: there are records in the file of records already, or two files are the same.
        OSError: a folder is not there or cannot be written.
        MissingExtra: a report is asked for, and a package that it needs is not installed.
    """
    files: list[Path] = []
    folders: list[Path] = []
    if out is not None:
        require(*REPORT)
        from eval.report import files_of  # noqa: PLC0415 - `--help` needs none of it

        files += files_of(Path(out))
        # The folder is made when there is something to write; here its first ancestor that is there is tried.
        folders.append(next(path for path in (Path(out), *Path(out).absolute().parents) if os.path.lexists(path)))
    for path in (None if json == STDOUT else json, records, store):
        if path is not None:
            files.append(Path(path))
            folders.append(files[-1].parent)
    for file in files:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    places = [file.resolve() for file in files]
    taken = [*places, Path(out).resolve()] if out is not None else places
    for file, place in zip(files, places, strict=True):
        if taken.count(place) > 1:
            raise UsageError(f"{file}: two results would be written to it")
    if records is not None and Path(records).exists() and Path(records).stat().st_size:
        raise UsageError(f"{records}: is there already; records of different runs are not mixed")
    for folder in folders:
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(folder)) from None


def record_sink(path: str | None, stack: ExitStack) -> Callable[[dict[str, Any]], None] | None:
    """What takes records and appends them to the file at `path`; closed with `stack`."""
    if path is None:
        return None
    from chicago_env.records import RecordWriter  # noqa: PLC0415 - only where records are asked for

    stack.push(partial(_tidy, Path(path)) if not Path(path).exists() else lambda *_: None)
    return stack.enter_context(RecordWriter(path)).write


def _tidy(path: Path, kind: type[BaseException] | None, *_: object) -> None:
    """Takes a file of records away that was made for nothing."""
    if kind is not None and path.exists() and not path.stat().st_size:
        path.unlink()


def write_records(path: str, store: str) -> None:
    """Writes the records of all games of a store to a file."""
    from eval.store import Store  # noqa: PLC0415 - `--help` needs none of it
    from eval.store.export import records  # noqa: PLC0415 - as above

    with ExitStack() as stack:
        kept = stack.enter_context(Store.reading(store))
        sink = record_sink(path, stack)
        for record in records(kept):
            if sink is not None:
                sink(record)


def show(ranking: "Ranking", *, json: str | None, out: str | None) -> None:
    """Prints a ranking, and writes what is asked for: JSON to a file or to standard output, the report to a folder."""
    if json == STDOUT:
        sys.stdout.write(ranking.to_json())
    else:
        from chicago_env.figures import output_console  # noqa: PLC0415 - as above
        from eval.tables import tables_of  # noqa: PLC0415 - as above

        output_console().print(tables_of(ranking))
        if json is not None:
            from chicago_env.files import replacing  # noqa: PLC0415 - as above

            with replacing(json) as file:
                file.write(ranking.to_json().encode())
    if out is not None:
        print(f"report: {ranking.write_report(out)}", file=sys.stderr)
