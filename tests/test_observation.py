"""The observation: nothing in it is hidden from its seat, nothing in it is idle, and seats are relative."""

import hashlib
import random  # noqa: TID251  # keyed chance is what is tested
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from chicago_env.game import Game
from chicago_env.layout import AT, BLOCKS, BY_NAME, OBSERVATION_SIZE, RULES_AT, encode_rules, slice_of
from chicago_env.notation import parse_rules
from chicago_env.rules import MAX_POINTS, MAX_SCORE, PRESETS, Rules
from chicago_env.state import PHASES
from tests.hidden_cards import same_story, seen_by, shuffled, strong, with_other_hidden_cards
from tests.oracle.random_play import KINDS, arranged_deck
from tests.oracle.random_rules import random_rules
from tests.play import PLAYERS, RULE_SETS

HIGH = np.concatenate([np.full(block.size, block.high) for block in BLOCKS])


def arranged(players, rules, seed, deals=1, spread=60, max_deals=None, kinds=KINDS) -> Game:
    """A game whose decks hold rare hands, from random scores."""
    rng = random.Random(seed)
    decks = [arranged_deck(rng, rng.choice(kinds), players) for _ in range(deals)]
    scores = [rng.randint(-spread, spread) for _ in range(players)]
    length = deals if max_deals is None else max_deals
    return Game(players, rules, seed=seed, decks=decks, scores=scores, max_deals=length)


# --- what is hidden stays hidden ---


@pytest.mark.parametrize("players", PLAYERS)
def test_unseen_cards_do_not_show_in_any_phase(players: int) -> None:
    phases: Counter[tuple[str, bool]] = Counter()
    for i, rules in enumerate([*RULE_SETS, *["race+four=choose", "open-card+four=choose"] * 4]):
        game = arranged(players, rules, seed=100 * players + i, deals=2, kinds=["four"] if "choose" in rules else KINDS)
        rng = random.Random(i)
        while True:
            for seat in range(players):
                expected = game.observe(seat)
                found = with_other_hidden_cards(game, seat, rng).observe(seat)
                names = [b.name for b in BLOCKS if (expected[0][slice_of(b.name)] != found[0][slice_of(b.name)]).any()]
                assert not names, f"{rules}, phase {game.phase}, seat {seat}: {names}"
                assert (expected[1] == found[1]).all()
                phases[game.phase, seat == game.seat] += 1
            if game.over:
                break
            game.step(strong(game, rng))
    missing = {(phase, acts) for phase in PHASES for acts in (True, False)} - phases.keys() - {("over", True)}
    assert not missing
    assert min(phases.values()) >= players - 1


@pytest.mark.parametrize("players", PLAYERS)
def test_the_same_story_looks_the_same_whatever_the_hidden_cards(players: int) -> None:
    told: Counter[str] = Counter()
    for i, rules in enumerate(RULE_SETS * 4):
        rng = random.Random(1000 * players + i)
        game = arranged(players, rules, seed=i)
        setup, actions = game, []
        limit = rng.randrange(2, 14 * players)
        while not game.over and len(actions) < limit:
            actions.append(strong(game, rng))
            game.step(actions[-1])
        for seat in range(players):
            hidden = sorted(set(range(52)) - seen_by(game, seat))
            for moved in (2, 2, 3, 4, 8, 20):
                order = shuffled(hidden, rng, moved)
                if order == list(range(52)):
                    continue
                same = same_story(setup, actions, seat, order)
                assert same is not False, f"{rules}, seat {seat}, after {len(actions)} actions"
                told[game.phase if same else "another story"] += 1
    # Enough of the changed deals told the same story, up to all kinds of moments.
    stories = sum(told.values()) - told["another story"]
    assert stories > 100
    assert {"exchange", "announce", "play", "over"} <= told.keys()


def test_the_other_worlds_of_the_leak_test_are_other_worlds() -> None:
    game = arranged(4, "open-card", seed=1)
    rng = random.Random(1)
    changed = Counter()
    while not game.over:
        twin = with_other_hidden_cards(game, 0, rng)
        assert game.hand(0) == twin.hand(0)
        for seat in (1, 2, 3):
            changed["hand"] += game.hand(seat) != twin.hand(seat)
            changed["seen"] += (game.observation(seat) != twin.observation(seat)).any()
        held = [card for seat in range(4) for card in twin.hand(seat)]
        assert len(held) == len(set(held))
        game.step(strong(game, rng))
    assert min(changed.values()) > 50


@pytest.mark.parametrize("players", PLAYERS)
def test_seats_are_relative(players: int) -> None:
    for i, rules in enumerate(RULE_SETS):
        target = parse_rules(rules).target
        rng = random.Random(i)
        decks = [arranged_deck(rng, rng.choice(KINDS), players) for _ in range(2)]
        scores = [rng.randrange(min(target, 60)) for _ in range(players)]
        dealer = rng.randrange(players)
        games = []
        for turn in range(players):
            turned = [scores[(seat - turn) % players] for seat in range(players)]
            first = (dealer + turn) % players
            games.append(Game(players, rules, seed=i, decks=decks, scores=turned, first_dealer=first, max_deals=2))
        assert len({game.seat for game in games}) == players
        while not games[0].over:
            action = strong(games[0], rng)
            for seat in range(players):
                expected = games[0].observation(seat)
                for turn, game in enumerate(games):
                    assert (expected == game.observation((seat + turn) % players)).all()
            for game in games:
                game.step(action)


# --- not a byte changes by accident ---


def story(players: int) -> Iterator[bytes]:
    """Full state and mask of every seat, in random matches of all rules."""
    for i, rules in enumerate(RULE_SETS):
        game = arranged(players, rules, seed=i, deals=2, max_deals=2 + 70000 * (i % 2))
        rng = random.Random(i)
        for _ in range(90):
            for seat in range(players):
                yield game.full_state(seat).tobytes() + game.mask(seat).tobytes()
            if game.over:
                break
            game.step(strong(game, rng))


DIGESTS = {
    2: "976108bc671b18bc",
    3: "62087eb551dbf518",
    4: "2f388acc984cfca4",
    5: "8a658d8fcbc3e73e",
    6: "e42fc736477964f4",
}


@pytest.mark.parametrize("players", PLAYERS)
def test_observations_are_those_of_version_1(players: int) -> None:
    """A new digest here means a new `OBSERVATION_VERSION`: agents trained before would misread the game."""
    digest = hashlib.sha256()
    for seen in story(players):
        digest.update(seen)
    assert digest.hexdigest()[:16] == DIGESTS[players]


# --- every entry says something ---

CANNOT_CHANGE = {("hand_ranks", 4 * 13): "five cards cannot all be twos, so the highest of them is none"}
"""Entries, by block and place in it, that are the same in every observation, and why."""

EXTREMES = [
    Rules(
        target=sign if sign > 0 else 1,
        hand_points=(0, *[MAX_POINTS] * 9),
        last_trick_points=MAX_POINTS,
        chicago_points=MAX_POINTS,
        chicago_penalty=MAX_POINTS,
        chicago_breaker_points=MAX_POINTS,
        chicago_threshold=sign,
        buy_stop=sign,
        scored_exchanges=(True, True, True),
        instant_win=frozenset(),
    )
    for sign in (MAX_SCORE, -MAX_SCORE)
]


class Range:
    """Lowest and highest value of each entry."""

    def __init__(self) -> None:
        self.low = np.full(OBSERVATION_SIZE, 255, dtype=np.uint8)
        self.high = np.zeros(OBSERVATION_SIZE, dtype=np.uint8)

    def watch(self, game: Game) -> None:
        for seat in range(game.players):
            observation = game.observation(seat)
            np.minimum(self.low, observation, out=self.low)
            np.maximum(self.high, observation, out=self.high)

    def deals(self, game: Game, rng: random.Random, deals: int = 2) -> None:
        self.watch(game)
        while not game.over and game.deal < deals:
            game.step(strong(game, rng))
            self.watch(game)


def flushes_that_tie(ranks: str, players: int, rng: random.Random) -> list[str]:
    """A deck with flushes of the same ranks, but perhaps the last, in two suits for two players."""
    last = rng.choice("23")
    hands = [[rank + "S" for rank in ranks + "2"], [rank + "H" for rank in ranks + last]]
    rest = [r + s for r in "23456789TJQKA" for s in "CDHS" if r + s not in hands[0] + hands[1]]
    rng.shuffle(rest)
    places = rng.sample(range(players), 2)
    seats = [hands[places.index(i)] if i in places else [rest.pop() for _ in range(5)] for i in range(players)]
    return [seats[i][k] for k in range(5) for i in range(players)] + rest


def test_every_entry_can_change_and_stays_in_its_bounds() -> None:
    seen = Range()
    for i in range(2500):
        rng = random.Random(i)
        players = (6, 6, 6, 5, 4, 3, 2)[i % 7]
        game = arranged(
            players, random_rules(rng), i, 2, rng.choice([1, 60, 60, 300, 1000000]), rng.choice([2, 2, 500, 100000])
        )
        seen.deals(game, rng)
    for rules in EXTREMES:
        seen.deals(Game(6, rules, scores=[10000] * 6), random.Random(0), 1)
    ties = PRESETS["open-card"].replace(open_card=False)
    for i in range(120):
        rng = random.Random(i)
        game = Game(6, ties, decks=[flushes_that_tie("KJ96", 6, rng)], max_deals=1)
        seen.watch(game)
        keep = rng.randrange(3)  # exchanges after which they are announced
        while not game.over:
            skip = game.phase == "announce" and int(game.state["round"]) < keep
            game.step(0 if game.phase == "exchange" else 32 if skip else game.legal_actions()[-1])
            seen.watch(game)
    long = Game(2, "pagat+chicago=no+target=9999", max_deals=300)
    while long.deal < 260:
        long.step(long.legal_actions()[0])
    seen.watch(long)

    assert (seen.high <= HIGH).all()
    idle = {
        (block.name, int(place))
        for block in BLOCKS
        for place in np.flatnonzero((seen.low == seen.high)[slice_of(block.name)])
    }
    assert idle == CANNOT_CHANGE.keys()
    binary = HIGH == 1
    assert (seen.low[binary] == 0).all()


def test_one_hot_parts_hold_at_most_one() -> None:
    one_hot = [block for block in BLOCKS if block.kind == "one-hot"]
    assert len(one_hot) > 15
    for i, rules in enumerate(RULE_SETS):
        game = arranged(2 + i % 5, rules, i, 2)
        rng = random.Random(i)
        while not game.over:
            for seat in range(game.players):
                observation = game.observation(seat)
                for block in one_hot:
                    groups = observation[slice_of(block.name)].reshape(-1, block.shape[-1])
                    assert groups.sum(axis=1).max() <= 1, block.name
            game.step(strong(game, rng))


# --- the layout ---


def test_blocks_fill_the_observation() -> None:
    at = 0
    for block in BLOCKS:
        assert slice_of(block.name) == slice(at, at + block.size)
        assert getattr(AT, block.name) == at
        at += block.size
    assert at == OBSERVATION_SIZE
    assert len(BY_NAME) == len(BLOCKS)
    with pytest.raises(KeyError, match="no block 'nothing'; there are phase"):
        slice_of("nothing")


def test_the_rules_are_in_the_observation() -> None:
    for rules in (*PRESETS.values(), *EXTREMES):
        game = Game(3, rules)
        assert (game.observation()[RULES_AT:] == encode_rules(rules)).all()


def test_scores_are_clipped_and_exact() -> None:
    game = Game(3, "pagat", scores=[-1000000, 154, 156], first_dealer=1)
    observation = game.observation(0)
    assert observation[slice_of("scores")].tolist() == [0, 254, 255, 0, 0, 0]
    exact = observation[slice_of("scores_exact")].reshape(6, 4).astype(np.int64) @ [1 << 24, 1 << 16, 1 << 8, 1]
    assert (exact[:3] - (1 << 31)).tolist() == [-1000000, 154, 156]
    assert exact[3:].tolist() == [0, 0, 0]
