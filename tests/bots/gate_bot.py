"""A bot that stops after N answers until there is a file `open` in a folder: gate_bot.py FOLDER N.

It plays the first legal action. While it waits there is a file in FOLDER whose name is its process id. The gate is no word of
the command, since files that are words of it belong to what the bot is.
"""

import json
import os
import sys
import time
from pathlib import Path


def main(folder: Path, after: int) -> None:
    gate = folder / "open"
    answered = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer: dict[str, object] = {"type": "hello", "protocol": 1, "name": "gate", "version": "1"}
        elif message["type"] == "act":
            if answered == after and not gate.exists():
                (folder / str(os.getpid())).touch()
                while not gate.exists():
                    time.sleep(0.01)
            answered += 1
            answer = {"type": "action", "turn": message["turn"], "action": message["legal"][0]["id"]}
        elif message["type"] == "quit":
            return
        else:
            continue
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
