"""The TCP connections and sockets of UDP that a collector sees, with what the kernel says made by hand."""

from __future__ import annotations

import socket
import struct
from typing import Any

import pytest

ESTABLISHED, FIN_WAIT2, CLOSED = 1, 5, 7


def message(
    parts: dict[str, Any],
    cookie: int,
    sent: int | None,
    state: int = ESTABLISHED,
    *,
    inode: int = 99,
    unsent: int = 0,
    options: int = 0,
    path: int = 1500,
    segment: int = 1448,
) -> bytes:
    """Return what sock_diag says of a connection; without a number of bytes the kernel counts none."""
    ends = [socket.inet_aton(one) + bytes(12) for one in ("10.0.0.1", "10.0.0.2")]
    ports = [port.to_bytes(2, "big") for port in (5000, 6000)]
    name = cookie.to_bytes(8, "little")
    body = parts["DIAG"].pack(socket.AF_INET, state, 0, 0, *ports, *ends, 0, name, 0, 0, unsent, 0, inode)
    info = bytes(104)
    if sent is not None:
        start = bytearray(parts["COUNTS_AT"])
        start[parts["OPTIONS_AT"]] = options
        struct.pack_into("=I", start, parts["SEGMENT_AT"], segment)
        struct.pack_into("=I", start, parts["PATH_AT"], path)
        info = bytes(start) + parts["COUNTS"].pack(sent + 1, 0, 9, 9) + bytes(56)
        info += struct.pack("=QQ", sent, 0)
    return bytes(body + struct.pack("=HH", 4 + len(info), parts["INET_DIAG_INFO"]) + info)


def looked(parts: dict[str, Any], sockets: Any, *living: bytes) -> None:
    """Let the sockets be looked at while these are alive."""

    def dump(_family: int, _kind: int, request: bytes, _connection: Any) -> Any:
        return iter([(parts["SOCK_DIAG_BY_FAMILY"], one) for one in living if request[0] == socket.AF_INET])

    parts["dump"] = dump
    sockets.look()


def test_one_that_is_closed_and_let_go_later_is_said_once(parts: dict[str, Any]) -> None:
    sockets = parts["Sockets"]({}, parts["Births"](0), parts["Namespaces"](()))
    sockets.hear = lambda: 0
    sockets.listener = object()
    looked(parts, sockets, message(parts, 7, 1000))
    sockets.rows()
    for _ in range(3):
        looked(parts, sockets)
    assert sockets.rows() == []
    sockets.take(message(parts, 7, 1500, CLOSED), True)
    (row,) = sockets.rows()
    assert (row[0], row[5], row[11]) == (7, 1500, 1)
    sockets.give_up()
    assert (sockets.rows(), sockets.lost_count) == ([], 0)


@pytest.mark.parametrize("is_told", [True, False])
def test_one_without_a_last_word_is_closed_at_the_end_and_counted(parts: dict[str, Any], is_told: bool) -> None:
    sockets = parts["Sockets"]({}, parts["Births"](0), parts["Namespaces"](()))
    sockets.hear = lambda: 0
    sockets.listener = object() if is_told else None
    looked(parts, sockets, message(parts, 7, 1000))
    sockets.rows()
    looked(parts, sockets)
    looked(parts, sockets)
    assert (len(sockets.rows()), sockets.lost_count) == ((0, 0) if is_told else (1, 1))
    sockets.give_up()
    assert [row[5::6] for row in sockets.rows()] == ([[1000, 1]] if is_told else [])
    assert sockets.lost_count == 1


@pytest.mark.parametrize(("owner", "looks"), [(0, 1), (4711, 2), (None, 1), (-1, 2)])
def test_the_kernel_owes_a_last_word_on_the_jobs_alone(parts: dict[str, Any], owner: int | None, looks: int) -> None:
    sockets = parts["Sockets"]({}, parts["Births"](0), parts["Namespaces"](()))
    sockets.hear = lambda: 0
    sockets.listener = object()
    looked(parts, sockets, message(parts, 7, 1000))
    sockets.alive[7].owner = owner
    assert not sockets.owes()
    for _ in range(looks):
        looked(parts, sockets)
    assert sockets.owes() == (owner is not None and owner >= 0)
    sockets.take(message(parts, 7, 1500, CLOSED), True)
    assert not sockets.owes()


def test_a_kernel_that_counts_no_bytes_is_a_problem_and_no_silence(parts: dict[str, Any]) -> None:
    problems: dict[str, str] = {}
    sockets = parts["Sockets"](problems, parts["Births"](0), parts["Namespaces"](()))
    problems.clear()
    sockets.take(message(parts, 7, None, FIN_WAIT2), False)
    assert problems == {}
    sockets.take(message(parts, 7, None), False)
    assert problems == {"connections": "the kernel does not count their bytes"}
    assert sockets.rows() == []


class Born:
    """The births of a job's sockets, as the map of the kernel tells them."""

    def __init__(self, *cookies: int) -> None:
        self.cookies = cookies

    def has(self, cookie: int) -> bool:
        return cookie in self.cookies


@pytest.mark.parametrize(("born", "owner", "unsent"), [((7,), 0, 5000), ((), None, 0)])
def test_what_a_process_left_to_be_sent_is_the_jobs_by_birth(
    parts: dict[str, Any], born: tuple[int, ...], owner: int | None, unsent: int
) -> None:
    """Nobody holds a connection any more whose process has ended, and which the kernel still sends from."""
    sockets = parts["Sockets"]({}, Born(*born), parts["Namespaces"](()))
    sockets.hear = lambda: 0
    looked(parts, sockets)
    looked(parts, sockets, message(parts, 7, 1000, 4, inode=0, unsent=5000))
    sockets.assign(parts["Processes"]("", {}))
    assert sockets.alive[7].owner == owner
    assert sockets.unsent() == (unsent, 5000)


def test_what_was_there_at_the_first_look_is_not_the_jobs_though_nobody_holds_it(parts: dict[str, Any]) -> None:
    sockets = parts["Sockets"]({}, Born(7), parts["Namespaces"](()))
    sockets.hear = lambda: 0
    looked(parts, sockets, message(parts, 7, 1000, 4, inode=0, unsent=5000))
    sockets.assign(parts["Processes"]("", {}))
    assert sockets.unsent() == (0, 5000)


@pytest.mark.parametrize(
    ("options", "segment", "told"),
    [(1, 1448, (True, 0)), (0, 1460, (False, 0)), (1, 1408, (True, 40)), (0, 1000, (False, 0)), (1, 1460, (True, 0))],
)
def test_a_connections_headers_are_known_by_its_options_and_its_segments(
    parts: dict[str, Any], options: int, segment: int, told: tuple[bool, int]
) -> None:
    """1,000 B a segment are what the other end asked for, and no options: those end before."""
    sockets = parts["Sockets"]({}, parts["Births"](0), parts["Namespaces"](()))
    sockets.take(message(parts, 7, 1000, options=options, segment=segment), False)
    (row,) = sockets.rows()
    assert (row[12], *row[13:]) == ("", *told)


@pytest.mark.parametrize("is_born", [True, False])
def test_a_socket_of_udp_that_was_closed_before_it_was_seen_is_whose_it_was_by_birth(
    parts: dict[str, Any], is_born: bool
) -> None:
    sockets = parts["Sockets"]({}, Born(*([7] if is_born else [])), parts["Namespaces"](()))
    ends, name = socket.inet_aton("10.0.0.1") + bytes(12), (7).to_bytes(8, "little")
    port = (5000).to_bytes(2, "big")
    body = parts["DIAG"].pack(socket.AF_INET, CLOSED, 0, 0, port, bytes(2), ends, bytes(16), 0, name, *[0] * 5)
    sockets.datagrams.take_closed(bytes(body))
    assert sockets.datagrams.are_jobs is is_born
    assert bool(sockets.datagrams.others) is not is_born
