"""The lead of a run answers what its plan asks: decided first, the undecided named, no winner that overlaps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest
from tests.analysis.small_run import run_of

from fabriscope.analysis.results import results_of
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.fabric import Fabric

HOSTS = ("a", "b")
FOUR = ("a", "b", "c", "d")
BASE_NS = 2 * 10**7
LEVELS = (1.00, 1.10, 0.95, 1.05)
"""How slow each block is: all entries have it in common."""
WOBBLES = ((1.001, 0.999, 1.0, 1.0005), (0.999, 1.001, 1.0005, 1.0))
UNSTEADY = (1.25, 0.8, 1.15, 0.9)


def fabric(name: str, card: str, transport: str = "tcp") -> Fabric:
    return Fabric(name, dict.fromkeys(FOUR, card), transport, 10**9, 1500)


NET, OTHER = fabric("net", "eth0"), fabric("other", "eth1")
ROCE = fabric("ib", "eth1", transport="roce")
OPEN_MPI, MPICH = (Entry("mpi", "net", "inter", HOSTS, name) for name in ("openmpi", "mpich"))
TCP, TCP_OTHER, TCP_IB = (Entry("tcp", name, "inter", HOSTS) for name in ("net", "other", "ib"))
VERBS = Entry("verbs", "ib", "inter", HOSTS)
SENDERS, SENDERS_OTHER = (Entry("tcp", name, "inter", FOUR) for name in ("net", "other"))
ALL, ALL_OTHER = (Entry("mpi", name, "inter", FOUR, "openmpi") for name in ("net", "other"))


def sweep(buffer: int | None) -> Case:
    options = SocketOptions(send_buffer_bytes=buffer)
    return Case(TCP, "bandwidth", 65536, 16, options.label() if buffer else "", options)


PLANS: Mapping[str, tuple[Sequence[Case], Sequence[Case], str, str]] = {
    "two MPI libraries": (
        [Case(OPEN_MPI, "ping_pong", size) for size in (8, 65536)],
        [Case(MPICH, "ping_pong", size) for size in (8, 65536)],
        "openmpi",
        "mpich",
    ),
    "buffers": ([sweep(None)], [sweep(16384)], "the default setting", "send buffer 16 KiB"),
    "loss": (
        [Case(TCP, "ping_pong", 64), Case(TCP, "bandwidth", 65536, 16)],
        [Case(TCP_OTHER, "ping_pong", 64), Case(TCP_OTHER, "bandwidth", 65536, 16)],
        "net",
        "other",
    ),
    "incast": ([Case(SENDERS, "incast", 65536)], [Case(SENDERS_OTHER, "incast", 65536)], "net", "other"),
    "collectives": (
        [Case(ALL, "allreduce", 8), Case(ALL, "barrier", 0)],
        [Case(ALL_OTHER, "allreduce", 8), Case(ALL_OTHER, "barrier", 0)],
        "net",
        "other",
    ),
    "RDMA": ([Case(VERBS, "ping_pong", 8)], [Case(TCP_IB, "ping_pong", 8)], "verbs", "TCP"),
}
"""Plan to the cases of one side, those of the other that takes longer, and the sides' names."""
NUMBERS = {
    "two MPI libraries": "the least latency of small messages is",
    "buffers": "the largest bandwidth is",
    "loss": "the least latency is .* at 64 B, |the largest bandwidth is",
    "incast": "Incast: goodput between hosts, .* at 64 KiB, the most of 2 curves",
    "collectives": "Allreduce: collective latency between hosts, .* at 8 B, the least of 2 curves",
    "RDMA": "the least latency of small messages is",
}


def lead(plan: str, factors: Sequence[float]) -> list[str]:
    """Return the lead of a run in which the second side takes a block's factor as long as the first."""
    fast, slow, *_ = PLANS[plan]
    measured = {
        case: [
            [[BASE_NS * level * factor * wobble]]
            for level, factor, wobble in zip(LEVELS, factors if case in slow else (1.0,) * 4, wobbles, strict=True)
        ]
        for cases, wobbles in zip((fast, slow), WOBBLES, strict=True)
        for case in cases
    }
    return results_of(run_of(measured, fabrics=(NET, OTHER, ROCE))).answer


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_decided_is_said_first_with_the_amount_and_the_numbers(plan: str) -> None:
    *_, leader, follower = PLANS[plan]
    answer = lead(plan, (2.0,) * 4)
    assert re.search(f"{leader} leads {follower} .*2.00 times as fast", answer[0]), answer
    assert not any("ndecided" in sentence for sentence in answer)
    numbers = [sentence for sentence in answer if re.search(NUMBERS[plan], sentence)]
    assert numbers, answer
    assert not any("overlaps" in sentence for sentence in numbers)


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_undecided_is_named_and_nobody_wins(plan: str) -> None:
    *_, leader, follower = PLANS[plan]
    answer = lead(plan, UNSTEADY)
    assert answer[0].startswith("Undecided in every comparison: "), answer
    assert leader in answer[0]
    assert follower in answer[0]
    assert not any(" leads " in sentence for sentence in answer)
    numbers = [sentence for sentence in answer if re.search(NUMBERS[plan], sentence)]
    assert numbers, answer
    assert all("overlaps that of" in sentence for sentence in numbers), "whoever is named is not alone"


def test_an_interval_beyond_the_wire_says_what_the_wire_allows() -> None:
    """Of four launches it goes as far up as down, and the wire ends just above the fastest."""
    times_ns = [16 * 65536 * 8 / rate for rate in (0.940, 0.915, 0.895, 0.938)]
    measured = {Case(TCP, "bandwidth", 65536, 16): [[[time_ns]] for time_ns in times_ns]}
    (sentence,) = results_of(run_of(measured, fabrics=(NET,))).answer
    found = re.search(r" to (9\d\d) Mb/s; the wire allows (94\d) Mb/s\) at 64 KiB, 9\d% of what the wire", sentence)
    assert found, sentence
    assert int(found[1]) > int(found[2])
    slow = {Case(TCP, "bandwidth", 65536, 16): [[[10 * time_ns]] for time_ns in times_ns]}
    (sentence,) = results_of(run_of(slow, fabrics=(NET,))).answer
    assert "the wire allows" not in sentence.replace("of what the wire allows", "")


def test_a_curve_alone_has_its_number_told() -> None:
    measured = {Case(TCP, "ping_pong", 64): [[[10**4 * level]] for level in LEVELS]}
    (sentence,) = results_of(run_of(measured, fabrics=(NET,))).answer
    assert re.fullmatch(r"Between hosts, the least latency is 5.\d+ µs \(.* to .*\) at 64 B, net · TCP\.", sentence)


def test_the_best_number_has_its_own_interval_and_name_whoever_is_best_at_other_sizes() -> None:
    seconds = {(TCP, 1024): 0.1, (TCP, 65536): 0.02, (TCP_OTHER, 1024): 0.01, (TCP_OTHER, 65536): 0.04}
    measured = {
        Case(entry, "bandwidth", size, 16): [[[10**9 * time * level]] for level in LEVELS]
        for (entry, size), time in seconds.items()
    }
    (sentence,) = [text for text in results_of(run_of(measured, fabrics=(NET, OTHER))).answer if "largest" in text]
    least, most = sorted(16 * 65536 * 8 / 0.02 / level / 1e6 for level in (min(LEVELS), max(LEVELS)))
    found = re.search(
        r"the largest bandwidth is ([\d.]+) Mb/s \(([\d.]+) .*to ([\d.]+) .*\) at 64 KiB, .*net", sentence
    )
    assert found, sentence
    value, low, high = map(float, found.groups())
    assert low < value < high
    assert least < value < most
