"""YCSB on HBase: what the daemons and the client are told, and what is made of what they say, recorded in a lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.ycsb import Ycsb
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HbaseSection

SAID = (Path(__file__).parent / "data" / "ycsb" / "load_a_f.stdout").read_bytes()
"""200 records of 100 B loaded, then A and F: 200 operations at 100 a second, a warm-up and a run, two threads."""
RECORDED = (b"ff79838d54a1", b"b35322109eb5", b"43bd47d1ee7e")
NAMES = ("a", "b", "c")
HOSTS = {name: Host(name, addresses={"eth1": f"10.0.1.{place}"}) for place, name in enumerate(NAMES, 1)}
CONTEXT = AdapterContext(
    HOSTS,
    fabric=Fabric("gige", dict.fromkeys(NAMES, "eth1")),
    programs={"java": "/x/java", "hbase classes": "/y:/z/*"},
)
ENTRY = Entry("hbase", "gige", "inter", NAMES, instrument="ycsb")
ADAPTER = Ycsb()
DAEMONS = ("NameNode", "DataNode", "DataNode", "ZooKeeper", "master", "region server", "region server")
PLACES = ("a", "b", "c", "a", "a", "b", "c")


def launch(*workloads: str, **told: object) -> Launch:
    own = {"replication": 2, "records": 200, "operations": 200, "threads": 2, "runs": 1, "target": 100}
    parameters = HbaseSection(**{**own, **told}).parameters()
    cases = [Case(ENTRY, f"hbase_{name}", 100, parameters=parameters) for name in workloads]
    return Launch(3, 1, ENTRY, tuple(cases), seed=42, budget_ns=0)


ALL = launch("load", "a", "f")


def said_of(asked: Launch, text: bytes = SAID) -> bytes:
    """Return the recorded text with the names of these cases."""
    for recorded, case in zip(RECORDED, asked.cases, strict=True):
        text = text.replace(recorded, case.case_id.encode())
    return text


def outcomes(stdout: bytes, ended: dict[int, int] | None = None) -> list[Outcome]:
    daemons = [
        Outcome(Command(("java",), host), (ended or {}).get(place), b"", b"", 0, 0) for place, host in enumerate(PLACES)
    ]
    return [*daemons, Outcome(Command(("java",), "a"), 0, stdout, b"", 0, 0)]


def settings(command: Command) -> dict[str, str]:
    words = command.argv[command.argv.index("-cp") + 2 :]
    return dict(word.split("=", 1) for word in words if "=" in word and ":" not in word.partition("=")[0])


def test_every_daemon_listens_on_the_fabric_and_the_client_comes_last() -> None:
    *daemons, client = ADAPTER.commands(ALL, CONTEXT)
    assert tuple(one.host for one in daemons) == PLACES
    assert all(one.is_server and one.must_last for one in daemons)
    assert (client.host, client.is_server) == ("a", False)
    namenode, *_, zookeeper, master, server, _ = daemons
    root = settings(namenode)["fs.defaultFS"]
    port = int(root.rpartition(":")[2])
    assert settings(zookeeper)["fabriscope.zookeeper"] == f"10.0.1.1:{port + 3}"
    assert settings(master)["hbase.master.ipc.address"] == settings(master)["hbase.master.hostname"] == "10.0.1.1"
    assert settings(server)["hbase.regionserver.ipc.address"] == "10.0.1.2"
    assert settings(server)["hbase.unsafe.regionserver.hostname"] == "10.0.1.2"
    assert settings(server)["hbase.regionserver.port"] == str(port + 5)
    for one in (master, server, client):
        told = settings(one)
        assert (told["hbase.rootdir"], told["hbase.zookeeper.quorum"]) == (f"{root}/hbase", "10.0.1.1")
        assert (told["hbase.zookeeper.property.clientPort"], told["dfs.replication"]) == (str(port + 3), "2")


def test_the_client_is_told_the_workloads() -> None:
    client = ADAPTER.commands(ALL, CONTEXT)[-1]
    place = client.argv.index("YcsbRuns")
    _, servers, regions, rounds, load, first, last, *_ = client.argv[place:]
    assert (servers, regions, rounds) == ("2", "2", "2")
    assert load.startswith(f"{ALL.cases[0].case_id}:load:100:")
    assert first == (
        f"{ALL.cases[1].case_id}:run:100:readproportion=0.5,updateproportion=0.5,insertproportion=0.0,"
        "scanproportion=0.0,readmodifywriteproportion=0.0,requestdistribution=zipfian,writeallfields=false,"
        "maxscanlength=100"
    )
    assert "readmodifywriteproportion=0.5" in last
    told = settings(client)
    assert (told["ycsb.recordcount"], told["ycsb.target"], told["ycsb.measurement.interval"]) == ("200", "100", "both")
    free = settings(ADAPTER.commands(launch("a", target=0, distribution="uniform"), CONTEXT)[-1])
    assert "ycsb.target" not in free


def test_its_numbers_are_kept_as_it_prints_them_and_both_latencies_of_a_target_rate() -> None:
    parsed = ADAPTER.parse(ALL, outcomes(said_of(ALL)))
    assert [result.status for result in parsed.results] == ["ok"] * 3
    values = {(one.case_id, one.quantity): one.values[0] for one in parsed.blocks if one.phase == "measure"}
    load, first, last = (case.case_id for case in ALL.cases)
    assert values[load, "ycsb_throughput_per_s"] == 107.00909577314071
    assert values[load, "ycsb_insert_latency_ns"] == 13_647_000
    assert values[load, "ycsb_insert_latency_ns_p99_9"] == 309_759_000
    assert (load, "ycsb_insert_intended_latency_ns") not in values
    for kind in ("read", "update"):
        assert values[first, f"ycsb_{kind}_intended_latency_ns_p99"] >= values[first, f"ycsb_{kind}_latency_ns_p99"]
    assert (last, "ycsb_read_modify_write_latency_ns_p99") in values
    printed = parsed.details["ycsb"]
    assert isinstance(printed, list)
    assert [one["run"] for one in printed] == [1, 0, 0, 1, 1]
    assert set(printed[3]["hdr_histograms"]) == {"READ", "UPDATE", "Intended-READ", "Intended-UPDATE"}
    assert all(text.startswith("HIST") for text in printed[3]["hdr_histograms"].values())
    assert parsed.details["regions"] == {"ycsb100": {"10.10.0.2": 1, "10.10.0.3": 1}}


def test_without_a_target_rate_no_operation_has_an_intended_start() -> None:
    free = launch("load", "a", "f", target=0)
    parsed = ADAPTER.parse(free, outcomes(said_of(free)))
    assert not any("intended" in one.quantity for one in parsed.blocks)


@pytest.mark.parametrize(("share", "status"), [(0.0, "failed"), (0.01, "failed"), (0.02, "ok")])
def test_a_case_with_too_many_errors_failed_and_says_the_last(share: float, status: str) -> None:
    asked = launch("load", "a", "f", error_share=share)
    text = said_of(asked)
    begin = text.index(b"case=" + asked.cases[1].case_id.encode() + b" round=1")
    wrong = re.sub(
        rb"\[READ\], Return=OK, (\d+)\n", rb"[READ], Return=OK, \1\n[READ], Return=ERROR, 3\n", text[begin:], count=1
    )
    wrong = wrong.replace(b"fabriscope: end", b"fabriscope: error java.io.IOException: gone\nfabriscope: end", 1)
    results = ADAPTER.parse(asked, outcomes(text[:begin] + wrong)).results
    assert [result.status for result in results] == ["ok", status, "ok"]
    if status == "failed":
        assert (results[1].reason or "").startswith(
            "3 of 200 operations did not return OK, the last one of them by java.io.IOException: gone"
        )


@pytest.mark.parametrize("place", [1, 4, 5])
def test_a_daemon_that_ended_by_itself_fails_the_launch_whatever_the_client_saw(place: int) -> None:
    parsed = ADAPTER.parse(ALL, outcomes(said_of(ALL), {place: 137}))
    assert not parsed.blocks
    assert {result.reason for result in parsed.results} == {
        f"the {DAEMONS[place]} on {PLACES[place]} did not last: it was ended by signal 9"
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"[OVERALL], Throughput(ops/sec), 107.00909577314071\n", b"", "the summary has no throughput"),
        (b"[OVERALL], RunTime(ms), 1869\n", b"", "the summary has no run time"),
        (b"run case=", b"run case=f00", "which was not asked for"),
    ],
)
def test_text_of_another_shape_is_refused(old: bytes, new: bytes, said: str) -> None:
    assert old in said_of(ALL)
    with pytest.raises(ParseError, match=said):
        ADAPTER.parse(ALL, outcomes(said_of(ALL).replace(old, new)))


def test_a_case_without_a_result_failed_and_the_others_did_not() -> None:
    text = said_of(ALL)
    cut = text[: text.rindex(b"fabriscope: run case=" + ALL.cases[2].case_id.encode())]
    parsed = ADAPTER.parse(ALL, outcomes(cut))
    assert [result.status for result in parsed.results] == ["ok", "ok", "failed"]
    assert parsed.results[2].reason == "YCSB printed no result of it"
