"""A tunnel in user space, of the transport corpus: packets of a TUN device travel as datagrams, or in a TCP connection.

python3 -m campaigns.corpus.wires udp|tcp-listen|tcp-connect PORT OWN_TUNNEL_ADDRESS PEER_ADDRESS
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from typing import BinaryIO

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MTU_BYTES = 32_000


def opened(address: str) -> int:
    """Return the descriptor of a new TUN device with an address."""
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
    for words in (
        ["address", "add", f"{address}/24", "dev", "tun0"],
        ["link", "set", "tun0", "mtu", str(MTU_BYTES), "up"],
    ):
        subprocess.run(["ip", *words], timeout=10, check=True)
    return device


def by_datagrams(device: int, port: int, peer: str) -> None:
    """Let every packet be a datagram."""
    wire = socket.socket(type=socket.SOCK_DGRAM)
    wire.bind(("0.0.0.0", port))  # noqa: S104 - of a lab's host

    def outward() -> None:
        while True:
            wire.sendto(os.read(device, 65_536), (peer, port))

    threading.Thread(target=outward, daemon=True).start()
    print("listening", flush=True)
    while True:
        os.write(device, wire.recv(65_536))


def by_stream(device: int, wire: socket.socket) -> None:
    """Let packets follow each other in one connection, each behind its length."""
    stream: BinaryIO = wire.makefile("rb")

    def outward() -> None:
        while True:
            packet = os.read(device, 65_536)
            wire.sendall(struct.pack("!I", len(packet)) + packet)

    threading.Thread(target=outward, daemon=True).start()
    while True:
        (length,) = struct.unpack("!I", stream.read(4))
        os.write(device, stream.read(length))


def peer_connection(how: str, port: int, peer: str) -> socket.socket:
    """Return the connection to the other end, which may come later."""
    if how == "tcp-listen":
        listener = socket.create_server(("0.0.0.0", port))  # noqa: S104 - of a lab's host
        print("listening", flush=True)
        return listener.accept()[0]
    for _ in range(100):
        try:
            connection = socket.create_connection((peer, port))
            print("listening", flush=True)
            return connection
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{peer} does not listen")


def main() -> None:
    how, port, own, peer = sys.argv[1:]
    device = opened(own)
    if how == "udp":
        by_datagrams(device, int(port), peer)
    by_stream(device, peer_connection(how, int(port), peer))


if __name__ == "__main__":
    main()
