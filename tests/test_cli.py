"""The command line: its list of commands, its exit codes, and one clear line for whatever goes wrong."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from chicago_env import cli
from chicago_env.cli import BAD_INPUT, FAILED, INTERRUPTED, OK, Command
from chicago_env.errors import RecordError, UsageError
from chicago_env.records import write_records
from train.cli import COMMANDS, run

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).parent / "data" / "golden.jsonl"

Captured = pytest.CaptureFixture[str]


def program(*words: str, module: str = "train.cli", **options: object) -> subprocess.CompletedProcess[str]:
    """Runs `chicago WORDS` as a program of its own."""
    code = ["-m", module] if module != "train.cli" else ["-c", "from train.cli import main; main()"]
    command = [sys.executable, *code, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]  # passed on


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith("\n")


# The list of commands


def test_every_command_in_the_list_is_there(capsys: Captured) -> None:
    assert run(["--help"]) == OK
    shown = capsys.readouterr().out
    for command in COMMANDS:
        assert f"  {command.name} " in shown
        assert command.help in shown


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_command_has_a_config_with_help_for_each_field(command: Command) -> None:
    module = importlib.import_module(command.module)
    config = module.Config
    assert dataclasses.is_dataclass(config)
    assert config.__dataclass_params__.frozen
    assert inspect.signature(module.run).return_annotation is int
    for owner in [base for base in config.__mro__ if dataclasses.is_dataclass(base)]:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(body, ast.ClassDef)
        assert ast.get_docstring(body)
        for statement, following in zip(body.body, [*body.body[1:], None], strict=True):
            if isinstance(statement, ast.AnnAssign):
                documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
                assert documented, f"{owner.__name__}: no help for {ast.unparse(statement.target)}"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_command_shows_its_help(command: Command, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        run([*command.name.split(), "--help"])
    assert caught.value.code == 0
    assert f"usage: chicago {command.name} " in capsys.readouterr().out


def test_list_of_commands_imports_no_command() -> None:
    """Nor numba, torch and tyro, so that it is there at once."""
    code = "import sys; from train.cli import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "chicago_env.cli" in loaded
    heavy = {"numba", "torch", "tyro", "pettingzoo", "stable_baselines3", "matplotlib", "scipy"}
    assert not loaded & (heavy | {command.module for command in COMMANDS})


def test_group_of_commands(capsys: Captured) -> None:
    assert run(["records", "--help"]) == OK
    shown = capsys.readouterr().out
    assert shown.startswith("usage: chicago records COMMAND")
    assert "records verify" in shown
    assert "bench" not in shown
    assert run(["records"]) == BAD_INPUT


def test_version(capsys: Captured) -> None:
    assert run(["--version"]) == OK
    assert capsys.readouterr().out.startswith("chicago-env ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["recrods"], "error: no command 'recrods'; did you mean records?"),
        (["records", "verfy"], "error: no command 'records verfy'; did you mean verify?"),
        (["--records"], "error: no command '--records'"),
        (["records", "verify"], "error: no file given; see chicago records verify --help"),
        (["records", "verify", "--jsn", "x"], "error: Unrecognized options: --jsn"),
        (["records", "verify", "a.jsonl", "--json", "maybe", "--no"], "error: Unrecognized options: maybe, --no"),
        (["records", "verify", "/no/such.jsonl"], "error: [Errno 2] No such file or directory: '/no/such.jsonl'"),
        (["records", "verify", "/"], "error: [Errno 21] Is a directory: '/'"),
    ],
)
def test_bad_input_is_told_in_one_line(words: list[str], message: str, capsys: Captured) -> None:
    assert run(words) == BAD_INPUT
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"chicago: {message}")
    assert one_line(told.err)


def test_python_m_is_the_same() -> None:
    for module, group in (("train", "train"), ("eval", "eval")):
        by_module, by_name = program("--no-such-option", "x", module=module), program(group, "--no-such-option", "x")
        assert (by_module.returncode, by_module.stderr) == (by_name.returncode, by_name.stderr)
        assert by_module.returncode == BAD_INPUT
        assert one_line(by_module.stderr)


# What can go wrong in a command


@dataclasses.dataclass(frozen=True)
class Config:
    """Does it."""

    n: int = 3
    """A number."""


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A command `do` whose `run` can be replaced."""
    module = ModuleType("a_command")
    module.Config = Config
    module.__spec__ = importlib.machinery.ModuleSpec("a_command", None)
    monkeypatch.setitem(sys.modules, "a_command", module)
    return module


def start(words: Sequence[str]) -> int:
    return cli.main([Command("do", "a_command", "does it"), Command("not", "no_such_module.at_all", "no")], words)


def test_exit_code_is_the_command_s(command: ModuleType) -> None:
    command.run = lambda config: config.n
    assert start(["do"]) == 3
    assert start(["do", "--n", "1"]) == FAILED


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (RecordError("bad", file="f", line=2), BAD_INPUT, "chicago: error: f:2: bad\n"),
        (UsageError("two\nlines"), BAD_INPUT, "chicago: error: two lines\n"),
        (
            PermissionError(13, "Permission denied", "x"),
            BAD_INPUT,
            "chicago: error: [Errno 13] Permission denied: 'x'\n",
        ),
        (KeyboardInterrupt(), INTERRUPTED, "chicago: interrupted\n"),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch.nn"),
            BAD_INPUT,
            "chicago: error: torch is not installed; pip install 'chicago-env[train]'\n",
        ),
        (
            ModuleNotFoundError("No module named 'choix'", name="choix"),
            BAD_INPUT,
            "chicago: error: choix is not installed; pip install 'chicago-env[eval]'\n",
        ),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, BaseException) else "",
)
def test_errors_end_in_one_line(
    command: ModuleType, error: BaseException, code: int, told: str, capsys: Captured
) -> None:
    def fail(config: object) -> int:
        raise error

    command.run = fail
    assert start(["do"]) == code
    assert capsys.readouterr() == ("", told)


@pytest.mark.parametrize("error", [ZeroDivisionError(), ModuleNotFoundError("no", name="chicago_env.nothing")])
def test_faults_of_the_program_are_not_hidden(command: ModuleType, error: Exception) -> None:
    def fail(config: object) -> int:
        raise error

    command.run = fail
    with pytest.raises(type(error)):
        start(["do"])


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jsn"], "Unrecognized options: --jsn"),
        (["--a-b", "--c|d"], "Unrecognized options: --a-b, --c|d"),
        (
            [f"--option-{n}" for n in range(30)],
            "Unrecognized options: " + ", ".join(f"--option-{n}" for n in range(30)),
        ),
        ([], "no file given"),
    ],
)
def test_bad_options_end_in_one_line(encoding: str, words: list[str], message: str) -> None:
    """Whatever the frame is made of that tyro draws around its refusal."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = program("records", "verify", *words, env=environment)
    assert done.returncode == BAD_INPUT
    assert done.stderr == f"chicago: error: {message}; see chicago records verify --help\n"


def test_command_that_is_not_installed_is_not_offered(command: ModuleType, capsys: Captured) -> None:
    assert start(["--help"]) == OK
    assert "not" not in capsys.readouterr().out.split()
    assert start(["not"]) == BAD_INPUT
    assert capsys.readouterr().err == "chicago: error: no command 'not'; known: do\n"


def test_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    code = "import sys; from train.cli import main; sys.argv[1:] = ['--help']; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (FAILED, "")


def test_terminal_without_suit_symbols_is_no_error() -> None:
    code = "from chicago_env import cli; cli.main([], ['--version'], version='♠')"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "chicago-env ?\n", "")


# records verify


def test_records_that_are_right(capsys: Captured) -> None:
    assert run(["records", "verify", str(GOLDEN)]) == OK
    assert capsys.readouterr().out == "60 matches, 157 deals, ok\n"


def test_records_that_are_right_as_json(capsys: Captured) -> None:
    assert run(["records", "verify", str(GOLDEN), str(GOLDEN), "--json"]) == OK
    told = capsys.readouterr()
    assert one_line(told.out)
    assert json.loads(told.out) == {
        "files": [str(GOLDEN)] * 2,
        "matches": 120,
        "deals": 314,
        "events": 2 * 7619,
        "ok": True,
        "differences": [],
    }


@pytest.fixture
def two_bad_ones(tmp_path: Path) -> Path:
    records = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()[:4]]
    records[1]["deals"][0]["events"][2][2] = 2
    records[3]["result"]["winner"] = 7
    path = tmp_path / "bad.jsonl"
    write_records(path, records)
    return path


def test_first_difference_of_each_match_is_told(two_bad_ones: Path, capsys: Captured) -> None:
    assert run(["records", "verify", str(GOLDEN), str(two_bad_ones)]) == FAILED
    told = capsys.readouterr()
    first, second, last = told.out.splitlines()
    assert first.startswith(f"{two_bad_ones}:2 deal 0 event 2: ")
    assert second.startswith(f"{two_bad_ones}:4: result: winner is 7, should be ")
    assert last == "64 matches, 2 not ok"


def test_differences_as_json(two_bad_ones: Path, capsys: Captured) -> None:
    assert run(["records", "verify", str(two_bad_ones), "--json"]) == FAILED
    told = json.loads(capsys.readouterr().out)
    assert not told["ok"]
    assert told["matches"] == 4
    first, second = told["differences"]
    assert (first["file"], first["line"], first["deal"], first["event"]) == (str(two_bad_ones), 2, 0, 2)
    assert (second["line"], second["deal"], second["event"]) == (4, None, None)


def test_file_that_is_no_record_is_refused(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(GOLDEN.read_bytes()[:20_000])
    assert run(["records", "verify", str(path)]) == FAILED
    assert "the line seems to be broken off" in capsys.readouterr().out.splitlines()[0]


def test_empty_file_is_no_proof(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert run(["records", "verify", str(path)]) == FAILED
    assert capsys.readouterr().out.splitlines()[0] == f"{path}: there is no match in it"


def test_standard_input_can_be_verified(two_bad_ones: Path) -> None:
    good = program("records", "verify", "-", input=GOLDEN.read_text("utf-8"))
    assert (good.returncode, good.stdout) == (OK, "60 matches, 157 deals, ok\n")
    bad = program("records", "verify", "-", input=two_bad_ones.read_text("utf-8"))
    assert bad.returncode == FAILED
    assert bad.stdout.startswith("standard input:2 deal 0 event 2: ")


def test_odd_names_of_files_are_shown(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "[red]a[b].jsonl"
    write_records(path, [{"x": 1}])
    assert run(["records", "verify", str(path)]) == FAILED
    assert capsys.readouterr().out.startswith(f"{path}:1: the record lacks 'format'")


@pytest.mark.parametrize("error", [MemoryError("8 GiB"), RuntimeError("x: can't allocate memory: 8 GiB\nmore")])
def test_too_little_memory_is_told_in_one_line(command: ModuleType, error: Exception, capsys: Captured) -> None:
    def fail(_config: object) -> int:
        raise error

    command.run = fail
    assert start(["do"]) == BAD_INPUT
    shown = capsys.readouterr().err
    assert one_line(shown)
    assert "not enough memory" in shown


@pytest.mark.parametrize(
    ("closed", "words", "code"),
    [(">&-", "--help", OK), ("2>&-", "nothing", BAD_INPUT), ("<&-", "records verify -", BAD_INPUT)],
)
def test_closed_streams(closed: str, words: str, code: int) -> None:
    start = f'"{sys.executable}" -c "from train.cli import main; main()" {words} {closed}'
    done = subprocess.run(["bash", "-c", start], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout == ""
    if closed == "<&-":
        assert done.stderr == "chicago: error: standard input is closed\n"
