"""TestDFSIO on an HDFS that runs already: the client alone, its own folder, and what is made of what it says."""

from __future__ import annotations

import secrets
from dataclasses import replace

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.testdfsio import TestDfsio
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HdfsSection

MIB = 1 << 20
MARK, OTHER_MARK = secrets.token_hex(8), secrets.token_hex(8)
AT = "hdfs://namenode:9000"
HOSTS = {name: Host(name, addresses={"eth1": "10.0.1.1"}) for name in ("a", "b")}
FABRIC = Fabric("gige", dict.fromkeys(HOSTS, "eth1"))
CONTEXT = AdapterContext(
    HOSTS, fabric=FABRIC, programs={"java": "/x/java", "hadoop classes": "/y:/z/*"}, token=MARK
)  # fmt: skip
ENTRY = Entry("hdfs", "gige", "inter", ("a", "b"), instrument="testdfsio")
ADAPTER = TestDfsio()
RESULT = """fabriscope: ready_ns=5
fabriscope: datanode address=10.0.1.7:9866 host=dn7
fabriscope: datanode address=10.0.1.8:9866 host=dn8
fabriscope: beside /bench/fabriscope-0
fabriscope: used address=10.0.1.7:9866
fabriscope: run case=CASE round=RUN
----- TestDFSIO ----- : write
            Date & time: Wed Oct 07 11:53:49 UTC 2026
        Number of files: 2
 Total MBytes processed: 16
      Throughput mb/sec: 4.65
 Average IO rate mb/sec: 5.05
  IO rate std deviation: 1.41
     Test exec time sec: 3.36

fabriscope: task start_ns=10 end_ns=1000000010
fabriscope: task start_ns=20 end_ns=1000000030
fabriscope: end
"""


def launch(**told: object) -> Launch:
    section = HdfsSection.model_validate({"at": AT, "path": "/bench", "replication": 2, "runs": 1, **told})
    case = Case(ENTRY, "hdfs_write", 8 * MIB, parameters=section.parameters("gige"))
    return Launch(3, 1, ENTRY, (case,), seed=42, budget_ns=0)


def settings(command: Command) -> dict[str, str]:
    return dict(word.split("=", 1) for word in command.argv[command.argv.index("-cp") + 2 :] if "=" in word)


def outcome(stdout: str, stderr: str = "", status: int | None = 0, may_have_left: bool = False) -> Outcome:
    (client,) = ADAPTER.commands(launch(), CONTEXT)
    return Outcome(
        client, status, stdout.encode(), stderr.encode(), 0, 0, may_have_left=may_have_left, left_as="1f0c52aa"
    )


def test_the_client_alone_is_started_with_a_folder_of_its_own_that_its_undoing_names() -> None:
    (client,) = ADAPTER.commands(launch(), CONTEXT)
    told = settings(client)
    assert (client.host, client.is_server, told["fs.defaultFS"], told["dfs.replication"]) == ("a", False, AT, "2")
    assert told["fabriscope.path"] == "/bench"
    assert told["test.build.data"].startswith("/bench/fabriscope-")
    assert MARK not in " ".join(client.argv)
    assert client.leaving is not None
    assert client.leaving.argv == (*client.argv, "fabriscope.only=remove")
    (other,) = ADAPTER.commands(launch(), replace(CONTEXT, token=OTHER_MARK))
    assert settings(other)["test.build.data"] != told["test.build.data"]
    (top,) = ADAPTER.commands(launch(path="/"), CONTEXT)
    assert settings(top)["test.build.data"].startswith("/fabriscope-")


def test_what_looks_changes_nothing_and_one_of_ours_is_not_looked_at() -> None:
    look = ADAPTER.look(launch(), CONTEXT)
    assert look is not None
    assert (look.argv[-1], look.leaving) == ("fabriscope.only=look", None)
    section = HdfsSection.model_validate({"replication": 1})
    ours = Case(ENTRY, "hdfs_write", 8 * MIB, parameters=section.parameters("gige"))
    assert ADAPTER.look(replace(launch(), cases=(ours,)), CONTEXT) is None
    assert ADAPTER.refused(outcome("")) is None
    assert ADAPTER.refused(outcome("", "fabriscope: nothing listens there (x)\n", 1)) == "nothing listens there (x)"


def test_its_numbers_are_kept_with_what_is_known_of_the_hdfs() -> None:
    asked = launch()
    (case,) = asked.cases
    first, second = (RESULT.replace("CASE", case.case_id).replace("RUN", str(run)) for run in (0, 1))
    parsed = ADAPTER.parse(asked, [outcome(first + second)])
    assert [result.status for result in parsed.results] == ["ok"]
    folder = settings(ADAPTER.commands(asked, CONTEXT)[0])["test.build.data"]
    assert parsed.details["hdfs"] == {
        "at": AT,
        "folder": folder,
        "datanodes": {"10.0.1.7:9866": "dn7", "10.0.1.8:9866": "dn8"},
        "used": ["10.0.1.7:9866"],
        "beside": ["/bench/fabriscope-0"],
    }
    untold = "".join(line for line in (first + second).splitlines(keepends=True) if "datanode" not in line)
    about = ADAPTER.parse(asked, [outcome(untold)]).details["hdfs"]
    assert isinstance(about, dict)
    assert about["datanodes"] is None


def test_why_it_failed_says_where_and_what_may_be_left() -> None:
    asked = launch()
    (result,) = ADAPTER.parse(asked, [outcome("", "fabriscope: it does not answer (x)\n", 1)]).results
    assert (result.status, result.reason) == ("failed", f"{AT}: it does not answer (x)")
    left = outcome("", "fabriscope: it does not answer (x)\n", 1, may_have_left=True)
    (result,) = ADAPTER.parse(asked, [left]).results
    folder = settings(left.command)["test.build.data"]
    assert result.reason == (
        f"{AT}: it does not answer (x); the folder {folder} in {AT} may be left: `fabriscope restore 1f0c52aa` removes "
        f"that, and so does `hdfs dfs -rm -r -skipTrash {AT}{folder}`"
    )
    (result,) = ADAPTER.parse(asked, []).results
    assert (result.reason or "").startswith("TestDFSIO was not started")


def test_no_datanode_that_takes_a_block_may_be_one_that_is_not_reached() -> None:
    refused = (
        "/f could only be written to 0 of the 1 minReplication nodes. There are 2 datanode(s) running and 2 node(s)"
    )
    said = f"ERROR X: File {refused} are excluded in this operation.\nfabriscope: Job failed!\n"
    (result,) = ADAPTER.parse(launch(), [outcome("", said, 1)]).results
    said = f"no DataNode takes a block, are they full, or not reached from here? HDFS says: {refused} are excluded"
    assert result.reason == f"{AT}: {said}"


@pytest.mark.parametrize("key", ["heap", "handlers", "data"])
def test_what_is_said_of_daemons_is_not_told_of_an_hdfs_that_runs(key: str) -> None:
    assert key not in launch().cases[0].parameter_map
    assert key in dict(HdfsSection().parameters())
