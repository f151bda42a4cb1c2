"""Priorities of each interface that has a device: flow control (PFC), shares (ETS), trust, DSCP map, DCBX, ECN of RoCE.

`dcb` asks the kernel; what it does not tell (trust of Mellanox cards, cable length, rate limits) `mlnx_qos` adds, and
where neither tells anything Broadcom's `niccli` does.
"""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._card_programs import of_mlnx_qos, of_niccli
from fabriscope.hosts.facts._reading import Group, is_down
from fabriscope.hosts.facts.link import hardware
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import Fact
from fabriscope.model.priorities import listed, paired

_NET = "/sys/class/net"
_TABLES = ("pfc", "ets", "app", "buffer", "dcbx")
_TABLE_OF = {
    "trust": "",
    "pfc_priorities": "pfc",
    "dscp_to_priority": "app",
    "priority_to_tc": "ets",
    "willing": "ets",
    "dcbx": "dcbx",
    "rate_limits": "",
}
"""Fact that is always told or missed to the table of `dcb` that has it; those without one `mlnx_qos` alone tells."""
_DCBX_FLAGS = ("host", "lld_managed", "cee", "ieee", "static")


def _facts(reading: Reading) -> list[Fact]:
    facts = []
    for name in (name for name in hardware(reading) if not is_down(reading, name)):
        known, problems = _of_kernel(reading, name)
        of_maker, _ = reading.output(f"mlnx_qos -i {name}")
        of_other, _ = reading.output(f"niccli -dev {name} getqos")
        known = {**of_niccli(of_other), **known, **of_mlnx_qos(of_maker)}
        for one in (*_TABLE_OF, *(key for key in known if key not in _TABLE_OF)):
            fact, table = f"dcb.{name}.{one}", _TABLE_OF.get(one, "")
            if one in known:
                facts.append(Fact(fact, known[one]))
            elif table in problems:
                facts.append(Fact(fact, None, problems[table]))
            else:
                command = f"dcb -j {table} show dev {name}" if table else f"mlnx_qos -i {name}"
                facts.append(reading.missing(fact, command))
        facts += _ecn(reading, name)
    return facts


def _of_kernel(reading: Reading, name: str) -> tuple[dict[str, str | int | bool], dict[str, str]]:
    """Return what the tables of `dcb` say of an interface, and by table why what one says is not understood."""
    known: dict[str, str | int | bool] = {}
    problems: dict[str, str] = {}
    for table in _TABLES:
        text, _ = reading.output(f"dcb -j {table} show dev {name}")
        if not text.strip():
            continue
        try:
            part = Foreign.json(text, f"dcb {table}")
            part = part.items(most=1)[0] if isinstance(part.value, list) and part.value else part
            known |= _TOLD[table](part)
        except ParseError as error:
            problems[table] = error.sentence()
    return known, problems


def _pfc(part: Foreign) -> dict[str, str | int | bool]:
    flags = part.get("prio_pfc")
    return {} if flags is None else {"pfc_priorities": listed(at for at, one in enumerate(flags.items()) if one.flag())}


def _ets(part: Foreign) -> dict[str, str | int | bool]:
    known: dict[str, str | int | bool] = {}
    if (willing := part.get("willing")) is not None:
        known["willing"] = willing.flag()
    if (of_priority := part.get("prio_tc")) is not None:
        known["priority_to_tc"] = paired(dict(enumerate(of_priority.wholes(most=7))))
    for key, name in (("tc_tsa", "tc_algorithms"), ("tc_bw", "tc_shares_percent")):
        if (values := part.get(key)) is not None:
            known[name] = " ".join(str(one.value) for one in values.items())
    return known


def _app(part: Foreign) -> dict[str, str | int | bool]:
    """Return the DSCP map; each of its entries is a list of DSCP and priority, and what else the program prints."""
    table = part.get("dscp_prio")
    if table is None:
        return {}
    pairs = [(entry.items()[0].whole(most=63), entry.items()[1].whole(most=7)) for entry in table.items()]
    return {"dscp_to_priority": paired(dict(pairs))}


def _buffer(part: Foreign) -> dict[str, str | int | bool]:
    known: dict[str, str | int | bool] = {}
    for key, name in (("prio_buffer", "priority_to_buffer"), ("buffer_size", "buffer_bytes")):
        if (values := part.get(key)) is not None:
            known[name] = " ".join(str(one) for one in values.wholes())
    return known


def _dcbx(part: Foreign) -> dict[str, str | int | bool]:
    flags = [name for name in _DCBX_FLAGS if (one := part.get(name)) is not None and one.flag()]
    return {"dcbx": " ".join(flags) or "off"}


_TOLD = {"pfc": _pfc, "ets": _ets, "app": _app, "buffer": _buffer, "dcbx": _dcbx}


def _ecn(reading: Reading, name: str) -> list[Fact]:
    """Return for which priorities a Mellanox card slows down as ECN asks for; its driver alone has these files."""
    folder = f"{_NET}/{name}/ecn"
    facts = []
    for role in ("roce_np", "roce_rp"):
        files = {at: reading.files.get(f"{folder}/{role}/enable/{at}", "").strip() for at in range(8)}
        known = any(files.values())
        facts.append(
            Fact(f"dcb.{name}.{role}_priorities", listed(at for at, flag in files.items() if flag == "1"))
            if known
            else Fact(f"dcb.{name}.{role}_priorities", None, f"{folder}/{role}/enable: not there")
        )
    return [*facts, reading.fact(f"dcb.{name}.cnp_dscp", f"{folder}/roce_np/cnp_dscp", int)]


FACTS = Group(
    "dcb",
    _facts,
    globs=(
        f"{_NET}/*/operstate",
        *(f"{_NET}/*/ecn/{role}/enable/[0-7]" for role in ("roce_np", "roce_rp")),
        f"{_NET}/*/ecn/roce_np/cnp_dscp",
    ),
    links=(f"{_NET}/*/device/driver",),
    commands=(
        *(("dcb", "-j", table, "show", "dev", "{hardware}") for table in _TABLES),
        ("mlnx_qos", "-i", "{hardware}"),
        ("niccli", "-dev", "{hardware}", "getqos"),
    ),
)
