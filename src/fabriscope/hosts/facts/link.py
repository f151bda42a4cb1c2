"""The link of each interface that has a device: what it negotiated, its forward error correction, and what it lost."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group, is_down, key_values, looked_up
from fabriscope.model.host import Fact

_NET = "/sys/class/net"
_COUNTERS = {
    "rx_crc_error_count": "rx_crc_errors",
    "rx_missed_count": "rx_missed_errors",
    "rx_dropped_count": "rx_dropped",
    "tx_dropped_count": "tx_dropped",
}
_MODE = re.compile(r"(\d+)base", re.IGNORECASE)


def _facts(reading: Reading) -> list[Fact]:
    facts = []
    for name in hardware(reading):
        head, folder = f"link.{name}", f"{_NET}/{name}"
        facts += [reading.fact(f"{head}.change_count", f"{folder}/carrier_changes", int)]
        facts += [reading.fact(f"{head}.{one}", f"{folder}/statistics/{file}", int) for one, file in _COUNTERS.items()]
        if not is_down(reading, name):
            facts += _negotiated(reading, name) + _fec(reading, name) + _corrected(reading, name)
            facts += _rings(reading, name) + _agent(reading, name)
    return facts


def hardware(reading: Reading) -> list[str]:
    """Return the interfaces behind which a device stands."""
    names = reading.names_under(_NET)
    return [name for name in names if f"{_NET}/{name}/device/driver" in reading.links]


def _negotiated(reading: Reading, name: str) -> list[Fact]:
    head = f"link.{name}"
    command = f"ethtool {name}"
    text, problem = reading.output(command)
    wanted = ("supported_bits_per_s", "advertised_bits_per_s", "autonegotiation", "is_detected", "medium")
    if problem:
        return [reading.missing(f"{head}.{one}", command) for one in wanted]
    pairs = key_values(text)
    return [
        _fastest(f"{head}.{wanted[0]}", text, "Supported link modes"),
        _fastest(f"{head}.{wanted[1]}", text, "Advertised link modes"),
        looked_up(f"{head}.{wanted[2]}", pairs, "Auto-negotiation", _is_on),
        looked_up(f"{head}.{wanted[3]}", pairs, "Link detected", lambda word: {"yes": True, "no": False}[word]),
        looked_up(f"{head}.{wanted[4]}", pairs, "Port"),
    ]


def _fastest(name: str, text: str, title: str) -> Fact:
    """Return the fastest of the modes that a title and the indented lines after it list, in bits per second."""
    match = re.search(rf"^[ \t]*{title}:(.*(?:\n[^:\n]*$)*)", text, re.MULTILINE)
    speeds = [int(speed) for speed in _MODE.findall(match[1])] if match else []
    return (
        Fact(name, max(speeds) * 10**6)
        if speeds
        else Fact(name, None, f"{title!r} lists no mode", is_offered=match is None)
    )


def _fec(reading: Reading, name: str) -> list[Fact]:
    head = f"link.{name}"
    command = f"ethtool --show-fec {name}"
    text, problem = reading.output(command)
    if problem:
        return [reading.missing(f"{head}.{one}", command) for one in ("fec_configured", "fec_active")]
    pairs = key_values(text)
    configured = next((key for key in pairs if key.endswith("onfigured FEC encodings")), "Configured FEC encodings")
    active = next((key for key in pairs if key.startswith("Active FEC encoding")), "Active FEC encoding")
    return [
        looked_up(f"{head}.fec_configured", pairs, configured, str.lower),
        looked_up(f"{head}.fec_active", pairs, active, lambda word: {"none": "off"}.get(word.lower(), word.lower())),
    ]


def _corrected(reading: Reading, name: str) -> list[Fact]:
    """Return how many blocks FEC has corrected, and could not; not every driver counts them."""
    command = f"ethtool -I --show-fec {name}"
    text, problem = reading.output(command)
    wanted = {"corrected_blocks": "fec_corrected_count", "uncorrectable_blocks": "fec_uncorrectable_count"}
    if problem:
        return [reading.missing(f"link.{name}.{fact}", command) for fact in wanted.values()]
    _, counts, told = text.partition("Statistics:")
    if not counts:
        return [Fact(f"link.{name}.{fact}", None, "not counted", is_offered=False) for fact in wanted.values()]
    pairs = key_values(told)
    return [looked_up(f"link.{name}.{fact}", pairs, key, int) for key, fact in wanted.items()]


def _rings(reading: Reading, name: str) -> list[Fact]:
    """Return how large the rings of frames could be."""
    command = f"ethtool -g {name}"
    text, problem = reading.output(command)
    pairs = key_values(text.partition("Current hardware settings")[0])
    return [
        reading.missing(f"link.{name}.{fact}", command)
        if problem
        else looked_up(f"link.{name}.{fact}", pairs, key, int)
        for key, fact in (("RX", "rx_ring_most_frames"), ("TX", "tx_ring_most_frames"))
    ]


def _agent(reading: Reading, name: str) -> list[Fact]:
    """Return whether the card's firmware speaks LLDP by itself, of the drivers (ice, i40e) that tell it."""
    text, _ = reading.output(f"ethtool --show-priv-flags {name}")
    pairs = key_values(text)
    for key, is_meant in (("fw-lldp-agent", True), ("disable-fw-lldp", False)):
        if pairs.get(key) in ("on", "off"):
            return [Fact(f"link.{name}.firmware_lldp", (pairs[key] == "on") == is_meant)]
    return []


def _is_on(text: str) -> bool:
    return {"on": True, "off": False}[text]


FACTS = Group(
    "link",
    _facts,
    globs=(
        f"{_NET}/*/operstate",
        f"{_NET}/*/carrier_changes",
        *(f"{_NET}/*/statistics/{file}" for file in _COUNTERS.values()),
    ),
    links=(f"{_NET}/*/device/driver",),
    commands=(
        ("ethtool", "{hardware}"),
        ("ethtool", "--show-fec", "{hardware}"),
        ("ethtool", "-I", "--show-fec", "{hardware}"),
        ("ethtool", "-g", "{interface}"),
        ("ethtool", "--show-priv-flags", "{hardware}"),
    ),
)
