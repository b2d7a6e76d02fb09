"""A bot's process: what it is given, what it may not exceed, and that nothing of it is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents import AgentError
from agents.bots.agent import BotAgent
from agents.bots.limits import Limits
from agents.bots.process import BotFailure, BotProcess
from chicago_env.game import Game
from tests.bots.common import HERE, bad_bot, processes_with

PYTHON = sys.executable


def run(code: str, tmp_path: Path, seconds: float = 10, **limits) -> tuple[list[bytes], BotFailure, str]:
    """What a program writes until it ends or fails, how, and where it was."""
    process = BotProcess([PYTHON, "-c", code], Limits(**limits), tmp_path / "log")
    folder = process._folder
    lines = []
    try:
        until = time.monotonic() + seconds
        while True:
            lines.append(process.read_line(until)[0])
    except BotFailure as failure:
        return lines, failure, folder
    finally:
        process.kill()
        assert processes_with(folder) == []
        assert not Path(folder).exists()


def test_it_has_a_folder_of_its_own_and_next_to_no_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    code = "import os; print(sorted(os.environ)); print(os.getcwd(), os.environ['HOME'], os.listdir()); print(os.getsid(0) == os.getpid())"
    lines, failure, folder = run(code, tmp_path)
    assert set(eval(lines[0])) <= {"HOME", "LANG", "LC_CTYPE", "PATH", "TMPDIR"}
    assert lines[1].decode() == f"{folder} {folder} []"
    assert lines[2] == b"True"
    assert (failure.status, failure.reason) == ("ERROR", "ended with exit code 0")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 11)", "ended by SIGSEGV"),
        ("import os, time; os.close(1); time.sleep(60)", "closed its standard output"),
    ],
)
def test_how_it_ended_is_said(code: str, reason: str, tmp_path) -> None:
    _, failure, _ = run(code, tmp_path)
    assert (failure.status, failure.reason) == ("ERROR", reason)


def test_a_program_that_cannot_be_run_is_said(tmp_path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("no program")
    bad.chmod(0o700)
    process = BotProcess([str(bad)], Limits(), tmp_path / "log")
    with pytest.raises(BotFailure, match="cannot be run: Exec format error"):
        process.read_line(time.monotonic() + 10)
    process.kill()


@pytest.mark.parametrize(
    ("code", "limits", "words"),
    [
        ("while True: pass", {"cpu": 1}, "SIGXCPU|SIGKILL"),
        ("x = [bytearray(1 << 20) for _ in range(1 << 12)]", {"memory": 128}, "exit code 1"),
        ("import mmap, time; x = [mmap.mmap(-1, 64 << 20) for _ in range(4)]; [m.write(b'x' * len(m)) for m in x]; "
         "time.sleep(9)", {"memory": 4096}, "in time|exit code"),
        ("open('big', 'wb').write(b'x' * (3 << 20))", {"disk": 1}, "SIGXFSZ|exit code 1"),
        ("x = [open('/dev/null') for _ in range(100)]", {"files": 32}, "exit code 1"),
        ("import subprocess, sys, time; x = [subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(99)'])"
         " for _ in range(8)]; time.sleep(99)", {"processes": 4}, "processes, at most 4"),
    ],
)  # fmt: skip
def test_limits(code: str, limits: dict, words: str, tmp_path) -> None:
    import re

    _, failure, _ = run(code, tmp_path, 8, **limits)
    assert re.search(words, failure.reason), failure.reason


def test_memory_of_all_processes_together_is_limited(tmp_path) -> None:
    """Each is below the limit of one process."""
    child = "import time; x = bytearray(100 << 20); time.sleep(99)"
    code = (
        f"import subprocess, sys, time\nx = [subprocess.Popen([sys.executable, '-S', '-c', {child!r}]) for _ in range(4)]\n"
        "time.sleep(99)"
    )
    _, failure, _ = run(code, tmp_path, memory=200)
    assert "MiB of memory, at most 200" in failure.reason


def test_standard_error_goes_to_the_log_up_to_a_limit(tmp_path) -> None:
    run("import sys; sys.stderr.write('oops')", tmp_path)
    assert (tmp_path / "log").read_text() == "oops"
    run("import sys\nfor _ in range(64): sys.stderr.write('x' * 65536)", tmp_path)
    assert 1 << 20 <= (tmp_path / "log").stat().st_size < (1 << 20) + 100


def test_what_it_started_ends_with_it(tmp_path) -> None:
    """Children, children in sessions of their own, and those whose parents have gone."""
    code = f"""
import os, subprocess, sys, time
sleeper = [{PYTHON!r}, "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleeper)
subprocess.Popen(sleeper, start_new_session=True, env={{}}, cwd="/")
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        time.sleep(600)
time.sleep(0.3)
print([name for name in os.listdir("/proc") if name.isdigit()], flush=True)
print(os.getpid(), flush=True)
time.sleep(600)
"""
    process = BotProcess([PYTHON, "-c", code], Limits(), tmp_path / "log")
    process.read_line(time.monotonic() + 20)
    supervisor = process._supervisor.pid
    from agents.bots.supervisor import descendants

    found = descendants(supervisor)
    assert len(found) == 1 + 2 + 3
    process.kill()
    assert not [pid for pid in found if Path(f"/proc/{pid}").exists()]


def test_nothing_is_left_when_the_harness_is_killed(tmp_path) -> None:
    root = HERE.parent.parent
    code = f"""
import sys, time
from pathlib import Path
from agents.bots.limits import Limits
from agents.bots.process import BotProcess
code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\\nprint(1, flush=True)\\nimport time; time.sleep(600)"
process = BotProcess([sys.executable, "-c", code], Limits(), Path({str(tmp_path / "log")!r}))
process.read_line(time.monotonic() + 20)
print(process._folder, flush=True)
time.sleep(600)
"""
    harness = subprocess.Popen(
        [PYTHON, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(root)}
    )
    assert harness.stdout is not None
    folder = harness.stdout.readline().strip()
    assert len(processes_with(folder)) >= 3  # the supervisor names it, too
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    until = time.monotonic() + 10
    while processes_with(folder) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(folder) == []
    assert not Path(folder).exists()


def test_a_bot_that_kills_its_supervisor_is_swept_up(tmp_path) -> None:
    code = "import os, subprocess, sys, time; print(1, flush=True); subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); os.kill(os.getppid(), 9); time.sleep(600)"
    process = BotProcess([PYTHON, "-c", code], Limits(), tmp_path / "log")
    folder = process._folder
    process.read_line(time.monotonic() + 20)
    process._supervisor.wait(10)
    process.kill()
    assert processes_with(folder) == []
    assert not Path(folder).exists()


@pytest.mark.parametrize("what", ["flood", "lines"])
def test_floods_cost_no_memory(what: str, tmp_path) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    endless = {"flood": "b'x' * 65536", "lines": "b'x\\n' * 30000"}[what]
    process = BotProcess([PYTHON, "-c", f"import os\nwhile True: os.write(1, {endless})"], Limits(), tmp_path / "log")
    process.read_line(time.monotonic() + 10) if what == "lines" else None
    for _ in range(200):
        process.send(b"{}\n")
    if what == "flood":
        with pytest.raises(BotFailure, match="a line of more than 1024 bytes"):
            process.read_line(time.monotonic() + 10)
    process.kill()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB


def test_a_bot_that_reads_nothing_does_not_block_the_harness(tmp_path) -> None:
    process = BotProcess([PYTHON, "-c", "import time; time.sleep(600)"], Limits(), tmp_path / "log")
    started = time.monotonic()
    for _ in range(100):
        process.send(b"x" * 5000 + b"\n")
    with pytest.raises(BotFailure, match="no answer in time"):
        process.read_line(time.monotonic() + 0.2)
    assert time.monotonic() - started < 5
    process.kill()


def test_agents_are_ended_with_their_object_and_with_the_program(tmp_path) -> None:
    agent = bad_bot("none")
    agent._runner.running()
    folder = agent._runner.process._folder
    assert processes_with(folder)
    del agent
    assert processes_with(folder) == []
    code = (
        "import sys; from agents.bots.agent import BotAgent\n"
        f"a = BotAgent([sys.executable, {str(HERE / 'bad_bot.py')!r}, 'stays', '1'])\n"
        "a._runner.running(); print(a._runner.process._folder)"
    )
    done = subprocess.run(
        [PYTHON, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
    )
    assert processes_with(done.stdout.strip()) == []


def test_a_command_is_found_from_here_and_run_elsewhere(tmp_path, monkeypatch) -> None:
    (tmp_path / "mine.py").write_text("print(open('data.txt'))")
    monkeypatch.chdir(tmp_path)
    agent = BotAgent([PYTHON, "mine.py", "other.py", "-x"])
    assert agent.command[1:] == [str(tmp_path / "mine.py"), "other.py", "-x"]
    with pytest.raises(FileNotFoundError, match="no program 'nothing-like-it'"):
        BotAgent(["nothing-like-it"])


def script(path: Path, first: str, mode: int = 0o700) -> None:
    path.write_text(f"{first}\nexit 0\n")
    path.chmod(mode)


def test_why_a_command_cannot_be_run_is_said(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "plain.sh", "#!/bin/sh", 0o600)
    script(tmp_path / "good.sh", "#!/bin/sh")
    script(tmp_path / "bad.pl", "#!/usr/bin/no-such-perl -w")
    script(tmp_path / "windows.sh", "#!/bin/sh\r")
    for word, words in (
        ("./plain.sh", r"'./plain.sh' is not executable \(chmod \+x\)"),
        ("plain.sh", r"in PATH; the one in this folder is written ./plain.sh, which is not executable yet"),
        ("good.sh", r"no program 'good.sh' in PATH; the one in this folder is written ./good.sh$"),
        ("./bad.pl", r"its first line names '/usr/bin/no-such-perl', which is not there"),
        ("./windows.sh", r"names '/bin/sh\\r', which is not there; the line ends with a carriage return"),
        (".", r"no program '.': it is a folder"),
        ("./nothing", r"no program './nothing'$"),
    ):
        with pytest.raises(FileNotFoundError, match=words):
            BotAgent([word])
    assert BotAgent(["./good.sh"]).command == [str(tmp_path / "good.sh")]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "nothing came; output must be flushed"),
        ("sys.stdout.write('{}'); sys.stdout.flush(); ", "2 bytes came, but no line feed"),
    ],
)
def test_a_timeout_names_its_limit_and_the_likely_mistake(code: str, words: str) -> None:
    agent = BotAgent([PYTHON, "-c", f"import sys, time; {code}time.sleep(60)"], Limits(start=1))
    with pytest.raises(BotFailure, match=rf"no hello within 1 s \(start\): {words}"):
        agent._runner.running()
    agent._runner.kill()
    agent = bad_bot("hang", 1, move=0.2, bank=0.3)
    observation, mask = Game(2, "pagat", seed=1).observe()
    with pytest.raises(
        AgentError, match=r"no answer within 0.500 s \(0.2 of move and 0.300 left of the bank\): nothing"
    ):
        agent.act(observation[None], mask[None], np.random.default_rng(1))
    agent.close()
