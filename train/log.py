"""What a run writes down: TensorBoard files, and the same numbers as lines of JSON, both without gaps after a resume."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.logger import KVWriter, Logger
from torch.utils.tensorboard import SummaryWriter

from chicago_env.files import replacing

LOG = "log.jsonl"
TENSORBOARD = "tensorboard"


class JsonLines(KVWriter):
    """One JSON object for each update, appended to a file."""

    def __init__(self, path: Path, steps: int) -> None:
        """Opens the file; lines of later steps than `steps`, of a run that was killed, are taken out."""
        if path.exists():
            kept = [line for line in path.read_text("utf-8", "replace").splitlines() if _steps_of(line) <= steps]
            with replacing(path) as file:
                file.write("".join(line + "\n" for line in kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Adds a line."""
        numbers = {key: float(value) for key, value in key_values.items() if isinstance(value, int | float | np.number)}
        finite = {key: value for key, value in numbers.items() if np.isfinite(value)}
        self._file.write(json.dumps({"steps": step, **finite}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _steps_of(line: str) -> float:
    """Steps of a line of the log; infinite for a line that was cut off or is none of the log."""
    try:
        return float(json.loads(line)["steps"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return float("inf")


class TensorBoard(KVWriter):
    """TensorBoard event files."""

    def __init__(self, folder: Path, steps: int) -> None:
        """Starts a file; what earlier files have of later steps than `steps` is hidden."""
        self._writer = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Adds a point to every curve."""
        for key, value in key_values.items():
            if isinstance(value, int | float | np.number) and "tensorboard" not in (key_excluded.get(key) or ()):
                self._writer.add_scalar(key, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()


def run_logger(folder: Path, steps: int) -> Logger:
    """Logger of the run in `folder`, which goes on after `steps` decisions."""
    return Logger(str(folder), [JsonLines(folder / LOG, steps), TensorBoard(folder / TENSORBOARD, steps)])
