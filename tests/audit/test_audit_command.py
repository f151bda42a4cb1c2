"""The command: its forms, its statuses, and findings that somebody accepts."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.audit.made_up import scene

from fabriscope.audit import accepted, auditing
from fabriscope.audit.accepted import Accepted
from fabriscope.cli import _audit_text
from fabriscope.cli.audit import COMMAND
from fabriscope.model.audit import Verdict
from fabriscope.model.errors import FabriscopeError

TODAY = datetime.date(2026, 11, 25)
CHECKS = auditing.checks()


def wrong() -> Verdict:
    built = scene({"interface.eth0.mtu_bytes": 4200, "memory.swap_used_bytes": None}, {"pfc_watchdog": False})
    return auditing.audit(built)


def test_text_has_both_facts_their_commands_and_what_was_not_seen() -> None:
    text = _audit_text.shown("text", wrong(), CHECKS, ["a remark"])
    assert "node2 eth0  mtu_bytes  4200  ip -j link show dev eth0" in text
    assert "node0 eth0  mtu_bytes  9000  ip -j link show dev eth0" in text
    assert "leaf1 Ethernet2  pfc_watchdog  no  `show running-config` in leaf1.txt" in text
    assert "remedy  interface Ethernet2; priority-flow-control pause watchdog" in text
    assert "not readable (node2): swap-used" in text
    assert "a remark" in text
    assert "1 error, 1 warning" in text


def test_json_names_all() -> None:
    whole = json.loads(_audit_text.shown("json", wrong(), CHECKS, []))
    assert [one["check"] for one in whole["findings"]] == ["mtu-hosts-agree", "pfc-watchdog"]
    assert whole["unseen"] == [{"check": "swap-used", "hosts": ["node2"], "reason": "not readable"}]
    assert "governor" in whole["passed"]


def test_junit_counts_findings_as_failures_and_unseen_as_skipped() -> None:
    text = _audit_text.shown("junit", wrong(), CHECKS, [])
    counts = dict(re.findall(r'(tests|failures|skipped|errors)="(\d+)"', text))
    assert counts == {"tests": str(len(wrong().passed) + 3), "failures": "2", "skipped": "1", "errors": "0"}
    assert (text.count("<testcase"), text.count("<failure"), text.count("<skipped")) == (len(wrong().passed) + 3, 2, 1)


def test_junit_has_what_is_accepted_among_the_skipped() -> None:
    """A check whose findings are all accepted was no case at all."""
    verdict, _ = accepted.applied(wrong(), [Accepted("pfc-watchdog", "being replaced", TODAY)], TODAY)
    text = _audit_text.shown("junit", verdict, CHECKS, [])
    assert "accepted: PFC without a watchdog (leaf1): being replaced" in text
    counts = dict(re.findall(r'(tests|failures|skipped|errors)="(\d+)"', text))
    assert counts == {"tests": str(len(verdict.passed) + 3), "failures": "1", "skipped": "2", "errors": "0"}


def test_sarif_has_a_rule_for_each_check_that_found_something() -> None:
    (run,) = json.loads(_audit_text.shown("sarif", wrong(), CHECKS, []))["runs"]
    assert [one["id"] for one in run["tool"]["driver"]["rules"]] == ["mtu-hosts-agree", "pfc-watchdog"]
    assert [one["level"] for one in run["results"]] == ["error", "warning"]


def test_what_is_accepted_does_not_count_until_its_day() -> None:
    wanted = [Accepted("mtu-hosts-agree", "being replaced", TODAY, ("node2",)), Accepted("governor", "a test", TODAY)]
    verdict, remarks = accepted.applied(wrong(), wanted, TODAY)
    assert [one.check for one in verdict.counting] == ["pfc-watchdog"]
    assert remarks == ["governor: accepted (a test), and not found"]
    verdict, remarks = accepted.applied(wrong(), wanted[:1], TODAY + datetime.timedelta(days=1))
    assert len(verdict.counting) == 2
    assert "that is past" in remarks[0]


def test_what_was_not_looked_at_is_not_said_not_to_be_found() -> None:
    wanted = [Accepted("swap-used", "small", TODAY), Accepted("pfc-watchdog", "a test", TODAY)]
    assert accepted.applied(wrong(), wanted[:1], TODAY)[1] == []  # unseen on one host
    chosen = auditing.audit(scene(), only=["governor"])
    assert accepted.applied(chosen, wanted, TODAY)[1] == []


def test_a_file_of_accepted_findings_is_refused_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("- {check: governor, reason: x, until: 2026-12-31}\n\n- check: governor\n  until: 2026-12-31\n")
    done = CliRunner().invoke(COMMAND, ["--accept", str(path)])
    assert isinstance(done.exception, FabriscopeError)
    assert done.exception.where == f"{path}: line 3"
    assert "reason: it is being replaced" in (done.exception.fix or "")
    path.write_text("- [\n")
    done = CliRunner().invoke(COMMAND, ["--accept", str(path)])
    assert isinstance(done.exception, FabriscopeError)
    assert done.exception.where == f"{path}: line 2"


def test_options_that_leave_no_check_are_refused() -> None:
    done = CliRunner().invoke(COMMAND, ["--only", "governor", "--skip", "governor"])
    assert done.exit_code == 2
    assert "no check is left" in done.stderr


def test_some_hosts_of_a_finding_may_be_accepted() -> None:
    built = scene({"kernel.clocksource": "hpet"}, odd=0)
    both = type(built)({"node0": built.hosts["node0"], "node1": built.hosts["node0"]})
    whole = auditing.audit(both, only=["clocksource"])
    verdict, _ = accepted.applied(whole, [Accepted("clocksource", "old", TODAY, ("node1",))], TODAY)
    assert [(one.hosts, bool(one.accepted_because)) for one in verdict.findings] == [
        (("node1",), True),
        (("node0",), False),
    ]


@pytest.mark.parametrize(
    "value",
    [{}, [1], [{"check": "governor"}], [{"check": "governor", "reason": " ", "until": "2026-12-31"}],
     [{"check": "governor", "reason": "x", "until": "soon"}],
     [{"check": "governor", "reason": "x", "until": datetime.datetime(2026, 12, 31, 10, tzinfo=datetime.UTC)}],
     [{"check": "no-such", "reason": "x", "until": "2026-12-31"}],
     [{"check": "governor", "reason": "x", "until": "2026-12-31", "x": 1}],
     [{"check": "governor", "reason": "x", "until": "2026-12-31", "hosts": "[["}]],
)  # fmt: skip
def test_a_file_that_accepts_nothing_of_sense_is_refused(value: object) -> None:
    with pytest.raises(FabriscopeError, match=r"^accepted\.yaml: "):
        accepted.of(value, "accepted.yaml", auditing.checks())


def test_devices_that_nobody_understands_are_no_clean_fabric(tmp_path: Path) -> None:
    (tmp_path / "le[af").mkdir()
    (tmp_path / "le[af" / "a.txt").write_text("no output of any switch\n")
    for form in ("text", "junit"):
        done = CliRunner().invoke(
            COMMAND, ["--devices", str(tmp_path), "--only", "map-count", "--format", form], catch_exceptions=False
        )
        assert done.exit_code == 4, done.output
        assert "device le[af: a.txt: no known command's output" in done.stderr


def test_this_machine_is_audited(tmp_path: Path) -> None:
    done = CliRunner().invoke(COMMAND, ["--format", "json"])
    assert done.exit_code in (0, 3, 4), done.output
    whole = json.loads(done.stdout)
    assert bool(whole["findings"]) == (done.exit_code == 3)
    chosen = CliRunner().invoke(COMMAND, ["--only", "map-count", "--format", "json"])
    assert not json.loads(chosen.stdout)["idle"]


def test_switches_alone_are_audited_too(tmp_path: Path) -> None:
    (tmp_path / "leaf1.json").write_text(json.dumps({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "0,1,2,3"}}}))
    done = CliRunner().invoke(COMMAND, ["--only", "pfc-ports-all", "--devices", str(tmp_path)])
    assert done.exit_code == 3
    assert "PFC is on for 0,1,2,3: leaf1" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["--only", "no-such-check"], ["--accept", "/no/such/file"], ["--devices", "/no/such"]]
)
def test_bad_arguments_are_refused_in_a_sentence(arguments: list[str]) -> None:
    done = CliRunner().invoke(COMMAND, arguments)
    assert done.exit_code == 2 or isinstance(done.exception, FabriscopeError)


def test_the_checks_are_listed() -> None:
    done = CliRunner().invoke(COMMAND, ["--list"])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == len(CHECKS)
