"""Which processors take the interrupts of each interface's queues."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.hosts.facts.link import hardware
from fabriscope.model.host import Fact

_IRQS = "/proc/irq"


def _facts(reading: Reading) -> list[Fact]:
    text = reading.files.get("/proc/interrupts", "")
    actions = {number.strip(): rest for number, _, rest in (line.partition(":") for line in text.splitlines()[1:])}
    facts = []
    for name in hardware(reading):
        address = reading.links.get(f"/sys/class/net/{name}/device", "").rpartition("/")[2]
        numbers = [one for one, rest in actions.items() if one.isdecimal() and _is_of(rest, name, address)]
        cpus = [reading.files.get(f"{_IRQS}/{one}/effective_affinity_list", "").strip() for one in numbers]
        head, why = f"interrupt.{name}", "/proc/interrupts names none of it" if text else "/proc/interrupts: not there"
        known = sorted({cpu for cpu in cpus if cpu}, key=lambda one: (len(one), one))
        facts += [
            Fact(f"{head}.count", len(numbers) or None, None if numbers else why),
            Fact(f"{head}.cpus", ",".join(known) or None, None if known else why),
        ]
    return facts


def _is_of(rest: str, name: str, address: str) -> bool:
    """Return whether an interrupt's actions name an interface (`eth0-TxRx-3`), its device, or its address."""
    words = rest.replace(",", " ").split()
    return any(
        word == name
        or word.startswith((f"{name}-", f"{name}:", f"{address}-" if address else name + "-"))
        or (bool(address) and word.endswith(f"@pci:{address}"))
        for word in words
    )


FACTS = Group(
    "interrupt",
    _facts,
    globs=("/proc/interrupts", f"{_IRQS}/*/effective_affinity_list"),
    links=("/sys/class/net/*/device", "/sys/class/net/*/device/driver"),
)
