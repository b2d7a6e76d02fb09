"""Snapshots of a run: opponents from its own past, each in a file of its own that is never written again."""

from pathlib import Path

from agents.checkpoint import SUFFIX, CheckpointInfo, load_checkpoint, save_checkpoint
from agents.networks import NetworkAgent, PolicyValueNet

FOLDER = "past"


def path_of(run: Path, number: int) -> Path:
    """File of snapshot `number` of a run, counted from 1."""
    return run / FOLDER / f"{number:03}{SUFFIX}"


def keep(run: Path, number: int, net: PolicyValueNet, info: CheckpointInfo) -> NetworkAgent:
    """Writes a snapshot, and gives it as an agent.

    Raises:
        OSError: the folder cannot be written.
    """
    (run / FOLDER).mkdir(exist_ok=True)
    save_checkpoint(path_of(run, number), net, info)
    return load_snapshot(run, number)


def load_snapshot(run: Path, number: int) -> NetworkAgent:
    """A snapshot as an agent.

    Raises:
        CheckpointError: no such file, or a damaged one.
    """
    agent = load_checkpoint(path_of(run, number))
    agent.name = f"past {number}"
    return agent
