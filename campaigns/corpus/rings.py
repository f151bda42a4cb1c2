"""Bytes that no descriptor shows: io_uring with direct descriptors, and AF_XDP; by system calls alone.

python3 -m campaigns.corpus.rings uring PORT BYTES ADDRESS [BYTES ADDRESS ...] the first by a ring, the others plainly
python3 -m campaigns.corpus.rings xdp PORT BYTES INTERFACE [BYTES ADDRESS ...]  frames of a type of our own, to all
"""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import struct
import sys
import time

from campaigns.corpus.datagrams import DATAGRAM, ETHERTYPE
from campaigns.corpus.tcp import CHUNK_BYTES, send

LIBC = ctypes.CDLL(None, use_errno=True)
SETUP, ENTER, REGISTER = 425, 426, 427
"""Numbers of io_uring's system calls."""
REGISTER_FILES, WAIT, FIXED_FILE = 2, 1, 1
OP_CONNECT, OP_SEND, OP_RECEIVE, OP_SHUTDOWN, OP_SOCKET = 16, 26, 27, 34, 45
SQES_OFFSET = 0x10000000
AF_XDP, SOL_XDP, XDP_COPY = 44, 283, 2
XDP_OFFSETS, XDP_TX_RING, XDP_UMEM, XDP_FILL_RING, XDP_DONE_RING = 1, 3, 4, 5, 6
TX_PAGE, DONE_PAGE = 0x80000000, 0x180000000
FRAME_BYTES, FRAME_COUNT = 2048, 256


def call(number: int, *words: object) -> int:
    """Make a system call."""
    status = int(LIBC.syscall(number, *words))
    if status < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return status


class Ring:
    """An io_uring that does one thing at a time."""

    def __init__(self) -> None:
        given = ctypes.create_string_buffer(120)
        self.descriptor = call(SETUP, 8, given)
        fields = struct.unpack("30I", given.raw)
        self.tail, self.mask, self.array = fields[11], fields[12], fields[16]
        self.done_head, self.done_tail, self.done_mask, self.done = fields[20], fields[21], fields[22], fields[25]
        size = max(self.array + fields[0] * 4, self.done + fields[1] * 16)
        self.rings = mmap.mmap(self.descriptor, size, offset=0)
        self.entries = mmap.mmap(self.descriptor, fields[0] * 64, offset=SQES_OFFSET)
        call(REGISTER, self.descriptor, REGISTER_FILES, struct.pack("i", -1), 1)

    def do(self, code: int, flags: int, descriptor: int, offset: int, address: int, length: int, slot: int = 0) -> int:
        """Do one thing, and return what came of it."""
        tail = self._word(self.tail)
        number = tail & self._word(self.mask)
        entry = struct.pack("<BBHiQQIIQHHI", code, flags, 0, descriptor, offset, address, length, 0, 1, 0, 0, slot)
        self.entries[number * 64 : number * 64 + 64] = entry.ljust(64, b"\0")
        self._put(self.array + 4 * number, number)
        self._put(self.tail, tail + 1)
        call(ENTER, self.descriptor, 1, 1, WAIT, None, 0)
        head = self._word(self.done_head)
        begin = self.done + 16 * (head & self._word(self.done_mask))
        status = int(struct.unpack_from("<i", self.rings, begin + 8)[0])
        self._put(self.done_head, head + 1)
        if status < 0:
            raise OSError(-status, f"operation {code}")
        return status

    def _word(self, offset: int) -> int:
        return int(struct.unpack_from("<I", self.rings, offset)[0])

    def _put(self, offset: int, value: int) -> None:
        struct.pack_into("<I", self.rings, offset, value)


def by_uring(port: int, byte_count: int, address: str) -> None:
    """Send over a socket that is in no table of descriptors."""
    ring = Ring()
    ring.do(OP_SOCKET, 0, socket.AF_INET, socket.SOCK_STREAM, 0, 0, slot=1)
    to = struct.pack("!2s H4s8x", struct.pack("=H", socket.AF_INET), port, socket.inet_aton(address))
    there = ctypes.create_string_buffer(to, 16)
    ring.do(OP_CONNECT, FIXED_FILE, 0, 16, ctypes.addressof(there), 0)
    data = ctypes.create_string_buffer(b"S" * CHUNK_BYTES, CHUNK_BYTES)
    left = byte_count
    while left > 0:
        left -= ring.do(OP_SEND, FIXED_FILE, 0, 0, ctypes.addressof(data), min(left, CHUNK_BYTES))
    ring.do(OP_SHUTDOWN, FIXED_FILE, 0, 0, 0, socket.SHUT_WR)
    ring.do(OP_RECEIVE, FIXED_FILE, 0, 0, ctypes.addressof(data), 1)


def by_xdp(byte_count: int, interface: str) -> None:
    """Send frames from a memory that the kernel reads, by no protocol at all."""
    memory = mmap.mmap(-1, FRAME_BYTES * FRAME_COUNT)
    frame = b"\xff" * 6 + b"\x02" + b"\x00" * 5 + struct.pack("!H", ETHERTYPE) + DATAGRAM
    for number in range(FRAME_COUNT):
        memory[number * FRAME_BYTES : number * FRAME_BYTES + len(frame)] = frame
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    raw = socket.socket(AF_XDP, socket.SOCK_RAW)
    raw.setsockopt(SOL_XDP, XDP_UMEM, struct.pack("=QQIIII", start, len(memory), FRAME_BYTES, 0, 0, 0))
    for option in (XDP_FILL_RING, XDP_DONE_RING, XDP_TX_RING):
        raw.setsockopt(SOL_XDP, option, FRAME_COUNT)
    offsets = struct.unpack("16Q", raw.getsockopt(SOL_XDP, XDP_OFFSETS, 128))
    sending, _, entries = offsets[4:7]
    done_by_kernel, done_by_us = offsets[12:14]
    tx = mmap.mmap(raw.fileno(), entries + FRAME_COUNT * 16, offset=TX_PAGE)
    done = mmap.mmap(raw.fileno(), offsets[14] + FRAME_COUNT * 8, offset=DONE_PAGE)
    where = struct.pack("=HHIII", AF_XDP, XDP_COPY, socket.if_nametoindex(interface), 0, 0)
    if LIBC.bind(raw.fileno(), where, len(where)):
        raise OSError(ctypes.get_errno(), "bind")
    queued, total, begun_s = 0, byte_count // len(frame), time.monotonic()
    while True:
        finished = int(struct.unpack_from("<I", done, done_by_kernel)[0])
        struct.pack_into("<I", done, done_by_us, finished)
        while queued < total and queued - finished < FRAME_COUNT:
            number = queued % FRAME_COUNT
            struct.pack_into("=QII", tx, entries + 16 * number, number * FRAME_BYTES, len(frame), 0)
            queued += 1
        struct.pack_into("<I", tx, sending, queued)
        if finished >= total:
            return
        LIBC.sendto(raw.fileno(), None, 0, socket.MSG_DONTWAIT, None, 0)
        if time.monotonic() > begun_s + 20:
            raise SystemExit(f"{finished} of {total} frames were sent")


def main() -> None:
    how, port, *words = sys.argv[1:]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    if how == "uring":
        by_uring(int(port), int(pairs[0][0]), pairs[0][1])
    else:
        by_xdp(int(pairs[0][0]), pairs[0][1])
    for count, address in pairs[1:]:
        send(int(port), address, int(count), False)
    os._exit(0)


if __name__ == "__main__":
    main()
