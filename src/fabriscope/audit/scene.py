"""What is audited: hosts, devices, and the cables between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabriscope.audit import alike
from fabriscope.audit.intents import Intent
from fabriscope.model.device import Device, port_name
from fabriscope.model.host import HostFacts


@dataclass(frozen=True)
class Cable:
    """One end on a host, the other on a device."""

    host: str
    interface: str
    device: str
    port: str


@dataclass(frozen=True)
class Scene:
    """All that is known."""

    hosts: Mapping[str, HostFacts]
    devices: Mapping[str, Device] = field(default_factory=dict)
    intents: Sequence[Intent] = ()
    """What a plan asks for."""

    @cached_property
    def kinds(self) -> Sequence[Sequence[str]]:
        """Return the hosts that should be alike, group by group."""
        return alike.kinds(self.hosts)

    @cached_property
    def names(self) -> Sequence[str]:
        """Return the names of all facts of hosts."""
        return tuple(dict.fromkeys(fact.name for known in self.hosts.values() for fact in known.facts))

    @cached_property
    def cables(self) -> Sequence[Cable]:
        """Return the cables that LLDP of either end tells and that lead to a known device.

        Where the ends contradict each other neither is believed.
        """
        heard = {**self._heard_by_devices, **self._heard_by_hosts}
        both = self._heard_by_devices.keys() & self._heard_by_hosts.keys()
        wrong = {end for end in both if self._heard_by_devices[end] != self._heard_by_hosts[end]}
        return [Cable(*end, *other) for end, other in heard.items() if end not in wrong]

    @cached_property
    def conflicts(self) -> Sequence[tuple[str, str]]:
        """Return hosts with cables whose ends name other peers, each with what they say in a sentence."""
        here, there = self._heard_by_hosts, self._heard_by_devices
        return [
            (end[0], f"{' '.join(end)} hears {' '.join(here[end])}, and {' '.join(there[end])} hears it")
            for end in sorted(here.keys() & there.keys())
            if here[end] != there[end]
        ]

    @cached_property
    def _heard_by_hosts(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return host and interface to device and port, as hosts heard them."""
        found = {}
        for host, known in self.hosts.items():
            for name in known.values:
                match = re.fullmatch(r"lldp\.(.+)\.system", name)
                device = self._device(known.text(name)) if match else None
                if match and device:
                    names = [known.text(f"lldp.{match[1]}.{one}") for one in ("port", "port_description")]
                    port = next((port_name(one) for one in names if one and port_name(one) in device.ports), None)
                    if port:
                        found[(host, match[1])] = (device.name, port)
        return found

    @cached_property
    def _heard_by_devices(self) -> dict[tuple[str, str], tuple[str, str]]:
        by_name: dict[str, str] = {}
        for host, known in self.hosts.items():
            by_name |= {_short(own): host for own in (host, known.text("kernel.host_name")) if own}
        found = {}
        for device in self.devices.values():
            for port in device.ports:
                peer = by_name.get(_short(device.text(port, "neighbour_system")))
                interface = self._interface(peer, device, port) if peer else None
                if peer and interface:
                    found[(peer, interface)] = (device.name, port)
        return found

    def _interface(self, host: str, device: Device, port: str) -> str | None:
        """Return the interface that a device names, by name or by its hardware address."""
        known = self.hosts[host].values
        said = [device.text(port, name) for name in ("neighbour_port", "neighbour_port_description")]
        for one in (words for words in said if words):
            if f"interface.{one}.mtu_bytes" in known:
                return one
            digits = re.sub(r"[^0-9a-f]", "", one.lower())
            for name, value in known.items():
                if name.endswith(".mac") and len(digits) == 12 and digits == re.sub(r"[^0-9a-f]", "", str(value)):
                    return name.removeprefix("interface.").removesuffix(".mac")
        return None

    def _device(self, name: str | None) -> Device | None:
        wanted = _short(name)
        said = (
            one
            for one in self.devices.values()
            if wanted and wanted in (_short(one.name), _short(one.known.text("device.host_name")))
        )
        return next(said, None)


def _short(name: str | None) -> str:
    """Return a host's name without its domain, in small letters."""
    return (name or "").partition(".")[0].lower()
