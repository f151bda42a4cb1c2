"""How fast hosts copy memory: asked of the engine, kept with the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabriscope import engine_binary
from fabriscope.model import native
from fabriscope.model.command import Command, Outcome
from fabriscope.model.host import COPY_RATE, Host
from fabriscope.running import copy_rates
from fabriscope.running.real_site import RealSite


def said(stdout: bytes, exit_status: int = 0, stderr: bytes = b"") -> Outcome:
    return Outcome(Command(("engine", "--copy-rate"), "a"), exit_status, stdout, stderr, 0, 0)


def test_hosts_of_one_machine_share_one_measurement() -> None:
    hosts = {name: Host(name, ("nsenter",), kind=kind) for name, kind in (("n1", "namespace"), ("g1", "guest"))}
    found = copy_rates.measured(RealSite(hosts, {}, {}, str(engine_binary.find_engine()), {}, {}))
    assert set(found) == {"n1", "g1"}
    assert found["n1"] is found["g1"]
    assert found["n1"].name == COPY_RATE
    assert isinstance(found["n1"].value, float)
    assert found["n1"].value > 0


def test_what_the_engine_says_is_read() -> None:
    line = json.dumps({"type": "copy_rate", "bytes_per_s": 2.5e10, "buffer_bytes": 4096}).encode()
    assert copy_rates.fact_of(said(line)).value == 2.5e10


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (
            said(b"", 2, b"fabriscope-engine: there is no option '--copy-rate'"),
            "exit status 2: fabriscope-engine: there",
        ),
        (said(b"", 1), "exit status 1: it said nothing"),
        (said(b"hello"), "nothing readable: it is no JSON"),
        (said(b"{}"), "nothing readable: it has no 'bytes_per_s'"),
    ],
)
def test_an_engine_that_cannot_tell_leaves_it_unknown(outcome: Outcome, why: str) -> None:
    fact = copy_rates.fact_of(outcome)
    assert fact.value is None
    assert why in (fact.unknown_because or "")


def test_an_engine_that_cannot_be_started_leaves_it_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / engine_binary.ENGINE_NAME
    broken.write_text("not a program")
    broken.chmod(0o755)
    monkeypatch.setenv(native.BIN_DIR_VARIABLE, str(tmp_path))
    found = copy_rates.measured(RealSite({"here": Host("here")}, {}, {}, str(broken), {}, {}))
    assert found["here"].value is None
    assert found["here"].unknown_because
