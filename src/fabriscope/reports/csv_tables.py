"""The numbers behind every figure and sentence, as CSV in the stored units."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from fabriscope.analysis.incast.host_series import host_series_frame
from fabriscope.analysis.incast.victims import victims_frame
from fabriscope.analysis.results import Results, results_of
from fabriscope.analysis.tuning.rows import tuning_frame
from fabriscope.analysis.tuning.tuned import tuning_of
from fabriscope.model.errors import printable
from fabriscope.model.run_data import RunData
from fabriscope.reports._made_of import made_of
from fabriscope.reports._pairs import worst_pairs
from fabriscope.reports.base import Options, Report, write_file
from fabriscope.reports.section import tables_in
from fabriscope.reports.sections import sections_of, victim

_FORMULA = r"^[=+\-@\t\r\n]"


def render(run: RunData, out: Path, options: Options) -> list[Path]:  # noqa: ARG001 - tables have no options
    """Write estimates, launch values, the summary, comparisons and so on, then the tables of sections; return them."""
    paths, results = [], results_of(run)
    for name, text in {**table_texts(results), **section_texts(results)}.items():
        paths.append(out / f"{name}.csv")
        write_file(paths[-1], text.encode())
    return paths


def table_texts(results: Results) -> dict[str, str]:
    """Return every table as CSV, by its name."""
    tables = {
        "summary": results.summary,
        "estimates": results.estimates,
        "groups": results.groups,
        "fits": results.fits,
        **({"incast": results.incast, "streams": results.streams} if results.incast_curves else {}),
        **({} if results.switch.is_empty() else {"switch": results.switch}),
        **({} if (of_hosts := results.run.once(host_series_frame)).is_empty() else {"host_series": of_hosts}),
        **({} if results.destinations.is_empty() else {"destinations": results.destinations}),
        **({"victims": victims_frame(victims)} if (victims := victim.found(results)) else {}),
        **({"tuning": tuning_frame(results.run.once(tuning_of))} if results.run.manifest.trials else {}),
        "tails": results.tail_frame,
        "worst-pairs": worst_pairs(results),
        "launch-values": results.values,
        "comparisons": results.comparisons,
        "ranges": results.ranges,
        "failures": results.failures,
        "transport": results.transport,
        "made-of": pl.DataFrame(
            {"name": list(stated := vars(made_of(results.run))), "value": [str(value) for value in stated.values()]}
        ),
    }
    return {name: _disarmed(frame).write_csv() for name, frame in tables.items()}


def section_texts(results: Results) -> dict[str, str]:
    """Return the tables of every section as people read them, by name: `table-paper-1`."""
    return {
        f"table-{section.anchor}-{number}": _text([table.titles, *(table.texts(row) for row in table.rows)])
        for section in sections_of(results)
        for number, table in enumerate(tables_in(section.blocks), start=1)
    }


def _text(lines: Iterable[Sequence[str]]) -> str:
    """Return lines as CSV of which a spreadsheet runs no cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in lines:
        cells = (printable(cell) for cell in line)
        writer.writerow([f"'{cell}" if re.match(_FORMULA, cell) else cell for cell in cells])
    return text.getvalue()


def _has_controls(column: pl.Series) -> bool:
    return bool(column.str.contains(r"[\p{C}\p{Zl}\p{Zp}]").any())


def _disarmed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before text that a spreadsheet would run as a formula.

    Nor does it hold what a terminal would obey.
    OWASP, "CSV Injection": text that begins with = + - @, a tabulator or a new line. Numbers stay numbers.
    """
    unclean = [name for name, kind in frame.schema.items() if kind == pl.String and _has_controls(frame[name])]
    cleaned = frame.with_columns(
        pl.col(name).map_elements(printable, return_dtype=pl.String, skip_nulls=True) for name in unclean
    )
    text = pl.col(pl.String)
    return cleaned.with_columns(pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text).name.keep())


REPORT = Report("csv", "the numbers behind everything, and the tables of every section, as CSV files", render)
