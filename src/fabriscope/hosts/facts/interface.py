"""Network interfaces: what the kernel tells of each, and what ethtool adds where there is hardware."""

from __future__ import annotations

import json

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group, key_values, looked_up
from fabriscope.model.host import Fact

_NET = "/sys/class/net"
_OFFLOADS = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "rx-checksumming": "rx_checksum",
    "tx-checksumming": "tx_checksum",
}
_COALESCING = {
    "rx-usecs": "rx_coalesce_us",
    "rx-frames": "rx_coalesce_frames",
    "tx-usecs": "tx_coalesce_us",
    "tx-frames": "tx_coalesce_frames",
}


def _facts(reading: Reading) -> list[Fact]:
    addresses, problem = _addresses(reading)
    facts = []
    for name in reading.names_under(_NET):
        head = f"interface.{name}"
        facts += _kernel_facts(reading, name)
        address = addresses.get(name)
        reason = None if address else problem or "it has none"
        facts.append(Fact(f"{head}.ipv4", address, reason))
        if name != "lo" and reading.files.get(f"{_NET}/{name}/operstate", "").strip() != "down":
            facts += _ethtool_facts(reading, name)
    return facts


def _kernel_facts(reading: Reading, name: str) -> list[Fact]:
    head, folder = f"interface.{name}", f"{_NET}/{name}"
    driver = reading.links.get(f"{folder}/device/driver")
    no_driver = None if driver else "no device stands behind it"
    return [
        reading.fact(f"{head}.mtu_bytes", f"{folder}/mtu", int),
        reading.fact(f"{head}.state", f"{folder}/operstate"),
        reading.fact(f"{head}.speed_bits_per_s", f"{folder}/speed", _speed_bits_per_s),
        reading.fact(f"{head}.duplex", f"{folder}/duplex"),
        reading.fact(f"{head}.mac", f"{folder}/address"),
        reading.fact(f"{head}.tx_queue_frames", f"{folder}/tx_queue_len", int),
        reading.fact(f"{head}.gro_flush_timeout_ns", f"{folder}/gro_flush_timeout", int),
        reading.fact(f"{head}.numa_node", f"{folder}/device/numa_node", _numa_node),
        Fact(f"{head}.driver", driver.rsplit("/", 1)[-1] if driver else None, no_driver),
    ]


def _speed_bits_per_s(text: str) -> int:
    """Return bits per second from the kernel's Mb/s; links without a speed say -1 or 4294967295."""
    speed = int(text)
    if speed <= 0 or speed == 0xFFFFFFFF:
        raise ValueError("the driver tells no speed")
    return speed * 10**6


def _numa_node(text: str) -> int:
    if int(text) < 0:
        raise ValueError("the firmware tells no node")
    return int(text)


def _addresses(reading: Reading) -> tuple[dict[str, str], str | None]:
    """Return the first IPv4 address of each interface, and why there are none at all."""
    text, problem = reading.output("ip -j -4 addr")
    if problem:
        return {}, problem
    found = {}
    for one in json.loads(text or "[]"):
        locals_ = [info["local"] for info in one.get("addr_info", []) if "local" in info]
        if locals_:
            found[one["ifname"]] = locals_[0]
    return found, None


def _ethtool_facts(reading: Reading, name: str) -> list[Fact]:
    head = f"interface.{name}"
    facts = []
    for option, wanted, convert in (("-k", _OFFLOADS, _is_on), ("-c", _COALESCING, int)):
        text, problem = reading.output(f"ethtool {option} {name}")
        pairs = key_values(text)
        facts += [
            Fact(f"{head}.{fact}", None, problem) if problem else looked_up(f"{head}.{fact}", pairs, key, convert)
            for key, fact in wanted.items()
        ]
    text, problem = reading.output(f"ethtool -c {name}")
    adaptive = next((line for line in text.splitlines() if line.startswith("Adaptive RX")), None)
    facts.append(
        Fact(f"{head}.rx_coalesce_adaptive", adaptive.split()[2] == "on")
        if adaptive and "n/a" not in adaptive.split()[2]
        else Fact(f"{head}.rx_coalesce_adaptive", None, problem or "not told")
    )
    text, problem = reading.output(f"ethtool -a {name}")
    pairs = key_values(text)
    facts += [
        Fact(f"{head}.{fact}", None, problem) if problem else looked_up(f"{head}.{fact}", pairs, key, _is_on)
        for key, fact in (("RX", "rx_pause"), ("TX", "tx_pause"))
    ]
    text, problem = reading.output(f"ethtool -g {name}")
    pairs = key_values(text.partition("Current hardware settings")[2])
    facts += [
        Fact(f"{head}.{fact}", None, problem) if problem else looked_up(f"{head}.{fact}", pairs, key, int)
        for key, fact in (("RX", "rx_ring_frames"), ("TX", "tx_ring_frames"))
    ]
    text, problem = reading.output(f"ethtool -i {name}")
    pairs = key_values(text)
    facts += [
        Fact(f"{head}.{fact}", None, problem) if problem else looked_up(f"{head}.{fact}", pairs, key)
        for key, fact in (("version", "driver_version"), ("firmware-version", "firmware_version"))
    ]
    return facts


def _is_on(text: str) -> bool:
    """Return True from `on` and `on [fixed]`."""
    word = text.split()[0]
    if word not in ("on", "off"):
        raise ValueError("neither on nor off")
    return word == "on"


FACTS = Group(
    "interface",
    _facts,
    globs=tuple(
        f"{_NET}/*/{name}"
        for name in (
            "mtu", "operstate", "speed", "duplex", "address", "tx_queue_len", "gro_flush_timeout", "device/numa_node",
        )
    ),
    links=(f"{_NET}/*/device/driver",),
    commands=(
        ("ip", "-j", "-4", "addr"),
        *(("ethtool", option, "{interface}") for option in ("-k", "-c", "-a", "-g", "-i")),
    ),
)  # fmt: skip
