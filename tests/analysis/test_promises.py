"""What is promised of intervals and verdicts, on made-up runs; `campaigns.statistics.promises` has more of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from campaigns.statistics.noises import NOISES, values_of
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import KINDS, compare
from fabriscope.analysis.results import results_of
from fabriscope.model.case import Case, Entry

FAST = Entry("tcp", "ethernet-100", "inter", HOSTS)
FABRICS = (("ethernet-100", "ping_pong", ""), ("gige", "ping_pong", ""))


def test_made_up_values_come_to_what_a_run_of_them_comes_to() -> None:
    sizes = (8, 64)
    logs = NOISES["one in ten twice"].logs(np.random.default_rng(1), (1, 6, 2, 2))
    values = values_of(logs, sizes, FABRICS)
    measured = {}
    for entry, name in ((FAST, "ethernet-100"), (TCP, "gige")):
        for size in sizes:
            of_case = values.filter(pl.col("fabric") == name, pl.col("message_size_bytes") == size).sort("block")
            measured[Case(entry, "ping_pong", size)] = [[[2 * value]] for value in of_case["value"]]
    columns = ["left", "message_size_bytes", "ratio", "low", "high", "p_different", "verdict"]
    whole = results_of(run_of(measured)).comparisons.filter(pl.col("kind") == "fabric").select(columns)
    made_up = compare(values, KINDS["fabric"]).select(columns)
    assert made_up["ratio"].to_list() == pytest.approx(whole["ratio"].to_list())
    assert made_up["p_different"].to_list() == pytest.approx(whole["p_different"].to_list())
    assert made_up["verdict"].to_list() == whole["verdict"].to_list()
