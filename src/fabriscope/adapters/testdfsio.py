"""TestDFSIO (Hadoop 3.4) on an HDFS that each launch starts: its service start is the replicate, its runs are bursts.

Or on one that runs already: then the client alone is started, on the first host.

The first host has the NameNode and the client with all map tasks; every other one has a DataNode. All of them listen
on the addresses of the fabric that is measured, and NameNode and client use the same, so no name has to be known.
TestDFSIO's own numbers are kept as it prints them, in MiB/s with two digits: throughput is all bytes over the sum of
the tasks' times. Ours beside it is all bytes over the time from the first file's opening to the last one's closing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from fabriscope.adapters import _running_hdfs
from fabriscope.adapters._foreign import first_tcp_port
from fabriscope.adapters._java import java
from fabriscope.adapters._running import Asking
from fabriscope.adapters._services import FULL, MIB, TOOLS, Hdfs, all_failed, runs, version_of, what_failed
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.readers.base import Row
from fabriscope.readers.dfsio import READER

FOLDER = "/fabriscope-TestDFSIO"
"""In HDFS."""
_SORT_MIB = 4
"""Of a map task's buffer: its output is five numbers."""

ROUNDING_S = 0.01
"""Of the job's time, which is printed in hundredths of a second."""
_TASK = re.compile(r"^fabriscope: task start_ns=(-?[0-9]{1,19}) end_ns=(-?[0-9]{1,19})$", re.MULTILINE)


class TestDfsio(Asking):
    """Runs TestDFSIO's write, read and append over the layer hdfs."""

    name = "testdfsio"
    programs = ("java",)
    java_apps = ("hadoop",)
    tools: ClassVar = TOOLS
    layers = frozenset({"hdfs"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return the NameNode, the DataNodes, and the client, which waits until they serve."""
        told = launch.cases[0].parameter_map
        if "at" in told:
            settings = _running_hdfs.settings(told, context.token)
            return (_running_hdfs.leaving_there(_client(launch, context, int(told["replication"]), settings)),)
        hdfs = _hdfs_of(launch, context)
        daemons = hdfs.daemons(
            context, {"dfs.blocksize": told["block_size"], "dfs.namenode.handler.count": told["handlers"]}
        )
        settings = {**hdfs.common(context), "test.build.data": FOLDER}
        return (*daemons, _client(launch, context, len(launch.entry.hosts) - 1, settings))

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the runs' numbers; a daemon that ended by itself fails the launch, whatever the client saw."""
        is_ours = "at" not in launch.cases[0].parameter_map
        started = len(launch.entry.hosts) if is_ours else 0
        names = ("NameNode", *["DataNode"] * (started - 1)) if is_ours else ()
        full = FULL if is_ours else "are they full, or not reached from here?"
        reason = what_failed(names, outcomes, "TestDFSIO", full)
        if reason is not None:
            return all_failed(launch, reason if is_ours else _running_hdfs.failed_there(outcomes, reason))
        blocks: list[SampleBlock] = []
        printed: list[dict[str, object]] = []
        for case, run, said in runs(outcomes[started], launch):
            values, stated = _numbers(case, said)
            phase = "measure" if run else "warmup"
            blocks += [
                SampleBlock(case.case_id, (value,), name, phase=phase, burst=run) for name, value in values.items()
            ]
            printed.append({"case_id": case.case_id, "run": run, **stated})
        measured = {block.case_id for block in blocks if block.phase == "measure"}
        lacking = "TestDFSIO printed no result of it"
        results = tuple(
            CaseResult(case.case_id, "ok") if case.case_id in measured else CaseResult(case.case_id, "failed", lacking)
            for case in launch.cases
        )
        details: dict[str, object] = {"testdfsio": printed}
        details |= version_of("hadoop", outcomes[started])
        if not is_ours:
            details["hdfs"] = _running_hdfs.details(outcomes[0])
        return ParsedLaunch(tuple(block for block in blocks if block.case_id in measured), results, details)


def _hdfs_of(launch: Launch, context: AdapterContext) -> Hdfs:
    told = launch.cases[0].parameter_map
    tcp_port, heap_bytes = first_tcp_port(launch, context), int(told["heap"])
    return Hdfs(launch.entry.hosts, tcp_port, "hadoop", heap_bytes, told["data"], told["replication"])


def _client(launch: Launch, context: AdapterContext, datanodes: int, settings: Mapping[str, str]) -> Command:
    """Return the client, which waits for these many DataNodes, or asks for them where the HDFS is not ours."""
    told = launch.cases[0].parameter_map
    first = launch.entry.hosts[0]
    of_client = {
        **settings,
        "dfs.blocksize": told["block_size"],
        "mapreduce.framework.name": "local",
        "mapreduce.local.map.tasks.maximum": told["files"],
        "mapreduce.task.io.sort.mb": str(_SORT_MIB),
    }
    words = ("DfsioRuns", str(datanodes), str(int(told["runs"]) + 1), *map(_word, launch.cases))
    argv = java(context, first, "hadoop", int(told["client_heap"]), words, of_client)
    return Command(argv, first, last_line="^fabriscope: done$")


def _word(case: Case) -> str:
    operation = case.benchmark.removeprefix("hdfs_")
    return f"{case.case_id}:{operation}:{case.parameter_map['files']}:{case.message_size_bytes}"


def _numbers(case: Case, said: str) -> tuple[dict[str, float], dict[str, object]]:
    """Return our values of one run by metric id, and what TestDFSIO printed for the journal; raises ParseError."""
    files = int(case.parameter_map["files"])
    sent_bytes = files * case.message_size_bytes
    printed = _printed(said)
    total_bytes = printed.number("total_bytes")
    if abs(total_bytes - sent_bytes) > 0.01 * sent_bytes:
        raise ParseError(f"{total_bytes / MIB} MiB were moved, and {sent_bytes} B asked for", where="testdfsio")
    tasks = [(int(start), int(end)) for start, end in _TASK.findall(said)]
    if len(tasks) != files:
        raise ParseError(f"{len(tasks)} files were timed, and {files} were asked for", where="testdfsio")
    span_ns = _span_ns(tasks, printed.number("time_s"))
    values = {
        "hdfs_bandwidth_bytes_per_s": sent_bytes * 1e9 / span_ns,
        "dfsio_throughput_bytes_per_s": printed.number("bandwidth_bytes_per_s"),
        "dfsio_average_io_rate_bytes_per_s": printed.number("bandwidth_bytes_per_s_mean"),
    }
    return values, {
        "throughput_mib_per_s": printed.number("bandwidth_bytes_per_s") / MIB,
        "average_io_rate_mib_per_s": printed.number("bandwidth_bytes_per_s_mean") / MIB,
        "io_rate_deviation_mib_per_s": printed.number("bandwidth_bytes_per_s_deviation") / MIB,
        "total_mib": total_bytes / MIB,
        "job_s": printed.number("time_s"),
        "span_ns": span_ns,
    }


def _span_ns(tasks: Sequence[tuple[int, int]], job_s: float) -> int:
    """Return the time from the first begin of a file to the last end; raises ParseError for one that cannot be."""
    for start, end in tasks:
        if end <= start:
            raise ParseError(f"a file ended at {end} ns, and began at {start} ns", where="testdfsio")
    span_ns = max(end for _, end in tasks) - min(start for start, _ in tasks)
    if span_ns > (job_s + ROUNDING_S) * 1e9:
        what = f"its files took {span_ns / 1e9:.4g} s, and the job that moved them {job_s:.4g} s"
        raise ParseError(what, where="testdfsio")
    return span_ns


def _printed(said: str) -> Row:
    """Return what TestDFSIO printed of one run; raises ParseError where it is no result, or not one."""
    document = READER.read(said)
    document.check("testdfsio")
    if problems := [one for one in document.problems if one.kind != "noted"]:
        raise ParseError(problems[0].text, where="testdfsio")
    rows = document.rows()
    if len(rows) != 1:
        raise ParseError(f"{len(rows)} results stand in one run", where="testdfsio")
    return rows[0]


ADAPTER = TestDfsio()
