"""Rank counts, arrangements, pairs and parameters: which entries and cases a plan expands to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabriscope.model.benchmarks import BENCHMARKS, MEASURES, PARAMETERS
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.metrics import METRICS, metrics_of
from fabriscope.model.ranks import Layout, layout_from, layout_of
from fabriscope.plan import Schedule, Vocabulary, expand, expected_ns, load
from fabriscope.running.planned import check_specs
from fabriscope.running.site import planned_fabrics

WORDS = Vocabulary(
    frozenset(BENCHMARKS), frozenset({"engine", "imb"}), frozenset({"tcp", "mpi", "shm"}), frozenset({"gige"})
)
HEAD = "name: x\nhosts: node[1-4]\nfabrics: {gige: {lab: gige}}\nfloor: false\nlaunches: 1\n"
MPI = HEAD + "layers: [mpi]\nmpi: [mpich]\n"


def expanded(tmp_path: Path, text: str, cores: int | None = 2) -> Schedule:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    plan = load(path, WORDS)
    return expand(plan, planned_fabrics(plan), cores)


def entry_ids(schedule: Schedule) -> list[str]:
    return [entry.entry_id for entry in schedule.entries]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("ranks: 2", ["inter"]),
        ("ranks: [2, 4, 8]", ["inter", "inter.4x1", "inter.8x2"]),
        ("ranks: all", ["inter.4x1"]),
        ("ranks: 6", ["inter.6x2"]),
        ("ranks_per_host: 2", ["inter.8x2"]),
        ("ranks_per_host: [1, all]", ["inter.4x1", "inter.8x2"]),
        ("ranks: [4, 8]\nranks_per_host: [1, 2]", ["inter.4x1", "inter.4x2", "inter.8x2"]),
        ("ranks: 4\narrangement: [block, cyclic]", ["inter.4x1"]),
        ("ranks: 8\narrangement: [block, cyclic]", ["inter.8x2", "inter.8x2.cyclic"]),
        ("ranks: 4\nplacements: [inter, intra]", ["inter.4x1", "intra.4x4"]),
    ],
)
def test_ranks_of_collectives(tmp_path: Path, words: str, ids: list[str]) -> None:
    schedule = expanded(tmp_path, f"{MPI}{words}\nbenchmarks: {{barrier: {{}}}}\n")
    prefix = {"inter": "gige.mpi.mpich", "intra": "mpi.mpich"}
    assert entry_ids(schedule) == [f"{prefix[one.split('.')[0]]}.{one}" for one in ids]


@pytest.mark.parametrize(
    ("words", "pairings"),
    [
        ("", {"": None}),
        ("pairs: [1, 2, half, all]", {"": None, "4x2": "half"}),
        ("pairs: [2, 3]\narrangement: [block, cyclic]",
         {"4x2": "half", "4x2.cyclic": "neighbour", "6x3": "half", "6x3.cyclic": "neighbour"}),
    ],
)  # fmt: skip
def test_pairs_stand_on_two_hosts(tmp_path: Path, words: str, pairings: dict[str, str | None]) -> None:
    schedule = expanded(tmp_path, f"{MPI}{words}\nbenchmarks: {{multi_pair_latency: {{sizes: [8]}}}}\n")
    found = {case.entry.ranks: case.parameter_map.get("pairing") for case in schedule.cases.values()}
    assert found == pairings
    for case in schedule.cases.values():
        hosts, half = case.entry.hosts, len(case.entry.hosts) // 2
        is_half = case.parameter_map.get("pairing", "half") == "half"
        partners = zip(hosts[:half], hosts[half:]) if is_half else zip(hosts[::2], hosts[1::2])  # noqa: B905
        assert all(one != other for one, other in partners)


def test_inside_a_host_a_pair_takes_two_cores(tmp_path: Path) -> None:
    text = HEAD + "placements: [intra]\npairs: [half, all]\nbenchmarks: {message_rate: {sizes: [8]}}\n"
    assert [entry.ranks for entry in expanded(tmp_path, text, cores=16).entries] == ["8x8", "16x16"]


def test_many_to_one_goes_over_tcp_with_one_block_of_each_sender(tmp_path: Path) -> None:
    text = f"{HEAD}ranks: [2, 3, 4]\nbenchmarks: {{incast: {{sizes: [0, 1KiB]}}}}\n"
    found = list(expanded(tmp_path, text).cases.values())
    assert {(case.entry.entry_id, case.message_size_bytes, case.window_size) for case in found} == {
        ("gige.tcp.inter", 1024, 1), ("gige.tcp.inter.3x1", 1024, 1), ("gige.tcp.inter.4x1", 1024, 1),
    }  # fmt: skip
    swept = expanded(tmp_path, f"{HEAD}benchmarks: {{incast: {{sizes: [1KiB], window: [2, 64]}}}}\n")
    assert {case.window_size for case in swept.cases.values()} == {2, 64}


def test_unknown_cores_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="'half' counts the cores of a host"):
        expanded(tmp_path, f"{MPI}pairs: half\nbenchmarks: {{message_rate: {{}}}}\n", cores=None)


def test_each_benchmark_runs_where_it_makes_sense(tmp_path: Path) -> None:
    text = f"{HEAD}layers: [tcp, mpi]\nmpi: [mpich]\nranks: [2, 4]\npairs: [1, 4]\ninstruments: [engine, imb]\n"
    text += "benchmarks: {ping_pong: {sizes: [8]}, message_rate: {sizes: [8]}, allreduce: {sizes: [8]}}\n"
    found: dict[str, set[str]] = {}
    for case in expanded(tmp_path, text).cases.values():
        if case.entry.instrument == "engine":
            found.setdefault(case.entry.entry_id, set()).add(case.benchmark)
    assert found == {
        "gige.tcp.inter": {"ping_pong", "message_rate"},
        "gige.tcp.inter.8x4": {"message_rate"},
        "gige.mpi.mpich.inter": {"ping_pong", "message_rate", "allreduce"},
        "gige.mpi.mpich.inter.8x4": {"message_rate"},
        "gige.mpi.mpich.inter.4x1": {"allreduce"},
    }


def cases_of(tmp_path: Path, benchmark: str) -> list[Case]:
    return list(expanded(tmp_path, f"{MPI}benchmarks:\n  {benchmark}\n").cases.values())


def test_parameters_are_swept_and_told_apart(tmp_path: Path) -> None:
    found = cases_of(tmp_path, "allreduce: {sizes: [4, 8], datatype: [int32, double], reduction: sum, timing: barrier}")
    assert {(case.series, case.message_size_bytes, case.parameters) for case in found} == {
        ("int32", 4, (("datatype", "int32"), ("reduction", "sum"), ("timing", "barrier"))),
        ("int32", 8, (("datatype", "int32"), ("reduction", "sum"), ("timing", "barrier"))),
        ("double", 8, (("datatype", "double"), ("reduction", "sum"), ("timing", "barrier"))),
    }
    assert len({case.case_id for case in found}) == 3


def test_what_a_metric_tells_apart_is_in_no_label(tmp_path: Path) -> None:
    found = cases_of(tmp_path, "ibcast: {sizes: [8], timing: [common_clock, barrier], compute: [0, 1]}")
    assert [case.series for case in found] == [""] * 4
    assert len({metrics_of(case.benchmark, case.parameter_map)[0] for case in found}) == 4


def test_impossible_combinations_and_sizes_are_left_out(tmp_path: Path) -> None:
    found = cases_of(tmp_path, "reduce: {sizes: [0, 1, 8], datatype: [byte, double], reduction: [max, band]}")
    assert {(case.series, case.message_size_bytes) for case in found} == {
        ("byte, band", 1), ("byte, band", 8), ("double, max", 8),
    }  # fmt: skip
    assert [case.message_size_bytes for case in cases_of(tmp_path, "barrier: {sizes: [8, 16]}")] == [0]


@pytest.mark.parametrize(
    ("benchmark", "series_and_sizes"),
    [
        (
            "put_latency: {sizes: [0, 8], synchronization: [fence, lock]}",
            {("synchronization fence", 8), ("synchronization lock", 8)},
        ),
        ("fetch_and_op_latency: {sizes: 1..1MiB, datatype: [int32, int64]}", {("int32", 4), ("int64", 8)}),
        ("compare_and_swap_latency: {sizes: [1], datatype: [float, int64]}", {("int64", 8)}),
        ("get_accumulate_latency: {sizes: [8], reduction: [no_op, sum]}", {("no_op", 8), ("sum", 8)}),
        ("accumulate_latency: {sizes: [8], reduction: [no_op, min, replace]}", {("replace", 8)}),
        ("accumulate_latency: {sizes: [8], reduction: [no_op, min], far_check: 0}", {("min", 8)}),
        ("allreduce: {sizes: [8], reduction: [no_op, min]}", {("min", 8)}),
        (
            "put_bidirectional_bandwidth: {sizes: [8], synchronization: [flush, pscw], far_check: 0}",
            {("synchronization pscw", 8)},
        ),
    ],
)  # fmt: skip
def test_one_sided_operations(tmp_path: Path, benchmark: str, series_and_sizes: set[tuple[str, int]]) -> None:
    schedule = expanded(tmp_path, f"{MPI}ranks: 4\nbenchmarks:\n  {benchmark}\n  barrier: {{}}\n")
    found = [case for case in schedule.cases.values() if benchmark.startswith(f"{case.benchmark}:")]
    assert {(case.series, case.message_size_bytes) for case in found} == series_and_sizes
    if "allreduce" not in benchmark:
        assert {case.entry.entry_id for case in found} == {"gige.mpi.mpich.inter"}, (
            "two ranks, whatever the others have"
        )


def test_without_the_far_check_it_is_another_metric(tmp_path: Path) -> None:
    for name, kind in BENCHMARKS.items():
        if "far_check" in kind.parameters:
            found = cases_of(tmp_path, f"{name}: {{sizes: [8], far_check: [0, 1], synchronization: fence}}")
            ids = [metrics_of(name, case.parameter_map) for case in found]
            assert sorted(ids) == sorted([kind.metrics, kind.unchecked_metrics])
            assert metrics_of(name) == kind.metrics
            assert set(kind.unchecked_metrics) <= set(METRICS)


def test_many_ranks_take_longer(tmp_path: Path) -> None:
    text = f"{MPI}budget: 3ms\nranks: [2, 4, 8]\nbenchmarks: {{alltoall: {{sizes: [1MiB]}}}}\n"
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    fabrics = planned_fabrics(load(path, WORDS))
    times = {one.entry.ranks: expected_ns(one, fabrics) for one in expanded(tmp_path, text).launches}
    assert times[""] < times["4x1"] < times["8x2"]


def test_cases_without_parameters_keep_their_ids() -> None:
    case = Case(Entry("tcp", "gige", "inter", ("n0", "n1")), "ping_pong", 8)
    assert case.case_id == "875fa0c9eec9"


@pytest.mark.parametrize("layout", [Layout(2, 1), Layout(8, 2), Layout(8, 2, "cyclic"), Layout(6, 6)])
def test_a_layout_is_found_again(layout: Layout) -> None:
    hosts = layout.hosts(("a", "b", "c", "d"))
    assert len(hosts) == layout.rank_count
    assert layout_of(hosts) == layout
    assert layout_from(layout.label()) == layout


@pytest.mark.parametrize("hosts", [("a", "a", "b"), ("a", "b", "b", "a"), ()])
def test_other_layouts_are_refused(hosts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="equally many ranks"):
        layout_of(hosts)


def test_every_benchmark_has_defined_metrics_and_known_parameters() -> None:
    for kind in BENCHMARKS.values():
        assert set(kind.parameters) <= {*PARAMETERS, *MEASURES}
        timings: tuple[Any, ...] = PARAMETERS["timing"][0] if "timing" in kind.parameters else (None,)
        for timing in timings:
            for compute in ("0", "1") if "compute" in kind.parameters else ("0",):
                given = {"compute": compute} | ({"timing": timing} if timing else {})
                assert set(metrics_of(kind.name, given)) <= set(METRICS)


def test_more_cases_than_mpirun_hands_on_are_refused_before_the_run(tmp_path: Path) -> None:
    sizes = "{from: 4, to: 1MiB, perturbation: 4}"
    swept = "reduction: [sum, prod, max, min], datatype: [int32, float, double, int64]"
    swept += ", timing: [common_clock, barrier, back_to_back]"
    path = tmp_path / "plan.yaml"
    for names, fits in ((("allreduce", "reduce"), True), (("allreduce", "reduce", "iallreduce", "ireduce"), False)):
        bodies = ", ".join(f"{name}: {{sizes: {sizes}, {swept}}}" for name in names)
        schedule = expanded(tmp_path, f"{MPI}benchmarks: {{{bodies}}}\n")
        if fits:
            assert len(schedule.launches[0].cases) > 3000
            check_specs(load(path, WORDS), schedule)
            continue
        with pytest.raises(PlanError, match=r"plan.yaml: \d+ cases in one launch of gige .* are more than mpirun can"):
            check_specs(load(path, WORDS), schedule)
