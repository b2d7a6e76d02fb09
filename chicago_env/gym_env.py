"""The Gymnasium environments (docs/environment.md): one seat against agents that play the others."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from chicago_env.actions import KEEP_ALL, NUM_ACTIONS
from chicago_env.chicago_v0 import RENDER_MODES, check_options, check_render_mode, draw, observation_box, told_step
from chicago_env.errors import IllegalAction, SetupError
from chicago_env.game import Bytes, Game, Mask
from chicago_env.notation import parse_rules
from chicago_env.opponents import OPPONENTS, SEAT, Opponents, Table, ask_opponent, generator
from chicago_env.records import record_of_game
from chicago_env.records.events import Event
from chicago_env.rewards import reward_kind, write_rewards
from chicago_env.rules import Rules
from chicago_env.setup import MAX_DEALS, MAX_MATCH_DEALS, SEED_LIMIT, MatchSetup, check_flag, check_int


class Actions(gymnasium.spaces.Discrete):
    """`Discrete(102)` that samples a legal action by itself, so that a loop without masks plays legally too.

    Attributes:
        legal: (A,) int8, 1 for what `sample` may give: what is legal now. Before the first reset and after `seed` it is
            the one action that is legal at the start of every match, keeping all cards; at the end of a match any action.
    """

    def __init__(self) -> None:
        """All actions."""
        self.legal = _start_mask()
        super().__init__(NUM_ACTIONS)

    def seed(self, seed: int | None = None) -> Any:
        """Seeds the sampling, of a match that is about to start."""
        self.legal = _start_mask()
        return super().seed(seed)

    def sample(self, mask: Mask | None = None, probability: Any = None) -> np.int64:
        """A random action: by `mask` or `probability` as in `Discrete`, else one of those legal now."""
        if mask is None and probability is None and self.legal.any():
            mask = self.legal
        return super().sample(mask, probability)


def _start_mask() -> Mask:
    mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
    mask[KEEP_ALL] = 1
    return mask


class ChicagoEnv(gymnasium.Env[Bytes, int]):
    """Chicago for one learner. Letters: D `layout.OBSERVATION_SIZE`, A 102 actions, P players.

    - Observation: (D,) uint8, of the own seat. Action: `Discrete(102)`.
    - `info["action_mask"]` and `action_masks()` are the legal actions, (A,) int8 and bool; `action_space.sample()` gives
      one of them. An illegal action raises `IllegalAction` and changes nothing.
    - The other seats play until the own one has a choice again or the match is over. `reset` always ends at the own
      first turn.
    - The reward is the own seat's, see `chicago_env.rewards`, of everything that happened since the last step.
    - `info["seat"]` is the own seat at the table, `info["opponents"]` the names of the others from its left. At the end
      there are `scores` (by seat), `winner` (a seat or None) and `is_success`, whether the own seat won. Truncated: no
      winner after `max_deals` deals.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 1}  # noqa: RUF012  # Gymnasium's own declaration

    def __init__(
        self,
        opponents: Opponents = None,
        *,
        players: int | None = None,
        rules: str | Mapping[str, object] | Rules = "pagat",
        seat: int | None = None,
        reward: str = "win",
        max_deals: int = MAX_DEALS,
        skip_forced: bool = True,
        render_mode: str | None = None,
        reveal: bool = False,
    ) -> None:
        """Checks the arguments; the first match starts with `reset`.

        Args:
            opponents: one that plays all other seats, or P - 1 from the left of the own seat. Each is text that
                `agents.load` takes, an object with `act(observations (B, D), masks (B, A), rng) -> actions (B,)`, None
                for random play, or a pool, `{opponent: weight}`, from which each match draws anew; nobody changes
                within a match.
            players: P, 2 to 6; by default one more than `opponents` has, or 2.
            rules: preset name, notation, mapping or `Rules`.
            seat: own seat; None: another one at random in each match.
            reward: `win`, `placement` or `points`.
            max_deals: a match is truncated after so many deals.
            skip_forced: play decisions with one legal action without asking, those of the opponents too.
            render_mode: `ansi`: `render()` gives text; `human`: printed after each step; None.
            reveal: rendering shows all hands.

        Raises:
            RulesError: impossible rules or number of players.
            ChicagoError: as `agents.load`, of text that names no agent.
            SetupError: any other argument.
        """
        self.rules = parse_rules(rules)
        self._table = Table(opponents, players, self.rules)
        self.players = self._table.players
        self.seat = None if seat is None else check_int("seat", seat, 0, self.players - 1)
        self.reward = reward
        self._kind = reward_kind(reward)
        self.max_deals = check_int("max_deals", max_deals, 1, MAX_MATCH_DEALS)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self.render_mode = check_render_mode(render_mode)
        self.reveal = check_flag("reveal", reveal)
        self.observation_space = observation_box()  # type: ignore[assignment]  # a Box does not know its dtype
        self._match: Game | None = None
        self.action_space: Actions = Actions()  # type: ignore[assignment]  # numpy integers are ints here
        self._own = 0

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Bytes, dict[str, Any]]:
        """Starts a match.

        Args:
            seed: key of the match: its cards, and all chance of the opponents. None: the next of the sequence of seeds
                that the last seed began.
            options: as for `chicago_v0.raw_env.reset`: `decks`, `scores`, `first_dealer`, `deals`.

        Raises:
            SetupError: a seed or an option that is not allowed; no match is started, and no seed is used up.
        """
        chosen = {"max_deals": self.max_deals, **check_options(options)}
        setup = MatchSetup.make(self.players, self.rules, seed=0 if seed is None else seed, **chosen)
        super().reset(seed=None if seed is None else setup.seed)
        seed = int(self.np_random.integers(SEED_LIMIT)) if seed is None else setup.seed
        self._match = Game(setup=dataclasses.replace(setup, seed=seed))
        self._rng = generator(seed, OPPONENTS)
        self._lineup = self._table.lineup(seed)
        self._own = int(generator(seed, SEAT).integers(self.players)) if self.seat is None else self.seat
        self._events: list[Event] = []
        while self._game.seat != self._own:
            self._move_other()
        if self.render_mode == "human":
            self.render()
        return self._show()

    @property
    def _game(self) -> Game:
        if self._match is None:
            raise SetupError("call reset() first: no match has been started")
        return self._match

    def _move_other(self) -> None:
        game = self._game
        if self.skip_forced and (forced := game.forced) is not None:
            self._move(forced)
            return
        observation, mask = game.observe()
        opponent = self._table.agents[self._lineup[(game.seat - self._own) % self.players - 1]]
        self._move(int(ask_opponent(opponent, observation[None], mask[None], self._rng)[0]))

    def _move(self, action: int) -> None:
        if self.render_mode is None:
            self._game.step(action)
        else:
            self._events += told_step(self._game, action)

    def _show(self) -> tuple[Bytes, dict[str, Any]]:
        observation, mask = self._game.observe(self._own)
        self.action_space.legal = mask.copy()
        names = tuple(self._table.names[i] for i in self._lineup)
        return observation, {"action_mask": mask, "seat": self._own, "opponents": names}

    def step(self, action: int) -> tuple[Bytes, float, bool, bool, dict[str, Any]]:
        """Carries out an action of the own seat, and those of the others up to its next choice.

        Raises:
            IllegalAction: no legal action of the own seat, and nothing has changed; or an opponent's, named by seat.
            SetupError: an opponent's answer is no action at all.
        """
        game = self._game
        if not game.over and game.seat != self._own:
            raise SetupError("call reset() first: an opponent's mistake has stopped this match")
        before = game.state["scores"].copy()
        self._events, told = [], self._events
        try:
            self._move(action)
        except IllegalAction:
            self._events = told
            raise
        while not game.over:
            if game.seat != self._own:
                self._move_other()
            elif self.skip_forced and (forced := game.forced) is not None:
                self._move(forced)
            else:
                break
        amounts = np.zeros(self.players)
        write_rewards(game.state, self._kind, before, amounts)
        observation, info = self._show()
        if game.over:
            info.update(scores=game.scores, winner=game.winner, is_success=game.winner == self._own)
        if self.render_mode == "human":
            self.render()
        won = game.winner is not None
        return observation, float(amounts[self._own]), game.over and won, game.over and not won, info

    def render(self) -> str | None:
        """The table as the own seat sees it, or with `reveal` all of it, and what happened since the last step.

        Returns:
            Text in the mode `ansi`; None in the mode `human`, which prints.
        """
        return draw(self._game, self._own, self.render_mode, self.reveal, None, self._events)

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(A,) bool, the legal actions: the method that sb3-contrib's MaskablePPO asks."""
        return self._game.mask(self._own).astype(np.bool_)

    def close(self) -> None:
        """Closes the opponents that were loaded from text; no match can be played any more."""
        self._table.close()

    @property
    def game(self) -> Game:
        """The match in progress."""
        return self._game

    def record(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """The match so far in record format 1 (docs/record-format.md), with P names by seat if they are given."""
        return record_of_game(self._game, names)
