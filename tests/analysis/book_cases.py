"""A table of traffic: what happened, what was asked for, and what must be said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tests.analysis.hand_watches import HARD, SOFT, Scene

from fabriscope.model.counters import BESIDE, JOB, OTHER, PROVED, REFUTED, UNDECIDED, Expectation

MB = 10**6
Step = Callable[[Scene], None]
ETH0, ETH1 = ({"a": name, "b": name} for name in ("eth0", "eth1"))
TCP = Expectation("tcp", "gige", MappingProxyType(ETH0))
ALONE = Expectation("tcp", "gige", {"a": "lo"})
SECOND = Expectation("tcp", "other", MappingProxyType(ETH1))
ROCE = Expectation("roce", "rocky", MappingProxyType(ETH0), {"a": SOFT, "b": SOFT})
HARD_ROCE = Expectation("roce", "rocky", MappingProxyType(ETH0), {"a": HARD, "b": HARD})
INFINIBAND = Expectation("ib", "fast", {}, {"a": HARD, "b": HARD})
MEMORY = Expectation("shm", "")


def sends(asked: Expectation, there: int, back: int | None = None, messages: int | None = None) -> Expectation:
    """Return the expectation, of a program that says how much it sent each way between a and b."""
    return replace(
        asked, payload_bytes={("a", "b"): there, ("b", "a"): there if back is None else back}, message_count=messages
    )


def inside(asked: Expectation, size: int, messages: int | None = None) -> Expectation:
    """Return the expectation, of a program that sent so much on host a."""
    return replace(asked, payload_bytes={("a", "a"): size}, message_count=messages)


def scene(*steps: Step, hosts: tuple[str, ...] = ("a", "b"), one_kernel: bool = False) -> Scene:
    made = Scene(*hosts, one_kernel=one_kernel)
    for step in steps:
        step(made)
    return made


def on_one(*steps: Step) -> Scene:
    """Return host a alone with two ranks."""
    return scene(lambda one: one.second_rank("a"), *steps, hosts=("a",))


@dataclass(frozen=True)
class Case:
    """What happened, what was asked for, and what must be said of it."""

    name: str
    happened: Scene
    asked: Expectation
    verdict: str
    carried_by: str = ""
    says: str = ""


def tcp(sent: int, back: int | None = None, over: str = "eth0", role: str = "rank", **more: Any) -> Step:
    """Let a connection move so much both ways, unless another amount comes `back`."""
    return lambda one: one.tcp("a", "b", sent, sent if back is None else back, over, role, **more)


def loopback(size: int, role: str = "rank") -> Step:
    return lambda one: one.tcp("a", "a", size, 0, "eth0", role)


def holds(*channels: tuple[str, ...]) -> Step:
    return lambda one: one.holds(*channels)


def loses_sight(one: Scene) -> None:
    one.hosts["a"].late_ns = 400_000_000


def soft(size: int) -> Step:
    def step(one: Scene) -> None:
        one.opens()
        one.soft_roce("a", "b", size)
        one.soft_roce("b", "a", size)

    return step


def hard(size: int) -> Step:
    def step(one: Scene) -> None:
        one.opens()
        one.hard_rdma("a", "b", size)
        one.hard_rdma("b", "a", size)

    return step


def wire_up(one: Scene) -> None:
    """Let the launcher's daemons and the ranks tell each other where they are."""
    one.tcp("a", "b", 90_000, 70_000, role=JOB)


def shares(one: Scene) -> None:
    one.shares()


def idle_soft(one: Scene) -> None:
    one.opens()
    one.idle_port()


def idle_hard(one: Scene) -> None:
    one.opens()
    one.idle_port(HARD)


CASES = [
    Case(
        "tcp over the right interface",
        scene(tcp(100 * MB), wire_up),
        sends(TCP, 100 * MB),
        PROVED,
        "tcp over eth0",
        "100 %",
    ),
    Case(
        "the other interface",
        scene(tcp(100 * MB, over="eth1"), wire_up),
        sends(TCP, 100 * MB),
        REFUTED,
        "tcp over eth1",
    ),
    Case(
        "split over two interfaces",
        scene(tcp(60 * MB), tcp(40 * MB, over="eth1")),
        sends(TCP, 100 * MB),
        REFUTED,
        "tcp over eth0 and tcp over eth1",
        "60.0 %",
    ),
    Case(
        "a tenth elsewhere", scene(tcp(90 * MB), tcp(10 * MB, over="eth1")), sends(TCP, 100 * MB), REFUTED, "", "90.0 %"
    ),
    Case(
        "somebody else copies ten times as much",
        scene(tcp(100 * MB), lambda one: one.others(1000 * MB)),
        sends(TCP, 100 * MB),
        PROVED,
    ),
    Case(
        "somebody else uses what was asked for, the job does not",
        scene(tcp(100 * MB, over="eth1"), lambda one: one.others(1000 * MB)),
        sends(TCP, 100 * MB),
        REFUTED,
        "tcp over eth1",
    ),
    Case(
        "more than the job's belongs to nobody",
        scene(tcp(10 * MB), lambda one: one.noise(50 * MB)),
        sends(TCP, 10 * MB),
        UNDECIDED,
        "",
        "have no known owner",
    ),
    Case("little belongs to nobody", scene(tcp(100 * MB), lambda one: one.noise(50_000)), sends(TCP, 100 * MB), PROVED),
    Case("one direction only", scene(tcp(100 * MB, 0)), sends(TCP, 100 * MB, 0), PROVED),
    Case("the way back is missing", scene(tcp(100 * MB, 0)), sends(TCP, 100 * MB), UNDECIDED, "", "found nowhere"),
    Case("a tiny job, to the byte", scene(tcp(80), wire_up), sends(TCP, 80, messages=20), PROVED),
    Case("a tiny job with a library's headers", scene(tcp(1_400), wire_up), sends(TCP, 80, messages=20), PROVED),
    Case(
        "a tiny job over the other interface",
        scene(tcp(1_400, over="eth1"), wire_up),
        sends(TCP, 80, messages=20),
        REFUTED,
    ),
    Case("a job so short that nobody saw its ranks", scene(tcp(5 * MB, role="")), sends(TCP, 5 * MB), PROVED),
    Case("headers of many small messages", scene(tcp(90 * MB)), sends(TCP, 8 * MB, messages=2 * MB), PROVED),
    Case("again and again: a lossy wire", scene(tcp(100 * MB, again=1_448_000)), sends(TCP, 100 * MB), PROVED),
    Case("a connection from before", scene(tcp(50 * MB, was_there=7 * MB)), sends(TCP, 50 * MB), PROVED),
    Case("packets of one byte", scene(tcp(1 * MB, segment=1)), sends(TCP, 1 * MB), PROVED),
    Case(
        "a weak host: the address of eth0, the cable of eth1",
        scene(tcp(100 * MB, counted_by="eth1")),
        sends(TCP, 100 * MB),
        REFUTED,
        "tcp over eth1",
    ),
    Case(
        "hosts that share memory",
        scene(wire_up, shares, one_kernel=True),
        sends(TCP, 100 * MB),
        REFUTED,
        "shared memory",
    ),
    Case("one kernel, TCP all the same", scene(tcp(100 * MB), shares, one_kernel=True), sends(TCP, 100 * MB), PROVED),
    Case("nothing anywhere", scene(wire_up), sends(TCP, 100 * MB), UNDECIDED, "", "nowhere"),
    Case("TCP with an RDMA port that stands still", scene(tcp(100 * MB), idle_soft), sends(TCP, 100 * MB), PROVED),
    Case(
        "TCP asked, Soft RoCE used", scene(soft(100 * MB), wire_up), sends(TCP, 100 * MB), REFUTED, f"RDMA over {SOFT}"
    ),
    Case(
        "TCP asked, a device of its own used",
        scene(hard(100 * MB), wire_up),
        sends(TCP, 100 * MB),
        REFUTED,
        f"RDMA over {HARD}",
    ),
    Case("Soft RoCE", scene(soft(100 * MB), wire_up), sends(ROCE, 100 * MB), PROVED, f"roce over {SOFT}"),
    Case(
        "Soft RoCE asked, TCP used although the port is there",
        scene(tcp(100 * MB), idle_soft),
        sends(ROCE, 100 * MB),
        REFUTED,
        "tcp over eth0",
    ),
    Case(
        "Soft RoCE asked, TCP used, no device opened",
        scene(tcp(100 * MB)),
        sends(ROCE, 100 * MB),
        REFUTED,
        "tcp over eth0",
    ),
    Case("RoCE of a device", scene(hard(100 * MB), wire_up), sends(HARD_ROCE, 100 * MB), PROVED, f"roce over {HARD}"),
    Case(
        "RoCE of a device asked, TCP used",
        scene(tcp(100 * MB), idle_hard),
        sends(HARD_ROCE, 100 * MB),
        REFUTED,
        "tcp over eth0",
    ),
    Case("InfiniBand", scene(hard(100 * MB)), sends(INFINIBAND, 100 * MB), PROVED, f"ib over {HARD}"),
    Case("half RDMA, half TCP", scene(hard(50 * MB), tcp(50 * MB)), sends(HARD_ROCE, 100 * MB), REFUTED, "", "50.0 %"),
    Case("one host, its own address", on_one(loopback(100 * MB)), inside(ALONE, 100 * MB), PROVED, "tcp over lo"),
    Case("one host, shared memory instead", on_one(shares), inside(ALONE, 100 * MB), REFUTED, "shared memory"),
    Case(
        "one host, copied across without a segment",
        on_one(loopback(20_000)),
        inside(ALONE, 100 * MB),
        REFUTED,
        "shared memory",
    ),
    Case(
        "one host, shared memory asked",
        on_one(shares, loopback(20_000)),
        inside(MEMORY, 100 * MB),
        PROVED,
        "shared memory",
    ),
    Case(
        "one host, shared memory asked, sockets used",
        on_one(loopback(101 * MB)),
        inside(MEMORY, 100 * MB),
        REFUTED,
        "tcp over lo",
    ),
    Case("one host, a tiny job and a library's wire-up", on_one(shares, loopback(9_000)), inside(ALONE, 80), UNDECIDED),
    Case("payload unknown", scene(tcp(100 * MB), wire_up), TCP, PROVED, "tcp over eth0"),
    Case("payload unknown, the other interface", scene(tcp(100 * MB, over="eth1")), TCP, REFUTED, "tcp over eth1"),
    Case("payload unknown, both", scene(tcp(60 * MB), tcp(40 * MB, over="eth1")), TCP, REFUTED, "", "60.0 %"),
    Case(
        "payload unknown, RDMA asked, port still", scene(tcp(100 * MB), idle_hard), HARD_ROCE, REFUTED, "tcp over eth0"
    ),
    Case("payload unknown, RDMA", scene(hard(100 * MB), tcp(9_000)), HARD_ROCE, PROVED, f"roce over {HARD}"),
    Case("payload unknown, a few words by TCP and RDMA asked", scene(tcp(9_000), idle_hard), HARD_ROCE, UNDECIDED),
    Case("payload unknown, nothing sent", scene(wire_up), TCP, UNDECIDED, "", "nothing was counted"),
    Case("payload unknown, hosts share memory", scene(wire_up, shares, one_kernel=True), TCP, REFUTED, "shared memory"),
    Case(
        "payload unknown, they share memory and a connection",
        scene(tcp(9_000), shares, one_kernel=True),
        TCP,
        UNDECIDED,
    ),
    Case(
        "payload unknown, ranks and then a copy by the same script",
        scene(tcp(100 * MB), tcp(60 * MB, 0, over="eth1", role=BESIDE)),
        TCP,
        REFUTED,
        "tcp over eth0 and tcp over eth1",
        "the job also moved 60.0 MB by tcp over eth1, though not from rank to rank",
    ),
    Case(
        "payload unknown, a rank's socket was handed to a process of somebody else's",
        scene(tcp(MB), tcp(60 * MB, 0, over="eth1", there=OTHER)),
        TCP,
        REFUTED,
        "tcp over eth0 and tcp over eth1",
        "the job also moved 60.0 MB by tcp over eth1, though not from rank to rank",
    ),
    Case(
        "payload unknown, two others talk beside it",
        scene(tcp(100 * MB), tcp(60 * MB, 0, over="eth1", role=OTHER)),
        TCP,
        PROVED,
        "tcp over eth0",
    ),
    Case(
        "payload unknown, a copy over the interface that was asked for",
        scene(tcp(100 * MB), tcp(60 * MB, 0, role=BESIDE)),
        TCP,
        PROVED,
        "tcp over eth0",
        "all 200 MB between ranks",
    ),
    Case(
        "payload unknown, little beside the ranks",
        scene(tcp(100 * MB), tcp(60_000, over="eth1", role=BESIDE)),
        TCP,
        PROVED,
        "tcp over eth0",
    ),
    Case(
        "payload known, a copy beside it",
        scene(tcp(100 * MB), tcp(60 * MB, over="eth1", role=BESIDE)),
        sends(TCP, 100 * MB),
        PROVED,
        "tcp over eth0",
        "100 %",
    ),
    Case("payload unknown, nobody saw the ranks", scene(tcp(100 * MB, role="")), TCP, UNDECIDED),
    *(
        Case(f"payload unknown, one host, {name}", on_one(loopback(20 * MB), holds(*ends)), asked, verdict, "", said)
        for name, ends, asked, verdict, said in [
            (
                "a pipe",
                (("pipe 7 write",), ("pipe 7 read",)),
                ALONE,
                UNDECIDED,
                "share a pipe, and that has no",
            ),
            ("a pipe, memory asked", (("pipe 7 write",), ("pipe 7 read",)), MEMORY, UNDECIDED, "share a pipe"),
            ("Unix sockets", (("unix 7 to 8",), ("unix 8 to 7",)), ALONE, UNDECIDED, "ranks of a share a Unix socket"),
            ("one output of both", (("pipe 7 write",), ("pipe 7 write",)), ALONE, PROVED, "all 20.0 MB"),
            ("a pipe of one alone", (("pipe 7 write", "pipe 7 read"), ("pipe 8 read",)), ALONE, PROVED, "all 20.0 MB"),
            ("a server's sockets", (("unix 7 to 8",), ("unix 9 to 6",)), ALONE, PROVED, "all 20.0 MB"),
        ]
    ),
    Case(
        "payload unknown, one host, a look was missed",
        on_one(loopback(20 * MB), loses_sight),
        ALONE,
        UNDECIDED,
        "",
        "a look came 0.4 s late",
    ),
    Case("payload unknown, a look was missed", scene(tcp(MB), loses_sight), TCP, PROVED, "tcp over eth0"),
    Case("payload unknown, one host, memory", on_one(shares), ALONE, REFUTED, "shared memory"),
    Case("payload unknown, one host, memory asked", on_one(shares), MEMORY, PROVED, "shared memory"),
    Case(
        "payload unknown, one host, only the launcher's store is shared",
        on_one(lambda one: one.shares("0:9:1 /tmp/ompi.a.0/pmix_dstor_ds21_7/smdataseg-1-0")),
        ALONE,
        UNDECIDED,
        "",
        "nothing was counted",
    ),
    Case("nothing asked for", scene(tcp(100 * MB)), Expectation("", ""), PROVED, "tcp over eth0"),
    Case("one host, no cable", on_one(loopback(100 * MB)), inside(TCP, 100 * MB), REFUTED, "tcp over lo"),
    Case(
        "one kernel, and what its ranks have mapped was not seen",
        scene(wire_up, one_kernel=True),
        sends(TCP, 100 * MB),
        REFUTED,
        says="no interface carried any of 200 MB",
    ),
    Case("one host, any interface", on_one(loopback(MB)), Expectation("tcp", ""), PROVED, "tcp over lo"),
    Case("any interface", scene(tcp(100 * MB, over="eth1")), Expectation("tcp", ""), PROVED, "tcp over eth1"),
]
