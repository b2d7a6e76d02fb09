"""The sequential test and its interval: formulas, simulated runs, and whole tests from the command line."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import agents
from chicago_env.cli import main
from chicago_env.errors import RulesError, SetupError
from chicago_env.layout import AT
from eval.cli import COMMANDS
from eval.sequential import (
    PRIOR_VALUES,
    Design,
    SequentialTest,
    anytime_interval,
    bets,
    elo_of_wins,
    log_capital,
    log_ratios,
    wins_of_elo,
)
from eval.sprt import Plan, Result, make_plan, sprt
from eval.sprt_figures import Mixture, Outcomes, resampled, simulate

NOVICE, RANDOM, POKER = (agents.load(name) for name in ("heuristic:novice", "random", "heuristic:poker"))
MARGIN = wins_of_elo(20) / 8


def test_elo_and_wins() -> None:
    # 10 to 1 at 400 points
    assert wins_of_elo(400) == pytest.approx(10 / 11 - 0.5)
    assert wins_of_elo(0) == 0
    for elo in (-300, -1, 0.5, 20, 700):
        assert elo_of_wins(wins_of_elo(elo)) == pytest.approx(elo)
    assert (elo_of_wins(0.5), elo_of_wins(-0.7)) == (math.inf, -math.inf)


def test_ratios_are_those_of_normal_values() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(0.01, 0.05, 400)
    spread = (((x - x.mean()) ** 2).sum() + sum(p * p for p in PRIOR_VALUES)) / (len(x) + len(PRIOR_VALUES))

    def log_density(mean: float) -> float:
        return float(-((x - mean) ** 2).sum() / (2 * spread))

    first, second = log_ratios(len(x), x.sum(), (x * x).sum(), 0.02)
    assert first == pytest.approx(log_density(0.02) - log_density(0))
    assert second == pytest.approx(log_density(-0.02) - log_density(0))


def test_bounds_are_walds() -> None:
    low, high = Design(0.01, alpha=0.1, beta=0.02).bounds
    assert low == pytest.approx(math.log(0.02 / 0.95))
    assert high == pytest.approx(math.log(0.98 / 0.05))


def verdict_of(values: np.ndarray, design: Design) -> tuple[str | None, int]:
    test = SequentialTest(design)
    for low in range(0, len(values), design.look):
        step = test.add(values[low : low + design.look])
        if step.verdict is not None:
            return step.verdict, step.boards
    return None, len(values)


def test_every_outcome() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.05, 50_000)
    design = Design(MARGIN)
    assert verdict_of(noise + 2 * MARGIN, design)[0] == "first"
    assert verdict_of(noise - 2 * MARGIN, design)[0] == "second"
    assert verdict_of(noise, design)[0] == "equivalent"
    assert verdict_of(noise, Design(MARGIN, cap=300)) == ("undecided", 300)
    # two that never differ: not at the first look, for they might on the next board, but soon
    verdict, boards = verdict_of(np.zeros(5000), design)
    assert verdict == "equivalent"
    assert 200 <= boards <= 600
    assert SequentialTest(design).step == (0, None, (0.0, 0.0), None)


def test_swapping_the_agents_swaps_the_verdict() -> None:
    design = Design(MARGIN)
    for seed in range(20):
        values = np.random.default_rng(seed).normal(MARGIN, 0.05, 20_000)
        verdict, boards = verdict_of(values, design)
        swapped = {"first": "second", "second": "first"}
        assert verdict_of(-values, design) == (swapped.get(str(verdict), verdict), boards)


def simulated(elo: float, runs: int, sd: float = 0.055) -> Outcomes:
    """Boards of which some are even and others far from it, as real ones are."""
    rng = np.random.default_rng(0)
    values = rng.laplace(size=20_000) * (rng.random(20_000) < 0.6)
    values *= sd / values.std()
    return simulate(Design(MARGIN), resampled(values, wins_of_elo(elo) / 8), runs, 5)


def test_simulated_runs_are_runs_of_the_test() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.5 * MARGIN, 0.05, (30, 20_000))
    at = [0]

    def draw(_: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        low = at[0]
        at[0] += shape[1]
        return values[:, low : at[0]]

    for row in range(5):
        at[0] = 0
        one = simulate(Design(MARGIN), lambda r, s, row=row: draw(r, s)[row : row + 1], 1, 0)
        verdict, boards = verdict_of(values[row], Design(MARGIN))
        assert one.boards == boards
        assert one[("first", "equivalent", "second").index(str(verdict))] == 1


def test_false_verdicts_are_rare() -> None:
    null = simulated(0, 1000)
    # 5 % and three standard errors of 1,000 runs
    assert null.first + null.second < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
    margin = simulated(20, 1000)
    assert margin.first > 0.95 - 3 * math.sqrt(0.05 * 0.95 / 1000)
    assert margin.boards < 2500


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.03, 0.05, 0.06])
def test_false_verdicts_in_many_runs(sd: float) -> None:
    null = simulated(0, 10_000, sd)
    assert null.first + null.second <= 0.05
    margin = simulated(20, 10_000, sd)
    assert margin.first >= 0.95
    assert margin.boards <= 2500


# --- the interval -----------------------------------------------------------------------------------------------------


def test_the_interval_is_where_no_bet_has_won() -> None:
    x = np.random.default_rng(0).beta(2, 3, 500)
    low, high = anytime_interval(x)
    goal = math.log(2 / 0.05)
    assert log_capital(x, bets(x, 0.05), low)[-1] == pytest.approx(goal, abs=1e-9)
    assert log_capital(1 - x, bets(1 - x, 0.05), 1 - high)[-1] == pytest.approx(goal, abs=1e-9)
    assert low < x.mean() < high


def test_bets_do_not_look_ahead() -> None:
    x = np.random.default_rng(0).random(50)
    y = np.concatenate([x[:20], 1 - x[20:]])
    assert (bets(x, 0.05)[:21] == bets(y, 0.05)[:21]).all()
    assert (bets(x, 0.05)[22:] != bets(y, 0.05)[22:]).any()


def test_degenerate_intervals_are_defined() -> None:
    assert anytime_interval([]) == (0, 1)
    low, high = anytime_interval([1.0])
    assert (low < 1, high) == (True, 1)
    for n in (10, 1000):
        low, high = anytime_interval(np.zeros(n))
        assert low == 0
        assert 0 < high <= 1
        same = anytime_interval(np.full(n, 0.5))
        assert same[0] <= 0.5 <= same[1]
    assert anytime_interval(np.zeros(1000))[1] < 0.02


def held_at_all_times(kind: int, boards: int, runs: int) -> float:
    """Share of runs in which the truth was within the limits after every single board."""
    held = 0
    goal = math.log(2 / 0.05)
    for i in range(runs):
        rng = np.random.default_rng([kind, i])
        if kind == 0:
            x, mean = rng.integers(0, 3, boards) / 2, 0.5
        elif kind == 1:
            x, mean = np.clip(0.5 + rng.laplace(0, 0.02, boards) * (rng.random(boards) < 0.5), 0, 1), 0.5
        else:
            x, mean = (rng.random(boards) < 0.03).astype(float), 0.03
        above = log_capital(x, bets(x, 0.05), mean)
        below = log_capital(1 - x, bets(1 - x, 0.05), 1 - mean)
        held += bool((above < goal).all() and (below < goal).all())
    return held / runs


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_the_interval_holds_at_all_times(kind: int) -> None:
    assert held_at_all_times(kind, 1000, 300) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_the_interval_holds_at_all_times_in_many_runs(kind: int) -> None:
    """It may hold more often than it says: it covers runs of any length."""
    assert held_at_all_times(kind, 5000, 2000) >= 0.94


def test_peeking_at_a_plain_interval_is_wrong() -> None:
    """What the interval is for: at 30 looks the plain one misses the truth in far more than 5 %."""
    missed = 0
    for i in range(300):
        x = np.random.default_rng(i).normal(size=3000)
        n = np.arange(100, 3001, 100)
        means = x.cumsum()[n - 1] / n
        missed += bool((np.abs(means) > 1.96 / np.sqrt(n)).any())
    assert missed > 60


# --- whole tests ------------------------------------------------------------------------------------------------------


def short_plan(first: str, second: str, **options) -> Plan:
    return make_plan(first, second, **{"look": 50, "cap": 100, **options})


@pytest.mark.parametrize(("players", "kind"), [(2, "deal"), (2, "match"), (3, "deal"), (4, "match")])
def test_the_better_agent_is_found(players: int, kind) -> None:
    found = sprt(
        short_plan("novice", "random", players=players, kind=kind, elo=100.0, cap=400), NOVICE, RANDOM, max_deals=30
    )
    assert found.step.verdict == "first"
    assert found.verdict == "novice is better"
    assert found.step.mean is not None
    assert found.low < found.step.mean < found.high
    other = sprt(
        short_plan("random", "novice", players=players, kind=kind, elo=100.0, cap=400), RANDOM, NOVICE, max_deals=30
    )
    assert other.step.verdict == "second"
    assert other.step.boards == found.step.boards
    assert other.step.mean == pytest.approx(-found.step.mean)


def test_an_agent_against_itself_is_equivalent() -> None:
    found = sprt(make_plan("a", "a"), POKER, POKER)
    assert found.step.verdict == "equivalent"
    assert found.step.mean == 0
    assert found.verdict == "equivalent within 20 Elo"
    assert found.variance_factor is None
    assert (found.low, found.high) == pytest.approx((-found.high, found.high))


def test_a_value_is_what_the_arena_says() -> None:
    """The points of the boards of `rank`, and the same boards."""
    from eval.ranking import rank

    found = sprt(short_plan("novice", "random", seed=4, look=25, cap=50, elo=1.0), NOVICE, RANDOM)
    ranking = rank({"novice": NOVICE, "random": RANDOM}, boards=50, matches=0, seed=4)
    assert found.points == ranking.pair("novice", "random").points
    assert found.corrected is not None
    assert found.corrected.mean != found.points.mean
    assert found.corrected.mean == pytest.approx(found.points.mean, abs=2)


def test_the_plan_stands_in_the_file_before_anything_is_played(tmp_path: Path) -> None:
    out = tmp_path / "test.json"
    seen = []

    class Watching:
        name = "watching"

        def act(self, observations, masks, rng):
            if not seen:
                seen.append(json.loads(out.read_text()))
            return NOVICE.act(observations, masks, rng)

    plan = short_plan("watching", "random")
    sprt(plan, Watching(), RANDOM, out=out)
    assert seen[0]["plan"] == plan.to_dict()
    assert seen[0]["result"] is None
    assert seen[0]["values"] == []


def test_a_test_that_was_stopped_goes_on(tmp_path: Path) -> None:
    plan = make_plan("mixed", "novice", look=50, cap=200)
    mixed = Mixture("heuristic:novice", "heuristic:poker", 0.5)
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    expected = sprt(plan, mixed, NOVICE, out=whole)

    class Stop(Exception):
        pass

    def stop(result: Result) -> None:
        if result.step.boards == 100:
            raise Stop

    with pytest.raises(Stop):
        sprt(plan, mixed, NOVICE, out=part, on_step=stop)
    assert part.read_bytes() != whole.read_bytes()
    assert sprt(plan, mixed, NOVICE, out=part) == expected
    assert part.read_bytes() == whole.read_bytes()
    # one that has ended says what it said
    assert sprt(plan, mixed, NOVICE, out=part) == expected


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "test.json"
    sprt(short_plan("a", "b"), NOVICE, RANDOM, out=out)
    before = out.read_bytes()
    with pytest.raises(SetupError, match=r"another test \(seed: 0 in the file, 1 asked for\)"):
        sprt(short_plan("a", "b", seed=1), NOVICE, RANDOM, out=out)
    assert out.read_bytes() == before
    for broken in (
        b"",
        b"[]",
        b'{"format": "chicago-sprt"}',
        before[:-20],
        before.replace(b'"values": [[', b'"values": [[1, '),
    ):
        out.write_bytes(broken)
        with pytest.raises(SetupError, match=r"test\.json"):
            sprt(short_plan("a", "b"), NOVICE, RANDOM, out=out)
        assert out.read_bytes() == broken


class Failing:
    name = "failing"

    def act(self, observations, masks, rng):
        raise ZeroDivisionError


def test_who_forfeits_has_lost() -> None:
    found = sprt(short_plan("novice", "failing"), NOVICE, Failing())
    assert found.verdict == "novice is better: failing forfeits"
    assert {fault.agent for fault in found.faults} == {"failing"}
    assert "failing failed 10 times (10 ERROR), first: act() raised ZeroDivisionError" in found.text
    assert sprt(short_plan("failing", "novice"), Failing(), NOVICE).forfeit == "failing"
    json.dumps(found.to_dict(), allow_nan=False)


class Seldom:
    """The novice, but for some of its hands."""

    name = "seldom"

    def act(self, observations, masks, rng):
        if (observations[:, AT.hand : AT.hand + 52] @ np.arange(52) % 97 == 0).any():
            raise ZeroDivisionError("\ud800" + "x" * 5000)
        return NOVICE.act(observations, masks, rng)


def test_every_fault_is_in_the_file_and_in_the_result(tmp_path: Path) -> None:
    out, again = tmp_path / "test.json", tmp_path / "again.json"
    plan = short_plan("seldom", "poker", look=25, cap=50)
    found = sprt(plan, Seldom(), POKER, out=out)
    data = json.loads(out.read_text())
    assert 0 < len(data["faults"]) < 10
    assert data["faults"] == data["result"]["faults"] == found.to_dict()["faults"]
    assert [fault["board"] for fault in data["faults"]] == sorted(fault["board"] for fault in data["faults"])
    for fault in data["faults"]:
        assert (fault["agent"], fault["status"]) == ("seldom", "ERROR")
        assert fault["seat"] == fault["game"]  # seldom sits at 0 in the first game of a board, at 1 in the second
        assert len(fault["reason"]) == 1000

    class Stop(Exception):
        pass

    def stop(result: Result) -> None:
        raise Stop

    with pytest.raises(Stop):
        sprt(plan, Seldom(), POKER, out=again, on_step=stop)
    assert sprt(plan, Seldom(), POKER, out=again) == found
    assert again.read_bytes() == out.read_bytes()

    fault = data["faults"][0]
    for wrong in (
        {**fault, "agent": "other"}, {**fault, "status": "LATE"}, {**fault, "board": -1}, {**fault, "game": 2},
        {**fault, "seat": 2}, {**fault, "deal": 0.5}, {**fault, "decision": "1"}, {**fault, "reason": "x" * 1001},
        {**fault, "line": 1}, {**fault, "more": 1}, {"agent": "seldom"}, [1],
    ):  # fmt: skip
        out.write_text(json.dumps({**data, "faults": [wrong]}))
        with pytest.raises(SetupError, match="damaged"):
            sprt(plan, Seldom(), POKER, out=out)
    out.write_text(json.dumps({**data, "faults": [fault] * 21}))
    with pytest.raises(SetupError, match="damaged"):
        sprt(plan, Seldom(), POKER, out=out)
    out.write_text(json.dumps({**data, "version": 1}))
    with pytest.raises(SetupError, match="version of the file: 1, known is 2"):
        sprt(plan, Seldom(), POKER, out=out)


@pytest.mark.parametrize(
    "wrong",
    [{"elo": 0}, {"elo": "x"}, {"alpha": 0.7}, {"beta": 0}, {"look": 1}, {"cap": 5}, {"kind": "hand"}, {"seed": -1}],
)
def test_impossible_plans_are_refused(wrong: dict) -> None:
    with pytest.raises(SetupError, match=next(iter(wrong))):
        make_plan("a", "b", **wrong)
    with pytest.raises(RulesError):
        make_plan("a", "b", rules="pagatt")


def test_from_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "test.json"
    words = ["eval", "sprt", "heuristic:novice", "random", "--elo", "100", "--look", "50", "--out", str(out)]
    assert main(COMMANDS, words) == 0
    shown = capsys.readouterr()
    assert "heuristic:novice is better, after 50 boards" in shown.out
    assert "margin 100 Elo" in shown.err
    assert main(COMMANDS, [*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["result"]["outcome"] == "first"
    assert data["plan"] == json.loads(out.read_text())["plan"]
    assert main(COMMANDS, [*words, "--seed", "3"]) == 2
    assert capsys.readouterr().err.count("\n") == 1 + 1  # the plan, and the line that says what is wrong
