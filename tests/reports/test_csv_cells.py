"""No cell of a CSV file begins so that a spreadsheet would run it, whatever a run says of itself."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.analysis.made_up import Shape, write_run

from fabriscope import store
from fabriscope.model.run_data import RunData
from fabriscope.registry import discover
from fabriscope.reports.base import Options


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


HOSTILE = {"gige": "=1+1", "ethernet-100": "@SUM(1)"}
"""What each fabric is called instead."""


def test_a_name_that_is_a_formula_is_text(tmp_path: Path) -> None:
    data = write_run(tmp_path / "run", Shape()).read()
    text = json.dumps(data.manifest.document)
    for name, formula in HOSTILE.items():
        text = text.replace(name, formula)
    document = json.loads(text)
    run = RunData(data.path, store.manifest_of(document), data.journal, data.samples)
    written = discover("reports", "REPORT").get("csv").render(run, tmp_path, Options())
    cells = [cell for file in written for row in csv.reader(file.read_text().splitlines()) for cell in row]
    for formula in HOSTILE.values():
        assert any(cell.startswith(f"'{formula}") for cell in cells), formula
    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t") and not is_number(cell)] == []
