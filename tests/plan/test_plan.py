"""Plans: every mistake is answered with its place, and a good plan expands as it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fabriscope.knobs import knobs
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import PlanError
from fabriscope.model.layers import layers_over
from fabriscope.plan import Vocabulary, expand, expected_ns, load
from fabriscope.plan.schema import json_schema
from fabriscope.plan.sizes import parse_sizes
from fabriscope.running.site import planned_fabrics

ROOT = Path(__file__).parents[2]
MISTAKES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text())
WORDS = Vocabulary(
    frozenset(BENCHMARKS),
    frozenset({"engine", "netpipe", "sockperf", "iperf3"}),
    frozenset({"tcp", "mpi", "shm", "verbs", "hdfs", "hbase", *layers_over("libfabric")}),
    frozenset({"ethernet-100", "gige", "gige-untuned", "local"}),
    instrument_layers={"netpipe": frozenset({"tcp", "mpi"}), "iperf3": frozenset({"tcp"})},
)
GOOD = """
name: good
hosts: node[1-2]
fabrics: {a: {lab: gige}, b: {lab: {preset: gige, delay: 50us, rate: 100Mb/s}}}
layers: [tcp, mpi, shm]
mpi: [mpich]
placements: [inter, intra]
benchmarks:
  ping_pong: {sizes: 1..16, socket: {send_buffer: [default, 16KiB]}}
  bandwidth: {sizes: [64KiB, 1MiB], window: 64, in_flight_limit: 1MiB}
launches: 3
"""


def _load(text: str, tmp_path: Path) -> Any:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return load(path, WORDS)


def test_there_are_twenty_mistakes() -> None:
    assert len(MISTAKES) >= 20


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one["mistake"])
def test_mistake_is_answered_with_place_and_fix(mistake: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        _load(mistake["plan"], tmp_path)
    lines = str(caught.value).splitlines()
    assert any(f"plan.yaml:{mistake['line']}: " in line for line in lines), lines
    for words in mistake["says"]:  # up to `$`, where a sentence ends with them
        assert words in "".join(f"{line}$\n" for line in lines)


def test_every_mistake_in_a_plan_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        _load("name: x\nhosts: a,b\nfabrics: {g: {lab: gige}}\nfloor: 7\nlaunches: 0\nbenchmarks: {p: {}}\n", tmp_path)
    assert len(str(caught.value).splitlines()) == 3


def test_a_list_of_wrong_words_is_not_called_empty_besides(tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        _load("name: x\nhosts: a,b\nfabrics: {g: {lab: gige}}\ncompare: [all]\nbenchmarks: {ping_pong: {}}\n", tmp_path)
    (line,) = str(caught.value).splitlines()
    assert "'all' is not possible -- choose" in line


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read: No such file"):
        load(tmp_path / "absent.yaml", WORDS)


def test_every_block_launches_every_entry_once(tmp_path: Path) -> None:
    plan = _load(GOOD, tmp_path)
    schedule = expand(plan, planned_fabrics(plan))
    ids = sorted(entry.entry_id for entry in schedule.entries)
    between = ["a.tcp.inter", "b.tcp.inter", "a.mpi.mpich.inter", "b.mpi.mpich.inter"]
    assert ids == sorted([*between, "tcp.intra", "mpi.mpich.intra", "shm.intra", "null.intra"])
    for block in (1, 2, 3):
        assert sorted(one.entry.entry_id for one in schedule.launches if one.block == block) == ids
    assert len({one.seed for one in schedule.launches}) == len(schedule.launches)


def test_a_program_is_launched_at_the_layers_that_it_knows(tmp_path: Path) -> None:
    plan = _load(GOOD + "instruments: [engine, netpipe, iperf3]\n", tmp_path)
    entries = [one for one in expand(plan, planned_fabrics(plan)).entries if one.placement == "inter"]
    layers: dict[str, set[str]] = {}
    for one in entries:
        layers.setdefault(one.instrument, set()).add(one.layer)
    assert layers == {"engine": {"tcp", "mpi"}, "netpipe": {"tcp", "mpi"}, "iperf3": {"tcp"}}


def test_expanding_twice_gives_the_same_schedule(tmp_path: Path) -> None:
    plan = _load(GOOD, tmp_path)
    assert expand(plan, planned_fabrics(plan)) == expand(plan, planned_fabrics(plan))


def test_socket_options_are_swept_over_tcp_only_and_windows_are_cut(tmp_path: Path) -> None:
    plan = _load(GOOD, tmp_path)
    cases = expand(plan, planned_fabrics(plan)).cases.values()
    swept = {case.series for case in cases if case.entry.layer == "tcp" and case.benchmark == "ping_pong"}
    assert swept == {"", "send buffer 16384 B"}
    assert {case.socket.send_buffer_bytes for case in cases if case.entry.layer == "mpi"} == {None}
    windows = {case.message_size_bytes: case.window_size for case in cases if case.benchmark == "bandwidth"}
    assert windows == {64 << 10: 16, 1 << 20: 1}


def test_queues_of_verbs_are_swept_over_verbs_only(tmp_path: Path) -> None:
    text = GOOD.replace("layers: [tcp, mpi, shm]", "layers: [tcp, verbs]").replace("mpi: [mpich]\n", "")
    text = text.replace("{lab: gige}", "{lab: gige, rdma: soft-roce}").replace(
        "hosts: node[1-2]", "hosts: node[1-2]\nguests: all"
    )
    text = text.replace("[inter, intra]", "[inter]")
    queues = (
        "verbs: {inline_limit: [default, 0, 1KiB], queue_depth: 32, signal_every: [1, 16], completion: event, "
        "ack_timeout: 18}"
    )
    plan = _load(text.replace("socket: {send_buffer: [default, 16KiB]}", queues), tmp_path)
    cases = [case for case in expand(plan, planned_fabrics(plan)).cases.values() if case.benchmark == "ping_pong"]
    assert {case.parameters for case in cases if case.entry.layer == "tcp"} == {(("buffers", "separate"),)}
    told = {case.series: case.parameter_map for case in cases if case.entry.layer == "verbs"}
    fixed = {"buffers": "separate", "queue_depth": "32", "completion": "event", "ack_timeout": "18"}
    assert told == {
        "signal every 1": {"signal_every": "1", **fixed},
        "signal every 16": {"signal_every": "16", **fixed},
        "inline limit 0, signal every 1": {"inline_limit": "0", "signal_every": "1", **fixed},
        "inline limit 0, signal every 16": {"inline_limit": "0", "signal_every": "16", **fixed},
        "inline limit 1024, signal every 1": {"inline_limit": "1024", "signal_every": "1", **fixed},
        "inline limit 1024, signal every 16": {"inline_limit": "1024", "signal_every": "16", **fixed},
    }


def test_a_provider_of_libfabric_is_measured_where_it_works(tmp_path: Path) -> None:
    text = GOOD.replace("layers: [tcp, mpi, shm]", "layers: [tcp, libfabric-tcp, libfabric-shm]")
    text = text.replace("mpi: [mpich]\n", "intra_fabrics: [a]\n")
    plan = _load(text, tmp_path)
    entries = [entry.entry_id for entry in expand(plan, planned_fabrics(plan)).entries]
    assert sorted(name for name in entries if "libfabric" in name) == [
        "a.libfabric-tcp.inter",
        "a.libfabric-tcp.intra",
        "b.libfabric-tcp.inter",
        "libfabric-shm.intra",
    ]
    cases = expand(plan, planned_fabrics(plan)).cases.values()
    swept = {case.entry.layer for case in cases if case.socket.send_buffer_bytes is not None}
    assert swept == {"tcp"}, "socket options are for our own sockets"


@pytest.mark.parametrize(
    ("written", "guests", "shares"),
    [
        ("all", ("node1", "node2"), {}),
        ("node2", ("node2",), {}),
        ("[node1, node2]", ("node1", "node2"), {}),
        ("{node1: , node2: {cpu_share: 50%}}", ("node1", "node2"), {"node2": 0.5}),
        ("{all: {cpu_share: 0.25}, node1: {}}", ("node1", "node2"), {"node2": 0.25}),
        ("{'node[1-2]': {cpu_share: 100%}}", ("node1", "node2"), {}),
    ],
)
def test_guests_and_their_shares_of_a_processor(
    written: str, guests: tuple[str, ...], shares: dict[str, float], tmp_path: Path
) -> None:
    text = GOOD.replace("hosts: node[1-2]", f"hosts: node[1-2]\nguests: {written}")
    plan = _load(text, tmp_path)
    assert (plan.guests, plan.cpu_shares) == (guests, shares)
    jsonschema.validate(yaml.safe_load(text), json_schema())


def test_a_slow_wire_lengthens_the_estimate(tmp_path: Path) -> None:
    plan = _load(GOOD.replace("launches: 3", "launches: 3\nbudget: 3ms"), tmp_path)
    fabrics = planned_fabrics(plan)
    by_entry = {one.entry.entry_id: expected_ns(one, fabrics) for one in expand(plan, fabrics).launches}
    assert by_entry["b.tcp.inter"] > by_entry["a.tcp.inter"]


def test_the_estimate_of_the_demo_is_near_what_it_takes() -> None:
    """What its launches took on two processors, quiet and with a load of 3, 2026-11-27; it may be off by a tenth."""
    plan = load(ROOT / "examples" / "demo.yaml", WORDS)
    fabrics = planned_fabrics(plan)
    launches = expand(plan, fabrics).launches
    first = {one.entry.entry_id: expected_ns(one, fabrics) / 1e9 for one in launches if one.block == 1}
    took_s = {"gige.tcp.inter": (2.3, 2.6), "ethernet-100.tcp.inter": (6.3, 6.7)}
    took_s["ethernet-100.mpi.openmpi.inter"] = 7.2, 8.4
    for entry_id, (quiet_s, busy_s) in took_s.items():
        assert 0.9 * quiet_s < first[entry_id] < 1.1 * busy_s, entry_id
    assert 132 < sum(expected_ns(one, fabrics) for one in launches) / 1e9 < 149


@pytest.mark.parametrize(
    ("written", "name", "library"),
    [
        ("mpich", "mpich", None),
        ('"module:gcc/12 openmpi/5.0"', "gcc-12-openmpi-5.0", "module:gcc/12 openmpi/5.0"),
        ("spack:openmpi@5", "openmpi-5", "spack:openmpi@5"),
        ("{name: mine, library: module:openmpi/5.0}", "mine", "module:openmpi/5.0"),
        ("{library: spack:/k3xq2ab, bind: core}", "k3xq2ab", "spack:/k3xq2ab"),
        ("{name: module:openmpi/5.0, bind: [1]}", "openmpi-5.0", "module:openmpi/5.0"),
    ],
)
def test_names_of_mpi_libraries(written: str, name: str, library: str | None, tmp_path: Path) -> None:
    (section,) = _load(GOOD.replace("mpi: [mpich]", f"mpi: [{written}]"), tmp_path).section.mpi
    assert (section.name, section.library) == (name, library)


def test_the_published_schema_is_the_one_in_force() -> None:
    published = json.loads((ROOT / "docs" / "plan.schema.json").read_text())
    assert published == json.loads(json.dumps(json_schema()))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_good_plans(path: Path) -> None:
    of_mpi = {name: frozenset({"mpi"}) for name in ("osu", "imb")}
    of_programs = {**WORDS.instrument_layers, **of_mpi, "qperf": frozenset({"tcp"})}
    words = replace(WORDS, instruments=WORDS.instruments | {*of_programs}, instrument_layers=of_programs)
    load(path, replace(words, knobs={name: knob.value for name, knob in knobs().items()}))
    jsonschema.validate(yaml.safe_load(path.read_text()), json_schema())


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("1..8", (1, 2, 4, 8)),
        ("0..4", (0, 1, 2, 4)),
        ("3..9", (3, 4, 8, 9)),
        ("1..1", (1,)),
        ([4, "1KiB", 4], (4, 1024)),
        (64, (64,)),
        ({"from": 8, "to": 16, "perturbation": 3}, (5, 8, 11, 13, 16, 19)),
        ({"from": 1, "to": 2, "perturbation": 3}, (1, 2, 4, 5)),
    ],
)
def test_sweeps(text: Any, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@given(st.integers(0, 1 << 20), st.integers(0, 1 << 20), st.integers(0, 64))
def test_a_sweep_ascends_and_keeps_its_ends(one: int, other: int, perturbation: int) -> None:
    first, last = sorted((one, other))
    sizes = parse_sizes({"from": first, "to": last, "perturbation": perturbation})
    assert list(sizes) == sorted(set(sizes))
    assert {first, last} <= set(sizes)
    assert min(sizes) >= min(first, 1)


def test_inside_a_host_over_the_addresses_of_fabrics(tmp_path: Path) -> None:
    text = GOOD.replace("mpi: [mpich]", "mpi: [mpich, {name: tuned, library: mpich, env: {X: '1'}, fabrics: [b]}]")
    plan = _load(text + "intra_fabrics: [b]\n", tmp_path)
    schedule = expand(plan, planned_fabrics(plan))
    ids = {entry.entry_id for entry in schedule.entries}
    between = {"a.tcp.inter", "b.tcp.inter", "a.mpi.mpich.inter", "b.mpi.mpich.inter", "b.mpi.tuned.inter"}
    assert ids == between | {"b.tcp.intra", "mpi.mpich.intra", "b.mpi.mpich.intra", "shm.intra", "null.intra"}


def test_socket_options_at_one_placement_alone(tmp_path: Path) -> None:
    plan = _load(GOOD.replace("[default, 16KiB]}", "[default, 16KiB], placements: [inter]}"), tmp_path)
    cases = expand(plan, planned_fabrics(plan)).cases.values()
    buffers = {
        placement: {case.socket.send_buffer_bytes for case in cases if case.entry.entry_id == entry_id}
        for placement, entry_id in (("inter", "a.tcp.inter"), ("intra", "tcp.intra"))
    }
    assert buffers == {"inter": {None, 16384}, "intra": {None}}


@pytest.mark.parametrize(
    ("control", "twin"),
    [("true", "a.tcp.inter"), ("b", "b.tcp.inter"), ("b.mpi.mpich.inter", "b.mpi.mpich.inter"), ("false", None)],
)
def test_the_control_enters_one_thing_twice(control: str, twin: str | None, tmp_path: Path) -> None:
    plan = _load(GOOD + f"control: {control}\n", tmp_path)
    schedule = expand(plan, planned_fabrics(plan))
    twins = [launch for launch in schedule.launches if launch.entry.twin]
    assert {launch.entry.entry_id for launch in twins} == ({f"{twin}.again"} if twin else set())
    for launch in twins:
        (first,) = (one for one in schedule.launches if one.entry.entry_id == twin and one.block == launch.block)
        assert [case.message_size_bytes for case in launch.cases] == [case.message_size_bytes for case in first.cases]
        assert not {case.case_id for case in launch.cases} & {case.case_id for case in first.cases}
        assert launch.budget_ns == first.budget_ns


def test_a_control_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    plan = _load(GOOD + "control: c.tcp.inter\n", tmp_path)
    with pytest.raises(PlanError, match=r"there is no entry 'c\.tcp\.inter' -- choose one of a\.tcp\.inter"):
        expand(plan, planned_fabrics(plan))
