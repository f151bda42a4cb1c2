"""YCSB on an HBase that runs already: the client alone, its own tables, and what is made of what it says."""

from __future__ import annotations

import secrets

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.ycsb import Ycsb
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HbaseSection

MARK = secrets.token_hex(8)
AT = "zk1:2181,zk2:2181:/hbase"
CONTEXT = AdapterContext(
    {"a": Host("a", addresses={"eth1": "10.0.1.1"})},
    fabric=Fabric("gige", {"a": "eth1"}),
    programs={"java": "/x/java", "hbase classes": "/y:/z/*"},
    token=MARK,
)
ENTRY = Entry("hbase", "gige", "inter", ("a",), instrument="ycsb")
CASE = Case(
    ENTRY, "hbase_get", 100, parameters=HbaseSection.model_validate({"at": AT, "regions": 4}).parameters("gige")
)
LAUNCH = Launch(3, 1, ENTRY, (CASE,), seed=42, budget_ns=0)
ADAPTER = Ycsb()


def settings(command: Command) -> dict[str, str]:
    return dict(word.split("=", 1) for word in command.argv[command.argv.index("-cp") + 2 :] if "=" in word)


def outcome(stdout: str, stderr: str, *, may_have_left: bool = False) -> Outcome:
    (client,) = ADAPTER.commands(LAUNCH, CONTEXT)
    return Outcome(client, 1, stdout.encode(), stderr.encode(), 0, 0, may_have_left=may_have_left, left_as="1f0c52aa")


def test_the_client_alone_is_started_with_tables_of_its_own_that_its_undoing_names() -> None:
    (client,) = ADAPTER.commands(LAUNCH, CONTEXT)
    told = settings(client)
    assert (told["hbase.zookeeper.quorum"], told["zookeeper.znode.parent"]) == ("zk1:2181,zk2:2181", "/hbase")
    assert told["fabriscope.table"].startswith("fabriscope-")
    assert MARK not in " ".join(client.argv)
    assert "hbase.rootdir" not in told
    place = client.argv.index("YcsbRuns")
    assert client.argv[place : place + 4] == ("YcsbRuns", "0", "4", "3")
    assert client.leaving is not None
    assert client.leaving.argv == (*client.argv, "fabriscope.only=remove")
    look = ADAPTER.look(LAUNCH, CONTEXT)
    assert look is not None
    assert (look.argv[-1], look.leaving) == ("fabriscope.only=look", None)


def test_why_it_failed_says_where_and_what_may_be_left() -> None:
    said = "fabriscope: no ZooKeeper answers there (x)\n"
    (result,) = ADAPTER.parse(LAUNCH, [outcome("", said)]).results
    assert (result.status, result.reason) == ("failed", f"{AT}: no ZooKeeper answers there (x)")
    left = outcome("", said, may_have_left=True)
    (result,) = ADAPTER.parse(LAUNCH, [left]).results
    pattern = f"'{settings(left.command)['fabriscope.table']}-.*'"
    assert (result.reason or "").endswith(
        f"the tables {pattern[1:-4]}-* in {AT} may be left: `fabriscope restore 1f0c52aa` removes that, and so does "
        f"`disable_all {pattern}` and then `drop_all {pattern}` of `hbase shell`"
    )
    assert ADAPTER.refused(left) == "no ZooKeeper answers there (x)"
