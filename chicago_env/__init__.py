"""Chicago, the Swedish card game, as a reinforcement-learning environment."""
