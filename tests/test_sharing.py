"""Launches that measure in turns: who may share, what a plan may say, and a run in the lab."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests import needs

from fabriscope import cli, store
from fabriscope.analysis.proof.transport import transport_frame
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.measurement import Launch
from fabriscope.plan import Plan
from fabriscope.plan.load import load as load_plan
from fabriscope.plan.turns import turn_ns_of
from fabriscope.running.groups import TABLES
from fabriscope.running.sharing import MOST_MEMBERS, most_members, sharing_of
from fabriscope.running.vocabulary import vocabulary

FABRICS = {
    "gige": Fabric("gige", {"a": "eth0", "b": "eth0"}),
    "ib": Fabric("ib", {"a": "ib0", "b": "ib0"}, transport="ib"),
    "roce": Fabric("roce", {"a": "eth1", "b": "eth1"}, transport="roce"),
}


def launch(number: int, layer: str, fabric: str | None, hosts: str = "ab", instrument: str = "engine") -> Launch:
    placement = "inter" if len(set(hosts)) > 1 else "intra"
    entry = Entry(layer, fabric, placement, tuple(hosts), instrument=instrument)
    return Launch(number, 1, entry, (), 1, 10**9)


def test_launches_share_whose_bytes_can_be_told_apart() -> None:
    block = [
        launch(1, "tcp", "gige"),
        launch(2, "verbs", "ib"),
        launch(3, "shm", None, "aa"),
        launch(4, "tcp", "gige", instrument="iperf3"),
        launch(6, "tcp", "gige", "ba"),
    ]
    sharing = sharing_of(block, FABRICS)
    assert sharing.groups == ((0, 1, 2),)
    assert {index: reason.split()[0] for index, reason in sharing.alone.items()} == {3: "iperf3", 4: "no"}


def test_an_rdma_port_is_used_by_one_launch_of_a_group() -> None:
    verbs = [launch(1, "verbs", "ib"), launch(2, "verbs", "roce"), launch(3, "verbs", "ib", "aa")]
    sharing = sharing_of([*verbs, launch(4, "tcp", "gige"), launch(5, "shm", None, "aa")], FABRICS)
    assert sharing.groups == ((0, 1, 3, 4),)
    assert sharing.alone == {2: "an RDMA port counts for its host, and another launch uses the same one"}

    tcp = [launch(4, "tcp", "gige"), launch(5, "tcp", "ib")]  # whose bytes a port of InfiniBand counts, too
    assert sharing_of([*verbs, *tcp], FABRICS).groups == ((0, 1), (3, 4))
    lone = sharing_of([verbs[0], *tcp], FABRICS).alone
    assert lone == {0: "an RDMA port counts for its host, and another launch sends over its interface by TCP"}

    mpi = [launch(4, "tcp", "ib"), launch(5, "mpi", "gige"), launch(6, "mpi", "roce")]
    sharing = sharing_of([*verbs, *mpi], FABRICS)
    assert sharing.groups == ((3, 4),)
    assert set(sharing.alone) == {0, 1, 2, 5}
    assert set(sharing.alone.values()) == {
        "an RDMA port counts for its host, and MPI libraries and libfabric open every device"
    }


def test_two_names_of_one_device_are_one_port() -> None:
    port = {host: RdmaPort("mlx5_0") for host in "ab"}
    fabrics = {name: replace(FABRICS[name], rdma_ports=port) for name in ("ib", "roce")}
    sharing = sharing_of([launch(1, "verbs", "roce"), launch(2, "verbs", "ib")], fabrics)
    assert sharing.groups == ()


def test_what_a_fabric_sets_is_shared_with_nobody() -> None:
    small = Fabric("small", {"a": "eth0", "b": "eth0"}, knobs={"mtu": "600"})
    block = [launch(1, "tcp", "gige"), launch(2, "tcp", "small"), launch(3, "tcp", "gige")]
    sharing = sharing_of(block, {**FABRICS, "small": small})
    assert sharing.groups == ((0, 2),)
    assert sharing.alone == {1: "what its fabric sets holds for whole hosts"}


def test_what_needs_much_memory_is_shared_with_nobody() -> None:
    block = [launch(number, "tcp", "gige") for number in range(1, 5)]
    sizes = {1: (64 << 20, ()), 2: (65 << 20, ()), 3: (8, (("buffers", "rotating"),)), 4: (8, ())}
    cases = {number: Case(block[0].entry, "ping_pong", size, parameters=of) for number, (size, of) in sizes.items()}
    sharing = sharing_of([replace(one, cases=(cases[one.launch_id],)) for one in block], FABRICS)
    assert sharing.groups == ((0, 3),)
    assert {index: reason.split(",")[0] for index, reason in sharing.alone.items()} == {
        1: "its messages need more than 256 MiB",
        2: "its rotating buffers are larger than a host's cache",
    }
    small = replace(cases[4], message_size_bytes=9 << 20)
    in_guests = [replace(one, cases=(small if one.launch_id > 2 else cases[4],)) for one in block]
    sharing = sharing_of(in_guests, FABRICS, guests="b")
    assert sharing.groups == ((0, 1),)
    assert {reason.split(",")[0] for reason in sharing.alone.values()} == {"its messages need more than 32 MiB"}


def test_what_is_slow_shares_with_what_is_about_as_slow() -> None:
    rates = {"fast": 10**9, "slow": 10**8, "slower": 10**8, "far": 10**9}
    fabrics = {
        name: Fabric(name, {"a": "eth0", "b": "eth0"}, line_rate_bits_per_s=rate, settings={"delay_ns": "0"})
        for name, rate in rates.items()
    }
    fabrics["far"] = replace(fabrics["far"], settings={"delay_ns": "1000000000"})

    def block(size: int) -> list[Launch]:
        plain = [launch(number, "tcp", name) for number, name in enumerate(["fast", "slow", "fast", "slower", "far"])]
        return [replace(one, cases=(Case(one.entry, "ping_pong", size),)) for one in plain]

    small, large = (sharing_of(block(size), fabrics) for size in (64 << 10, 1 << 20))
    assert small.groups == ((0, 1, 2, 3),)
    assert sorted(large.groups) == [(0, 2), (1, 3)]
    far = "its longest burst takes some 4s, for which others would wait, and no other entry is about as slow"
    assert small.alone == large.alone == {4: far}
    assert sharing_of(block(1 << 20), fabrics, turn_ns=10**8).groups == ((0, 1, 2, 3),)


def test_a_large_block_becomes_groups_of_one_size() -> None:
    block = [launch(number, "tcp", "gige") for number in range(1, 2 * MOST_MEMBERS + 2)]
    groups = sharing_of(block, FABRICS).groups
    assert sorted(len(group) for group in groups) == [8, 8, 9]
    assert sorted(index for group in groups for index in group) == list(range(len(block)))
    few = sharing_of(block, FABRICS, most=most_members([False, True])).groups
    assert sorted(len(group) for group in few) == [3, 3, 3, 4, 4, 4, 4]


def test_a_group_has_no_more_ranks_than_wait_in_memory() -> None:
    block = [launch(number, "mpi", "gige", "ab" * ranks) for number, ranks in enumerate((1, 20, 30, 1, 40, 70))]
    sharing = sharing_of(block, FABRICS)
    assert sharing.alone == {5: "its 140 ranks and those of another are more than 128"}
    assert sorted(map(sorted, sharing.groups)) == [[0, 2], [1, 3, 4]]


@pytest.mark.parametrize(
    ("said", "turn_ns"), [("auto", 20_000_000), ("off", None), (False, None), ("50ms", 50_000_000), (0.02, 20_000_000)]
)
def test_what_a_plan_may_say(tmp_path: Path, said: object, turn_ns: int | None) -> None:
    assert turn_ns_of(_plan(tmp_path, said).section.turns) == turn_ns


@pytest.mark.parametrize(("said", "why"), [(True, "no length"), ("1ms", "write 5ms to 1s"), ("often", "'often'")])
def test_what_it_may_not(tmp_path: Path, said: object, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        _plan(tmp_path, said)


def _plan(folder: Path, turns: object) -> Plan:
    path = folder / "plan.yaml"
    plan = {**yaml.safe_load(PLAN), "turns": turns}
    path.write_text(yaml.safe_dump(plan))
    return load_plan(path, vocabulary())


PLAN = """
name: turns
hosts: node[1-2]
fabrics: {gige: {lab: gige}, plain: {lab: local}}
layers: [tcp, shm]
placements: [inter, intra]
benchmarks: {ping_pong: {sizes: [8, 64KiB]}}
turns: 20ms
launches: 2
budget: 1s
floor: false
"""


def test_a_run_in_turns(tmp_path: Path) -> None:
    needs.lab()
    plan, path = tmp_path / "plan.yaml", tmp_path / "run"
    plan.write_text(PLAN)
    checked = CliRunner().invoke(cli.fabriscope, ["plan", "check", str(plan)])
    assert "all 4 launches of a block measure in turns of 20ms" in checked.output
    ran = CliRunner().invoke(cli.fabriscope, ["run", str(plan), "-o", str(path), "--json"])
    assert ran.exit_code == 0, ran.output
    events = [json.loads(line)["event"] for line in ran.stdout.splitlines()]
    assert events[: events.index("launch_ended")].count("launch_started") == 4
    run = store.open_run(path).read()
    assert len(run.journal) == 8
    for record in run.journal:
        turns = record.details.turns
        assert turns is not None, record.reason
        assert (turns.member_count, turns.turn_ns, turns.shared_burst_count) == (4, 20_000_000, 0)
        assert turns.turn_count >= 1
        assert turns.rested_ns < record.elapsed_ns
        assert not record.failures
    counts = [record.details.turns.turn_count for record in run.journal if record.details.turns]
    assert sum(counts) > len(counts), "on a busy machine one turn may be all that one of them has time for"
    assert set(transport_frame(run)["verdict"]) == {"proved"}
    assert not list(TABLES.glob("fabriscope-turns-*"))


def test_where_the_table_cannot_be_launches_measure_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriscope.running.groups.TABLES", tmp_path / "nowhere")
    plan, path = tmp_path / "plan.yaml", tmp_path / "run"
    here = {"hosts": "localhost", "fabrics": {}, "placements": ["intra"], "turns": "auto"}
    plan.write_text(yaml.safe_dump({**yaml.safe_load(PLAN), **here}))
    ran = CliRunner().invoke(cli.fabriscope, ["run", str(plan), "-o", str(path)])
    assert ran.exit_code == 0, ran.output
    details = [record.details for record in store.open_run(path).read().journal]
    assert len(details) == 4
    assert {one.alone_because for one in details} == {f"nothing can be written to {tmp_path / 'nowhere'} here"}
