"""The slot of each interface's device: how wide and fast its link to the processor is, and could be; the IOMMU."""

from __future__ import annotations

from collections.abc import Callable

from fabriscope.hosts.access import Reading
from fabriscope.hosts.access.reading import Value
from fabriscope.hosts.facts import _capabilities
from fabriscope.hosts.facts._reading import Group
from fabriscope.hosts.facts.link import hardware
from fabriscope.model.host import Fact

_NET = "/sys/class/net"
_FILES = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
_SLOT_FILES = {"max_link_speed": "most_transfers_per_s", "max_link_width": "most_lane_count"}
"""Of the port above a card, to the facts that they are."""
_IOMMU = "/sys/kernel/iommu_groups"
_DRIVEN = "/sys/class/iommu/"
"""Where the kernel lists the IOMMUs that it drives."""


def _facts(reading: Reading) -> list[Fact]:
    facts: list[Fact] = []
    told = _capabilities.blocks(reading)
    for name in hardware(reading):
        head, folder = f"pcie.{name}", f"{_NET}/{name}/device"
        if not any(f"{folder}/{file}" in reading.files for file in _FILES):
            continue  # no card of a slot: a device of a hypervisor
        address = reading.links.get(folder, "").rpartition("/")[2]
        facts += [
            Fact(f"{head}.address", address or None, None if address else f"{folder}: no link"),
            reading.fact(f"{head}.transfers_per_s", f"{folder}/current_link_speed", _transfers_per_s),
            reading.fact(f"{head}.lane_count", f"{folder}/current_link_width", int),
            reading.fact(f"{head}.most_transfers_per_s", f"{folder}/max_link_speed", _transfers_per_s),
            reading.fact(f"{head}.most_lane_count", f"{folder}/max_link_width", int),
            _slot(reading, name, "max_link_speed", _transfers_per_s),
            _slot(reading, name, "max_link_width", int),
            *_capabilities.of_card(reading, told, head, address),
        ]
    return [*facts, _capabilities.gpus(reading, told), _iommu(reading)]


def _slot(reading: Reading, name: str, file: str, convert: Callable[[str], Value]) -> Fact:
    """Return what the port above a card could do; a virtual machine has none."""
    fact, path = f"pcie.{name}.slot_{_SLOT_FILES[file]}", f"{_NET}/{name}/device/../{file}"
    if path in reading.files:
        return reading.fact(fact, path, convert)
    return Fact(fact, None, f"{path}: not there", is_offered=False)


def _iommu(reading: Reading) -> Fact:
    """Return how DMA is translated; `off` where the kernel drives no IOMMU."""
    name = "pcie.iommu"
    kinds = {text.strip() for path, text in reading.files.items() if path.startswith(_IOMMU)}
    if kinds:
        return Fact(name, " ".join(sorted(kinds)))
    is_driven = any(path.startswith(_DRIVEN) for path in reading.links)
    if is_driven or not any(path.startswith("/sys/") for path in reading.files):
        return Fact(name, None, f"{_IOMMU} lists no group")
    return Fact(name, "off")


def _transfers_per_s(text: str) -> float:
    """Return transfers per second and lane from `16.0 GT/s PCIe`."""
    number, unit = text.split()[:2]
    if unit != "GT/s":
        raise ValueError("no GT/s")
    return float(number) * 1e9


FACTS = Group(
    "pcie",
    _facts,
    globs=(
        *(f"{_NET}/*/device/{file}" for file in _FILES),
        *(f"{_NET}/*/device/../{file}" for file in _SLOT_FILES),
        f"{_IOMMU}/*/type",
    ),
    links=(f"{_NET}/*/device", f"{_NET}/*/device/driver", f"{_DRIVEN}*", f"{_capabilities.DEVICES}/*"),
    commands=(tuple(_capabilities.LSPCI.split()),),
)
