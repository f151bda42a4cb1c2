# (The host's Python may be as old as 3.6.)
# mypy: ignore-errors
# Which sockets were born in the job's control group, from the map of eBPF that notes them (launch/_births.py). Plain
# Python 3.6, sent to hosts as text.
import ctypes
import platform
import struct

BPF_SYSCALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
BPF_MAP_LOOKUP, BPF_MAP_BY_ID = 1, 14
BPF_BYTES = 128


class Births:
    """The map by its number; without one, or where it may not be read, nothing is known."""

    def __init__(self, number):
        self.syscall = BPF_SYSCALLS.get(platform.machine())
        self.map = self.call(BPF_MAP_BY_ID, struct.pack("=I", number)) if number and self.syscall else -1

    def call(self, command, attributes):
        buffer = ctypes.create_string_buffer(attributes, BPF_BYTES)
        size = ctypes.c_uint(BPF_BYTES)
        return ctypes.CDLL(None).syscall(ctypes.c_long(self.syscall), ctypes.c_int(command), buffer, size)

    def has(self, cookie):
        """Return whether a socket is the job's by birth; None where nobody noted them."""
        if self.map < 0:
            return None
        key, value = ctypes.c_uint64(cookie), ctypes.c_uint32()
        attributes = struct.pack("=IIQQQ", self.map, 0, ctypes.addressof(key), ctypes.addressof(value), 0)
        return self.call(BPF_MAP_LOOKUP, attributes) == 0
