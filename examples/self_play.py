"""Train an agent by self-play with this project's learner, in a few lines of Python (`chicago train` does more).

python examples/self_play.py [DECISIONS]
"""

import sys
from pathlib import Path

import agents
from eval import rank
from train.config import STATE, TrainConfig
from train.run import train

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
folder = Path("runs") / f"self-play-{steps}"
config = TrainConfig(name="mine", players=(2,), rules=("pagat",), steps=steps, eval_matches=0)
result = train(config, folder, resume=(folder / STATE).exists())  # goes on where a run was stopped
if not result.finished:
    sys.exit(f"stopped; the same command goes on with the run in {folder}")
field = {"mine": agents.load(str(result.checkpoint)), "heuristic:novice": agents.load("heuristic:novice")}
print(rank(field, boards=200, matches=200).text())
