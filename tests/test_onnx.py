"""Checkpoints as ONNX: onnxruntime computes what torch does, and the file says what it is."""

import json
import os

import numpy as np
import pytest
import torch

import agents
from agents.checkpoint import CheckpointInfo, read_checkpoint, save_checkpoint
from agents.networks import MASKED_LOGIT, NetworkAgent, NetworkConfig, PolicyValueNet
from agents.registry import AgentSpecError, checkpoint_file, checkpoints
from agents.suits import LISTS, SEEN, SHOWN_SUITS, SUIT_RANKS, TABLES, canonical
from chicago_env import BatchEnv, parse_rules
from chicago_env.actions import NUM_ACTIONS
from chicago_env.cli import BAD_INPUT, OK
from chicago_env.errors import CheckpointError
from chicago_env.layout import AT, CARDS, HAND, OBSERVATION_SIZE, SEATS, layout_hash
from chicago_env.view import PHASES, decode
from train.cli import run

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

from agents.onnx_export import export_onnx  # noqa: E402 - it needs those
from agents.onnx_suits import NAMES, CanonicalSuits, SuitOrder  # noqa: E402

STATES = 10_000
RULES = ("pagat", "open-card", "race+four=choose", "family+show_broken=yes", "pagat+open_card=yes+show_broken=yes")


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def states(players, rules, number, player, envs=250):
    """Observations (number, D) and masks (number, A) of matches from all kinds of scores, played by an agent."""
    env = BatchEnv(envs, players=players, rules=rules, seed=players, start_scores=52, num_threads=1)
    rng, now, found = np.random.default_rng(0), env.reset(), []
    while len(found) * envs < number:
        found.append((now.observation.copy(), now.mask.copy()))
        now = env.step(player.act(now.observation, now.mask, rng))
    return tuple(np.concatenate(part)[:number] for part in zip(*found, strict=True))


def compare(path, net, observations, masks):
    """Largest differences between onnxruntime and torch, and the logits of onnxruntime.

    Differences of logits are relative where a logit is beyond ±1: trained networks have logits up to 100, of which float32
    itself rounds off 3e-5, in torch as in onnxruntime. Those of probabilities and values are absolute.
    """
    logits, values = session(path).run(["logits", "value"], {"observation": observations, "mask": masks})
    seen, actions = observations, np.broadcast_to(np.arange(NUM_ACTIONS), masks.shape)
    if net.config.canonical_suits:
        seen, _, actions, _ = canonical(observations, masks)
    with torch.inference_mode():
        own, worth = net(torch.from_numpy(seen)[:, net.columns])
    legal = masks != 0
    assert (logits[~legal] == np.float32(MASKED_LOGIT)).all()
    theirs = np.empty_like(logits)
    np.put_along_axis(theirs, actions, own.numpy(), axis=1)
    off = (np.abs(logits - theirs) / np.maximum(1, np.abs(theirs)))[legal].max()
    chances = np.abs(softmax(logits, legal) - softmax(theirs, legal)).max()
    return max(off, chances, np.abs(values - worth.numpy()).max()), logits


def softmax(logits, legal):
    powers = np.exp(
        np.where(legal, logits.astype(np.float64), -np.inf) - logits.max(axis=1, where=legal, initial=-1e38)[:, None]
    )
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module", params=["ppo-2p", "ppo-2p-canonical"])
def shipped(request, tmp_path_factory):
    """Name of a checkpoint that comes with the project, its file as ONNX, and the metadata."""
    path = tmp_path_factory.mktemp("onnx") / "shipped.onnx"
    return request.param, path, export_onnx(checkpoints()[request.param], path)


def test_a_shipped_checkpoint_on_ten_thousand_states(shipped) -> None:
    name, path, _ = shipped
    net, _ = read_checkpoint(checkpoints()[name])
    halves = [states(2, "pagat", STATES // 2, agents.load(player)) for player in (name, "random")]
    observations, masks = (np.concatenate(part) for part in zip(*halves, strict=True))
    assert len(observations) == STATES
    phases = {decode(observation).phase for observation in observations[:: STATES // 1000]}
    assert phases >= {"exchange", "announce", "chicago", "play"}
    difference, logits = compare(path, net, observations, masks)
    assert difference < 1e-5
    assert np.abs(softmax(logits, masks != 0) - NetworkAgent(net).probabilities(observations, masks)).max() < 1e-5
    assert len(np.unique(canonical(observations, masks).suits, axis=0)) == len(NAMES)


@pytest.mark.parametrize("canonical_suits", [False, True])
def test_a_network_for_many_rules_and_players(tmp_path, canonical_suits) -> None:
    """Sharp weights: logits as large as those of a trained network."""
    rules = tuple(map(parse_rules, RULES))
    net = PolicyValueNet(NetworkConfig(rules, (2, 3, 4, 5, 6), (96, 64, 32), canonical_suits))
    net.initialize(torch.Generator().manual_seed(0))
    with torch.no_grad():
        net.policy_head.weight *= 3000
    net.requires_grad_(False)
    save_checkpoint(tmp_path / "wide.safetensors", net, CheckpointInfo(net.config))
    metadata = export_onnx(tmp_path / "wide.safetensors", tmp_path / "wide.onnx")
    assert metadata["players"] == "2 3 4 5 6"
    assert [parse_rules(text) for text in metadata["rules"].split()] == list(rules)
    seen, spread = set(), 0.0
    for i, each in enumerate(rules):
        for players in net.config.players:
            observations, masks = states(players, each, 500, agents.load("random"), envs=25)
            difference, logits = compare(tmp_path / "wide.onnx", net, observations, masks)
            assert difference < 1e-5
            spread = max(spread, np.ptp(logits[masks != 0]))
            seen |= {decode(observation).phase for observation in observations[i::9]}
    assert seen >= set(PHASES) - {"four"}
    assert spread > 20


@pytest.mark.parametrize("batch", [1, 3, 700])
def test_any_number_of_rows(shipped, batch) -> None:
    observations, masks = states(2, "pagat", batch, agents.load("random"), envs=50)
    name, path, _ = shipped
    net, _ = read_checkpoint(checkpoints()[name])
    difference, logits = compare(path, net, observations, masks)
    assert logits.shape == (batch, NUM_ACTIONS)
    assert difference < 1e-5
    assert masks[np.arange(batch), logits.argmax(axis=1)].all()


def test_the_file_says_what_it_is(shipped) -> None:
    name, path, metadata = shipped
    model = onnx.load(path)
    assert {entry.key: entry.value for entry in model.metadata_props} == metadata
    assert session(path).get_modelmeta().custom_metadata_map == metadata
    assert metadata["rules"] == "pagat"
    assert metadata["players"] == "2"
    assert metadata["observation_hash"] == layout_hash()
    assert metadata["observation_size"] == str(OBSERVATION_SIZE)
    assert float(metadata["masked_logit"]) == MASKED_LOGIT
    assert metadata["checkpoint"] == name
    assert json.loads(metadata["info"]) == read_checkpoint(checkpoints()[name])[1].to_dict()
    inputs = {one.name: (one.type, one.shape) for one in session(path).get_inputs()}
    assert inputs == {
        "observation": ("tensor(uint8)", ["batch", OBSERVATION_SIZE]),
        "mask": ("tensor(int8)", ["batch", NUM_ACTIONS]),
    }
    outputs = {one.name: (one.type, one.shape) for one in session(path).get_outputs()}
    assert outputs == {"logits": ("tensor(float)", ["batch", NUM_ACTIONS]), "value": ("tensor(float)", ["batch"])}


def test_the_command(tmp_path, capsys) -> None:
    target = tmp_path / "small.onnx"
    net = PolicyValueNet(NetworkConfig((parse_rules("race"),), (3,), (8,)))
    save_checkpoint(tmp_path / "small.safetensors", net, CheckpointInfo(net.config))
    words = ["agents", "export", str(tmp_path / "small.safetensors"), "--onnx", str(target)]
    assert run([*words, "--json"]) == OK
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == target.stat().st_size
    assert told["metadata"]["rules"] == "race"
    before = target.read_bytes()
    (tmp_path / "small.safetensors").write_bytes(b"damaged")
    assert run(words) == BAD_INPUT
    assert target.read_bytes() == before
    for wrong in ("random", "ppo-3p", str(tmp_path / "none.safetensors")):
        assert run(["agents", "export", wrong, "--onnx", str(target)]) == BAD_INPUT
        told = capsys.readouterr()
        assert wrong in told.err
        assert not told.out
    assert os.listdir(tmp_path) in (["small.onnx", "small.safetensors"], ["small.safetensors", "small.onnx"])


def test_no_file_is_left_where_none_can_be_written(tmp_path) -> None:
    with pytest.raises(OSError, match="none"):
        export_onnx(checkpoints()["ppo-2p"], tmp_path / "none" / "x.onnx")
    (tmp_path / "x.safetensors").write_bytes(b"no checkpoint at all")
    with pytest.raises(CheckpointError):
        export_onnx(tmp_path / "x.safetensors", tmp_path / "x.onnx")
    assert os.listdir(tmp_path) == ["x.safetensors"]


def sparse(rows):
    """(rows, D): suits that are told apart at each stage of their order, with nothing to tell them apart before it."""
    rng, made = np.random.default_rng(1), np.zeros((rows, OBSERVATION_SIZE), dtype=np.uint8)
    stages = 2 + SEATS + len(TABLES) + len(LISTS) + 1
    for i, row in enumerate(made):
        first = i % stages
        for stage in range(first, stages):
            cards = np.sort(rng.choice(CARDS, rng.integers(HAND + 1), replace=False))
            if stage == 0:
                row[AT.hand + cards] = 1
                row[AT.hand_suits + 4 * np.arange(len(cards)) + (cards & 3)] = 1
                row[AT.group : AT.group + len(cards)] = rng.integers(2, size=len(cards))
                row[AT.led_suit + rng.integers(4)] = rng.integers(2)
            elif stage == 1:
                row[rng.choice(SEEN, len(cards)) + cards] = 1
            elif stage < 2 + SEATS:
                row[AT.known + CARDS * (stage - 2) + cards] = 1
                row[AT.void + 4 * (stage - 2) + rng.integers(4)] = 1
            elif stage < 2 + SEATS + len(TABLES):
                row[TABLES[stage - 2 - SEATS] + rng.choice(SEATS, len(cards), replace=False)] = 1 + cards
            elif stage < stages - 1:
                at = LISTS[stage - 2 - SEATS - len(TABLES)]
                row[at : at + len(cards)] = 1 + cards
            else:
                row[SUIT_RANKS : SUIT_RANKS + 4] = rng.permutation(4)
                row[slice(*SHOWN_SUITS)] = rng.integers(5, size=SHOWN_SUITS[1] - SHOWN_SUITS[0])
    return made


@pytest.fixture(scope="module")
def to_rename():
    """Observations (B, D) of all rules and numbers of players, then those of `sparse`."""
    played = [states(n, parse_rules(each), 500, agents.load("random"), envs=25) for each in RULES for n in range(2, 7)]
    observations = np.concatenate([part[0] for part in played])
    assert len(observations) > STATES
    return np.concatenate([observations, sparse(STATES // 2)])


def test_suits_are_renamed_as_for_the_agent(to_rename) -> None:
    found = canonical(to_rename, np.ones((len(to_rename), NUM_ACTIONS), dtype=np.int8))
    suits = CanonicalSuits(np.arange(OBSERVATION_SIZE))
    order = suits.order(torch.from_numpy(to_rename)).numpy()
    assert (NAMES[order] == found.suits).all()
    assert set(order) == set(range(len(NAMES)))
    renamed, actions = (part.numpy() for part in suits(torch.from_numpy(to_rename)))
    assert renamed.dtype == np.uint8
    assert (renamed == found.observations).all()
    assert (np.take_along_axis(found.actions, actions, axis=1) == np.arange(NUM_ACTIONS)).all()


def test_every_stage_of_the_order_is_needed() -> None:
    """So the test above would see a fault in any of them."""
    order, rows = SuitOrder(), torch.from_numpy(sparse(STATES // 10))
    found = order(rows)
    for stage in range(len(order.stages)):
        weight = order.stages[stage].item()
        order.stages[stage] = 0
        assert (order(rows) != found).any(), stage
        order.stages[stage] = weight


def test_files_of_checkpoints_by_name_and_path(tmp_path) -> None:
    assert checkpoint_file("ppo-2p") == checkpoints()["ppo-2p"]
    assert checkpoint_file(str(checkpoints()["ppo-2p"])) == checkpoints()["ppo-2p"]
    with pytest.raises(AgentSpecError, match="no checkpoint of that name"):
        checkpoint_file("heuristic:novice")
