"""The registry of agents, the checks between agents and games, and `random`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agents
from agents import AgentError, AgentSpecError, registry
from agents.base import check_answer, check_batch
from agents.registry import REGISTRY, Entry
from agents.uniform import RandomAgent
from chicago_env import _jit
from chicago_env.actions import NUM_ACTIONS
from chicago_env.errors import ChicagoError, MissingExtra
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.setup import MatchSetup
from chicago_env.vector import GameBatch
from train.cli import run

ROOT = Path(__file__).resolve().parent.parent


def some_batch(rows: int = 6) -> tuple[np.ndarray, np.ndarray]:
    batch = GameBatch([MatchSetup.make(2, "pagat", seed=seed) for seed in range(rows)])
    return batch.observe(batch.live)


class Scripted:
    """Answers what it was made with, or raises it."""

    name = "scripted"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act(self, observations, masks, rng):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def ask(answer: object, observations=None, masks=None, **options: object) -> np.ndarray:
    given = some_batch()
    observations = given[0] if observations is None else observations
    masks = given[1] if masks is None else masks
    return agents.ask(Scripted(answer), observations, masks, np.random.default_rng(0), **options)


def test_legal_answers_pass_whatever_integers_they_are() -> None:
    for dtype in (np.int64, np.int32, np.uint8, np.int8):
        result = ask(np.zeros(6, dtype=dtype))
        assert result.dtype == np.int64
        assert result.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.zeros(5, dtype=np.int64), "int64 of shape (5,)"),
        (np.zeros((6, 1), dtype=np.int64), "int64 of shape (6, 1)"),
        (np.zeros(6), "float64 of shape (6,)"),
        (np.full(6, np.nan), "float64 of shape (6,)"),
        (np.zeros(6, dtype=bool), "bool of shape (6,)"),
        ([0] * 6, "list"),
        (None, "NoneType"),
        (ZeroDivisionError("oh"), "act() raised ZeroDivisionError: oh"),
    ],
)
def test_an_answer_that_is_no_batch_of_actions_names_the_agent(answer: object, words: str) -> None:
    with pytest.raises(AgentError, match="agent scripted: ") as caught:
        ask(answer)
    assert words in str(caught.value)
    assert caught.value.row is None


@pytest.mark.parametrize("action", [-1, 32, 60, NUM_ACTIONS, 2**40])
def test_an_illegal_action_names_agent_and_row(action: int) -> None:
    answer = np.zeros(6, dtype=np.int64)
    answer[[4, 5]] = action
    with pytest.raises(AgentError, match="agent scripted, row 4: ") as caught:
        ask(answer)
    assert (caught.value.agent, caught.value.row) == ("scripted", 4)
    assert str(action) in caught.value.reason


def test_the_message_has_the_text_of_the_actions() -> None:
    with pytest.raises(AgentError, match=r"60 \(play 4H\), which is illegal; legal: 0 \(keep all\), 1 \(discard "):
        ask(np.full(6, 60))


def test_an_exception_of_the_agent_is_the_cause() -> None:
    error = ZeroDivisionError("oh")
    with pytest.raises(AgentError) as caught:
        ask(error)
    assert caught.value.__cause__ is error


def test_a_name_may_stand_for_the_agents_own() -> None:
    with pytest.raises(AgentError, match="agent first: "):
        ask(None, name="first")


@pytest.mark.parametrize(
    ("observations", "masks", "words"),
    [
        (None, np.zeros((6, NUM_ACTIONS - 1), np.int8), "masks of shape"),
        (None, np.zeros(NUM_ACTIONS, np.int8), "masks of shape"),
        (None, np.ones((5, NUM_ACTIONS), np.int8), "masks of shape"),
        (None, np.ones((6, NUM_ACTIONS), np.float32), "masks of type float32"),
        (None, [[1] * NUM_ACTIONS] * 6, "masks of shape list"),
        (np.zeros((6, OBSERVATION_SIZE - 1), np.uint8), None, "observations of shape"),
        (np.zeros(OBSERVATION_SIZE, np.uint8), None, "observations of shape"),
        (np.zeros((6, OBSERVATION_SIZE), np.float32), None, "observations of type float32"),
    ],
)
def test_a_wrong_batch_never_reaches_the_agent(observations, masks, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        ask(RuntimeError("was asked"), observations, masks)


def test_a_row_without_legal_actions_never_reaches_the_agent() -> None:
    observations, masks = some_batch()
    masks[3] = 0
    with pytest.raises(AgentError, match="row 3: the mask has no legal action"):
        ask(RuntimeError("was asked"), observations, masks)


def test_an_empty_batch_is_a_batch() -> None:
    observations, masks = some_batch()
    check_batch("x", observations[:0], masks[:0])
    assert check_answer("x", np.zeros(0, dtype=np.int64), observations[:0], masks[:0]).shape == (0,)


# --- random ---------------------------------------------------------------------------------------------------------


def test_random_is_uniform_over_legal_actions() -> None:
    masks = np.zeros((30_000, NUM_ACTIONS), dtype=np.int8)
    legal = [0, 31, 48, 101]
    masks[:, legal] = 1
    observations = np.zeros((len(masks), OBSERVATION_SIZE), dtype=np.uint8)
    actions = RandomAgent().act(observations, masks, np.random.default_rng(5))
    counts = np.bincount(actions, minlength=NUM_ACTIONS)
    assert set(np.flatnonzero(counts)) == set(legal)
    # chi square of 3 degrees of freedom: above 21.1 once in 10,000
    assert ((counts[legal] - 7500) ** 2 / 7500).sum() < 21.1


def test_random_takes_the_nth_legal_action() -> None:
    class Fixed:
        def random(self, size):
            assert size == 4
            return np.array([0.0, 0.49, 0.5, np.nextafter(1, 0)])

    masks = np.zeros((4, NUM_ACTIONS), dtype=np.int8)
    masks[:, [42, 43]] = 1
    assert RandomAgent().act(None, masks, Fixed()).tolist() == [42, 42, 43, 43]


@pytest.mark.parametrize("name", [name for name in REGISTRY if not name.startswith("search:")])  # these are slow
def test_agents_are_deterministic_given_the_rng(name: str) -> None:
    agent = agents.load(name)
    observations, masks = some_batch(50)
    first = agent.act(observations, masks, np.random.default_rng(1))
    assert (first == agent.act(observations.copy(), masks.copy(), np.random.default_rng(1))).all()
    assert isinstance(agent, agents.Agent)
    assert agent.name == name


# --- the registry -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "no name given"),
        ("novice", "did you mean heuristic:novice? known: random, heuristic:novice"),
        ("heuristic:novce", "did you mean heuristic:novice?"),
        ("search:nobody", "no agent of that name"),
        ("exec:./bot", "no program"),
        ("nowhere/x.safetensors", "no such file"),
        ("random?", "'' is no option"),
        ("random?seed=1", "unknown option 'seed'; this agent has none"),
    ],
)
def test_an_unknown_spec_says_what_is_wrong_and_what_exists(spec: str, words: str) -> None:
    with pytest.raises(AgentSpecError) as caught:
        agents.load(spec)
    assert words in str(caught.value)
    assert caught.value.spec == spec


def budget(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("allowed is a whole number")
    return int(text)


@pytest.fixture
def with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(**options: object) -> Scripted:
        return Scripted(options)

    monkeypatch.setitem(REGISTRY, "search:x", Entry("for tests", make, {"budget": budget, "depth": budget}))


@pytest.mark.parametrize("spec", [5, None, b"random", "a" * 5000 + ".safetensors", "a\0.safetensors", Path("nobody")])
def test_what_is_no_spec_is_refused(spec: object) -> None:
    with pytest.raises(AgentSpecError):
        agents.load(spec)  # type: ignore[arg-type]  # on purpose


def test_an_agent_that_writes_into_its_mask_makes_nothing_legal() -> None:
    class Cheat:
        name = "cheat"

        def act(self, observations, masks, rng):
            masks[:] = 1
            return np.full(len(masks), NUM_ACTIONS - 1)

    observations, masks = some_batch()
    before = masks.copy()
    with pytest.raises(AgentError, match="illegal"):
        agents.ask(Cheat(), observations, masks, np.random.default_rng(0))
    assert (masks == before).all()


@pytest.mark.usefixtures("with_options")
def test_options_are_read_strictly() -> None:
    assert agents.load("search:x").answer == {}
    assert agents.load("search:x?budget=20").answer == {"budget": 20}
    assert agents.load("search:x?budget=20&depth=3").answer == {"budget": 20, "depth": 3}
    for options, words in [
        ("budgt=1", "unknown option 'budgt'; did you mean budget? known: budget, depth"),
        ("budget=x", "option budget: 'x' is not allowed: allowed is a whole number"),
        ("budget", "'budget' is no option"),
        ("budget=", "'budget=' is no option"),
        ("=1", "'=1' is no option"),
        ("budget=1&budget=2", "option 'budget' is given twice"),
        ("budget=1&", "'' is no option"),
    ]:
        with pytest.raises(AgentSpecError) as caught:
            agents.load(f"search:x?{options}")
        assert words in str(caught.value)


def test_a_checkpoint_may_be_greedy() -> None:
    path = registry.checkpoints()["ppo-2p"]
    assert not agents.load("ppo-2p").greedy
    for spec in ("ppo-2p?greedy=yes", f"{path}?greedy=yes"):
        agent = agents.load(spec)
        assert agent.greedy
        assert agent.name == "ppo-2p"
    assert not agents.load(f"{path}?greedy=no").greedy


def test_checkpoints_are_listed_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.safetensors").write_bytes(b"not one")
    (tmp_path / "README.md").write_text("")
    monkeypatch.setattr(registry, "CHECKPOINTS", tmp_path)
    assert agents.names() == [*REGISTRY, "good"]
    with pytest.raises(AgentSpecError, match="yes or no"):
        agents.load("good?greedy=1")
    with pytest.raises(AgentSpecError, match="unknown option 'greed'"):
        agents.load(f"{tmp_path / 'good.safetensors'}?greed=yes")
    with pytest.raises(AgentSpecError, match="did you mean good"):
        agents.load("goood")
    for spec in ("good", str(tmp_path / "good.safetensors")):
        with pytest.raises(ChicagoError, match=r"good\.safetensors"):
            agents.load(spec)


def test_checkpoints_need_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.safetensors").write_bytes(b"")
    monkeypatch.setattr(registry, "CHECKPOINTS", tmp_path)
    monkeypatch.delitem(sys.modules, "agents.checkpoint", raising=False)
    monkeypatch.delitem(sys.modules, "agents.networks", raising=False)
    monkeypatch.setattr(sys, "path", [str(ROOT)])
    for package in ("torch", "safetensors"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"chicago-env\[train\]"):
        agents.load("good")


def test_heuristics_run_without_torch() -> None:
    code = (
        "import sys, agents; from agents.registry import REGISTRY;"
        "[agents.load(name) for name in REGISTRY if name != 'search:policy']; print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert "agents.heuristics.novice" in loaded.stdout.split()
    assert not {"torch", "safetensors", "stable_baselines3"} & set(loaded.stdout.split())


def test_compiled_code_goes_stale_with_the_sources_it_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of agents use the engine, not the other way round; those of strangers use the engine."""
    for package in ("chicago_env", "agents"):
        shutil.copytree(ROOT / package, tmp_path / package)
    monkeypatch.setattr(_jit, "__file__", str(tmp_path / "chicago_env" / "_jit.py"))
    packages = ("chicago_env", "agents", "a_stranger")

    def changed_by(file: Path) -> list[str]:
        before = [_jit._source_hash(package) for package in packages]
        file.write_text(file.read_text("utf-8") + "# changed\n", "utf-8")
        return [p for p, hashed in zip(packages, before, strict=True) if _jit._source_hash(p) != hashed]

    assert changed_by(tmp_path / "agents" / "heuristics" / "novice.py") == ["agents"]
    assert changed_by(tmp_path / "chicago_env" / "engine" / "flow.py") == [*packages]
    table = tmp_path / "agents" / "heuristics" / "field.npy"  # compiled in as a constant
    before = _jit._source_hash("agents")
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    assert _jit._source_hash("agents") != before


def test_chicago_agents_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["agents", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in listed] == agents.names()
    assert all(agent["help"] and agent["kind"] in {"built in", "checkpoint"} for agent in listed)
    assert run(["agents"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in REGISTRY)
