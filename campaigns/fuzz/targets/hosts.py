"""What hosts, schedulers and libraries say of themselves."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

from campaigns.fuzz.targets import TEST_DATA, Target

from fabriscope.analysis.proof import library_words
from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.expected import meant
from fabriscope.hosts import _mpi_identity, allocation, counters, facts, launcher_words, rdma
from fabriscope.hosts.access import Reading
from fabriscope.launch import tree
from fabriscope.model.command import Command, Outcome
from fabriscope.model.counters import Expectation
from fabriscope.model.errors import FabriscopeError, HostError
from fabriscope.model.foreign import BEGIN, Foreign
from fabriscope.running import fleet

_EMPTY: dict[str, Any] = {"files": {}, "links": {}, "problems": {}, "outputs": {}}


def _collector() -> bytes:
    """Return what a collector says of two readings, in its own form."""
    connection = [7, "10.0.0.1", 4000, "10.0.0.2", 5000, 1000, 2000, 10, 11, 0, 42, 0]
    process = {
        "pid": 42, "parent": 1, "program": "app", "rank": 0, "step_rank": None, "is_marked": True,
        "shared": {"00:01:77 /dev/shm/x": 4096}, "devices": ["/dev/infiniband/uverbs0"], "listens": [5000],
        "datagrams": ["udp"],
    }  # fmt: skip
    first = {
        "kind": "reading", "at_ns": 10**9, "unix_ns": 10**18, "drivers": {"eth0": {"driver.rx": 5}},
        "interfaces": {"eth0": {"rx_bytes": 100, "tx_bytes": 200, "tx_packets": 2}, "lo": {"rx_bytes": 0}},
        "rdma": {"rxe0/1": {"hw.sent_pkts": 3}}, "protocols": {"Tcp.MaxConn": -1, "Udp.OutDatagrams": 1},
        "connections": [connection], "processes": [], "cost_ns": 5,
    }  # fmt: skip
    last = {
        **first, "at_ns": 2 * 10**9, "interfaces": {"eth0": {"rx_bytes": 3000, "tx_bytes": 5000}, "lo": None},
        "connections": [[*connection[:5], 4000, 5000, 20, 21, 0, 42, 1]], "processes": [process],
    }  # fmt: skip
    host = {
        "kind": "host", "boot_id": "b", "addresses": {"eth0": ["10.0.0.1"], "lo": ["127.0.0.1", "::1"]},
        "mtu_bytes": {"eth0": 1500}, "rdma_interfaces": {"rxe0/1": "eth0"},
    }  # fmt: skip
    lines = [host, first, {"kind": "ready"}, last, {"kind": "end", "problems": {"ethtool": "not here"}}]
    return b"".join(BEGIN + json.dumps(line).encode() + b"\n" for line in lines)


def _watch(text: bytes) -> bool:
    watch = counters.parse(Outcome(Command(("python3",), "a"), 0, text, b"", 0, 0))
    for expected in ("", "tcp", "eth0", "shm", "roce"):
        try:
            wishes: Iterable[Expectation] = meant(expected, {"a": watch})
        except HostError:
            continue
        for wish in wishes:
            balance({"a": watch}, wish, {"a": watch})
    return bool(watch.readings)


def _reading_seeds() -> Iterator[bytes]:
    for path in sorted((TEST_DATA / "hosts" / "data").rglob("*")):
        if path.suffix == ".json":
            yield path.read_bytes()
    files = {
        "/sys/class/net/eth0/mtu": "1500\n", "/sys/class/net/eth0/speed": "1000\n",
        "/sys/class/net/eth0/operstate": "up\n",
        "/sys/class/net/eth0/device/numa_node": "0\n", "/proc/loadavg": "0.50 0.40 0.30 1/100 1234\n",
        "/proc/stat": "cpu 1 2 3 4 5 6 7 8 9 10\n",
        "/proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 2600.0\nmodel name\t: X\n",
        "/proc/meminfo": "MemTotal:       16384 kB\nHugePages_Total:    0\n",
        "/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
        "/sys/class/infiniband/mlx5_0/ports/1/gids/0": "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n",
        "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0": "RoCE v2\n",
        "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0": "eth0\n",
        "/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
        "/sys/class/infiniband/mlx5_0/ports/1/link_layer": "Ethernet\n",
    }  # fmt: skip
    outputs = {
        "ip -j -4 addr": [{"ifname": "eth0", "addr_info": [{"local": "10.0.0.1"}]}],
        "rdma -j link show": [{"ifname": "mlx5_0", "port": 1, "netdev": "eth0"}],
    }
    said = {
        **{name: {"exit_status": 0, "stdout": json.dumps(value), "stderr": ""} for name, value in outputs.items()},
        "ethtool -k eth0": {"exit_status": 0, "stdout": "tcp-segmentation-offload: on [fixed]\n", "stderr": ""},
        "ethtool -c eth0": {"exit_status": 0, "stdout": "Adaptive RX: off  TX: n/a\nrx-usecs: 50\n", "stderr": ""},
        "ethtool -g eth0": {"exit_status": 0, "stdout": "Current hardware settings:\nRX: 511\nTX: 511\n", "stderr": ""},
    }
    answer = {
        **_EMPTY,
        "files": files,
        "outputs": said,
        "links": {"/sys/class/net/eth0/device/driver": "../virtio_net"},
    }
    yield json.dumps(answer).encode()


def _whole(text: bytes) -> Foreign:
    answer = Foreign.json(text, "the facts of a")
    return answer if "files" in answer.mapping() else Foreign({**_EMPTY, "files": answer.value}, answer.where)


def _read_facts(text: bytes) -> bool:
    found = facts.from_answer(_whole(text))
    for fact in found:
        assert fact.value is None or isinstance(fact.value, str | bool | int | float), "a fact of another type"
        assert fact.value is not None or fact.unknown_because, "an unknown without a reason"
    return any(fact.value is not None for fact in found)


def _read_rdma(text: bytes) -> bool:
    reading = Reading.of(_whole(text))
    chosen = [_chosen(reading, transport) for transport in ("roce", "iwarp", "ib")]
    return any(chosen)


def _chosen(reading: Reading, transport: str) -> bool:
    try:
        port = rdma.choose(reading, "eth0", transport, 1500)
    except HostError:
        return False
    assert 0 <= port.hca_port < 1000, "a port out of range"
    return True


def _read_relay(text: bytes) -> bool:
    answers: dict[str, tree.Answer] = {}
    listed = iter([*(line.rpartition(BEGIN)[2] for line in text.split(b"\n") if line), None])
    session = SimpleNamespace(lines=SimpleNamespace(get=lambda **_: next(listed)), kill=lambda: None)
    tree._collect(session, {"a", "b"}, answers, 1e12)  # type: ignore[arg-type]
    return any(answer.problem is None for answer in answers.values())


def _probe_seeds() -> Iterator[bytes]:
    value = {
        "facts": _EMPTY, "addresses": {"eth0": "10.0.0.1"}, "node_name": "a", "machine": "x86_64", "python": "3.6.8",
        "home": "/root", "cpu_count": 4, "files": ["given", None],
        "programs": {"iperf3": None}, "said": {"mpirun": "Open MPI"},
    }  # fmt: skip
    yield json.dumps(value).encode()


def _read_probe(text: bytes) -> bool:
    from fabriscope.model.foreign import decode_json

    fleet.seen_of(decode_json(text, "host a"), "a")
    return True


def _read_mpi(text: bytes) -> bool:
    words = text.decode("utf-8", "replace")
    half = len(words) // 2
    known = [_mpi_identity.identify(words), _mpi_identity.identify(words[:half], words[half:])]
    for one in known:
        assert one is None or one.version in words, "a version from nowhere"
    return any(known)


def _mpi_seeds() -> Iterator[bytes]:
    yield b"mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n"
    yield b"HYDRA build details:\n    Version:       5.0.2\n    CC:    gcc\n  --with-device=ch4:ofi\n"
    yield b"Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20251101 (id: 1)\nCopyright\n"
    yield b"HYDRA build details:\n Version: 4.1\nMVAPICH2 Version:     \t2.3.7\nMVAPICH2 Device:      \tch3:mrail\n"


def _library_seeds() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((TEST_DATA / "analysis/data/library_words").iterdir()))


def _read_library(text: bytes) -> bool:
    words = library_words.read_words(text.decode("utf-8", "replace"))
    words.sentences()
    return bool(words.claims)


def _read_allocation(text: bytes) -> bool:
    words = text.decode("utf-8", "replace")
    found = False
    for variable in ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "LSB_HOSTS", "FLUX_URI"):
        job = _job(variable, words)
        found |= job is not None and bool(job.hosts)
    return found


def _job(variable: str, words: str) -> allocation.Allocation | None:
    try:
        return allocation.find({variable: words}, read=lambda _: words, ask=lambda _: words)
    except FabriscopeError:
        return None


def _read_launcher(text: bytes) -> bool:
    words = text.decode("utf-8", "replace")
    try:
        argv = shlex.split(words)
    except ValueError:
        argv = words.split()
    return bool(launcher_words.hosts_of(argv, lambda _: words))


def _list_seeds() -> Iterator[bytes]:
    yield b"node[1-3],r[1-2]n[01-03],login"
    yield b"n1\nn1\nn2\nn2\n"


def _launcher_seeds() -> Iterator[bytes]:
    yield b"mpirun -H a:2,b:2 -np 4 --mca btl tcp,self ./app -H c"
    yield b"mpiexec -hosts node[1-4] -ppn 1 -genv FI_PROVIDER tcp ./app"
    yield b"srun -w node[1-2] --mpi=pmix ./app : -N 1 ./other"
    yield b"mpirun --hostfile hosts.txt ./app"


def _relay_seeds() -> Iterator[bytes]:
    yield (
        BEGIN
        + b'{"host":"a","answer":{"x":1}}\n'
        + BEGIN
        + b'{"host":"b","error":"no","status":255,"was_direct":true}\n'
    )


TARGETS = (
    Target("counters", lambda: [_collector()], _watch),
    Target("facts", _reading_seeds, _read_facts),
    Target("rdma", _reading_seeds, _read_rdma),
    Target("relay", _relay_seeds, _read_relay),
    Target("probe", _probe_seeds, _read_probe),
    Target("mpi", _mpi_seeds, _read_mpi),
    Target("library-words", _library_seeds, _read_library),
    Target("allocation", _list_seeds, _read_allocation),
    Target("launcher-words", _launcher_seeds, _read_launcher),
)
