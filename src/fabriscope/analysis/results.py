"""Everything that is computed of one run: what shows a run, in Python, in a terminal or on a page, is from here."""

from __future__ import annotations

from functools import cached_property

import polars as pl

from fabriscope.analysis.answer import answer
from fabriscope.analysis.comparing.compared import Compared, comparisons_frame
from fabriscope.analysis.comparing.comparisons import KINDS, compared, compared_all
from fabriscope.analysis.comparing.control import CONTROL, Control, control_of
from fabriscope.analysis.comparing.decisions import more_time
from fabriscope.analysis.comparing.findings import Finding, findings, refuted_findings, refuted_sentences
from fabriscope.analysis.comparing.questions import Question, questions
from fabriscope.analysis.comparing.ranges import Range, ranges, ranges_frame
from fabriscope.analysis.comparing.reconciled import Reconciled, reconciled
from fabriscope.analysis.curve import IN_TRUTH, Curve
from fabriscope.analysis.frames import (
    LAUNCH_SCHEMA,
    Failure,
    LaunchState,
    cases_frame,
    failures_frame,
    failures_of,
    launches_of,
    planned_cases,
)
from fabriscope.analysis.incast.curves import incast_curves, incast_frame
from fabriscope.analysis.incast.destinations import destinations_frame
from fabriscope.analysis.incast.incast_words import refused_sentence
from fabriscope.analysis.incast.points import IncastCurve
from fabriscope.analysis.incast.switch_windows import switch_frame
from fabriscope.analysis.papers.paper import Paper, paper_of
from fabriscope.analysis.papers.selections import State
from fabriscope.analysis.proof.transport import (
    refuted_run,
    refuted_values,
    sound_run,
    transport_frame,
    verdicts,
    without_refuted,
)
from fabriscope.analysis.rows import frame_of, rows_of
from fabriscope.analysis.values.busy import busy_sentences
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.fits import FIT_SCHEMA, FittedPiece, fitted
from fabriscope.analysis.values.groups import GROUP_SCHEMA, Group, grouped
from fabriscope.analysis.values.kept_state import KeptState, kept_state, order_of
from fabriscope.analysis.values.launch_values import all_launch_values, without_anchors
from fabriscope.analysis.values.pairs import PairMatrix, pair_matrices
from fabriscope.analysis.values.restated import restated, restatements
from fabriscope.analysis.values.slow_launches import words_of_launches
from fabriscope.analysis.values.stopping import Rules, rules_of
from fabriscope.analysis.values.streams import series_frame, windows_by_launch
from fabriscope.analysis.values.summary import Summary, summaries, summary
from fabriscope.analysis.values.tails import LaunchTail, Tail, launch_tails, tails, tails_frame
from fabriscope.analysis.values.trust import GradedEstimate, Outside, with_trust
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.model.run_data import RunData


class Results:
    """The frames of one run, and what they say in words; each is computed when it is first asked for."""

    def __init__(self, run: RunData) -> None:
        self.run = run
        self.rules: Rules = rules_of(run)

    @cached_property
    def cases(self) -> pl.DataFrame:
        """Return one row for each case of the plan, without what was entered twice as a control."""
        return _without_twins(cases_frame(self.run))

    @cached_property
    def all_launches(self) -> list[LaunchState]:
        """Return each launch of the schedule, with how it ended."""
        return launches_of(self.run)

    @cached_property
    def launches(self) -> pl.DataFrame:
        """Return one row for each of `all_launches`."""
        return frame_of(self.all_launches, LAUNCH_SCHEMA)

    @cached_property
    def failures(self) -> pl.DataFrame:
        """Return one row for each measurement that failed or was skipped, with the reason."""
        return failures_frame(self.run)

    @cached_property
    def failed(self) -> list[Failure]:
        """Return the rows of `failures`."""
        return failures_of(self.run)

    @cached_property
    def transport(self) -> pl.DataFrame:
        """Return the verdict on what carried the bytes of each launch that was watched."""
        return transport_frame(self.run)

    @cached_property
    def _every_value(self) -> pl.DataFrame:
        return all_launch_values(self.run)

    @cached_property
    def kept_state(self) -> KeptState:
        """Return whether the machine kept a state from launch to launch, over all entries' launches."""
        return kept_state(self._every_value, order_of(self.run))

    @cached_property
    def _with_anchors(self) -> pl.DataFrame:
        return without_refuted(self.run, self._every_value)

    @cached_property
    def launch_values(self) -> pl.DataFrame:
        """Return what statistics are taken over, with the control; refuted launches are left out."""
        return without_anchors(self._with_anchors)

    @cached_property
    def _sound_values(self) -> pl.DataFrame:
        return _without_twins(self.launch_values)  # the control is there to be compared, and for nothing else

    @cached_property
    def _refuted_values(self) -> pl.DataFrame:
        return _without_twins(without_anchors(refuted_values(self.run, self._every_value)))

    @cached_property
    def values(self) -> pl.DataFrame:
        """Return the values that are shown: no control; those of refuted launches under a layer that says so."""
        return pl.concat([self._sound_values, self._refuted_values])

    @cached_property
    def estimates(self) -> pl.DataFrame:
        """Return one row for each case and metric of `values`: centre, interval, spread, counts, grade and reasons."""
        failed = self.control.sentence() if self.control and self.control.is_failed else None
        sound = sound_run(self.run), self._sound_values, verdicts(self.run)
        refuted = refuted_run(self.run), self._refuted_values, verdicts(self.run, of_refuted=True)
        return pl.concat(
            with_trust(part, estimates_of(values, self.rules.method), Outside(transport, failed, self.kept_state))
            for part, values, transport in (sound, refuted)
        )

    @cached_property
    def graded(self) -> list[GradedEstimate]:
        """Return the rows of `estimates`."""
        return rows_of(self.estimates, GradedEstimate)

    @cached_property
    def compared(self) -> list[Compared]:
        """Return what came of each pair of curves at each size: ratio, interval, verdict."""
        return compared_all(self.launch_values, self.rules, self.run.once(turn_series))

    @cached_property
    def comparisons(self) -> pl.DataFrame:
        """Return one row for each of `compared`."""
        return comparisons_frame(self.compared)

    @cached_property
    def reconciled(self) -> list[Reconciled]:
        """Return what several programs state of one thing at one size, and what is left under one definition."""
        return reconciled(self.run, self._sound_values, self.rules)

    @cached_property
    def control(self) -> Control | None:
        """Return what came of the A/A control, where the plan has one."""
        return control_of(compared(self.launch_values, KINDS[CONTROL], self.rules, self.run.once(turn_series)))

    @cached_property
    def all_ranges(self) -> list[Range]:
        """Return what was compared, neighbouring sizes of one verdict together."""
        return ranges(self.compared)

    @cached_property
    def ranges(self) -> pl.DataFrame:
        """Return one row for each of `all_ranges`."""
        return ranges_frame(self.all_ranges)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Return one row for each curve: largest ping-pong bandwidth, where it is reached, latency."""
        return summary(self._sound_values, self.rules.method)

    @cached_property
    def summaries(self) -> list[Summary]:
        """Return the rows of `summary`."""
        return summaries(self.summary)

    @cached_property
    def grouped(self) -> list[Group]:
        """Return each curve of collectives and pairs: times, slowest rank, late rounds, clock error."""
        return grouped(self.run, self._sound_values)

    @cached_property
    def groups(self) -> pl.DataFrame:
        """Return one row for each of `grouped`."""
        return frame_of(self.grouped, GROUP_SCHEMA)

    @cached_property
    def incast_curves(self) -> list[IncastCurve]:
        """Return many to one and to many over the number of senders: aggregate, fairness, knee, state, evidence."""
        return incast_curves(self.run, self.graded, self.rules.method)

    @cached_property
    def refused(self) -> str:
        """Return which windows of streams are refused, and why; nothing where none is."""
        return refused_sentence(windows_by_launch(self.run))

    @cached_property
    def incast(self) -> pl.DataFrame:
        """Return one row for each number of streams and message size of `incast_curves`."""
        return incast_frame(self.incast_curves)

    @cached_property
    def destinations(self) -> pl.DataFrame:
        """Return one row for each host that receives and each point of many to many, DESTINATION_SCHEMA."""
        return destinations_frame(self.incast_curves)

    @cached_property
    def streams(self) -> pl.DataFrame:
        """Return the bytes of each stream of many to one and many to many in each interval, SERIES_SCHEMA."""
        return series_frame(window for windows in windows_by_launch(self.run).values() for window in windows)

    @cached_property
    def switch(self) -> pl.DataFrame:
        """Return what the lab's switch counted in each period of 10 ms, of launches of streams, SWITCH_SCHEMA."""
        return switch_frame(self.run)

    @cached_property
    def launch_tails(self) -> list[LaunchTail]:
        """Return percentiles, jitter and stalls of each launch and case."""
        return launch_tails(self.run)

    @cached_property
    def tails(self) -> list[Tail]:
        """Return percentiles, jitter and stalls of the times of each case, over its launches."""
        return tails(self.launch_tails, self._sound_values, self.rules.method)

    @cached_property
    def tail_frame(self) -> pl.DataFrame:
        """Return one row for each of `tails`."""
        return tails_frame(self.tails)

    @cached_property
    def pairs(self) -> list[PairMatrix]:
        """Return every rank against every other."""
        return pair_matrices(sound_run(self.run), planned_cases(self.run))

    @cached_property
    def fitted(self) -> list[FittedPiece]:
        """Return time over size in pieces: each piece of each ping-pong curve."""
        return fitted(_without_twins(self._with_anchors))

    @cached_property
    def fits(self) -> pl.DataFrame:
        """Return one row for each of `fitted`."""
        return frame_of(self.fitted, FIT_SCHEMA)

    @cached_property
    def paper(self) -> Paper | None:
        """Return what came of the paper that the plan re-ran."""
        judged = ((c.points, State(c.state, f"{c.verdict}: {c.because}", c.may_collapse)) for c in self.incast_curves)
        states = {point.case_id: state for points, state in judged for point in points}
        by_others = self.values_by_others.select(self._sound_values.columns)
        return paper_of(self.run, pl.concat([self._sound_values, by_others]), states)

    @cached_property
    def values_by_others(self) -> pl.DataFrame:
        """Return our values by the definitions of a run's other programs, where a paper sets like against like."""
        ways = restatements(self._sound_values) if self.run.manifest.paper else []
        return restated(self.run, self._sound_values, ways)

    @cached_property
    def graded_by_others(self) -> list[GradedEstimate]:
        """Return the estimates of these, with their grades."""
        estimates, outside = estimates_of(self.values_by_others, self.rules.method), Outside(verdicts(self.run))
        return rows_of(with_trust(sound_run(self.run), estimates, outside), GradedEstimate)

    @cached_property
    def findings(self) -> list[Finding]:
        """Return the verdicts in words, range by range."""
        return [*refuted_findings(self.run), *findings(self.all_ranges)]

    @cached_property
    def questions(self) -> list[Question]:
        """Return the questions that the plan asks, each with its replies."""
        return questions(self.compared, self.graded, self.run.manifest.plan.compare or ())

    @cached_property
    def answer(self) -> list[str]:
        """Return what a reader should take away, in sentences."""
        control, is_failed = ([self.control.sentence()], self.control.is_failed) if self.control else ([], False)
        return [
            *(control if is_failed else []),
            *([self.paper.sentence()] if self.paper else []),
            *answer(
                self.questions, self.summaries, self.failed, self.graded, self.grouped, self.incast_curves, self.refused
            ),
            *refuted_sentences(self.run),
            *busy_sentences(self.run.manifest.hosts),
            *more_time(self.run),
            *words_of_launches(self.kept_state, self.values),
            *([] if is_failed else control),
        ]

    def looks(self) -> list[Curve]:
        """Return curves that have every look that one may have: the cases', and of what something else carried."""
        planned = (case.curve for case in planned_cases(self.run) if not case.twin)
        return list(dict.fromkeys([*planned, *(row.curve for row in self.graded if IN_TRUTH in row.layer)]))


def results_of(run: RunData) -> Results:
    """Return the results of a run; they are kept with it, since one command may write several formats."""
    return run.once(Results)


def _without_twins(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("twin") == "")
