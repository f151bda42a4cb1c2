"""Strangers of every kind who knock on the doors of an engine: what each does to one connection."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

HOST = "127.0.0.1"
_HOLD_S = 3.0
_HELD_LIMIT = 400
_SOCK_DIAG, _BY_FAMILY, _REQUEST_DUMP, _LISTEN, _HEADER_BYTES = 4, 20, 0x301, 10, 16

Knock = Callable[[socket.socket, random.Random], bool]
"""What a stranger does with a connection; True: it stays open for a while."""


def _reset(door: socket.socket, _: random.Random) -> bool:
    door.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def _finish(door: socket.socket, _: random.Random) -> bool:
    door.shutdown(socket.SHUT_WR)
    return True


def _silent(_door: socket.socket, _: random.Random) -> bool:
    return True


def _half_length(door: socket.socket, _: random.Random) -> bool:
    door.sendall(b"\0\0")
    return True


def _half_token(door: socket.socket, _: random.Random) -> bool:
    door.sendall(struct.pack("!I", 40) + b"0123456789")
    return True


def _wrong_token(door: socket.socket, draw: random.Random) -> bool:
    text = draw.randbytes(16).hex().encode() + b"\nrank 1"
    door.sendall(struct.pack("!I", len(text)) + text)
    return True


def _garbage(door: socket.socket, draw: random.Random) -> bool:
    door.sendall(draw.randbytes(draw.randrange(1, 3000)))
    return True


def _much(door: socket.socket, _: random.Random) -> bool:
    door.settimeout(0.5)
    for _part in range(64):
        door.sendall(b"\0\0\4\0" + bytes(65532))
    return False


def _drip(door: socket.socket, _: random.Random) -> bool:
    for byte in struct.pack("!I", 40):
        door.sendall(bytes([byte]))
        time.sleep(0.01)
    return True


KINDS: dict[str, Knock] = {
    "reset": _reset,
    "fin": _finish,
    "silent": _silent,
    "half a length": _half_length,
    "half a token": _half_token,
    "wrong token": _wrong_token,
    "garbage": _garbage,
    "much": _much,
    "drip": _drip,
}


class Strangers:
    """Threads that knock at the TCP ports that a process listens at, until the end."""

    def __init__(self, kind: str, pid: int, *, threads: int, pause_s: float, seed: int) -> None:
        self.connections = 0
        self._knock, self._pid, self._pause_s = KINDS[kind], pid, pause_s
        self._end = threading.Event()
        self._ports: tuple[int, ...] = ()
        draws = [random.Random(seed + number) for number in range(threads)]  # noqa: S311 - repeatable, no secret
        self._threads = [threading.Thread(target=self._work, args=(draw,)) for draw in draws]
        self._threads.append(threading.Thread(target=self._look))

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _look(self) -> None:
        while not self._end.wait(0.01):
            with contextlib.suppress(OSError):
                self._ports = tuple(listening_ports(self._pid))

    def _work(self, draw: random.Random) -> None:
        held: list[tuple[float, socket.socket]] = []
        while not self._end.wait(self._pause_s) if self._pause_s else not self._end.is_set():
            for port in self._ports:
                with contextlib.suppress(OSError):
                    self._call(port, draw, held)
            while held and (held[0][0] < time.monotonic() or len(held) > _HELD_LIMIT):
                held.pop(0)[1].close()
        for _, door in held:
            door.close()

    def _call(self, port: int, draw: random.Random, held: list[tuple[float, socket.socket]]) -> None:
        door = socket.create_connection((HOST, port), timeout=2)
        self.connections += 1
        try:
            if self._knock(door, draw):
                held.append((time.monotonic() + _HOLD_S, door))
                return
        except OSError:
            pass
        door.close()


def listening_ports(pid: int) -> Iterator[int]:
    """Yield the IPv4 TCP ports that a process listens at; thousands of connections do not slow it down."""
    inodes = set()
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                inodes.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
    yield from (port for port, inode in _listeners() if str(inode) in inodes)


def _listeners() -> Iterator[tuple[int, int]]:
    """Yield port and inode of every listening socket, by the kernel's sock_diag."""
    request = struct.pack("=BBBBI48x", socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 1 << _LISTEN)
    header = struct.pack("=IHHII", _HEADER_BYTES + len(request), _BY_FAMILY, _REQUEST_DUMP, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        kernel.send(header + request)
        while True:
            answer = kernel.recv(1 << 16)
            while len(answer) >= _HEADER_BYTES:
                size, kind = struct.unpack_from("=IH", answer)
                if kind != _BY_FAMILY:
                    return
                (port,) = struct.unpack_from("!H", answer, _HEADER_BYTES + 4)
                (inode,) = struct.unpack_from("=I", answer, _HEADER_BYTES + 68)
                yield port, inode
                answer = answer[(size + 3) & ~3 :]
