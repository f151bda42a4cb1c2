"""The sockets of a control group, from their birth: two programs of eBPF (bpf(2)) note the kernel's name for each.

One runs where a process of the group makes a socket, one where a connection is accepted. So a connection that was
closed before anybody saw it has an owner. Only root may do that; without it such a connection is nobody's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
from pathlib import Path

_SYSCALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
_MAP_CREATE, _PROG_LOAD, _PROG_ATTACH, _INFO_BY_FD = 0, 5, 8, 15
_LRU_HASH, _CGROUP_SOCK, _SOCK_OPS = 9, 9, 13
_AT_CREATION, _AT_CONNECTION, _ALLOW_MULTI = 2, 3, 2
_PASSIVE_ESTABLISHED = 5
_MAP_UPDATE, _SOCKET_COOKIE = 2, 46
MOST_SOCKETS = 1 << 17
"""The oldest are forgotten beyond that."""
_BUFFER_BYTES = 128


def follow(group: Path) -> int | None:
    """Note the sockets of a control group for as long as it exists; return the number of the map that has them.

    None where the kernel or our rights do not allow it.
    """
    number = _SYSCALLS.get(platform.machine())
    if number is None or os.geteuid() != 0:
        return None
    descriptors: list[int] = []
    try:
        folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
        descriptors.append(folder)
        found = _bpf(number, _MAP_CREATE, struct.pack("=4I", _LRU_HASH, 8, 4, MOST_SOCKETS))
        descriptors.append(found)
        for kind, words, place in (
            (_CGROUP_SOCK, _noting(found), _AT_CREATION),
            (_SOCK_OPS, _noting(found, only_event=_PASSIVE_ESTABLISHED), _AT_CONNECTION),
        ):
            program = _loaded(number, kind, words, place)
            descriptors.append(program)
            _bpf(number, _PROG_ATTACH, struct.pack("=4I", folder, program, place, _ALLOW_MULTI))
        return _identity(number, found)
    except OSError:
        return None
    finally:
        for one in descriptors:  # what is attached keeps its map
            with contextlib.suppress(OSError):
                os.close(one)


def _bpf(number: int, command: int, attributes: bytes) -> int:
    """Call bpf(2); raises OSError."""
    buffer = ctypes.create_string_buffer(attributes, _BUFFER_BYTES)
    library = ctypes.CDLL(None, use_errno=True)
    result = library.syscall(ctypes.c_long(number), ctypes.c_int(command), buffer, ctypes.c_uint(_BUFFER_BYTES))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def _instruction(code: int, to: int, source: int, offset: int, value: int) -> bytes:
    return struct.pack("=BBhi", code, source << 4 | to, offset, value)


def _noting(known: int, *, only_event: int | None = None) -> bytes:
    """Return a program that puts its socket's cookie into the map `known`, at one event of connections or always."""
    note = b"".join((
        _instruction(0x85, 0, 0, 0, _SOCKET_COOKIE),  # r0 = bpf_get_socket_cookie(r1)
        _instruction(0x7B, 10, 0, -8, 0),             # *(u64 *)(r10 - 8) = r0
        _instruction(0x62, 10, 0, -12, 1),            # *(u32 *)(r10 - 12) = 1
        _instruction(0x18, 1, 1, 0, known), _instruction(0, 0, 0, 0, 0),  # r1 = the map
        _instruction(0xBF, 2, 10, 0, 0), _instruction(0x07, 2, 0, 0, -8),   # r2 = r10 - 8
        _instruction(0xBF, 3, 10, 0, 0), _instruction(0x07, 3, 0, 0, -12),  # r3 = r10 - 12
        _instruction(0xB7, 4, 0, 0, 0),               # r4 = 0
        _instruction(0x85, 0, 0, 0, _MAP_UPDATE),     # bpf_map_update_elem(r1, r2, r3, r4)
    ))  # fmt: skip
    begin = b""
    if only_event is not None:
        begin = _instruction(0x61, 2, 1, 0, 0)  # r2 = *(u32 *)(r1 + 0), the event
        begin += _instruction(0x55, 2, 0, len(note) // 8, only_event)  # another one: to the end
    return begin + note + _instruction(0xB7, 0, 0, 0, 1) + _instruction(0x95, 0, 0, 0, 0)  # return 1: go on


def _loaded(number: int, kind: int, words: bytes, place: int) -> int:
    code, licence = ctypes.create_string_buffer(words, len(words)), ctypes.create_string_buffer(b"Dual BSD/GPL")
    attributes = struct.pack(
        "=IIQQIIQII16sII", kind, len(words) // 8, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0,
        b"fabriscope", 0, place if kind == _CGROUP_SOCK else 0,
    )  # fmt: skip
    return _bpf(number, _PROG_LOAD, attributes)


def _identity(number: int, known: int) -> int:
    told = ctypes.create_string_buffer(_BUFFER_BYTES)
    _bpf(number, _INFO_BY_FD, struct.pack("=IIQ", known, _BUFFER_BYTES, ctypes.addressof(told)))
    return int(struct.unpack_from("=I", told, 4)[0])
