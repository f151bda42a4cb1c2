# ruff: noqa: F821, UP031
# (The host's Python may be as old as 3.6.)
# mypy: ignore-errors
# Which sockets were born in the job's control group, how connections ended that were broken off, and what went by
# UDP, from the maps of eBPF that note it
# (launch/_births.py, launch/_datagrams.py). Plain Python 3.6, sent to hosts as text.
import ctypes
import platform
import socket
import struct

BPF_SYSCALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
BPF_MAP_LOOKUP, BPF_MAP_NEXT_KEY, BPF_MAP_BY_ID = 1, 4, 14
BPF_BYTES = 128
NETNS_COOKIE = 71  # SO_NETNS_COOKIE
MOVED_KEY, MOVED = struct.Struct("=QII"), struct.Struct("=QQQ")
INBOUND = 1  # a bit of the key
ACCEPTED = 2  # how a socket came to be
ENDED = struct.Struct("=QQ4I4s4s16s16s4I")  # what is known of a connection's end


class Map:
    """A map by its number; without one, or where it may not be read, nothing is known."""

    def __init__(self, number):
        self.syscall = BPF_SYSCALLS.get(platform.machine())
        self.map = self.call(BPF_MAP_BY_ID, struct.pack("=I", number)) if number and self.syscall else -1

    def call(self, command, attributes):
        buffer = ctypes.create_string_buffer(attributes, BPF_BYTES)
        size = ctypes.c_uint(BPF_BYTES)
        return ctypes.CDLL(None).syscall(ctypes.c_long(self.syscall), ctypes.c_int(command), buffer, size)

    def ask(self, command, key, value):
        """Return whether the map has an answer, which is in `value` then."""
        at = ctypes.addressof(key) if key is not None else 0
        return self.call(command, struct.pack("=IIQQQ", self.map, 0, at, ctypes.addressof(value), 0)) == 0


class Births(Map):
    """Which sockets are the job's by birth, and how their connections ended."""

    def __init__(self, births, ends=0):
        super().__init__(births)
        self.ends = Map(ends)

    def end_of(self, cookie):
        """Return ends and counts of a connection that has ended; None where nobody noted them.

        What was sent and never acknowledged is told with what was sent again.
        """
        value = ctypes.create_string_buffer(ENDED.size)
        if self.ends.map < 0 or not self.ends.ask(BPF_MAP_LOOKUP, ctypes.c_uint64(cookie), value):
            return None
        received, acknowledged, family, far, near, segment, *rest = ENDED.unpack(value.raw)
        remote4, local4, remote6, local6, again, segments_in, segments_out, in_flight = rest
        local, remote = (local4, remote4) if family == socket.AF_INET else (local6, remote6)
        ends = [address_of(local, family), near, address_of(remote, family), socket.ntohl(far)]
        # What was acknowledged counts the SYN of who opened it as a byte.
        sent = max(acknowledged - (self.how(cookie) != ACCEPTED), 0)
        return ends, [sent, received, segments_out, segments_in, in_flight + again * segment]

    def has(self, cookie):
        """Return whether a socket is the job's; None where nobody noted them."""
        return None if self.map < 0 else self.how(cookie) > 0

    def how(self, cookie):
        """Return how a socket of the job's came to be; 0 for one of others."""
        value = ctypes.c_uint32()
        self.ask(BPF_MAP_LOOKUP, ctypes.c_uint64(cookie), value)
        return value.value


class Moved(Map):
    """What sockets that were born in the job's control group moved by UDP."""

    def counts(self, names):
        """Return interface to packets of UDP, bytes and bytes of options, out and in, of this network namespace.

        `names` is number to name. None where nobody counts it. What raw sockets move is not among it: one that
        listens gets others' packets too.
        """
        if self.map < 0:
            return None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            ours = struct.unpack("=Q", asked.getsockopt(socket.SOL_SOCKET, NETNS_COOKIE, 8))[0]
        found, key = {}, None
        following, value = ctypes.create_string_buffer(MOVED_KEY.size), ctypes.create_string_buffer(MOVED.size)
        while self.ask(BPF_MAP_NEXT_KEY, key, following):
            key = ctypes.create_string_buffer(following.raw, MOVED_KEY.size)
            space, number, bits = MOVED_KEY.unpack(key.raw)
            if space == ours and self.ask(BPF_MAP_LOOKUP, key, value):
                row = found.setdefault(names.get(number, "#%d" % number), [0] * 6)
                for place, count in enumerate(MOVED.unpack(value.raw), 3 if bits & INBOUND else 0):
                    row[place] += count
        return found
