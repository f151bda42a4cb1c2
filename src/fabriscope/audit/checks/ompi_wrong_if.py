"""Open MPI's TCP does not take an interface that has one address on several hosts."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.audit.check import Check, Result
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Finding, Unseen, Witness

_CHOICES = ("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude")


def _look(scene: Scene, check: Check) -> Iterator[Result | None]:
    by_address: dict[str, list[tuple[str, str]]] = {}
    for host, known in scene.hosts.items():
        for name, value in known.values.items():
            if name.startswith("interface.") and name.endswith(".ipv4") and not str(value or "127.").startswith("127."):
                interface = name.removeprefix("interface.").removesuffix(".ipv4")
                by_address.setdefault(str(value), []).append((host, interface))
    for address, places in by_address.items():
        hosts = dict.fromkeys(host for host, _ in places)
        if len(hosts) < 2:
            continue
        for host, interface in places:
            known = scene.hosts[host]
            if known.text("software.open_mpi") is None:
                continue
            if known.values.get("environment.variables") is None:
                yield Unseen(check.name, (host,), "its environment is not told")
            elif not any(known.values.get(f"environment.{name}") for name in _CHOICES):
                other = next(one for one in places if one[0] != host)
                seen = [Witness(" ".join(one), "ipv4", address, f"ip addr show dev {one[1]}")
                        for one in ((host, interface), other)]  # fmt: skip
                what = f"{interface} has an address that other hosts have, too, and nothing tells Open MPI to leave it"
                fix = f"export {_CHOICES[1]}=lo,{interface}; export OMPI_MCA_oob_tcp_if_exclude=lo,{interface}"
                yield Finding(check.name, check.severity, interface, (host,), what, tuple(seen), fix)
            else:
                yield None


CHECK = Check(
    "ompi-wrong-if",
    "error",
    "Open MPI's TCP does not take an interface that has one address on several hosts",
    why="ranks connect to themselves: the job hangs at its start",
    source="open-mpi/ompi#6377, #4963, #12232",
    look=_look,
)
