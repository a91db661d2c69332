"""Children end with us, and what they complain of is found."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pocketchat.embedded.process import Command, complaint, end, spawn, wait_until

PARENT = """
import os, pathlib, time
from pocketchat.embedded.process import Command, spawn
child = spawn(Command(("sleep", "60")), output=pathlib.Path(os.devnull))
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of the death of their parent")
def test_a_child_ends_with_its_killed_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, seconds=5)


def test_ctrl_c_in_the_terminal_reaches_the_parent_only(tmp_path: Path) -> None:
    child = spawn(Command(("sleep", "60")), output=tmp_path / "out")
    assert os.getsid(child.pid) == child.pid
    end(child, politely=signal.SIGTERM, grace=5)


def test_output_is_appended_to(tmp_path: Path) -> None:
    output = tmp_path / "out"
    for word in ("one", "two"):
        spawn(Command(("echo", word)), output=output).wait()
    assert output.read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("begun\nFATAL:  lock file exists\nHINT: wait\n", "FATAL:  lock file exists."),
        ("error: cannot write\nfile: No space left on device\nbye", "file: No space left on device."),
        ("one\nthe last word\n\n", "the last word."),
        ("", "it did not say why."),
    ],
)
def test_the_complaint_is_found_in_what_a_program_said(said: str, quoted: str) -> None:
    assert complaint(said) == quoted
