"""HPL by the user's xhpl, or by Debian's hpcc, which holds it and tells more (docs/applications.md).

Each rank runs in a folder of its own, in which HPL.dat and hpccinf.txt lie as we write them; the programs read them on
rank 0. That rank also says what its processor is, for the nominal peak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from fabriscope.adapters import _hpl_input, _peak, _profile
from fabriscope.adapters._foreign import check_time, ending, library_path, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.applications import HPL
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError, ToolMissing
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.readers import hpcc, hpl
from fabriscope.readers.base import Document, Row

PROGRAMS = ("xhpl", "hpcc")
_FIX = "install the package hpcc, or name yours in the plan: `applications: {hpl: {program: /path/xhpl}}`"
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "GOTO_NUM_THREADS",
    "ARMPL_NUM_THREADS",
)  # fmt: skip
"""By which BLAS libraries are told how many threads a rank has."""
# One line, as it passes through mpirun and ssh. The folder goes with the program, also where that is asked to end.
_IN_A_FOLDER = "; ".join(
    (
        "program=$1 input=$2 libraries=$3",
        'command -v "$program" >/dev/null || { echo "fabriscope: there is no $program on $(uname -n)" >&2; exit 127; }',
        'test -z "$libraries" || export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
        'folder=$(mktemp -d "${TMPDIR:-/tmp}/fabriscope-XXXXXXXX") && cd "$folder" || exit 1',
        "trap : TERM",
        'echo "$input" | tr "|" "\\n" >HPL.dat',
        "cp HPL.dat hpccinf.txt",
        f"test ${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:-${{SLURM_PROCID:-0}}}}}} != 0 || {{ {_peak.ASKING}; }}",
        '"$program"',
        "status=$?",
        "test ! -s hpccoutf.txt || cat hpccoutf.txt",
        "cd /",
        'rm -rf -- "$folder"',
        'exit "$status"',
    )
)
_ASKED = {"n": "matrix_order", "nb": "block_size", "rows": "process_rows", "columns": "process_columns"}
"""What a case has told HPL to the column in which HPL says it."""
_OF_HPCC = {
    "star_dgemm_flop_per_s": "star_dgemm_rate_flop_per_s",
    "single_dgemm_flop_per_s": "single_dgemm_rate_flop_per_s",
    "ptrans_bytes_per_s": "ptrans_bandwidth_bytes_per_s",
    "random_access_per_s": "mpi_random_access_rate_per_s",
    "global_fft_flop_per_s": "mpi_fft_rate_flop_per_s",
    "star_stream_triad_bytes_per_s": "star_stream_triad_bandwidth_bytes_per_s",
    "single_stream_triad_bytes_per_s": "single_stream_triad_bandwidth_bytes_per_s",
    "natural_ring_latency_ns": "ring_latency_ns_naturally",
    "random_ring_latency_ns": "ring_latency_ns_randomly",
    "natural_ring_bandwidth_bytes_per_s": "ring_bandwidth_bytes_per_s_naturally",
    "random_ring_bandwidth_bytes_per_s": "ring_bandwidth_bytes_per_s_randomly",
    "pairs_latency_ns": "ping_pong_latency_ns_mean",
    "pairs_bandwidth_bytes_per_s": "ping_pong_bandwidth_bytes_per_s_mean",
}
"""Our metric to the column of HPCC's summary."""


class HplAdapter:
    """Runs xhpl or hpcc over mpi."""

    name = HPL
    programs = PROGRAMS
    tools: ClassVar = {"hpcc": "HPL, and what else HPC Challenge measures (package hpcc)"}
    layers = frozenset({"mpi"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job; raises ToolMissing."""
        (case,) = launch.cases
        told = case.parameter_map
        known = [told.get("program", ""), *(context.programs.get(name, "") for name in PROGRAMS)]
        program = next(filter(None, known), None)
        if program is None:
            raise ToolMissing("neither xhpl nor hpcc is on this machine", fix=_FIX)
        libraries = library_path(context.mpi).get("LD_LIBRARY_PATH", "")
        argv = ("/bin/sh", "-c", _IN_A_FOLDER, "sh", program, "|".join(_hpl_input.lines(told)), libraries)
        return (
            Command(
                _profile.counted(case, context, argv),
                launch.entry.hosts[0],
                env=dict.fromkeys(_THREADS, told["threads"]),
                rank_hosts=launch.entry.hosts,
                is_alone=True,
                limit_s=float(told["time_limit_s"]),
            ),
        )

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return what HPL states, and hpcc of the rest; a residual that is too large is a failed case."""
        (case,) = launch.cases
        outcome = outcomes[0] if outcomes else None
        reason = _end(case, outcome)
        blocks: list[SampleBlock] = []
        details: dict[str, object] = {}
        if reason is None and outcome is not None:
            text = text_of(_profile.program_output(outcome))
            document = (hpcc if hpcc.READER.recognises(text) else hpl).READER.read(text)
            document.check(HPL)
            reason = _wrong(document)
            rows = _rows(document, case, outcome)
            if reason is None and not rows:
                reason = f"HPL printed no result of N = {case.parameter_map['n']}: {ending(outcome, 'it')}"
            if reason is None:
                peak = _peak.of(text, case.parameter_map)
                details = {"peak": peak.told()} if peak else {}
                for burst, row in enumerate(rows):
                    values = dict(_values(document, row, case, peak))
                    blocks += [SampleBlock(case.case_id, (value,), name, burst=burst) for name, value in values.items()]
        result = CaseResult(case.case_id, "failed", reason) if reason else CaseResult(case.case_id, "ok")
        return ParsedLaunch(tuple(blocks), (result,), details | _profile.details(launch, outcomes))


def _end(case: Case, outcome: Outcome | None) -> str | None:
    """Return why there is nothing to be read, None where there is."""
    if outcome is None:
        return ending(None, "HPL")
    if outcome.timed_out:
        return f"it was ended at its time limit, {case.parameter_map['time_limit_s']} s"
    said = re.findall(r"^.{0,200}fabriscope: (.*)$", text_of(outcome.stderr), re.MULTILINE)
    if said:
        return str(said[-1])
    return ending(outcome, "HPL") if outcome.exit_status not in (0, None) else None


def _wrong(document: Document) -> str | None:
    """Return what HPL, or a test of HPCC, says to have failed."""
    said = document.problem("said")
    return said.text if said is not None else None


def _rows(document: Document, case: Case, outcome: Outcome) -> list[Row]:
    """Return HPL's results; raises ParseError where they are of another problem."""
    told = case.parameter_map
    rows = document.rows("HPL")
    for row in rows:
        for name, column in _ASKED.items():
            if row.number(column) != int(told[name]):
                what = f"its {column.replace('_', ' ')} is {row.number(column):.0f}, and {told[name]} was asked for"
                raise ParseError(what, where=f"{HPL}, line {row.line}")
    check_time(sum(row.number("time_s") for row in rows), outcome, HPL)
    return rows


def _values(document: Document, row: Row, case: Case, peak: _peak.Peak | None) -> Iterator[tuple[str, float]]:
    """Yield what a result says, and HPCC's summary beside it, by metric id."""
    rate, ranks = row.number("rate_flop_per_s"), len(case.entry.hosts)
    yield "linpack_flop_per_s", rate
    if row.number("time_s") > 0:
        yield "time_to_solution_ns", row.number("time_s") * 1e9
    if peak is not None:
        yield "linpack_of_peak_percent", 100 * rate / (ranks * int(case.parameter_map["threads"]) * peak.flop_per_s)
    summary = _summary(document, ranks)
    for name, value in summary.items():
        yield name, value
    for name, of in (("linpack_of_dgemm", "star_dgemm"), ("linpack_of_single_dgemm", "single_dgemm")):
        if f"{of}_flop_per_s" in summary:
            yield f"{name}_percent", 100 * rate / (ranks * summary[f"{of}_flop_per_s"])


def _summary(document: Document, ranks: int) -> Mapping[str, float]:
    """Return what HPCC tells beside HPL; raises ParseError where other ranks took part."""
    rows = document.rows("summary")
    if not rows:
        return {}
    if (count := rows[0].number("process_count")) != ranks:
        raise ParseError(f"{count:.0f} ranks took part, and {ranks} were asked for", where=HPL)
    return {name: value for name, column in _OF_HPCC.items() if (value := rows[0].number(column)) > 0}


ADAPTER = HplAdapter()
