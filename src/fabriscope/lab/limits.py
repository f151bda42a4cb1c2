"""What a lab cannot be: names, numbers of hosts and fabrics, and what switches can be told."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import NamedTuple

from fabriscope.lab import queues
from fabriscope.model.lab import LabSpec, SwitchSpec

MAX_HOSTS = 256
MAX_FABRICS = 64
MIN_MTU_BYTES = 576
"""The smallest packet that every IPv4 host takes whole (RFC 791)."""
MAX_MTU_BYTES = 9000
"""Bytes that the switch's frames hold (switch/src/frame.h)."""
_HEADER_BYTES = 14
_MAX_NS = 24 * 3600 * 10**9
_MAX_AMOUNT = 10**15
_MAX_SEED = 2**62
"""What the switch takes (switch/src/settings.cc)."""
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,62}[A-Za-z0-9])?")
_FABRIC_NAME = re.compile(r"[A-Za-z0-9._-]+")
_TAKEN = ("localhost", "keeper")
_MADE = (
    "choose another name, such as node1: a lab makes its hosts; over hosts that exist, fabrics have"
    " `interface: eth0` in place of `lab:`"
)


class Problem(NamedTuple):
    """One thing that cannot be."""

    what: str
    fix: str
    fabric: str | None = None
    """The fabric that is concerned; None: the hosts, or all fabrics."""
    key: str = ""
    """Of a plan's `lab:` section."""


def problems(spec: LabSpec) -> Iterator[Problem]:
    """Yield what is wrong with a lab before anything of it is made."""
    if not spec.hosts or len(spec.hosts) > MAX_HOSTS:
        yield Problem(f"a lab has 1 to {MAX_HOSTS} hosts, not {len(spec.hosts)}", "change the host list")
    yield from _of_names(spec.hosts)
    if len(spec.fabrics) > MAX_FABRICS:
        yield Problem(f"a lab has at most {MAX_FABRICS} fabrics, not {len(spec.fabrics)}", "name fewer fabrics")
    for fabric, switch in spec.fabrics.items():
        if not _FABRIC_NAME.fullmatch(fabric):
            what = f"{fabric!r} cannot be a fabric's name in a lab"
            yield Problem(what, "use letters, digits, '.', '_' and '-'", fabric)
        for key, what, fix in (*_of_numbers(switch), *_of_faults(switch), *queues.problems(switch, spec.hosts)):
            yield Problem(what, fix, fabric, key)


def _of_names(hosts: tuple[str, ...]) -> Iterator[Problem]:
    fix = "choose another name"
    lowered: dict[str, str] = {}
    for host in hosts:
        if not _HOST_NAME.fullmatch(host):
            yield Problem(f"{host!r} cannot be a host's name", "use at most 64 letters, digits, '.' and '-'")
        elif host.lower() in _TAKEN:
            yield Problem(f"a host of a lab cannot be called {host!r}, which means something else", _MADE)
        elif _is_address(host):
            yield Problem(f"programs take the host's name {host!r} for an address", _MADE)
        if (other := lowered.setdefault(host.lower(), host)) != host:
            yield Problem(f"the hosts {other!r} and {host!r} have one name: letters' case does not count", fix)
    if len(set(hosts)) != len(hosts):
        yield Problem("two hosts have one name", "change the host list")


def _is_address(host: str) -> bool:
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True


def _of_numbers(switch: SwitchSpec) -> Iterator[tuple[str, str, str]]:
    if not MIN_MTU_BYTES <= switch.mtu_bytes <= MAX_MTU_BYTES:
        what = f"an MTU of {switch.mtu_bytes} bytes is outside {MIN_MTU_BYTES} to {MAX_MTU_BYTES}"
        yield "mtu", what, f"choose {MIN_MTU_BYTES} to {MAX_MTU_BYTES}"
    frame_bytes = switch.mtu_bytes + _HEADER_BYTES
    if 0 < switch.buffer_bytes < frame_bytes:
        what = f"no whole frame of {frame_bytes} bytes fits into a buffer of {switch.buffer_bytes}"
        yield "buffer", what, f"choose {frame_bytes} or more, or 0 for a buffer without end"
    for name, value, most, words in (
        ("rate", switch.rate_bits_per_s, _MAX_AMOUNT, "10^15 b/s"),
        ("buffer", switch.buffer_bytes, _MAX_AMOUNT, "10^15 bytes"),
        ("fault_seed", switch.fault_seed, _MAX_SEED, "2^62"),
        ("delay", switch.delay_ns, _MAX_NS, "a day"),
        ("rx_coalesce_time", switch.rx_coalesce_ns, _MAX_NS, "a day"),
        ("reorder_delay", switch.reorder_delay_ns, _MAX_NS, "a day"),
        ("flap_period", switch.flap_period_ns, _MAX_NS, "a day"),
    ):
        if value > most:
            yield name, f"{name} is more than {words}, the most that the switch takes", f"choose {words} or less"


def _of_faults(switch: SwitchSpec) -> Iterator[tuple[str, str, str]]:
    if switch.on_full == "pause" and not switch.buffer_bytes:
        yield "on_full", "on_full: pause needs a buffer that can be full", "add `buffer:`"
    if switch.flap_down_ns > switch.flap_period_ns:
        what = "the links would be down for longer than their period"
        yield "flap_down", what, "let flap_period be more than flap_down"
    elif switch.flap_down_ns == switch.flap_period_ns > 0:
        yield "flap_down", "the links would never be up", "let flap_period be more than flap_down"
    if switch.flap_period_ns and not switch.flap_down_ns:
        yield "flap_period", "links that are down for no time do not flap", "add `flap_down:`, or remove flap_period"
    if switch.reorder_share and not switch.reorder_delay_ns:
        yield "reorder", "frames that are held back for no time are not overtaken", "add `reorder_delay:`"
    if switch.reorder_delay_ns and not switch.reorder_share:
        yield (
            "reorder_delay",
            "reorder_delay says how long, and no frame is held back",
            "add `reorder:`, or remove reorder_delay",
        )
