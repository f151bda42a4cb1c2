"""Forward error correction: said where it is asked for, once, with what undoes it; never without being asked."""

from __future__ import annotations

import json

import pytest
from tests.configure.appliers import facts, ready
from tests.devices.test_configurations import EOS, NVUE, NXOS, ONYX, SONIC

from fabriscope.configure import linux
from fabriscope.configure.step import Saved, Wanted
from fabriscope.model.host import Fact, HostFacts

TEXTS: dict[str, str] = {"eos": EOS, "nxos": NXOS, "onyx": ONYX, "sonic": json.dumps(SONIC), "cumulus": NVUE}
LINES = {
    "eos": (
        "error-correction encoding reed-solomon",
        "error-correction encoding fire-code",
        "no error-correction encoding",
    ),
    "nxos": ("fec rs-fec", "fec fc-fec", "fec off"),
    "onyx": ("fec-override rs-fec", "fec-override fc-fec", "fec-override no-fec"),
    "sonic": ('"rs"', '"fc"', '"none"'),
    "cumulus": ("link fec rs", "link fec baser", "link fec off"),
}


def of_fec(system: str, text: str | None, fec: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    found, _ = ready(system, "leaf1", text, Wanted(fec=fec))
    return [(step.do, step.undo) for step in found.steps if step.what.startswith("FEC of ")]


@pytest.mark.parametrize("system", TEXTS)
def test_nothing_is_said_where_nothing_is_asked(system: str) -> None:
    assert of_fec(system, TEXTS[system], "") == []
    assert of_fec(system, None, "") == []


@pytest.mark.parametrize("system", TEXTS)
@pytest.mark.parametrize(("at", "fec"), list(enumerate(("rs", "fc", "off"))))
def test_it_is_said_in_the_words_of_the_system(system: str, at: int, fec: str) -> None:
    steps = of_fec(system, None, fec)
    assert len(steps) == 1
    assert LINES[system][at] in steps[0][0][0]
    assert steps[0][1]


@pytest.mark.parametrize(
    ("system", "before", "after"),
    [
        ("eos", "   error-correction encoding reed-solomon\n", "   error-correction encoding fire-code\n"),
        ("nxos", "interface Ethernet1/1\n", "interface Ethernet1/1\n  fec fc-fec\n"),
    ],
)
def test_what_stands_there_is_said_again_by_undo(system: str, before: str, after: str) -> None:
    assert before in TEXTS[system]
    text = TEXTS[system].replace(before, after, 1)
    line = after.splitlines()[-1].strip()
    undone = [undo for _, undo in of_fec(system, text, "rs")]
    assert line in [undo[-1] for undo in undone]
    assert len(of_fec(system, text, "fc")) == len(undone) - 1, "that port has it"
    assert facts(text).text("Ethernet1/1", "fec") == "baser"


def test_eos_has_one_encoding_where_two_stood() -> None:
    both = "   error-correction encoding fire-code\n   error-correction encoding reed-solomon\n"
    text = EOS.replace("   error-correction encoding reed-solomon\n", both, 1)
    assert facts(text).text("Ethernet1/1", "fec") == "auto"
    undo = ("default error-correction encoding", *(line.strip() for line in both.splitlines()))
    assert of_fec("eos", text, "rs")[0] == (
        ("no error-correction encoding", "error-correction encoding reed-solomon"),
        undo,
    )
    assert of_fec("eos", text, "off")[0] == (("no error-correction encoding",), undo)
    off = EOS.replace("error-correction encoding reed-solomon", "no error-correction encoding", 1)
    assert of_fec("eos", off, "rs")[0][0] == ("error-correction encoding reed-solomon",)
    assert len(of_fec("eos", off, "off")) == len(of_fec("eos", off, "rs")) - 1


def test_onyx_changes_a_port_that_is_up() -> None:
    assert all(do[0].endswith(" fec-override rs-fec force") for do, _ in of_fec("onyx", None, "rs"))


def test_sonic_changes_the_row_of_the_port() -> None:
    text = json.dumps(
        {"PORT": {"Ethernet0": {"mtu": "9216", "fec": "fc", "admin_status": "up"}}, "DEVICE_METADATA": {}}
    )
    ((do, undo),) = of_fec("sonic", text, "rs")
    assert json.loads(do[0]) == {"op": "replace", "path": "/PORT/Ethernet0/fec", "value": "rs"}
    assert json.loads(undo[0]) == {"op": "replace", "path": "/PORT/Ethernet0/fec", "value": "fc"}
    assert of_fec("sonic", text, "fc") == []


@pytest.mark.parametrize(("now", "steps"), [("auto", 1), ("baser", 1), ("rs", 0)])
def test_a_host(now: str, steps: int) -> None:
    known = [Fact("interface.eth0.mtu_bytes", 9000), Fact("link.eth0.fec_configured", now)]
    saved = Saved("node1", None, HostFacts(tuple(known)), ("eth0",))
    found = [one for one in linux.DIALECT.ready(Wanted(fec="rs"), saved).steps if one.what == "FEC of eth0"]
    assert [(one.do, one.undo) for one in found] == [
        (("ethtool --set-fec eth0 encoding rs",), (f"ethtool --set-fec eth0 encoding {now}",))
    ] * steps


def test_a_host_whose_fec_nobody_told() -> None:
    saved = Saved("node1", None, HostFacts((Fact("interface.eth0.mtu_bytes", 9000),)), ("eth0",))
    found = linux.DIALECT.ready(Wanted(fec="rs"), saved)
    assert not [one for one in found.steps if "FEC" in one.what]
    assert any("fec_configured is not known" in one for one in found.doubts)
