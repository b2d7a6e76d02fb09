"""What reads bytes, text or JSON from anywhere, and what each of them may say of it: one of the project's own errors.

A target is a function of bytes that raises nothing. `seeds` gives it something whole to start from.
"""

import functools
import io
import json
import os
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents import registry
from agents.play import read_answer
from chicago_env.actions import parse_action
from chicago_env.cards import parse_cards
from chicago_env.chicago_v0 import raw_env
from chicago_env.errors import ChicagoError
from chicago_env.files import crowded
from chicago_env.game import Game
from chicago_env.layout import OBSERVATION_SIZE
from chicago_env.notation import parse_rules
from chicago_env.records import read_records, record_of_game, verify_record
from chicago_env.rules import Rules
from chicago_env.view import decode

_MAGIC = b"chicago-state 1\n"
_ENV_MAGIC = b"chicago-v0 1\n"


class Target(NamedTuple):
    """A parser.

    Attributes:
        run: parses bytes; what it raises is a find.
        seeds: makes whole documents.
        json: whether a document is JSON, so that its tree can be changed too.
    """

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    json: bool = False


def allowed(function: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """The same, without the errors that it may raise."""

    @functools.wraps(function)
    def run(data: bytes) -> None:
        try:
            function(data)
        except (ChicagoError, OSError) as error:
            if len(str(error)) > 20_000:
                raise AssertionError("a message as long as its cause") from error

    return run


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogateescape")  # as words of a command line come


def played(players: int, rules: str, steps: int | None = None, **options) -> Game:
    """A match in which the middle one of the legal actions is taken."""
    game = Game(players, rules, seed=1, **options)
    while not game.over and steps != 0:
        legal = game.legal_actions()
        game.step(legal[len(legal) // 2])
        steps = None if steps is None else steps - 1
    return game


# --- the parsers ------------------------------------------------------------------------------------------------------


@allowed
def records(data: bytes) -> None:
    for line, record in read_records(io.BytesIO(data)):
        verify_record(record, line=line)


def record_seeds() -> list[bytes]:
    games = [played(2, "pagat", max_deals=1), played(4, "open-card+four=choose+show_broken=yes", max_deals=1)]
    return [json.dumps(record_of_game(game)).encode() for game in games]


@allowed
def game_state(data: bytes) -> None:
    """Bytes after the checksum, which any stranger can compute."""
    Game(2).set_state(_MAGIC + zlib.crc32(data).to_bytes(4, "big") + data)


def game_state_seeds() -> list[bytes]:
    return [played(players, rules, 30).get_state()[len(_MAGIC) + 4 :] for players, rules in ((2, "pagat"), (3, "race"))]


@allowed
def env_state(data: bytes) -> None:
    raw_env(2).set_state(_ENV_MAGIC + zlib.crc32(data).to_bytes(4, "big") + data)


def env_state_seeds() -> list[bytes]:
    env = raw_env(2)
    env.reset(seed=1)
    env.step(0)
    return [env.get_state()[len(_ENV_MAGIC) + 4 :]]


@allowed
def rules_text(data: bytes) -> None:
    parse_rules(_text(data))


@allowed
def rules_json(data: bytes) -> None:
    try:
        given = {} if crowded(data) else json.loads(data)
    except (ValueError, RecursionError):
        return
    Rules.from_dict(given, complete=True)


@allowed
def action_text(data: bytes) -> None:
    parse_action(_text(data), [0, 21, 33, 45, 51])


@allowed
def cards_text(data: bytes) -> None:
    parse_cards(_text(data))


@allowed
def answer(data: bytes) -> None:
    """What a person types at the table."""
    for legal, exchange in (([50, 55, 83], False), (list(range(32)), True)):
        assert read_answer(_text(data), legal, [0, 21, 33, 45, 51], exchange=exchange) in legal


@allowed
def observation(data: bytes) -> None:
    row = np.frombuffer(data.ljust(OBSERVATION_SIZE, b"\0")[:OBSERVATION_SIZE], dtype=np.uint8)
    str(decode(row))


def observation_seeds() -> list[bytes]:
    return [played(p, r, 25).observation().tobytes() for p, r in ((2, "pagat"), (6, "open-card+show_broken=yes"))]


@allowed
def agent_spec(data: bytes) -> None:
    text = _text(data)
    if not text.startswith("exec:"):  # which runs what it names, as it should
        registry.load(text)


@allowed
def checkpoint(data: bytes) -> None:
    from agents.checkpoint import read_checkpoint

    with _file(data, ".safetensors") as path:
        read_checkpoint(path)


@allowed
def checkpoint_metadata(data: bytes) -> None:
    """JSON in place of the metadata of a small checkpoint, with the right hash."""
    from agents.checkpoint import FORMAT, VERSION, read_checkpoint, read_tensors, write_tensors
    from chicago_env.errors import CheckpointError

    try:
        metadata = json.loads(data)
        assert isinstance(metadata, dict)
        json.dumps(metadata, allow_nan=False).encode()
    except (ValueError, RecursionError, AssertionError):
        return
    with _file(_small_checkpoint(), ".safetensors") as path:
        _, tensors = read_tensors(path, FORMAT, VERSION)
        try:
            write_tensors(path, metadata, tensors)
        except (CheckpointError, ValueError, RecursionError, TypeError):
            return
        read_checkpoint(path)


@functools.cache
def _small_checkpoint() -> bytes:
    from agents.checkpoint import CheckpointInfo, save_checkpoint
    from agents.networks import NetworkConfig, PolicyValueNet

    net = PolicyValueNet(NetworkConfig((Rules(),), (2,), (4,)))
    with _file(b"", ".safetensors") as path:
        save_checkpoint(path, net, CheckpointInfo(net.config))
        return path.read_bytes()


def checkpoint_seeds() -> list[bytes]:
    return [_small_checkpoint()]


def metadata_seeds() -> list[bytes]:
    data = _small_checkpoint()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    metadata = json.loads(header["__metadata__"]["chicago"])
    del metadata["sha256"]
    return [json.dumps(metadata).encode()]


@allowed
def train_config(data: bytes) -> None:
    from train.config import read_config

    with _file(data, ".json") as path:
        read_config(path)


def config_seeds() -> list[bytes]:
    from train.config import TrainConfig

    return [json.dumps(TrainConfig().to_dict()).encode()]


@allowed
def bot_hello(data: bytes) -> None:
    from agents.bots.messages import parse_hello
    from agents.bots.process import BotFailure

    with suppress(BotFailure):
        parse_hello(data)


@allowed
def bot_answer(data: bytes) -> None:
    from agents.bots.messages import parse_answer
    from agents.bots.process import BotFailure

    observation, mask = _bot_question()
    with suppress(BotFailure):
        assert mask[parse_answer(data, 7, mask, observation)]


@functools.cache
def _bot_question() -> tuple[np.ndarray, np.ndarray]:
    game = played(2, "pagat", 0)
    return game.observation(), game.mask()


def bot_answer_seeds() -> list[bytes]:
    return [b'{"type":"action","turn":7,"action":3}', b'{"type":"action","turn":7,"action":"keep all"}']


@allowed
def result(data: bytes) -> None:
    """A store, or the JSON of a ranking, and the comparison with itself."""
    from eval.compare import compare, load_result

    with _file(data, ".json") as path:
        loaded = load_result(path)
    compare(loaded, loaded)


@allowed
def store(data: bytes) -> None:
    """A store, read, exported and gone on with."""
    from eval.ranking import ranking_of
    from eval.store import Store
    from eval.store.export import records as records_of
    from eval.store.export import write_csv, write_json

    with _file(data, ".db") as path, Store.reading(path) as found:
        ranking_of(found).text()
        write_csv(found, io.StringIO())
        write_json(found, io.StringIO())
        for _ in records_of(found):
            pass


@functools.cache
def _results() -> tuple[bytes, bytes]:
    """A small store with records, and the JSON of its ranking."""
    from eval import rank

    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, "games.db")
        both = {"a": "random", "b": "heuristic:novice"}
        ranking = rank(both, boards=2, matches=2, max_deals=3, records=True, store=path)
        return path.read_bytes(), ranking.to_json().encode()


def store_seeds() -> list[bytes]:
    return [_results()[0]]


def result_seeds() -> list[bytes]:
    return [_results()[1]]


@allowed
def sprt_file(data: bytes) -> None:
    from eval.sprt import make_plan, sprt

    with _file(data, ".json") as path:
        sprt(make_plan("a", "b", look=2, cap=4), registry.load("random"), registry.load("random"), out=path)


@functools.cache
def _sprt_file() -> bytes:
    with _file(b"", ".json") as path:
        path.unlink()
        from eval.sprt import make_plan, sprt

        sprt(make_plan("a", "b", look=2, cap=4), registry.load("random"), registry.load("random"), out=path)
        return path.read_bytes()


def sprt_seeds() -> list[bytes]:
    return [_sprt_file()]


class _file:
    """A file with these bytes, gone afterwards."""

    def __init__(self, data: bytes, suffix: str) -> None:
        handle, name = tempfile.mkstemp(suffix=suffix, prefix="fuzz-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        self.path = Path(name)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *error: object) -> None:
        self.path.unlink(missing_ok=True)


def _texts(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


TARGETS = {
    "records": Target(records, record_seeds, json=True),
    "game-state": Target(game_state, game_state_seeds, json=True),
    "env-state": Target(env_state, env_state_seeds, json=True),
    "rules-text": Target(rules_text, _texts("pagat+target=51+buy_stop=none", "race+suits=HSDC+target=30")),
    "rules-json": Target(rules_json, lambda: [json.dumps(Rules().to_dict()).encode()], json=True),
    "action": Target(action_text, _texts("discard 2C 7D", "announce full house", "play AS")),
    "cards": Target(cards_text, _texts("2C 7D AS", "TH")),
    "answer": Target(answer, _texts("1 3", "2c", "play AS", "0")),
    "observation": Target(observation, observation_seeds),
    "agent-spec": Target(
        agent_spec, _texts("search:pimc?budget=100&rollout=novice", "heuristic:novice", "x.safetensors")
    ),
    "checkpoint": Target(checkpoint, checkpoint_seeds),
    "checkpoint-metadata": Target(checkpoint_metadata, metadata_seeds, json=True),
    "bot-hello": Target(
        bot_hello, _texts('{"type":"hello","protocol":1,"name":"a","version":"1","raw":true}'), json=True
    ),
    "bot-answer": Target(bot_answer, bot_answer_seeds, json=True),
    "result": Target(result, result_seeds, json=True),
    "store": Target(store, store_seeds),
    "sprt-file": Target(sprt_file, sprt_seeds, json=True),
    "train-config": Target(train_config, config_seeds, json=True),
}
