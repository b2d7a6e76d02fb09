"""Checkpoints: what is written is read, what is damaged or foreign is refused, and nothing else is touched."""

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

import agents
from agents import checkpoint
from agents.checkpoint import CheckpointInfo, load_checkpoint, read_checkpoint, save_checkpoint
from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet, input_columns, weight_shapes
from agents.suits import SUIT_RANKS
from chicago_env import PRESETS, BatchEnv, Rules, parse_rules
from chicago_env.errors import CheckpointError, SetupError
from chicago_env.layout import BLOCKS, EXACT, OBSERVATION_SIZE, slice_of

CONFIG = NetworkConfig((Rules(),), (2,), (16, 8))


def make_net(config: NetworkConfig = CONFIG, seed: int = 0) -> PolicyValueNet:
    net = PolicyValueNet(config)
    net.initialize(torch.Generator().manual_seed(seed))
    return net


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    info = CheckpointInfo(CONFIG, {"note": "tiny"}, 1000, 2.5, 7, "older", "abc", {"random": 0.9})
    save_checkpoint(path, make_net(), info)
    return path


def batch_of(players: int = 2, rules: str = "pagat", rows: int = 64):
    env = BatchEnv(rows, players, rules, seed=3)
    step, agent, rng = env.reset(), agents.load("random"), np.random.default_rng(0)
    for _ in range(10):
        step = env.step(agent.act(step.observation, step.mask, rng))
    return step


def header_of(data: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def with_header(header: dict, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def resigned(path: Path, change) -> None:
    """Changes metadata or tensors, and signs the result as a writer would."""
    metadata, tensors = checkpoint.read_tensors(path, checkpoint.FORMAT, checkpoint.VERSION)
    change(metadata, tensors)
    checkpoint.write_tensors(path, metadata, tensors)


# --- writing and reading ----------------------------------------------------------------------------------------------


def test_what_is_written_is_read(saved) -> None:
    net, info = read_checkpoint(saved)
    assert info == CheckpointInfo(CONFIG, {"note": "tiny"}, 1000, 2.5, 7, "older", "abc", {"random": 0.9})
    for name, tensor in make_net().state_dict().items():
        assert torch.equal(net.state_dict()[name], tensor)


@pytest.mark.parametrize("flag", ["canonical_suits", "locations"])
def test_what_a_network_has_beside_its_layers_is_part_of_it(tmp_path, flag) -> None:
    path, config = tmp_path / "more.safetensors", dataclasses.replace(CONFIG, **{flag: True})
    assert CheckpointInfo(CONFIG).to_dict()["network"] == {"hidden": [16, 8]}
    save_checkpoint(path, make_net(config), CheckpointInfo(config))
    assert read_checkpoint(path)[1].network == config
    step = batch_of()
    own = NetworkAgent(make_net(config)).act(step.observation, step.mask, np.random.default_rng(5))
    assert agents.load(str(path)).act(step.observation, step.mask, np.random.default_rng(5)).tolist() == own.tolist()


def test_the_registry_loads_it(saved) -> None:
    step = batch_of()
    own = NetworkAgent(make_net()).act(step.observation, step.mask, np.random.default_rng(5))
    agent = agents.load(str(saved))
    assert agent.name == "small"
    assert agent.act(step.observation, step.mask, np.random.default_rng(5)).tolist() == own.tolist()


def test_loading_touches_no_global_generator(saved) -> None:
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002 - looked at
    agent = load_checkpoint(saved)
    step = batch_of()
    agent.act(step.observation, step.mask, np.random.default_rng(5))
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.random.get_state()[1].tolist() == numpy_state  # noqa: NPY002 - as above


def test_a_file_is_there_whole_or_as_before(saved, monkeypatch) -> None:
    before = saved.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(saved, make_net(seed=1), CheckpointInfo(CONFIG))
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_infinite_weights_and_another_networks_information_are_not_written(tmp_path) -> None:
    net = make_net()
    with pytest.raises(CheckpointError, match="another network"):
        save_checkpoint(tmp_path / "x", net, CheckpointInfo(dataclasses.replace(CONFIG, players=(3,))))
    with torch.no_grad():
        net.value_head.bias[0] = torch.nan
    with pytest.raises(CheckpointError, match=r"value_head\.bias has values that are not finite"):
        save_checkpoint(tmp_path / "x", net, CheckpointInfo(CONFIG))
    assert not any(tmp_path.iterdir())


# --- damage -----------------------------------------------------------------------------------------------------------


def test_every_flipped_bit_is_seen(saved) -> None:
    data = saved.read_bytes()
    length = 8 + int.from_bytes(data[:8], "little")
    rng = np.random.default_rng(0)
    # all of the length and of the beginning, and places anywhere else
    places = [*range(64), *rng.integers(64, length, 150).tolist(), *rng.integers(length, len(data), 150).tolist()]
    for place in [*places, length - 1, length, len(data) - 1]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            load_checkpoint(saved)


def test_every_truncation_is_seen(saved) -> None:
    data = saved.read_bytes()
    for size in [0, 1, 7, 8, 9, 100, 1000, len(data) // 2, len(data) - 1]:
        saved.write_bytes(data[:size])
        with pytest.raises(CheckpointError):
            load_checkpoint(saved)
    saved.write_bytes(data + b"\0")
    with pytest.raises(CheckpointError):
        load_checkpoint(saved)


def test_a_huge_header_is_refused_before_it_is_read(saved, monkeypatch) -> None:
    data = saved.read_bytes()
    saved.write_bytes((1 << 40).to_bytes(8, "little") + data[8:])
    with pytest.raises(CheckpointError, match="header of 1099511627776 bytes"):
        load_checkpoint(saved)
    saved.write_bytes((len(data)).to_bytes(8, "little") + data[8:])
    with pytest.raises(CheckpointError, match="truncated"):
        load_checkpoint(saved)
    saved.write_bytes(data)
    monkeypatch.setattr(checkpoint, "MAX_FILE", len(data) - 1)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        load_checkpoint(saved)


def test_other_files_are_refused(saved, tmp_path) -> None:
    class Evil:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    for data in [b"", b"hello, world", pickle.dumps(Evil()), b"PK\x03\x04" + b"\0" * 100, b"\0" * 1000]:
        saved.write_bytes(data)
        with pytest.raises(CheckpointError):
            load_checkpoint(saved)
    assert not (tmp_path / "ran").exists()
    saved.write_bytes(safetensors.torch.save({"x": torch.zeros(3)}))
    with pytest.raises(CheckpointError, match="without its metadata"):
        load_checkpoint(saved)
    with pytest.raises(CheckpointError, match="No such file"):
        load_checkpoint(tmp_path / "missing")
    with pytest.raises(CheckpointError, match="directory"):
        load_checkpoint(tmp_path)


def test_metadata_that_is_no_object(saved) -> None:
    header, body = header_of(saved.read_bytes())
    for text in ["[1]", "3", "{", '"x"', "[" * 100_000]:
        saved.write_bytes(with_header({**header, "__metadata__": {"chicago": text}}, body))
        with pytest.raises(CheckpointError):
            load_checkpoint(saved)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("observation_hash", "0" * 16, "another version of the game: observation_hash"),
        ("observation_version", 2, "another version of the game: observation_version"),
        ("observation_size", 3, "another version of the game: observation_size"),
        ("action_version", 2, "another version of the game: action_version"),
        ("steps", "many", "field steps"),
        ("steps", True, "field steps"),
        ("players", [], "impossible network"),
        ("players", [9], "impossible network"),
        ("players", ["x"], "impossible network"),
        ("players", [[2]], "impossible network"),
        ("rules", [], "impossible network"),
        ("rules", [{"target": 52}], "impossible network"),
        ("rules", [3], "impossible network"),
        ("network", {"hidden": [1 << 40]}, "impossible network"),
        ("network", {"hidden": [16.0, 8]}, "field network"),
        ("network", {"hidden": [16, 8], "more": 1}, "field network"),
        ("network", {"hidden": [16, 8], "canonical_suits": False}, "field network"),
        ("network", {"hidden": [16, 8], "canonical_suits": 1}, "field network"),
        ("network", {"hidden": [16]}, "tensors missing"),
        ("network", {"hidden": [16, 9]}, r"tensor \w+\.\S+ is torch"),
    ],
)
def test_every_field_is_checked(saved, field, value, message) -> None:
    resigned(saved, lambda metadata, _: metadata.update({field: value}))
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(saved)


def test_unknown_and_missing_fields(saved) -> None:
    resigned(saved, lambda metadata, _: metadata.update(extra=1))
    with pytest.raises(CheckpointError, match="fields: extra"):
        load_checkpoint(saved)
    resigned(saved, lambda metadata, _: [metadata.pop("extra"), metadata.pop("seed")])
    with pytest.raises(CheckpointError, match="fields: seed"):
        load_checkpoint(saved)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", 1.5),
        ("steps", -1),
        ("steps", 10**400),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("seconds", -1),
        ("seed", -1),
        ("seed", True),
        ("parent", 5),
        ("ratings", 5),
        ("ratings", {"a": float("nan")}),
        ("training", "x"),
        ("training", {"a": {1}}),
        ("training", {1: "a"}),
    ],
)
def test_information_that_could_not_be_read_is_not_written(saved, field, value) -> None:
    with pytest.raises(SetupError, match=f"metadata field {field}"):
        CheckpointInfo(CONFIG, **{field: value})
    metadata, tensors = checkpoint.read_tensors(saved, checkpoint.FORMAT, checkpoint.VERSION)
    if field in {"steps", "seed"} or value == -1:
        checkpoint.write_tensors(saved, {**metadata, field: value}, tensors)
        with pytest.raises(CheckpointError, match=f"field {field}"):
            load_checkpoint(saved)


def test_a_header_that_is_too_long_is_not_written(saved) -> None:
    before = saved.read_bytes()
    with pytest.raises(CheckpointError, match="too much to be read again"):
        save_checkpoint(saved, make_net(), CheckpointInfo(CONFIG, {"note": "x" * checkpoint.MAX_HEADER}))
    assert saved.read_bytes() == before


def test_shapes_follow_from_the_configuration() -> None:
    wide = NetworkConfig((Rules(), PRESETS["open-card"]), (2, 4), (5,))
    for config in (CONFIG, wide, dataclasses.replace(wide, locations=True)):
        state = PolicyValueNet(config).state_dict()
        assert weight_shapes(config) == {name: tuple(tensor.shape) for name, tensor in state.items()}
        assert {tensor.dtype for tensor in state.values()} == {torch.float32}


def test_a_file_that_only_claims_a_large_network_takes_no_memory(saved, monkeypatch) -> None:
    resigned(saved, lambda metadata, _: metadata.update(network={"hidden": [8192] * 8}))
    monkeypatch.setattr(checkpoint, "PolicyValueNet", lambda _: pytest.fail("memory taken"))
    with pytest.raises(CheckpointError, match="tensors missing"):
        read_checkpoint(saved)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn])
def test_types_that_numpy_has_not_are_refused(saved, dtype, monkeypatch) -> None:
    metadata, tensors = checkpoint.read_tensors(saved, checkpoint.FORMAT, checkpoint.VERSION)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "_digest", lambda *_: "")
        checkpoint.write_tensors(saved, metadata, {**tensors, "value_head.bias": torch.zeros(1).to(dtype)})
    with pytest.raises(CheckpointError, match=r"value_head\.bias is torch\..*which no file"):
        read_checkpoint(saved)


def test_format_and_version(saved) -> None:
    metadata, tensors = checkpoint.read_tensors(saved, checkpoint.FORMAT, checkpoint.VERSION)
    checkpoint.write_tensors(saved, {**metadata, "format": "chicago-training"}, tensors)
    with pytest.raises(CheckpointError, match="not a chicago-checkpoint file but 'chicago-training'"):
        load_checkpoint(saved)
    checkpoint.write_tensors(saved, {**metadata, "version": 2}, tensors)
    with pytest.raises(CheckpointError, match="version 2"):
        load_checkpoint(saved)


def test_every_tensor_is_checked(saved) -> None:
    original = saved.read_bytes()
    for change, message in [
        (lambda _, t: t.pop("value_head.bias"), r"missing or too many: value_head\.bias"),
        (lambda _, t: t.update(more=torch.zeros(1)), "missing or too many: more"),
        (lambda _, t: t.update({"value_head.bias": torch.zeros(2)}), r"value_head\.bias is torch\.float32 \(2,\)"),
        (lambda _, t: t.update({"value_head.bias": torch.zeros(1).half()}), r"value_head\.bias is torch\.float16"),
        (lambda _, t: t["hidden.0.weight"].__setitem__((0, 0), torch.inf), "not finite"),
    ]:
        saved.write_bytes(original)
        resigned(saved, change)
        with pytest.raises(CheckpointError, match=message):
            load_checkpoint(saved)


def test_the_error_names_the_file(saved) -> None:
    saved.write_bytes(b"")
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(saved)
    assert str(caught.value).startswith(f"{saved}: ")
    assert "\n" not in str(caught.value)


# --- networks and their agent -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize(
    "rules", [*PRESETS, "pagat+four=choose+show_broken=yes+needs_chicago=success", "race+breaker=8+suits=HSDC"]
)
def test_inputs_are_what_can_vary(rules, players) -> None:
    """Whatever varies over random play is an input, but for exact numbers, which are there clipped too, and flags that
    no rule asks for."""
    columns = set(input_columns([parse_rules(rules)], [players]).tolist())
    env, agent, rng = BatchEnv(128, players, rules, seed=1), agents.load("random"), np.random.default_rng(0)
    step = env.reset()
    low, high = step.observation.min(axis=0), step.observation.max(axis=0)
    for _ in range(200):
        step = env.step(agent.act(step.observation, step.mask, rng))
        low, high = np.minimum(low, step.observation.min(axis=0)), np.maximum(high, step.observation.max(axis=0))
    varying = set(np.flatnonzero(low < high).tolist())
    unused = {"attempted", "succeeded"} if parse_rules(rules).win_needs_chicago is None else set()
    unused |= {block.name for block in BLOCKS if block.kind == EXACT}
    left_out = {c for name in unused for c in range(slice_of(name).start, slice_of(name).stop)}
    assert varying - left_out <= columns
    assert not columns & left_out
    assert len(columns) < OBSERVATION_SIZE
    assert len(columns - varying) < len(columns) / 3  # most of them do vary


def test_inputs_of_several_rule_sets_and_players_hold_those_of_each() -> None:
    rules = [PRESETS["pagat"], PRESETS["open-card"]]
    both = set(input_columns(rules, [2, 4]).tolist())
    for each in rules:
        for players in (2, 4):
            assert set(input_columns([each], [players]).tolist()) < both
    assert {slice_of("players").start, slice_of("players").start + 2} < both
    assert slice_of("players").start + 1 not in both


def test_ranks_of_suits_are_inputs_where_suits_come_in_canonical_order() -> None:
    """Three of the four: the fourth follows. They go with the names, so they vary under one rule set."""
    ranks = {SUIT_RANKS + 1, SUIT_RANKS + 2, SUIT_RANKS + 3}
    one, more = [PRESETS["open-card"]], [PRESETS["pagat"], PRESETS["open-card"]]
    plain = set(input_columns(one, [2]).tolist())
    assert set(input_columns(one, [2], canonical_suits=True).tolist()) - plain == ranks
    assert ranks < set(input_columns(more, [2]).tolist())
    assert (input_columns(more, [2], canonical_suits=True) == input_columns(more, [2])).all()
    unordered = [PRESETS["pagat"]]
    assert (input_columns(unordered, [2], canonical_suits=True) == input_columns(unordered, [2])).all()


def test_inputs_are_scaled_as_the_layout_says() -> None:
    net = make_net()
    observations = batch_of().observation
    offset = np.concatenate([np.full(b.size, b.offset) for b in BLOCKS])[net.columns]
    scale = np.concatenate([np.full(b.size, b.scale) for b in BLOCKS])[net.columns]
    x = torch.from_numpy(((observations[:, net.columns] - offset) / scale).astype(np.float32))
    for layer in net.hidden:
        x = torch.relu(layer(x))
    logits, values = net(torch.from_numpy(observations))
    torch.testing.assert_close(logits, net.policy_head(x), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(values, net.value_head(x)[:, 0], atol=1e-5, rtol=1e-4)


def test_the_agent_samples_what_its_probabilities_say() -> None:
    step = batch_of(rows=8)
    net = make_net()
    with torch.no_grad():
        net.policy_head.weight *= 300
    agent = NetworkAgent(net)
    probabilities = agent.probabilities(step.observation, step.mask)
    assert not probabilities[step.mask == 0].any()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    rng, counts, draws = np.random.default_rng(0), np.zeros_like(probabilities), 4000
    for _ in range(draws):
        counts[np.arange(8), agent.act(step.observation, step.mask, rng)] += 1
    np.testing.assert_allclose(counts / draws, probabilities, atol=0.04)
    greedy = NetworkAgent(net, greedy=True).act(step.observation, step.mask, rng)
    assert greedy.tolist() == probabilities.argmax(axis=1).tolist()


class _Numbers:
    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, size: int, /):
        return np.full(size, self.number)


@pytest.mark.parametrize("number", [0.0, np.nextafter(1, 0), 1.0])  # 1: where rounding may carry a number
def test_the_first_and_the_last_number_give_legal_actions(number) -> None:
    step = batch_of()
    actions = NetworkAgent(make_net()).act(step.observation, step.mask, _Numbers(number))
    assert step.mask[np.arange(len(actions)), actions].all()


def test_rows_do_not_depend_on_each_other() -> None:
    step = batch_of()
    agent = NetworkAgent(make_net())
    together = agent.probabilities(step.observation, step.mask)
    for row in range(5):
        alone = agent.probabilities(step.observation[row : row + 1], step.mask[row : row + 1])
        np.testing.assert_allclose(together[row], alone[0], atol=1e-6)


def test_the_agent_refuses_games_it_is_not_made_for() -> None:
    agent, rng = NetworkAgent(make_net(), name="two"), np.random.default_rng(0)
    step = batch_of(players=3)
    with pytest.raises(SetupError, match="two is made for 2 players, not for 3"):
        agent.act(step.observation, step.mask, rng)
    step = batch_of(rules="race")
    with pytest.raises(SetupError, match="two is made for the rules pagat"):
        agent.act(step.observation, step.mask, rng)
    step = batch_of()
    step.mask[3] = 0
    with pytest.raises(SetupError, match="mask of row 3"):
        agent.act(step.observation, step.mask, rng)
    with pytest.raises(SetupError, match="expected"):
        agent.act(step.observation[:, :5], step.mask, rng)


def test_making_a_network_touches_no_global_generator() -> None:
    before = torch.get_rng_state()
    net = make_net()
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(net.policy_head.weight, make_net().policy_head.weight)
    assert not torch.equal(net.policy_head.weight, make_net(seed=1).policy_head.weight)


@pytest.mark.parametrize("hidden", [(), (0,), (9000,), (8,) * 9])
def test_impossible_shapes_are_refused(hidden) -> None:
    with pytest.raises(SetupError, match="hidden"):
        NetworkConfig((Rules(),), (2,), hidden)
