"""The command `chicago agents export`."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from agents.registry import checkpoint_file
from chicago_env.cli import OK, print_json
from chicago_env.errors import MissingExtra


@dataclass(frozen=True)
class Config:
    """Write the network of a checkpoint as ONNX, which runs without this project (docs/agents.md)."""

    name: tyro.conf.Positional[str]
    """A checkpoint that comes with the project, or the path of one."""
    onnx: Path
    """The file to write; one that is there is replaced."""
    json: bool = False
    """Print JSON: the file, its bytes, and what it says about itself."""


def run(config: Config) -> int:
    """Writes the file."""
    source = checkpoint_file(config.name)
    try:
        from agents.onnx_export import export_onnx  # noqa: PLC0415 - torch only where a network runs
    except ModuleNotFoundError as error:
        if error.name in {"torch", "safetensors"}:
            raise MissingExtra(error.name, "train") from error
        raise
    metadata = export_onnx(source, config.onnx)
    size = config.onnx.stat().st_size
    if config.json:
        print_json({"file": str(config.onnx), "bytes": size, "metadata": metadata})
    else:
        print(f"{config.onnx}: {size / 1e6:.1f} MB; {metadata['players']} players, rules {metadata['rules']}")
    return OK
