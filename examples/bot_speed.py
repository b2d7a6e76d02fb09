"""How many decisions a second a program makes, the harness's share included: python examples/bot_speed.py "python3 mybot.py"."""

import resource
import sys
import time
from pathlib import Path

import numpy as np

import agents
from chicago_env.setup import MatchSetup
from eval.play import Clock, play_games

MATCHES = 200

command = sys.argv[1] if len(sys.argv) > 1 else f"{sys.executable} {Path(__file__).parent / 'bots' / 'bot.py'}"
both = {"random": agents.load("random"), "bot": agents.load(f"exec:{command}")}
clock = Clock()
for matches in (2, MATCHES):  # the first ones compile, and start the program
    clock, spent = Clock(), time.process_time()
    setups = [MatchSetup.make(2, "pagat", seed=seed) for seed in range(matches)]
    play_games(both, setups, np.arange(matches), np.tile([[0, 1], [1, 0]], (matches // 2, 1)), 0, clock=clock)
spent = time.process_time() - spent
both["bot"].close()
children = resource.getrusage(resource.RUSAGE_CHILDREN)
count = clock.decisions["bot"]
print(
    f"processor time of a decision: {spent / count * 1e6:.0f} µs here, {children.ru_utime / count * 1e6:.0f} µs in the bot"
)
print(f"{clock.decisions['bot']} decisions, {clock.speed('bot'):,.0f} a second, two processes")
