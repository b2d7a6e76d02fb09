"""Play against a checkpoint: the ones that come with the project go by name, others by path.

python examples/load_checkpoint_as_opponent.py [CHECKPOINT]
"""

import sys

import gymnasium as gym

import chicago_env  # noqa: F401 - registers the environment

opponent = sys.argv[1] if len(sys.argv) > 1 else "ppo-2p"
env = gym.make("chicago_env/Chicago-v0", opponents=[opponent])
wins = 0
for seed in range(10):
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        action = env.action_space.sample(info["action_mask"])  # your agent goes here
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    wins += info["is_success"]
print(f"random play won {wins} of 10 matches against {opponent}")
