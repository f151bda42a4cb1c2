"""What a person means by `--expect eth1`, `mlx5_0`, `10.1.0.0/24`, `roce`: which expectations the hosts have of it."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabriscope.model.counters import Expectation, Watch
from fabriscope.model.errors import HostError

TCP, UDP, SHM = "tcp", "udp", "shm"
RDMA = ("roce", "iwarp", "ib")
TRANSPORTS = (TCP, UDP, *RDMA, SHM)
_IWARP_DRIVERS = ("siw", "cxgb", "iw_", "i40iw", "nes")
"""What devices of drivers that know no RoCE are called."""


def meant(text: str, watches: Mapping[str, Watch], fabrics: Mapping[str, str] | None = None) -> tuple[Expectation, ...]:
    """Return the expectations any of which is enough; of an empty `text`, one that anything fulfils.

    `text` is an interface, an RDMA device or port of one, a network, a transport, `TRANSPORT:` before any of the
    others, or one of `fabrics` (name to interface). Raises HostError where the hosts have no such thing.
    """
    if not text:
        return (Expectation("", ""),)
    wanted, colon, rest = text.partition(":")
    if wanted not in TRANSPORTS or (colon and not rest) or _is_network(text):
        wanted, rest = "", text
    if not rest:
        if wanted in RDMA and not any(
            wanted == port_kind(port, one) for one in watches.values() for port in _ports(one)
        ):
            raise HostError(
                f"no RDMA device of {', '.join(watches)} speaks {wanted}", fix=f"known: {_known(watches, fabrics)}"
            )
        return (Expectation(wanted, ""),)
    named = _named(rest, watches, fabrics or {})
    if wanted in (TCP, UDP):
        found = tuple(replace(one, transport=wanted, takes_datagrams=False) for one in named if one.transport == TCP)
    else:
        found = tuple(one for one in named if wanted in ("", one.transport))
    if not found:
        raise HostError(
            f"nothing on {', '.join(watches)} is what --expect {text} says", fix=f"known: {_known(watches, fabrics)}"
        )
    return found


def _named(text: str, watches: Mapping[str, Watch], fabrics: Mapping[str, str]) -> Iterator[Expectation]:
    if _is_network(text):
        for chosen in _in_network(text, watches):
            yield from _over(text, chosen, watches)
        return
    ports = {host: _port_named(text, watch) for host, watch in watches.items()}
    if all(ports.values()):
        yield from _over_rdma(text, {host: str(port) for host, port in ports.items()}, watches)
        return
    interface = fabrics.get(text, text)
    known = {host: _interfaces(watch) for host, watch in watches.items()}
    lacking = [host for host, names in known.items() if interface not in names]
    if lacking:
        where = f"host {lacking[0]}" if len(lacking) < len(watches) else ""
        raise HostError(
            f"there is no interface, RDMA device, network or transport {text!r}"
            if not where
            else f"it has no {text!r}, which others have",
            where=where or None,
            fix=f"known: {_known({lacking[0]: watches[lacking[0]]}, fabrics)}",
        )
    _must_have_addresses(interface, watches)
    yield from _over(text, dict.fromkeys(watches, interface), watches)


def _must_have_addresses(interface: str, watches: Mapping[str, Watch]) -> None:
    """Raise HostError where an interface has none: it is beneath a bridge, a bond or a VLAN, or goes nowhere."""
    for host, watch in watches.items():
        if not watch.addresses.get(interface):
            named = [name for name, every in watch.addresses.items() if every and name != "lo"]
            raise HostError(
                f"its {interface} has no address; connections go by one that has (a bridge, bond or VLAN over it)",
                where=f"host {host}",
                fix=f"name one of {', '.join(named)}" if named else f"give {interface} an address",
            )


def _over(name: str, interfaces: Mapping[str, str], watches: Mapping[str, Watch]) -> Iterator[Expectation]:
    """Yield what may go over an interface: TCP, and RDMA where every host has a port over it."""
    yield Expectation(TCP, name, interfaces, takes_datagrams=True)
    ports = {
        host: next((port for port, over in watch.rdma_interfaces.items() if over == interfaces[host]), None)
        for host, watch in watches.items()
    }
    if all(ports.values()):
        yield from _over_rdma(name, {host: str(port) for host, port in ports.items()}, watches)


def _over_rdma(name: str, ports: Mapping[str, str], watches: Mapping[str, Watch]) -> Iterator[Expectation]:
    kinds = {port_kind(port, watches[host]) for host, port in ports.items()}
    over = {host: watches[host].rdma_interfaces.get(port, "") for host, port in ports.items()}
    interfaces = {host: interface for host, interface in over.items() if interface}
    for kind in sorted(kinds):
        yield Expectation(kind, name, interfaces, ports)


def port_kind(port: str, watch: Watch) -> str:
    """Return what an RDMA port speaks: `roce`, `iwarp` or `ib`."""
    if port.startswith(_IWARP_DRIVERS):
        return "iwarp"
    return "roce" if port in watch.rdma_interfaces else "ib"


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _in_network(text: str, watches: Mapping[str, Watch]) -> Iterator[dict[str, str]]:
    """Yield host to an interface that has an address in a network; raises HostError where a host has none.

    A host may have several such (an address besides its own): first come those that most hosts have.
    """
    network = ipaddress.ip_network(text, strict=False)
    every = {
        host: [
            interface
            for interface, addresses in watch.addresses.items()
            if any(ipaddress.ip_address(one.partition("/")[0].partition("%")[0]) in network for one in addresses)
        ]
        for host, watch in watches.items()
    }
    for host, found in every.items():
        if not found:
            fix = f"known: {_known({host: watches[host]}, None)}"
            raise HostError(f"it has no address in {text}", where=f"host {host}", fix=fix)
    count = Counter(interface for found in every.values() for interface in found)
    ordered = {host: sorted(found, key=lambda name: -count[name]) for host, found in every.items()}
    for place in range(max(map(len, ordered.values()))):
        yield {host: found[min(place, len(found) - 1)] for host, found in ordered.items()}


def _interfaces(watch: Watch) -> list[str]:
    return list(watch.readings[0].interfaces) if watch.readings else list(watch.addresses)


def _ports(watch: Watch) -> list[str]:
    return list(watch.readings[0].rdma) if watch.readings else list(watch.rdma_interfaces)


def _port_named(text: str, watch: Watch) -> str | None:
    return next((port for port in _ports(watch) if text in (port, port.partition("/")[0])), None)


def _in_common(names: Mapping[str, list[str]]) -> list[str]:
    every = list(names.values())
    return [name for name in every[0] if all(name in one for one in every)] if every else []


def _known(watches: Mapping[str, Watch], fabrics: Mapping[str, str] | None) -> str:
    interfaces = _in_common({host: _interfaces(watch) for host, watch in watches.items()})
    ports = _in_common({host: [one.partition("/")[0] for one in _ports(watch)] for host, watch in watches.items()})
    return ", ".join(dict.fromkeys([*(fabrics or {}), *interfaces, *ports, *TRANSPORTS]))
