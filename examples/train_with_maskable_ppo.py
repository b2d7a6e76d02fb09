"""Train sb3-contrib's plain MaskablePPO on the Gymnasium environment, against a fixed opponent.

python examples/train_with_maskable_ppo.py [STEPS]

The same algorithm takes `train.opponents.OpponentVecEnv` over the vector form in place of the environments below, which
plays many games side by side and is several times faster from some hundred games on. (`success_rate` in its log stays
0: a single deal decides no match.)
"""

import sys

import gymnasium as gym
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import chicago_env  # noqa: F401 - registers the environment

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000


def make() -> gym.Env:
    """A seat at a table of two, in single deals that pay points."""
    return gym.make("chicago_env/Chicago-v0", opponents=["heuristic:novice"], reward="points", max_deals=1)


model = MaskablePPO(
    "MlpPolicy", DummyVecEnv([make] * 8), n_steps=256, batch_size=256, gamma=1.0, device="cpu", verbose=1
)
model.learn(steps)

env = make()
total = 0.0
for seed in range(200):
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        action, _ = model.predict(observation, action_masks=info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(int(action))
        total += float(reward)
        over = terminated or truncated
print(f"{total / 200:+.2f} points a deal against the novice")
