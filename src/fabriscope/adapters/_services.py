"""What launches of Java services share: the daemons of an HDFS, the client's runs, and why a launch failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabriscope.adapters._foreign import ending, text_of
from fabriscope.adapters._java import java
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch

MIB = 1 << 20
SIGNALLED = 128
"""What a shell's exit status has beside the number of the signal that ended its program."""
TOOLS = {"java": "HDFS and HBase (package default-jdk-headless)"}
_RUN = re.compile(r"fabriscope: run case=(\w+) round=(\d+)\n(.*?)fabriscope: end\n", re.DOTALL)
_VERSION = re.compile(r"^fabriscope: (\w+) version=(\S+)$", re.MULTILINE)
_REFUSED = re.compile(
    r"\S+ could only be written to \d+ of the \d+ minReplication nodes\. There are \d+ datanode\(s\) running and "
    r"\d+ node\(s\) are excluded"
)
FULL = "is the folder of their data full (/dev/shm; with `data: disk` that of TMPDIR)?"
HDFS_PORT_COUNT = 3
"""TCP ports from a launch's first one on that an HDFS takes."""


@dataclass(frozen=True)
class Hdfs:
    """An HDFS that a launch starts: its NameNode on the first host, a DataNode on every other one."""

    hosts: Sequence[str]
    tcp_port: int
    """The NameNode's; its DataNodes have the next two."""
    app: str
    """The application whose classes it is started from."""
    heap_bytes: int
    data: str
    """Where blocks lie: `memory` or `disk`."""
    replication: str

    def address(self, context: AdapterContext) -> str:
        """Return where its NameNode listens."""
        return f"hdfs://{context.data_address(self.hosts[0])}:{self.tcp_port}"

    def common(self, context: AdapterContext) -> dict[str, str]:
        """Return what daemons and clients are told."""
        return {"fs.defaultFS": self.address(context), "dfs.replication": self.replication}

    def daemons(self, context: AdapterContext, settings: Mapping[str, str]) -> tuple[Command, ...]:
        """Return the NameNode, which is waited for, and the DataNodes."""
        told = {**self.common(context), **settings}
        return tuple(self._daemon(context, place, told) for place in range(len(self.hosts)))

    def _daemon(self, context: AdapterContext, place: int, told: Mapping[str, str]) -> Command:
        host = self.hosts[place]
        role, own = ("datanode", _datanode_settings) if place else ("namenode", _namenode_settings)
        settings = {**told, **own(context.data_address(host), self.tcp_port)}
        argv = java(context, host, self.app, self.heap_bytes, ("HdfsNode", role), settings, self.data)
        return daemon(argv, host, "" if place else role)


def daemon(argv: tuple[str, ...], host: str, waited_for: str = "") -> Command:
    """Return the command of a daemon of ours; one with a name is waited for until it says that it is ready."""
    pattern = f"^fabriscope: {waited_for} ready$" if waited_for else None
    return Command(argv, host, ready_pattern=pattern, is_server=True, must_last=True)


def _namenode_settings(address: str, tcp_port: int) -> dict[str, str]:
    return {
        "dfs.namenode.rpc-address": f"{address}:{tcp_port}",
        "dfs.namenode.http-address": "127.0.0.1:0",
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


def runs(client: Outcome, launch: Launch) -> Iterator[tuple[Case, int, str]]:
    """Yield the case, the number (0: its warm-up) and what was printed of each run; raises ParseError."""
    cases = {case.case_id: case for case in launch.cases}
    for case_id, run, said in _RUN.findall(text_of(client.stdout)):
        if case_id not in cases:
            what = f"a run of the case {case_id}, which was not asked for"
            raise ParseError(what, where=launch.entry.instrument)
        yield cases[case_id], int(run), said


def version_of(app: str, client: Outcome) -> dict[str, object]:
    """Return, for the journal, the version of what measured, as the client's own library says it."""
    found = _VERSION.search(text_of(client.stdout))
    return {f"{app}_version": found[2]} if found is not None and found[1] == app else {}


def all_failed(launch: Launch, reason: str) -> ParsedLaunch:
    """Return that every case of a launch failed for one reason."""
    return ParsedLaunch((), tuple(CaseResult(case.case_id, "failed", reason) for case in launch.cases))


def what_failed(
    names: Sequence[str],
    outcomes: Sequence[Outcome],
    client: str,
    full: str = FULL,
) -> str | None:
    """Return why a launch failed, None if it did not: daemons, called by their names, come first, the client last.

    A daemon that ended by itself fails the launch, whatever the client saw. `full` is asked where no DataNode takes a
    block.
    """
    for name, outcome in zip(names, outcomes, strict=False):
        if outcome.exit_status is not None:
            said = _said(outcome)
            how = said[-1] if said else _end_of_java(outcome)
            return f"the {name} on {outcome.command.host} did not last: {how}"
    last = outcomes[len(names)] if len(names) < len(outcomes) else None
    if last is not None and last.exit_status in (0, None) and not last.timed_out:
        return None
    # What it says once we have ended its daemons for want of time is no reason.
    said = _said(last) if last and not last.timed_out else []
    return (_deeper(last, full) or said[-1]) if last and said else ending(last, client, outcomes)


def _said(outcome: Outcome) -> list[str]:
    return re.findall(r"^fabriscope: (.*)$", text_of(outcome.stderr), re.MULTILINE)


def _deeper(client: Outcome, full: str) -> str:
    """Return what a job's error does not tell: that no DataNode takes a block, or that Java's heap was too small."""
    text = text_of(client.stderr)
    if "java.lang.OutOfMemoryError" in text:
        return "the client's Java ran out of memory: choose a larger client_heap"
    refused = _REFUSED.findall(text)
    return f"no DataNode takes a block, {full} HDFS says: {refused[-1]}" if refused else ""


def _end_of_java(outcome: Outcome) -> str:
    """Return how it ended, and what it said last that is no warning."""
    status = outcome.exit_status
    if status is not None and status > SIGNALLED:  # the shell around Java tells its signal
        return f"it was ended by signal {status - SIGNALLED}"
    errors = b"".join(line for line in outcome.stderr.splitlines(keepends=True) if not line.startswith(b"WARN "))
    return ending(replace(outcome, stdout=b"", stderr=errors), "it")
