"""What measured curves explain of an application: by runs made up of times that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.small_run import HOSTS, run_of

from fabriscope.analysis.profiles.costs import Shape, costs
from fabriscope.analysis.profiles.explained import Explained, _differences, explained
from fabriscope.analysis.profiles.measured import Measured, TimeCurve
from fabriscope.analysis.profiles.sums import bounds, by_size, changeable_share, losses, sent, waited
from fabriscope.analysis.results import results_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.profile import CUT, FINALIZED, HOST, UNKNOWN, Part, Profile, RankProfile
from fabriscope.model.profile import HOSTS as FAR
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import plain
from fabriscope.reports.sections import sections_of

MPI = Entry("mpi", "gige", "inter", HOSTS, "openmpi")
SLOW_MPI = replace(MPI, fabric="ethernet-100")
BLOCKS = 4
SLOWER = 10.0
"""Times of the slow fabric over those of the fast one, in the micro-benchmarks."""


def part(
    call: str,
    count: int,
    size: int,
    ns: int = 0,
    *,
    where: str = FAR,
    peer: int | None = None,
    ranks: int | None = None,
    hosts: int | None = None,
) -> Part:
    return Part(call, where, max(size, 1).bit_length(), count, count * size, ns, peer, ranks, hosts)


def rank(number: int, parts: Sequence[Part], run_ns: int = 10**9, end: str = FINALIZED) -> RankProfile:
    return RankProfile(number, HOSTS[number % 2], end, run_ns, tuple(parts), 40.0)


def job(*ranks: RankProfile) -> Profile:
    return Profile("/x/app", "Open MPI v5", 0, len(ranks), ranks)


def application(calls: Sequence[Part], fast_ns: int, slow_ns: Sequence[int]) -> RunData:
    """Return a run with a ping-pong of 8 us + 8 ns a byte, ten times that on the slow fabric, and a profiled kernel."""
    measured: dict[Case, list[list[list[float]]]] = {}
    kernels: dict[str, Case] = {}
    for entry, factor in ((MPI, 1.0), (SLOW_MPI, SLOWER)):
        for size in (1, 1024, 1 << 20):
            case = Case(entry, "ping_pong", size, parameters=(("buffers", "separate"),))
            measured[case] = [[[2 * factor * (8000 + 8 * size)]]] * BLOCKS
        kernels[entry.fabric or ""] = Case(replace(entry, instrument="npb"), "nas_ft_s", 0)
        measured[kernels[entry.fabric or ""]] = [[[1e6]]] * BLOCKS
    run = run_of(measured)
    journal = tuple(with_profile(one, kernels, calls, fast_ns, slow_ns) for one in run.journal)
    is_kernel = pl.col("case_id").is_in([case.case_id for case in kernels.values()])
    quantity = pl.when(is_kernel).then(pl.lit("nas_rate_op_per_s")).otherwise(pl.col("quantity"))
    samples = run.samples.with_columns(quantity.alias("quantity"))
    return replace(run, journal=journal, lines=journal, samples=samples)


def with_profile(
    record: LaunchRecord, kernels: Mapping[str, Case], calls: Sequence[Part], fast_ns: int, slow_ns: Sequence[int]
) -> LaunchRecord:
    for fabric, case in kernels.items():
        if case.case_id in record.results:
            run_ns = fast_ns if fabric == "gige" else slow_ns[record.block - 1]
            profile = job(rank(0, calls, run_ns), rank(1, calls, run_ns))
            return replace(record, details=replace(record.details, profiles={case.case_id: profile}))
    return record


def the_one(run: RunData) -> Explained:
    results = results_of(run)
    (found,) = explained(run, results.launch_values, results.rules.method)
    return found


EXCHANGES = [part("MPI_Sendrecv", 1000, 1024)]
PREDICTED = 1000 * (SLOWER - 1) * (8000 + 8 * 1024)
"""Of a thousand exchanges of a measured size: 145.7 ms."""


def test_calls_times_measured_difference() -> None:
    one = the_one(application(EXCHANGES, 10**9, [10**9 + round(PREDICTED / 0.9) + shift for shift in (0, 7, 3, 9)]))
    assert (one.left.fabric, one.right.fabric) == ("ethernet-100", "gige")
    assert one.predicted_ns.value == pytest.approx(-PREDICTED, rel=1e-9)
    assert one.share.value == pytest.approx(0.9, rel=1e-6) and one.share.low <= 0.9 <= one.share.high
    assert one.difference_ns.sign == -1 and not one.is_contrary and one.block_count == BLOCKS
    (call,) = one.calls
    assert (call.call, call.count, call.basis) == ("MPI_Sendrecv", 1000, "ping-pong")


def test_blocks_that_differ_have_an_interval_too() -> None:
    one = the_one(
        application(EXCHANGES, 10**9, [10**9 + shift for shift in (10**8, 2 * 10**8, 15 * 10**7, 18 * 10**7)])
    )
    assert one.difference_ns.value == pytest.approx(-165e6)
    assert one.difference_ns.low < -165e6 < one.difference_ns.high < 0


def test_a_fabric_that_wins_the_measurements_and_loses_the_application_is_told() -> None:
    run = application(EXCHANGES, 10**9, [5 * 10**8, 5 * 10**8 + 5, 5 * 10**8 + 9, 5 * 10**8 + 2])
    assert the_one(run).is_contrary
    (section,) = [one for one in sections_of(results_of(run)) if one.anchor == "profiles"]
    words = " ".join(plain(item) for block in section.brief for item in getattr(block, "items", ()))
    assert "NAS FT S takes 500 ms longer over gige than over ethernet-100, though it wins the micro-benchmarks" in words


def test_without_a_ping_pong_it_says_what_to_add() -> None:
    run = application(EXCHANGES, 10**9, [2 * 10**9] * BLOCKS)
    kept = {case_id: case for case_id, case in run.manifest.cases.items() if case.benchmark != "ping_pong"}
    bare = replace(run, manifest=replace(run.manifest, cases=kept))
    (section,) = [one for one in sections_of(results_of(bare)) if one.anchor == "profiles"]
    assert "the run has no ping-pong" in " ".join(plain(getattr(block, "text", "")) for block in section.blocks)


def test_times_lie_on_straight_lines_in_logarithms() -> None:
    curve = TimeCurve((8, 32, 1024), (100.0, 200.0, 800.0))
    assert [curve.at(size) for size in (0, 8, 16, 32, 2048)] == pytest.approx([100, 100, 141.42, 200, 1600], rel=1e-4)


LINE = TimeCurve((1, 1 << 30), (1.0, float(1 << 30)))
"""A message takes as many ns as it has bytes."""


def cost(*parts: Part, ranks: int = 4, hosts: int = 2, **together: TimeCurve) -> dict[str, float]:
    found = costs(rank(0, parts), Shape(ranks, hosts), Measured(LINE, together))
    return {call: one.ns for call, one in found.items()}


def test_ranks_of_a_host_share_its_interface_and_collectives_are_told_by_their_messages() -> None:
    assert cost(part("MPI_Send", 3, 100)) == pytest.approx({"MPI_Send": 600})
    assert cost(part("MPI_Send", 3, 100, where=HOST)) == {}
    # Of four ranks on two hosts each sends two of its blocks across, and so does its neighbour.
    blocks = part("MPI_Alltoall", 1, 4 * 1000, ranks=4, hosts=2)
    assert cost(blocks) == pytest.approx({"MPI_Alltoall": 4000})
    assert cost(replace(blocks, bytes=8 * 1000, ranks=8, hosts=8), ranks=8, hosts=8) == pytest.approx(
        {"MPI_Alltoall": 7000}
    )
    assert cost(part("MPI_Allreduce", 1, 8000, ranks=4, hosts=4), hosts=4) == pytest.approx({"MPI_Allreduce": 12000})
    assert cost(part("MPI_Barrier", 1, 0, ranks=4, hosts=4), hosts=4) == pytest.approx({"MPI_Barrier": 16})


def test_a_measured_collective_counts_before_any_algorithm() -> None:
    curve = TimeCurve((1, 1000), (5.0, 5.0))
    uneven = part("MPI_Alltoallv", 2, 4 * 100, ranks=4, hosts=2)
    assert cost(uneven, alltoall=curve) == {"MPI_Alltoallv": 10}
    assert cost(part("MPI_Sendrecv", 2, 100), sendrecv=curve) == {"MPI_Sendrecv": 10}
    others = replace(uneven, ranks=2)  # of another communicator: the curve is of all ranks
    assert cost(others, alltoall=curve) != {"MPI_Alltoallv": 10}


def test_what_is_sent_while_something_is_received_counts_once() -> None:
    sends, receives = part("MPI_Isend", 10, 100), part("MPI_Irecv", 10, 100)
    assert sum(cost(sends, receives, ranks=2).values()) == pytest.approx(1000)
    both = part("MPI_Send", 10, 100), part("MPI_Recv", 10, 100)
    assert sum(cost(*both, ranks=2).values()) == pytest.approx(2000)


def test_what_counts_over_one_fabric_may_be_hidden_over_the_other() -> None:
    flat = TimeCurve((1, 1 << 30), (100.0, 100.0))
    calls = rank(0, (part("MPI_Isend", 9, 100), part("MPI_Irecv", 1, 2000)))
    told = _differences(*(costs(calls, Shape(2, 2), Measured(curve, {})) for curve in (flat, LINE)))
    assert [told[call][0] for call in ("MPI_Isend", "MPI_Irecv")] == [9, 1]
    assert [told[call][1] for call in ("MPI_Isend", "MPI_Irecv")] == pytest.approx([-900, 2000])


def test_sums_of_a_profile() -> None:
    near = part("MPI_Recv", 2, 8, 100, where=HOST, peer=2)
    far = part("MPI_Recv", 1, 8, 300, peer=1)
    wait = part("MPI_Waitall", 1, 0, 500, where=UNKNOWN)
    ranks = (rank(0, (near, far, wait), 1000), rank(1, (part("MPI_Send", 1, 8, 50, peer=0),), 1000, end=CUT))
    one = replace(job(*ranks), rank_count=3)
    assert changeable_share(one) == pytest.approx((300 + 500 + 50) / 2000)
    assert [(pair.source, pair.target, pair.bytes) for pair in sent(one)] == [("1", "0", 8)]
    assert [(pair.source, pair.target, pair.ns) for pair in waited(one)] == [("0", "1", 300), ("0", "2", 100)]
    assert [(size.least_bytes, size.most_bytes, size.count) for size in by_size(one)] == [(5, 8, 1)]
    one_sided = part("MPI_Get_accumulate", 2, 64), part("MPI_Rput", 1, 64)
    assert [size.bytes for size in by_size(job(rank(0, one_sided)))] == [192]
    assert bounds(0) == (0, 0) and bounds(1) == (1, 1) and bounds(11) == (513, 1024)
    words = " ".join(losses(one))
    assert "1 of 3 ranks left no profile" in words and "1 of 3 ranks were killed" in words


def test_peers_are_summed_up_in_what_a_run_keeps() -> None:
    told = [part("MPI_Send", 1, 8, 10, peer=peer) for peer in range(1, 5)]
    (kept,) = job(rank(0, told)).condensed().ranks
    (summed,) = kept.parts
    assert (summed.count, summed.bytes, summed.ns, summed.peer) == (4, 32, 40, None)
