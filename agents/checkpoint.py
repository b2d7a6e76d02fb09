"""Checkpoints: one `.safetensors` file with the weights of a network and, as JSON, everything needed to use it.

Reading one runs no code from it, touches no generator of random numbers, and believes nothing: sizes are checked before
memory is taken, every field is checked, and a SHA-256 over metadata and weights shows damage.
"""

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from agents.networks import NetworkAgent, NetworkConfig, PolicyValueNet, weight_shapes
from chicago_env.actions import ACTION_VERSION
from chicago_env.errors import CheckpointError, ChicagoError, SetupError
from chicago_env.files import replacing
from chicago_env.layout import OBSERVATION_SIZE, OBSERVATION_VERSION, layout_hash
from chicago_env.rules import Rules

FORMAT, VERSION = "chicago-checkpoint", 1
SUFFIX = ".safetensors"

MAX_HEADER = 1 << 20
"""Limit of the header, bytes: names, shapes and metadata."""
MAX_FILE = 1 << 30
"""Limit of the file, bytes."""

_LENGTH = 8  # bytes before the header, which give its length
_KEY = "chicago"  # of the metadata's one entry

_DTYPES = {getattr(torch, name) for name in ("bool", "float16", "float32", "float64")} | {
    getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""Types that numpy has too; the hash needs it."""

_MAX_COUNT = (1 << 63) - 1

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class CheckpointInfo:
    """What a checkpoint says about itself; checked, so that what is written can be read.

    Raises:
        SetupError: a field that is none of what is said below.

    Attributes:
        network: shape of the network, with the rules and numbers of players it was trained for.
        training: configuration of the training; an object of JSON.
        steps: decisions it was trained on, 0 to 2**63 - 1.
        seconds: seconds of training, finite.
        seed: seed of the training, 0 to 2**63 - 1.
        parent: name of the checkpoint that it was continued from, or None.
        source: commit of the source it was made with, or None where that is unknown.
        ratings: results of rankings; an object of JSON.
    """

    network: NetworkConfig
    training: Json = dataclasses.field(default_factory=dict)
    steps: int = 0
    seconds: float = 0.0
    seed: int = 0
    parent: str | None = None
    source: str | None = None
    ratings: Json = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        fits = {
            "network": isinstance(self.network, NetworkConfig),
            "training": _is_json(self.training),
            "steps": type(self.steps) is int and 0 <= self.steps <= _MAX_COUNT,
            "seconds": type(self.seconds) in (int, float) and 0 <= self.seconds <= _MAX_COUNT,
            "seed": type(self.seed) is int and 0 <= self.seed <= _MAX_COUNT,
            "parent": isinstance(self.parent, str | None),
            "source": isinstance(self.source, str | None),
            "ratings": _is_json(self.ratings),
        }
        for name, right in fits.items():
            if not right:
                raise SetupError(f"metadata field {name} is {str(getattr(self, name))[:80]!r}")

    def to_dict(self) -> Json:
        """The metadata as JSON has it, without the hash."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "observation_version": OBSERVATION_VERSION,
            "observation_hash": layout_hash(),
            "observation_size": OBSERVATION_SIZE,
            "action_version": ACTION_VERSION,
            "rules": [rules.to_dict() for rules in self.network.rules],
            "players": list(self.network.players),
            "network": _network_to_dict(self.network),
            "training": self.training,
            "steps": self.steps,
            "seconds": self.seconds,
            "seed": self.seed,
            "parent": self.parent,
            "source": self.source,
            "ratings": self.ratings,
        }


def _network_to_dict(network: NetworkConfig) -> Json:
    """What a network has beside rules and players; what is usual is left out, as it was before there was anything else."""
    found: Json = {"hidden": list(network.hidden)}
    return found | {name: True for name in _NETWORK_FLAGS if getattr(network, name)}


def _is_json(data: object) -> bool:
    """Whether this is an object of JSON that comes back as it was."""
    try:
        return isinstance(data, dict) and json.loads(json.dumps(data, allow_nan=False)) == data
    except (TypeError, ValueError, RecursionError):
        return False


def _digest(metadata: Json, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name].numpy()
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def write_tensors(path: str | os.PathLike[str], metadata: Json, tensors: Mapping[str, Tensor]) -> None:
    """Writes tensors with metadata and a hash of both; the file is there whole, or as it was before.

    Raises:
        CheckpointError: larger than what is read.
        OSError: it cannot be written.
    """
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    signed = {**metadata, "sha256": _digest(metadata, plain)}
    data = safetensors.torch.save(plain, {_KEY: json.dumps(signed, sort_keys=True, allow_nan=False)})
    header = int.from_bytes(data[:_LENGTH], "little")
    if header > MAX_HEADER or len(data) > MAX_FILE:
        raise CheckpointError(path, f"too much to be read again: a header of {header} bytes, {len(data)} in all")
    with replacing(path) as file:
        file.write(data)


def read_tensors(path: str | os.PathLike[str], kind: str, version: int) -> tuple[Json, dict[str, Tensor]]:
    """Reads what `write_tensors` wrote: metadata without the hash, and tensors.

    Args:
        path: the file.
        kind: what the metadata must have as `format`.
        version: what it must have as `version`.

    Raises:
        CheckpointError: no such file, damaged, or something else.
    """
    try:
        data = _read(Path(path))
        metadata = _metadata(path, data)
        if metadata.get("format") != kind:
            raise CheckpointError(path, f"not a {kind} file but {metadata.get('format')!r}")
        if metadata.get("version") != version:
            raise CheckpointError(path, f"version {metadata.get('version')!r} of {kind}; this program reads {version}")
        tensors = safetensors.torch.load(data)
        for name, tensor in tensors.items():
            if tensor.dtype not in _DTYPES:
                raise CheckpointError(path, f"tensor {name} is {tensor.dtype}, which no file of this project has")
        signed = metadata.pop("sha256", None)
        if signed != _digest(metadata, tensors):
            raise CheckpointError(path, "damaged: its content does not have the SHA-256 that it names")
    except (safetensors.SafetensorError, UnicodeDecodeError, RecursionError, ValueError, KeyError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(path, f"damaged: {error}") from None
    except OSError as error:
        raise CheckpointError(path, f"cannot be read: {error.strerror or error}") from None
    return metadata, tensors


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not _LENGTH <= size <= MAX_FILE:
            raise CheckpointError(path, f"no checkpoint: {size} bytes, where {_LENGTH} to {MAX_FILE} are possible")
        head = file.read(_LENGTH)
        length = int.from_bytes(head, "little")
        if length > MAX_HEADER:
            raise CheckpointError(path, f"no checkpoint, or damaged: a header of {length} bytes; at most {MAX_HEADER}")
        if length > size - _LENGTH:
            raise CheckpointError(path, f"truncated: a header of {length} bytes in a file of {size}")
        return head + file.read(MAX_FILE)


def _metadata(path: object, data: bytes) -> Json:
    length = int.from_bytes(data[:_LENGTH], "little")
    header = json.loads(data[_LENGTH : _LENGTH + length])
    entries = header.get("__metadata__") if isinstance(header, dict) else None
    text = entries.get(_KEY) if isinstance(entries, dict) else None
    if not isinstance(text, str):
        raise CheckpointError(path, "not a file of this project: a safetensors file without its metadata")
    metadata = json.loads(text)
    if not isinstance(metadata, dict):
        raise CheckpointError(path, "damaged: the metadata is no JSON object")
    return metadata


_NETWORK_FLAGS = ("canonical_suits", "locations")

_FIELDS: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "version": (int,),
    "observation_version": (int,),
    "observation_hash": (str,),
    "observation_size": (int,),
    "action_version": (int,),
    "rules": (list,),
    "players": (list,),
    "network": (dict,),
    "training": (dict,),
    "steps": (int,),
    "seconds": (int, float),
    "seed": (int,),
    "parent": (str, type(None)),
    "source": (str, type(None)),
    "ratings": (dict,),
}


def _info(path: object, metadata: Json) -> CheckpointInfo:
    if set(metadata) != set(_FIELDS):
        wrong = sorted(set(metadata) ^ set(_FIELDS))
        raise CheckpointError(path, f"metadata with missing or unknown fields: {', '.join(wrong)}")
    for name, types in _FIELDS.items():
        if not isinstance(metadata[name], types) or isinstance(metadata[name], bool):
            raise CheckpointError(path, f"metadata field {name} is {metadata[name]!r}")
    for name, ours in (
        ("observation_version", OBSERVATION_VERSION),
        ("observation_hash", layout_hash()),
        ("observation_size", OBSERVATION_SIZE),
        ("action_version", ACTION_VERSION),
    ):
        if metadata[name] != ours:
            raise CheckpointError(
                path, f"made for another version of the game: {name} is {metadata[name]}, here it is {ours}"
            )
    network = metadata["network"]
    hidden = network.get("hidden")
    flags = {name: value for name, value in network.items() if name != "hidden"}
    plain = isinstance(hidden, list) and all(type(width) is int for width in hidden)
    if not plain or not set(flags) <= set(_NETWORK_FLAGS) or not all(value is True for value in flags.values()):
        raise CheckpointError(path, f"metadata field network is {network!r}")
    try:
        rules = tuple(Rules.from_dict(each, complete=True) for each in metadata["rules"])
        config = NetworkConfig(rules, tuple(metadata["players"]), tuple(hidden), **flags)
    except (ChicagoError, TypeError) as error:
        raise CheckpointError(path, f"metadata of an impossible network: {error}") from None
    names = ("training", "steps", "seconds", "seed", "parent", "source", "ratings")
    try:
        return CheckpointInfo(config, **{name: metadata[name] for name in names})
    except SetupError as error:
        raise CheckpointError(path, str(error)) from None


def _check_weights(path: object, config: NetworkConfig, tensors: Mapping[str, Tensor]) -> None:
    """Checks names, shapes, types and values, before a network takes memory that the file only claims to need.

    Raises:
        CheckpointError: something does not fit.
    """
    own = weight_shapes(config)
    if set(own) != set(tensors):
        raise CheckpointError(path, f"tensors missing or too many: {', '.join(sorted(set(own) ^ set(tensors)))}")
    for name, tensor in tensors.items():
        if tuple(tensor.shape) != own[name] or tensor.dtype != torch.float32:
            raise CheckpointError(
                path,
                f"tensor {name} is {tensor.dtype} {tuple(tensor.shape)}, the network's is {torch.float32} {own[name]}",
            )
        if not torch.isfinite(tensor).all():
            raise CheckpointError(path, f"tensor {name} has values that are not finite")


def load_weights(path: object, net: PolicyValueNet, tensors: Mapping[str, Tensor]) -> None:
    """Puts tensors into a network after checking names, shapes, types and values.

    Raises:
        CheckpointError: something does not fit.
    """
    _check_weights(path, net.config, tensors)
    net.load_state_dict(dict(tensors))


def save_checkpoint(path: str | os.PathLike[str], net: PolicyValueNet, info: CheckpointInfo) -> None:
    """Writes a checkpoint; the file is there whole, or as it was before.

    Raises:
        CheckpointError: `info` is of another network, or weights are not finite.
        OSError: the file cannot be written.
    """
    if info.network != net.config:
        raise CheckpointError(path, "the checkpoint's information is of another network")
    tensors = net.state_dict()
    _check_weights(path, net.config, tensors)
    write_tensors(path, info.to_dict(), tensors)


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[PolicyValueNet, CheckpointInfo]:
    """The network and the information in a checkpoint.

    Raises:
        CheckpointError: no such file, damaged, foreign, or made for another version of the game.
    """
    metadata, tensors = read_tensors(path, FORMAT, VERSION)
    info = _info(path, metadata)
    _check_weights(path, info.network, tensors)
    net = PolicyValueNet(info.network)
    net.load_state_dict(tensors)
    return net.requires_grad_(False), info


def read_info(path: str | os.PathLike[str]) -> CheckpointInfo:
    """The information in a checkpoint, which is checked whole.

    Raises:
        CheckpointError: as `read_checkpoint`.
    """
    return read_checkpoint(path)[1]


def load_checkpoint(path: str | os.PathLike[str], *, greedy: bool = False) -> NetworkAgent:
    """The agent that plays by a checkpoint.

    Args:
        path: the file.
        greedy: take the most probable action instead of sampling.

    Raises:
        CheckpointError: as `read_checkpoint`.
    """
    net, _ = read_checkpoint(path)
    return NetworkAgent(net, name=Path(path).name.removesuffix(SUFFIX), greedy=greedy)
