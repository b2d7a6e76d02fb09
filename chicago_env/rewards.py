"""Rewards, zero-sum at every step, in one place for all environments.

- `win`: at the end 1 for the winner and -1/(P-1) for each other seat; 0 when the match was truncated.
- `placement`: at the end 1 - 2·place/(P-1), place 0 for the winner, the others by score; tied seats share the mean of
  their places. A truncated match has no winner, and all places go by score.
- `points`: at every step the points a seat gained less the mean of what the others gained.
"""

from typing import Any

from chicago_env._jit import jit
from chicago_env.errors import SetupError

REWARDS = ("win", "placement", "points")
WIN, PLACEMENT, POINTS = range(3)


def reward_kind(name: object) -> int:
    """Number of a reward by its name.

    Raises:
        SetupError: no reward of that name.
    """
    if name not in REWARDS:
        raise SetupError(f"reward: {name!r} is unknown; allowed are {', '.join(REWARDS)}")
    return REWARDS.index(name)


@jit
def save_scores(g: Any, before: Any) -> None:
    """Copies the scores into `before` (6,) int64, for `write_rewards` after the step."""
    for s in range(int(g["players"])):
        before[s] = g["scores"][s]


@jit
def _beats(g: Any, a: int, b: int) -> bool:
    if g["winner"] == a or g["winner"] == b:
        return bool(g["winner"] == a)
    return bool(g["scores"][a] > g["scores"][b])


@jit
def write_rewards(g: Any, kind: int, before: Any, out: Any) -> None:
    """Writes the rewards of the step since `save_scores` into `out` (P or more,) float32; entries beyond P become 0."""
    players = int(g["players"])
    for s in range(out.shape[0]):
        out[s] = 0.0
    if kind == POINTS:
        total = 0
        for s in range(players):
            total += int(g["scores"][s] - before[s])
        for s in range(players):
            gained = int(g["scores"][s] - before[s])
            out[s] = gained - (total - gained) / (players - 1)
        return
    if g["reason"] == 0:
        return
    if kind == WIN:
        if g["winner"] >= 0:
            for s in range(players):
                out[s] = 1.0 if s == g["winner"] else -1.0 / (players - 1)
        return
    for s in range(players):
        place = 0.0
        for other in range(players):
            if other != s:
                if _beats(g, other, s):
                    place += 1.0
                elif not _beats(g, s, other):
                    place += 0.5
        out[s] = 1.0 - 2.0 * place / (players - 1)
