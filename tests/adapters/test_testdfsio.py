"""TestDFSIO: what the daemons and the client are told, and what is made of what they say, recorded in a lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.testdfsio import TestDfsio
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ParseError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HdfsSection

SAID = (Path(__file__).parent / "data" / "testdfsio" / "three_operations.stdout").read_bytes()
"""Three operations, two files of 8 MiB each, a warm-up and two runs, two DataNodes, 100 Mb/s."""
MIB = 1 << 20
NAMES = ("a", "b", "c")
HOSTS = {name: Host(name, addresses={"eth1": f"10.0.1.{place}"}) for place, name in enumerate(NAMES, 1)}
FABRIC = Fabric("gige", dict.fromkeys(NAMES, "eth1"))
CONTEXT = AdapterContext(HOSTS, fabric=FABRIC, programs={"java": "/x/java", "hadoop classes": "/y:/z/*"})
ENTRY = Entry("hdfs", "gige", "inter", NAMES, instrument="testdfsio")
ADAPTER = TestDfsio()


def launch(*operations: str, **told: object) -> Launch:
    parameters = HdfsSection(**{"runs": 2, "replication": 2, **told}).parameters()
    cases = [Case(ENTRY, f"hdfs_{name}", 8 * MIB, parameters=parameters) for name in operations]
    return Launch(3, 1, ENTRY, tuple(cases), seed=42, budget_ns=0)


ALL = launch("write", "read", "append")


def said_of(asked: Launch) -> bytes:
    """Return the recorded text with the names of these cases."""
    text = SAID
    for recorded, case in zip((b"2cb798f4bfe4", b"d4e0e6b71b59", b"5f07873a9a69"), asked.cases, strict=True):
        text = text.replace(recorded, case.case_id.encode())
    return text


def outcomes(client: Outcome | None = None, daemons: tuple[Outcome, ...] = ()) -> list[Outcome]:
    found = [*daemons, *(Outcome(Command(("java",), host), None, b"", b"", 0, 0) for host in NAMES[len(daemons) :])]
    return [*found, client] if client else found


def client(stdout: bytes, stderr: bytes = b"", exit_status: int | None = 0) -> Outcome:
    return Outcome(Command(("java",), "a"), exit_status, stdout, stderr, 0, 0)


def reason(*said: Outcome) -> str | None:
    parsed = ADAPTER.parse(ALL, said)
    assert {result.status for result in parsed.results} == {"failed"}
    assert not parsed.blocks
    return parsed.results[0].reason


def settings(command: Command) -> dict[str, str]:
    words = command.argv[command.argv.index("-cp") + 2 :]
    return dict(word.split("=", 1) for word in words if "=" in word)


def test_every_daemon_listens_on_the_fabric_and_the_client_comes_last() -> None:
    namenode, *datanodes, runs = ADAPTER.commands(ALL, CONTEXT)
    assert [one.host for one in (namenode, *datanodes, runs)] == ["a", "b", "c", "a"]
    assert [one.is_server for one in (namenode, *datanodes, runs)] == [True, True, True, False]
    port = int(settings(namenode)["dfs.namenode.rpc-address"].rpartition(":")[2])
    assert settings(namenode)["dfs.namenode.rpc-address"] == f"10.0.1.1:{port}"
    for address, datanode in zip(("10.0.1.2", "10.0.1.3"), datanodes, strict=True):
        told = settings(datanode)
        assert told["dfs.datanode.address"] == f"{address}:{port + 1}"
        assert told["dfs.datanode.ipc.address"] == f"{address}:{port + 2}"
        assert told["dfs.datanode.hostname"] == address
    for one in (namenode, *datanodes, runs):
        told = settings(one)
        assert told["fs.defaultFS"] == f"hdfs://10.0.1.1:{port}"
        assert (told["dfs.replication"], told["dfs.blocksize"]) == ("2", str(128 * MIB))
    ids = [case.case_id for case in ALL.cases]
    words = runs.argv[runs.argv.index("DfsioRuns") :][:6]
    assert words == (
        *("DfsioRuns", "2", "3", f"{ids[0]}:write:2:8388608", f"{ids[1]}:read:2:8388608"),
        f"{ids[2]}:append:2:8388608",
    )


def test_heaps_folders_and_java_are_those_of_the_plan() -> None:
    asked = launch("write", heap="96MiB", client_heap="160MiB", data="disk", files=5, handlers=7)
    namenode, datanode, _, runs = ADAPTER.commands(asked, CONTEXT)
    assert ["-Xmx96m" in one.argv for one in (namenode, datanode)] == [True, True]
    assert "-Xmx160m" in runs.argv
    assert (settings(namenode)["dfs.namenode.handler.count"], settings(runs)["mapreduce.local.map.tasks.maximum"]) == (
        *("7", "5"),
    )
    in_memory, *_, last = ADAPTER.commands(ALL, CONTEXT)
    assert [one.argv[4] for one in (namenode, datanode, runs, in_memory, last)] == [
        *("disk", "disk", "disk", "memory", "disk"),
    ]
    assert "-XX:+UseSerialGC" in runs.argv
    far = replace(CONTEXT, hosts={name: replace(host, access=("ssh", "x")) for name, host in HOSTS.items()})
    assert "-XX:+UseSerialGC" not in ADAPTER.commands(ALL, far)[0].argv
    with pytest.raises(LaunchError, match="the classes of hadoop are not known -- `fabriscope apps add hadoop`"):
        ADAPTER.commands(ALL, replace(CONTEXT, programs={"java": "/x/java"}))


def test_its_numbers_are_kept_as_it_prints_them_and_ours_beside_them() -> None:
    parsed = ADAPTER.parse(ALL, outcomes(client(said_of(ALL))))
    assert [result.status for result in parsed.results] == ["ok"] * 3
    write = ALL.cases[0].case_id
    values = {(one.quantity, one.burst): one.values for one in parsed.blocks if one.case_id == write}
    assert values["dfsio_throughput_bytes_per_s", 2] == (4.65 * MIB,)
    assert values["dfsio_average_io_rate_bytes_per_s", 2] == (5.05 * MIB,)
    span_ns = 66693527868371 - 66691325247523
    assert list(values["hdfs_bandwidth_bytes_per_s", 2]) == [16 * MIB * 1e9 / span_ns]
    assert {(one.phase, one.burst) for one in parsed.blocks} == {("warmup", 0), ("measure", 1), ("measure", 2)}
    stated = parsed.details["testdfsio"]
    assert isinstance(stated, list)
    last = stated[6]
    assert last == {
        "case_id": write,
        "run": 2,
        "throughput_mib_per_s": 4.65,
        "average_io_rate_mib_per_s": 5.05,
        "io_rate_deviation_mib_per_s": 1.41,
        "total_mib": 16.0,
        "job_s": 3.36,
        "span_ns": span_ns,
    }


def test_a_case_without_a_result_failed_and_the_others_did_not() -> None:
    text = said_of(ALL)
    cut = text[: text.index(b"fabriscope: run case=" + ALL.cases[2].case_id.encode())]
    parsed = ADAPTER.parse(ALL, outcomes(client(cut)))
    assert [result.status for result in parsed.results] == ["failed"] * 3
    whole_rounds = b"".join(
        part
        for part in text.replace(b"fabriscope: end\n", b"fabriscope: end\n\0").split(b"\0")
        if ALL.cases[2].case_id.encode() not in part
    )
    parsed = ADAPTER.parse(ALL, outcomes(client(whole_rounds)))
    assert [result.status for result in parsed.results] == ["ok", "ok", "failed"]
    assert parsed.results[2].reason == "TestDFSIO printed no result of it"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"      Throughput mb/sec: 4.65\n", b"", "the result of line 1 has no Throughput mb/sec"),
        (b"MBytes processed: 16\n", b"MBytes processed: 15\n", "15.0 MiB were moved, and 16777216 B asked for"),
        (b"fabriscope: task start_ns=66697538924812 end_ns=66699385331782\n", b"", "1 files were timed, and 2"),
        (b"run case=", b"run case=f00", "which was not asked for"),
    ],
)
def test_text_of_another_shape_is_refused(old: bytes, new: bytes, said: str) -> None:
    assert old in said_of(ALL)
    with pytest.raises(ParseError, match=said):
        ADAPTER.parse(ALL, outcomes(client(said_of(ALL).replace(old, new))))


def test_a_daemon_that_ended_by_itself_fails_the_launch_whatever_the_client_saw() -> None:
    said = b"WARN FsDatasetImpl: dfsUsed file missing\nKilled\n"  # by the shell, of a DataNode that was killed in a lab
    killed = Outcome(Command(("java",), "c"), 137, b"fabriscope: datanode ready\n", said, 0, 0)
    fine = outcomes()[:2]
    assert reason(*fine, killed, client(said_of(ALL))) == ("the DataNode on c did not last: it was ended by signal 9")
    refused = b"WARN X: y\nfabriscope: the namenode cannot start: a port is in use (Problem binding to [a:1])\n"
    namenode = Outcome(Command(("java",), "a"), 1, b"", refused, 0, 0)
    assert reason(namenode) == (
        "the NameNode on a did not last: the namenode cannot start: a port is in use (Problem binding to [a:1])"
    )


def test_a_client_that_failed_says_why() -> None:
    said = b"fabriscope: 1 of 2 DataNodes are live after 60 s\n"
    assert reason(*outcomes(client(b"", said, 1))) == "1 of 2 DataNodes are live after 60 s"
    refusal = (
        "/f/io_0 could only be written to 0 of the 1 minReplication nodes. There are 2 datanode(s) running and 2 "
        "node(s) are excluded"
    )
    full = f"ERROR TestDFSIO: RemoteException: File {refusal} in this operation.\nfabriscope: Job failed!\n".encode()
    assert reason(*outcomes(client(b"", full, 1))) == (
        "no DataNode takes a block, is the folder of their data full (/dev/shm; with `data: disk` that of TMPDIR)? "
        f"HDFS says: {refusal}"
    )
    small = b"java.lang.OutOfMemoryError: Java heap space\nfabriscope: java.io.IOException: Job failed!\n"
    assert "choose a larger client_heap" in (reason(*outcomes(client(b"", small, 1))) or "")
    late = replace(client(b"", b"fabriscope: Connection refused\n", None), timed_out=True)
    assert (reason(*outcomes(late)) or "").startswith("TestDFSIO did not end in time")
    assert "TestDFSIO" in (reason(*outcomes(client(b"", b"", 137))) or "")
