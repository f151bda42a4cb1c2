"""Where a verdict holds, in words: of which benchmarks, and at which sizes, that no other verdict has as well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabriscope.analysis.comparing.compared import EQUIVALENT, FASTER, SLOWER, UNDECIDED, Compared, CurvePair
from fabriscope.analysis.comparing.questions import questions
from fabriscope.analysis.comparing.reply_words import (
    amount_text,
    ends_text,
    place_text,
    question_sentence,
    variants_text,
)
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.forecasts import Forecast

METRICS = {"ping_pong": "latency_ns", "bandwidth": "bandwidth_bytes_per_s"}
KIB, MIB = 1 << 10, 1 << 20


def points(verdicts: dict[int, str], benchmark: str = "ping_pong", layer: str = "tcp") -> list[Compared]:
    mpi = "openmpi" if layer == "mpi" else None
    left, right = (Curve("inter", name, layer, mpi, "engine", benchmark, "", "", "") for name in ("gige", "slow"))
    metric_id = METRICS.get(benchmark, "collective_latency_ns")
    pair = CurvePair("fabric", "gige", "slow", left, right, metric_id)
    ratios = {FASTER: 2.0, SLOWER: 0.5}
    return [
        Compared(
            pair, size, 2.0, 1.0, ratios.get(verdict, 1.0), 0.9, 1.1, 4, 0.01, 0.5, verdict,
            Forecast(17, 132) if verdict == UNDECIDED else None, "fixed", ratios.get(verdict, 1.0), 0.9, 1.1,
        )
        for size, verdict in verdicts.items()
    ]  # fmt: skip


CURVE = {1: UNDECIDED, 64: UNDECIDED, KIB: FASTER, 64 * KIB: FASTER}
RATES = dict.fromkeys((64 * KIB, MIB), FASTER)


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        (points(CURVE), ["from 1 KiB on", "up to 64 B"]),
        (points({1: FASTER, 64: UNDECIDED, KIB: FASTER}), ["at 2 of 3 sizes", "at 64 B"]),
        (points(dict.fromkeys((1, 64), FASTER)), ["at every size"]),
        (points({0: FASTER}, "barrier"), [""]),
        ([*points(CURVE), *points(RATES, "bandwidth")],
         ["in 4 of 6 comparisons (latency from 1 KiB on, bandwidth at every size)",
          "in 2 of 6 comparisons (latency up to 64 B)"]),
        ([*points({1: FASTER, 64: FASTER}), *points(RATES, "bandwidth")],
         ["in all 4 comparisons (2 of latency, 2 of bandwidth)"]),
        ([*points(CURVE), *points(CURVE, layer="mpi")],
         ["in 4 of 8 comparisons of latency, from 1 KiB on", "in 4 of 8 comparisons of latency, up to 64 B"]),
        ([*points(CURVE), *points({**CURVE, 64: EQUIVALENT}, layer="mpi")],
         ["in 4 of 8 comparisons of latency, from 1 KiB on", "in 1 of 8 comparisons of latency",
          "in 3 of 8 comparisons of latency"]),
        ([*points({1: FASTER, 64: UNDECIDED}), *points(CURVE, layer="mpi"), *points({0: SLOWER}, "barrier")],
         ["in 3 of 7 comparisons (latency in 3 of 6)", "in 1 of 7 comparisons (barrier)",
          "in 3 of 7 comparisons (latency in 3 of 6)"]),
        ([point for name in ("ping_pong", "bandwidth", "bcast", "gather") for point in points({KIB: FASTER}, name)],
         ["in all 4 comparisons"]),
    ],
)  # fmt: skip
def test_sizes_of_two_verdicts_never_overlap(rows: list[Compared], places: list[str]) -> None:
    (question,) = questions(rows, [])
    assert [place_text(question, reply) for reply in question.replies] == places


def test_the_sentence_says_what_is_compared_and_with_what_a_lead_varies() -> None:
    rates = [*points(RATES, "bandwidth"), *points(RATES, "bandwidth", "mpi")]
    wider = [Compared(**{**vars(point), "stated": 3.0}) for point in rates]
    (question,) = questions([*points(CURVE), *wider], [])
    lead, left = question.replies
    assert question_sentence(question) == (
        "Between hosts: gige leads slow in 6 of 8 comparisons (latency from 1 KiB on, bandwidth at every size), "
        f"2.00 to 3.00 times as fast depending on size, benchmark and layer ({ends_text(lead)}); "
        "undecided in 2 of 8 comparisons (latency "
        "up to 64 B; 17 to 132 blocks would decide)."
    )
    assert ends_text(lead).startswith("interval ")
    assert amount_text(left) == "interval 0.90 to 1.10 at the widest"
    unsure = replace(left, points=(replace(left.points[0], stated_low=0.5), left.points[1]))
    assert (amount_text(unsure), ends_text(unsure)) == ("interval 0.50 to 1.10 at the widest", "ratio 1.00")
    assert amount_text(replace(left, points=left.points[:1])) == "interval 0.90 to 1.10"
    assert variants_text(question, lead) == "all 3 variants (benchmark and layer)"
    assert variants_text(question, left) == "ping-pong, TCP, between hosts"
