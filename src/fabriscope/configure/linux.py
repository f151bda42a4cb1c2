"""Linux hosts: `dcb` and files of the kernel for every card, `mlnx_qos` where only that program tells.

From iproute2's manual pages and Mellanox/mlnx-tools.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fabriscope.configure import fec
from fabriscope.configure.step import (
    CNP_DSCP,
    CNP_PRIORITY,
    SHARE_PERCENT,
    Dialect,
    Ready,
    Saved,
    Step,
    Wanted,
    files,
    filled,
    lossy,
)
from fabriscope.model.host import Fact, HostFacts
from fabriscope.model.priorities import paired, pairs, priorities

WORDS = {
    "mtu": "ip link set dev PORT mtu {size}",
    "pfc on": "dcb pfc set dev PORT prio-pfc {priority}:on",
    "pfc off": "dcb pfc set dev PORT prio-pfc {priority}:off",
    "trust": "mlnx_qos -i PORT --trust {trust}",
    "map": "dcb app replace dev PORT dscp-prio {dscp}:{priority}",
    "unmap": "dcb app del dev PORT dscp-prio {dscp}:{priority}",
    "tc": "dcb ets set dev PORT prio-tc {priority}:{queue}",
    "pause": "ethtool -A PORT {direction} {state}",
    "dcbx": "dcb dcbx set dev PORT {flags}",
    "fec": "ethtool --set-fec PORT encoding {fec}",
    "file": "echo {value} > {path}",
}


_FEC = {"rs": "rs", "fc": "baser", "off": "off"}
_MTU = ".mtu_bytes"


def pfc(interface: str, wanted: set[int]) -> str:
    """Return how an interface of a host gets PFC on some priorities alone."""
    return " ".join(
        (f"dcb pfc set dev {shlex.quote(interface)} prio-pfc all:off", *(f"{one}:on" for one in sorted(wanted)))
    )


class _Interface:
    """What is known of an interface; a fact that could not be read is remembered with the reason."""

    def __init__(self, saved: Saved, name: str) -> None:
        self.name, self._saved = name, saved
        self.unread: list[str] = []
        self.remarks: list[str] = []

    def get(self, fact: str) -> str | int | float | bool | None:
        value = self._saved.known.values.get(fact)
        if value is None:
            unknown = self._saved.known.unknown.get(fact)
            why = (unknown.unknown_because if unknown else "the host did not tell it") or "unknown"
            self.unread.append(f"{fact} is not known ({why}): nothing is set of it")
        return value

    def is_absent(self, fact: str) -> bool:
        """Return whether a table is known to be empty: the program that tells it ran, and told none."""
        unknown = self._saved.known.unknown.get(fact)
        return unknown is not None and unknown.unknown_because == "not told"

    def step(
        self,
        what: str,
        key: str,
        new: Mapping[str, object],
        old: Mapping[str, object],
        touches: str = "",
        undone: str = "",
    ) -> Step:
        name = shlex.quote(self.name)
        do, undo = filled(WORDS[key], name, **new), filled(WORDS[undone or key], name, **old)
        return Step(f"{what} of {self.name}", (do,), (undo,), touches=touches)

    def file(self, what: str, path: str, new: int, old: object, touches: str = "") -> Step:
        where = shlex.quote(path)
        return self.step(what, "file", {"value": new, "path": where}, {"value": old, "path": where}, touches)


def _ready(wanted: Wanted, saved: Saved) -> Ready:
    remarks: list[str] = []
    doubts: list[str] = []
    if is_blank := saved.is_blank:
        remarks.append(
            "a card of Mellanox (mlx5_0, port 1) with its driver's defaults; others have no mlnx_qos and no such files"
        )
        saved = replace(saved, known=_untouched(saved.named("eth0")))
    rdma = _rdma(saved)
    names = list(saved.patterns) or sorted({interface for _, interface in rdma})
    steps: list[Step] = []
    there = sorted({name.split(".", 1)[1].removesuffix(_MTU) for name in saved.known.values if _is_mtu(name)})
    doubts += [] if names else ["no interface has an RDMA device: name one with --interface"]
    for name in names:
        if f"interface.{name}.mtu_bytes" not in saved.known.values:
            doubts.append(
                f"there is no interface {name} whose MTU could be read; there are {', '.join(there) or 'none'}"
            )
            continue
        one = _Interface(saved, name)
        steps += [*_link(wanted, one, saved), *_dcb(wanted, one, saved), *_ecn(wanted, one)]
        for device in (where for where, interface in rdma if interface == name):
            steps += _marks(wanted, one, device)
        doubts += [] if is_blank else dict.fromkeys(one.unread)
        remarks += one.remarks
    remarks += [
        "where no class is set for all RDMA, programs mark by themselves:"
        f" UCX_IB_TRAFFIC_CLASS={wanted.tos}, NCCL_IB_TC={wanted.tos}",
        "what dcb, mlnx_qos, ethtool, ip and /sys set is lost at a reboot: a unit of systemd sets it again",
    ]
    proofs = tuple(_proofs([one for one in names if one in there], rdma))
    return Ready(tuple(steps), proofs, tuple(remarks), tuple(names), tuple(there), tuple(doubts))


def _is_mtu(fact: str) -> bool:
    return fact.startswith("interface.") and fact.endswith(_MTU)


def _untouched(names: Sequence[str]) -> HostFacts:
    """Return what is known of a card as its driver sets it up."""
    facts = []
    for at, name in enumerate(names):
        facts += [Fact(f"interface.{name}.{one}_pause", True) for one in ("rx", "tx")]
        facts += [Fact(f"interface.{name}.mtu_bytes", 1500), Fact(f"rdma.mlx5_{at}.1.interface", name)]
        facts.append(Fact(f"rdma.mlx5_{at}.1.traffic_class", 0))
        told = {"trust": "pcp", "pfc_priorities": "none", "roce_np_priorities": "none", "roce_rp_priorities": "none",
                "priority_to_tc": paired(dict.fromkeys(range(8), 0)), "dcbx": "lld_managed cee ieee"}  # fmt: skip
        facts += [Fact(f"dcb.{name}.{key}", value) for key, value in told.items()]
        facts += [Fact(f"dcb.{name}.dscp_to_priority", None, "not told"), Fact(f"link.{name}.fec_configured", "auto")]
    return HostFacts(tuple(facts))


def _rdma(saved: Saved) -> list[tuple[tuple[str, str], str]]:
    """Return device and port of the RDMA devices, each with its interface."""
    matches = (
        (re.fullmatch(r"rdma\.(.+)\.(\d+)\.interface", name), value) for name, value in saved.known.values.items()
    )
    return [((match[1], match[2]), value) for match, value in matches if match and isinstance(value, str)]


def _link(wanted: Wanted, one: _Interface, saved: Saved) -> Iterator[Step]:
    size = one.get(f"interface.{one.name}.mtu_bytes")
    if size is not None and size != wanted.mtu_bytes:
        touches = "all that this interface carries; some drivers drop the link for a moment"
        yield one.step("MTU", "mtu", {"size": wanted.mtu_bytes}, {"size": size}, touches)
    if wanted.fec:
        now = one.get(f"link.{one.name}.fec_configured")
        port, kind = shlex.quote(one.name), wanted.fec if now else ""
        yield from fec.of_command(kind, port, WORDS["fec"], _FEC, str(now), WORDS["fec"])
    for direction in ("rx", "tx"):
        if saved.known.values.get(f"interface.{one.name}.{direction}_pause") is True:
            words = {"direction": direction, "state": "off"}
            touches = "priorities without PFC are no longer paused; the link may go down for a moment"
            yield one.step(f"{direction} pause", "pause", words, {**words, "state": "on"}, touches)


def _dcb(wanted: Wanted, one: _Interface, saved: Saved) -> Iterator[Step]:
    head = f"dcb.{one.name}"
    dcbx = saved.known.values.get(f"{head}.dcbx")
    if isinstance(dcbx, str) and "lld_managed" in dcbx:
        touches = "the card's firmware no longer takes what the switch says by DCBX"
        yield one.step("DCBX", "dcbx", {"flags": "host ieee"}, {"flags": dcbx.replace("_", "-")}, touches)
    trust = one.get(f"{head}.trust")
    if trust is not None and trust != "dscp":
        touches = "frames are no longer sorted by their priority tag (PCP)"
        yield one.step("trust", "trust", {"trust": "dscp"}, {"trust": trust}, touches)
    table = f"{head}.dscp_to_priority"
    known = pairs(str(saved.known.values.get(table) or ""))
    is_known = table in saved.known.values and (known or one.is_absent(table))
    if is_known and known.get(wanted.dscp) != wanted.priority:
        new = {"dscp": wanted.dscp, "priority": wanted.priority}
        old = known.get(wanted.dscp)
        undone = "unmap" if old is None else "map"
        touches = "all that is marked so, of TCP too"
        yield one.step(
            f"DSCP {wanted.dscp}",
            "map",
            new,
            {**new, "priority": wanted.priority if old is None else old},
            touches,
            undone,
        )
    elif not is_known:
        one.get(table)
    lossless = one.get(f"{head}.pfc_priorities")
    if lossless is not None:
        yield from _lossless(wanted, one, priorities(str(lossless)))
    yield from _ets(wanted, one, saved)


def _lossless(wanted: Wanted, one: _Interface, on: set[int]) -> Iterator[Step]:
    if wanted.priority not in on:
        touches = "the card's buffers are carved anew"
        new = {"priority": wanted.priority}
        yield one.step(f"PFC on priority {wanted.priority}", "pfc on", new, new, touches, "pfc off")
    for other in sorted(on - {wanted.priority}) if wanted.is_alone else ():
        new = {"priority": other}
        yield one.step(f"PFC on priority {other}", "pfc off", new, new, lossy(other), "pfc on")
    one.remarks += wanted.staying(on, f" of {one.name}")


def _ets(wanted: Wanted, one: _Interface, saved: Saved) -> Iterator[Step]:
    head = f"dcb.{one.name}"
    classes = pairs(str(one.get(f"{head}.priority_to_tc") or ""))
    if not classes:
        return
    queue = own = classes.get(wanted.priority, 0)
    taken = {tc for other, tc in classes.items() if other != wanted.priority}
    if own in taken:
        queue = next(at for at in (wanted.priority, *range(8)) if at not in taken)
        new = {"priority": wanted.priority, "queue": queue}
        yield one.step(f"traffic class of priority {wanted.priority}", "tc", new, {**new, "queue": own})
    algorithms = str(saved.known.values.get(f"{head}.tc_algorithms") or "").split()
    shares = str(saved.known.values.get(f"{head}.tc_shares_percent") or "").split()
    if len(algorithms) == 8 and "ets" in algorithms and algorithms[queue] == "strict":
        one.remarks.append(f"traffic class {queue} of {one.name} is strict and stays so")
    if len(algorithms) == len(shares) == 8 and "ets" not in algorithms:
        rest = classes.get(0 if wanted.priority else 1, 0)
        yield _shares(one, (rest, queue, classes.get(CNP_PRIORITY, 0)), algorithms, shares)


def _shares(one: _Interface, of: tuple[int, int, int], algorithms: Sequence[str], shares: Sequence[str]) -> Step:
    """Return what lets the classes of all else and of the data share what the class of CNP leaves, which goes first."""
    rest, queue, cnp = of
    percent: dict[int, object] = {rest: 100 - SHARE_PERCENT, queue: SHARE_PERCENT}
    kinds: dict[int, object] = dict.fromkeys(percent, "ets")
    if cnp in kinds:
        one.remarks.append(f"CNP (priority {CNP_PRIORITY}) shares traffic class {cnp} of {one.name} with other traffic")
    else:
        kinds[cnp] = "strict"

    def typed(kind: Mapping[int, object], share: Mapping[int, object]) -> str:
        bandwidth = " ".join(f"{at}:{share[at]}" for at in percent)
        algorithm = " ".join(f"{at}:{kind[at]}" for at in kinds)
        return f"dcb ets set dev {shlex.quote(one.name)} tc-tsa {algorithm} tc-bw {bandwidth}"

    do, undo = typed(kinds, percent), typed(dict(enumerate(algorithms)), dict(enumerate(shares)))
    touches = f"traffic classes {rest} and {queue} share the link half each in place of a strict order"
    return Step(f"shares of {one.name}", (do,), (undo,), touches=touches)


def _ecn(wanted: Wanted, one: _Interface) -> Iterator[Step]:
    """Yield what makes a Mellanox card slow down as ECN asks for; its driver alone has these files."""
    folder = f"/sys/class/net/{one.name}/ecn"
    for role in ("roce_np", "roce_rp"):
        on = one.get(f"dcb.{one.name}.{role}_priorities")
        if on is not None and wanted.priority not in priorities(str(on)):
            yield one.file(
                f"ECN ({role}) on priority {wanted.priority}", f"{folder}/{role}/enable/{wanted.priority}", 1, 0
            )
    dscp = one.get(f"dcb.{one.name}.cnp_dscp")
    if dscp is not None and dscp != CNP_DSCP:
        yield one.file("DSCP of CNP", f"{folder}/roce_np/cnp_dscp", CNP_DSCP, dscp)


def _marks(wanted: Wanted, one: _Interface, device: tuple[str, str]) -> Iterator[Step]:
    name, number = device
    tos = one.get(f"rdma.{name}.{number}.traffic_class")
    if tos is not None and tos != wanted.tos:
        path = f"/sys/class/infiniband/{name}/tc/{number}/traffic_class"
        yield one.file(
            f"ToS of all RDMA by {name}", path, wanted.tos, tos, "every program over this device, whatever it asks for"
        )


def _proofs(names: list[str], rdma: list[tuple[tuple[str, str], str]]) -> Iterator[str]:
    for name in map(shlex.quote, names):
        yield from (f"dcb -j {table} show dev {name}" for table in ("pfc", "app", "ets", "dcbx", "buffer"))
        yield from (f"mlnx_qos -i {name}", f"ethtool -a {name}", f"ip -j link show dev {name}")
        yield f"grep -r . /sys/class/net/{name}/ecn/roce_np /sys/class/net/{name}/ecn/roce_rp"
    for (device, number), _ in rdma:
        yield f"cat {shlex.quote(f'/sys/class/infiniband/{device}/tc/{number}/traffic_class')}"
        yield f"rdma -j statistic show link {shlex.quote(f'{device}/{number}')}"
    yield "ibv_devinfo"


_write = partial(files, comment="#", suffix=".sh", before=("set -e",))
DIALECT = Dialect("linux", WORDS, _ready, _write, r"(?!\.{1,2}$)[^\s/:\0]{1,15}", "eth0")
