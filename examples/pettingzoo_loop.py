"""A PPO loop in one file over the PettingZoo environment, in the style of CleanRL: every seat is the learner.

python examples/pettingzoo_loop.py [MATCHES]

It shows how masks, seats and rewards fit into a loop of one's own: a decision of a seat is paid by what `last()` gives that
seat at its next turn. `chicago train` is many times faster, since it plays thousands of games side by side.
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from chicago_env import chicago_v0

matches = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
epochs, clip, entropy_weight, batch = 4, 0.2, 0.02, 20

env = chicago_v0.env(players=2, rules="pagat", reward="points", max_deals=1, skip_forced=True)
env.reset(seed=0)
size = env.observation_space("player_0")["observation"].shape[0]
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
policy, value = nn.Linear(256, env.action_space("player_0").n), nn.Linear(256, 1)
parameters = [*body.parameters(), *policy.parameters(), *value.parameters()]
optimizer = torch.optim.Adam(parameters, lr=3e-4)


def evaluate(observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
    """Policy over the legal actions, and values (B,)."""
    hidden = body(observations.float() / 16)
    logits = policy(hidden).masked_fill(masks == 0, -1e9)
    return Categorical(logits=logits), value(hidden).squeeze(-1)


steps: list[tuple[np.ndarray, np.ndarray, int, float, float]] = []  # observation, mask, action, log probability, return
for match in range(matches):
    env.reset(seed=match)
    turns: dict[str, list] = {agent: [] for agent in env.agents}  # what each seat has seen and done
    paid: dict[str, list[float]] = {agent: [] for agent in env.agents}
    for agent in env.agent_iter():
        seen, reward, termination, truncation, _ = env.last()
        if turns[agent]:
            paid[agent].append(reward)  # for the seat's decision before
        if termination or truncation:
            env.step(None)
            continue
        observation, mask = seen["observation"], seen["action_mask"]
        with torch.no_grad():
            choice, _ = evaluate(torch.from_numpy(observation)[None], torch.from_numpy(mask)[None])
            action = choice.sample()
        turns[agent].append((observation, mask, int(action), float(choice.log_prob(action))))
        env.step(int(action))
    for agent, seats_turns in turns.items():
        returns = np.cumsum(paid[agent][::-1])[::-1] / 10  # undiscounted, of about size 1
        steps += [(*turn, float(total)) for turn, total in zip(seats_turns, returns, strict=True)]
    if (match + 1) % batch == 0:
        observations, masks, actions, old, returns = (
            torch.from_numpy(np.array(part)) for part in zip(*steps, strict=True)
        )
        returns = returns.float()
        for _ in range(epochs):
            choice, values = evaluate(observations, masks)
            advantages = (returns - values).detach()
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            ratio = (choice.log_prob(actions) - old).exp()
            gain = torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()
            loss = (values - returns).pow(2).mean() - gain - entropy_weight * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
        print(f"{match + 1} matches, {len(steps)} decisions, loss {loss.item():.3f}")
        steps.clear()
