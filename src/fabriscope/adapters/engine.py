"""fabriscope's own engine: its command lines, its spec on standard input, and its stream of JSON lines.

`docs/engine-output.md` is the contract. What a launch over TCP looks like:

    rank 0 > {"type":"listening","tcp_port":40123}
           > {"type":"header","format":"fabriscope-engine","version":1,"clock":{"name":"tsc","cost_ns":11.2}, ...}
           > {"type":"block","case":"0c1f...","round":0,"burst":3,"phase":"measured","start_ns":81023,
              "operations_per_sample":1,"durations_ns":[14210,13988]}
           > {"type":"footer","status":"ok"}
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from fabriscope.adapters._engine_endings import ended_badly, ended_before, killed
from fabriscope.adapters._engine_rdma import library_words, port_words
from fabriscope.adapters._engine_stream import Stream, read_stream
from fabriscope.adapters.base import LOOPBACK_ADDRESS, AdapterContext
from fabriscope.model.case import Case, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.foreign import shown
from fabriscope.model.layers import layer_of
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch

SPEC_VERSION = 1
MOST_STREAM_BYTES = 1 << 30
"""Of samples, as text: as many as the memory for them may hold, of many ranks."""
MOST_PLAIN_BYTES = 32_768
"""A spec that would be longer says its cases in series: mpirun hands on some 60 kB of standard input and no more."""
TOKEN_VARIABLE = "FABRISCOPE_TOKEN"  # noqa: S105 - the variable's name, not a secret
WATCHDOG_EXIT_STATUS = 4
FOOTER_PATTERN = r'^\{"type":\s*"footer"'
LISTENING_PATTERN = r'"type":\s*"listening".*"tcp_port":\s*(?P<tcp_port>[0-9]{1,5}(?![0-9])|)'
"""What is no port is an empty word: the other ranks say at once that they can connect to nothing, and none waits."""

# fabriscope-engine: rank 1, case 6b1c72695814: no progress for 3506 ms (case_timeout_ns is 3500000000)
_WATCHDOG_SAID = re.compile(r"case (\S+): no progress for")


class EngineAdapter:
    """Runs fabriscope-engine over tcp, verbs, libfabric, shm, null, mpi, or whatever transport was added to it."""

    name = "engine"
    layers = None

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one command for null and mpi, and otherwise one for each rank."""
        entry = launch.entry
        spec = spec_text(launch, context).encode()
        layer, ranks = layer_of(entry.layer), ("--rank-count", str(len(entry.hosts)), *context.processor_words)
        words = ("--transport", layer.transport, "--rendezvous", layer.rendezvous, *ranks)
        if layer.rendezvous == "mpi":
            program = _required(context.mpi_engine, "the engine compiled with this MPI")
            return (
                Command(
                    (program, *words, "--spec", "-"),
                    entry.hosts[0],
                    stdin=spec,
                    rank_hosts=entry.hosts,
                    last_line=FOOTER_PATTERN,
                    most_output_bytes=MOST_STREAM_BYTES,
                ),
            )
        program = _required(context.engine, "fabriscope-engine")
        if layer.rendezvous == "threads":
            return (
                Command(
                    (program, *words, "--die-with-parent", "--spec", "-"),
                    entry.hosts[0],
                    stdin=spec,
                    most_output_bytes=MOST_STREAM_BYTES,
                ),
            )
        return _peer_commands(launch, context, program, spec)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return what rank 0 wrote; what came before a death still counts."""
        if not outcomes:
            reason = "the engine was not started"
            return ParsedLaunch((), tuple(CaseResult(case.case_id, "failed", reason) for case in launch.cases))
        stream = read_stream(outcomes[0].stdout, {case.case_id for case in launch.cases})
        stream.order.check_times(outcomes[0])
        stream.order.check_ranks(len(launch.entry.hosts))
        if stream.last_failed_case_id is not None:
            stream.case_failures[stream.last_failed_case_id] += killed(outcomes)
        problem = _problem(stream, outcomes)
        misplaced = _other_engine(stream, launch) or _misplaced(stream, launch.entry.hosts)
        if misplaced:
            failed = tuple(CaseResult(case.case_id, "failed", misplaced) for case in launch.cases)
            return ParsedLaunch((), failed, {**stream.details(), "problem": misplaced})
        measured = {block.case_id for block in stream.blocks if block.phase == "measure"}
        results = tuple(_result(case, stream, case.case_id in measured, problem) for case in launch.cases)
        details = stream.details()
        details["exit_statuses"] = [outcome.exit_status for outcome in outcomes]
        if problem:
            details["problem"] = problem
        hung_case_id = _hung_case_id(stream, outcomes, {case.case_id for case in launch.cases})
        return ParsedLaunch(tuple(stream.blocks), results, details, hung_case_id)


def _required(program: str | None, what: str) -> str:
    if program is None:
        raise ToolMissing(f"{what} is not on this machine", fix="`fabriscope doctor` says what is missing")
    return program


def _peer_commands(launch: Launch, context: AdapterContext, program: str, spec: bytes) -> tuple[Command, ...]:
    entry, layer = launch.entry, layer_of(launch.entry.layer)
    is_inter = entry.placement == "inter"
    listen = context.rendezvous_address(entry.hosts[0]) if is_inter else LOOPBACK_ADDRESS
    commands = []
    for rank, host in enumerate(entry.hosts):
        argv = [program, "--transport", layer.transport, "--rendezvous", "tcp"]
        argv += ["--rank", str(rank), "--rank-count", str(len(entry.hosts)), *context.processor_words]
        argv += ["--listen", listen] if rank == 0 else ["--connect", f"{listen}:{{tcp_port}}"]
        if layer.takes_address:
            argv += ["--data-address", context.data_address(host)]
        if layer.takes_rdma_port:
            argv += port_words(context.fabric, host)
        if is_inter and context.fabric is not None:
            # Inside a host the same address is reached through loopback, which binding would cut off.
            argv += ["--interface", context.interface(host)]
        argv += ["--die-with-parent", *(["--spec", "-"] if rank == 0 else [])]
        commands.append(
            Command(
                tuple(argv),
                host,
                env={TOKEN_VARIABLE: context.token, **library_words(layer)},
                stdin=spec if rank == 0 else None,
                ready_pattern=LISTENING_PATTERN if rank == 0 else None,
                most_output_bytes=MOST_STREAM_BYTES,
            )
        )
    return tuple(commands)


def spec_text(launch: Launch, context: AdapterContext) -> str:
    """Return the spec that rank 0 reads from standard input."""
    head: dict[str, int | str] = {
        "fabriscope-spec": SPEC_VERSION,
        "seed": launch.seed,
        "budget_ns": launch.budget_ns,
        "burst_ns": context.burst_ns,
        "max_burst_operations": context.max_burst_operations,
        "case_timeout_ns": context.case_timeout_ns,
        "sample_memory_bytes": context.sample_memory_bytes,
        "verify": int(context.verify),
        **(context.turn.items() if context.turn else {}),
    }
    lines = [_case_line(case, context.fabric) for case in launch.cases]
    if sum(map(len, lines)) > MOST_PLAIN_BYTES:
        lines = list(_series_lines(launch.cases, context.fabric))
    # Open MPI 5 hands on the text, but not its end.
    return "\n".join([*(f"{key} {value}" for key, value in head.items()), *lines, "end"]) + "\n"


def _case_line(case: Case, fabric: Fabric | None) -> str:
    point = {"message_size_bytes": case.message_size_bytes, "window_size": case.window_size}
    return _line("case", {"id": case.case_id, "benchmark": case.benchmark, **point, **_alike(case, fabric)})


def _series_lines(cases: Sequence[Case], fabric: Fabric | None) -> Iterator[str]:
    """Yield a line for all neighbours that differ in their point alone; it says what is not as in the line before."""
    before: dict[str, object] = {}
    for alike, group in groupby(cases, key=lambda case: _alike(case, fabric)):
        series = list(group)
        now = {**alike, "points": ",".join(f"{case.message_size_bytes}x{case.window_size}" for case in series)}
        said = {key: value for key, value in now.items() if before.get(key) != value}
        gone = {key: "" for key in before if key not in now}
        ids = "".join(urlsafe_b64encode(bytes.fromhex(case.case_id)).decode() for case in series)
        yield _line("cases", {**said, "ids": ids}) + "".join(f" {key}=" for key in gone)
        before = now


def _alike(case: Case, fabric: Fabric | None) -> dict[str, object]:
    """Return what the engine is told of a case beside its size and its window."""
    words: dict[str, object] = {"benchmark": case.benchmark, **case.parameter_map}
    if case.entry.receivers > 1:
        words["receivers"] = case.entry.receivers
    layer = layer_of(case.entry.layer)
    if layer.provider:
        words["provider"] = layer.provider
    if layer.takes_socket_options:
        words |= _socket_words(case.socket)
    if fabric is not None and (layer.takes_queue_options or layer.transport == "tcp"):
        of_fabric = {"traffic_class": fabric.traffic_class}
        of_fabric |= {"service_level": fabric.service_level} if layer.takes_queue_options else {}
        words |= {key: value for key, value in of_fabric.items() if value and key not in words}
    for key, value in words.items():
        if len(str(value).split()) != 1:
            raise LaunchError(f"{key} must be one word, not {value!r}", where=f"case {case.case_id}")
    return words


def _line(item: str, words: Mapping[str, object]) -> str:
    return f"{item} " + " ".join(f"{key}={value}" for key, value in words.items())


def _socket_words(socket: SocketOptions) -> dict[str, object]:
    """Return the options that are set; an absent one is the system's default."""
    return {
        key: int(value) if isinstance(value, bool) else value
        for key, value in asdict(socket).items()
        if value is not None
    }


def _other_engine(stream: Stream, launch: Launch) -> str | None:
    """Return what is wrong if the engine says that it runs with another transport or other ranks than asked for."""
    header, transport, count = stream.header or {}, layer_of(launch.entry.layer).transport, len(launch.entry.hosts)
    said = header.get("transport")
    if said not in (None, transport):
        return f"the engine measures over {shown(said)}, and {transport} was asked for"
    for ranks in (header.get("rank_count"), len(header.get("ranks") or launch.entry.hosts)):
        if ranks not in (None, count):
            return f"the engine has {shown(ranks)} ranks, and {count} were asked for"
    return None


def _misplaced(stream: Stream, rank_hosts: tuple[str, ...]) -> str | None:
    """Return what is wrong if ranks that should share a host do not, or the other way round: then nothing counts.

    Hosts may call themselves by other names than the plan does, so only who is together with whom is compared.
    """
    ranks = (stream.header or {}).get("ranks") or ()
    said = [str(rank.get("host")) for rank in sorted(ranks, key=lambda rank: int(rank["rank"]))]
    if not said or _first_mates(said) == _first_mates(rank_hosts):
        return None
    return f"the launcher put the ranks on {' '.join(said)}, and the plan asks for {' '.join(rank_hosts)}"


def _first_mates(hosts: Sequence[str]) -> list[int]:
    """Return for every rank the first one that has the same host."""
    return [hosts.index(host) for host in hosts]


def _problem(stream: Stream, outcomes: Sequence[Outcome]) -> str | None:
    """Return what went wrong with the launch as a whole, None if nothing did."""
    if stream.launch_failures:
        return ended_before(outcomes) or stream.launch_failures[0]
    status = stream.footer.get("status") if stream.footer is not None else None
    if status == "ok":
        return None
    if status == "interrupted":
        return "the launch was interrupted"
    if status == "failed" and stream.last_failed_case_id is not None:
        case_id = stream.last_failed_case_id
        return f"the launch ended in case {case_id}: {stream.case_failures[case_id]}"
    return ended_badly(outcomes)


def _result(case: Case, stream: Stream, is_measured: bool, problem: str | None) -> CaseResult:
    failure = stream.case_failures.get(case.case_id)
    if failure is not None:
        return CaseResult(case.case_id, "failed", failure)
    if is_measured:
        return CaseResult(case.case_id, "ok")
    reason = problem or "no measuring burst of this case fitted into the launch's budget"
    return CaseResult(case.case_id, "failed", reason)


def _hung_case_id(stream: Stream, outcomes: Sequence[Outcome], case_ids: set[str]) -> str | None:
    """Return the case that an engine's watchdog named.

    By the exit status and the stream, or by what any rank wrote to standard error: mpirun replaces the status by one of
    its own, and the rank that hangs may be the one that writes the stream.
    """
    if any(outcome.exit_status == WATCHDOG_EXIT_STATUS for outcome in outcomes) and stream.last_failed_case_id:
        return stream.last_failed_case_id
    for outcome in outcomes:
        for case_id in _WATCHDOG_SAID.findall(outcome.stderr.decode("utf-8", "replace")):
            if case_id in case_ids:
                return str(case_id)
    return None


ADAPTER = EngineAdapter()
