"""A program of two ranks that need no MPI library, for tests of what carries bytes."""

from __future__ import annotations

# argv: rank, the address that rank 1 listens at, how many bytes rank 0 sends it. Rank 1 thanks with 6 bytes.
RANK = """
import socket, sys, time
rank, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
deadline = time.monotonic() + 60
if rank == "1":
    listener = socket.create_server((address, 7001))
    peer, _ = listener.accept()
    while count > 0:
        count -= len(peer.recv(1 << 20))
    peer.sendall(b"thanks")
    peer.recv(1)
else:
    while True:
        try:
            peer = socket.create_connection((address, 7001))
            break
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    block, left = bytes(1 << 20), count
    while left > 0:
        left -= peer.send(block[: min(left, len(block))])
    assert peer.recv(6, socket.MSG_WAITALL) == b"thanks"
time.sleep(0.5)
"""
