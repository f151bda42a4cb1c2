"""Network interfaces: what the kernel tells of each, and what ethtool adds where there is hardware."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping

from fabriscope.hosts.access import Reading
from fabriscope.hosts.access.reading import Value
from fabriscope.hosts.facts._reading import Group, is_down, key_values, looked_up
from fabriscope.model.foreign import Foreign
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
_TSO_OF_IPV4 = "tx-tcp-segmentation"
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
        address, network = addresses.get(name, (None, "none"))
        reason = None if address else problem or "it has none"
        facts.append(Fact(f"{head}.ipv4", address, reason))
        facts.append(Fact(f"{head}.ipv4_network", None if problem else network, problem))
        facts += _built_on(reading, name)
        if name != "lo" and not is_down(reading, name):
            facts += _ethtool_facts(reading, name)
    return facts


def _kernel_facts(reading: Reading, name: str) -> list[Fact]:
    head, folder = f"interface.{name}", f"{_NET}/{name}"
    driver = reading.links.get(f"{folder}/device/driver")
    no_driver = None if driver else "no device stands behind it"
    return [
        reading.fact(f"{head}.mtu_bytes", f"{folder}/mtu", int),
        reading.fact(f"{head}.state", f"{folder}/operstate"),
        *_rate(reading, name),
        reading.fact(f"{head}.mac", f"{folder}/address"),
        reading.fact(f"{head}.tx_queue_frames", f"{folder}/tx_queue_len", int),
        reading.fact(f"{head}.gro_flush_timeout_ns", f"{folder}/gro_flush_timeout", int),
        reading.fact(f"{head}.numa_node", f"{folder}/device/numa_node", _numa_node),
        Fact(f"{head}.driver", driver.rsplit("/", 1)[-1] if driver else None, no_driver),
    ]


def _rate(reading: Reading, name: str) -> list[Fact]:
    """Return speed and duplex; a link that is down has none."""
    names = (f"interface.{name}.speed_bits_per_s", f"interface.{name}.duplex")
    if is_down(reading, name):
        return [Fact(one, None, "the link is down", is_offered=False) for one in names]
    return [
        reading.fact(names[0], f"{_NET}/{name}/speed", _speed_bits_per_s),
        reading.fact(names[1], f"{_NET}/{name}/duplex"),
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


def _addresses(reading: Reading) -> tuple[dict[str, tuple[str, str]], str | None]:
    """Return the first IPv4 address of each interface with its network, and why there are none at all."""
    text, problem = reading.output("ip -j -4 addr")
    if problem:
        return {}, problem
    found: dict[str, tuple[str, str]] = {}
    for one in Foreign.json(text or "[]", "ip -j -4 addr").items():
        infos = one.get("addr_info")
        for info in infos.items() if infos else ():
            if (local := info.get("local")) is not None:
                bits = info.get("prefixlen")
                network = f"{local.text()}/{bits.whole(most=32) if bits is not None else 32}"
                told = (local.text(), str(ipaddress.ip_interface(network).network))
                found.setdefault(one.at("ifname").text(), told)
    return found, None


def _built_on(reading: Reading, name: str) -> list[Fact]:
    """Return the interfaces that a VLAN, a bond or a bridge is built on, and how a bond shares them."""
    head, folder = f"interface.{name}", f"{_NET}/{name}"
    below = sorted(path.rpartition("/lower_")[2] for path in reading.links if path.startswith(f"{folder}/lower_"))
    facts = [Fact(f"{head}.below", " ".join(below))] if below else []
    if f"{folder}/bonding/mode" in reading.files:
        facts.append(reading.fact(f"{head}.bond_mode", f"{folder}/bonding/mode", lambda text: text.split()[0]))
    return facts


def _ethtool_facts(reading: Reading, name: str) -> list[Fact]:
    current = "Current hardware settings"
    # Of IPv4's own line, where it is: the one above it says `on` while any kind of TCP is cut.
    is_plain = f"\t{_TSO_OF_IPV4}:" not in reading.output(f"ethtool -k {name}")[0]
    offloads = (
        _OFFLOADS if is_plain else {_TSO_OF_IPV4 if fact == "tso" else key: fact for key, fact in _OFFLOADS.items()}
    )
    facts = _told(reading, name, "-k", offloads, _is_on) + _told(reading, name, "-c", _COALESCING, int)
    facts.append(_adaptive(reading, name))
    facts += _told(reading, name, "-a", {"RX": "rx_pause", "TX": "tx_pause"}, _is_on)
    facts += _told(reading, name, "-g", {"RX": "rx_ring_frames", "TX": "tx_ring_frames"}, int, after=current)
    return facts + _told(reading, name, "-i", {"version": "driver_version", "firmware-version": "firmware_version"})


def _told(
    reading: Reading,
    name: str,
    option: str,
    wanted: Mapping[str, str],
    convert: Callable[[str], Value] = str,
    *,
    after: str = "",
) -> list[Fact]:
    """Return what ethtool tells with an option, of its lines behind a title."""
    command = f"ethtool {option} {name}"
    text, problem = reading.output(command)
    pairs = key_values(text.partition(after)[2] if after else text)
    return [
        reading.missing(f"interface.{name}.{fact}", command)
        if problem
        else looked_up(f"interface.{name}.{fact}", pairs, key, convert)
        for key, fact in wanted.items()
    ]


def _adaptive(reading: Reading, name: str) -> Fact:
    fact, command = f"interface.{name}.rx_coalesce_adaptive", f"ethtool -c {name}"
    text, _ = reading.output(command)
    match = re.search(r"^Adaptive RX: +(\S+)", text, re.MULTILINE)
    if match is None:
        return reading.missing(fact, command)
    return Fact(fact, None, "not told", is_offered=False) if match[1] == "n/a" else Fact(fact, match[1] == "on")


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
            "bonding/mode",
        )
    ),
    links=(f"{_NET}/*/device/driver", f"{_NET}/*/lower_*"),
    commands=(
        ("ip", "-j", "-4", "addr"),
        *(("ethtool", option, "{interface}") for option in ("-k", "-c", "-a", "-g", "-i")),
    ),
)  # fmt: skip
