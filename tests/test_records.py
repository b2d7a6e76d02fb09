"""Records: made from choices, written, read, and never half-written or trusted."""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chicago_env.cards import CARD_NAMES
from chicago_env.errors import RecordError, SetupError
from chicago_env.files import replacing
from chicago_env.game import Game
from chicago_env.records import (
    RecordWriter,
    read_records,
    record_of,
    record_of_game,
    verify_record,
    write_records,
)
from chicago_env.records.verify import DEAL_FIELDS, RECORD_FIELDS
from chicago_env.setup import MatchSetup
from tests.oracle import verify_record as oracle_verifies
from tests.oracle.random_rules import PRESETS

Record = dict[str, Any]


def play(game: Game, seed: int = 0, decisions: int | None = None) -> Game:
    """Plays uniformly, to the end or for so many decisions."""
    rng = np.random.default_rng(seed)
    while not game.over and (decisions is None or int(game.state["decisions"]) < decisions):
        game.step(int(rng.choice(game.legal_actions())))
    return game


def a_record(seed: int = 0, **options: Any) -> Record:
    return record_of_game(play(Game(3, "race", seed=seed, max_deals=3, **options), seed))


def as_json(record: Record) -> Record:
    result: Record = json.loads(json.dumps(record, allow_nan=False))
    return result


# Making


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("rules", [*PRESETS, "open-card+four=choose+show_broken=yes+penalty=all"])
def test_records_of_keyed_matches_verify(rules: str, players: int) -> None:
    game = play(Game(players, rules, seed=players, max_deals=6), players)
    record = record_of_game(game)
    assert as_json(record) == record
    assert tuple(record) == RECORD_FIELDS
    assert all(tuple(deal) == DEAL_FIELDS for deal in record["deals"])
    assert record["result"] == {"scores": game.scores, "winner": game.winner, "reason": game.reason}
    assert record["deals"][-1]["scores"] == game.scores
    assert verify_record(record).deals == len(record["deals"])
    oracle_verifies(record)


def test_fields_say_how_the_match_began() -> None:
    game = play(Game(3, "race", seed=17, scores=[1, -2, 3], max_deals=2))
    record = record_of_game(game, ["Ann", "Bo", "Cy"])
    assert record["rules"] == game.rules.to_dict()
    assert (record["players"], record["names"], record["seed"]) == (3, ["Ann", "Bo", "Cy"], 17)
    assert (record["start_scores"], record["max_deals"]) == ([1, -2, 3], 2)
    assert record["first_dealer"] == record["deals"][0]["dealer"] == int(game.state["first_dealer"])
    assert record_of_game(game)["names"] == ["player 0", "player 1", "player 2"]
    with pytest.raises(RecordError, match="2 names for 3 players"):
        record_of_game(game, ["Ann", "Bo"])


def test_first_dealer_is_the_one_drawn_by_the_seed() -> None:
    dealers = {record_of_game(Game(4, seed=seed))["first_dealer"] for seed in range(30)}
    assert dealers == {0, 1, 2, 3}


def test_given_decks_stand_in_the_record() -> None:
    decks = [np.random.default_rng(k).permutation(52).tolist() for k in range(2)]
    record = record_of_game(play(Game(2, seed=5, decks=decks, max_deals=3)))
    assert [[CARD_NAMES.index(card) for card in deal["deck"]] for deal in record["deals"][:2]] == decks
    again = Game(2, seed=6, decks=[deal["deck"] for deal in record["deals"]], first_dealer=record["first_dealer"])
    assert again.hand(0) == sorted(decks[0][i] for i in range(10) if i % 2 != record["first_dealer"])


def test_keyed_deck_is_the_order_that_came_about() -> None:
    """Given as a list, it gives the same cards to the same choices."""
    for seed in range(20):
        game = play(Game(3, "open-card", seed=seed, max_deals=2), seed)
        record = record_of_game(game)
        assert all(sorted(deal["deck"]) == sorted(CARD_NAMES) for deal in record["deals"])
        if any(event[0] == "reshuffle" for deal in record["deals"] for event in deal["events"]):
            continue  # its order would be keyed anew
        decks = [deal["deck"] for deal in record["deals"]]
        setup = MatchSetup.make(
            3, "open-card", seed=seed, decks=decks, first_dealer=record["first_dealer"], max_deals=2
        )
        assert record_of(setup, game.choices) == record


def test_unfinished_match_is_a_prefix_at_every_decision() -> None:
    game = play(Game(3, "open-card+penalty=15", seed=3, scores=[45, 45, 10], max_deals=2))
    whole = record_of_game(game)
    decisions = int(game.state["decisions"])
    for number in range(decisions):
        part = record_of_game(play(Game(setup=game.setup), decisions=number))
        assert part["result"] is None
        assert [deal["events"] for deal in part["deals"][:-1]] == [
            deal["events"] for deal in whole["deals"][: len(part["deals"]) - 1]
        ]
        events = part["deals"][-1]["events"]
        assert events == whole["deals"][len(part["deals"]) - 1]["events"][: len(events)]
        assert sorted(part["deals"][-1]["deck"]) == sorted(CARD_NAMES)
        with pytest.raises(RecordError, match="unfinished"):
            verify_record(part)
    assert decisions > 60


def test_scores_of_an_unfinished_deal_are_those_so_far() -> None:
    for number in (0, 20, 60):
        game = play(Game(2, seed=1, scores=[7, 8]), decisions=number)
        assert record_of_game(game)["deals"][-1]["scores"] == game.scores


def test_forced_decisions_need_not_be_told() -> None:
    """The same record whether they were played by themselves or not."""
    game = Game(4, "family", seed=2, max_deals=2)
    rng = np.random.default_rng(1)
    game.play_forced()
    while not game.over:
        game.step(int(rng.choice(game.legal_actions())))
        game.play_forced()
    assert record_of(game.setup, game.choices) == record_of_game(game)
    verify_record(record_of_game(game))


def test_long_match_is_recorded_whole() -> None:
    """Far more events than the engine's log holds at once."""
    game = play(Game(6, "pagat+target=9999", seed=1, max_deals=150))
    record = record_of_game(game)
    assert len(record["deals"]) == 150
    assert record["result"]["scores"] == game.scores
    assert verify_record(record).events > 9_000


def test_choices_of_another_match_are_refused() -> None:
    game = play(Game(2, seed=1, max_deals=1))
    with pytest.raises(RecordError, match="is not legal"):
        record_of(game.setup, game.choices + b"\x00")
    with pytest.raises(RecordError, match="choice 0 of 1 is not legal"):
        record_of(game.setup, bytes([101]))


# Writing and reading


@pytest.fixture(params=["a.jsonl", "a.jsonl.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def test_records_are_read_as_they_were_written(path: Path) -> None:
    records = [a_record(seed) for seed in range(4)]
    assert write_records(path, records) == 4
    assert [line.record for line in read_records(path)] == records
    assert [line.line for line in read_records(path)] == [1, 2, 3, 4]
    assert [line.record for line in read_records(str(path))] == records
    assert [line.record for line in read_records(io.BytesIO(path.read_bytes()))] == records
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == (path.suffix == ".gz")
    for line in read_records(path):
        verify_record(line.record)


def test_written_file_is_the_same_every_time(path: Path) -> None:
    write_records(path, [a_record()])
    first = path.read_bytes()
    write_records(path, [a_record()])
    assert path.read_bytes() == first


def test_names_in_any_script_survive(path: Path) -> None:
    record = a_record()
    record["names"] = ["Åsa", "♠", "\ud800"]
    write_records(path, [record])
    assert next(read_records(path)).record == record


def test_writing_that_fails_leaves_what_was_there(path: Path) -> None:
    write_records(path, [a_record()])
    before = path.read_bytes()

    def broken() -> Any:
        yield a_record(1)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write_records(path, broken())
    with pytest.raises(ValueError, match="JSON"):
        write_records(path, [{"x": float("nan")}])
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_written_file_has_the_usual_permissions(path: Path) -> None:
    plain = path.with_name("plain")
    plain.write_text("")
    write_records(path, [])
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("name", ["records.json", "records", "records.gz"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match=r"is named \*\.jsonl or \*\.jsonl\.gz"):
        write_records(tmp_path / name, [])
    with pytest.raises(RecordError, match=r"is named \*\.jsonl or \*\.jsonl\.gz"):
        RecordWriter(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    for target in (tmp_path / "no" / "a.jsonl", tmp_path / "a.jsonl"):
        (tmp_path / "a.jsonl").mkdir(exist_ok=True)
        with pytest.raises(OSError, match=r"No such file|Is a directory") as caught:
            write_records(target, [])
        assert caught.value.filename == str(target)


# Appending


def test_writer_appends_whole_lines(path: Path) -> None:
    records = [a_record(seed) for seed in range(4)]
    with RecordWriter(path) as writer:
        for i, record in enumerate(records[:2]):
            writer.write(record)
            assert [line.record for line in read_records(path)] == records[: i + 1]
    with RecordWriter(path, sync=True) as writer:
        writer.write(records[2])
    write_records(path, [line.record for line in read_records(path)])
    with RecordWriter(path) as writer:
        writer.write(records[3])
    assert [line.record for line in read_records(path)] == records


def test_every_broken_end_is_cut_off(path: Path) -> None:
    records = [a_record(seed) for seed in range(2)]
    with RecordWriter(path) as writer:
        writer.write(records[0])
        size = path.stat().st_size
        writer.write(records[1])
    whole = path.read_bytes()
    for end in [*range(size, size + 12), *range(size + 12, len(whole), 97), len(whole) - 2]:
        path.write_bytes(whole[:end])
        with RecordWriter(path) as writer:
            writer.write(records[1])
        assert [line.record for line in read_records(path)] == records, end


def test_only_the_end_of_the_line_is_missing(tmp_path: Path) -> None:
    """Nothing is lost then: editors leave files so."""
    path = tmp_path / "a.jsonl"
    write_records(path, [a_record(0), a_record(1)])
    path.write_bytes(path.read_bytes()[:-1])
    with RecordWriter(path) as writer:
        writer.write(a_record(2))
    assert [line.record for line in read_records(path)] == [a_record(seed) for seed in range(3)]


@pytest.mark.parametrize("damage", ["broken off", "overwritten"])
def test_packed_file_with_other_damage_is_left_alone(tmp_path: Path, damage: str) -> None:
    """One gzip member with many records, as `write_records` makes: cutting it off would lose them all."""
    path = tmp_path / "a.jsonl.gz"
    write_records(path, [a_record(seed) for seed in range(30)])
    data = path.read_bytes()
    data = data[: len(data) // 2] + (b"" if damage == "broken off" else b"x" * 20 + data[len(data) // 2 + 20 :])
    path.write_bytes(data)
    with pytest.raises(RecordError, match="cannot be continued"):
        RecordWriter(path)
    assert path.read_bytes() == data
    with pytest.raises(RecordError, match=r"damaged gzip file|not JSON|not a record"):
        list(read_records(path))


def test_write_that_fails_leaves_whole_records(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordWriter(path) as writer:
        writer.write(a_record(0))
        before = path.read_bytes()
        file = writer._file

        class Full:
            def write(self, data: bytes) -> int:
                return file.write(data[: len(data) // 2])

            def __getattr__(self, name: str) -> Any:
                return getattr(file, name)

        monkeypatch.setattr(writer, "_file", Full())
        with pytest.raises(OSError, match="could not be written as a whole"):
            writer.write(a_record(1))
        assert path.read_bytes() == before
        monkeypatch.undo()
        writer.write(a_record(1))
    assert [line.record for line in read_records(path)] == [a_record(0), a_record(1)]


# Files that are not to be trusted

BAD_LINES = [
    (b"{", "not JSON: .* at column 2"),
    (b"nonsense", "not JSON: .* at column 1"),
    (b"[1, 2]", "a record is a JSON object"),
    (b"3", "a record is a JSON object"),
    (b'{"a": NaN}', "NaN is not an integer"),
    (b'{"a": -Infinity}', "-Infinity is not an integer"),
    (b'{"a": 1.0}', r"1\.0 is not an integer"),
    (b'{"a": 1e3}', "1e3 is not an integer"),
    (b'{"a": 1, "b": 2, "a": 1}', "the name 'a' is there twice"),
    (b'{"a": "\xff"}', "not a record: .*utf-8"),
    (b'{"a": ' + b"9" * 5000 + b"}", "not a record: .*4300 digits"),
    (b'{"a": 1} {"a": 1}', "not JSON: Extra data"),
    (b'{"a": "\x01"}', "not JSON: Invalid control character"),
    (b"[" * 100_000, "nested too deeply|not JSON|more lists"),
    (b'{"a":' * 100_000, "nested too deeply|not JSON|more lists"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES, ids=lambda part: part[:20])
def test_bad_lines_are_refused_with_their_place(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"good": 1}\n\n' + line + b"\n")
    lines = read_records(path)
    assert next(lines) == (1, {"good": 1})
    with pytest.raises(RecordError, match=message) as caught:
        next(lines)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    assert "\n" not in str(caught.value)


def test_line_that_is_broken_off_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_records(path, [a_record()])
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(RecordError, match="the line seems to be broken off"):
        list(read_records(path))


def test_lines_have_a_limit(path: Path) -> None:
    """A small packed file cannot fill the memory."""
    data = b'{"a": 1}\n' + b" " * 3_000_000
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    with pytest.raises(RecordError, match=":2: longer than 1,000,000 bytes"):
        list(read_records(path, max_line=1_000_000))
    assert len(list(read_records(path))) == 1


def test_packed_file_that_is_broken_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_records(path, [a_record()])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RecordError, match="damaged gzip file"):
        list(read_records(path))


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_records(tmp_path / "no.jsonl"))


def test_record_is_its_own(tmp_path: Path) -> None:
    """Changing a record changes neither the game nor the next record."""
    game = play(Game(2, seed=1, max_deals=1))
    record = record_of_game(game)
    kept = copy.deepcopy(record)
    record["rules"]["hand_points"][1] = 99
    record["deals"][0]["events"].clear()
    record["start_scores"][0] = 5
    assert record_of_game(game) == kept


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        write_records(tmp_path / "a.jsonl", [])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", gzip.compress(b'{"a":1}\n')),
        ("a.jsonl.gz", b'{"a":1}\n'),
        ("a.jsonl.gz", b"{"),
        *[("a.jsonl", b'{"a":1}\n' + end) for end in (b"hello", b'{"x":1.5}', b"{hello", b'{"x":1} tr', b'{"x":"\xff')],
        ("a.jsonl.gz", gzip.compress(b'{"a":1}') + gzip.compress(b'{"a":2}\n')[:-3]),
        ("a.jsonl.gz", gzip.compress(b"hello")[:-3]),
    ],
    ids=range(10),
)
def test_files_of_others_are_left_alone(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(RecordError, match="cannot be continued"):
        RecordWriter(path)
    assert path.read_bytes() == data


def test_every_beginning_of_an_object_counts_as_broken_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = '{"å": "\\u00e5\\n\\"♠", "b": [true, false, null, -12, {"c": {}}]}'.encode()
    for end in range(1, len(line)):
        path.write_bytes(b'{"a": 1}\n' + line[:end])
        RecordWriter(path).close()
        assert path.read_bytes() == b'{"a": 1}\n', line[:end]


def test_packed_line_without_end_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a":1}'))
    with RecordWriter(path) as writer:
        writer.write({"a": 2})
    assert [line.record for line in read_records(path)] == [{"a": 1}, {"a": 2}]


def test_endless_last_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chicago_env.records.io.MAX_LINE", 200_000)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{" * 300_000)
    with pytest.raises(RecordError, match="longer than"):
        RecordWriter(path)
    path.write_bytes(b'{"a":1}\n{"b":"' + b"x" * 150_000)
    RecordWriter(path).close()
    assert path.read_bytes() == b'{"a":1}\n'


def test_what_is_no_record_or_source_is_refused(tmp_path: Path) -> None:
    for record in ({"a": float("nan")}, {"a": {1}}, [1], None):
        with pytest.raises(RecordError):
            write_records(tmp_path / "a.jsonl", [record])  # type: ignore[list-item]  # on purpose
    writer = RecordWriter(tmp_path / "b.jsonl")
    writer.close()
    with pytest.raises(RecordError, match="closed"):
        writer.write({"a": 1})
    for source in (None, 5, io.StringIO("{}")):
        with pytest.raises(RecordError, match="neither a path"):
            list(read_records(source))  # type: ignore[arg-type]  # on purpose


def test_odd_arguments_of_a_record() -> None:
    setup = MatchSetup.make(2)
    options: list[dict[str, Any]] = [
        {"choices": "abc"}, {"choices": None}, {"choices": [1]}, {"decisions": 10**30}, {"decisions": -1},
        {"names": "ab"}, {"names": ["a", None]}, {"setup": 5},
    ]  # fmt: skip
    for option in options:
        with pytest.raises((RecordError, SetupError)):
            record_of(**{"setup": setup, "choices": b"", **option})


def test_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(OSError, match=str(path)), replacing(path):
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [{"points": 1.5}, {"a": [0, 1e3]}, {1: 0, "1": 0}, {"a": [[]] * 5000}])
def test_what_reading_refuses_is_not_written(tmp_path: Path, wrong: dict) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(RecordError, match="not to be read again"):
        write_records(path, [wrong])
    assert not path.exists()
    with RecordWriter(path) as writer:
        with pytest.raises(RecordError, match="not to be read again"):
            writer.write(wrong)
        writer.write({"a": 1})
    assert [record for _, record in read_records(path)] == [{"a": 1}]
