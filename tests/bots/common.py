"""What the tests of bots share."""

import contextlib
import os
import shlex
import sys
from pathlib import Path

import agents
from agents.bots.agent import BotAgent
from agents.bots.limits import Limits

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples" / "bots"
PYTHON = shlex.quote(sys.executable)


class First:
    """What the bad bot plays when it behaves."""

    name = "first"

    def act(self, observations, masks, rng):
        return masks.argmax(axis=1)


def bad_bot(what: str, every: int = 40, **limits) -> BotAgent:
    words = [sys.executable, str(HERE / "bad_bot.py"), what, str(every)]
    slow = any(word in what for word in ("hang", "burn", "silent"))
    return BotAgent(words, Limits(**{"move": 0.5 if slow else 20, "bank": 0.1, **limits}), name="bot")


def reference_bot() -> agents.Agent:
    return agents.load(f"exec:{PYTHON} {shlex.quote(str(EXAMPLES / 'bot.py'))}")


def processes_with(text: str) -> list[int]:
    """Processes with `text` in their environment, their command or the path of their working folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            folder = Path("/proc") / name
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
            everything = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            own = state in {b"Z", b"X"} or int(name) == os.getpid()
            if not own and (text.encode() in everything or text in os.readlink(folder / "cwd")):
                found.append(int(name))
    return found
