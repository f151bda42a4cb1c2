"""How far each number can be trusted: a grade, and the reasons for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.rows import frame_of, parts, rows_of
from fabriscope.analysis.values.bursts import bursts, drifts, effective_samples
from fabriscope.analysis.values.busy import load_of
from fabriscope.analysis.values.estimates import Estimate
from fabriscope.analysis.values.kept_state import NOT_ASKED, KeptState
from fabriscope.analysis.values.launch_grades import GRADES, Reason, grade_of, of_launches, place_of, trends
from fabriscope.analysis.words import significant
from fabriscope.model.host import HostFacts
from fabriscope.model.run_data import RunData

MEANINGS = {
    "A": "sound: nothing speaks against it, and half of such numbers are within 2 % of the truth",
    "B": "fair: read it with its interval; half of such numbers are within 5 % of the truth",
    "C": "weak: good for orders of magnitude; half of such numbers are within 15 % of the truth",
    "D": "unreliable",
}
CLOCK_SHARES = ((0.01, 0), (0.05, 1), (0.2, 2))
"""Share of a sample that recording it takes."""
EFFECTIVE_COUNTS = ((10, 0), (3, 1))
"""Few inside a launch are no harm as such, the launch being the unit; but fewer leave its median to chance."""
PRESSURE_PERCENT = 10.0
TRUST_SCHEMA = {
    "case_id": pl.String,
    "metric_id": pl.String,
    "grade": pl.String,
    "reasons": pl.String,
    "effective_sample_count": pl.Float64,
    "drifting_launch_count": pl.Int64,
    "clock_share": pl.Float64,
    "transport": pl.String,
}


@dataclass(frozen=True)
class Outside:
    """What others found that bears on a number; what is not known is absent."""

    transport: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Case id to the verdict on which fabric carried its bytes (`proved`, `refuted`, `undecided`), and the reason."""
    control: str | None = None
    """Why the A/A control of the run failed."""
    kept: KeptState = NOT_ASKED
    """Whether the machine kept a state from launch to launch."""


@dataclass(frozen=True)
class Trust:
    """How far one number can be trusted: a row of `trust`, which says what the fields are."""

    case_id: str
    metric_id: str
    grade: str
    reasons: str
    effective_sample_count: float | None
    drifting_launch_count: int
    clock_share: float | None
    transport: str | None


@dataclass(frozen=True)
class GradedEstimate(Estimate):
    """An estimate, and how far it can be trusted; the grade is None where nothing is known of it."""

    grade: str | None
    reasons: str | None
    transport: str | None


@dataclass(frozen=True)
class CurveGrades(Curve):
    """How far the numbers of one curve in one metric can be trusted."""

    metric_id: str
    counts: Mapping[str, int]
    """Grade to its number of points."""
    grade: str
    """Of the worst point, like what follows."""
    reasons: str
    message_size_bytes: int


@dataclass(frozen=True)
class _Inside:
    """What the launches of one case are like inside, the median over them."""

    case_id: str
    effective_count: float | None
    burst_count: float
    sample: float
    """In the unit in which it was recorded."""
    launch_id: Sequence[int]
    """Of all of them."""


def trust(run: RunData, estimates: pl.DataFrame, outside: Outside | None = None) -> pl.DataFrame:
    """Return grade and reasons for each case and metric of the estimates, TRUST_SCHEMA.

    The grade is the worst that any reason leaves. `effective_sample_count` is the median over launches;
    `clock_share` the share of a sample that recording it takes; `transport` the verdict on what carried its bytes, null
    where nobody watched.
    """
    if not estimates.height:  # all samples would be read for nothing
        return pl.DataFrame(schema=TRUST_SCHEMA)
    frame = run.once(bursts)
    known = _Run(run, frame, outside or Outside())
    rows = []
    for row in rows_of(estimates, Estimate):
        reasons = sorted(known.reasons(row), key=lambda reason: -reason[0])
        about = known.about(row)
        rows.append(
            Trust(
                row.case_id,
                row.metric_id,
                grade_of(reasons),
                "; ".join(text for _, text in reasons),
                about.effective_count if about else None,
                len(known.drifting(row)),
                known.clock_share(row),
                known.transport(row)[0] or None,
            )
        )
    return frame_of(rows, TRUST_SCHEMA)


class _Run:
    """What a run's samples, journal and facts say of all its numbers."""

    def __init__(self, run: RunData, frame: pl.DataFrame, outside: Outside) -> None:
        self._outside = outside
        per_launch = effective_samples(frame)
        self._drifts = drifts(frame)
        medians = per_launch.group_by("case_id").agg(
            pl.col("effective_count", "burst_count", "sample").median(), pl.col("launch_id").unique()
        )
        self._about = {about.case_id: about for about in rows_of(medians, _Inside)}
        records = {record.launch_id: record for record in run.journal}
        costs = [cost for record in run.journal if (cost := record.details.record_cost_ns) is not None]
        self._cost_ns = float(np.median(costs)) if costs else None
        self._trends = trends(frame, records)
        self._hosts = {name: list(_host_reasons(about)) for name, about in run.manifest.hosts.items()}
        self._read = {record.launch_id for record in run.journal if record.details.read_from is not None}
        self._hosts_of = {case_id: case.entry.hosts for case_id, case in run.manifest.cases.items()}

    def about(self, row: Estimate) -> _Inside | None:
        return self._about.get(row.case_id)

    def drifting(self, row: Estimate) -> list[int]:
        about = self.about(row)
        return [launch_id for launch_id in (about.launch_id if about else ()) if launch_id in self._drifts]

    def clock_share(self, row: Estimate) -> float | None:
        about = self.about(row)
        sample_ns = about.sample if about else None
        is_ours = row.instrument == "engine" and row.layer != "null"
        return self._cost_ns / sample_ns if is_ours and sample_ns and self._cost_ns is not None else None

    def transport(self, row: Estimate) -> tuple[str, str]:
        return self._outside.transport.get(row.case_id, ("", ""))

    def reasons(self, row: Estimate) -> Iterator[Reason]:
        """Yield everything that bears on one number, what is in order with place 0."""
        yield from of_launches(row, self._outside.kept)
        yield from self._of_samples(row)
        about = self.about(row)
        if about and self._read.intersection(about.launch_id):
            yield 1, "read from logs: no samples, no proof of what carried the bytes, no blocks"
        share = self.clock_share(row)
        if share is not None and (place := place_of(share, CLOCK_SHARES)):
            yield place, f"recording takes {share:.0%} of a sample"
        if row.entry_id in self._trends:
            yield 2, f"launches of this entry {self._trends[row.entry_id]} over the run"
        of_hosts: dict[Reason, list[str]] = {}  # several hosts of one machine have the same
        for host in dict.fromkeys(self._hosts_of.get(row.case_id, ())):
            for reason in self._hosts.get(host, ()):
                of_hosts.setdefault(reason, []).append(host)
        yield from ((grade, f"{text} ({', '.join(names)})") for (grade, text), names in of_hosts.items())
        verdict, why = self.transport(row)
        if verdict in ("refuted", "undecided"):
            yield 3 if verdict == "refuted" else 1, f"the transport is {verdict}: {why}"
        if self._outside.control is not None:
            yield 3, "the A/A control of the run failed"

    def _of_samples(self, row: Estimate) -> Iterator[Reason]:
        about, drifting = self.about(row), self.drifting(row)
        if drifting:
            most = max((step for one in drifting for _, step in self._drifts[one]), key=lambda step: abs(np.log(step)))
            total = len(about.launch_id) if about else 0
            place = 2 if 2 * len(drifting) > total else 1
            yield place, f"the level changed inside {len(drifting)} of {total} launches, by up to {most - 1:+.0%}"
        effective = about.effective_count if about else None
        if effective is None:
            if about and not self._read.intersection(about.launch_id):
                count = round(about.burst_count)
                bursts = f"{count} burst{'' if count == 1 else 's'}"
                yield 1, f"a launch has {bursts}, too few to tell how many of its samples are independent"
        elif place := place_of(-effective, tuple((-least, at) for least, at in EFFECTIVE_COUNTS), worst=2):
            yield place, f"the samples of a launch are worth {significant(effective, 2)} independent ones"


def _host_reasons(about: HostFacts) -> Iterator[Reason]:
    """Yield what a host's facts, read before the first launch, say against it."""
    if (busy := load_of(about)) is not None:
        yield 1, f"a load of {busy[0]:g} on {busy[1]} processors before the run"
    pressure = about.number("load.cpu_pressure_10s_percent")
    if pressure is not None and pressure > PRESSURE_PERCENT:
        yield 1, f"programs waited for a processor in {pressure:.0f} % of the time before the run"
    governor = about.text("cpu.governor")
    if governor is not None and governor != "performance":
        yield 1, f"the CPU frequency is not fixed: governor {governor}"


def with_trust(run: RunData, estimates: pl.DataFrame, outside: Outside | None = None) -> pl.DataFrame:
    """Return the estimates with the columns of `trust` beside them."""
    return estimates.join(
        trust(run, estimates, outside), on=["case_id", "metric_id"], how="left", maintain_order="left"
    )


def curve_grades(estimates: Sequence[GradedEstimate]) -> list[CurveGrades]:
    """Return one row for each curve and metric; the instrument's floor is left out."""
    rows = []
    graded = [row for row in estimates if row.layer != "null" and row.grade]
    for part in parts(graded, lambda row: (row.curve, row.metric_id)):
        by_size = sorted(part, key=lambda row: row.message_size_bytes)
        worst = max(by_size, key=lambda row: row.grade or "")  # of equal ones the smallest
        grades = [row.grade for row in part]
        rows.append(
            CurveGrades(
                **vars(worst.curve),
                metric_id=worst.metric_id,
                counts={grade: grades.count(grade) for grade in GRADES},
                grade=worst.grade or "",
                reasons=worst.reasons or "",
                message_size_bytes=worst.message_size_bytes,
            )
        )
    return rows
