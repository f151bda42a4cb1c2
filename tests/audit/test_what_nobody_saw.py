"""What could not be read is in every form of an audit, and is never a pass; bad input gets one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.audit import auditing
from fabriscope.cli import _audit_text
from fabriscope.cli.audit import COMMAND
from fabriscope.model.audit import Unseen, Verdict
from fabriscope.model.errors import FabriscopeError, HostError

CHECKS = auditing.checks()
EOS = """hostname leaf1
!
interface Ethernet1
   mtu 9214
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
!
end
"""
IDLE = "ports-crc"
"""A check of ports of switches: of a host alone it has nothing to look at."""
UNREAD = ["host node9: it cannot be reached", "device leaf1: x: no known command's output"]


def audit(*words: str) -> Result:
    return CliRunner().invoke(COMMAND, words, catch_exceptions=False)


def test_hosts_that_could_not_be_asked_are_skipped_cases_in_junit() -> None:
    text = _audit_text.shown("junit", Verdict(passed=("memlock",)), CHECKS, [], UNREAD)
    counts = dict(re.findall(r'(tests|failures|skipped)="(\d+)"', text))
    assert counts == {"tests": "2", "failures": "0", "skipped": "1"}
    assert '<skipped message="host node9: it cannot be reached; device leaf1' in text


def test_sarif_tells_them_as_notifications_with_what_its_schema_wants() -> None:
    (run,) = json.loads(_audit_text.shown("sarif", Verdict(passed=("memlock",)), CHECKS, [], UNREAD))["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [one["message"]["text"] for one in invocation["toolExecutionNotifications"]] == UNREAD
    assert run["tool"]["driver"]["name"]


def test_json_tells_them() -> None:
    assert json.loads(_audit_text.shown("json", Verdict(), CHECKS, [], UNREAD))["unread"][:2] == UNREAD


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif"])
def test_a_check_that_had_nothing_to_look_at_is_no_pass(form: str) -> None:
    done = audit("--hosts", "localhost", "--only", IDLE, "--format", form)
    assert done.exit_code == 4
    assert "nothing was looked at" in done.output
    assert "nothing is wrong" not in done.output


@pytest.mark.parametrize("option", ["--only", "--skip"])
def test_a_check_that_there_is_none_of_is_told_with_the_one_that_was_meant(option: str) -> None:
    done = audit("--hosts", "localhost", option, "memlok")
    assert done.exit_code == 2
    assert "there is no check 'memlok' -- did you mean 'memlock'? `fabriscope audit --list` names all" in done.output


def test_a_file_in_place_of_the_folder_of_devices_is_told(tmp_path: Path) -> None:
    (tmp_path / "leaf1.txt").write_text(EOS)
    with pytest.raises((HostError, FabriscopeError), match="it is a file, and no folder of saved outputs"):
        audit("--hosts", "localhost", "--devices", str(tmp_path / "leaf1.txt"))


def test_ports_that_lack_the_same_are_one_line() -> None:
    """A switch whose running configuration tells nothing of PFC filled the screen, a line for each of its ports."""
    why = "no saved output of leaf1 tells pfc_priorities of Ethernet1/"
    hidden = [Unseen("ecn-wred-drops", ("leaf1",), f"{why}{port}") for port in range(17, 49)]
    text = _audit_text.shown("text", Verdict(unseen=tuple(hidden)), CHECKS, [])
    ports = "32 ports: Ethernet1/17, Ethernet1/18, Ethernet1/19 and 29 others"
    assert f"  no saved output of leaf1 tells pfc_priorities of {ports} (leaf1): ecn-wred-drops\n" in text
    assert "no finding; 0 checks passed, 1 could not be made everywhere" in text
