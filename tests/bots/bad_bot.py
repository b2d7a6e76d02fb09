"""A bot that plays the first legal action, and at every n-th turn does something wrong: bad_bot.py WHAT N."""

import json
import os
import subprocess
import sys
import time

WHAT, EVERY = sys.argv[1], int(sys.argv[2])
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def say(message: object) -> None:
    write(json.dumps(message).encode() + b"\n")


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def misbehave(what: str, message: dict) -> None:
    turn, legal = message["turn"], [option["id"] for option in message["legal"]]
    illegal = next(a for a in range(102) if a not in legal)
    answer = {"type": "action", "turn": turn, "action": legal[0]}
    if what == "crash":
        raise ZeroDivisionError
    if what == "exit":
        os._exit(0)
    if what == "signal":
        os.kill(os.getpid(), 11)
    if what == "hang":
        time.sleep(600)
    if what == "burn":
        while True:
            pass
    if what == "close":
        os.close(1)
        time.sleep(600)
    if what == "flood":
        while True:
            write(b"x" * 65536)
    if what == "lines":
        while True:
            write(b"x\n" * 30000)
    if what == "memory":
        hoard = [bytearray(1 << 20) for _ in range(1 << 14)]
        time.sleep(len(hoard))
    if what == "children":
        subprocess.Popen(SLEEPER)
        subprocess.Popen(SLEEPER, start_new_session=True)
        if os.fork() == 0:  # its parent goes, so that nobody could tell whose it was
            os.setsid()
            subprocess.Popen(SLEEPER)
            os._exit(0)
        os._exit(1)
    if what == "many":
        for _ in range(60):
            subprocess.Popen(SLEEPER)
        time.sleep(600)
    lines = {
        "garbage": b"\x00\xff\x1b[2Jhello\n",
        "empty": b"\n",
        "text": b"play AS\n",
        "list": b"[1, 2]\n",
        "deep": b"[" * 900 + b"\n",
        "number": b'{"type":"action","turn":1,"action":' + b"9" * 900 + b"}\n",
        "nan": json.dumps({**answer, "action": float("nan")}).encode() + b"\n",
        "float": json.dumps({**answer, "action": float(legal[0])}).encode() + b"\n",
        "null": json.dumps({**answer, "action": None}).encode() + b"\n",
        "true": json.dumps({**answer, "action": True}).encode() + b"\n",
        "illegal": json.dumps({**answer, "action": illegal}).encode() + b"\n",
        "range": json.dumps({**answer, "action": 102}).encode() + b"\n",
        "negative": json.dumps({**answer, "action": -1}).encode() + b"\n",
        "word": json.dumps({**answer, "action": "fold"}).encode() + b"\n",
        "turn": json.dumps({**answer, "turn": turn - 1}).encode() + b"\n",
        "key": json.dumps({**answer, "why": "because"}).encode() + b"\n",
        "kind": json.dumps({**answer, "type": "move"}).encode() + b"\n",
        "missing": json.dumps({"type": "action", "turn": turn}).encode() + b"\n",
        "double": f'{{"type":"action","turn":{turn},"action":{legal[0]},"action":{legal[0]}}}\n'.encode(),
        "twice": (json.dumps(answer).encode() + b"\n") * 2,
    }
    write(lines[what])


def main() -> None:
    if WHAT == "silent":
        time.sleep(600)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            if WHAT == "old":
                say({"type": "hello", "protocol": 0, "name": "old", "version": "0"})
                continue
            say({"type": "hello", "protocol": 1, "name": f"bad {WHAT}"[:64], "version": "1"})
        elif message["type"] == "act":
            action = message["legal"][0]["id"]
            # which questions it fails at depends on the question alone
            number = sum(ord(c) * i * i for i, c in enumerate("".join(message["view"]["hand"]), 1))
            unlucky = (number + message["view"]["stock"]) % EVERY == 0
            if WHAT == "noise":
                sys.stderr.write("n" * 100_000)
            if unlucky and WHAT not in {"none", "noise", "stays"}:
                what = WHAT.split(",")
                misbehave(what[number // EVERY % len(what)], message)
                continue
            say({"type": "action", "turn": message["turn"], "action": action})
        elif message["type"] == "quit" and WHAT != "stays":
            return


if __name__ == "__main__":
    main()
    if WHAT == "stays":
        time.sleep(600)
