"""HPL (xhpl of Netlib, Intel, NVIDIA) and the HPL part of HPCC: time, rate and residual check of each run.

    WR11C2R4        1000   192     1     2               0.72             9.3151e-01

Time and rate must come to the operations that N needs; so the decimal commas of some locales can be read safely.
"""

import re

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers.base import Column, Draft, Reader, printed_row

COLUMNS = (
    Column("T/V", "variant", "variant", "", "encoded: mapping, depth, broadcast, factorizations", kind="word"),
    Column("N", "matrix_order", "N", "", "order of the matrix", kind="whole"),
    Column("NB", "block_size", "NB", "", "blocking factor", kind="whole"),
    Column("P", "process_rows", "P", "", "rows of the process grid", kind="whole"),
    Column("Q", "process_columns", "Q", "", "columns of the process grid", kind="whole"),
    Column("Time", "time_s", "time", "s", "until the linear system is solved"),
    Column("Gflops", "rate_flop_per_s", "rate", "flop_per_s", "2/3 N^3 + 3/2 N^2 operations over that time", 1e9),
    Column("residual", "residual", "residual", "", "scaled; the largest where several are checked"),
    Column("check", "check", "check", "", "PASSED if each scaled residual is below its threshold", kind="word"),
)
_VERSION = re.compile(r"(?:HPLinpack|HPL-NVIDIA) (\S+)\s+--")
_SETTING = re.compile(r"(PMAP|PFACT|NBMIN|NDIV|RFACT|BCAST|DEPTH|SWAP|L1|U|EQUIL|ALIGN)\s*:\s*(\S.*?)\s*")
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|_oo[^=]*=\s*(\S+) \.+ (PASSED|FAILED)\s*")
_COMPLAINT = re.compile(r"\s*[1-9]\d* tests skipped .*|HPL ERROR.*|\s*>>> .* <<<.*")


def _fill(draft: Draft) -> None:
    rows = draft.table("HPL", COLUMNS).rows
    for line in draft.lines():
        words = line.replace(",", ".").split()[:7]
        if version := _VERSION.match(line):
            draft.version = draft.version or version[1]
        elif setting := _SETTING.fullmatch(line):
            draft.parameter(setting[1], setting[2])
        elif len(words) == 7 and re.fullmatch(r"W[RC]\d\w*", words[0]):
            printed = printed_row(COLUMNS[:7], words)
            n, time_s, gflops = (float(printed[head]) for head in ("N", "Time", "Gflops"))
            flop = n * n * (2 / 3 * n + 3 / 2) / 1e9
            if not 0.998 * flop / (time_s + 0.01) <= gflops <= 1.002 * flop / max(time_s - 0.01, 1e-9):
                raise ParseError(f"{words[0]} of N = {n:.0f} in {time_s} s is not {gflops} Gflop/s")
            row = draft.row(printed)
        elif rows and (residual := _RESIDUAL.fullmatch(line)):
            value = float(COLUMNS[7].printed(residual[1].replace(",", "."), may_lack=True))
            row |= {"residual": max(value, float(row.get("residual", 0))), "check": row.get("check", residual[2])}
            if residual[2] == "FAILED":
                row["check"] = "FAILED"
                draft.problem(f"the residual check of N = {row['matrix_order']} failed", "said")
        elif _COMPLAINT.fullmatch(line):
            draft.problem(f"HPL says: {shown(line.strip())}", "said")
    for line_number in (line_number for line_number, values in rows if "check" not in values):
        draft.problem("no residual of this run is checked", "cut", line_number)
    if "End of Tests." not in draft.text:
        draft.problem("the log ends before the tests do", "cut")


READER = Reader("hpl", "xhpl, hpcc's HPL", re.compile(r"^(?:HPLinpack|HPL-NVIDIA|HPL ERROR)\b", re.MULTILINE), _fill)
