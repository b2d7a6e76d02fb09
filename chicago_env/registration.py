"""Registers `chicago_env/Chicago-v0` with Gymnasium; `import chicago_env` does it."""

import gymnasium

ENV_ID = "chicago_env/Chicago-v0"


def register() -> None:
    """Makes `gymnasium.make("chicago_env/Chicago-v0")` and `make_vec` work; may be called more than once."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=ENV_ID,
            entry_point="chicago_env.gym_env:ChicagoEnv",
            vector_entry_point="chicago_env.gym_vector:ChicagoVectorEnv",
        )
