"""Everything that reports show, computed once for a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from fabriscope.analysis.answer import answer
from fabriscope.analysis.comparisons import compare_all
from fabriscope.analysis.control import Control, control_of
from fabriscope.analysis.decisions import state_of
from fabriscope.analysis.estimates import estimates_of
from fabriscope.analysis.findings import findings
from fabriscope.analysis.fits import fits
from fabriscope.analysis.frames import IN_TRUTH, cases_frame, failures_frame, launches_frame
from fabriscope.analysis.groups import groups
from fabriscope.analysis.launch_values import all_launch_values, without_anchors
from fabriscope.analysis.pairs import PairMatrix, pair_matrices
from fabriscope.analysis.paper import Paper, paper_of
from fabriscope.analysis.ranges import ranges
from fabriscope.analysis.stopping import UNTIL_DECIDED, Rules, rules_of
from fabriscope.analysis.summary import summary
from fabriscope.analysis.transport import (
    refuted_findings,
    refuted_run,
    refuted_sentences,
    refuted_values,
    sound_run,
    transport_frame,
    verdicts,
    without_refuted,
)
from fabriscope.analysis.trust import Outside, with_trust
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class Essence:
    """The frames of one run, and what they say in words."""

    run: RunData
    rules: Rules
    cases: pl.DataFrame
    launches: pl.DataFrame
    failures: pl.DataFrame
    values: pl.DataFrame
    """With those of refuted launches, under a layer's name that says what carried them; nothing compares these."""
    estimates: pl.DataFrame
    comparisons: pl.DataFrame
    ranges: pl.DataFrame
    summary: pl.DataFrame
    groups: pl.DataFrame
    pairs: list[PairMatrix]
    """Every rank against every other."""
    fits: pl.DataFrame
    """Time over size in pieces."""
    findings: list[dict[str, Any]]
    answer: list[str]
    transport: pl.DataFrame
    """The verdict on what carried the bytes of each launch that was watched."""
    control: Control | None = None
    """What came of the A/A control, where the plan has one."""
    paper: Paper | None = None
    """What came of the paper that the plan re-ran."""

    def looks(self) -> list[dict[str, Any]]:
        """Return rows that have every look that a curve may have: the cases, and what was carried by something else."""
        names = ("fabric", "layer", "mpi", "instrument")
        refuted = self.estimates.filter(pl.col("layer").str.contains(IN_TRUTH, literal=True))
        return [*self.cases.to_dicts(), *refuted.select(names).unique(maintain_order=True).to_dicts()]


def essence_of(run: RunData) -> Essence:
    """Return the essence of a run; it is kept with the run, since one command may write several formats."""
    return run.once(_essence)


def _more_time(run: RunData) -> list[str]:
    """Return what a run that goes on until it is decided has decided, and what more time would buy."""
    plan = run.manifest.plan
    if plan.until != UNTIL_DECIDED or not run.journal:
        return []
    sentence = state_of(run, plan.compare or ()).sentence()
    return [f"{sentence[0].upper()}{sentence[1:]}."]


def _essence(run: RunData) -> Essence:
    of_all, rules = all_launch_values(run), rules_of(run)
    with_anchors = without_refuted(run, of_all)
    everything = without_anchors(with_anchors)
    comparisons = compare_all(everything, rules)
    control = control_of(comparisons)
    values = everything.filter(pl.col("twin") == "")  # the control is there to be compared, and for nothing else
    all_ranges = ranges(comparisons)
    table = summary(values, rules.method)
    shared = groups(run, values)
    failures, sound = failures_frame(run), sound_run(run)
    refuted = without_anchors(refuted_values(run, of_all)).filter(pl.col("twin") == "")
    failed_control = control.sentence() if control and control.is_failed else None
    estimates = pl.concat(
        with_trust(part, estimates_of(one, rules.method), Outside(transport, failed_control))
        for part, one, transport in (
            (sound, values, verdicts(run)),
            (refuted_run(run), refuted, verdicts(run, of_refuted=True)),
        )
    )
    found = [*refuted_findings(run), *findings(all_ranges)]
    failed = [control.sentence()] if control and control.is_failed else []
    passed = [control.sentence()] if control and not control.is_failed else []
    paper = paper_of(run, values)
    return Essence(
        run=run,
        rules=rules,
        cases=cases_frame(run).filter(pl.col("twin") == ""),
        launches=launches_frame(run),
        failures=failures,
        values=pl.concat([values, refuted]),
        estimates=estimates,
        comparisons=comparisons,
        ranges=all_ranges,
        summary=table,
        groups=shared,
        pairs=pair_matrices(sound, cases_frame(run)),
        fits=fits(with_anchors.filter(pl.col("twin") == "")),
        findings=found,
        answer=[
            *failed,
            *([paper.sentence()] if paper else []),
            *answer(table, found, failures, estimates, shared),
            *refuted_sentences(run),
            *_more_time(run),
            *passed,
        ],
        control=control,
        transport=transport_frame(run),
        paper=paper,
    )
