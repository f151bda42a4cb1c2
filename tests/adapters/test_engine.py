"""The engine's adapter: exact command lines, exact spec, and recorded streams with the endings they can have."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.engine import ADAPTER, MOST_PLAIN_BYTES, spec_text
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ParseError, ToolMissing
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.host import Host
from fabriscope.model.measurement import RANK_OPERATION, RANK_START, Launch, ParsedLaunch
from fabriscope.registry import discover

DATA = Path(__file__).parent / "data" / "engine"
HOSTS = {
    name: Host(name, addresses={"eth0": f"10.0.0.{number}", "mgmt0": f"10.9.0.{number}"}, management_interface="mgmt0")
    for number, name in enumerate(("a", "b"), start=1)
}
FABRIC = Fabric("gige", {"a": "eth0", "b": "eth0"})
CONTEXT = AdapterContext(HOSTS, fabric=FABRIC, engine="/x/engine", mpi_engine="/x/mpi-engine", token="secret")  # noqa: S106


def launch(
    layer: str, hosts: tuple[str, ...] = ("a", "b"), sockets: tuple[SocketOptions, ...] = (SocketOptions(),) * 2
) -> Launch:
    placement = "inter" if len(set(hosts)) > 1 else "intra"
    entry = Entry(layer, "gige" if placement == "inter" else None, placement, hosts)
    cases = tuple(Case(entry, "ping_pong", 8 << index, socket=socket) for index, socket in enumerate(sockets))
    return Launch(1, 1, entry, cases, seed=42, budget_ns=2_000_000_000)


def argvs(layer: str, hosts: tuple[str, ...], context: AdapterContext) -> list[str]:
    return [" ".join(command.argv) for command in ADAPTER.commands(launch(layer, hosts), context)]


def test_tcp_between_hosts_meets_over_management_and_measures_over_the_fabric() -> None:
    assert argvs("tcp", ("a", "b"), CONTEXT) == [
        "/x/engine --transport tcp --rendezvous tcp --rank 0 --rank-count 2 --listen 10.9.0.1"
        " --data-address 10.0.0.1 --interface eth0 --die-with-parent --spec -",
        "/x/engine --transport tcp --rendezvous tcp --rank 1 --rank-count 2 --connect 10.9.0.1:{tcp_port}"
        " --data-address 10.0.0.2 --interface eth0 --die-with-parent",
    ]


def test_tcp_without_management_meets_over_the_fabric() -> None:
    hosts = {name: replace(host, management_interface=None) for name, host in HOSTS.items()}
    first, second = argvs("tcp", ("a", "b"), replace(CONTEXT, hosts=hosts))
    assert "--listen 10.0.0.1" in first
    assert "--connect 10.0.0.1:{tcp_port}" in second


def test_tcp_inside_a_host_uses_loopback_and_binds_to_nothing() -> None:
    first, second = argvs("tcp", ("a", "a"), replace(CONTEXT, fabric=None))
    assert "--listen 127.0.0.1 --data-address 127.0.0.1 --die-with-parent" in first
    assert "--interface" not in first + second


def test_a_layer_that_a_plug_in_adds_is_told_the_address_and_the_rdma_port() -> None:
    fabric = replace(FABRIC, transport="roce", rdma_ports={name: RdmaPort("rxe0", gid_index=1) for name in HOSTS})
    first, _ = argvs("nowhere", ("a", "b"), replace(CONTEXT, fabric=fabric))
    assert first == (
        "/x/engine --transport nowhere --rendezvous tcp --rank 0 --rank-count 2 --listen 10.9.0.1"
        " --data-address 10.0.0.1 --rdma-device rxe0 --hca-port 1 --gid-index 1 --interface eth0"
        " --die-with-parent --spec -"
    )
    assert "--rdma-device" not in argvs("nowhere", ("a", "b"), CONTEXT)[0]
    assert "--rdma-device" not in argvs("tcp", ("a", "b"), replace(CONTEXT, fabric=fabric))[0]


def test_shared_memory_and_null() -> None:
    context = replace(CONTEXT, fabric=None)
    assert argvs("shm", ("a", "a"), context) == [
        "/x/engine --transport shm --rendezvous tcp --rank 0 --rank-count 2 --listen 127.0.0.1"
        " --die-with-parent --spec -",
        "/x/engine --transport shm --rendezvous tcp --rank 1 --rank-count 2 --connect 127.0.0.1:{tcp_port}"
        " --die-with-parent",
    ]
    assert argvs("null", ("a", "a"), context) == [
        "/x/engine --transport null --rendezvous threads --rank-count 2 --die-with-parent --spec -"
    ]


def test_mpi_is_one_command_with_ranks_and_without_mpirun() -> None:
    (command,) = ADAPTER.commands(launch("mpi"), CONTEXT)
    assert " ".join(command.argv) == "/x/mpi-engine --transport mpi --rendezvous mpi --rank-count 2 --spec -"
    assert (command.rank_hosts, command.host) == (("a", "b"), "a")


def test_the_token_is_in_the_environment_only() -> None:
    for command in ADAPTER.commands(launch("tcp"), CONTEXT):
        assert command.env == {"FABRISCOPE_TOKEN": "secret"}
        assert "secret" not in " ".join(command.argv)


def test_the_second_rank_waits_for_the_first_one_s_line() -> None:
    first, second = ADAPTER.commands(launch("tcp"), CONTEXT)
    match = re.search(first.ready_pattern or "", '{"type":"listening","tcp_port":40123}')
    assert match is not None
    assert match.groupdict() == {"tcp_port": "40123"}
    assert (second.ready_pattern, second.stdin) == (None, None)


def test_the_spec_holds_every_case_with_the_options_that_are_set() -> None:
    one = launch(
        "tcp",
        sockets=(
            SocketOptions(),
            SocketOptions(send_buffer_bytes=65536, tcp_nodelay=False, congestion_control="reno", interface="eth0"),
        ),
    )
    first, second = (case.case_id for case in one.cases)
    assert spec_text(one, CONTEXT) == (
        "fabriscope-spec 1\nseed 42\nbudget_ns 2000000000\nburst_ns 3000000\nmax_burst_operations 1000\n"
        "case_timeout_ns 10000000000\nsample_memory_bytes 33554432\nverify 1\n"
        f"case id={first} benchmark=ping_pong message_size_bytes=8 window_size=1 tcp_nodelay=1\n"
        f"case id={second} benchmark=ping_pong message_size_bytes=16 window_size=1 send_buffer_bytes=65536"
        " tcp_nodelay=0 congestion_control=reno interface=eth0\n"
        "end\n"
    )


def test_socket_options_are_for_tcp_alone() -> None:
    assert "tcp_nodelay" not in spec_text(launch("mpi"), CONTEXT)


def test_over_verbs_each_rank_has_its_own_device() -> None:
    ports = {"a": RdmaPort("rxe0", gid_index=1), "b": RdmaPort("mlx5_0", hca_port=2)}
    fabric = replace(FABRIC, transport="roce", rdma_ports=ports, service_level=3)
    first, second = argvs("verbs", ("a", "b"), replace(CONTEXT, fabric=fabric))
    assert "--transport verbs" in first
    assert "--rdma-device rxe0 --hca-port 1 --gid-index 1 --interface eth0" in first
    assert "--rdma-device mlx5_0 --hca-port 2 --interface eth0" in second
    spec = spec_text(launch("verbs"), replace(CONTEXT, fabric=fabric))
    assert " service_level=3" in spec
    assert "traffic_class" not in spec
    assert "service_level" not in spec_text(launch("tcp"), replace(CONTEXT, fabric=fabric))


@pytest.mark.parametrize("provider", ["tcp", "shm", "verbs"])
def test_a_layer_of_libfabric_names_its_provider_in_every_case(provider: str) -> None:
    hosts = ("a", "a") if provider == "shm" else ("a", "b")
    first, second = argvs(f"libfabric-{provider}", hosts, CONTEXT)
    assert "--transport libfabric " in first
    assert "--transport libfabric " in second
    assert ("--data-address" in first) == (provider != "shm")
    assert "--rdma-device" not in first
    assert spec_text(launch(f"libfabric-{provider}"), CONTEXT).count(f" provider={provider}\n") == 2
    assert "provider" not in spec_text(launch("tcp"), CONTEXT)


def test_a_word_that_would_become_two_is_refused() -> None:
    with pytest.raises(LaunchError, match="congestion_control"):
        spec_text(launch("tcp", sockets=(SocketOptions(congestion_control="reno verify=0"),)), CONTEXT)


def test_missing_programs_and_addresses_are_named() -> None:
    with pytest.raises(ToolMissing, match="fabriscope doctor"):
        ADAPTER.commands(launch("tcp"), replace(CONTEXT, engine=None))
    with pytest.raises(ToolMissing, match="compiled with this MPI"):
        ADAPTER.commands(launch("mpi"), replace(CONTEXT, mpi_engine=None))
    with pytest.raises(LaunchError, match="no known IPv4 address on eth7"):
        ADAPTER.commands(launch("tcp"), replace(CONTEXT, fabric=Fabric("f", {"a": "eth7", "b": "eth7"})))


def parse(
    text: str, case_count: int = 2, layer: str = "tcp", hosts: tuple[str, ...] = ("a", "b"), **outcome: Any
) -> ParsedLaunch:
    """Return the parsed stream; the recorded `case0`, `case1` stand for the launch's case ids."""
    one = launch(layer, hosts, sockets=(SocketOptions(),) * case_count)
    for index, case in enumerate(one.cases):
        text = text.replace(f'"case{index}"', f'"{case.case_id}"')
    fields: dict[str, Any] = {"exit_status": 0, "stderr": b"", "timed_out": False, "elapsed_ns": 1} | outcome
    command = Command(("/x/engine",), "a")
    parsed = ADAPTER.parse(one, [Outcome(command, stdout=text.encode(), started_unix_ns=0, **fields)])
    names = {case.case_id: f"case{index}" for index, case in enumerate(one.cases)}
    return replace(
        parsed,
        blocks=tuple(replace(block, case_id=names[block.case_id]) for block in parsed.blocks),
        results=tuple(
            replace(result, case_id=names[result.case_id], reason=_renamed(result.reason, names))
            for result in parsed.results
        ),
        details=json.loads(_renamed(json.dumps(parsed.details), names) or ""),
        hung_case_id=names.get(parsed.hung_case_id or ""),
    )


def _renamed(text: str | None, names: dict[str, str]) -> str | None:
    for case_id, name in names.items():
        text = text.replace(case_id, name) if text else text
    return text


def summary(parsed: ParsedLaunch) -> dict[str, Any]:
    """Return what the golden JSON holds."""
    counts = {
        f"{result.case_id} {phase}": sum(
            len(block.values) for block in parsed.blocks if (block.case_id, block.phase) == (result.case_id, phase)
        )
        for result in parsed.results
        for phase in ("warmup", "measure")
    }
    return {
        "results": {result.case_id: [result.status, result.reason] for result in parsed.results},
        "sample_counts": counts,
        "hung_case_id": parsed.hung_case_id,
        "notes": parsed.details["notes"],
        "is_torn": parsed.details["is_torn"],
    }


GROUP: dict[str, Any] = {"layer": "mpi", "hosts": ("a", "b", "c")}
GOLDEN: list[tuple[str, dict[str, Any]]] = [
    ("tcp", {}),
    ("option_refused", {}),
    ("mpich", {"case_count": 1, "layer": "mpi"}),
    ("noisy", {"case_count": 1, "layer": "mpi"}),
    ("group", GROUP),
    ("watchdog", {"exit_status": 4, "stderr": b"fabriscope-engine: no progress\n"}),
    ("torn", {"exit_status": -11}),
    ("died_at_start", {"exit_status": 1, "stderr": b"warning\n\nfabriscope-engine: no route to host\n"}),
]


@pytest.mark.parametrize(("name", "outcome"), GOLDEN)
def test_recorded_stream(name: str, outcome: dict[str, Any]) -> None:
    parsed = parse((DATA / f"{name}.stdout").read_text(), **outcome)
    assert summary(parsed) == json.loads((DATA / f"{name}.json").read_text())


def test_a_hung_case_is_known_by_what_any_rank_says_where_mpirun_replaces_the_status() -> None:
    one = launch("mpi")
    said = f"rank 1, case {one.cases[1].case_id}: no progress for 3506 ms\n"
    for stderr, expected in ((said, one.cases[1].case_id), ("case stranger: no progress for 1 ms", None)):
        outcome = Outcome(Command(("mpirun",), "a", rank_hosts=("a", "b")), 255, b"", stderr.encode(), 0, 1)
        assert ADAPTER.parse(one, [outcome]).hung_case_id == expected


def test_every_recorded_stream_is_tested() -> None:
    assert {path.stem for path in DATA.glob("*.stdout")} == {name for name, _ in GOLDEN}


def test_a_block_keeps_its_place_in_the_run() -> None:
    block = '{"type":"block","case":"case0","round":3,"burst":9,"phase":"measured","start_ns":12,'
    parsed = parse(block + '"operations_per_sample":4,"durations_ns":[40,44]}\n')
    (only,) = parsed.blocks
    assert (only.round, only.burst, only.phase, only.start_ns) == (3, 9, "measure", 12)
    assert (only.operations_per_sample, tuple(only.values), only.quantity) == (4, (40, 44), "operation_ns")


def test_a_newer_engine_is_refused() -> None:
    with pytest.raises(ParseError, match="version 2"):
        parse('{"type":"header","format":"fabriscope-engine","version":2}\n')


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"header","format":"other","version":1}',
        '{"type":"block","case":"case0"}',
        '{"type":"block","case":"stranger","round":0,"burst":0,"phase":"measured","start_ns":0,'
        '"operations_per_sample":1,"durations_ns":[1]}',
        '{"type":"block","case":"case0","round":0,"burst":0,"phase":"measured","start_ns":0,'
        '"operations_per_sample":1,"durations_ns":[1.5]}',
        '{"type":"failure","case":"stranger","reason":"?"}',
    ],
)
def test_a_record_of_unexpected_shape_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(ParseError, match="line 2"):
        parse('{"type":"listening","tcp_port":1}\n' + line + "\n")


def test_records_of_a_kind_that_is_not_known_yet_are_passed_over() -> None:
    assert parse('{"type":"weather","rain":true}\n').details["notes"] == []


def test_wrong_payload_fails_its_case() -> None:
    parsed = parse('{"type":"verification","case":"case0","ok":false}\n')
    assert parsed.results[0].status == "failed"
    assert "verification failed" in (parsed.results[0].reason or "")


def test_a_launch_that_was_never_started_fails_every_case() -> None:
    parsed = ADAPTER.parse(launch("tcp"), [])
    assert [result.status for result in parsed.results] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"exit_status": None, "timed_out": True}, "did not end in time"),
        ({"exit_status": None}, "was ended by us"),
        ({"exit_status": -9}, "signal 9"),
        ({"exit_status": 127, "stderr": b"libmpi.so: cannot open"}, "exit status 127 .* libmpi.so: cannot open"),
    ],
)
def test_the_reason_of_a_death_is_told(outcome: dict[str, Any], words: str) -> None:
    reason = parse("", **outcome).results[0].reason
    assert re.search(words, reason or "")


def test_the_registry_finds_it() -> None:
    assert discover("adapters", "ADAPTER").get("engine") is ADAPTER


def test_the_account_of_a_group_s_operations() -> None:
    parsed = parse((DATA / "group.stdout").read_text(), **GROUP)
    first, second = (parsed.details["groups"][name] for name in ("case0", "case1"))  # type: ignore[index]
    assert first == {
        "timing": "common_clock",
        "operation_count": 4,
        "late_operation_count": 1,
        "clock_error_ns": 1200,
        "slowest_ranks": {"1": 1, "2": 3},
    }
    assert (second["clock_error_ns"], second["pure_ns"], second["compute_ns"]) == (None, 20000, 20000)
    models: Any = parsed.details["clock_models"]
    assert [model["error_bound_ns"] for model in models] == [850, 1200]


def test_the_pools_of_rotating_buffers_are_told() -> None:
    head, rest = (DATA / "group.stdout").read_text().split("\n", 1)
    pool = '{"type":"pool","pool_bytes":41943040,"last_level_cache_bytes":null,"case_count":1}'
    assert parse(f"{head}\n{pool}\n{rest}", **GROUP).details["pool"] == {
        "pool_bytes": 41943040,
        "last_level_cache_bytes": None,
    }
    with pytest.raises(ParseError):
        parse(f"{head}\n{pool.replace('41943040', '0')}\n{rest}", **GROUP)


def test_every_rank_s_share_is_kept() -> None:
    parsed = parse((DATA / "group.stdout").read_text(), **GROUP)
    shares = {
        (block.rank, block.quantity, block.burst): tuple(block.values)
        for block in parsed.blocks
        if block.case_id == "case0" and block.rank is not None
    }
    assert shares[2, RANK_START, 0] == (40, 50, 9)
    assert shares[2, RANK_OPERATION, 1] == (43994,)
    assert len(shares) == 12
    whole = [block for block in parsed.blocks if block.rank is None and block.phase == "measure"]
    assert [tuple(block.values) for block in whole] == [(41000, 42000, 43000), (44000,), (26000,)]
    last_ends = [max(start + took for start, took in zip(*ends, strict=True)) for ends in
                 (((0, 12, 40), (30000, 35000, 40960)), ((0, 7, 9), (32000, 42993, 39000)))]  # fmt: skip
    assert last_ends == [41000, 43000]


def test_parameters_stand_in_the_case_line() -> None:
    one = launch("mpi")
    case = replace(one.cases[0], benchmark="allreduce", parameters=(("datatype", "double"), ("timing", "barrier")))
    (line,) = [line for line in spec_text(replace(one, cases=(case,)), CONTEXT).splitlines() if line[:5] == "case "]
    assert line.endswith("benchmark=allreduce message_size_bytes=8 window_size=1 datatype=double timing=barrier")


def test_ranks_of_another_process_need_their_own_command_each() -> None:
    commands = ADAPTER.commands(launch("tcp", ("a", "a", "b", "b")), CONTEXT)
    assert [command.host for command in commands] == ["a", "a", "b", "b"]
    assert all("--rank-count 4" in " ".join(command.argv) for command in commands)


@pytest.mark.parametrize(("said", "is_right"), [("xxyy", True), ("xyxy", False), ("xxxx", False)])
def test_ranks_on_other_hosts_than_asked_for_count_for_nothing(said: str, is_right: bool) -> None:
    one = launch("mpi", ("a", "a", "b", "b"))
    ranks = [{"rank": rank, "host": host} for rank, host in enumerate(said)]
    lines = [
        {"type": "header", "format": "fabriscope-engine", "version": 1, "ranks": ranks},
        {"type": "block", "case": one.cases[0].case_id, "round": 0, "burst": 0, "phase": "measured", "start_ns": 0,
         "operations_per_sample": 1, "durations_ns": [1]},
        {"type": "footer", "status": "ok"},
    ]  # fmt: skip
    text = "".join(json.dumps(line).replace('{"type": ', '{"type":') + "\n" for line in lines)
    parsed = ADAPTER.parse(one, [Outcome(Command(("mpirun",), "a"), 0, text.encode(), b"", 0, 1)])
    assert bool(parsed.blocks) == is_right
    assert (parsed.results[0].status == "ok") == is_right
    if not is_right:
        assert f"put the ranks on {' '.join(said)}" in (parsed.results[0].reason or "")


def test_many_cases_are_said_in_series() -> None:
    one = launch("mpi")
    sizes = (4, 8, 64, 1024)
    sets: list[tuple[tuple[str, str], ...]] = [(), *((("datatype", f"made-up-{number}"),) for number in range(200))]
    cases = tuple(
        replace(one.cases[0], benchmark=benchmark, message_size_bytes=size, window_size=window, parameters=parameters)
        for benchmark, window in (("allreduce", 1), ("message_rate", 64))
        for parameters in sets
        for size in sizes
    )
    plain = [f"case id={case.case_id} " for case in cases]
    spec = spec_text(replace(one, cases=cases), CONTEXT)
    lines = [line for line in spec.splitlines() if line.startswith("cases ")]
    assert sum(map(len, plain)) > MOST_PLAIN_BYTES > len(spec)
    assert len(lines) == len(sets) * 2
    packed = "".join(urlsafe_b64encode(bytes.fromhex(case.case_id)).decode() for case in cases[:4])
    assert lines[0] == f"cases benchmark=allreduce points=4x1,8x1,64x1,1024x1 ids={packed}"
    assert lines[1].startswith("cases datatype=made-up-0 ids=")
    assert lines[2].startswith("cases datatype=made-up-1 ids=")
    assert lines[len(sets)].startswith("cases benchmark=message_rate points=4x64,8x64,64x64,1024x64 ids=")
    assert lines[len(sets)].endswith(" datatype=")
