"""Fabrics whose switches are running configurations: one line that is wrong is found, and nothing where all is well."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.audit import made_up_switches as made
from tests.audit.made_up import HOST, facts
from tests.audit.made_up_switches import Edit, field, line, of_onyx

from fabriscope import devices
from fabriscope.audit import auditing
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Verdict

SYSTEMS: dict[str, tuple[Callable[[Sequence[str]], str], str]] = {
    "eos": (made.eos, "Ethernet{}/1"), "nxos": (made.nxos, "Ethernet1/{}"), "onyx": (made.onyx, "Ethernet1/{}"),
    "sonic": (made.sonic, "Ethernet{}"), "cumulus": (made.cumulus, "swp{}"),
}  # fmt: skip
FAULTS: dict[str, tuple[str, Edit, set[str]]] = {
    "eos MTU": ("eos", line("mtu 9214", "mtu 1500"), {"mtu-switch-carries"}),
    "eos FEC": ("eos", line("reed-solomon", "fire-code"), {"fec-mismatch"}),
    "eos speed": ("eos", line("100gfull", "40gfull"), {"speed-ends"}),
    "eos trust": ("eos", line("trust dscp", "trust cos"), {"trust-switch"}),
    "eos ECN": ("eos", line("150 kbytes", "1 kbytes"), {"ecn-thresholds-differ"}),
    "eos off": ("eos", line("end\n", "priority-flow-control all off\nend\n", is_everywhere=True), {"pfc-global-off"}),
    "eos priority": ("eos", line("priority 3 no-drop", "priority 5 no-drop"),
                     {"pfc-ends-differ", "dscp-ends-differ", "ecn-switch-off"}),
    "nxos class": ("nxos", line("mtu 9216\n    pause", "mtu 2240\n    pause", is_everywhere=True), {"mtu-class"}),
    "nxos DSCP": ("nxos", line("match dscp 26", "match dscp 24", is_everywhere=True), {"dscp-ends-differ"}),
    "nxos CoS": ("nxos", line("match dscp 26", "match cos 3", is_everywhere=True), {"trust-switch"}),
    "nxos WRED": ("nxos", line(" weight 0 ecn", " weight 0", is_everywhere=True),
                  {"ecn-wred-drops", "ecn-switch-off"}),
    "nxos name": ("nxos", line("qos input IN", "qos input INN"), {"policy-dangling"}),
    "onyx trust": ("onyx", of_onyx("qos trust L3", "qos trust L2"), {"trust-switch"}),
    "onyx ECN": ("onyx", of_onyx(made._ONYX[5], ""), {"ecn-switch-off"}),
    "onyx PFC": ("onyx", of_onyx("dcb priority-flow-control mode on force", ""), {"pfc-ends-differ"}),
    "onyx FEC": ("onyx", of_onyx("fec-override rs-fec force", "fec-override fc-fec force"), {"fec-mismatch"}),
    "onyx watchdog": ("onyx", of_onyx("pfc-wd", ""), {"pfc-watchdog"}),
    "sonic buffer": ("sonic", field("BUFFER_PG", "PORT|3", "", None), {"sonic-pg-missing"}),
    "sonic map": ("sonic", field("PORT_QOS_MAP", "PORT", "dscp_to_tc_map", "AZURE"), {"dscp-ends-differ"}),
    "sonic WRED": ("sonic", field("WRED_PROFILE", "R", "ecn", "ecn_none"), {"ecn-wred-drops", "ecn-switch-off"}),
    "sonic watchdog": ("sonic", field("PFC_WD", "PORT", "", None), {"pfc-watchdog"}),
    "sonic MTU": ("sonic", field("PORT", "PORT", "mtu", "1500"), {"mtu-switch-carries"}),
    "cumulus MTU": ("cumulus", line("mtu: 9216", "mtu: 1500"), {"mtu-switch-carries"}),
    "cumulus FEC": ("cumulus", line("fec: rs", "fec: baser"), {"fec-mismatch"}),
    "cumulus none": ("cumulus", line("        qos:\n          pfc-watchdog:\n            state: enable\n", ""),
                     {"pfc-watchdog"}),
    "cumulus watchdog": ("cumulus", line("state: enable", "state: disable"), {"pfc-watchdog"}),
}  # fmt: skip


def audited(system: str, count: int, edit: Edit | None = None) -> Verdict:
    """Audit hosts on two switches; the last host's port, or its switch, has the fault."""
    make, name = SYSTEMS[system]
    ends = {f"node{at}": (f"leaf{at % 2 + 1}", name.format(at // 2 + 1)) for at in range(count)}
    hosts = {host: facts(HOST, {"lldp.eth0.system": leaf, "lldp.eth0.port": port})
             for host, (leaf, port) in ends.items()}  # fmt: skip
    switches = {}
    for leaf in ("leaf1", "leaf2"):
        text = make([port for of_leaf, port in ends.values() if of_leaf == leaf])
        wrong, port = ends[f"node{count - 1}"]
        text = edit(text, port) if edit is not None and leaf == wrong else text
        switches[leaf] = devices.of_texts(leaf, [("running", text)])
        assert switches[leaf].problems == ()
    return auditing.audit(Scene(hosts, switches))


@pytest.mark.parametrize("count", [2, 8, 64])
@pytest.mark.parametrize("system", SYSTEMS)
def test_nothing_is_found_and_nothing_unseen_where_all_is_well(system: str, count: int) -> None:
    verdict = audited(system, count)
    assert (verdict.findings, verdict.unseen) == ((), ())


@pytest.mark.parametrize("name", FAULTS)
def test_one_line_that_is_wrong_is_found(name: str) -> None:
    system, edit, checks = FAULTS[name]
    verdict = audited(system, 8, edit)
    assert {one.check for one in verdict.findings} == checks
    assert {host for one in verdict.findings for host in one.hosts} <= {"node1", "node3", "node5", "node7", "leaf2"}
