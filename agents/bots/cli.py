"""The command `chicago bot-check`."""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import tyro

from agents.bots.limits import READERS, Limits, split_command, split_spec
from chicago_env.cli import FAILED, OK, print_json
from chicago_env.errors import UsageError

_SHOWN = 1500
_LEGAL = '"legal":['


@dataclass(frozen=True)
class Config:
    """Find out what a bot does wrong: it is asked every kind of question under every preset, at 2-6 players."""

    command: tyro.conf.Positional[str]
    """The bot as one word in quotes: "python3 mybot.py". With options, as agents are named: "exec?move=5:python3 mybot.py"."""
    json: bool = False
    """Print JSON."""
    log: str | None = None
    """File for what the bot writes to standard error."""


def run(config: Config) -> int:
    """Checks and prints."""
    from agents.bots.check import check_bot  # noqa: PLC0415 - `--help` needs none of it
    from agents.registry import AgentSpecError, read_options  # noqa: PLC0415 - as above

    text, command = None, config.command
    if command.startswith(("exec:", "exec?")):
        text, command = split_spec(command)
    options = read_options(config.command, text, READERS)
    log = options.pop("log", config.log)
    quiet = config.json or not sys.stderr.isatty()
    try:
        words = split_command(command)
        report = check_bot(
            words,
            Limits(**options),
            log=log,
            on_check=lambda name: None if quiet else print(f"{name} ...", file=sys.stderr),
        )
    except (ValueError, FileNotFoundError) as error:
        if isinstance(error, AgentSpecError):
            raise
        raise UsageError(f"{config.command!r}: {error}") from None
    if config.json:
        print_json(report.to_json())
        return OK if report.ok else FAILED
    who = "it does not say who it is" if report.name is None else f"{report.name} {report.version}"
    print(f"{' '.join(report.command)}: {who}")
    wrong = Counter(dict.fromkeys(report.asked, 0))
    for failure in report.failures:
        wrong.update(failure.checks)
    for name, asked in report.asked.items():
        print(f"  {'FAILED' if wrong[name] else 'ok':<6}  {name}" + (f", {asked} questions" if asked else ""))
    for failure in report.failures:
        more = f" ({failure.times} times in all)" if failure.times > 1 else ""
        print(f"\n{failure.status} in '{failure.check}'{more}: {failure.reason}")
        if failure.line:
            print(f"  it wrote: {failure.line}")
        for line in failure.stderr:
            print(f"  standard error: {line}")
        if failure.message is not None:
            print(f"  it was sent: {_shown(failure.message)}")
    for note in report.notes:
        print(f"note: {note}")
    if report.decisions_per_second is not None:
        print(f"{report.decisions_per_second:,.0f} decisions/s; slowest answer {report.slowest_seconds:.3f} s")
    count = sum(wrong.values())
    failures = "1 failure" if count == 1 else f"{count} failures"
    if report.unchecked:
        print(f"\nnot checked, because of {'it' if count == 1 else 'them'}:")
        for name in report.unchecked:
            print(f"  {name}")
    if report.failures and report.log:
        print(f"\nstandard error of the bot: {report.log}")
    print(f"\n{'this bot can play' if report.ok else failures}")
    return OK if report.ok else FAILED


def _shown(message: dict[str, Any]) -> str:
    """The line that was sent; a long one without its middle, for the legal actions stand at the end."""
    text = json.dumps(message, separators=(",", ":"))
    if len(text) <= _SHOWN:
        return text
    legal = text.rfind(_LEGAL)
    end = text[legal:] if legal >= 0 else ""
    end = end if len(end) <= _SHOWN else f"{end[:_SHOWN]} …"
    begin = text[: min(_SHOWN // 2, legal) if legal >= 0 else _SHOWN]
    return f"{begin} … {end} (whole with --json)"
