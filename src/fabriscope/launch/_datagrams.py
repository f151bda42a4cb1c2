"""What a control group sends and receives by UDP, by interface: programs of eBPF that see each of its packets.

Interfaces count everybody's datagrams together, and the kernel tells no socket's. Two programs, one for each
direction, run for each packet of IP of the group's sockets, and count those of UDP (of what raw sockets get, a part is
others'). They see what IP sees: a datagram before it is cut, and one that a queue drops afterwards; of packet sockets
they see nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriscope.launch._bpf import Part, Programs, assembled, identity, instruction, map_in

_HASH, _CGROUP_SKB = 1, 8
_INGRESS, _EGRESS = 0, 1
_LOOKUP, _UPDATE, _LOAD_BYTES, _NETNS_COOKIE = 1, 2, 26, 122
_LENGTH_AT, _INTERFACE_AT, _SEGMENTS_AT = 0, 40, 164
"""Of struct __sk_buff: len, ifindex, gso_segs."""
INBOUND, IPV6 = 1, 2
"""Bits of a key's last word."""
KEY_BYTES, VALUE_BYTES = 16, 24
"""The network namespace's cookie (64 bits), the number of the interface, and these bits; packets, bytes behind the
headers of IP and UDP, and bytes of options and further headers, 64 bits each."""
MOST_KEYS = 4096
_SPACE, _NUMBER, _BITS, _ZEROS, _HEADER, _PAYLOAD, _PACKETS = -16, -8, -4, -40, -64, -72, -80
"""Where things are on the program's stack."""
_UDP, _UDP_LITE = 17, 136
_HOP_BY_HOP, _ROUTING, _OPTIONS = 0, 43, 60
_MOST_FURTHER = 2
"""Further headers of IPv6 that are stepped over."""


def count(group: Path) -> int | None:
    """Count for as long as a control group exists; return the number of the map that has the counts.

    None where the kernel (before 6.15) or our rights do not allow it.
    """
    try:
        with Programs(group) as programs:
            found = programs.new_map(_HASH, KEY_BYTES, VALUE_BYTES, MOST_KEYS)
            for place, bits in ((_INGRESS, INBOUND), (_EGRESS, 0)):
                programs.attach(_CGROUP_SKB, _counting(found, bits), place)
            return identity(found)
    except OSError:
        return None


def _counting(known: int, bits: int) -> bytes:
    """Return the program that adds a packet to the counts of the map `known`, whose key has at least these bits."""
    return assembled([*_headers(bits), *_adding(known)])


def _headers(bits: int) -> Sequence[Part]:
    """Return what puts the bytes of headers into r7, those of options among them into r9, and the bits on the stack."""
    return (
        instruction(0xBF, 6, 1, 0, 0),                           # r6 = the packet
        instruction(0x62, 10, 0, _BITS, bits),
        *_loading(instruction(0xB7, 2, 0, 0, 0), 20),            # the header of IP
        instruction(0x71, 7, 10, _HEADER, 0),                    # r7 = version and length of the header
        instruction(0xBF, 1, 7, 0, 0), instruction(0x77, 1, 0, 0, 4),
        (instruction(0x15, 1, 0, 0, 6), "version 6"),
        (instruction(0x55, 1, 0, 0, 4), "out"),
        instruction(0x71, 8, 10, _HEADER + 9, 0),                # r8 = the protocol
        instruction(0x57, 7, 0, 0, 15), instruction(0x67, 7, 0, 0, 2),  # r7 = bytes of headers
        instruction(0xBF, 9, 7, 0, 0), instruction(0x17, 9, 0, 0, 20),  # r9 = of these, options
        (instruction(0x05, 0, 0, 0, 0), "known"),
        "version 6",
        instruction(0x71, 8, 10, _HEADER + 6, 0), instruction(0xB7, 7, 0, 0, 40), instruction(0xB7, 9, 0, 0, 0),
        instruction(0x62, 10, 0, _BITS, bits | IPV6),
        *(part for number in range(_MOST_FURTHER) for part in _further(f"further {number}")),
        "known",
        (instruction(0x15, 8, 0, 0, _UDP), "udp"),
        (instruction(0x55, 8, 0, 0, _UDP_LITE), "out"),
        "udp",
        instruction(0x07, 7, 0, 0, 8),
    )  # fmt: skip


def _adding(known: int) -> Sequence[Part]:
    """Return what adds the packet to the counts of the map, and lets it pass."""
    return (
        instruction(0x61, 1, 6, _LENGTH_AT, 0), instruction(0x1F, 1, 7, 0, 0), instruction(0x7B, 10, 1, _PAYLOAD, 0),
        instruction(0x61, 1, 6, _SEGMENTS_AT, 0),
        (instruction(0x55, 1, 0, 0, 0), "segments"),
        instruction(0xB7, 1, 0, 0, 1),
        "segments",
        instruction(0x2F, 9, 1, 0, 0), instruction(0x7B, 10, 1, _PACKETS, 0),
        instruction(0x61, 1, 6, _INTERFACE_AT, 0), instruction(0x63, 10, 1, _NUMBER, 0),
        instruction(0xBF, 1, 6, 0, 0), instruction(0x85, 0, 0, 0, _NETNS_COOKIE), instruction(0x7B, 10, 0, _SPACE, 0),
        *_looking_up(known),
        (instruction(0x55, 0, 0, 0, 0), "add"),
        *(instruction(0x7A, 10, 0, _ZEROS + 8 * place, 0) for place in range(3)),
        map_in(1, known), *_at(2, _SPACE), *_at(3, _ZEROS),
        instruction(0xB7, 4, 0, 0, 1), instruction(0x85, 0, 0, 0, _UPDATE),  # where it is not there yet
        *_looking_up(known),
        (instruction(0x15, 0, 0, 0, 0), "out"),
        "add",
        instruction(0x79, 1, 10, _PACKETS, 0), instruction(0xDB, 0, 1, 0, 0),
        instruction(0x79, 1, 10, _PAYLOAD, 0), instruction(0xDB, 0, 1, 8, 0),
        instruction(0xDB, 0, 9, 16, 0),
        "out",
        instruction(0xB7, 0, 0, 0, 1), instruction(0x95, 0, 0, 0, 0),  # return 1: let it pass
    )  # fmt: skip


def _at(register: int, offset: int) -> tuple[bytes, bytes]:
    return instruction(0xBF, register, 10, 0, 0), instruction(0x07, register, 0, 0, offset)


def _loading(place: bytes, size: int) -> Sequence[Part]:
    """Return what reads bytes of the packet from a place on, which an instruction puts into r2."""
    words = (instruction(0xBF, 1, 6, 0, 0), place, *_at(3, _HEADER), instruction(0xB7, 4, 0, 0, size))
    return *words, instruction(0x85, 0, 0, 0, _LOAD_BYTES), (instruction(0x55, 0, 0, 0, 0), "out")


def _looking_up(known: int) -> Sequence[bytes]:
    return map_in(1, known), *_at(2, _SPACE), instruction(0x85, 0, 0, 0, _LOOKUP)


def _further(name: str) -> Sequence[Part]:
    """Return what steps over a further header of IPv6 (RFC 8200, section 4), whose kind is in r8."""
    return (
        (instruction(0x15, 8, 0, 0, _HOP_BY_HOP), name),
        (instruction(0x15, 8, 0, 0, _OPTIONS), name),
        (instruction(0x55, 8, 0, 0, _ROUTING), "known"),
        name,
        *_loading(instruction(0xBF, 2, 7, 0, 0), 2),
        instruction(0x71, 8, 10, _HEADER, 0), instruction(0x71, 1, 10, _HEADER + 1, 0),
        instruction(0x07, 1, 0, 0, 1), instruction(0x67, 1, 0, 0, 3),
        instruction(0x0F, 7, 1, 0, 0), instruction(0x0F, 9, 1, 0, 0),
    )  # fmt: skip
