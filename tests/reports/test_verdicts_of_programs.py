"""Verdicts where several programs measured one thing: each is told by its program, and none is taken for another."""

from __future__ import annotations

from fabriscope.analysis.comparing.compared import CurvePair
from fabriscope.analysis.comparing.ranges import Range
from fabriscope.analysis.curve import Curve
from fabriscope.reports._verdicts import verdict_lines

LATENCY, BANDWIDTH = "latency_ns_separate_mean", "ping_pong_bandwidth_bytes_per_s_separate_mean"


def ranges(instrument: str, metric_id: str, *every: tuple[str, int, int, float]) -> list[Range]:
    """Return ranges of verdict, first and last size and ratio, of two fabrics as one program has them."""
    curve = Curve("inter", None, "mpi", "mpich", instrument, "ping_pong", "", "", "")
    about = CurvePair("fabric", "near", "far", curve, curve, metric_id)
    return [
        Range(
            about, verdict, first, last, 2, None, 4, len(every) == 1, ratio, ratio, None, None, ratio, ratio, None, None
        )
        for verdict, first, last, ratio in every
    ]  # fmt: skip


def test_two_programs_with_leads_at_other_sizes_are_two_lines() -> None:
    rows = [
        *ranges("imb", LATENCY, ("faster", 1, 2, 2.0), ("equivalent", 4, 8, 1.0)),
        *ranges("osu", LATENCY, ("faster", 1, 8, 2.0)),
        *ranges("engine", LATENCY, ("slower", 1, 8, 0.5)),
    ]
    assert {row.where: row.said[0].name for row in verdict_lines(rows)} == {
        "ping-pong, MPI (mpich), by imb, between hosts": "near",
        "ping-pong, MPI (mpich), by osu, between hosts": "near",
        "ping-pong, MPI (mpich), between hosts": "far",
    }


def test_two_quantities_of_one_program_with_leads_at_other_sizes_are_two_lines() -> None:
    rows = [
        *ranges("imb", LATENCY, ("faster", 1, 2, 2.0), ("equivalent", 4, 8, 1.0)),
        *ranges("imb", BANDWIDTH, ("faster", 1, 8, 2.0)),
    ]
    lines = verdict_lines(rows)
    assert len(lines) == 2
    assert {line.where for line in lines} == {"ping-pong, MPI (mpich), by imb, between hosts"}
