"""The paper in a run's manifest has the shape that plans give it; what has another one is refused by its place."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.plan import Vocabulary, load
from fabriscope.store.files import plain
from fabriscope.store.manifest import manifest_of

PAPERS = Path(__file__).parents[2] / "examples" / "papers"
PLANS = sorted(path for path in PAPERS.glob("*.yaml") if not path.name.endswith(".paper.yaml"))
EVERYTHING = Vocabulary(
    frozenset(BENCHMARKS),
    frozenset({"engine", "netpipe", "iperf3", "sockperf", "qperf", "imb", "osu", "perftest"}),
    frozenset({"tcp", "mpi", "shm", "verbs", "hdfs", "hbase", "libfabric-tcp", "null"}),
    frozenset({"ethernet-100", "gige", "gige-untuned", "local"}),
)


def paper_of(path: Path) -> dict[str, Any]:
    paper: Any = plain(load(path, EVERYTHING).paper)
    assert isinstance(paper, dict)
    return paper


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.name)
def test_what_plans_keep_of_papers_is_read_back(path: Path) -> None:
    paper = paper_of(path)
    kept = manifest_of({"paper": paper}).paper
    assert kept is not None
    again: Any = plain(kept)
    assert manifest_of({"paper": again}).paper == kept
    assert (again["title"], len(again["figures"]), len(again["tables"])) == (
        paper["title"],
        len(paper["figures"]),
        len(paper["tables"]),
    )


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("title",), 7, "paper.title is 7, and must be text"),
        (("claims",), None, "paper.claims is not a list"),
        (("figures", 0, "caption"), [], "paper.figures[0].caption is a list, and must be text"),
        (("figures", 0, "claims", 0, "of"), "x", "paper.figures[0].claims[0].of is not a list"),
        (("figures", 0, "claims", 0, "margin"), "wide", "paper.figures[0].claims[0].margin is 'wide'"),
        (("names", 0, "stands"), 1, "paper.names[0].stands is 1, and must be true or false"),
    ],
)
def test_a_paper_of_another_shape_is_refused_by_its_place(
    place: tuple[str | int, ...], value: object, says: str
) -> None:
    paper = copy.deepcopy(paper_of(PAPERS / "e325-netpipe.yaml"))
    *above, last = place
    part: Any = paper
    for step in above:
        part = part[step]
    part[last] = value
    with pytest.raises(ValueError, match=re.escape(says)):
        manifest_of({"paper": paper})


def test_a_row_without_a_cell_for_each_column_is_refused() -> None:
    picked = {"title": "rate", "unit": "Mb/s", "show": "value", "metric_id": "x"}
    table = {"id": "1", "caption": "", "keys": ["net"], "columns": [picked], "rows": [{"names": ["a"], "cells": []}]}
    paper = {"title": "x", "figures": [], "tables": [table], "claims": []}
    with pytest.raises(ValueError, match=r"paper\.tables\[0\]\.rows\[0\] has not a cell for each column"):
        manifest_of({"paper": paper})
