"""SONiC: the configuration database, nested or flat, and what `show` prints of PFC and interfaces."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabriscope.devices.system import Output, System, Told, mtu, numbers_in, numbers_of, small, whole
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.model.priorities import paired

_TABLES = (
    "PORT",
    "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP",
    "QUEUE",
    "WRED_PROFILE",
    "BUFFER_PG",
    "BUFFER_PROFILE",
    "PFC_WD",
    "DEVICE_METADATA",
)
_TABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]+")
_FEC = {"none": "off", "fc": "baser"}
"""To the words of ethtool."""
_COUNTERS = re.compile(r"\s*(Ethernet\S+)((?:\s+[\d,]+){8})\s*")
_DELL_ROW = re.compile(r"(Eth\S+)\s.*\s(up|down)\s+(\S+)\s+(on|off)\s+(\d+)\s+(\d+)\s+(\S+)\s*")
_MMU_TABLE = re.compile(r"^(Pool|Profile): (\S+)\n-+ +-+\n((?:\w+ +\S+\n)*)-+ +-+\n", re.MULTILINE)
Table = dict[str, dict[str, str]]


def database(text: str) -> dict[str, Table]:
    """Return table to key to fields, whether keys are nested or flat (`PORT|Ethernet0`)."""
    found: dict[str, Table] = {}
    for name, one in Foreign.json(text, "config_db.json").members():
        table, bar, key = name.partition("|")
        rows = {key: one} if bar else dict(one.members()) if isinstance(one.value, dict) else {}
        for row, fields in rows.items():
            if isinstance(fields.value, dict):
                found.setdefault(table, {})[row] = _texts(fields.mapping())
    return found


def _texts(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the fields that are texts; what programs write as numbers is a text in the database."""
    kept = {field: value for field, value in fields.items() if isinstance(value, str | int)}
    return {field: str(value) for field, value in kept.items() if not isinstance(value, bool)}


def _is_database(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        names = list(Foreign.json(text, "config_db.json").mapping())
    except ParseError:
        return any(f'"{name}' in text for name in _TABLES)
    return bool(names) and all(_TABLE_NAME.fullmatch(name.partition("|")[0]) for name in names)


def _configuration(text: str, told: Told) -> None:
    tables = database(text)
    about = tables.get("DEVICE_METADATA", {}).get("localhost", {})
    told.tell("device.model", about.get("hwsku"))
    told.tell("device.host_name", about.get("hostname"))
    undefined: list[str] = []
    for port, fields in tables.get("PORT", {}).items():
        told.port(port, "mtu_bytes", mtu(fields["mtu"]) if "mtu" in fields else None)
        told.port(port, "speed_bits_per_s", whole(fields["speed"], 10**7) * 10**6 if "speed" in fields else None)
        told.port(port, "fec", _FEC.get(fields["fec"], fields["fec"]) if "fec" in fields else None)
        told.port(port, "is_enabled", fields["admin_status"] == "up" if "admin_status" in fields else None)
    for key, fields in tables.get("PORT_QOS_MAP", {}).items():
        for port in ports_of(key):
            _quality(port, fields, tables.get("DSCP_TO_TC_MAP"), told, undefined)
    _queues(tables, told, undefined)
    _buffers(tables, told, undefined)
    _watchdogs(tables, told)
    told.tell("device.undefined_names", " ".join(dict.fromkeys(undefined)) or "none")


def _quality(port: str, fields: Mapping[str, str], maps: Table | None, told: Told, undefined: list[str]) -> None:
    lossless = numbers_of(fields.get("pfc_enable", ""))
    told.port(port, "pfc_mode", "off" if lossless == "none" else "on")
    told.port(port, "pfc_priorities", lossless)
    if "pfcwd_sw_enable" in fields:
        told.port(port, "pfc_watchdog_priorities", numbers_of(fields["pfcwd_sw_enable"]))
    name = named_of(fields.get("dscp_to_tc_map", ""))
    if not name:
        told.port(port, "trust", "cos" if fields.get("dot1p_to_tc_map") else None)
        return
    told.port(port, "trust", "dscp")
    if maps is not None and name not in maps:
        undefined.append(name)
    elif maps is not None:
        told.port(port, "dscp_to_priority", paired({small(dscp): small(tc, 7) for dscp, tc in maps[name].items()}))


def _pausing(tables: Mapping[str, Table]) -> list[str]:
    """Return the ports with a priority that is paused."""
    rows = tables.get("PORT_QOS_MAP", {}).items()
    return [port for key, fields in rows if fields.get("pfc_enable") for port in ports_of(key)]


def _watchdogs(tables: Mapping[str, Table], told: Told) -> None:
    """Tell which ports a watchdog guards; what has the tables of a whole switch and no row for a port has none."""
    rows = tables.get("PFC_WD")
    for key in rows or ():
        for port in ports_of(key):
            told.port(port, "pfc_watchdog", True)
    if rows is not None or {"PORT", "DEVICE_METADATA"} <= tables.keys():
        guarded = {port for key in rows or () for port in ports_of(key)}
        for port in _pausing(tables):
            if port not in guarded:
                told.port(port, "pfc_watchdog", False)


def _queues(tables: Mapping[str, Table], told: Told, undefined: list[str]) -> None:
    """Tell for each port the queues that mark, and those whose WRED drops because it does not mark."""
    profiles = tables.get("WRED_PROFILE")
    found: dict[str, tuple[list[str], list[str]]] = {}
    for key, fields in tables.get("QUEUE", {}).items():
        ports, _, queues = key.rpartition("|")
        name = named_of(fields.get("wred_profile", ""))
        for port in ports_of(ports) if queues else ():
            marking, dropping = found.setdefault(port, ([], []))
            if name and profiles is not None and name not in profiles:
                undefined.append(name)
            elif name and profiles is not None:
                # `ecn_none` and an absent field leave WRED, where it is on, to drop.
                is_marking = profiles[name].get("ecn", "ecn_none") != "ecn_none"
                drops = any(profiles[name].get(f"wred_{one}_enable") == "true" for one in ("green", "yellow", "red"))
                (marking if is_marking else dropping if drops else []).append(queues)
                if is_marking and "green_min_threshold" in profiles[name] and "green_max_threshold" in profiles[name]:
                    limits = [whole(profiles[name][f"green_{one}_threshold"]) for one in ("min", "max")]
                    for queue in sorted(numbers_in(queues)):
                        told.port(port, f"ecn_{queue}_bytes", f"{limits[0]} {limits[1]}")
    for port, (marking, dropping) in found.items():
        told.port(port, "ecn_queues", numbers_of(",".join(marking)))
        told.port(port, "wred_without_ecn_queues", numbers_of(",".join(dropping)))


def _buffers(tables: Mapping[str, Table], told: Told, undefined: list[str]) -> None:
    """Tell which priority groups of each port have a buffer of their own that is no lossy one."""
    profiles = tables.get("BUFFER_PROFILE")
    found: dict[str, list[str]] = {port: [] for port in _pausing(tables)} if "BUFFER_PG" in tables else {}
    for key, fields in tables.get("BUFFER_PG", {}).items():
        ports, _, groups = key.rpartition("|")
        name = named_of(fields.get("profile", ""))
        if name and name != "NULL" and profiles is not None and name not in profiles:
            undefined.append(name)
        for port in ports_of(ports) if groups else ():
            if name and "lossy" not in name:
                found.setdefault(port, []).append(groups)
            else:
                found.setdefault(port, [])
    for port, lossless in found.items():
        told.port(port, "lossless_buffer_priorities", numbers_of(",".join(lossless)))


def ports_of(key: str) -> list[str]:
    """Return the ports of a key: `Ethernet1,Ethernet2`, or behind a chassis' names `host|asic|Ethernet1`."""
    return [name for name in key.rpartition("|")[2].split(",") if name.startswith(("Ethernet", "PortChannel"))]


def named_of(reference: str) -> str:
    """Return the name of a reference: `[WRED_PROFILE|ROCE]` in old files, `ROCE` in new ones."""
    return reference.strip("[]").rpartition("|")[2]


def _priorities(text: str, told: Told) -> None:
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*(Ethernet\S+)\s+([\d,]+|N/A|none)\s*", line):
            told.port(match[1], "pfc_priorities", numbers_of(match[2]))


def _counters(text: str, told: Told) -> None:
    direction = ""
    for line in text.splitlines():
        if head := re.match(r"\s*Port (Rx|Tx)\s", line):
            direction = head[1].lower()
        elif direction and (match := _COUNTERS.fullmatch(line)):
            told.port(match[1], f"pfc_{direction}_count", sum(whole(one) for one in match[2].split()))


def _buffer_table(text: str, told: Told) -> None:
    """Read `show mmu`: a table for each pool and profile; one without its last line may be cut, and tells nothing."""
    for kind, name, rows in _MMU_TABLE.findall(text):
        head = f"device.buffer_{kind.lower()}.{name}"
        for key, value in (line.split(maxsplit=1) for line in rows.splitlines()):
            is_size = key in ("size", "xon", "xoff")
            told.tell(f"{head}.{key}_bytes" if is_size else f"{head}.{key}", whole(value) if is_size else value.strip())


def _interfaces(text: str, told: Told) -> None:
    """Read Dell Enterprise SONiC's table: its description may hold anything, so a row is read from its end."""
    for line in text.splitlines():
        if match := _DELL_ROW.fullmatch(line):
            told.port(match[1], "is_up", match[2] == "up")
            told.port(match[1], "is_enabled", False if match[3] in ("admin", "admin-down") else None)
            told.port(match[1], "speed_bits_per_s", whole(match[5], 10**7) * 10**6)
            told.port(match[1], "mtu_bytes", mtu(match[6]))


SYSTEM = System(
    "sonic",
    (
        Output("sonic-cfggen -d --print-data", _is_database, _configuration),
        Output("show pfc priority", lambda text: "Lossless priorities" in text, _priorities),
        Output("show mmu", lambda text: bool(_MMU_TABLE.search(text)), _buffer_table),
        Output("show pfc counters", lambda text: "Port Rx" in text and "PFC0" in text, _counters),
        Output(
            "show interface status",
            lambda text: bool(re.match(r"(?:-*\s*\n)*\s*(?:Interface|Name)\s+Description\s+Oper\s", text)),
            _interfaces,
        ),
    ),
    "sonic-cfggen -d --print-data",
)
