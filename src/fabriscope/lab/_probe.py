"""What the self-test runs on the hosts: a script of its own, with nothing but Python's library.

usage: _probe.py ROLE JSON
It prints "ready" when its socket is open, and one line of JSON when it is done. Times are the ns of CLOCK_REALTIME,
which all hosts of a lab share; arrivals are stamped by the kernel, however late Python looks.
"""

from __future__ import annotations

import contextlib
import gc
import json
import random
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

_HEADER = struct.Struct("!II")  # round, number
_LENGTH = struct.Struct("!I")
_END = 0xFFFFFFFF
_UDP_PORT = 7000
_SO_TIMESTAMPNS = 35
_SO_TIMESTAMPING = 37
_STAMP_DEPARTURES = 1 << 1 | 1 << 4 | 1 << 11  # TX_SOFTWARE, SOFTWARE, OPT_TSONLY
_STAMP_PATIENCE_S = 0.01
_SO_RCVBUFFORCE = 33
_SO_SNDBUFFORCE = 32
_UDP_SEGMENT = 103
_SOL_UDP = 17
_STAMP = struct.Struct("qq")
_BUFFER_BYTES = 16 << 20
_MAX_SEGMENTS = 40  # as selftest.py has it
_PATIENCE_S = 5.0
_ECHO_PATIENCE_S = 30.0  # it outlasts a sender that waits for what was lost
_PARTIAL_PATIENCE_S = 0.5


def main() -> None:
    role, settings = sys.argv[1], json.loads(sys.argv[2])
    gc.disable()
    result = _ROLES[role](**settings)
    sys.stdout.write(json.dumps(result) + "\n")


def _socket(connect: str | None = None) -> socket.socket:
    """Return a socket to a host, or one that hears everybody."""
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for forced, option in ((_SO_RCVBUFFORCE, socket.SO_RCVBUF), (_SO_SNDBUFFORCE, socket.SO_SNDBUF)):
        try:
            one.setsockopt(socket.SOL_SOCKET, forced, _BUFFER_BYTES)
        except PermissionError:  # then as much as the system's limit allows
            one.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
    if connect:
        one.connect((connect, _UDP_PORT))
    else:
        one.bind(("", _UDP_PORT))
    one.settimeout(_PATIENCE_S)
    return one


def _say_ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def sink() -> list[tuple[int, int, int, int]]:
    """Return (round, number, payload bytes, time of arrival) of every datagram until the end is told."""
    inbox = _socket()
    inbox.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    _say_ready()
    seen: list[tuple[int, int, int, int]] = []
    while True:
        try:
            data, ancillary, _, _ = inbox.recvmsg(2048, 64)
        except TimeoutError:
            return seen
        turn, number = _HEADER.unpack_from(data)
        if turn == _END:
            return seen
        seen.append((turn, number, len(data), _stamp_ns(ancillary[0][2])))


def singles(addresses: list[str], sizes: list[int], count: int, gap_s: float) -> list[tuple[int, int, int, int | None]]:
    """Send lone datagrams of several sizes in turn, numbered by the address that they go to.

    Return (round, number, payload bytes, time) of each; the time is when the kernel gave the frame to the interface.
    """
    outboxes = [_socket(connect=address) for address in addresses]
    for outbox in outboxes:
        outbox.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _STAMP_DEPARTURES)
    _say_ready()
    chance = random.Random(1)  # noqa: S311 - gaps
    sent: list[tuple[int, int, int, int | None]] = []
    for turn in range(count):
        for size_bytes in sizes:
            rest = bytes(size_bytes - _HEADER.size)
            for number, outbox in enumerate(outboxes):
                time.sleep(gap_s * (0.5 + chance.random()))
                outbox.send(_HEADER.pack(turn, number) + rest)
                sent.append((turn, number, size_bytes, _departure_ns(outbox)))
    _end(outboxes[0])
    return sent


def _departure_ns(outbox: socket.socket) -> int | None:
    """Return when the kernel gave the last datagram to the interface; None where it does not say."""
    give_up = time.monotonic() + _STAMP_PATIENCE_S
    while time.monotonic() < give_up:
        try:
            _, ancillary, _, _ = outbox.recvmsg(2048, 256, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        for _, kind, data in ancillary:
            if kind == _SO_TIMESTAMPING:
                return _stamp_ns(data)
    return None


def _stamp_ns(data: bytes) -> int:
    seconds, nanoseconds = _STAMP.unpack(data[: _STAMP.size])
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def trains(
    address: str, size_bytes: int, first_number: int, frame_count: int, starts_ns: list[int], is_last: bool
) -> list[list[int]]:
    """Send one train of datagrams at each of the times; return when each part of each train was handed over."""
    outbox = _socket(connect=address)
    _say_ready()
    handed_over_ns = []
    for turn, start_ns in enumerate(starts_ns):
        numbers = [_HEADER.pack(turn, first_number + number) for number in range(frame_count)]
        datagrams = [head + bytes(size_bytes - _HEADER.size) for head in numbers]
        time.sleep(max(0.0, (start_ns - time.time_ns()) / 1e9 - 0.001))
        while time.time_ns() < start_ns:
            pass
        handed_over_ns.append(_send_train(outbox, datagrams))
    if is_last:
        time.sleep(0.2)
        _end(outbox)
    return handed_over_ns


def _send_train(outbox: socket.socket, datagrams: list[bytes]) -> list[int]:
    """Send datagrams with few system calls, since the wire must never wait for us; the kernel cuts them apart.

    Return when each part of _MAX_SEGMENTS datagrams was begun.
    """
    size = struct.pack("H", len(datagrams[0]))
    begun_ns = []
    for first in range(0, len(datagrams), _MAX_SEGMENTS):
        begun_ns.append(time.time_ns())
        part = datagrams[first : first + _MAX_SEGMENTS]
        try:
            outbox.sendmsg(part, [(_SOL_UDP, _UDP_SEGMENT, size)])
        except OSError:  # kernels before 6.11 do not cut for cards that cannot sum
            for one in part:
                outbox.send(one)
    return begun_ns


def echo() -> int:
    """Send every message back when it has arrived whole; return how many were."""
    inbox = _socket()
    _say_ready()
    buffer = bytearray(2048)
    message, came, count = b"", 0, 0
    wanted = 0
    peer: Any = None
    while True:
        inbox.settimeout(_PARTIAL_PATIENCE_S if came else _ECHO_PATIENCE_S)
        try:
            size, peer = inbox.recvfrom_into(buffer)
        except TimeoutError:
            if came == 0:
                return count
            came = 0  # a datagram was lost: so is the message
            continue
        if came == 0:
            wanted = _LENGTH.unpack_from(buffer)[0] if size >= _LENGTH.size else size
            if wanted == _END:
                return count
            if len(message) != wanted:
                message = _message(wanted)
        came += size
        if came >= wanted:
            came, count = 0, count + 1
            for part in _cut(message):
                inbox.sendto(part, peer)


def ping(addresses: list[str], plan: list[tuple[int, int, int]], passes: int) -> list[list[int]]:
    """Return the round trips of each line of the plan: (index of the address, message size, repetitions).

    The whole plan is visited several times, so that a slow second of the machine hits every line alike.
    """
    outboxes = [_socket(connect=address) for address in addresses]
    _say_ready()
    buffer = bytearray(2048)
    seen: list[list[int]] = [[] for _ in plan]
    cut = [_cut(_message(size_bytes)) for _, size_bytes, _ in plan]
    for _ in range(passes):
        for line, (to, size_bytes, count) in enumerate(plan):
            for turn in range(count + 1):
                elapsed_ns = _round_trip(outboxes[to], cut[line], size_bytes, buffer)
                if elapsed_ns is not None and turn > 0:  # the first one warms up
                    seen[line].append(elapsed_ns)
    _end(outboxes[0])
    return seen


def _round_trip(outbox: socket.socket, parts: list[bytes], size_bytes: int, buffer: bytearray) -> int | None:
    came = 0
    start_ns = time.perf_counter_ns()
    try:
        for part in parts:
            outbox.send(part)
        while came < size_bytes:
            came += outbox.recv_into(buffer)
    except TimeoutError:
        return None
    return time.perf_counter_ns() - start_ns


def _message(size_bytes: int) -> bytes:
    return _LENGTH.pack(size_bytes).ljust(size_bytes, b"x") if size_bytes >= _LENGTH.size else b"x" * size_bytes


def _cut(message: bytes) -> list[bytes]:
    return [message[first : first + 1472] for first in range(0, len(message), 1472)]


def _end(outbox: socket.socket) -> None:
    for _ in range(3):
        time.sleep(0.02)
        with contextlib.suppress(OSError):  # the other side may be gone already
            outbox.send(_HEADER.pack(_END, 0))


_ROLES: dict[str, Callable[..., Any]] = {"sink": sink, "singles": singles, "trains": trains, "echo": echo, "ping": ping}

if __name__ == "__main__":
    main()
