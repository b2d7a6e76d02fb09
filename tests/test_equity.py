"""Chances to win from given scores, and the rewards made of them."""

import numpy as np
import pytest

from agents import equity as tables
from agents import load
from agents.equity import make_knots, win_chance, write_chances
from chicago_env import BatchEnv, Rules, parse_rules
from chicago_env.errors import ChicagoError, SetupError, UsageError
from chicago_env.game import new_states
from chicago_env.setup import MatchSetup
from eval import make_equity
from eval.equity import ClosedEquity, Deals, MatchEquity, equity_gains
from eval.make_equity import agent_for, main, play_deals
from eval.solved_equity import SolvedEquity, solve_equity
from train.deal_reward import DealLog, DealReward

EQUITY = ClosedEquity(Rules())


def chances(*scores: int, seats: int | None = None) -> list[float]:
    table = np.array([scores])
    return EQUITY.chances(table, np.array([seats or len(scores)]), np.zeros(1, dtype=int))[0].tolist()


@pytest.mark.parametrize("scores", [(0, 0), (51, 3), (-40, 20, 20), (10, 20, 30, 40), (0, 0, 0, 0, 0, 51), (60, 5)])
def test_chances_are_chances(scores) -> None:
    found = chances(*scores)
    assert sum(found) == pytest.approx(1)
    assert np.argsort(found, kind="stable").tolist() == np.argsort(scores, kind="stable").tolist()
    assert all(0 <= chance <= 1 for chance in found)


def test_a_lead_counts_more_near_the_end() -> None:
    assert chances(0, 0) == [0.5, 0.5]
    assert chances(10, 0)[0] < chances(30, 20)[0] < chances(50, 40)[0] < 1


def test_seats_that_do_not_exist_have_no_chance() -> None:
    assert chances(10, 20, 0, 0, seats=2) == [*chances(10, 20), 0, 0]


def test_a_deal_is_worth_the_change_of_the_chance() -> None:
    starts, dealers = np.array([[0, 0], [40, 45], [40, 45]]), np.array([0, 1, 1])
    gains, winners, one = np.array([[5, 0], [12, 1], [0, 0]]), np.array([-1, 0, -1]), np.ones(3, dtype=int)
    found = equity_gains(EQUITY, starts, gains, dealers, winners, one)
    assert found.sum(axis=1) == pytest.approx([0, 0, 0], abs=1e-12)
    assert found[0, 0] == pytest.approx(chances(5, 0)[0] - 0.5)
    assert found[1, 0] == pytest.approx(1 - chances(40, 45)[0])
    assert found[2].tolist() == [0, 0]


def test_the_next_dealer_counts() -> None:
    """After two deals the turn has come back to the first dealer."""
    table = np.zeros((24**2, 2))
    table[:] = [0.25, 0.75]
    solved = SolvedEquity(make_knots(52, 2), table)
    zero, nobody = np.zeros((2, 2), dtype=int), np.full(2, -1)
    found = equity_gains(solved, zero, zero, np.array([0, 1]), nobody, np.array([1, 2]))
    assert found.tolist() == [[0.5, -0.5], [0, 0]]


def test_an_equity_is_named_by_its_numbers() -> None:
    assert EQUITY.digest == ClosedEquity(Rules()).digest != ClosedEquity(Rules(target=51)).digest
    knots, table = make_knots(52, 2), np.full((24**2, 2), 0.5)
    other = table.copy()
    other[7] = [0.4, 0.6]
    assert SolvedEquity(knots, table).digest == SolvedEquity(knots.copy(), table.copy()).digest
    assert SolvedEquity(knots, table).digest != SolvedEquity(knots, other).digest
    assert len(EQUITY.digest) == 16


@pytest.mark.parametrize("players", [2, 3, 5])
def test_rewards_of_deals(players) -> None:
    """Zero-sum, only at the end of a deal, the change of the chance, and 1 in all from a sure loss to a win."""
    batch = BatchEnv(64, players, seed=5, max_deals=1, start_scores=52)
    reward, agent, rng = DealReward([EQUITY]), load("random"), np.random.default_rng(0)
    step = batch.reset()
    reward.begin(batch)
    factor, wins = players / (players - 1), 0
    for _ in range(150):
        starts, dealers = batch.scores, batch.dealers
        step = batch.step(agent.act(step.observation, step.mask, rng))
        rewards = reward.of(batch, step)
        assert not rewards[~step.done].any()
        np.testing.assert_allclose(rewards.sum(axis=1), 0, atol=1e-6)
        for row in np.flatnonzero(step.done):
            outcome = batch.outcome
            setup = batch._setup_of(row, int(batch._episodes[row]) - 1)
            before = EQUITY.chances(np.array([setup.scores]), np.array([players]), dealers[:1])[0]
            winner = int(outcome.winner[row])
            after = EQUITY.chances(outcome.scores[row : row + 1], np.array([players]), dealers[:1])[0]
            if winner >= 0:
                wins += 1
                after = np.eye(players)[winner]
            np.testing.assert_allclose(rewards[row], factor * (after - before), atol=1e-5)
            assert starts.shape == (64, players)
    assert wins > 10


def test_rows_with_other_numbers_of_players() -> None:
    batch = BatchEnv(6, [2, 3, 4] * 2, seed=1, max_deals=1, start_scores=52)
    reward, agent, rng = DealReward([EQUITY]), load("random"), np.random.default_rng(0)
    step = batch.reset()
    reward.begin(batch)
    paid = np.zeros((6, 4))
    for _ in range(200):
        step = batch.step(agent.act(step.observation, step.mask, rng))
        rewards = reward.of(batch, step)
        np.testing.assert_allclose(rewards.sum(axis=1), 0, atol=1e-6)
        paid += np.abs(rewards)
    assert (paid > 0).tolist() == [[seat < seats for seat in range(4)] for seats in batch.seats]


# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", tables.KINDS)
@pytest.mark.parametrize("players", range(2, 7))
def test_tables_are_read_as_they_were_solved(players, preset) -> None:
    rules = parse_rules(preset)
    table = tables.table_of(players, tables.KINDS.index(preset))
    assert table.shape == (tables.KNOTS[players] ** players, players)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-4)
    rng = np.random.default_rng(players)
    scores = rng.integers(-60, 52, (200, players))
    dealers, count = rng.integers(players, size=200), np.full(200, players)
    found = MatchEquity(rules).chances(scores, count, dealers)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    solved = SolvedEquity(make_knots(52, players), table).chances(scores, count, dealers)
    np.testing.assert_allclose(found, solved, atol=1e-4)
    for row, dealer, chances in zip(scores[:20], dealers, found, strict=False):
        kind = tables.kind_of_rules(rules)
        one = [win_chance(row, players, 52, int(dealer), kind, seat) for seat in range(players)]
        np.testing.assert_allclose(one, chances, atol=1e-4)


def test_who_has_the_target_has_won() -> None:
    found = np.full(6, np.nan)
    for scores, expected in [
        ((52, 51, 3), [1, 0, 0]),
        ((52, 53, 3), [0, 1, 0]),
        ((53, 53, 60), [0, 0, 1]),
        ((53, 7, 53), [0.5, 0, 0.5]),
    ]:
        write_chances(np.array(scores), 3, 52, 1, 0, found)
        assert found[:3].tolist() == expected
    write_chances(np.array([52, 51, 3]), 3, 60, 1, 0, found)
    assert found[:3].min() > 0


def test_with_another_target_scores_count_by_what_they_lack() -> None:
    near, far = MatchEquity(parse_rules("race+target=30")), MatchEquity(parse_rules("race"))
    rows, two, dealers = np.array([[20, 4], [29, -3]]), np.array([2, 2]), np.array([0, 1])
    np.testing.assert_array_equal(near.chances(rows, two, dealers), far.chances(rows + 22, two, dealers))
    assert near.digest != far.digest


def test_rules_have_the_table_of_the_preset_most_like_them() -> None:
    for rules, kind in [
        *((preset, preset) for preset in tables.KINDS),
        ("pagat+finish=first_past", "race"),
        ("race+finish=end_of_deal", "pagat"),
        ("family+open_card=yes", "open-card"),
        ("pagat+chicago=no", "family"),
    ]:
        assert tables.KINDS[tables.kind_of_rules(parse_rules(rules))] == kind
        state = new_states([MatchSetup(2, parse_rules(rules), 1)])[0]
        assert tables.KINDS[tables.kind_of_game(state)] == kind


def test_a_lead_near_the_end_is_worth_less_than_a_formula_says() -> None:
    """As whole matches show: see docs/evaluation.md."""
    rows, two, dealers = np.array([[48, 20], [48, 20]]), np.array([2, 2]), np.array([0, 1])
    assert EQUITY.chances(rows, two, dealers)[:, 0].min() > 0.95
    for preset in ("pagat", "race"):
        found = MatchEquity(parse_rules(preset)).chances(rows, two, dealers)[:, 0]
        assert 0.6 < found.min() <= found.max() < 0.85


def test_deals_for_the_tables_are_played(tmp_path) -> None:
    deals = play_deals(load("heuristic:novice"), 3, "race", 300, 5)
    assert deals.before.shape == deals.after.shape == (300, 3)
    assert deals.before.min() < 0 < deals.before.max() < 52
    assert set(deals.dealers) == {0, 1, 2}
    won = deals.winners >= 0
    assert 0 < won.sum() < 300
    assert (deals.after[won, deals.winners[won]] >= 52).all()
    file, words = tmp_path / "equity.npy", ["--players", "2", "--rules", "race", "--agent", "heuristic:novice"]
    assert main([*words, "--deals", "500", "--out", str(file)]) == 0
    made, old = np.load(file), tables._TABLE
    changed = np.flatnonzero(made != old)
    size = tables.table_size(2)
    assert len(made) == len(old)
    assert size <= changed.min() <= changed.max() < 2 * size  # the second table
    assert {agent_for(players, preset) for players in (2, 4, 6) for preset in tables.KINDS} == {
        "heuristic:expert", "ppo-open-card", "ppo-2p-presets", "ppo-all-canonical",
    }  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        ["--players", "7"], ["--rules", "nosuch"], ["--deals", "0"], ["--agent", "nobody"], ["--check"],
        ["--agent", "ppo-2p", "--players", "3"], ["--out", "nowhere/equity.npy"],
    ],
)  # fmt: skip
def test_tables_that_there_are_not_are_not_made(options, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(make_equity, "play_deals", lambda *_: pytest.fail("played"))
    with pytest.raises((SystemExit, ChicagoError, OSError)):
        main(["--out", str(tmp_path / "equity.npy"), *options])
    assert not list(tmp_path.iterdir())


def test_nothing_is_made_without_a_file_to_write(monkeypatch) -> None:
    monkeypatch.setattr(make_equity, "play_deals", lambda *_: pytest.fail("played"))
    with pytest.raises(UsageError, match="--out with the file"):
        main([])


def test_tables_are_compared_with_matches(monkeypatch) -> None:
    monkeypatch.setattr(make_equity, "SCORES", ((48, 20), (0, 51)))
    lines = make_equity.compare(["random"], "race", 200).splitlines()
    assert len(lines) == 6
    cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert cells[:4] == ["48–20", "the first", "96.8", f"{100 * race_chance((48, 20), 0):.1f}"]
    assert 50 < float(cells[4].split(" ± ")[0]) <= 100


def race_chance(scores: tuple[int, int], dealer: int) -> float:
    return float(MatchEquity(parse_rules("race")).chances(np.array([scores]), np.array([2]), np.array([dealer]))[0, 0])


# --- solved from deals ------------------------------------------------------------------------------------------------


def race(players: int, deals: int, seed: int = 0, target: int = 52) -> Deals:
    """Deals of a made-up game: somebody gains 13, twice as likely the dealer as any other; 52 wins."""
    rng = np.random.default_rng(seed)
    before = 13 * rng.integers(0, target // 13, (deals, players))
    dealers = rng.integers(0, players, deals)
    odds = 1.0 + (np.arange(players) == dealers[:, None])
    gainer = (odds.cumsum(axis=1) < rng.random((deals, 1)) * odds.sum(axis=1, keepdims=True)).sum(axis=1)
    after = before.copy()
    after[np.arange(deals), gainer] += 13
    return Deals(before, after, dealers, np.where(after[np.arange(deals), gainer] >= target, gainer, -1))


def exact_race(scores: tuple[int, ...], dealer: int) -> np.ndarray:
    """The chances in the made-up game, by going through all that can happen."""
    if max(scores) >= 52:
        return np.eye(len(scores))[int(np.argmax(scores))]
    total, n = np.zeros(len(scores)), len(scores)
    for seat in range(n):
        after = tuple(score + 13 * (i == seat) for i, score in enumerate(scores))
        total += (1 + (seat == dealer)) / (n + 1) * exact_race(after, (dealer + 1) % n)
    return total


@pytest.mark.parametrize(("players", "within"), [(2, 0.02), (3, 0.05), (4, 0.12)])
def test_chances_are_solved(players, within) -> None:
    """Against the exact answer: with two players the knots lie on the scores of the game, with more they do not."""
    equity = solve_equity(race(players, 60_000), EQUITY, 52)
    for scores in [(39, 39, 0, 13), (13, 26, 39, 0), (0, 39, 26, 26), (26, 26, 26, 26)]:
        for dealer in range(players):
            row = np.array([scores[:players]])
            found = equity.chances(row, np.array([players]), np.array([dealer]))[0]
            assert found.sum() == pytest.approx(1)
            np.testing.assert_allclose(found, exact_race(scores[:players], dealer), atol=within)


def test_where_nothing_was_played_the_prior_speaks() -> None:
    deals = race(2, 4000)
    near = (deals.before >= 39).all(axis=1)
    equity = solve_equity(Deals(*(part[near] for part in deals)), EQUITY, 52)
    far = np.array([[-30, -10]])
    np.testing.assert_allclose(
        equity.chances(far, np.array([2]), np.array([0])), EQUITY.chances(far, np.array([2]), np.array([0])), atol=0.15
    )
    with pytest.raises(SetupError, match="no deals"):
        solve_equity(Deals(*(part[:0] for part in deals)), EQUITY, 52)


@pytest.mark.parametrize("players", range(2, 7))
def test_scores_outside_the_knots_count_as_the_last(players) -> None:
    knots = make_knots(52, players)
    assert knots[-1] == 52
    assert (np.diff(knots) > 0).all()
    table = np.random.default_rng(0).random((len(knots) ** players, players))
    equity = SolvedEquity(knots, table / table.sum(axis=1, keepdims=True))
    low, high = np.full((1, players), -41), np.full((1, players), 52)
    there = np.array([players]), np.array([players - 1])
    np.testing.assert_allclose(equity.chances(low * 9, *there), equity.chances(low, *there))
    np.testing.assert_allclose(equity.chances(high + 7, *there)[0], np.roll(equity.table[-1], -1), atol=1e-12)


def test_a_log_keeps_the_last_deals() -> None:
    log, deals = DealLog(100, 2), race(2, 250)
    assert len(log) == 0
    for low in range(0, 250, 30):
        log.add(Deals(*(part[low : low + 30] for part in deals)))
    assert len(log) == 100
    kept = log.deals()
    order = np.argsort((np.arange(100) - 250) % 100)
    for part, expected in zip(kept, deals, strict=True):
        assert (part[order] == expected[-100:]).all()
    twin = DealLog(100, 2)
    twin.set_state(log.get_state())
    assert all((a == b).all() for a, b in zip(twin.deals(), kept, strict=True))
    for broken in ({"deals": np.zeros((3, 4), np.int32)}, {"deal_count": np.array([7])}):
        with pytest.raises(SetupError, match="another run"):
            twin.set_state({**log.get_state(), **broken})


def test_other_chances_hold_for_deals_in_progress() -> None:
    """The chance at the start of a deal is looked up anew, so that no deal is paid by two measures."""
    batch = BatchEnv(16, 2, seed=3, max_deals=1, start_scores=52)
    reward, agent, rng = DealReward([EQUITY], logs=[DealLog(1000, 2)]), load("random"), np.random.default_rng(0)
    step = batch.reset()
    reward.begin(batch)
    for _ in range(5):
        step = batch.step(agent.act(step.observation, step.mask, rng))
        reward.of(batch, step)
    other = solve_equity(race(2, 5000), EQUITY, 52)
    reward.use(batch, 0, other)
    paid = np.zeros((16, 2))
    for _ in range(60):
        step = batch.step(agent.act(step.observation, step.mask, rng))
        paid += reward.of(batch, step)
    deals = reward.logs[0].deals()
    after = other.chances(deals.after, np.full(len(deals.winners), 2), (deals.dealers + 1) % 2)
    won = deals.winners >= 0
    after[won] = np.eye(2)[deals.winners[won]]
    before = other.chances(deals.before, np.full(len(deals.winners), 2), deals.dealers)
    np.testing.assert_allclose(paid.sum(axis=0), 2 * (after - before).sum(axis=0), atol=1e-4)
