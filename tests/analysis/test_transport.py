"""What a verdict on the transport does to a run's numbers: refuted launches stand under no name but the true one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.hand_watches import Scene
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.comparing.comparisons import compare_all
from fabriscope.analysis.comparing.findings import refuted_findings
from fabriscope.analysis.proof.transport import entry_verdicts, expectation, transport_frame, verdicts
from fabriscope.analysis.results import Results, results_of
from fabriscope.analysis.values.launch_values import all_launch_values, launch_values
from fabriscope.analysis.values.summary import summary
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED
from fabriscope.model.fabric import RdmaPort
from fabriscope.model.record import Details, LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_series import Counted
from fabriscope.reports import terminal
from fabriscope.reports.csv_tables import table_texts
from fabriscope.reports.html_page import page_text as html_text
from fabriscope.reports.markdown_page import page_text

SHAPE = Shape(
    sizes=(1, 1024, 1 << 20), launch_count=4, samples_per_burst=6, stacks=("mpich-5.0.2",), benchmarks=("ping_pong",),
    failing=frozenset(),
)  # fmt: skip
SENT = 30 * 10**6
MPI, TCP = "gige.mpi.mpich-5.0.2.inter", "gige.tcp.inter"
GIGE = "eth1"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    return write_run(tmp_path_factory.mktemp("transport") / "run", SHAPE).read()


def as_asked(record: LaunchRecord) -> Scene:
    """Return what happens when every entry goes over what it asked for."""
    if ".inter" not in record.entry_id:
        alone = Scene("node1")
        alone.second_rank("node1")
        if record.entry_id.startswith("tcp"):
            alone.tcp("node1", "node1", SENT, SENT, GIGE)
        else:
            alone.shares()
        return alone
    made = Scene("node1", "node2")
    made.tcp("node1", "node2", SENT, SENT, GIGE if record.entry_id.startswith("gige") else "eth0")
    return made


def in_memory(record: LaunchRecord) -> Scene:
    """Return what happens when the MPI entry of gige is carried by memory that both hosts share."""
    if record.entry_id != MPI:
        return as_asked(record)
    made = Scene("node1", "node2", one_kernel=True)
    made.tcp("node1", "node2", 9_000, 9_000)
    made.shares()
    return made


def watched(run: RunData, happened: Callable[[LaunchRecord], Scene]) -> RunData:
    """Return the run as if it had been watched while that happened."""
    known = {f"counters/{record.launch_id}": happened(record).watches() for record in run.journal}
    sent = {(0, 1): SENT, (1, 0): SENT}
    journal = tuple(
        replace(
            record,
            counters=f"counters/{record.launch_id}",
            details=replace(record.details, sent_payload_bytes=sent, sent_messages=20_000),
        )
        for record in run.journal
    )
    return replace(run, journal=journal, lines=journal, counters=lambda name: Counted(known.get(name, {})))


@pytest.fixture(scope="module")
def refuted(bare: RunData) -> Results:
    return results_of(watched(bare, in_memory))


def test_what_went_as_asked_is_proved_and_changes_nothing(bare: RunData) -> None:
    run = watched(bare, as_asked)
    frame = transport_frame(run)
    assert frame.height == sum("null" not in record.entry_id for record in run.journal)
    assert set(frame["verdict"]) == {PROVED}, frame.filter(pl.col("verdict") != PROVED).to_dicts()
    assert launch_values(run).equals(launch_values(bare))
    graded = results_of(run).estimates
    assert set(graded.filter(pl.col("layer") != "null")["transport"]) == {PROVED}
    assert graded.drop("transport").equals(results_of(bare).estimates.drop("transport"))


def test_a_run_that_nobody_watched_has_no_verdict(bare: RunData) -> None:
    results = results_of(bare)
    assert results.transport.height == 0
    assert results.estimates["transport"].null_count() == results.estimates.height
    assert "What carried the bytes" not in page_text(results)


def test_refuted_launches_enter_nothing_under_the_name_that_they_asked_for(refuted: Results) -> None:
    values = launch_values(refuted.run)
    assert MPI not in set(values["entry_id"])
    assert MPI in set(all_launch_values(refuted.run)["entry_id"])
    for frame in (compare_all(values), refuted.comparisons, refuted.ranges):
        sides = frame.select(
            f"{side}_{name}" for side in ("left", "right") for name in ("fabric", "layer", "placement")
        )
        assert ("gige", "mpi", "inter") not in {one[at : at + 3] for one in sides.iter_rows() for at in (0, 3)}
        assert not any("in truth" in str(layer) for layer in sides["left_layer"])
    for frame in (summary(values), refuted.summary, refuted.fits):
        assert frame.filter(fabric="gige", layer="mpi", placement="inter").height == 0
    # What others asked for and got is still there.
    assert refuted.summary.filter(fabric="ethernet-100", layer="mpi").height == 1
    assert refuted.summary.filter(fabric="gige", layer="tcp").height == 1


def test_refuted_launches_are_shown_with_what_carried_them(refuted: Results) -> None:
    drawn = refuted.estimates.filter(pl.col("entry_id") == MPI)
    assert set(drawn["layer"]) == {"mpi (in truth shared memory)"}
    assert set(drawn["grade"]) == {"D"}
    assert set(drawn["transport"]) == {REFUTED}
    (finding,) = refuted_findings(refuted.run)
    assert finding in refuted.findings
    assert "carried by shared memory in every launch" in finding.text
    page = page_text(refuted)
    assert "Refuted: gige · MPI (mpich-5.0.2) was asked for tcp over eth1" in page
    assert "✗ refuted" in page
    assert "MPI (mpich-5.0.2) (in truth shared memory)" in page
    lines = table_texts(refuted)["transport"].splitlines()
    assert len(lines) == 1 + refuted.transport.height
    assert sum(",refuted,shared memory," in line for line in lines) == SHAPE.launch_count


def elsewhere(record: LaunchRecord) -> Scene:
    """Return what happens when every entry goes over what it did not ask for."""
    if ".inter" in record.entry_id:
        made = Scene("node1", "node2")
        made.tcp("node1", "node2", SENT, SENT, "eth0" if record.entry_id.startswith("gige") else GIGE)
        return made
    alone = Scene("node1")
    alone.second_rank("node1")
    if record.entry_id.startswith("tcp"):
        alone.shares()
    else:
        alone.tcp("node1", "node1", SENT, SENT, GIGE)
    return alone


def test_a_run_of_which_every_launch_is_refuted_is_reported(bare: RunData, capsys: pytest.CaptureFixture[str]) -> None:
    run = watched(bare, elsewhere)
    frame = transport_frame(run)
    assert set(frame["verdict"]) == {REFUTED}, frame.filter(pl.col("verdict") != REFUTED).to_dicts()
    results = results_of(run)
    assert not results.comparisons.height
    assert not any("fast" in sentence for sentence in results.answer if not sentence.startswith("Refuted"))
    for text in (page_text(results), html_text(results, "")):
        assert "Refuted: gige" in text
    terminal.show(run)
    assert "Refuted: gige" in " ".join(capsys.readouterr().out.split())


def test_one_refuted_launch_of_several_is_left_out_alone(bare: RunData) -> None:
    first = next(record.launch_id for record in bare.journal if record.entry_id == MPI)
    run = watched(bare, lambda record: (in_memory if record.launch_id == first else as_asked)(record))
    counts = launch_values(run).filter(pl.col("entry_id") == MPI).group_by("case_id", "metric_id").len()["len"]
    assert set(counts) == {SHAPE.launch_count - 1}
    row = next(row for row in entry_verdicts(run) if row.entry.entry_id == MPI)
    assert row.counts == {PROVED: SHAPE.launch_count - 1, UNDECIDED: 0, REFUTED: 1}
    cases = [case_id for case_id, case in run.manifest.cases.items() if case.entry.mpi and case_id in verdicts(run)]
    told = {verdicts(run)[case_id] for case_id in cases}
    assert {verdict for verdict, _ in told} == {PROVED}
    assert any("1 refuted launches are left out" in why for _, why in told)


def test_a_refuted_launch_grades_itself_alone(bare: RunData) -> None:
    first = next(record.launch_id for record in bare.journal if record.entry_id == MPI)
    is_later = (pl.col("launch_id") == first) & (pl.col("burst") > pl.col("burst").median().over("launch_id"))
    slowing = bare.samples.with_columns(pl.when(is_later).then(3 * pl.col("value")).otherwise("value").alias("value"))

    def happened(record: LaunchRecord) -> Scene:
        return (in_memory if record.launch_id == first else as_asked)(record)

    run = watched(replace(bare, samples=slowing), happened)
    rows = results_of(run).estimates.filter(pl.col("entry_id") == MPI)
    in_truth = pl.col("layer").str.contains("in truth")
    sound, slowed = (rows.filter(some)["effective_sample_count"].to_list() for some in (~in_truth, in_truth))
    assert min(slowed) < 3 < min(sound)


def test_undecided_launches_stay_with_their_badge(bare: RunData) -> None:
    def nowhere(record: LaunchRecord) -> Scene:
        return Scene("node1", "node2") if record.entry_id == MPI else as_asked(record)

    run = watched(bare, nowhere)
    assert launch_values(run).equals(launch_values(bare))
    results = results_of(run)
    row = results.estimates.filter(pl.col("entry_id") == MPI).row(0, named=True)
    assert row["transport"] == UNDECIDED
    assert "the transport is undecided" in row["reasons"]
    assert "? undecided" in page_text(results)


def test_what_is_asked_for_follows_from_the_entry(bare: RunData) -> None:
    records = {record.entry_id: record for record in bare.journal}
    asked = {name: expectation(bare, record) for name, record in records.items()}
    assert asked["null.intra"] is None
    told = {name: (one.transport, dict(one.interfaces)) for name, one in asked.items() if one is not None}
    both = {"node1": GIGE, "node2": GIGE}
    assert told[TCP] == told[MPI] == ("tcp", both)
    assert told["shm.intra"] == told["mpi.mpich-5.0.2.intra"] == ("shm", {})
    assert told["tcp.intra"] == ("tcp", {"node1": "lo"})
    assert {one.payload_bytes for one in asked.values() if one is not None} == {None}


def test_payload_is_told_by_hosts_and_follows_stand_ins(bare: RunData) -> None:
    record = next(record for record in bare.journal if record.entry_id == TCP)
    details = Details(sent_payload_bytes={(0, 1): 7, (1, 0): 5}, sent_messages=3)
    one = expectation(bare, replace(record, details=details, stand_ins={"node2": "node9"}))
    assert one is not None
    assert one.payload_bytes == {("node1", "node9"): 7, ("node9", "node1"): 5}
    assert one.message_count == 3


def test_verbs_are_asked_of_the_port(bare: RunData) -> None:
    port = RdmaPort("rxe0", 1)
    fabrics = dict(bare.manifest.fabrics)
    fabrics["gige"] = replace(fabrics["gige"], transport="roce", rdma_ports={"node1": port, "node2": port})
    run = replace(bare, manifest=replace(bare.manifest, fabrics=fabrics))
    records = {record.entry_id: record for record in run.journal}
    over, tcp = expectation(run, records[MPI]), expectation(run, records[TCP])
    assert over is not None
    assert (over.transport, over.rdma_ports["node2"]) == ("roce", "rxe0/1")
    assert tcp is not None
    assert (tcp.transport, dict(tcp.rdma_ports)) == ("tcp", {})


@pytest.mark.parametrize(
    ("layer", "placement", "of_fabric", "asked"),
    [
        ("libfabric-tcp", "inter", "tcp", "tcp"),
        ("libfabric-tcp", "inter", "roce", "tcp"),
        ("libfabric-tcp", "intra", "roce", "tcp"),
        ("libfabric-shm", "intra", None, "shm"),
        ("libfabric-verbs", "inter", "roce", "roce"),
        ("libfabric-verbs", "inter", "iwarp", "iwarp"),
        ("libfabric-opx", "inter", "tcp", "ib"),
        ("libfabric-efa", "inter", "ib", "ib"),
        ("of-a-plug-in", "inter", "roce", ""),
        ("of-a-plug-in", "inter", "tcp", "tcp"),
        ("of-a-plug-in", "intra", "roce", "tcp"),
    ],
)
def test_libfabric_is_asked_for_what_its_provider_uses(
    bare: RunData, layer: str, placement: str, of_fabric: str | None, asked: str
) -> None:
    port = RdmaPort("rxe0", 1)
    entries, fabrics = dict(bare.manifest.entries), dict(bare.manifest.fabrics)
    fabric = "gige" if of_fabric else None
    entries[TCP] = replace(entries[TCP], layer=layer, placement=placement, fabric=fabric)
    fabrics["gige"] = replace(fabrics["gige"], transport=of_fabric or "tcp", rdma_ports={"node1": port, "node2": port})
    run = replace(bare, manifest=replace(bare.manifest, entries=entries, fabrics=fabrics))
    record = next(record for record in run.journal if record.entry_id == TCP)
    one = expectation(run, record)
    assert one is not None
    assert one.transport == asked
    assert bool(one.rdma_ports) == (asked not in ("tcp", "shm"))
    if placement == "intra" and asked == "tcp":
        assert set(one.interfaces.values()) == {"lo"}


def test_the_page_draws_what_was_refuted_under_its_true_name(refuted: Results) -> None:
    text = html_text(refuted, "")
    assert 'id="transport"' in text
    name = "gige \\u00b7 MPI (mpich-5.0.2)"
    drawn = re.findall(r'<script type="application/json" data-figure="[^"]*">(.*)</script>', text)
    assert any(f'"{name} (in truth shared memory)"' in spec for spec in drawn)
    assert not any(f'"{name}"' in spec for spec in drawn)
