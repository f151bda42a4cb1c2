"""Programs of two ranks that need no MPI library, for tests of what carries bytes."""

from __future__ import annotations

COMMON = """
import socket, sys, time
def listen(address):
    peer, _ = socket.create_server((address, 7001)).accept()
    return peer
def connect(address):
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection((address, 7001))
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
def take(peer, count):
    while count > 0:
        count -= len(peer.recv(1 << 20))
    peer.sendall(b"thanks")
    peer.recv(1)
def give(peer, count):
    peer.sendall(bytes(count))
    assert peer.recv(6, socket.MSG_WAITALL) == b"thanks"
"""
# argv: rank, the address that rank 1 listens at, how many bytes rank 0 sends it. Rank 1 thanks with 6 bytes.
RANK = f"""{COMMON}
rank, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
if rank == "1":
    peer = listen(address)
    take(peer, count)
else:
    peer = connect(address)
    give(peer, count)
time.sleep(0.5)  # the connection stays open for a reader of sockets to see whose it is
"""
# argv: rank, the addresses for TCP and for datagrams, how many bytes go by TCP; three times as many go by datagrams.
UDP_RANK = f"""{COMMON}
rank, (address, other), count = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if rank == "1":
    datagrams.bind((other, 7002))
    take(listen(address), count)
else:
    peer = connect(address)
    for _ in range(3 * count // 8000):
        datagrams.sendto(bytes(8000), (other, 7002))
    give(peer, count)
    time.sleep(0.5)
"""
