"""Questions to the switch from somebody who gets no processor for a while."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.lab.on_hosts import MakeLab

from fabriscope.lab import switch_socket
from fabriscope.lab.presets import PRESETS


@contextmanager
def impatient(path: Path, closes: int) -> Iterator[list[bytes]]:
    """Serve a socket that closes its first connections at once, as a switch does whose patience is over."""
    asked: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(path))
        door.listen()

        def serve() -> None:
            for number in range(closes + 1):
                guest, _ = door.accept()
                with guest:
                    if number == closes:
                        asked.append(guest.recv(100))
                        guest.sendall(b'{"ports":[]}\n')

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield asked
        thread.join(10)


def test_a_closed_door_is_knocked_at_again(tmp_path: Path) -> None:
    with impatient(tmp_path / "sock", 3) as asked:
        assert switch_socket.ask(tmp_path / "sock", "counters", 10) == b'{"ports":[]}\n'
    assert asked == [b"counters\n"]


def test_a_switch_that_never_answers_is_told(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(tmp_path / "sock"))
        door.listen()
        with pytest.raises(OSError, match="timed out"):
            switch_socket.ask(tmp_path / "sock", "counters", 0.2)
    with pytest.raises(FileNotFoundError):
        switch_socket.ask(tmp_path / "none", "counters", 0.2)


def test_the_switch_is_well_after_somebody_who_said_nothing(make_lab: MakeLab) -> None:
    built = make_lab(eth=PRESETS["gige"])
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(built.state.folder / "_switch.sock"))
        time.sleep(0.3)  # longer than its patience
        assert len(built.counters()["ports"]) == 2
    assert built.broken_parts() == {}
