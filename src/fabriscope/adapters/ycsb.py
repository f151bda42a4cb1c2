"""YCSB 0.17 on an HBase 2.5 that each launch starts: its service start is the replicate, its runs are bursts.

Or on one that runs already: then the client alone is started, on the first host.

The first host has the NameNode, ZooKeeper, the master and the client; every other one a DataNode and a region server.
All of them listen on the addresses of the fabric that is measured. Each launch makes a table whose regions have about
equal shares of the keys, loads it, and runs the workloads. YCSB's own numbers are kept as it prints them, in
microseconds; its HdrHistograms stand beside them in the journal, in the format of HdrHistogram's logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from fabriscope.adapters import _running_hbase
from fabriscope.adapters._foreign import first_tcp_port, text_of
from fabriscope.adapters._java import ON_DISK, java
from fabriscope.adapters._running import Asking
from fabriscope.adapters._services import (
    HDFS_PORT_COUNT,
    TOOLS,
    Hdfs,
    all_failed,
    daemon,
    runs,
    version_of,
    what_failed,
)
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.model.metric_services import latency_ids
from fabriscope.model.ycsb_workloads import LOAD, OPERATIONS, WORKLOADS
from fabriscope.readers.base import Document, Row
from fabriscope.readers.ycsb import READER

ZOOKEEPER_HEAP_BYTES = 64 << 20
PERCENTILES = {"50": "latency_ns_p50", "99": "latency_ns_p99", "99.9": "latency_ns_p99_9"}
"""What YCSB is asked for, in the order of the metrics, to the names of the reader's columns."""
INTENDED = "Intended-"
"""How YCSB calls the latencies that begin when an operation should have started."""
# As HBase's own scripts have them for Java 11 and newer.
_OPENED = ("java.io", "java.nio", "sun.nio.ch", "java.lang", "jdk.internal.ref", "java.lang.reflect", "java.util")
JAVA_OPTIONS = (
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    *("--add-modules", "jdk.unsupported"),
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in (*_OPENED, "java.util.concurrent")),
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
)

_HISTOGRAM = re.compile(r"^fabriscope: histogram ([\w-]+) (\S+)$", re.MULTILINE)
_ERROR = re.compile(r"^fabriscope: error (.*)$", re.MULTILINE)
_REGIONS = re.compile(r"^fabriscope: regions table=(\S+) host=(\S+) count=(\d+)$", re.MULTILINE)


class Ycsb(Asking):
    """Runs YCSB's workloads over the layer hbase."""

    name = "ycsb"
    programs = ("java",)
    java_apps = ("hbase",)
    tools: ClassVar = TOOLS
    layers = frozenset({"hbase"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return the daemons of HDFS and of HBase, and the client, which waits until they serve."""
        told = launch.cases[0].parameter_map
        if "at" in told:
            own = _running_hbase.settings(told, context.token)
            return (_running_hbase.leaving_there(self._client(launch, context, own)),)
        first, *others = launch.entry.hosts
        tcp_port = first_tcp_port(launch, context)
        hdfs = Hdfs(
            launch.entry.hosts, tcp_port, "hbase", int(told["hdfs_heap"]), told["data"], told["replication"]
        )  # fmt: skip
        settings = _settings(hdfs, context)
        heaps = {
            "zookeeper": ZOOKEEPER_HEAP_BYTES, "master": int(told["master_heap"]), "regionserver": int(told["heap"])
        }  # fmt: skip

        def node(host: str, role: str, own: Mapping[str, str]) -> Command:
            words = ("HBaseNode", role)
            argv = java(context, host, "hbase", heaps[role], words, {**settings, **own}, ON_DISK, JAVA_OPTIONS)
            return daemon(argv, host, role if role == "zookeeper" else "")

        address = context.data_address(first)
        at = f"{address}:{tcp_port + HDFS_PORT_COUNT}"
        zookeeper = node(first, "zookeeper", {"fabriscope.zookeeper": at})
        master = node(first, "master", _of_master(address, tcp_port, len(others)))
        servers = [
            node(host, "regionserver", _of_server(context.data_address(host), tcp_port, told)) for host in others
        ]
        return (*hdfs.daemons(context, {}), zookeeper, master, *servers, self._client(launch, context, settings))

    def _client(self, launch: Launch, context: AdapterContext, settings: Mapping[str, str]) -> Command:
        told = launch.cases[0].parameter_map
        first, *others = launch.entry.hosts
        server_count = 1 if "at" in told else len(others)  # servers that run already are counted by the client
        regions = int(told["regions"]) * server_count
        words = ("YcsbRuns", str(len(others)), str(regions), str(int(told["runs"]) + 1), *map(_word, launch.cases))
        properties = {f"ycsb.{name}": value for name, value in _properties(told).items()}
        argv = java(
            context, first, "hbase", int(told["client_heap"]), words, {**settings, **properties}, options=JAVA_OPTIONS
        )
        return Command(argv, first, last_line="^fabriscope: done$")

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the runs' numbers; a daemon that ended by itself fails the launch, whatever the client saw."""
        names = _daemons(launch)
        reason = what_failed(names, outcomes, "YCSB")
        if reason is not None:
            return all_failed(launch, reason if names else _running_hbase.failed_there(outcomes, reason))
        client = outcomes[len(names)]
        blocks: list[SampleBlock] = []
        printed: list[dict[str, object]] = []
        reasons: dict[str, str | None] = {}
        for case, run, text in runs(client, launch):
            document = _document(text)
            phase = "measure" if run else "warmup"
            values = _values(case, document)
            blocks += [SampleBlock(case.case_id, (value,), name, phase=phase, burst=run) for name, value in values]
            printed.append({"case_id": case.case_id, "run": run, **_stated(document, text if run else "")})
            if run:
                reasons[case.case_id] = reasons.get(case.case_id) or _errors(case, document, text)
        told = tuple(_result(case, reasons) for case in launch.cases)
        good = {result.case_id for result in told if result.status == "ok"}
        regions: dict[str, dict[str, int]] = {}
        for table, host, count in _REGIONS.findall(text_of(client.stdout)):
            regions.setdefault(table, {})[host] = int(count)
        details: dict[str, object] = {"ycsb": printed, "regions": regions, **version_of("hbase", client)}
        details |= {} if names else {"hbase": _running_hbase.details(client)}
        return ParsedLaunch(tuple(block for block in blocks if block.case_id in good), told, details)


def _daemons(launch: Launch) -> tuple[str, ...]:
    """Return the names of the daemons that a launch starts; none where the HBase runs already."""
    if "at" in launch.cases[0].parameter_map:
        return ()
    others = len(launch.entry.hosts) - 1
    return ("NameNode", *["DataNode"] * others, "ZooKeeper", "master", *["region server"] * others)


def _result(case: Case, reasons: Mapping[str, str | None]) -> CaseResult:
    """Return how a case ended; `reasons` has those of which there is a run, with why it does not count."""
    reason = reasons.get(case.case_id, "YCSB printed no result of it")
    return CaseResult(case.case_id, "ok" if reason is None else "failed", reason)


def _settings(hdfs: Hdfs, context: AdapterContext) -> dict[str, str]:
    """Return what every daemon and the client are told."""
    return {
        **hdfs.common(context),
        "hbase.rootdir": f"{hdfs.address(context)}/hbase",
        "hbase.cluster.distributed": "true",
        "hbase.wal.provider": "filesystem",
        "hbase.zookeeper.quorum": context.data_address(hdfs.hosts[0]),
        "hbase.zookeeper.property.clientPort": str(hdfs.tcp_port + HDFS_PORT_COUNT),
    }


def _of_master(address: str, tcp_port: int, server_count: int) -> dict[str, str]:
    return {
        "hbase.unsafe.regionserver.hostname": address,
        "hbase.master.hostname": address,
        "hbase.master.ipc.address": address,
        "hbase.master.port": str(tcp_port + HDFS_PORT_COUNT + 1),
        "hbase.master.info.port": "-1",
        "hbase.master.wait.on.regionservers.mintostart": str(server_count),
    }


def _of_server(address: str, tcp_port: int, told: Mapping[str, str]) -> dict[str, str]:
    return {
        "hbase.unsafe.regionserver.hostname": address,
        "hbase.regionserver.ipc.address": address,
        "hbase.regionserver.port": str(tcp_port + HDFS_PORT_COUNT + 2),
        "hbase.regionserver.info.port": "-1",
        "hbase.regionserver.handler.count": told["handlers"],
    }


def _properties(told: Mapping[str, str]) -> dict[str, str]:
    """Return YCSB's properties of all cases."""
    target = {"target": told["target"]} if told["target"] != "0" else {}
    return {
        "recordcount": told["records"],
        "operationcount": told["operations"],
        "threadcount": told["threads"],
        "fieldcount": told["fields"],
        "measurementtype": "hdrhistogram",
        "measurement.interval": "both",
        "hdrhistogram.percentiles": ",".join(PERCENTILES),
        "hdrhistogram.fileoutput": "true",
        **target,
    }


def _workload(case: Case) -> str:
    return case.benchmark.removeprefix("hbase_")


def _word(case: Case) -> str:
    kind = "load" if _workload(case) == LOAD else "run"
    properties = WORKLOADS[_workload(case)].properties(case.parameter_map["distribution"])
    words = ",".join(f"{name}={value}" for name, value in properties.items())
    return f"{case.case_id}:{kind}:{case.message_size_bytes}:{words}"


def _document(text: str) -> Document:
    """Return what YCSB printed of one run; raises ParseError where it is no result, or not a whole one."""
    document = READER.read(text)
    document.check("ycsb")
    cut = document.problem("cut")
    if cut is not None or len(document.tables) != 1:
        raise ParseError(cut.text if cut else f"{len(document.tables)} results stand in one run", where="ycsb")
    return document


def _rows(document: Document) -> dict[str, Row]:
    return {str(row.values["operation"]): row for row in document.rows()}


def _stated_number(document: Document, name: str) -> float:
    value = next((one.value for one in document.tables[0].parameters if one.name == name), None)
    if not isinstance(value, float):
        raise ParseError(f"the result has no {name}", where="ycsb")
    return value


def _values(case: Case, document: Document) -> Iterator[tuple[str, float]]:
    """Yield every metric and its value. Without a target rate no operation has an intended start."""
    yield "ycsb_throughput_per_s", _stated_number(document, "throughput_per_s")
    rows = _rows(document)
    prefixes = ("", INTENDED) if case.parameter_map["target"] != "0" and _workload(case) != LOAD else ("",)
    for kind in WORKLOADS[_workload(case)].operations:
        columns = [(prefix, column) for prefix in ("", INTENDED) for column in PERCENTILES.values()]
        for metric_id, (prefix, column) in zip(latency_ids(kind), columns, strict=True):
            row = rows.get(prefix + OPERATIONS[kind][0])
            if row is not None and prefix in prefixes:
                yield metric_id, row.number(column)


def _errors(case: Case, document: Document, text: str) -> str | None:
    """Return why a run counts as failed; None where the operations that failed stay within the plan's error_share."""
    own = [row for name, row in _rows(document).items() if not name.startswith(INTENDED)]
    failed = sum(int(row.values.get("not_ok_count", 0)) for row in own)
    told = case.parameter_map
    asked = int(told["records"] if _workload(case) == LOAD else told["operations"])
    if failed <= float(told["error_share"]) * asked:
        return None
    last = _ERROR.search(text)
    why = f", the last one of them by {last[1]}" if last else ""
    return f"{failed} of {asked} operations did not return OK{why}; the plan allows {float(told['error_share']):.3g}"


def _stated(document: Document, text: str) -> dict[str, object]:
    """Return what YCSB printed of one run, and its histograms, for the journal."""
    histograms = {name: line.rpartition(",")[2] for name, line in _HISTOGRAM.findall(text) if "CLEANUP" not in name}
    return {
        "throughput_per_s": _stated_number(document, "throughput_per_s"),
        "run_s": _stated_number(document, "time_s"),
        "operations": {name: dict(row.values) for name, row in _rows(document).items()},
        "hdr_histograms": histograms,
    }


ADAPTER = Ycsb()
