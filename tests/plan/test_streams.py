"""Who sends to whom in many_to_one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import PlanError
from fabriscope.model.ranks import layout_from, layout_of, to_one
from fabriscope.plan import Vocabulary, expand, expected_ns, load
from fabriscope.running.site import planned_fabrics

WORDS = Vocabulary(frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp", "mpi"}), frozenset({"gige"}))
HEAD = "name: x\nhosts: node[1-4]\nfabrics: {gige: {lab: gige}}\nfloor: false\nlaunches: 1\n"
SENT = "benchmarks: {many_to_one: {sizes: [64KiB]}}\n"
MANY = "benchmarks: {many_to_many: {sizes: [64KiB]}}\n"


def placed(tmp_path: Path, text: str) -> dict[str, tuple[str, ...]]:
    path = tmp_path / "plan.yaml"
    path.write_text(HEAD + text)
    plan = load(path, WORDS)
    return {entry.entry_id: entry.hosts for entry in expand(plan, planned_fabrics(plan), 2).entries}


def test_without_a_word_the_first_host_receives_from_each_other(tmp_path: Path) -> None:
    assert placed(tmp_path, SENT) == {
        "gige.tcp.inter": ("node1", "node2"),
        "gige.tcp.inter.3x1": ("node1", "node2", "node3"),
        "gige.tcp.inter.4x1": ("node1", "node2", "node3", "node4"),
    }


def test_streams_go_round_the_hosts_that_send(tmp_path: Path) -> None:
    text = "many_to_one: {to: node3, from: 'node[1-2]', streams: [1, 3..4]}\n" + SENT
    assert placed(tmp_path, text) == {
        "gige.tcp.inter": ("node3", "node1"),
        "gige.tcp.inter.3to1x2": ("node3", "node1", "node2", "node1"),
        "gige.tcp.inter.4to1x2": ("node3", "node1", "node2", "node1", "node2"),
    }


def test_the_streams_to_each_host_that_receives_follow_one_another_round_the_hosts_that_send(tmp_path: Path) -> None:
    text = "many_to_many: {to: 'node[1-2]', from: 'node[3-4]', streams: 1..3}\n" + MANY
    three, four = "node3", "node4"
    assert placed(tmp_path, text) == {
        "gige.tcp.inter.2to2x2": ("node1", "node2", three, four),
        "gige.tcp.inter.4to2x2": ("node1", "node2", three, four, three, four),
        "gige.tcp.inter.6to2x2": ("node1", "node2", *(three, four) * 3),
    }


def test_one_to_many_is_one_host_that_sends_to_several(tmp_path: Path) -> None:
    text = "many_to_many: {to: 'node[2-4]', from: node1, streams: [1, 2]}\n" + MANY
    receivers = ("node2", "node3", "node4")
    assert placed(tmp_path, text) == {
        "gige.tcp.inter.3to3x1": (*receivers, *["node1"] * 3),
        "gige.tcp.inter.6to3x1": (*receivers, *["node1"] * 6),
    }


def test_many_to_one_and_many_to_many_of_the_same_ranks_are_launches_of_their_own(tmp_path: Path) -> None:
    one = "many_to_one: {to: node1, from: 'node[2-4]', streams: 3}\n"
    both = one + "many_to_many: {to: 'node[1-2]', streams: 1}\nbenchmarks: {many_to_one: {}, many_to_many: {}}\n"
    hosts = ("node1", "node2", "node3", "node4")
    assert placed(tmp_path, both) == {"gige.tcp.inter.4x1": hosts, "gige.tcp.inter.2to2x2": hosts}


def test_several_that_receive_are_read_back_from_a_label() -> None:
    for receivers in range(2, 5):
        for of_each in range(1, 5):
            layout = to_one(of_each * receivers, receivers + 3, receivers)
            assert layout_from(layout.label()) == layout
            assert len(set(layout.hosts([f"n{number}" for number in range(9)]))) == layout.host_count


def test_a_layout_is_read_back_from_its_label() -> None:
    for streams in range(3, 12):
        for hosts in range(2, 6):
            layout = to_one(streams, hosts)
            if layout.ranks_per_host > 1:
                names = tuple(f"n{number}" for number in range(hosts))
                assert layout_of(layout.hosts(names)) == layout_from(layout.label()) == layout
                assert layout.ranks_with_first == 1


def test_time_is_what_the_streams_take(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(HEAD + "budget: 3ms\nbenchmarks: {many_to_one: {sizes: [1KiB, 2KiB], duration: 2s}}\n")
    plan = load(path, WORDS)
    launch = expand(plan, planned_fabrics(plan), 2).launches[0]
    assert expected_ns(launch, planned_fabrics(plan)) > 2 * 2 * 2e9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("many_to_one: {to: node1, from: 'node[1-3]'}\n" + SENT, "node1 both sends and receives"),
        ("many_to_one: {to: 'node[1-2]'}\n" + SENT, "one host that receives, not 2"),
        (MANY, "needs several hosts that receive, and none is named"),
        ("many_to_many: {to: node1}\n" + MANY, "needs several hosts that receive, and 1 is named"),
        (
            "many_to_many: {to: 'node[1-2]', from: 'node[2-3]'}\n" + MANY,
            "node2 both sends and receives in many_to_many",
        ),
        ("many_to_many: {to: 'node[1-4]'}\n" + MANY, "many_to_many needs a host that sends"),
        ("many_to_many: {to: 'node[1-3]', streams: 512}\n" + MANY, "512 streams to each of 3 hosts are more than 1024"),
        ("many_to_many: {to: 'node[1-2]', victim: {from: node3, to: node4}}\n" + MANY, "victim"),
        ("many_to_many: {to: 'node[1-2]'}\n" + SENT, "the plan measures no such benchmark"),
        (
            "layers: [mpi]\nmpi: [mpich]\nmany_to_many: {to: 'node[1-2]', streams: 2}\n" + MANY,
            "each host that sends has one stream, and there are 2",
        ),
        ("many_to_one: {from: node9}\n" + SENT, "node9 of many_to_one is not among the plan's hosts"),
        ("many_to_one: {from: 'node[8-9]'}\n" + SENT, "node8, node9 of many_to_one are not among the plan's hosts"),
        ("many_to_one: {streams: 0}\n" + SENT, "0 is neither a count from 1 to 1024"),
        ("many_to_one: {streams: 4..2}\n" + SENT, "'4..2' goes down: write 2..4"),
        ("many_to_one: {streams: 2}\nbenchmarks: {ping_pong: {}}\n", "the plan measures no such benchmark"),
        ("placements: [intra]\n" + SENT, "many_to_one works only between hosts"),
        ("benchmarks: {many_to_one: {sizes: [1KiB], duration: 6s}}\n", "take too long for a case_timeout of 10 s"),
        ("benchmarks: {ping_pong: {duration: 1s}}\n", "ping_pong takes no duration"),
        ("layers: [mpi]\nmpi: [mpich]\nmany_to_one: {streams: 9}\n" + SENT, "each host that sends has one stream"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        placed(tmp_path, text)


def test_over_mpi_alone_more_streams_than_hosts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="over MPI each host that sends has one stream, and there are 3 such hosts"):
        placed(tmp_path, "layers: [mpi]\nmpi: [mpich]\nmany_to_one: {streams: 2..5}\n" + SENT)
    ids = placed(tmp_path, "layers: [tcp, mpi]\nmpi: [mpich]\nmany_to_one: {streams: 3..4}\n" + SENT)
    assert [one for one in ids if "mpi" in one] == ["gige.mpi.mpich.inter.4x1"]
    assert len(ids) == 3
