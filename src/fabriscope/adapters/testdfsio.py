"""TestDFSIO (Hadoop 3.4) on an HDFS that each launch starts: its service start is the replicate, its runs are bursts.

The first host has the NameNode and the client with all map tasks; every other one has a DataNode. All of them listen
on the addresses of the fabric that is measured, and NameNode and client use the same, so no name has to be known.
TestDFSIO's own numbers are kept as it prints them, in MiB/s with two digits: throughput is all bytes over the sum of
the tasks' times. Ours beside it is all bytes over the time from the first file's opening to the last one's closing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from fabriscope.adapters._foreign import ending, first_tcp_port, text_of
from fabriscope.adapters._java import java
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.readers.base import Row
from fabriscope.readers.dfsio import READER

MIB = 1 << 20
FOLDER = "/fabriscope-TestDFSIO"
"""In HDFS."""
_SORT_MIB = 4
"""Of a map task's buffer: its output is five numbers."""
SIGNALLED = 128
"""What a shell's exit status has beside the number of the signal that ended its program."""
_SERVES = "^fabriscope: namenode ready$"

_RUN = re.compile(r"fabriscope: run case=(\w+) round=(\d+)\n(.*?)fabriscope: end\n", re.DOTALL)
_TASK = re.compile(r"^fabriscope: task start_ns=(-?\d+) end_ns=(-?\d+)$", re.MULTILINE)


class TestDfsio:
    """Runs TestDFSIO's write, read and append over the layer hdfs."""

    name = "testdfsio"
    programs = ("java",)
    java_apps = ("hadoop",)
    tools: ClassVar = {"java": "HDFS and HBase (package default-jdk-headless)"}
    layers = frozenset({"hdfs"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return the NameNode, the DataNodes, and the client, which waits until they serve."""
        told = launch.cases[0].parameter_map
        first, *others = launch.entry.hosts
        tcp_port = first_tcp_port(launch, context)
        common = {
            "fs.defaultFS": f"hdfs://{context.data_address(first)}:{tcp_port}",
            "dfs.replication": told["replication"],
            "dfs.blocksize": told["block_size"],
        }

        def daemon(host: str, role: str, settings: dict[str, str]) -> Command:
            words = ("HdfsNode", role)
            argv = java(context, host, "hadoop", int(told["heap"]), words, common | settings, told["data"])
            pattern = _SERVES if role == "namenode" else None
            return Command(argv, host, ready_pattern=pattern, is_server=True, must_last=True)

        namenode = daemon(first, "namenode", _namenode_settings(context.data_address(first), tcp_port, told))
        datanodes = [
            daemon(host, "datanode", _datanode_settings(context.data_address(host), tcp_port)) for host in others
        ]
        client = common | {
            "test.build.data": FOLDER,
            "mapreduce.framework.name": "local",
            "mapreduce.local.map.tasks.maximum": told["files"],
            "mapreduce.task.io.sort.mb": str(_SORT_MIB),
        }
        words = ("DfsioRuns", str(len(others)), str(int(told["runs"]) + 1), *map(_word, launch.cases))
        argv = java(context, first, "hadoop", int(told["client_heap"]), words, client)
        return (namenode, *datanodes, Command(argv, first, last_line="^fabriscope: done$"))

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the runs' numbers; a daemon that ended by itself fails the launch, whatever the client saw."""
        started = len(launch.entry.hosts)
        reason = _daemon_that_ended(outcomes[:started]) or _client_that_failed(outcomes, started)
        if reason is not None:
            failed = tuple(CaseResult(case.case_id, "failed", reason) for case in launch.cases)
            return ParsedLaunch((), failed)
        blocks: list[SampleBlock] = []
        printed: list[dict[str, object]] = []
        cases = {case.case_id: case for case in launch.cases}
        for case_id, run, values, stated in _runs(text_of(outcomes[started].stdout), cases):
            phase = "measure" if run else "warmup"
            blocks += [SampleBlock(case_id, (value,), name, phase=phase, burst=run) for name, value in values.items()]
            printed.append({"case_id": case_id, "run": run, **stated})
        measured = {block.case_id for block in blocks if block.phase == "measure"}
        lacking = "TestDFSIO printed no result of it"
        results = tuple(
            CaseResult(case_id, "ok") if case_id in measured else CaseResult(case_id, "failed", lacking)
            for case_id in cases
        )
        return ParsedLaunch(tuple(blocks), results, {"testdfsio": printed})


def _namenode_settings(address: str, tcp_port: int, told: Mapping[str, str]) -> dict[str, str]:
    return {
        "dfs.namenode.rpc-address": f"{address}:{tcp_port}",
        "dfs.namenode.http-address": "127.0.0.1:0",
        "dfs.namenode.handler.count": told["handlers"],
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.fs-limits.min-block-size": str(MIB),
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }


def _datanode_settings(address: str, tcp_port: int) -> dict[str, str]:
    return {
        "dfs.datanode.address": f"{address}:{tcp_port + 1}",
        "dfs.datanode.ipc.address": f"{address}:{tcp_port + 2}",
        "dfs.datanode.http.address": "127.0.0.1:0",
        "dfs.datanode.hostname": address,
    }


def _word(case: Case) -> str:
    operation = case.benchmark.removeprefix("hdfs_")
    return f"{case.case_id}:{operation}:{case.parameter_map['files']}:{case.message_size_bytes}"


def _daemon_that_ended(daemons: Sequence[Outcome]) -> str | None:
    """Return a sentence for the first of the servers that we did not end, None where there is none."""
    for place, outcome in enumerate(daemons):
        if outcome.exit_status is None:
            continue
        name = "NameNode" if place == 0 else "DataNode"
        said = re.findall(r"^fabriscope: (.*)$", text_of(outcome.stderr), re.MULTILINE)
        how = said[-1] if said else _end_of_java(outcome)
        return f"the {name} on {outcome.command.host} did not last: {how}"
    return None


def _end_of_java(outcome: Outcome) -> str:
    """Return how it ended, and what it said last that is no warning."""
    status = outcome.exit_status
    if status is not None and status > SIGNALLED:  # the shell around Java tells its signal
        return f"it was ended by signal {status - SIGNALLED}"
    errors = b"".join(line for line in outcome.stderr.splitlines(keepends=True) if not line.startswith(b"WARN "))
    return ending(replace(outcome, stdout=b"", stderr=errors), "it")


def _client_that_failed(outcomes: Sequence[Outcome], place: int) -> str | None:
    client = outcomes[place] if place < len(outcomes) else None
    if client is not None and client.exit_status in (0, None) and not client.timed_out:
        return None
    said = re.findall(r"^fabriscope: (.*)$", text_of(client.stderr), re.MULTILINE) if client else []
    return said[-1] if said else ending(client, "TestDFSIO", outcomes)


def _runs(text: str, cases: dict[str, Case]) -> Iterator[tuple[str, int, dict[str, float], dict[str, object]]]:
    """Yield case, run, our values and what TestDFSIO printed, of each run; raises ParseError."""
    for case_id, run, said in _RUN.findall(text):
        if case_id not in cases:
            raise ParseError(f"a run of the case {case_id}, which was not asked for", where="testdfsio")
        files = int(cases[case_id].parameter_map["files"])
        sent_bytes = files * cases[case_id].message_size_bytes
        printed = _printed(said)
        total_bytes = printed.number("total_bytes")
        if abs(total_bytes - sent_bytes) > 0.01 * sent_bytes:
            raise ParseError(f"{total_bytes / MIB} MiB were moved, and {sent_bytes} B asked for", where="testdfsio")
        tasks = [(int(start), int(end)) for start, end in _TASK.findall(said)]
        if len(tasks) != files:
            raise ParseError(f"{len(tasks)} files were timed, and {files} were asked for", where="testdfsio")
        span_ns = max(end for _, end in tasks) - min(start for start, _ in tasks)
        values = {
            "hdfs_bandwidth_bytes_per_s": sent_bytes * 1e9 / max(1, span_ns),
            "dfsio_throughput_bytes_per_s": printed.number("bandwidth_bytes_per_s"),
            "dfsio_average_io_rate_bytes_per_s": printed.number("bandwidth_bytes_per_s_mean"),
        }
        stated = {
            "throughput_mib_per_s": printed.number("bandwidth_bytes_per_s") / MIB,
            "average_io_rate_mib_per_s": printed.number("bandwidth_bytes_per_s_mean") / MIB,
            "io_rate_deviation_mib_per_s": printed.number("bandwidth_bytes_per_s_deviation") / MIB,
            "total_mib": total_bytes / MIB,
            "job_s": printed.number("time_s"),
        }
        yield case_id, int(run), values, {**stated, "span_ns": span_ns}


def _printed(said: str) -> Row:
    """Return what TestDFSIO printed of one run; raises ParseError where it is no result, or not one."""
    document = READER.read(said)
    document.check("testdfsio")
    if document.problems:
        raise ParseError(document.problems[0].text, where="testdfsio")
    rows = document.rows()
    if len(rows) != 1:
        raise ParseError(f"{len(rows)} results stand in one run", where="testdfsio")
    return rows[0]


ADAPTER = TestDfsio()
