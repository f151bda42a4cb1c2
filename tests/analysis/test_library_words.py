"""What libraries say of their transport, and when the books gainsay them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.analysis.proof.library_words import BETWEEN, INSIDE, contradiction, read_words
from fabriscope.model.counters import PROVED, REFUTED, Books, Carrier

DATA = Path(__file__).with_name("data") / "library_words"
TWO_INTERFACES = {"UCX: tcp over eth0", "UCX: tcp over mgmt0"}
SAID = {
    "openmpi-5.0.11-between": {"Open MPI: tcp between hosts"},
    "openmpi-5.0.11-inside": {"Open MPI: shared memory inside a host"},
    "openmpi-4.1.4-between": {"Open MPI: tcp between hosts"},
    "openmpi-4.1.4-inside": {"Open MPI: shared memory inside a host"},
    "openmpi-5-ucx.form": {"Open MPI: shared memory inside a host", "Open MPI: RDMA over mlx5_2:1 between hosts"},
    "ucx-1.13-two-interfaces": TWO_INTERFACES,
    "ucx-1.20-two-interfaces": {f"{one} between hosts" for one in TWO_INTERFACES},
    "ucx-1.20-inside": {"UCX: shared memory inside a host"},
    "ucx-1.18-rc.form": {
        "UCX: shared memory inside a host",
        "UCX: RDMA over mlx5_0:1 between hosts",
        "UCX: RDMA over mlx5_1:1 between hosts",
    },
    "ucx-1.10-rc.form": {"UCX: RDMA over mlx5_0:1"},
    "intelmpi-2021.18-between": {"Intel MPI: tcp over eth1 between hosts"},
    "intelmpi-2021-verbs.form": {"Intel MPI: RDMA between hosts", "Intel MPI: shared memory inside a host"},
    "libfabric-2.4-chooses": {"libfabric: tcp over eth0"},
    "libfabric-2.5-told": {"libfabric: tcp over eth1"},
    "nccl-ib.form": {
        "NCCL: InfiniBand over mlx5_0:1 between hosts",
        "NCCL: RoCE over mlx5_1:1 between hosts",
        "NCCL: p2p inside a host",
        "NCCL: shared memory inside a host",
    },
    "nccl-socket.form": {"NCCL: tcp over eth1 between hosts"},
    "nccl-2.4.form": {"NCCL: InfiniBand over mlx5_0:1 between hosts"},
}


def said(name: str) -> str:
    """Return what a library said."""
    return (DATA / f"{name}.txt").read_text()


def books(*carriers: tuple[str, str, str, int | None]) -> Books:
    """Return books of carriers: host, kind, name, bytes in each direction."""
    return Books(PROVED, "made up", "", tuple(Carrier(*one[:3], one[3], one[3]) for one in carriers))


def both(kind: str, name: str, size: int | None = 10_000_000) -> Books:
    """Return books of two hosts with one carrier."""
    return books(("a", kind, name, size), ("b", kind, name, size))


@pytest.mark.parametrize("name", SAID)
def test_every_library_is_understood(name: str) -> None:
    assert set(read_words(said(name)).sentences()) == SAID[name]


def test_every_sample_is_read() -> None:
    assert {path.name.removesuffix(".txt") for path in DATA.glob("*.txt")} == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_a_claim_has_the_line_that_it_was_read_from(name: str) -> None:
    text = said(name)
    for claim in read_words(text).claims:
        assert claim.line in text


@pytest.mark.parametrize("name", SAID)
def test_colours_line_ends_and_a_launchers_prefix_change_nothing(name: str) -> None:
    dressed = "".join(f"\x1b[32m[1,0]<stderr>: {line}\x1b[0m\r\n" for line in said(name).splitlines())
    labelled = "".join(f"{3 + number % 2:2}: {line}\n" for number, line in enumerate(said(name).splitlines()))
    assert set(read_words(dressed).sentences()) == set(read_words(labelled).sentences()) == SAID[name]


def test_other_text_is_passed_over() -> None:
    text = "latency over tcp is 3 us\nUsing network cards\nall connections are closed\nChannel 5 via satellite\n"
    assert read_words(text).claims == ()
    assert contradiction(read_words(text), both("tcp", "eth0")) is None


def test_between_hosts_and_inside_one_are_kept_apart() -> None:
    words = read_words(said("ucx-1.18-rc.form"))
    assert {one.transport for one in words.of(BETWEEN)} == {"rdma"}
    assert {one.transport for one in words.of(INSIDE)} == {"shm"}


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("openmpi-5.0.11-between", both("tcp", "eth1")),
        ("ucx-1.13-two-interfaces", both("tcp", "eth0")),
        ("ucx-1.20-two-interfaces", books(*[(host, "tcp", name, 5) for host in "ab" for name in ("eth0", "mgmt0")])),
        ("ucx-1.10-rc.form", both("roce", "mlx5_0/1")),
        ("ucx-1.10-rc.form", both("ib", "mlx5_0/1")),
        ("nccl-socket.form", both("tcp", "eth1")),
        ("ucx-1.20-inside", books(("a", "shm", "00:2a:3 x", None))),
        ("openmpi-4.1.4-between", books(("a", "tcp", "eth0", 90), ("b", "tcp", "eth0", 90), ("a", "tcp", "lo", 80))),
        ("libfabric-2.5-told", books(("a", "tcp", "eth1", 1000), ("b", "tcp", "eth1", 1000), ("a", "tcp", "mgmt0", 9))),
        ("openmpi-5.0.11-between", books()),
    ],
)
def test_no_contradiction_is_seen_where_there_is_none(name: str, seen: Books) -> None:
    assert contradiction(read_words(said(name)), seen) is None


def test_memory_that_only_elimination_knows_is_held_against_them_too() -> None:
    seen = Books(REFUTED, "no interface carried more than 0 %", "shared memory")
    sentence = contradiction(read_words(said("libfabric-2.4-chooses")), seen)
    assert sentence is not None
    assert "the counters say shared memory" in sentence
    assert contradiction(read_words(said("ucx-1.20-inside")), seen) is None


@pytest.mark.parametrize(
    ("name", "seen", "parts"),
    [
        ("libfabric-2.5-told", both("tcp", "eth0"), ("libfabric says tcp over eth1", "say tcp over eth0")),
        ("ucx-1.10-rc.form", both("tcp", "eth0"), ("UCX says RDMA over mlx5_0:1", "say tcp over eth0")),
        ("nccl-ib.form", both("ib", "mlx5_4/1"), ("RoCE over mlx5_1:1 between hosts", "say InfiniBand over mlx5_4/1")),
        (
            "openmpi-5.0.11-between",
            both("shm", "x", None),
            ("says tcp between hosts", "the counters say shared memory"),
        ),
        ("openmpi-4.1.4-inside", books(("a", "tcp", "lo", 10_000_000)), ("shared memory inside", "say tcp over lo")),
        ("libfabric-2.4-chooses", books(("a", "shm", "00:2a:3 x", None)), ("tcp over eth0", "say shared memory")),
    ],
)
def test_a_contradiction_names_both_sides_and_the_line(name: str, seen: Books, parts: tuple[str, ...]) -> None:
    words = read_words(said(name))
    sentence = contradiction(words, seen)
    assert sentence is not None
    for part in parts:
        assert part in sentence
    assert any(claim.line in sentence for claim in words.claims)
