"""Nothing that comes from a stranger runs code, takes memory without bounds, or fails with anything but our own errors.

`tests.fuzz.run` does the same for as long as one likes; what it finds is kept here.
"""

import gzip
import io
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agents
from chicago_env.chicago_v0 import raw_env
from chicago_env.errors import RecordError, SetupError, StateError, UsageError
from chicago_env.files import crowded
from chicago_env.game import Game
from chicago_env.records import read_records, record_of_game, write_records
from chicago_env.records.io import MAX_LINE
from tests.fuzz.mutate import mutate_bytes, mutate_json
from tests.fuzz.targets import TARGETS, allowed, played
from train.config import MAX_CONFIG, read_config

KEYS = st.integers(0, 2**63 - 1)


@pytest.mark.parametrize("name", TARGETS)
def test_whole_documents_are_read(name) -> None:
    target = TARGETS[name]
    for seed in target.seeds():
        target.run.__wrapped__(seed) if name not in {"agent-spec", "answer"} else target.run(seed)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=300) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes(name, data) -> None:
    TARGETS[name].run(data)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=40, deadline=None)
@given(key=KEYS)
def test_changed_documents(name, key) -> None:
    target, rng = TARGETS[name], np.random.default_rng(key)
    seeds = target.seeds()
    data = seeds[key % len(seeds)]
    target.run(mutate_json(data, rng) if target.json and key % 3 else mutate_bytes(data, rng))


def test_a_parser_that_fails_is_noticed() -> None:
    """The targets let pass what they should and nothing else."""

    def fails(error: Exception):
        def parse(data: bytes) -> None:
            raise error

        return allowed(parse)

    fails(RecordError("x"))(b"")
    for error in (ValueError("x"), RecordError("x" * 30_000), MemoryError(), RecursionError(), KeyError("x")):
        with pytest.raises((type(error), AssertionError)):
            fails(error)(b"")


# --- memory -----------------------------------------------------------------------------------------------------------


def peak(function) -> int:
    """Bytes that Python took at most while the function ran."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("unit", [b"{},", b"[],", b"[[[]]],"])
def test_lists_that_take_memory_are_not_built(unit) -> None:
    """64 KB of gzip were 3 GB of empty lists."""
    line = b'{"format":[' + unit * (4_000_000 // len(unit)) + b"1]}\n"
    packed = gzip.compress(line, 1)
    assert len(packed) < 40_000

    def read() -> None:
        with pytest.raises(RecordError, match="more lists and objects"):
            list(read_records(io.BytesIO(packed)))

    assert peak(read) < 6 * len(line)


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    class Endless(io.RawIOBase):
        read_bytes = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            buffer[:] = b" " * len(buffer)
            self.read_bytes += len(buffer)
            return len(buffer)

    source = Endless()
    with pytest.raises(RecordError, match="longer than"):
        list(read_records(source))
    assert source.read_bytes < 1.1 * MAX_LINE


@pytest.mark.parametrize("kind", ["game", "env"])
def test_a_saved_state_of_empty_lists_is_not_built(kind) -> None:
    name = f"{kind}-state"
    line = b'{"decks":[' + b"[]," * 1_000_000 + b"[]]}"
    target = TARGETS[name].run
    assert peak(lambda: target(line)) < 6 * len(line)
    with pytest.raises(StateError, match="more lists"):
        target.__wrapped__(line)


def test_what_the_project_writes_is_far_from_the_limits(tmp_path) -> None:
    for players in (2, 6):
        for rules in ("pagat", "open-card+show_broken=yes+chicago_from=none"):
            game = played(players, rules, max_deals=40)
            line = json.dumps(record_of_game(game), separators=(",", ":")).encode()
            assert (line.count(b"[") + line.count(b"{")) * 7 < len(line)
            assert not crowded(line)
            assert len(line) / (game.deal + 1) < MAX_LINE / 4000
            assert not crowded(game.get_state())
            write_records(tmp_path / "x.jsonl", [record_of_game(game)])
            assert len(list(read_records(tmp_path / "x.jsonl"))) == 1
    decks = [list(range(52))] * 3000
    assert not crowded(Game(2, decks=decks).get_state())
    env = raw_env(2)
    env.reset(seed=0)
    assert not crowded(env.get_state())


def test_a_configuration_without_end_is_not_read_to_its_end(tmp_path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b" " * (MAX_CONFIG + 1))
    with pytest.raises(UsageError, match="larger than"):
        read_config(path)
    path.write_bytes(b'{"name": "x"}'.ljust(MAX_CONFIG))
    assert read_config(path).name == "x"


def test_finds(tmp_path) -> None:
    """What fuzzing found: each is refused as its parser refuses other things."""
    from eval.compare import ResultError, load_result
    from eval.sprt import make_plan
    from eval.sprt import sprt as run_sprt
    from eval.store import Store, StoreError

    # the error of SQLite quotes a damaged name, and cannot be decoded
    whole = TARGETS["store"].seeds()[0]
    at = whole.index(b"CREATE TABLE games")
    (tmp_path / "a.db").write_bytes(whole[: at + 13] + b"\xc7" + whole[at + 14 :])
    with pytest.raises(StoreError, match="is damaged"), Store.reading(tmp_path / "a.db"):
        pass

    ranking = json.loads(TARGETS["result"].seeds()[0])
    for changed in (
        {**ranking, "entrants": [["name"]]},
        {**ranking, "table": [{**ranking["table"][0], "points_per_deal": {"mean": 10**400, "low": 0, "high": 0}}]},
    ):
        (tmp_path / "a.json").write_text(json.dumps(changed))
        with pytest.raises(ResultError, match="is damaged"):
            load_result(tmp_path / "a.json")

    test = json.loads(TARGETS["sprt-file"].seeds()[0])
    for name, value in (("faults", [0, 1e300]), ("faults", [0]), ("values", [[1e300, 0.0]] * 2), ("result", [])):
        (tmp_path / "a.json").write_text(json.dumps({**test, name: value}))
        novice, plan = agents.load("heuristic:novice"), make_plan("a", "b", look=2, cap=4)
        with pytest.raises(SetupError, match="no file of a sequential test"):
            run_sprt(plan, novice, novice, out=tmp_path / "a.json")
