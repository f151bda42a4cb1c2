"""What is written for a host, run by a made-up shell on its facts, and in a lab by a real one."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli.configure import configure
from fabriscope.configure import linux
from fabriscope.configure.step import Saved, Wanted
from fabriscope.hosts import facts
from fabriscope.model.host import Fact, HostFacts
from fabriscope.model.priorities import listed, paired, pairs, priorities

Value = str | int | bool | None
SET: dict[str, Value] = {
    "interface.eth0.mtu_bytes": 1500,
    "interface.eth0.rx_pause": True,
    "interface.eth0.tx_pause": False,
    "dcb.eth0.trust": "pcp",
    "dcb.eth0.pfc_priorities": "4",
    "dcb.eth0.dscp_to_priority": "26:5 48:6",
    "dcb.eth0.priority_to_tc": "0:0 1:0 2:0 3:0 4:0 5:0 6:6 7:0",
    "dcb.eth0.tc_algorithms": "strict strict strict strict strict strict strict strict",
    "dcb.eth0.tc_shares_percent": "0 0 0 0 0 0 0 0",
    "dcb.eth0.dcbx": "lld_managed cee ieee",
    "dcb.eth0.roce_np_priorities": "none",
    "dcb.eth0.roce_rp_priorities": "3",
    "dcb.eth0.cnp_dscp": 40,
    "rdma.mlx5_0.1.interface": "eth0",
    "rdma.mlx5_0.1.traffic_class": 0,
}


def saved(values: dict[str, Value]) -> Saved:
    known = tuple(Fact(name, value, "not told" if value is None else None) for name, value in values.items())
    return Saved("node1", None, HostFacts(known))


def run(values: dict[str, Value], script: str) -> dict[str, Value]:
    """Return facts as they are after a script: what iproute2's and Mellanox's manuals say that the words do."""
    new = dict(values)
    for line in script.splitlines():
        words = shlex.split(line, comments=True)
        match words:
            case ["ip", "link", "set", "dev", name, "mtu", size]:
                new[f"interface.{name}.mtu_bytes"] = int(size)
            case ["ethtool", "-A", name, direction, state]:
                new[f"interface.{name}.{direction}_pause"] = state == "on"
            case ["mlnx_qos", "-i", name, "--trust", trust]:
                new[f"dcb.{name}.trust"] = trust
            case ["dcb", "dcbx", "set", "dev", name, *flags]:
                new[f"dcb.{name}.dcbx"] = " ".join(flags).replace("-", "_")
            case ["dcb", "app", verb, "dev", name, "dscp-prio", *entries]:
                table = pairs(str(new[f"dcb.{name}.dscp_to_priority"] or ""))
                for dscp, priority in pairs(" ".join(entries)).items():
                    table[dscp] = priority
                    if verb == "del":
                        del table[dscp]
                new[f"dcb.{name}.dscp_to_priority"] = paired(table) or None
            case ["dcb", "pfc", "set", "dev", name, "prio-pfc", *entries]:
                on = priorities(str(new[f"dcb.{name}.pfc_priorities"]))
                for number, _, state in (one.partition(":") for one in entries):
                    on = on | {int(number)} if state == "on" else on - {int(number)}
                new[f"dcb.{name}.pfc_priorities"] = listed(on)
            case ["dcb", "ets", "set", "dev", name, *entries]:
                shared(new, f"dcb.{name}", entries)
            case ["echo", value, ">", path]:
                echoed(new, path, int(value))
            case [] | ["set", "-e"]:
                pass
            case _:
                raise AssertionError(line)
    return new


def shared(new: dict[str, Value], head: str, entries: list[str]) -> None:
    kind = ""
    for one in entries:
        kind = kind if ":" in one else one
        at, _, value = one.partition(":")
        if value and kind == "prio-tc":
            table = pairs(str(new[f"{head}.priority_to_tc"])) | {int(at): int(value)}
            new[f"{head}.priority_to_tc"] = paired(table)
        elif value:
            key = f"{head}.{'tc_algorithms' if kind == 'tc-tsa' else 'tc_shares_percent'}"
            row = str(new[key]).split()
            row[int(at)] = value
            new[key] = " ".join(row)


def echoed(new: dict[str, Value], path: str, value: int) -> None:
    parts = path.split("/")
    if path.startswith("/sys/class/infiniband/"):
        new[f"rdma.{parts[4]}.{parts[6]}.traffic_class"] = value
    elif parts[-1] == "cnp_dscp":
        new[f"dcb.{parts[4]}.cnp_dscp"] = value
    else:
        key = f"dcb.{parts[4]}.{parts[6]}_priorities"
        on = priorities(str(new[key])) - {int(parts[-1])}
        new[key] = listed(on | {int(parts[-1])} if value else on)


def test_a_host_gets_what_it_lacks_and_all_of_it_back() -> None:
    for wanted in (Wanted(), Wanted(5, 40, 4200), Wanted(3, 26, 9000, is_alone=True)):
        ready = linux.DIALECT.ready(wanted, saved(SET))
        files = linux.DIALECT.write(saved(SET), ready)
        after = run(SET, files["configure.sh"])
        assert after["interface.eth0.mtu_bytes"] == wanted.mtu_bytes
        assert wanted.priority in priorities(str(after["dcb.eth0.pfc_priorities"]))
        assert (after["dcb.eth0.pfc_priorities"] == str(wanted.priority)) is wanted.is_alone
        assert pairs(str(after["dcb.eth0.dscp_to_priority"]))[wanted.dscp] == wanted.priority
        assert (after["dcb.eth0.trust"], after["interface.eth0.rx_pause"]) == ("dscp", False)
        assert after["rdma.mlx5_0.1.traffic_class"] == wanted.tos
        assert after["dcb.eth0.tc_shares_percent"] != SET["dcb.eth0.tc_shares_percent"]
        assert linux.DIALECT.ready(wanted, saved(after)).steps == ()
        assert run(after, files["undo.sh"]) == SET


@pytest.mark.parametrize(
    ("number", "classes", "wanted"),
    [
        (3, "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7", "tc-tsa 1:ets 3:ets 6:strict tc-bw 1:50 3:50"),
        (1, "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7", "tc-tsa 1:ets 0:ets 6:strict tc-bw 1:50 0:50"),
        (0, "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7", "tc-tsa 0:ets 1:ets 6:strict tc-bw 0:50 1:50"),
        (3, "0:0 1:0 2:3 3:0 4:0 5:0 6:0 7:0", "tc-tsa 0:ets 1:ets tc-bw 0:50 1:50"),
    ],
)
def test_shares_go_to_the_classes_that_priorities_have(number: int, classes: str, wanted: str) -> None:
    """Cards of Mellanox start with priority 0 in class 1, and 1 in class 0."""
    values = {**SET, "dcb.eth0.priority_to_tc": classes}
    found = linux.DIALECT.ready(Wanted(number), saved(values))
    files = linux.DIALECT.write(saved(values), found)
    assert f"dcb ets set dev eth0 {wanted}\n" in files["configure.sh"]
    assert run(run(values, files["configure.sh"]), files["undo.sh"]) == values
    assert any("CNP (priority 6) shares traffic class" in one for one in found.remarks) is ("6:6" not in classes)


def test_a_table_that_is_empty_and_one_that_cannot_be_read() -> None:
    empty = {**SET, "dcb.eth0.dscp_to_priority": None}
    files = linux.DIALECT.write(saved(empty), linux.DIALECT.ready(Wanted(), saved(empty)))
    assert "dcb app del dev eth0 dscp-prio 26:3" in files["undo.sh"]
    assert run(run(empty, files["configure.sh"]), files["undo.sh"]) == empty
    known = [Fact("dcb.eth0.pfc_priorities", None, "dcb: No such file"), Fact("rdma.mlx5_0.1.interface", "eth0"),
             Fact("interface.eth0.mtu_bytes", 9000)]  # fmt: skip
    ready = linux.DIALECT.ready(Wanted(), Saved("node1", None, HostFacts(tuple(known))))
    assert ready.steps == ()
    assert any("dcb.eth0.pfc_priorities is not known (dcb: No such file)" in one for one in ready.doubts)


def test_in_a_lab_the_script_sets_the_mtu_and_the_other_puts_it_back(labs: None, tmp_path: Path) -> None:
    from fabriscope import lab
    from fabriscope.lab.presets import PRESETS
    from fabriscope.model.lab import LabSpec

    built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"]}))
    try:
        host = built.host("a")

        def configured(name: str) -> Path:
            out = tmp_path / name
            words = ["--lab", built.name, "--hosts", "a", "--interface", "eth0", "--mtu", "1400", "-o", str(out)]
            result = CliRunner().invoke(configure, words)
            assert result.exit_code == 4, "of an interface without a card PFC cannot be told"
            assert "host a: dcb.eth0.pfc_priorities is not known" in result.output
            return out / "a"

        def everything() -> dict[str, object]:
            told = {fact.name: fact.value for fact in facts.collect(host)}
            moving = ("load.", "memory.", "cpu.mhz", "kernel.uptime", "interrupt.", "numa.", "tcp.")
            return {name: value for name, value in told.items() if not name.startswith(moving)}

        before = everything()
        first = configured("first")
        subprocess.run([*host.access, "sh", str(first / "configure.sh")], check=True)
        after = everything()
        assert {name for name in before if before[name] != after[name]} == {"interface.eth0.mtu_bytes"}
        assert not (configured("second") / "configure.sh").exists()
        subprocess.run([*host.access, "sh", str(first / "undo.sh")], check=True)
        assert everything() == before
    finally:
        built.down()
