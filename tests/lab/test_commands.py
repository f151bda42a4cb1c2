"""`fabriscope lab` as a person uses it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.lab.on_hosts import COMMAND_TIMEOUT_S, exchange

from fabriscope import lab
from fabriscope.cli.lab import COMMAND
from fabriscope.lab import state
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import HostError, LabError
from fabriscope.model.lab import LabSpec


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Labs of this test are recorded apart: `--all` means them, and nobody else's."""
    root = tmp_path / "labs"
    monkeypatch.setattr(state, "state_root", lambda: root)
    yield root
    for record in lab.recorded():
        record.remove()


def run(*words: str) -> Result:
    return CliRunner().invoke(COMMAND, words)


def said(*words: str) -> str:
    result = run(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def refusal(*words: str) -> str:
    """Return the sentence of a refusal: of a lab that cannot be, or of a command line that is wrong."""
    result = run(*words)
    if result.exit_code == 2:
        return result.output.partition("Error: ")[2].strip()
    assert isinstance(result.exception, LabError | HostError), (result.output, result.exception)
    return str(result.exception)


def test_up_status_down(own_state: Path) -> None:
    assert "no lab stands" in said("status")
    assert "no lab stands" in said("down")
    assert "one stands: n[1-2],head on fast, plain" in said(
        "up",
        "--name",
        "one",
        "--hosts",
        "n[1-2],head",
        "--fabric",
        "fast=gige,delay=50us,mtu=9000",
        "--fabric",
        "plain=local",
    )
    built = lab.find()
    assert [host.name for host in built.hosts] == ["head", "n1", "n2"]
    exchange(built, "n1", "head", "eth0", count=3)
    text = said("status", "--counters")
    assert "fast (packet): 1 Gb/s, delay 50 µs, buffer 512 KiB, MTU 9000 B" in text
    assert "plain (bridge): unshaped" in text
    assert "fast n1: 3 frames" in text
    (one,) = json.loads(said("status", "--json", "--counters"))["labs"]
    assert one["hosts"]["head"]["eth1"] == "10.11.0.1"
    assert one["fabrics"]["fast"]["switch"]["delay_ns"] == 50_000
    assert next(port["down"]["frames"] for port in one["ports"] if port["host"] == "head") == 3
    assert "removed one" in said("down")
    assert list(own_state.iterdir()) == []


def test_several_labs_are_told_apart(own_state: Path) -> None:
    for name in ("one", "two"):
        said("up", "--name", name, "--hosts", "a", "--fabric", "local")
    assert "there is a lab 'one' already" in refusal("up", "--name", "one")
    assert refusal("down") == "2 labs stand, and none was named -- standing: one, two"
    assert refusal("down", "three") == "there is no lab 'three' -- standing: one, two"
    assert run("down", "one", "--all").exit_code == 2
    assert said("down", "two") == "removed two\n"
    owned = lab.up(LabSpec(("a",), {}), name="owned")
    assert "it belongs to process" in refusal("down", "owned")
    assert said("down", "--all") == "removed one\n"
    assert f"of process {os.getpid()}" in said("status")
    owned.down()
    assert said("down", "--all") == "no lab stands\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--hosts", "n[1-"), "'n[1-' is no host list: "),
        (("--hosts", ""), "the host list is empty -- write it like node[1-4],head"),
        (("--hosts", "n[1-999]"), "1 to 256 hosts, not 999"),
        (("--hosts", "a_b"), "'a_b' cannot be a host's name"),
        (("--name", "../x"), "'../x' cannot be a lab's name"),
        (("--fabric", "infiniband"), "there is no preset 'infiniband' -- presets: ethernet-100, gige"),
        (("--fabric", "x=gige", "--fabric", "x=local"), "two fabrics have the name 'x'"),
        (("--fabric", "gige,rate=fast"), "--fabric gige,rate=fast: rate: 'fast' is not a rate"),
        (("--fabric", "gige,colour=red"), "there is no key 'colour' here -- keys: rate, delay"),
        (("--fabric", "gige,mtu=70000"), "MTU of 70000 bytes is outside"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(own_state: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refusal("up", *words)
    assert list(lab.recorded()) == []


def test_presets_are_listed() -> None:
    assert "80 µs or 15 frames" in said("presets")
    assert json.loads(said("presets", "--json"))["gige"]["rate_bits_per_s"] == 10**9


def test_exec_is_the_command(tmp_path: Path) -> None:
    built = lab.up(LabSpec(("a", "b"), {"eth": PRESETS["gige"]}), name=f"exec-{secrets.token_hex(4)}")

    def execute(*words: str, text: str = "") -> tuple[int, str, str]:
        argv = [sys.executable, "-m", "fabriscope", "lab", "exec", "--lab", built.name, *words]
        done = subprocess.run(
            argv, input=text, capture_output=True, text=True, cwd=tmp_path, timeout=COMMAND_TIMEOUT_S, check=False
        )
        return done.returncode, done.stdout, done.stderr

    try:
        assert execute("b", "--", "hostname") == (0, "b\n", "")
        assert execute("b", "pwd")[1] == f"{tmp_path}\n"
        assert execute("a", "--", "sh", "-c", "echo out; echo err >&2; exit 7") == (7, "out\n", "err\n")
        assert execute("a", "echo", "--help", "--", "x")[1] == "--help -- x\n"
        assert execute("a", "cat", text="told")[1] == "told"
        assert execute("a", "sh", "-c", "kill -9 $$")[0] == -9
        assert execute("a", text="hostname\nexit 3\n")[:2] == (3, "a\n")
        status, _, message = execute("c", "true")
        assert (status, message) == (5, f"fabriscope: {built.name}: the lab has no host 'c' -- hosts: a, b\n")
    finally:
        built.down()
    status, _, message = execute("a", "true")
    assert status == 5
    assert message.startswith(f"fabriscope: there is no lab '{built.name}'")
    assert "Traceback" not in message
