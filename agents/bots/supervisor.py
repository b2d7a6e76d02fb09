"""Runs one bot and kills all that it started; a program of its own (`python -I -S supervisor.py JSON`), standard library only.

It stands between the harness and the bot so that nothing is left behind, whatever ends first. As subreaper it becomes the
parent of every descendant of the bot whose own parent has gone, also of those in sessions of their own. It ends when the
bot does, when the harness closes the control pipe or dies, or when a limit is passed; then it kills every descendant,
removes the bot's folder and writes one line of JSON to the status pipe.

Standard input and output are the bot's and are passed on untouched. Standard error of the bot is read here and written to
the log, up to a limit.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

PR_SET_CHILD_SUBREAPER = 36
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20
LOG_LIMIT = 1 << 20
WATCH_SECONDS = 0.1
KILL_SECONDS = 10.0
STOP_PATIENCE = 5


def parents() -> dict[int, int]:
    """Parent of every process, by id; processes that are dead already left out."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    words = file.read().rpartition(b")")[2].split()
                if words[0] not in (b"Z", b"X"):
                    found[int(name)] = int(words[1])
    return found


def descendants(root: int) -> list[int]:
    """Ids of all living processes below `root`."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        children.setdefault(parent, []).append(pid)
    result: list[int] = []
    todo = [root]
    while todo:
        below = children.get(todo.pop(), [])
        result += below
        todo += below
    return result


def memory_of(pid: int) -> int:
    """Bytes that a process holds for itself."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            words = file.read().split()
        return (int(words[1]) - int(words[2])) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


def reap() -> list[tuple[int, int]]:
    """Takes the status of every child that has ended: a list of (pid, status)."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


def send(pids: Iterable[int], number: int) -> None:
    """Sends a signal to those that are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def kill_all() -> bool:
    """Kills every descendant; True if none is left. Stopped first, so that none starts others meanwhile."""
    until = time.monotonic() + KILL_SECONDS
    rounds = 0
    while True:
        found = descendants(os.getpid())
        if not found:
            reap()
            return True
        rounds += 1
        if rounds > STOP_PATIENCE:
            send(found, signal.SIGSTOP)
        send(found, signal.SIGKILL)
        reap()
        if time.monotonic() > until:
            return False
        time.sleep(0.001)


def limit(kind: int, value: int) -> None:
    """Sets a limit, no higher than the one in force."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def processes_of_user() -> int:
    """Threads that count for the limit of the user."""
    count, own = 0, os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == own:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count


def become(config: Any, stderr: int, failed: int) -> "NoReturn":
    """In the child: the bot. Does not return."""
    try:
        os.setsid()
        limits = config["limits"]
        limit(resource.RLIMIT_CORE, 0)
        limit(resource.RLIMIT_CPU, int(limits["cpu"]))
        limit(resource.RLIMIT_DATA, limits["memory"] * MIB)
        limit(resource.RLIMIT_FSIZE, limits["disk"] * MIB)
        limit(resource.RLIMIT_NOFILE, limits["files"])
        # A backstop: it counts all threads of the user, and not at all for root. The count below is what is promised.
        limit(resource.RLIMIT_NPROC, processes_of_user() + 16 * limits["processes"] + 64)
        os.chdir(config["folder"])
        os.dup2(stderr, 2)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.execve(config["argv"][0], config["argv"], config["env"])
    except OSError as error:
        os.write(failed, str(error.errno or errno.EINVAL).encode())
    except ValueError:
        os.write(failed, str(errno.EINVAL).encode())
    finally:
        os._exit(127)


class Log:
    """The bot's standard error."""

    def __init__(self, path: str, pipe: int) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.pipe = pipe
        self.left = LOG_LIMIT

    def take(self) -> bool:
        """Copies what there is; False at the end."""
        try:
            data = os.read(self.pipe, 65536)
        except BlockingIOError:
            return True
        if data and self.left > 0:
            with contextlib.suppress(OSError):  # a full disk does not end the game
                os.write(self.file, data[: self.left])
            self.left -= len(data)
            if self.left <= 0:
                with contextlib.suppress(OSError):
                    os.write(self.file, b"\n[no more is kept]\n")
        return bool(data)


def passed_limit(limits: Mapping[str, Any]) -> str | None:
    """Words for the limit that the bot's processes have passed together, or None."""
    found = descendants(os.getpid())
    if len(found) > limits["processes"]:
        return f"{len(found)} processes, at most {limits['processes']} are allowed"
    used = sum(map(memory_of, found)) // MIB
    if used > limits["memory"]:
        return f"{used} MiB of memory, at most {limits['memory']} are allowed"
    return None


def watch(config: Any, bot: int, control: int, log: Log, wakeup: int) -> dict[str, Any]:
    """Waits for an end; what to report."""
    limits = config["limits"]
    pipes = [control, log.pipe, wakeup]
    looked = time.monotonic()
    pause = WATCH_SECONDS
    while True:
        ready = select.select(pipes, [], [], pause)[0]
        if wakeup in ready:
            os.read(wakeup, 4096)
        for pid, status in reap():
            if pid == bot:
                code = os.waitstatus_to_exitcode(status)
                return {"exit": code} if code >= 0 else {"signal": -code}
        if control in ready:
            return {"killed": True}
        if log.pipe in ready and not log.take():
            pipes.remove(log.pipe)
        now = time.monotonic()
        if now - looked > pause:
            passed = passed_limit(limits)
            looked = time.monotonic()
            pause = max(WATCH_SECONDS, 20 * (looked - now))  # no more than a twentieth of a core
            if passed is not None:
                return {"limit": passed}


def main() -> None:
    """See above."""
    config = json.loads(sys.argv[1])
    control, status = config["control"], config["status"]
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        os.write(status, b'{"exec": 38}\n')  # not Linux: nothing is run that could not be ended
        return
    wakeup, alarm = os.pipe()
    os.set_blocking(alarm, False)
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(alarm)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    errors, stderr = os.pipe()
    os.set_blocking(errors, False)
    said, failed = os.pipe()
    log = Log(config["log"], errors)
    bot = os.fork()
    if bot == 0:
        signal.set_wakeup_fd(-1)
        become(config, stderr, failed)
    for fd in (0, 1, stderr, failed):
        os.close(fd)
    problem = os.read(said, 16)  # ends with the execve
    report = {"exec": int(problem)} if problem else watch(config, bot, control, log, wakeup)
    report["clean"] = kill_all()
    while log.take() and select.select([errors], [], [], 0)[0]:
        pass
    shutil.rmtree(config["folder"], ignore_errors=True)
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    main()
