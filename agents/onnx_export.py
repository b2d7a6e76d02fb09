"""Checkpoints as ONNX: networks for programs that have neither this project nor torch (docs/agents.md).

Letters: B batch, D observation, A actions.
"""

import contextlib
import hashlib
import importlib
import json
import logging
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from agents.checkpoint import SUFFIX, CheckpointInfo, read_checkpoint
from agents.networks import MASKED_LOGIT, PolicyValueNet
from agents.onnx_suits import CanonicalSuits
from chicago_env.actions import ACTION_VERSION, NUM_ACTIONS
from chicago_env.errors import MissingExtra
from chicago_env.files import replacing
from chicago_env.layout import OBSERVATION_SIZE, OBSERVATION_VERSION, layout_hash
from chicago_env.notation import format_rules

FORMAT, VERSION = "chicago-onnx", 1

OPSET = 20
"""Version of ONNX's operators; onnxruntime knows it from 1.17 on."""


class Exported(nn.Module):
    """What the file computes: a network that takes the game's suits and actions, and whose logits are masked."""

    def __init__(self, net: PolicyValueNet) -> None:
        super().__init__()
        self.net = net
        self.suits = CanonicalSuits(net.columns.numpy()) if net.config.canonical_suits else None

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B,), both float32, for (B, D) uint8 and (B, A) int8."""
        if self.suits is None:
            logits, value = self.net(observation)
        else:
            inputs, actions = self.suits(observation)
            logits, value = self.net(inputs)
            logits = logits.gather(1, actions)
        return torch.where(mask.bool(), logits, MASKED_LOGIT), value


def export_onnx(checkpoint: str | os.PathLike[str], path: str | os.PathLike[str]) -> dict[str, str]:
    """Writes the network of a checkpoint as an ONNX file; it is there whole, or as it was before.

    Inputs are `observation` (B, D) uint8 and `mask` (B, A) int8, 1 for legal actions; outputs are `logits` (B, A) float32,
    those of the network and -1e38 for illegal actions, and `value` (B,) float32. B is free. Suits and actions are the game's,
    also where the network sees suits in canonical order: the file renames them.

    Args:
        checkpoint: file of a checkpoint.
        path: file to write.

    Returns:
        The file's metadata: text by name.

    Raises:
        CheckpointError: no checkpoint, or a damaged one.
        MissingExtra: onnx or onnxscript, by which torch writes such files, is not installed.
        OSError: the file cannot be written.
    """
    for package in ("onnx", "onnxscript"):
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtra(package, "onnx") from error
    net, info = read_checkpoint(checkpoint)
    metadata = _metadata(Path(checkpoint), info)
    model = _model(net)
    for key, value in metadata.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    with replacing(path) as file:
        file.write(model.SerializeToString(deterministic=True))
    return metadata


def _model(net: PolicyValueNet) -> Any:
    """The network as a `ModelProto` of onnx."""
    import onnx  # noqa: PLC0415 - the caller has seen that it is there

    example = torch.zeros(2, OBSERVATION_SIZE, dtype=torch.uint8), torch.ones(2, NUM_ACTIONS, dtype=torch.int8)
    batch = torch.export.Dim("batch")
    with _quiet():
        program = torch.onnx.export(
            Exported(net).eval(),
            example,
            input_names=["observation", "mask"],
            output_names=["logits", "value"],
            dynamic_shapes=({0: batch}, {0: batch}),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    onnx.checker.check_model(model, full_check=True)
    return model


def _metadata(checkpoint: Path, info: CheckpointInfo) -> dict[str, str]:
    return {
        "format": FORMAT,
        "version": str(VERSION),
        "observation_version": str(OBSERVATION_VERSION),
        "observation_hash": layout_hash(),
        "observation_size": str(OBSERVATION_SIZE),
        "action_version": str(ACTION_VERSION),
        "rules": " ".join(format_rules(rules) for rules in info.network.rules),
        "players": " ".join(map(str, info.network.players)),
        "masked_logit": repr(MASKED_LOGIT),
        "checkpoint": checkpoint.name.removesuffix(SUFFIX),
        "checkpoint_sha256": hashlib.sha256(checkpoint.read_bytes()).hexdigest(),
        "info": json.dumps(info.to_dict(), sort_keys=True),
    }


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without torch's remarks on how it exports; its errors are exceptions."""
    log = logging.getLogger("torch.onnx")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)
