"""What each reader makes of golden texts, found by folder.

A pair is `data/<reader>/<name>.json`, the document, and the text: `<name>.txt` beside it, or the one that the
instrument's golden pairs have (`FABRISCOPE_WRITE_GOLDEN=1` writes documents anew: read them before they are kept).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from campaigns.fuzz.targets import SAMPLES

from fabriscope.readers.base import Document
from fabriscope.registry import discover

DATA = Path(__file__).parent / "data"
INSTRUMENTS = Path(__file__).parents[1] / "adapters" / "data"
READERS = discover("readers", "READER")
TEXTS = sorted(path for name in READERS.plugins for room in (DATA, INSTRUMENTS) for path in (room / name).glob("*.txt"))
HPL = DATA / "hpl"


def pair_of(path: Path) -> Path:
    """Return the golden document of a text."""
    return DATA / path.parent.name / f"{path.stem}.json"


def golden(document: Document) -> dict[str, Any]:
    """Return a document as golden files have it."""
    return {
        "version": document.version,
        "parameters": [[one.name, one.value, one.unit] for one in document.parameters],
        "tables": [
            {
                "name": table.name,
                "columns": [f"{column.name}: {column.unit}" for column in table.columns],
                "parameters": [[one.name, one.value, one.unit] for one in table.parameters],
                "rows": [[row.line, *(row.values.get(column.name) for column in table.columns)] for row in table.rows],
            }
            for table in document.tables
        ],
        "problems": [[problem.line, problem.kind, problem.text] for problem in document.problems],
    }


def written(value: dict[str, Any]) -> str:
    """Return JSON with a line for every list of plain values."""
    text = json.dumps(value, indent=1)
    return re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda plain: f"[{re.sub(chr(10) + ' +', ' ', plain[1])}]", text) + "\n"


def read(name: str, text: str) -> Document:
    document: Document = READERS.get(name).read(text)
    return document


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden_pair(path: Path) -> None:
    pair = pair_of(path)
    seen = written(golden(read(path.parent.name, path.read_text(errors="replace"))))
    if os.environ.get("FABRISCOPE_WRITE_GOLDEN"):
        pair.parent.mkdir(exist_ok=True)
        pair.write_text(seen)
    assert seen == pair.read_text()


@pytest.mark.parametrize("name", sorted(READERS.plugins))
def test_each_reader_has_golden_pairs(name: str) -> None:
    assert any(path.parent.name == name and read(name, path.read_text()).rows() for path in TEXTS)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_text_is_recognised_by_its_own_reader_alone(path: Path) -> None:
    text = path.read_text(errors="replace")
    knowing = {name for name, reader in READERS.plugins.items() if reader.recognises(text)}
    if read(path.parent.name, text).rows():
        assert knowing == {path.parent.name}
    assert knowing <= {path.parent.name}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_text_that_is_cut_anywhere_gives_no_other_number(path: Path) -> None:
    """Whatever is read of a part was read of the whole; no reader raises."""
    text = path.read_text(errors="replace")
    whole = {
        (row.line, name, str(value))
        for row in read(path.parent.name, text).rows()
        for name, value in row.values.items()
    }
    for length in range(0, len(text), max(1, len(text) // 60)):
        rows = read(path.parent.name, text[:length]).rows()
        assert {(row.line, name, str(value)) for row in rows for name, value in row.values.items()} <= whole


def test_an_hpl_log_in_a_locale_with_commas_says_the_same() -> None:
    (row,) = read("hpl", (HPL / "decimal_commas.txt").read_text()).rows()
    assert row.values["time_s"] == 8.91
    assert row.values["rate_flop_per_s"] == pytest.approx(16.176e9)
    assert row.values["residual"] == 3.32300492e-03


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        ("1.6176e+04", "is not 16176.0 Gflop/s"),
        ("16.176,0", "Gflops should be a number"),
        ("nan", "Gflops should be a number"),
        ("1617", "is not 1617.0 Gflop/s"),
    ],
)
def test_an_hpl_rate_that_its_time_contradicts_is_no_result(rate: str, says: str) -> None:
    text = (HPL / "several.txt").read_text().replace("5.0436e+00", rate)
    document = read("hpl", text)
    (problem,) = [one for one in document.problems if one.kind == "refused"]
    assert says in problem.text
    assert problem.line == 57
    assert [row.values["matrix_order"] for row in document.rows()] == [1000]


@pytest.mark.parametrize("name", ["hpl", "imb", "iperf3", "netpipe", "osu", "perftest", "sockperf"])
def test_logs_of_others_are_read(name: str) -> None:
    """Those of the shared samples too, where they are at hand."""
    golden_texts = [path for path in TEXTS if path.parent.name == name and '"refused"' not in pair_of(path).read_text()]
    paths = [*golden_texts, *(SAMPLES / "logs" / name).glob("*"), *(SAMPLES / name).glob("*")]
    known = [text for path in paths if READERS.get(name).recognises(text := path.read_text(errors="replace"))]
    documents = [read(name, text) for text in known]
    assert len(known) >= 2
    assert not any(document.problem("refused") for document in documents)
    if name == "hpl":
        rows = [row for document in documents if not document.problems for row in document.rows()]
        assert {row.values["check"] for row in rows} == {"PASSED"}
