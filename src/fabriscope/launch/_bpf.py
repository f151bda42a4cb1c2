"""Programs of eBPF for a control group (bpf(2)), in the kernel's own words: no compiler and no library is needed."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

_SYSCALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
_MAP_CREATE, _PROG_LOAD, _PROG_ATTACH, _INFO_BY_FD = 0, 5, 8, 15
_ALLOW_MULTI = 2
SOCK_OPS = 13
"""A kind of program: for events of connections."""
_OF_ONE_PLACE = (SOCK_OPS,)
"""Kinds that have one place, which is not said when they are loaded."""
_BUFFER_BYTES = 128

Part = bytes | str | tuple[bytes, str]
"""An instruction or several, the name of a place, or a jump to one."""


class Programs:
    """Programs and maps for one control group; what is attached stays for as long as the group exists.

    A context that keeps their descriptors open: what is attached keeps its map. Raises OSError where the kernel, the
    processor or our rights do not allow it: root alone may.
    """

    def __init__(self, group: Path) -> None:
        self._group = group
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if platform.machine() not in _SYSCALLS or os.geteuid() != 0:
            raise PermissionError(errno.EPERM, "programs of eBPF are root's")
        self._folder = self._kept(os.open(self._group, os.O_RDONLY | os.O_DIRECTORY))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def new_map(self, kind: int, key_bytes: int, value_bytes: int, most: int) -> int:
        """Return the descriptor of a new map."""
        return self._kept(_call(_MAP_CREATE, struct.pack("=4I", kind, key_bytes, value_bytes, most)))

    def attach(self, kind: int, words: bytes, place: int) -> None:
        """Attach a program to the group at a place, beside those of others."""
        code, licence = ctypes.create_string_buffer(words, len(words)), ctypes.create_string_buffer(b"Dual BSD/GPL")
        attributes = struct.pack(
            "=IIQQIIQII16sII", kind, len(words) // 8, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0,
            b"fabriscope", 0, 0 if kind in _OF_ONE_PLACE else place,
        )  # fmt: skip
        program = self._kept(_call(_PROG_LOAD, attributes))
        _call(_PROG_ATTACH, struct.pack("=4I", self._folder, program, place, _ALLOW_MULTI))

    def _kept(self, descriptor: int) -> int:
        self._open.callback(os.close, descriptor)
        return descriptor


def identity(known: int) -> int:
    """Return the number by which others find a map. Raises OSError."""
    told = ctypes.create_string_buffer(_BUFFER_BYTES)
    _call(_INFO_BY_FD, struct.pack("=IIQ", known, _BUFFER_BYTES, ctypes.addressof(told)))
    return int(struct.unpack_from("=I", told, 4)[0])


def instruction(code: int, to: int, source: int, offset: int, value: int) -> bytes:
    """Return one instruction: its code, two registers, an offset, and a value."""
    return struct.pack("=BBhi", code, source << 4 | to, offset, value)


def map_in(register: int, known: int) -> bytes:
    """Return the two instructions that put a map into a register."""
    return instruction(0x18, register, 1, 0, known) + instruction(0, 0, 0, 0, 0)


def assembled(parts: Sequence[Part]) -> bytes:
    """Return a program whose jumps have their places."""
    places: Mapping[str, int]
    places, words, size = {}, [], 0
    for part in parts:
        if isinstance(part, str):
            places = {**places, part: size}
        else:
            words.append((part, size))
            size += len(part if isinstance(part, bytes) else part[0]) // 8
    found = b""
    for part, place in words:
        if isinstance(part, bytes):
            found += part
        else:  # a jump's offset counts from the instruction that follows
            found += part[0][:2] + (places[part[1]] - place - 1).to_bytes(2, "little", signed=True) + part[0][4:]
    return found


def _call(command: int, attributes: bytes) -> int:
    buffer = ctypes.create_string_buffer(attributes, _BUFFER_BYTES)
    library = ctypes.CDLL(None, use_errno=True)
    number, size = ctypes.c_long(_SYSCALLS[platform.machine()]), ctypes.c_uint(_BUFFER_BYTES)
    result = library.syscall(number, ctypes.c_int(command), buffer, size)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)
