"""Logs of bots: their number and size is bounded, and only what the harness made is cleared."""

import os

import pytest

from agents.bots import logs


def test_old_logs_go_and_those_in_use_stay(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "KEPT", 3)
    gone, here = 1 << 22, os.getpid()  # no process has so high a number
    for i in range(6):
        path = tmp_path / f"perl-5.36-{gone}-{i}.log"
        path.write_text("x")
        os.utime(path, (i, i))
    (tmp_path / f"perl-{gone}-7.log").touch()
    (tmp_path / f"perl-{here}-8.log").touch()
    (tmp_path / "notes.txt").touch()
    logs.clear(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {*(f"perl-5.36-{gone}-{i}.log" for i in (3, 4, 5)), f"perl-{here}-8.log", "notes.txt"}
    monkeypatch.setattr(logs, "KEPT_BYTES", 2)
    logs.clear(tmp_path)
    assert len(list(tmp_path.glob(f"*-{gone}-*"))) == 2


def test_a_full_log_is_begun_anew_unless_it_was_asked_for(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "FULL", 3)
    own, asked = tmp_path / "chicago-bots-1" / "a-1-0.log", tmp_path / "mine.log"
    own.parent.mkdir()
    for path, size in ((own, 0), (asked, 4)):
        path.write_text("full")
        logs.begin(path)
        assert logs.written(path) == size


def test_the_last_lines(tmp_path) -> None:
    log = tmp_path / "log"
    assert logs.last_lines(log, 0) == []
    log.write_bytes(b"before\n" + b"\n".join(b"line %d" % i for i in range(5000)) + b"\n\n\x1b[2J\xff\n")
    assert logs.last_lines(log, 0) == ["line 4998", "line 4999", "\\x1b[2J\\xff"]
    log.write_bytes(b"before\nafter\n")
    assert logs.last_lines(log, 7) == ["after"]
    assert logs.last_lines(log, 13) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a link of somebody else")
def test_nobody_can_turn_the_folder_for_logs_to_another_place(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(logs.tempfile, "tempdir", str(tmp_path))
    home = tmp_path / "home"
    home.mkdir()
    link = tmp_path / f"chicago-bots-{os.getuid()}"
    link.symlink_to(home)
    os.lchown(link, 12345, -1)
    assert home.resolve() not in logs.log_file("bot").resolve().parents
