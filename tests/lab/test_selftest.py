"""The self-test: its model by hand, its verdicts, and that it measures; never what a busy machine makes of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from fabriscope.cli.lab import COMMAND
from fabriscope.lab import wire_model
from fabriscope.lab.lab import up
from fabriscope.lab.presets import PRESETS
from fabriscope.lab.selftest import LONE_PAYLOADS_BYTES, MESSAGE_SIZES_BYTES, Check, SelfTest, selftest
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec, SwitchSpec

GIGABIT = SwitchSpec("x", 1_000_000_000, 5_000)
FULL_NS = 12_304  # 1514 + 24 bytes at a gigabit a second
SHORT_NS = 672  # 60 + 24


def test_messages_take_their_wire_times_and_one_more() -> None:
    assert wire_model.message_ns(GIGABIT, 1) == 2 * SHORT_NS + 5_000
    assert wire_model.message_ns(GIGABIT, 1472) == 2 * FULL_NS + 5_000
    assert wire_model.message_ns(GIGABIT, 10 * 1472) == 11 * FULL_NS + 5_000
    # The short last frame waits on the downlink for the full one before it.
    assert wire_model.message_ns(GIGABIT, 1473) == 2 * FULL_NS + SHORT_NS + 5_000
    assert wire_model.message_ns(SwitchSpec("x"), 1 << 20) == 0


def test_waiting_for_company() -> None:
    card = SwitchSpec("x", 1_000_000_000, 0, 0, 80_000, 3)
    assert wire_model.hand_overs_ns(card, [18]) == [2 * SHORT_NS + 80_000]
    assert wire_model.hand_overs_ns(card, [1472] * 4) == [4 * FULL_NS] * 3 + [5 * FULL_NS + 80_000]
    patient = SwitchSpec("x", 1_000_000_000, 0, 0, 30_000, 100)
    assert wire_model.hand_overs_ns(patient, [1472] * 3) == [2 * FULL_NS + 30_000] * 3


def test_a_message_is_cut_into_datagrams() -> None:
    assert wire_model.payloads(1) == [1]
    assert wire_model.payloads(2944) == [1472, 1472]
    assert wire_model.payloads(3000) == [1472, 1472, 56]
    assert wire_model.buffered_frames(PRESETS["gige"], 1472) == (512 << 10) // 1514


@pytest.mark.parametrize(
    ("got", "disturbances", "verdict"),
    [(102.0, (), "passed"), (103.0, (), "failed"), (103.0, ("busy",), "undecided"), (None, (), "failed"),
     (98.0, ("busy",), "passed")],
)  # fmt: skip
def test_verdicts(got: float | None, disturbances: tuple[str, ...], verdict: str) -> None:
    check = Check("f", "rate", "bits_per_s", 100.0, got, 2.0, 1)
    assert SelfTest((check,), 0.0, 0.0, disturbances, (0.0, 0.0), 1.0).verdict == verdict


def test_only_fabrics_with_a_rate_are_measured() -> None:
    with pytest.raises(LabError, match="fabric local: it has no rate"):
        selftest({"local": PRESETS["local"]})
    with pytest.raises(LabError, match="an MTU of 1500"):
        selftest({"small": SwitchSpec("gige", 10**9, mtu_bytes=1000)})


ASKED = SwitchSpec("x", 50_000_000, 2_000_000)
"""Slow enough that a busy machine's milliseconds are little beside it: a frame takes 0.25 ms, the delay 2 ms."""
CLOSE = 1.4
"""No sample of a lab that is off by a factor of two comes so near, and the best of some of any other does."""
TRIES = 4


def distances(result: SelfTest) -> dict[str, float]:
    """Return, by quantity, the shortest time of any sample over what wires and delay alone take."""
    return {
        check.quantity: check.shortest_ns / check.least_possible_ns
        for check in result.checks
        if check.shortest_ns is not None and check.least_possible_ns is not None
    }


def measured(monkeypatch: pytest.MonkeyPatch, built: SwitchSpec) -> SelfTest:
    """Return what the self-test makes of a lab that is built otherwise than it was asked for."""
    monkeypatch.setattr(
        "fabriscope.lab.selftest.up", lambda spec: up(LabSpec(spec.hosts, {**spec.fabrics, "slow": built}))
    )
    monkeypatch.setattr("fabriscope.lab.selftest.MESSAGE_SIZES_BYTES", (1, 1472))
    return selftest({"slow": ASKED})


def test_a_lab_is_as_fast_as_asked_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(TRIES):
        result = measured(monkeypatch, ASKED)
        assert not [check for check in result.checks if check.is_impossible]
        far = distances(result)
        assert len(far) == 1 + len(LONE_PAYLOADS_BYTES)
        if max(far.values()) < CLOSE:
            return
    pytest.fail(f"the best samples of the last of {TRIES} tries took {far} of what they should")


@pytest.mark.parametrize(
    ("built", "quantity"),
    [
        (replace(ASKED, rate_bits_per_s=2 * ASKED.rate_bits_per_s), "rate"),
        (replace(ASKED, delay_ns=ASKED.delay_ns // 2), "lone frame of 1514 B"),
    ],
    ids=["rate", "delay"],
)
def test_a_lab_too_fast_fails_whatever_the_load(
    monkeypatch: pytest.MonkeyPatch, built: SwitchSpec, quantity: str
) -> None:
    result = measured(monkeypatch, built)
    assert result.verdict == "failed"
    assert quantity in [check.quantity for check in result.checks if check.is_impossible]


@pytest.mark.parametrize(
    ("built", "quantity"),
    [
        (replace(ASKED, rate_bits_per_s=ASKED.rate_bits_per_s // 2), "rate"),
        (replace(ASKED, delay_ns=2 * ASKED.delay_ns), "lone frame of 1514 B"),
    ],
    ids=["rate", "delay"],
)
def test_a_lab_too_slow_is_never_close(monkeypatch: pytest.MonkeyPatch, built: SwitchSpec, quantity: str) -> None:
    assert distances(measured(monkeypatch, built))[quantity] > CLOSE


def test_it_measures() -> None:
    result = CliRunner().invoke(COMMAND, ("selftest", "--fabric", "gige", "--json"))
    assert result.exit_code in (0, 1, 10), (result.output, result.exception)
    found = json.loads(result.output)
    assert {"passed": 0, "failed": 1, "undecided": 10}[found["verdict"]] == result.exit_code
    checks = {check["quantity"]: check for check in found["checks"]}
    assert {"rate", "delay", "buffer"} < checks.keys()
    assert len([name for name in checks if name.startswith("message")]) == len(MESSAGE_SIZES_BYTES)
    # Two bursts that missed each other say nothing of the buffer between them.
    assert [name for name, check in checks.items() if check["got"] is None] in ([], ["buffer"])
