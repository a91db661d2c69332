"""Starting, replacing and ending, with small programs in place of the real ones."""

import errno
import io
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pocketchat.embedded import service as service_decisions
from pocketchat.embedded import supervisor as supervision
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.interruption import SIGNALS, Interruption
from pocketchat.embedded.process import Command, wait_until
from pocketchat.embedded.service import PAUSES, WITHIN, Service, how_it_ended, pause_before_start
from pocketchat.embedded.supervisor import Supervisor
from pocketchat.embedded.terminal import Terminal


class ClosedTerminal(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


@pytest.fixture
def handlers() -> Iterator[None]:
    """Put pytest's own signal handlers back."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def interruption(handlers: None) -> Interruption:
    return Interruption()


@pytest.fixture
def supervisor(tmp_path: Path, interruption: Interruption) -> Iterator[Supervisor]:
    made = Supervisor(logs=tmp_path, terminal=Terminal(), interruption=interruption)
    yield made
    made.stop()


def shell(name: str, script: str, *, folder: Path, keeps_data: bool = False) -> Service:
    """A service that is ready when it has made the file of its name."""
    return Service(
        name=name,
        title=f"The {name}",
        command=lambda: Command(("sh", "-c", script), folder=folder),
        is_ready=(folder / name).exists,
        keeps_data=keeps_data,
        patience=10,
    )


def waiting(name: str) -> str:
    """A script that notes in `ended` that it was asked to end."""
    return f"trap 'echo {name} >> ended; exit' TERM; touch {name}; while :; do sleep 0.05; done"


def test_a_service_is_awaited_until_it_is_ready(supervisor: Supervisor, tmp_path: Path) -> None:
    service = shell("slow", "sleep 0.2; touch slow; sleep 60", folder=tmp_path)
    supervisor.launch(service)
    supervisor.await_ready(service)
    assert (tmp_path / "slow").exists()


def test_a_service_that_gives_up_is_quoted(supervisor: Supervisor, tmp_path: Path) -> None:
    service = shell("broken", "echo begun; echo 'FATAL:  no room' >&2; echo bye; exit 1", folder=tmp_path)
    supervisor.launch(service)
    with pytest.raises(CannotStart, match=r"The broken does not start: FATAL:  no room\. More in .*broken\.out"):
        supervisor.await_ready(service)


def test_a_service_that_never_answers_is_not_awaited_for_ever(supervisor: Supervisor, tmp_path: Path) -> None:
    service = replace(shell("mute", "sleep 60", folder=tmp_path), patience=0.1)
    supervisor.launch(service)
    with pytest.raises(CannotStart, match="The mute does not answer"):
        supervisor.await_ready(service)


def test_a_service_that_ends_again_and_again_stops_everything(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervision, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(service_decisions, "PAUSES", (0.0, 0.0))
    supervisor.launch(shell("hopeless", "exit 3", folder=tmp_path))
    with pytest.raises(CannotStart, match=r"The hopeless ended \(exit code 3\) again and again, so everything stops"):
        supervisor.watch()
    assert capsys.readouterr().out.count("The hopeless ended (exit code 3); starting it again.") == 2


def test_those_that_keep_data_end_after_those_that_use_it(supervisor: Supervisor, tmp_path: Path) -> None:
    for name, keeps_data in (("first", True), ("second", False)):
        service = shell(name, waiting(name), folder=tmp_path, keeps_data=keeps_data)
        supervisor.launch(service)
        supervisor.await_ready(service)
    supervisor.stop()
    assert (tmp_path / "ended").read_text().split() == ["second", "first"]


def test_one_that_will_not_end_is_killed_with_its_children(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "GRACE_OF_WORK", 0.2)
    script = "trap '' TERM; (while :; do touch breath; sleep 0.02; done) & touch stubborn; wait"
    service = shell("stubborn", script, folder=tmp_path)
    supervisor.launch(service)
    supervisor.await_ready(service)
    assert wait_until((tmp_path / "breath").exists, seconds=5)
    supervisor.stop()
    (tmp_path / "breath").unlink()
    time.sleep(0.1)
    assert not (tmp_path / "breath").exists()


def test_too_much_output_is_dropped(supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(supervision, "OUTPUT_BYTES", 1000)
    service = shell("chatty", "while :; do echo words words words; sleep 0.001; done", folder=tmp_path)
    supervisor.launch(service)
    sizes = _sizes_while_watching(supervisor, supervisor.output_of(service))
    assert max(sizes) < 100_000
    assert sorted(sizes) != sizes


def _sizes_while_watching(supervisor: Supervisor, output: Path) -> list[int]:
    """Look at the size whenever the supervisor looks, then interrupt it."""
    sizes: list[int] = []

    def look(_number: int, _frame: object) -> None:
        sizes.append(output.stat().st_size)
        if len(sizes) > 30:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        supervisor.watch()
    except KeyboardInterrupt:
        return sizes
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_interrupts_and_the_next_ones_do_not(
    interruption: Interruption, number: signal.Signals
) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    signal.raise_signal(number)


def test_an_interruption_waits_while_it_is_held(interruption: Interruption) -> None:
    reached: list[str] = []

    def hold() -> None:
        with interruption.held():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert reached


def test_a_terminal_that_was_closed_does_not_keep_anything_from_ending(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = shell("lasting", waiting("lasting"), folder=tmp_path)
    supervisor.launch(service)
    supervisor.await_ready(service)
    monkeypatch.setattr("sys.stdout", ClosedTerminal())
    supervisor.stop()
    assert (tmp_path / "ended").exists()


@pytest.mark.usefixtures("handlers")
def test_a_start_under_nohup_is_not_interrupted_by_the_end_of_the_session() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    Interruption()
    signal.raise_signal(signal.SIGHUP)


def test_pauses_grow_until_there_is_no_point() -> None:
    deaths: list[float] = []
    pauses = []
    for now in range(len(PAUSES) + 1):
        deaths.append(now)
        pauses.append(pause_before_start(deaths, now=now))
    assert pauses == [*PAUSES, None]


def test_deaths_of_long_ago_are_forgiven() -> None:
    assert pause_before_start([0.0] * 9 + [WITHIN + 1], now=WITHIN + 1) == PAUSES[0]


@pytest.mark.parametrize(
    ("code", "words"), [(1, "exit code 1"), (-9, "killed by SIGKILL"), (-99, "killed by signal 99")]
)
def test_an_end_is_told_in_words(code: int, words: str) -> None:
    assert how_it_ended(code) == words
