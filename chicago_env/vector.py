"""Many matches at once: `BatchEnv` resets rows by itself; `GameBatch` leaves starts, ends and rows to the caller."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from chicago_env._jit import announce_compilation
from chicago_env.actions import NUM_ACTIONS
from chicago_env.errors import IllegalAction, SetupError
from chicago_env.game import NO_LOG, cards_of, new_states
from chicago_env.kernels import batch as kernels
from chicago_env.kernels.single import legal
from chicago_env.layout import HIDDEN_SIZE, OBSERVATION_SIZE, SEATS
from chicago_env.pool import Arrays, default_threads, run_chunks
from chicago_env.rewards import reward_kind
from chicago_env.rules import Rules, check_players
from chicago_env.setup import (
    MAX_DEALS,
    MAX_MATCH_DEALS,
    NO_DECKS,
    SEED_LIMIT,
    MatchSetup,
    check_flag,
    check_int,
    is_list,
)
from chicago_env.state import OVER, PHASES, REASONS, STATE

Array = np.ndarray[Any, Any]
RulesLike = str | Mapping[str, object] | Rules

MAX_ROWS = 1 << 22
_NO_ACTIONS = np.zeros(0, dtype=np.int64)
_FIXED = ("players", "r_block")
"""Fields of a state that stay as they are for the life of a batch."""


class Step(NamedTuple):
    """What a batch shows after `reset` or `step`; the arrays are the caller's and never written again.

    Attributes:
        observation: (B, D) uint8, of the seat to act.
        mask: (B, A) int8, 1 for legal actions; a row never is all 0.
        seat: (B,) int64, seat to act.
        rewards: (B, P) float32, of this step, by seat; columns beyond a row's number of players are 0.
        done: (B,) bool, the match ended in this step; the row shows the next match already.
    """

    observation: Array
    mask: Array
    seat: Array
    rewards: Array
    done: Array


class Outcome(NamedTuple):
    """How the match that ended last in each row ended; rows without one yet have `deals` 0.

    Attributes:
        winner: (B,) int64, seat, or -1.
        truncated: (B,) bool.
        deals: (B,) int64.
        scores: (B, P) int64.
    """

    winner: Array
    truncated: Array
    deals: Array
    scores: Array


class FinishedMatch(NamedTuple):
    """A match that a batch has finished: its setup and choices, from which `chicago_env.records.record_of` makes a record."""

    row: int
    setup: MatchSetup
    choices: bytes


def _rows_of(name: str, value: Any, rows: int, kinds: tuple[type, ...]) -> list[Any]:
    if isinstance(value, kinds):
        return [value] * rows
    if not is_list(value) or len(value) != rows:
        raise SetupError(f"{name}: one value, or a sequence of {rows}, one for each row")
    return list(value)


def as_integers(name: str, values: object, rows: int | None = None) -> Array:
    """Values as an array of integers of any type, (rows,) or of any length.

    Raises:
        SetupError: another shape or kind of number.
    """
    expected = "(N,)" if rows is None else f"({rows},)"
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:  # lists of unequal lengths, tensors of another device
        raise SetupError(f"{name}: {error}; expected {expected} integers") from None
    if array.ndim != 1 or (rows is not None and len(array) != rows) or array.dtype.kind not in "iu":
        raise SetupError(f"{name}: shape {array.shape} of {array.dtype}, expected {expected} of integers")
    return array


def check_rows(rows: object, count: int, *, different: bool = False) -> Array:
    """Rows of a batch of `count` as an (L,) int64 array.

    Raises:
        SetupError: another shape or kind of number, a row that does not exist, or, where they must be different, twice.
    """
    array = as_integers("rows", rows)
    if array.dtype != np.int64:
        array = (np.minimum(array, count) if array.dtype == np.uint64 else array).astype(np.int64)
    bad = int(kernels.first_bad_row(array, count, different))
    if bad >= 0:
        row = int(array[bad])
        why = "is there twice" if 0 <= row < count else f"does not exist: there are 0 to {count - 1}"
        raise SetupError(f"rows: {row} {why}")
    return array


def check_actions(actions: object, rows: int) -> Array:
    """Actions as a (B,) int64 array.

    Raises:
        SetupError: another shape or kind of number.
    """
    array = as_integers("actions", actions, rows)
    if array.dtype != np.int64:
        if array.dtype == np.uint64:
            array = np.minimum(array, NUM_ACTIONS)
        array = array.astype(np.int64)
    return array


def illegal_action(states: Array, row: int, action: int) -> IllegalAction:
    """The exception for an illegal action in a row."""
    base, bits = legal(states[row : row + 1])
    seat, phase = int(states["to_act"][row]), PHASES[int(states["phase"][row])]
    return IllegalAction(seat, f"{phase} (row {row})", action, [base + i for i in cards_of(bits)])


class BatchEnv:
    """B matches in lock-step, with automatic reset.

    Row i plays, as its match number e, the game with seed `match_seed(seed, i, e)`: the same as `Game` played alone, on
    any number of threads. `env.setup(i)` gives the setup of the match in progress.
    """

    def __init__(
        self,
        num_envs: int,
        players: int | Sequence[int] = 4,
        rules: RulesLike | Sequence[RulesLike] = "pagat",
        seed: int = 0,
        *,
        reward: str = "win",
        max_deals: int = MAX_DEALS,
        start_scores: int = 0,
        skip_forced: bool = True,
        keep_matches: bool = False,
        num_threads: int | None = None,
    ) -> None:
        """Makes the batch; `reset` starts it.

        Args:
            num_envs: B, number of rows.
            players: number of players, one for all rows or one for each.
            rules: rules, one for all rows or one for each.
            seed: root of all chance, 0 <= seed < 2**63.
            reward: `win`, `placement` or `points`, see `chicago_env.rewards`.
            max_deals: deals after which a match is truncated; 1 for single deals.
            start_scores: 0, or N for start scores drawn from 0 … N - 1 by the seed of the match.
            skip_forced: play decisions with one legal action without asking.
            keep_matches: keep what `take_matches` needs.
            num_threads: threads that step the rows; by default one for each core this process may use.

        Raises:
            RulesError: rules or number of players.
            SetupError: any other argument.
        """
        self.num_envs = check_int("num_envs", num_envs, 1, MAX_ROWS)
        self.reward = reward
        self.max_deals = check_int("max_deals", max_deals, 1, MAX_MATCH_DEALS)
        self.start_scores = check_int("start_scores", start_scores, 0, 1_000_000)
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self.num_threads = check_int("num_threads", default_threads() if num_threads is None else num_threads, 1, 1024)
        self._kind = reward_kind(reward)
        seats = [check_players(number) for number in _rows_of("players", players, self.num_envs, (int, np.integer))]
        rule_sets = _rows_of("rules", rules, self.num_envs, (str, Mapping, Rules))
        made: dict[Any, MatchSetup] = {}
        self._setups = []
        for number, rule_set in zip(seats, rule_sets, strict=True):
            # a mapping has no hash, and neither has what `parse_rules` refuses
            key = (number, rule_set if isinstance(rule_set, str | Rules) else id(rule_set))
            if key not in made:
                made[key] = MatchSetup.make(number, rule_set, max_deals=self.max_deals)
            self._setups.append(made[key])
        self.players = max(setup.players for setup in self._setups)
        announce_compilation()
        self._states = new_states(self._setups)
        self._episodes = np.zeros(self.num_envs, dtype=np.int64)
        self._rows = np.arange(self.num_envs)
        self._outcome = np.zeros((self.num_envs, 3 + SEATS), dtype=np.int64)
        self._log: _ActionLog | None = _ActionLog(self.num_envs) if keep_matches else None
        self._arrays: tuple[Arrays, ...] = self._new_arrays()
        self._started = False
        self.seed = check_int("seed", seed, 0, SEED_LIMIT - 1)

    def _new_arrays(self) -> tuple[Arrays, ...]:
        b = self.num_envs
        shapes = ((b, OBSERVATION_SIZE), (b, NUM_ACTIONS), (b,), (b, self.players), (b,))
        types = (np.uint8, np.int8, np.int64, np.float32, np.bool_)
        return tuple(Arrays(shape, dtype) for shape, dtype in zip(shapes, types, strict=True))

    # --- playing -----------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> Step:
        """Starts a new match in every row.

        Args:
            seed: a new root of all chance, with which rows begin at their match 0; None goes on to each row's next match.
        """
        if seed is not None:
            self.seed = check_int("seed", seed, 0, SEED_LIMIT - 1)
            self._episodes[:] = 0
        elif self._started:
            self._episodes += 1
        self._started = True
        self._states["phase"] = OVER
        if self._log is not None:
            self._log.restart()
        return self._advance(_NO_ACTIONS)

    def step(self, actions: Any) -> Step:
        """Carries out one action in every row.

        Args:
            actions: (B,) integers, legal in their rows.

        Raises:
            IllegalAction: an action is illegal; names the row, and no row has moved.
            SetupError: wrong shape or dtype, or `reset` was never called.
        """
        if not self._started:
            raise SetupError("call reset() before step()")
        array = check_actions(actions, self.num_envs)
        bad = int(kernels.first_illegal(self._states, self._rows, array))
        if bad >= 0:
            raise illegal_action(self._states, bad, int(array[bad]))
        if self._log is not None:
            self._log.add(array, self._episodes, self)
        step = self._advance(array)
        if self._log is not None:
            self._log.finish(step.done)
        return step

    def _advance(self, actions: Array) -> Step:
        observation, mask, seat, rewards, done = (pool.take() for pool in self._arrays)
        setting = np.array([self.seed, self.max_deals, self.start_scores, self.skip_forced, self._kind], dtype=np.int64)

        def part(low: int, high: int) -> None:
            kernels.advance(
                self._states,
                low,
                high,
                self._episodes,
                setting,
                NO_DECKS,
                actions,
                observation,
                mask,
                seat,
                rewards,
                done,
                self._outcome,
                NO_LOG,
            )

        run_chunks(part, self.num_envs, self.num_threads)
        return Step(observation, mask, seat, rewards, done)

    # --- reading -----------------------------------------------------------------------------------------------------

    def hidden(self) -> Array:
        """New (B, H) uint8: the cards that the seat to act in each row does not see, `chicago_env.layout.STATE_BLOCKS`.

        With the observation before it this is `state()` of the row: full information, for centralised critics.

        Raises:
            SetupError: `reset` was never called.
        """
        if not self._started:
            raise SetupError("call reset() before hidden()")
        cards = np.empty((self.num_envs, HIDDEN_SIZE), dtype=np.uint8)
        kernels.observe_hidden_rows(self._states, cards)
        return cards

    def states(self, rows: Array) -> Array:
        """New (L,) records, `chicago_env.state.STATE`, of where `rows` (L,) stand: `train.branches` plays them on apart."""
        return np.asarray(self._states[rows])

    @property
    def match_seeds(self) -> Array:
        """(B,) int64 seeds of the matches in progress."""
        return np.asarray(self._states["seed"].copy())

    @property
    def scores(self) -> Array:
        """(B, P) int64 scores of the matches in progress."""
        return np.asarray(self._states["scores"][:, : self.players].copy())

    @property
    def dealers(self) -> Array:
        """(B,) int64 seats that deal the deals in progress."""
        return np.asarray(self._states["dealer"].copy())

    @property
    def seats(self) -> Array:
        """(B,) int64 numbers of players."""
        return np.asarray(self._states["players"].copy())

    @property
    def outcome(self) -> Outcome:
        """How the last match of each row ended."""
        table = self._outcome.copy()
        truncated = table[:, 1] == REASONS.index("truncated")
        return Outcome(table[:, 0], truncated, table[:, 2], table[:, 3 : 3 + self.players])

    def setup(self, row: int) -> MatchSetup:
        """Setup with which `Game(setup=…)` starts the match in progress in `row`.

        Raises:
            SetupError: no such row.
        """
        row = check_int("row", row, 0, self.num_envs - 1)
        return self._setup_of(row, int(self._episodes[row]))

    def _setup_of(self, row: int, episode: int) -> MatchSetup:
        base = self._setups[row]
        seed = int(kernels.match_seed(self.seed, row, episode))
        scores = kernels.start_scores(seed, base.players, self.start_scores)
        return MatchSetup(base.players, base.rules, seed, tuple(int(s) for s in scores), None, self.max_deals)

    def take_matches(self) -> list[FinishedMatch]:
        """The matches finished since the last call, oldest first.

        Raises:
            SetupError: the batch was not made with `keep_matches=True`.
        """
        if self._log is None:
            raise SetupError("matches are kept only with keep_matches=True")
        return self._log.take()

    def get_state(self) -> dict[str, Array]:
        """Where every row stands, as arrays that hold numbers only: see `set_state`."""
        return {
            "states": self._states.view(np.uint8).reshape(self.num_envs, -1).copy(),
            "episodes": self._episodes.copy(),
            "outcome": self._outcome.copy(),
            "seed": np.array(self.seed, dtype=np.int64),
        }

    def set_state(self, state: Mapping[str, Array]) -> Step:
        """Goes on where `get_state` of a batch made with the same arguments was called; shows every row.

        The content is trusted: it must come from `get_state`, undamaged.

        Raises:
            SetupError: arrays of another shape or type, or of a batch with other rules or players.
        """
        if not isinstance(state, Mapping):
            raise SetupError(f"a {type(state).__name__} is no saved state of a batch")
        own = self.get_state()
        for name, array in own.items():
            given = state.get(name)
            if not isinstance(given, np.ndarray) or given.shape != array.shape or given.dtype != array.dtype:
                raise SetupError(f"the saved state of a batch has no {name} of {array.dtype} {array.shape}")
        states = np.ascontiguousarray(state["states"]).view(STATE).reshape(self.num_envs)
        if any((states[name] != self._states[name]).any() for name in STATE.names or () if name in _FIXED):
            raise SetupError("the saved state is of a batch with other rules or players")
        self._states = states.copy()
        self._episodes = state["episodes"].copy()
        self._outcome = state["outcome"].copy()
        self.seed = int(state["seed"])
        self._started = True
        return self._advance(_NO_ACTIONS)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_arrays"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._arrays = self._new_arrays()


class _ActionLog:
    """Choices of the matches in progress, by row."""

    def __init__(self, rows: int) -> None:
        self._choices = [bytearray() for _ in range(rows)]
        self._setups: list[MatchSetup | None] = [None] * rows
        self._finished: list[FinishedMatch] = []

    def restart(self) -> None:
        for row, choices in enumerate(self._choices):
            choices.clear()
            self._setups[row] = None

    def add(self, actions: Array, episodes: Array, env: BatchEnv) -> None:
        choice = kernels.are_choices(env._states)
        for row, (action, chosen) in enumerate(zip(actions.tolist(), choice.tolist(), strict=True)):
            if self._setups[row] is None:
                self._setups[row] = env._setup_of(row, int(episodes[row]))
            if chosen:
                self._choices[row].append(action)

    def finish(self, done: Array) -> None:
        for row in np.flatnonzero(done).tolist():
            setup = self._setups[row]
            if setup is not None:
                self._finished.append(FinishedMatch(row, setup, bytes(self._choices[row])))
            self._choices[row].clear()
            self._setups[row] = None

    def take(self) -> list[FinishedMatch]:
        finished, self._finished = self._finished, []
        return finished


class GameBatch:
    """N games stepped by hand, any of them at a time: what a harness needs. No automatic reset.

    Attributes:
        states: (N,) records of `chicago_env.state.STATE`, to be read only.
        setups: the setups, one for each row.
    """

    def __init__(self, setups: Sequence[MatchSetup], *, skip_forced: bool = True, keep_choices: bool = False) -> None:
        """Starts every game. `keep_choices` keeps what `chicago_env.records.record_of` needs.

        Raises:
            SetupError: no setups, or setups with given decks.
        """
        setups = list(setups)
        if not setups:
            raise SetupError("a batch needs at least one setup")
        for setup in setups:
            if not isinstance(setup, MatchSetup):
                raise SetupError(f"setups: {setup!r} is no MatchSetup")
        if any(len(setup.decks) for setup in setups):
            raise SetupError("decks: a batch plays keyed decks only")
        announce_compilation()
        self.setups = setups
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self.states = new_states(self.setups)
        self.choices: list[bytearray] | None = [bytearray() for _ in setups] if keep_choices else None
        self._start(np.arange(len(setups)))

    def _start(self, rows: Array) -> None:
        setups = [self.setups[row] for row in rows.tolist()]
        seeds = np.array([s.seed for s in setups], dtype=np.int64)
        dealers = np.array([-1 if s.first_dealer is None else s.first_dealer for s in setups], dtype=np.int64)
        deals = np.array([s.max_deals for s in setups], dtype=np.int64)
        kernels.start_rows(self.states, rows, seeds, dealers, deals, NO_DECKS, self.skip_forced, NO_LOG)

    def __len__(self) -> int:
        return len(self.setups)

    def restart(self, rows: Array, seeds: Sequence[int]) -> None:
        """Starts another match in each of `rows` (L,), different rows, with the same players, rules and start scores.

        Raises:
            SetupError: rows that do not exist or are not different, or not one seed within its range for each row;
                no match is started.
        """
        rows = check_rows(rows, len(self.setups), different=True)
        if not is_list(seeds) or len(seeds) != len(rows):
            raise SetupError(f"seeds: {len(rows)} are needed, one for each row")
        checked = [check_int("seed", seed, 0, SEED_LIMIT - 1) for seed in seeds]
        for row, seed in zip(rows.tolist(), checked, strict=True):
            setup = self.setups[row] = dataclasses.replace(self.setups[row], seed=seed)
            self.states["scores"][row, : setup.players] = setup.scores
            if self.choices is not None:
                self.choices[row].clear()
        self._start(rows)

    @property
    def live(self) -> Array:
        """(L,) int64, rows whose match is not over, ascending."""
        return np.flatnonzero(self.states["phase"] != OVER)

    def seats(self, rows: Array) -> Array:
        """(L,) int64, seat to act in each of `rows`, -1 where the match is over.

        Raises:
            SetupError: rows that do not exist.
        """
        return np.asarray(self.states["to_act"][check_rows(rows, len(self.setups))])

    def observe(self, rows: Array) -> tuple[Array, Array]:
        """New observation (L, D) uint8 and mask (L, A) int8 of the seat to act in each of `rows`.

        Raises:
            SetupError: rows that do not exist.
        """
        rows = check_rows(rows, len(self.setups))
        observation = np.empty((len(rows), OBSERVATION_SIZE), dtype=np.uint8)
        mask = np.empty((len(rows), NUM_ACTIONS), dtype=np.int8)
        kernels.observe_rows(self.states, rows, observation, mask)
        return observation, mask

    def step(self, rows: Array, actions: Any) -> None:
        """Carries out `actions` (L,) in `rows` (L,), different rows that are live.

        Raises:
            IllegalAction: an action is illegal; no row has moved.
            SetupError: wrong shape or dtype, or rows that do not exist or are not different.
        """
        rows = check_rows(rows, len(self.setups), different=True)
        array = check_actions(actions, len(rows))
        bad = int(kernels.first_illegal(self.states, rows, array))
        if bad >= 0:
            raise illegal_action(self.states, int(rows[bad]), int(array[bad]))
        if self.choices is not None:
            choice = kernels.are_choices(self.states[rows])
            for row, action, chosen in zip(rows.tolist(), array.tolist(), choice.tolist(), strict=True):
                if chosen:
                    self.choices[row].append(action)
        kernels.step_rows(self.states, rows, array, NO_DECKS, self.skip_forced, NO_LOG)
