"""What a plan says of an HDFS that runs already."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import PlanError
from fabriscope.plan import Schedule, Vocabulary, expand, load
from fabriscope.plan.service_schema import HbaseSection
from fabriscope.running.services import needed_bytes
from fabriscope.running.site import planned_fabrics

MIB = 1 << 20
WORDS = Vocabulary(
    frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp", "hdfs", "hbase"}), frozenset({"gige"})
)
ONE = "fabrics: {gige: {interface: eth0}}\n"
TWO = "fabrics: {fast: {interface: eth1}, gige: {interface: eth0}}\n"


def scheduled(tmp_path: Path, of_hdfs: str, fabrics: str = ONE, hosts: str = "node[1-4]") -> Schedule:
    path = tmp_path / "plan.yaml"
    path.write_text(
        f"name: x\nhosts: {hosts}\n{fabrics}floor: false\nlaunches: 1\nplacements: [inter]\nlayers: [hdfs]\n"
        f"benchmarks: {{hdfs_write: {{sizes: [8MiB]}}}}\nservices: {{hdfs: {{{of_hdfs}}}}}\n"
    )
    plan = load(path, WORDS)
    return expand(plan, planned_fabrics(plan), 2)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("hdfs://namenode:9000", "hdfs://namenode:9000"),
        ("hdfs://namenode", "hdfs://namenode:8020"),
        ("hdfs://10.0.0.1:9000/", "hdfs://10.0.0.1:9000"),
    ],
)
def test_an_address_is_what_a_client_of_hadoop_is_told(tmp_path: Path, written: str, meant: str) -> None:
    (launch,) = scheduled(tmp_path, f"at: '{written}', path: /benchmarks/x/").launches
    assert launch.cases[0].parameter_map == {
        "at": meant,
        "path": "/benchmarks/x",
        "replication": "3",
        "block_size": str(128 * MIB),
        "files": "2",
        "runs": "3",
        "client_heap": str(256 * MIB),
    }


def test_the_client_is_all_that_needs_memory_and_one_host_is_enough(tmp_path: Path) -> None:
    (launch,) = scheduled(tmp_path, "at: hdfs://namenode, replication: 9", hosts="node1").launches
    assert launch.entry.hosts == ("node1",)
    assert set(needed_bytes(launch.cases)) == {"node1"}
    assert needed_bytes(launch.cases)["node1"] < 512 * MIB


def test_each_fabric_has_its_own_and_one_without_is_not_measured(tmp_path: Path) -> None:
    both = scheduled(tmp_path, "at: {fast: hdfs://a, gige: hdfs://b}", TWO)
    told = {launch.entry.fabric: launch.cases[0].parameter_map["at"] for launch in both.launches}
    assert told == {"fast": "hdfs://a:8020", "gige": "hdfs://b:8020"}
    one = scheduled(tmp_path, "at: {fast: hdfs://a}", TWO)
    assert [launch.entry.fabric for launch in one.launches] == ["fast"]


@pytest.mark.parametrize(
    ("of_hdfs", "fabrics", "said"),
    [
        ("at: namenode:9000", ONE, r"'namenode:9000' is no address of a NameNode; write it like hdfs://namenode:9000"),
        ("at: http://namenode:9870", ONE, "is no address of a NameNode"),
        ("at: hdfs://namenode:0", ONE, "has no TCP port between 1 and 65535"),
        ("at: hdfs://namenode:99999", ONE, "has no TCP port between 1 and 65535"),
        ("at: {}", ONE, "the mapping is empty"),
        ("at: {gige: x}", ONE, "'x' is no address of a NameNode"),
        ("at: {ib: hdfs://a}", ONE, "there is no fabric 'ib' in this plan"),
        ("at: [hdfs://a]", ONE, "is no address of a NameNode"),
        ("at: hdfs://a", TWO, "one HDFS is reached over one fabric, and the plan has 2"),
        ("at: hdfs://a", "fabrics: {gige: {lab: gige}}\n", "reaches no HDFS outside of it"),
        ("at: hdfs://a, heap: 96MiB", ONE, "heap is of daemons that a launch starts"),
        ("at: hdfs://a, data: disk", ONE, "data is of daemons that a launch starts"),
        ("at: hdfs://a, handlers: 5", ONE, "handlers is of daemons that a launch starts"),
        ("path: /tmp", ONE, "path is a folder of an HDFS that runs already, and `at` does not say which"),
        ("at: hdfs://a, path: tmp", ONE, "'tmp' is no whole path of a folder in HDFS"),
        ("at: hdfs://a, path: /x/../y", ONE, "is no whole path of a folder in HDFS"),
        ("at: hdfs://a, path: '/x y'", ONE, "is no whole path of a folder in HDFS"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, of_hdfs: str, fabrics: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        scheduled(tmp_path, of_hdfs, fabrics)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("zk1", "zk1:2181:/hbase"),
        ("zk1,zk2,zk3:2182", "zk1:2182,zk2:2182,zk3:2182:/hbase"),
        ("zk1:2181,zk2:2183:/hbase-unsecure", "zk1:2181,zk2:2183:/hbase-unsecure"),
        ("zk1,zk2:2181:/a/b", "zk1:2181,zk2:2181:/a/b"),
    ],
)
def test_an_hbase_is_told_by_the_key_of_its_cluster(written: str, meant: str) -> None:
    assert HbaseSection.model_validate({"at": written}).at == meant


@pytest.mark.parametrize(
    "written", ["", "zk1:", "zk1,", "zk1:0", "zk1:2181:hbase", "http://zk1", "zk1 zk2", "zk1:/", 2181]
)
def test_what_names_no_zookeeper_is_refused(written: object) -> None:
    with pytest.raises(ValidationError, match=r"names no ZooKeeper; write it like|has no TCP port"):
        HbaseSection.model_validate({"at": written})


def test_an_hbase_that_runs_needs_one_host_and_memory_for_the_client(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(
        f"name: x\nhosts: node1\n{ONE}floor: false\nlaunches: 1\nplacements: [inter]\nlayers: [hbase]\n"
        "benchmarks: {hbase_get: {sizes: [1000]}}\nservices: {hbase: {at: 'zk1,zk2'}}\n"
    )
    plan = load(path, WORDS)
    (launch,) = expand(plan, planned_fabrics(plan), 2).launches
    told = launch.cases[0].parameter_map
    assert told["at"] == "zk1:2181,zk2:2181:/hbase"
    assert not set(told) & {"replication", "heap", "master_heap", "hdfs_heap", "handlers", "data"}
    assert needed_bytes(launch.cases) == {"node1": (256 + 96) * MIB}
    path.write_text(path.read_text().replace("{at:", "{home: /opt/hbase-2.5.13/, at:"))
    plan = load(path, WORDS)
    told = expand(plan, planned_fabrics(plan), 2).launches[0].cases[0].parameter_map
    assert (told["home"], plan.section.services.homes) == ("/opt/hbase-2.5.13", {"hbase": "/opt/hbase-2.5.13"})
    path.write_text(path.read_text().replace("home: /opt/hbase-2.5.13/", "home: hbase"))
    with pytest.raises(PlanError, match=r"is no whole path of a folder; write it like /opt/hbase-2\.5\.13"):
        load(path, WORDS)
    path.write_text(path.read_text().replace("home: hbase", "master_heap: 1GiB"))
    with pytest.raises(PlanError, match="master_heap is of daemons that a launch starts"):
        load(path, WORDS)


@pytest.mark.parametrize("home", ["hadoop", "/opt/a:b", "/opt/*"])
def test_a_hadoop_of_the_sites_own_is_told_by_a_whole_path(tmp_path: Path, home: str) -> None:
    told = scheduled(tmp_path, "at: hdfs://a, home: /opt/hadoop-3.4.1/").launches[0].cases[0].parameter_map
    assert told["home"] == "/opt/hadoop-3.4.1"
    with pytest.raises(PlanError, match=r"is no whole path of a folder; write it like /opt/hadoop-3\.4\.1"):
        scheduled(tmp_path, f"at: hdfs://a, home: '{home}'")


def test_an_hdfs_of_our_own_needs_a_datanode_besides_the_first_host(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="inter needs two hosts"):
        scheduled(tmp_path, "replication: 1", hosts="node1")
