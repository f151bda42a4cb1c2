"""The sockets of a control group, from their birth to their end: two programs of eBPF note the kernel's names for them.

One runs where a process of the group makes a socket, one where a connection is accepted, or ends. So a connection that
was closed before anybody saw it has an owner, and one that was broken off (RST) has its counts: the kernel forgets them
as it breaks it off, and tells no listener of them. Only root may do that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fabriscope.launch._bpf import SOCK_OPS, Part, Programs, assembled, identity, instruction, map_in

_LRU_HASH, _CGROUP_SOCK = 9, 9
_AT_CREATION, _AT_CONNECTION = 2, 3
_ACTIVE_ESTABLISHED, _PASSIVE_ESTABLISHED, _NEW_STATE, _TELL_STATES = 4, 5, 10, 4
_CLOSED = 7
_MAP_UPDATE, _SOCKET_COOKIE, _SET_FLAGS = 2, 46, 59
_EVENT_AT, _STATE_AT, _FLAGS_AT, _NEXT_AT, _ACKNOWLEDGED_AT = 0, 8, 84, 104, 108
"""Of struct bpf_sock_ops: op, args[1], bpf_sock_ops_cb_flags, snd_nxt, snd_una."""
_WORDS = (20, 64, 68, 112, 24, 28, *range(32, 64, 4), 136, 140, 148)
"""What is kept of a connection that ends, 32 bits each: family, the ports there and here, the size of a segment, the
addresses of IPv4 there and here, those of IPv6, segments sent again, received, sent; then the bytes in flight."""
_LONG_WORDS = (168, 176)
"""Likewise, 64 bits each: bytes received, bytes acknowledged."""
END_BYTES = 4 * (len(_WORDS) + 1) + 8 * len(_LONG_WORDS)
_KEY, _HOW, _END = -8, -12, -16 - END_BYTES
"""Where things are on the program's stack."""
MADE, ACCEPTED = 1, 2
"""How a socket came to be."""
MOST_SOCKETS, MOST_ENDS = 1 << 17, 1 << 14
"""The oldest are forgotten beyond that."""


class Noted(NamedTuple):
    """The numbers of the maps."""

    births: int
    """Of the cookies of sockets to how they came to be."""
    ends: int
    """Of cookies to what is known of their connections' ends (`_WORDS`, `_LONG_WORDS`)."""


def follow(group: Path) -> Noted | None:
    """Note the sockets of a control group for as long as it exists.

    None where the kernel or our rights do not allow it.
    """
    try:
        with Programs(group) as programs:
            births = programs.new_map(_LRU_HASH, 8, 4, MOST_SOCKETS)
            ends = programs.new_map(_LRU_HASH, 8, END_BYTES, MOST_ENDS)
            programs.attach(_CGROUP_SOCK, assembled([*_noting(births, MADE), *_LEAVING]), _AT_CREATION)
            programs.attach(SOCK_OPS, assembled(_following(births, ends)), _AT_CONNECTION)
            return Noted(identity(births), identity(ends))
    except OSError:
        return None


_LEAVING = (instruction(0xB7, 0, 0, 0, 1), instruction(0x95, 0, 0, 0, 0))
"""Return 1: go on."""


def _named() -> Sequence[bytes]:
    """Return what puts the cookie of the socket of r1 on the stack."""
    return instruction(0x85, 0, 0, 0, _SOCKET_COOKIE), instruction(0x7B, 10, 0, _KEY, 0)


def _kept(known: int, at: int) -> Sequence[bytes]:
    """Return what puts something of the stack into a map under the cookie."""
    return (
        map_in(1, known),
        instruction(0xBF, 2, 10, 0, 0), instruction(0x07, 2, 0, 0, _KEY),
        instruction(0xBF, 3, 10, 0, 0), instruction(0x07, 3, 0, 0, at),
        instruction(0xB7, 4, 0, 0, 0),
        instruction(0x85, 0, 0, 0, _MAP_UPDATE),
    )  # fmt: skip


def _noting(births: int, how: int) -> Sequence[Part]:
    """Return what notes the socket of r1, and how it came to be."""
    return *_named(), instruction(0x62, 10, 0, _HOW, how), *_kept(births, _HOW)


def _following(births: int, ends: int) -> Sequence[Part]:
    """Return the program for events of connections: what is accepted is noted, and of what ends its counts."""
    return (
        instruction(0xBF, 6, 1, 0, 0),             # r6 = the event
        instruction(0x61, 7, 6, _EVENT_AT, 0),     # r7 = which
        (instruction(0x15, 7, 0, 0, _NEW_STATE), "new state"),
        (instruction(0x15, 7, 0, 0, _ACTIVE_ESTABLISHED), "begun"),
        (instruction(0x55, 7, 0, 0, _PASSIVE_ESTABLISHED), "leave"),
        *_noting(births, ACCEPTED),
        "begun",
        instruction(0x61, 2, 6, _FLAGS_AT, 0), instruction(0x47, 2, 0, 0, _TELL_STATES),
        instruction(0xBF, 1, 6, 0, 0), instruction(0x85, 0, 0, 0, _SET_FLAGS),
        (instruction(0x05, 0, 0, 0, 0), "leave"),
        "new state",
        instruction(0x61, 1, 6, _STATE_AT, 0),
        (instruction(0x55, 1, 0, 0, _CLOSED), "leave"),
        *_ended(),
        instruction(0xBF, 1, 6, 0, 0), *_named(), *_kept(ends, _END),
        "leave",
        *_LEAVING,
    )  # fmt: skip


def _ended() -> Sequence[bytes]:
    """Return what puts what is known of a connection on the stack."""
    found = []
    for place, at in enumerate(_WORDS):
        found += [instruction(0x61, 1, 6, at, 0), instruction(0x63, 10, 1, _END + 8 * len(_LONG_WORDS) + 4 * place, 0)]
    found += [instruction(0x61, 1, 6, _NEXT_AT, 0), instruction(0x61, 2, 6, _ACKNOWLEDGED_AT, 0)]
    found += [instruction(0x1F, 1, 2, 0, 0), instruction(0x63, 10, 1, _END + END_BYTES - 4, 0)]
    for place, at in enumerate(_LONG_WORDS):
        found += [instruction(0x79, 1, 6, at, 0), instruction(0x7B, 10, 1, _END + 8 * place, 0)]
    return found
