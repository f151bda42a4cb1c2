"""What a plan says of the services that its launches start."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import PlanError
from fabriscope.plan import Schedule, Vocabulary, expand, expected_ns, load
from fabriscope.running.services import needed_bytes
from fabriscope.running.site import planned_fabrics

MIB = 1 << 20
WORDS = Vocabulary(
    frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp", "hdfs", "hbase"}), frozenset({"gige"})
)
HEAD = "name: x\nhosts: node[1-4]\nfabrics: {gige: {lab: gige}}\nfloor: false\nlaunches: 1\n"
LOADED = "layers: [hbase]\nbenchmarks: {hbase_load: {sizes: [1000]}, hbase_a: {sizes: [1000]}}\n"
WRITTEN = "layers: [hdfs]\nbenchmarks: {hdfs_write: {sizes: [8MiB, 64MiB]}}\n"


def scheduled(tmp_path: Path, text: str, head: str = HEAD) -> Schedule:
    path = tmp_path / "plan.yaml"
    path.write_text(head + text)
    plan = load(path, WORDS)
    return expand(plan, planned_fabrics(plan), 2)


def test_a_service_has_the_plans_hosts_and_an_instrument_of_its_own(tmp_path: Path) -> None:
    text = "layers: [tcp, hdfs]\nbenchmarks: {ping_pong: {sizes: [1KiB]}, hdfs_write: {sizes: [8MiB]}}\n"
    of_entry = {one.entry.entry_id: one.cases for one in scheduled(tmp_path, text).launches}
    assert set(of_entry) == {"gige.tcp.inter", "gige.hdfs.inter.4x1.testdfsio"}
    assert [case.benchmark for case in of_entry["gige.tcp.inter"]] == ["ping_pong"]
    (case,) = of_entry["gige.hdfs.inter.4x1.testdfsio"]
    assert (case.benchmark, case.message_size_bytes, case.entry.hosts) == (
        *("hdfs_write", 8 * MIB, ("node1", "node2", "node3", "node4")),
    )


def test_cases_are_told_what_the_plan_says_of_the_service_and_the_rest_by_default(tmp_path: Path) -> None:
    text = "services: {hdfs: {replication: 2, block_size: 32MiB, data: disk}}\n"
    case = scheduled(tmp_path, WRITTEN + text).launches[0].cases[0]
    assert case.parameter_map == {
        "replication": "2",
        "block_size": str(32 * MIB),
        "files": "2",
        "runs": "3",
        "heap": str(128 * MIB),
        "client_heap": str(256 * MIB),
        "handlers": "10",
        "data": "disk",
    }


def test_time_and_memory_are_what_the_files_take(tmp_path: Path) -> None:
    launch = scheduled(tmp_path, WRITTEN).launches[0]
    path = tmp_path / "plan.yaml"
    fabrics = planned_fabrics(load(path, WORDS))
    sent_s = 4 * 2 * (8 + 64) * MIB * 8 / 1e9
    assert expected_ns(launch, fabrics) > (30 + sent_s) * 1e9
    needs = needed_bytes(launch.cases)
    assert needs["node2"] - 2 * 64 * MIB == needs["node3"] - 2 * 64 * MIB > 128 * MIB
    on_disk = scheduled(tmp_path, WRITTEN + "services: {hdfs: {data: disk}}\n").launches[0]
    assert needed_bytes(on_disk.cases)["node2"] == needs["node2"] - 2 * 64 * MIB


def test_what_hbase_takes_follows_its_records_and_its_target_rate(tmp_path: Path) -> None:
    few = scheduled(tmp_path, LOADED + "services: {hbase: {records: 1000, operations: 1000, runs: 1}}\n").launches[0]
    many = scheduled(tmp_path, LOADED + "services: {hbase: {records: 1000000, operations: 1000, runs: 1}}\n").launches[
        0
    ]
    assert needed_bytes(many.cases)["node1"] == needed_bytes(few.cases)["node1"]
    assert needed_bytes(many.cases)["node2"] - needed_bytes(few.cases)["node2"] > 999_000 * 1000
    # hbase_a writes half of the time; runs and their warm-up add up in the write-ahead log, in each copy of three.
    busy = LOADED + "services: {hbase: {records: 1000, operations: 1000000, runs: 1}}\n"
    written = needed_bytes(scheduled(tmp_path, busy).launches[0].cases)["node2"] - needed_bytes(few.cases)["node2"]
    assert written == pytest.approx(999_000 * 2 * 0.5 * 1000 * 3, rel=0.01)
    slow = LOADED + "services: {hbase: {records: 1000, operations: 1000, runs: 1, target: 10}}\n"
    fabrics = planned_fabrics(load(tmp_path / "plan.yaml", WORDS))
    wait_ns = expected_ns(scheduled(tmp_path, slow).launches[0], fabrics) - expected_ns(few, fabrics)
    assert wait_ns == pytest.approx(199 * 10**9)  # a warm-up and a run of 100 s each, in place of half a second
    fast = slow.replace("target: 10}", "target: 1000000}")  # as fast as it goes, and no faster
    assert expected_ns(scheduled(tmp_path, fast).launches[0], fabrics) == expected_ns(few, fabrics)
    # The records are loaded once, however many workloads ask for them.
    loads_ns = expected_ns(many, fabrics) - expected_ns(few, fabrics)
    assert loads_ns == pytest.approx(999_000 / 2000 * 1e9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layers: [tcp]\nbenchmarks: {hdfs_write: {sizes: [8MiB]}}\n", "of the layer hdfs, which is not measured"),
        ("layers: [hdfs]\nbenchmarks: {ping_pong: {}}\n", "no benchmark of this plan is of the layer hdfs"),
        ("layers: [hdfs]\nbenchmarks: {hdfs_read: {}}\n", "hdfs_read needs the size of each file, 1 MiB or more"),
        ("layers: [hdfs]\nbenchmarks: {hdfs_read: {sizes: [1KiB]}}\n", "the size of each file, 1 MiB or more"),
        (WRITTEN + "services: {hdfs: {replication: 4}}\n", "4 copies need 4 DataNodes, and there are 3"),
        (WRITTEN + "services: {hdfs: {copies: 4}}\n", "copies"),
        (WRITTEN + "services: {hdfs: {heap: 1KiB}}\n", "heap"),
        (WRITTEN + "services: {hdfs: {data: tape}}\n", "memory"),
        ("layers: [hbase]\nbenchmarks: {hbase_get: {}}\n", "hbase_get needs the size of each record"),
        ("layers: [hbase]\nbenchmarks: {hbase_get: {sizes: [1001]}}\n", "records of 1001 B cannot be 10 fields"),
        ("layers: [hbase]\nbenchmarks: {ping_pong: {}}\n", "no benchmark of this plan is of the layer hbase"),
        (LOADED + "services: {hbase: {replication: 4}}\n", "4 copies need 4 DataNodes, and there are 3"),
        (LOADED + "services: {hbase: {error_share: 2}}\n", "error_share"),
        (WRITTEN + "placements: [intra]\n", "hdfs works only between hosts"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        scheduled(tmp_path, text)


def test_hdfs_on_one_host_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="HDFS needs two hosts or more"):
        scheduled(tmp_path, WRITTEN, HEAD.replace("node[1-4]", "node1"))
