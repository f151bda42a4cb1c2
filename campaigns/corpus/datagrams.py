"""Ways to send datagrams, packets and frames, of the transport corpus, and what takes them (`senders.py`)."""

from __future__ import annotations

import contextlib
import socket
import struct
import time

UDP_SEGMENT, IPPROTO_UDPLITE, IPPROTO_OWN = 103, 136, 253
GROUP = "239.1.1.1"
ETHERTYPE = 0x88B5
"""One that is free for experiments."""
DATAGRAM = b"x" * 1400


def pour(connection: socket.socket, byte_count: int, to: tuple[str, int], piece: bytes = DATAGRAM) -> None:
    """Send datagrams, at 100 MB/s at most: nothing holds them back."""
    begun_s, sent = time.monotonic(), 0
    while sent < byte_count:
        for _ in range(min(64, -(-(byte_count - sent) // len(piece)))):
            with contextlib.suppress(ConnectionRefusedError, BlockingIOError):
                sent += connection.sendto(piece, to)
        time.sleep(max(0.0, begun_s + sent / 100e6 - time.monotonic()))


def by_udp(port: int, byte_count: int, address: str) -> None:
    """Send datagrams."""
    pour(socket.socket(type=socket.SOCK_DGRAM), byte_count, (address, port))


def by_small_udp(port: int, byte_count: int, address: str) -> None:
    """Send datagrams of 100 B: headers are a third of them."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    pour(socket.socket(family, socket.SOCK_DGRAM), byte_count, (address, port), DATAGRAM[:100])


def by_large_udp(port: int, byte_count: int, address: str) -> None:
    """Send datagrams of 48 KB, which go in fragments."""
    pour(socket.socket(type=socket.SOCK_DGRAM), byte_count, (address, port), b"x" * 48_000)


def by_cut_udp(port: int, byte_count: int, address: str) -> None:
    """Send 56 KB that the kernel cuts into datagrams."""
    connection = socket.socket(type=socket.SOCK_DGRAM)
    connection.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1400)
    pour(connection, byte_count, (address, port), DATAGRAM * 40)


def by_brief_udp(port: int, byte_count: int, address: str) -> None:
    """Send datagrams from 200 sockets, each open for a moment."""
    for _ in range(200):
        with socket.socket(type=socket.SOCK_DGRAM) as connection:
            pour(connection, byte_count // 200, (address, port))


def by_lite(port: int, byte_count: int, address: str) -> None:
    """Send datagrams of UDP-Lite."""
    pour(socket.socket(socket.AF_INET, socket.SOCK_DGRAM, IPPROTO_UDPLITE), byte_count, (address, port))


def by_raw(_port: int, byte_count: int, address: str) -> None:
    """Send packets of an IP protocol that nobody has."""
    pour(socket.socket(socket.AF_INET, socket.SOCK_RAW, IPPROTO_OWN), byte_count, (address, 0))


def by_multicast(port: int, byte_count: int, address: str) -> None:
    """Send datagrams to a group, by the interface that leads to an address."""
    with socket.socket(type=socket.SOCK_DGRAM) as route:
        route.connect((address, port))
        own = route.getsockname()[0]
    connection = socket.socket(type=socket.SOCK_DGRAM)
    connection.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
    pour(connection, byte_count, (GROUP, port))


def by_packets(_port: int, byte_count: int, interface: str) -> None:
    """Send frames of a type of our own, to all."""
    connection = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    connection.bind((interface, 0))
    frame = b"\xff" * 6 + b"\x02" + b"\x00" * 5 + struct.pack("!H", ETHERTYPE) + DATAGRAM
    begun_s, sent = time.monotonic(), 0
    while sent < byte_count:
        with contextlib.suppress(BlockingIOError, OSError):
            sent += connection.send(frame)
        if sent % (len(frame) * 64) == 0:
            time.sleep(max(0.0, begun_s + sent / 100e6 - time.monotonic()))


def by_quic(port: int, byte_count: int, address: str) -> None:
    """Send numbered datagrams, 64 at a time; what the other end did not confirm is sent again."""
    connection = socket.socket(type=socket.SOCK_DGRAM)
    connection.connect((address, port))
    connection.settimeout(0.02)
    missing = list(range(byte_count // 1400))
    begun_s = time.monotonic()
    while missing:
        window = missing[:64]
        for number in window:
            connection.send(struct.pack("!Q", number) + b"x" * 1392)
        confirmed: set[int] = set()
        with contextlib.suppress(TimeoutError):
            while len(confirmed) < len(window):
                data = connection.recv(2048)
                confirmed |= set(struct.unpack(f"!{len(data) // 8}Q", data))
        missing = [one for one in missing if one not in confirmed]
        if time.monotonic() > begun_s + 20:
            raise SystemExit("nobody confirms")


def take_quic(port: int) -> None:
    """Confirm datagrams but each five-hundredth at first, as if it were lost."""
    connection = socket.socket(type=socket.SOCK_DGRAM)
    connection.bind(("0.0.0.0", port))  # noqa: S104 - of a lab's host
    print("listening", flush=True)
    lost: set[bytes] = set()
    while True:
        data, sender = connection.recvfrom(2048)
        number = data[:8]
        if int.from_bytes(number, "big") % 500 == 7 and number not in lost:
            lost.add(number)
            continue
        connection.sendto(number, sender)


def take_datagrams(connection: socket.socket) -> None:
    """Read what comes."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    print("listening", flush=True)
    while True:
        connection.recv(1 << 16)


WAYS = {
    "udp": by_udp, "small-udp": by_small_udp, "large-udp": by_large_udp, "cut-udp": by_cut_udp,
    "brief-udp": by_brief_udp, "lite": by_lite, "raw": by_raw, "multicast": by_multicast, "packets": by_packets,
    "quic": by_quic,
}  # fmt: skip
