"""Child processes that never outlive us.

Each child leads a session of its own, so that Ctrl-C reaches only the one who started it, and Linux is asked to
signal it when its parent dies, however that dies.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pocketchat.embedded.account import Account

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Command:
    """What to run, where and as whom; `when_orphaned` is the signal the child gets when its parent dies."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    account: Account | None = None
    open_files: tuple[int, ...] = ()
    when_orphaned: signal.Signals = signal.SIGKILL


def spawn(command: Command, *, output: Path, stdout_shown: bool = False) -> subprocess.Popen[bytes]:
    """Start `command`; what it says is appended to the file `output`, except stdout when that shall be seen."""
    account = command.account
    with output.open("ab") as log:
        return subprocess.Popen(
            command.argv,
            env={**os.environ, **command.environment},
            cwd=command.folder,
            stdin=subprocess.DEVNULL,
            stdout=None if stdout_shown else log,
            stderr=log,
            pass_fds=command.open_files,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            preexec_fn=_signalled_when_orphaned(command.when_orphaned),  # noqa: PLW1509  # we start no threads
        )


def run(command: Command) -> None:
    """Run `command` to its end. `subprocess.CalledProcessError` carries what it said."""
    subprocess.run(
        command.argv,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **command.environment},
        cwd=command.folder,
        user=command.account.uid if command.account else None,
        group=command.account.gid if command.account else None,
        extra_groups=[] if command.account else None,
    )


def complaint(text: str) -> str:
    """What a program that gave up said about it, as one sentence: its first complaint, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    full = [line for line in lines if "No space left on device" in line]
    loud = [line for line in lines if any(word in line.lower() for word in ("error:", "fatal:", "panic:"))]
    said = next(iter(full + loud + lines[-1:]), "it did not say why")
    return said if said.endswith(".") else f"{said}."


def end(process: subprocess.Popen[bytes], *, politely: signal.Signals, grace: float) -> None:
    """Ask `process` to end; after `grace` seconds its whole group is killed."""
    end_all([(process, politely)], grace=grace)


def end_all(processes: Sequence[tuple[subprocess.Popen[bytes], signal.Signals]], *, grace: float) -> None:
    """Ask all of them at once; `grace` is what they have together."""
    for process, politely in processes:
        tell(process, politely)
    wait_until(lambda: all(process.poll() is not None for process, _ in processes), seconds=grace)
    for process, _ in processes:
        kill_group(process)


def tell(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the child's group, whether or not the child itself is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(is_true: Callable[[], bool], *, seconds: float, pause: float = 0.03) -> bool:
    """Ask again and again until the answer is yes; False when the time is over first."""
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def _signalled_when_orphaned(number: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def arrange() -> None:
        if _libc is None:
            return
        _libc.prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # It died in between, and nobody will tell.
            os._exit(1)

    return arrange
