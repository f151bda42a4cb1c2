"""An imported log beside a run of the same program: one definition has a verdict, another one the reason why not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fabriscope import store
from fabriscope.adapters import _imb_tests, _osu_tests, perftest
from fabriscope.cli import fabriscope
from fabriscope.model.case import Case, Entry
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.readers.base import Document, Parameter, Table
from fabriscope.running.log_definitions import definition_of
from fabriscope.running.log_labels import Said

ENTRY = Entry("mpi", "gige", "inter", ("a", "b"), mpi="m", instrument="osu")
TOLD = "fabric=gige,mpi=m,placement=inter"
LATENCY, BANDWIDTH = (
    "# OSU MPI Latency Test v7.4\n# Size Latency (us)\n",
    "# OSU MPI Bandwidth Test v7.4\n# Size Bandwidth (MB/s)\n",
)


def rows(*values: float) -> str:
    return "".join(f"{2**place:<10}{value:20.2f}\n" for place, value in enumerate(values))


def measured(folder: Path, benchmark: str, metric_id: str, values: list[float], window: int = 1) -> Path:
    """Write a run of three launches, each with a value for 1 B, 2 B ..., a per cent apart."""
    cases = tuple(Case(ENTRY, benchmark, 2**place, window) for place in range(len(values)))
    launches = [Launch(number, number, ENTRY, cases, 0, 0) for number in (1, 2, 3)]
    contents = store.describe((), launches, name="measured", plan={"description": "made up"})
    made = store.create(folder, contents, "{}\n")
    with made.lock():
        for launch in launches:
            blocks = [
                SampleBlock(case.case_id, (value * (1 + 0.01 * launch.block),), quantity=metric_id, burst=burst)
                for burst, (case, value) in enumerate(zip(cases, values, strict=True))
            ]
            record: dict[str, Any] = {
                "launch_id": launch.launch_id, "block": launch.block, "entry_id": ENTRY.entry_id, "status": "ok",
                "results": {case.case_id: {"status": "ok", "reason": None} for case in cases},
                "commands": [], "started_unix_ns": 0, "elapsed_ns": 0, "details": {},
            }  # fmt: skip
            made.append(record, blocks, [])
        made.end()
    return folder


def imported(folder: Path, told: str, *texts: str) -> Path:
    for number, text in enumerate(texts):
        (folder / f"{number}.log").write_text(text)
    logs = sorted(str(path) for path in folder.glob("*.log"))
    CliRunner().invoke(fabriscope, ["import", *logs, "-o", str(folder / "run"), "--label", told])
    return folder / "run"


def compared(*paths: Path) -> Mapping[str, Any]:
    done = CliRunner().invoke(fabriscope, ["compare", *map(str, paths), "--json"], catch_exceptions=False)
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


def test_the_same_definition_is_compared_with_a_verdict_and_its_traps_are_noted(tmp_path: Path) -> None:
    logs = imported(tmp_path, TOLD, *(LATENCY + rows(2.0 + by, 3.0 + by) for by in (0.0, 0.02, 0.04)))
    ours = measured(tmp_path / "measured", "ping_pong", "latency_ns_separate_mean", [1000.0, 2960.0])
    found = compared(logs, ours)
    (pair,) = found["pairs"]
    assert [row["verdict"] for row in pair["rows"]] == ["faster", "equivalent"]
    (trap,) = [note for note in found["notes"] if note.startswith("known trap osu-table-may-be-cut (")]
    assert "1 B to 2 B" in trap


def test_what_a_log_does_not_say_is_refused_with_the_reason(tmp_path: Path) -> None:
    ours = measured(tmp_path / "measured", "bandwidth", "bandwidth_bytes_per_s", [1e6, 2e6], window=64)
    texts = [BANDWIDTH + rows(1.0 + by, 2.0 + by) for by in (0.0, 0.02, 0.04)]
    found = compared(imported(tmp_path, TOLD, *texts), ours)
    assert not found["pairs"]
    said = (
        "osu_bw_bandwidth_bytes_per_s, read from logs of osu: the log does not say its window: the label `window` does"
    )
    assert f"not compared, since settings or definitions differ: {said}" in found["notes"]
    (tmp_path / "said").mkdir()
    found = compared(imported(tmp_path / "said", f"{TOLD},window=64", *texts), ours)
    assert len(found["pairs"]) == 1
    (tmp_path / "other").mkdir()
    found = compared(imported(tmp_path / "other", f"{TOLD},window=16", *texts), ours)
    assert not found["pairs"]
    assert any("window 64 against window 16" in note for note in found["notes"])


def test_where_two_runs_have_a_test_under_other_names_the_difference_is_told(tmp_path: Path) -> None:
    ours = measured(tmp_path / "measured", "ping_pong", "latency_ns_separate_mean", [1000.0, 3030.0])
    found = compared(imported(tmp_path, "placement=inter", LATENCY + rows(2.0, 3.0)), ours)
    said = "ping_pong by osu, latency_ns_separate_mean: fabric gige against unstated, mpi m against none"
    assert f"not compared, since settings or definitions differ: {said}" in found["notes"]


ONE_GROUP = (("group_count", 1), ("groups", "0 1"))


def kept(program: str, table: str, *said: tuple[str, str | int], window: int | None = 64) -> Mapping[str, str]:
    """Return the metrics that a table's columns are imported under."""
    document = Document(program, "2021.7", tuple(Parameter(*one) for one in said), (), ())
    hosts = 4 if ("process_count", 4) in said else 2
    ours = definition_of(document, Table(table, 1, (), ()), Said(window, hosts)).ours
    return ours.metrics if ours is not None else {}


@pytest.mark.parametrize("benchmark", _osu_tests.TESTS)
def test_osu_is_imported_under_the_metrics_of_its_instrument(benchmark: str) -> None:
    tests = [_osu_tests.TESTS[benchmark], _osu_tests._OVERLAPPED.get(benchmark)]
    program = tests[0].program if tests[0] else ""
    wanted = {column: metric for test in tests if test for column, metric in test.columns.items()}
    assert kept("osu", program, ("pair_count", 1)) == wanted


@pytest.mark.parametrize("benchmark", _imb_tests.TESTS)
@pytest.mark.parametrize("sync", ["on", "off"])
def test_imb_is_imported_under_the_metrics_of_its_instrument(benchmark: str, sync: str) -> None:
    for test in filter(None, (_imb_tests.TESTS[benchmark], _imb_tests._OVERLAPPED.get(benchmark))):
        seen = kept("imb", test.table, ("process_count", 2), ("sync", sync), *ONE_GROUP)
        how = "barrier" if test.is_synchronised and sync == "on" else "back_to_back"
        if test.is_overlapped:
            assert seen["time_ns_overlapped"] == f"overlapped_operation_ns_{how}_most_rank_mean"
        elif test.metric:
            assert seen["time_ns_mean"] == f"{test.metric}_{how}_mean"
        else:
            wanted = {
                "time_ns_mean": test.mean_metric,
                "time_ns": test.time_metric,
                "bandwidth_bytes_per_s": test.rate_metric,
            }
            assert dict(seen) == {column: metric for column, metric in wanted.items() if metric}


@pytest.mark.parametrize(
    ("table", "benchmark"),
    [("Send Latency Test", "ping_pong"), ("RDMA_Write Latency Test", "write_latency"), ("RDMA_Read Latency Test",
     "read_latency"), ("Send BW Test", "bandwidth"), ("RDMA_Write BW Test", "write_bandwidth"),
     ("Send Bidirectional BW Test", "bidirectional_bandwidth"), ("RDMA_Read BW Test", "read_bandwidth")],
)  # fmt: skip
def test_perftest_is_imported_under_the_metrics_of_its_instrument(table: str, benchmark: str) -> None:
    test = perftest.TESTS[benchmark]
    wanted = {"bandwidth_bytes_per_s": test.rate, "latency_ns": test.median, "latency_ns_mean": test.mean}
    assert dict(kept("perftest", table)) == {column: metric for column, metric in wanted.items() if metric}


def why_not(program: str, table: str, *said: tuple[str, str | int], hosts: int | None = None) -> str:
    document = Document(program, None, tuple(Parameter(*one) for one in said), (), ())
    return definition_of(document, Table(table, 1, (), ()), Said(None, hosts)).why_not


def test_what_a_definition_rests_on_is_named_where_nobody_says_it() -> None:
    assert "its window" in why_not("osu", "osu_bibw")
    assert "which ranks took part" in why_not("osu", "osu_allreduce")
    assert (
        why_not("imb", "Allreduce", ("process_count", 4), hosts=2) == "4 ranks took part, and the label `hosts` names 2"
    )
    assert "-sync" in why_not("imb", "Allreduce", ("process_count", 2))
    assert "-root_shift" in why_not("imb", "Bcast", ("process_count", 2), ("sync", "on"), ("root_shift", "on"))
    assert "-off_cache" in why_not("imb", "PingPong", ("off_cache", "50,64"))
    assert why_not("osu", "osu_acc_latency", ("datatype", "MPI_CHAR")) == "it moved MPI_CHAR, and ours MPI_FLOAT"
    assert "how long a message was" in why_not("sockperf", "ping-pong", ("protocol", "TCP"))
    twos = (("process_count", 2), ("group_count", 2))
    assert "-map 2x2" in why_not("imb", "Multi-PingPong", *twos, ("groups", "0 1; 2 3"), hosts=4)
    assert why_not("imb", "Multi-PingPong", *twos, ("groups", "0 2; 1 3"), hosts=4) == ""
    assert "the label `hosts`" in why_not("imb", "Multi-PingPong", *twos, ("groups", "0 2; 1 3"))
    assert why_not("hpl", "HPL") == "", "no instrument of ours would keep another id"
