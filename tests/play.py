"""Random play of games and batches for the tests."""

import random  # noqa: TID251 - the choices of a test
from collections.abc import Callable

import numpy as np

from chicago_env.game import Game
from chicago_env.notation import VARIANTS
from chicago_env.rules import PRESETS

PLAYERS = (2, 3, 4, 5, 6)
PRESET_NAMES = tuple(PRESETS)

# Rules that between them reach every phase and every branch of the engine.
RULE_SETS = (
    *PRESET_NAMES,
    "open-card+penalty=all+show_broken=yes+four=choose+announcing=compulsory+reveal=cards",
    "family+open_card=yes+reveal=ranks+suits=SHCD+breaker=8+needs_chicago=attempt+chicago_from=none",
    "race+needs_chicago=success+chicago_from=0+buy_stop=1+penalty=15+two_doubles=yes+show_broken=yes",
    "pagat+scored_exchanges=yes,yes,yes+show_broken=yes+announcing=compulsory+target=15+buy_stop=none",
)


def variant_specs() -> list[str]:
    """Every preset with every named variant."""
    return [f"{preset}+{variant.key}={value}" for preset in PRESETS for variant in VARIANTS for value in variant.values]


def cautious(game: Game, rng: random.Random) -> int:
    """A random legal action, but seldom a call of Chicago: matches of callers hardly ever end."""
    legal = game.legal_actions()
    if legal == [48, 49]:
        return 49 if rng.random() < 0.1 else 48
    return rng.choice(legal)


def play(game: Game, rng: random.Random, limit: int = 10**9, each: Callable[[Game], None] | None = None) -> int:
    """Plays on until the match is over or `limit` decisions are made; returns their number."""
    made = 0
    while not game.over and made < limit:
        if each is not None:
            each(game)
        game.step(cautious(game, rng))
        made += 1
    return made


def pick(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(B,) random legal actions of `mask` (B, A)."""
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=1))
