"""What a plan's applications become, and what of them is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.model.applications import grid_of, hpl_operations, order_in
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import PlanError
from fabriscope.plan import Schedule, Vocabulary, expand, expected_ns, load
from fabriscope.running.site import planned_fabrics

GIB = 1 << 30
WORDS = Vocabulary(frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp", "mpi"}), frozenset({"gige"}))
HEAD = "name: x\nhosts: node[1-2]\nfabrics: {gige: {lab: gige}}\nlayers: [mpi]\nmpi: [openmpi]\nlaunches: 1\n"


def scheduled(tmp_path: Path, text: str, memory_bytes: int | None = None) -> Schedule:
    path = tmp_path / "plan.yaml"
    path.write_text(HEAD + text)
    plan = load(path, WORDS)
    return expand(plan, planned_fabrics(plan), 2, memory_bytes)


def test_kernels_run_where_they_can_and_each_class_is_a_benchmark(tmp_path: Path) -> None:
    text = "ranks: [2, 4]\napplications: {npb: {kernels: [ft, BT], class: [s, W], repeats: 3, time_limit: 5min}}\n"
    of_entry = {one.entry.entry_id: one.cases for one in scheduled(tmp_path, text).launches}
    assert {name: [case.benchmark for case in cases] for name, cases in of_entry.items()} == {
        "gige.mpi.openmpi.inter.npb": ["nas_ft_s", "nas_ft_w"],
        "gige.mpi.openmpi.inter.4x2.npb": ["nas_ft_s", "nas_bt_s", "nas_ft_w", "nas_bt_w"],
    }
    case = of_entry["gige.mpi.openmpi.inter.npb"][0]
    assert case.parameter_map == {"repeats": "3", "time_limit_s": "300"}
    assert case.message_size_bytes == 0


def test_applications_stand_beside_benchmarks_in_one_block(tmp_path: Path) -> None:
    text = "benchmarks: {ping_pong: {sizes: [8]}, allreduce: {sizes: [8]}}\napplications: {npb: {kernels: IS}}\n"
    launches = scheduled(tmp_path, text).launches
    assert {
        one.entry.instrument: [case.benchmark for case in one.cases] for one in launches if one.entry.layer == "mpi"
    } == {
        "engine": ["ping_pong", "allreduce"],
        "npb": ["nas_is_s"],
    }
    assert any(one.entry.layer == "null" for one in launches)
    alone = scheduled(tmp_path, "applications: {npb: {kernels: IS}}\n").launches
    assert [one.entry.layer for one in alone] == ["mpi"]


def test_the_reference_is_another_instrument_with_a_folder_for_each_library(tmp_path: Path) -> None:
    text = "applications: {npb: {kernels: IS, own: false, reference: {openmpi: /opt/npb}}}\n"
    (launch,) = scheduled(tmp_path, text).launches
    assert launch.entry.instrument == "npb-reference"
    assert launch.cases[0].parameter_map["folder"] == "/opt/npb"


def test_hpl_has_a_square_grid_and_an_order_that_fits(tmp_path: Path) -> None:
    assert [grid_of(count) for count in (1, 2, 4, 6, 12, 16, 7)] == [
        (1, 1),
        (1, 2),
        (2, 2),
        (2, 3),
        (3, 4),
        (4, 4),
        (1, 7),
    ]
    (launch,) = scheduled(tmp_path, "ranks: 4\napplications: {hpl: {memory: 50%, nb: 100}}\n", GIB).launches
    told = launch.cases[0].parameter_map
    assert (told["rows"], told["columns"], told["n"]) == ("2", "2", str(order_in(GIB, 100)))
    assert GIB * 0.97 < int(told["n"]) ** 2 * 8 <= GIB and int(told["n"]) % 100 == 0
    (launch,) = scheduled(tmp_path, "applications: {hpl: {n: 500, grid: 2x1, clock: 2.5GHz}}\n").launches
    told = launch.cases[0].parameter_map
    assert (told["rows"], told["columns"], told["n"], told["clock_hz"]) == ("2", "1", "500", "2500000000")
    assert hpl_operations(1000) == pytest.approx(2 / 3 * 1e9 + 1.5e6)


def test_an_application_may_be_run_on_some_of_the_ranks(tmp_path: Path) -> None:
    text = "ranks: [2, 4]\napplications: {npb: {kernels: IS, ranks: 4}, hpl: {n: 100, ranks: [2]}}\n"
    found = {(one.entry.instrument, len(one.entry.hosts)) for one in scheduled(tmp_path, text).launches}
    assert found == {("npb", 4), ("hpl", 2)}


def test_time_is_that_of_computing_and_sending_but_no_more_than_the_limit(tmp_path: Path) -> None:
    def seconds(text: str) -> float:
        (launch,) = scheduled(tmp_path, f"applications: {{npb: {{kernels: FT, {text}}}}}\n").launches
        return expected_ns(launch, planned_fabrics(load(tmp_path / "plan.yaml", WORDS))) / 1e9

    assert 1.5 < seconds("class: S") < 3
    assert seconds("class: S, repeats: 50") > 10
    assert seconds("class: D, time_limit: 20s") == pytest.approx(21.5, abs=0.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("applications: {npb: {kernels: BT}}\n", "NAS BT S cannot use 2 ranks -- `ranks` next to that: 4"),
        (
            "ranks: [256]\napplications: {npb: {kernels: CG}}\n",
            "NAS CG S cannot use 256 ranks -- `ranks` next to that: 128",
        ),
        (
            "ranks: [6]\napplications: {npb: {kernels: CG}}\n",
            "NAS CG S cannot use 6 ranks -- `ranks` next to that: 4, 8",
        ),
        (
            "ranks: [6]\napplications: {npb: {kernels: FT, reference: /x}}\n",
            "NAS FT S of the reference cannot use 6 ranks",
        ),
        ("applications: {npb: {kernels: XX}}\n", "'XX' is no kernel: choose EP, IS, CG, FT, MG, BT"),
        ("applications: {npb: {class: E}}\n", "'E' is no class: choose S, W, A, B, C, D"),
        ("applications: {npb: {own: false}}\n", "the folder of the reference's programs is wanted"),
        ("applications: {npb: {kernels: IS, reference: {mpich: /x}}}\n", "there is no MPI library mpich in this plan"),
        ("applications: {npb: {kernels: IS, ranks: 4}}\n", "it is to run on 4 ranks, and no number of the plan's"),
        ("applications: {npb: {reference: npb/bin}}\n", "is no path from / on"),
        ("applications: {npb: {reference: {openmpi: ''}}}\n", "is no path from / on"),
        ("applications: {hpl: {n: 10, program: ./xhpl}}\n", "is no path from / on"),
        ("applications: {hpl: {n: 10, grid: 2x99999}}\n", "is no grid of processes such as 2x4"),
        ("applications: {hpl: {}}\n", "the order of its matrix is missing"),
        ("applications: {hpl: {n: 10, memory: 80%}}\n", "n and memory are both given"),
        ("applications: {hpl: {n: 10, grid: 2x4}}\n", "a grid of 2x4 is not one of 2 ranks"),
        ("applications: {hpl: {n: 10, grid: wide}}\n", "'wide' is no grid of processes such as 2x4"),
        ("applications: {hpl: {n: 10, clock: fast}}\n", "'fast' is no frequency such as 2.5GHz"),
        ("applications: {hpl: {memory: 80%}}\n", "a share of the hosts' memory, which is not known"),
        ("applications: {npb: {kernel: IS}}\n", "did you mean 'kernels'?"),
        ("applications: {}\n", "it names no application"),
        ("benchmarks: {nas_ft_s: {}}\n", "nas_ft_s is an application, and no benchmark with a sweep"),
        ("", "the key 'benchmarks' is missing"),
    ],
)
def test_what_cannot_be_is_one_sentence(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as error:
        scheduled(tmp_path, text)
    assert says in error.value.sentence()


def test_without_the_layer_mpi_there_are_no_applications(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("name: x\nhosts: node[1-2]\nfabrics: {gige: {lab: gige}}\napplications: {npb: {kernels: IS}}\n")
    with pytest.raises(PlanError, match="applications are programs over MPI"):
        load(path, WORDS)
