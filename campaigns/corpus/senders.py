"""Ways to send bytes, of the transport corpus: it uses no project package.

python3 -m campaigns.corpus.senders HOW PORT BYTES ADDRESS [BYTES ADDRESS ...]   the first by HOW, the others plainly
python3 -m campaigns.corpus.senders take-udp|take-quic|take-lite|take-raw|take-packets|take-mptcp|give|fast PORT
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable

from campaigns.corpus import datagrams
from campaigns.corpus.datagrams import ETHERTYPE, GROUP, IPPROTO_OWN, IPPROTO_UDPLITE, take_datagrams, take_quic
from campaigns.corpus.tcp import CHUNK_BYTES, push, send, take

SO_ZEROCOPY, MSG_ZEROCOPY, MSG_FASTOPEN, TCP_FASTOPEN = 60, 0x4000000, 0x20000000, 23
IPPROTO_MPTCP, SOL_MPTCP, MPTCP_INFO = 262, 284, 1


def connected(address: str, port: int) -> socket.socket:
    """Return a connection."""
    return socket.create_connection((address, port))


def end(connection: socket.socket) -> None:
    """End a connection whose other end reads to the end."""
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    connection.close()


def by_splice(port: int, byte_count: int, address: str) -> None:
    """Move a file's pages into a socket by way of a pipe."""
    file, (reading, writing) = filled(byte_count), os.pipe()
    connection = connected(address, port)
    left = byte_count
    while left > 0:
        moved = os.splice(file, writing, min(left, CHUNK_BYTES))
        left -= moved
        while moved > 0:
            moved -= os.splice(reading, connection.fileno(), moved)
    end(connection)


def by_sendfile(port: int, byte_count: int, address: str) -> None:
    """Let the kernel send a file."""
    file, connection, begun = filled(byte_count), connected(address, port), 0
    while begun < byte_count:
        begun += os.sendfile(connection.fileno(), file, begun, byte_count - begun)
    end(connection)


def filled(byte_count: int) -> int:
    """Return a file in memory."""
    file = os.memfd_create("bytes")
    os.write(file, b"S")
    os.truncate(file, byte_count)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def by_zerocopy(port: int, byte_count: int, address: str) -> None:
    """Send without a copy; the kernel tells by the queue of errors what it has done with."""
    connection = connected(address, port)
    connection.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    data, sent = bytearray(b"S" * CHUNK_BYTES), 0
    while sent < byte_count:
        try:
            sent += connection.send(memoryview(data)[: byte_count - sent], MSG_ZEROCOPY)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            select.select([], [], [connection], 0.01)
        with contextlib.suppress(BlockingIOError):
            connection.recvmsg(1, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
    end(connection)


def by_fastopen(port: int, byte_count: int, address: str) -> None:
    """Send the first bytes of 40 connections with their SYN, where the other end takes it."""
    for _ in range(40):
        connection = socket.socket()
        sent = connection.sendto(b"S" * 1000, MSG_FASTOPEN, (address, port))
        connection.sendall(b"x" * (byte_count // 40 - sent))
        end(connection)


def by_short_ones(port: int, byte_count: int, address: str) -> None:
    """Open 200 connections of some milliseconds."""
    for _ in range(200):
        send(port, address, byte_count // 200, False)


def by_question(port: int, byte_count: int, address: str) -> None:
    """Ask for a number of bytes and close this half: they come over the other half."""
    connection = connected(address, port)
    connection.sendall(str(byte_count).encode())
    connection.shutdown(socket.SHUT_WR)
    while byte_count > 0:
        byte_count -= len(connection.recv(CHUNK_BYTES))


def kept_open(port: int, byte_count: int, address: str) -> None:
    """Send, and leave the connection to a child that stays for seconds after the job."""
    connection = connected(address, port)
    connection.sendall(b"S" * byte_count)
    connection.set_inheritable(True)
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.execvp("sleep", ["sleep", "4"])  # noqa: S606 - any sleep will do
    connection.close()
    time.sleep(0.3)


def by_bound(port: int, byte_count: int, way: str) -> None:
    """Send by a device whatever the routes say: DEVICE@ADDRESS, or DEVICE@ADDRESS@SOURCE."""
    device, address, *sources = way.split("@")
    connection = socket.socket()
    if device:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    if sources:
        connection.bind((sources[0], 0))
    connection.connect((address, port))
    push(connection, byte_count)


def left(port: int, byte_count: int, address: str) -> None:
    """Leave bytes in the send buffer and end without a word: the kernel sends them."""
    connection = connected(address, port)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * byte_count)
    connection.setblocking(False)
    sent = 0
    while sent < byte_count:
        try:
            sent += connection.send(bytes(min(CHUNK_BYTES, byte_count - sent)))
        except BlockingIOError:
            break
    os._exit(0)


def by_mptcp(port: int, byte_count: int, address: str) -> None:
    """Send over one connection of many paths."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    connection.connect((address, port))
    push(connection, byte_count)


def by_two_paths(port: int, byte_count: int, address: str) -> None:
    """Send over one connection of many paths, once the second is there."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    connection.connect((address, port))
    connection.sendall(b"S")
    limit_s = time.monotonic() + 10
    while connection.getsockopt(SOL_MPTCP, MPTCP_INFO, 64)[0] < 1:
        if time.monotonic() > limit_s:
            raise SystemExit("there is no second path")
        time.sleep(0.02)
    time.sleep(0.2)  # for its last packets
    push(connection, byte_count - 1)


def take_streams(listener: socket.socket, work: Callable[[socket.socket], None], port: int) -> None:
    """Take connections."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))  # noqa: S104 - of a lab's host
    listener.listen(64)
    print("listening", flush=True)
    while True:
        threading.Thread(target=work, args=(listener.accept()[0],), daemon=True).start()


def give(connection: socket.socket) -> None:
    """Read to the end how many bytes are wanted, and send them."""
    text = b""
    while data := connection.recv(64):
        text += data
    with connection:
        connection.sendall(b"x" * int(text))


def be_server(what: str, port: int) -> None:
    """Take what a way to send brings."""
    everywhere = ("0.0.0.0", port)  # noqa: S104 - of a lab's host
    if what == "take-quic":
        take_quic(port)
    if what in ("take-udp", "take-lite"):
        protocol = IPPROTO_UDPLITE if what == "take-lite" else 0
        connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, protocol)
        connection.bind(everywhere)
        if what == "take-udp":
            for own in ("10.10.0.2", "10.11.0.2"):
                joined = socket.inet_aton(GROUP) + socket.inet_aton(own)
                connection.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
        take_datagrams(connection)
    if what == "take-udp6":
        connection = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        connection.bind(("::", port))
        take_datagrams(connection)
    if what == "take-raw":
        take_datagrams(socket.socket(socket.AF_INET, socket.SOCK_RAW, IPPROTO_OWN))
    if what == "take-packets":
        take_datagrams(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE)))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP if what == "take-mptcp" else 0)
    if what == "fast":
        listener.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 64)
    take_streams(listener, give if what == "give" else take, port)


WAYS: dict[str, Callable[[int, int, str], None]] = {
    "splice": by_splice, "sendfile": by_sendfile, "zerocopy": by_zerocopy, "fastopen": by_fastopen,
    "short": by_short_ones, "question": by_question, "kept": kept_open, "mptcp": by_mptcp, "two-paths": by_two_paths,
    "bound": by_bound, "left": left, **datagrams.WAYS,
}  # fmt: skip


def main() -> None:
    how, port, *words = sys.argv[1:]
    if how not in WAYS:
        be_server(how, int(port))
    pairs = list(zip(words[::2], words[1::2], strict=True))
    WAYS[how](int(port), int(pairs[0][0]), pairs[0][1])
    for count, address in pairs[1:]:
        send(int(port), address, int(count), False)


if __name__ == "__main__":
    main()
