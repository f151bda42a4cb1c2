"""What the adapters of the NAS Parallel Benchmarks share: one job for each case, and what its output says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fabriscope.adapters import _profile
from fabriscope.adapters._foreign import check_time, ending, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.applications import nas_problem
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.readers.base import Document, Row, Table
from fabriscope.readers.npb import READER, VERIFIED


def jobs(
    launch: Launch,
    context: AdapterContext,
    argv: Callable[[Case], tuple[str, ...]],
    env: Mapping[str, str],
    last_line: Callable[[Case], str],
) -> tuple[Command, ...]:
    """Return an MPI job for each case of a launch, one after the other; a failure of one does not end the others."""
    return tuple(
        Command(
            _profile.counted(case, context, argv(case)),
            launch.entry.hosts[0],
            env=env,
            rank_hosts=launch.entry.hosts,
            is_alone=True,
            limit_s=float(case.parameter_map["time_limit_s"]),
            last_line=last_line(case),
        )
        for case in launch.cases
    )


def parsed(launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
    """Return the runs' numbers; a run whose verification failed has none, and its case has failed."""
    blocks: list[SampleBlock] = []
    results: list[CaseResult] = []
    for place, case in enumerate(launch.cases):
        outcome = outcomes[place] if place < len(outcomes) else None
        rows: Sequence[Row] = ()
        try:
            reason = _not_ended(case, outcome, outcomes)
            if outcome is not None and reason is None:
                document = READER.read(text_of(_profile.program_output(outcome)))
                rows = _rows(case, document, outcome)
                reason = _reason(case, document, outcome, rows)
        except ParseError as error:
            reason = str(error)
        if reason is not None:
            results.append(CaseResult(case.case_id, "failed", reason))
            continue
        results.append(CaseResult(case.case_id, "ok"))
        for burst, row in enumerate(rows):
            blocks += [SampleBlock(case.case_id, (value,), name, burst=burst) for name, value in _values(row).items()]
    return ParsedLaunch(tuple(blocks), tuple(results), _profile.details(launch, outcomes))


def _not_ended(case: Case, outcome: Outcome | None, started: Sequence[Outcome]) -> str | None:
    """Return why a case's program did not come to its end, if so: what it said until then is cut."""
    if outcome is None:
        return ending(None, _program(case), started)
    return f"it was ended at its time limit, {case.parameter_map['time_limit_s']} s" if outcome.timed_out else None


def _program(case: Case) -> str:
    return "fabriscope-npb" if "repeats" in case.parameter_map else "the reference"


def _rows(case: Case, document: Document, outcome: Outcome) -> list[Row]:
    """Return the results of the case's problem; raises ParseError where they are of another one."""
    kernel, problem_class = nas_problem(case.benchmark)
    document.check(kernel)
    tables = [table for table in document.tables if table.rows]
    for table in tables:
        for row in table.rows:
            _check(case, table, row, kernel, problem_class)
    rows = [row for table in tables for row in table.rows]
    check_time(sum(row.number("time_s") for row in rows), outcome, kernel)
    return rows


def _check(case: Case, table: Table, row: Row, kernel: str, problem_class: str) -> None:
    where, ranks = f"{kernel}, line {row.line}", len(case.entry.hosts)
    if (table.name.lower(), row.values.get("problem_class")) != (kernel, problem_class):
        what = f"it is {table.name} of class {row.values.get('problem_class')}"
        raise ParseError(f"{what}, and {kernel.upper()} of class {problem_class} was asked for", where=where)
    if row.number("process_count") != ranks:
        count = row.number("process_count")
        what = f"{count:.0f} rank{'' if count == 1 else 's'} took part, and {ranks} were asked for"
        raise ParseError(what, where=where, fix="build the program with the MPI library that starts it")


def _reason(case: Case, document: Document, outcome: Outcome, rows: Sequence[Row]) -> str | None:
    """Return why a case has no number; None where all its runs were verified."""
    wrong = next((row for row in rows if row.values.get("verification") != VERIFIED), None)
    if wrong is not None:
        return f"its verification failed: {wrong.values.get('verification_words', wrong.values.get('verification'))}"
    said = document.problem("said")
    if said is not None:
        return said.text
    wanted = int(case.parameter_map.get("repeats", "1"))
    if outcome.exit_status not in (0, None) or not rows:
        return ending(outcome, _program(case), [outcome])
    return None if len(rows) == wanted else f"it has {len(rows)} results, and {wanted} were asked for"


def _values(row: Row) -> Mapping[str, float]:
    """Return what a verified result says, by metric id; a time that is printed as 0.00 is not known."""
    values = {"nas_rate_op_per_s": row.number("operation_rate_per_s")}
    if row.number("time_s") > 0:
        values["time_to_solution_ns"] = row.number("time_s") * 1e9
    if "communication_percent" in row.values:
        values["computing_percent"] = 100 - row.number("communication_percent")
    return values
