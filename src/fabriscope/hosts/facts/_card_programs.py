"""What the programs of makers of cards print of an interface's priorities: NVIDIA's `mlnx_qos`, Broadcom's `niccli`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.hosts.facts._reading import key_values
from fabriscope.model.priorities import listed, paired

Told = dict[str, str | int | bool]
_BUFFERS = re.compile(r"^Receive buffer size \(bytes\): ((?:\d+,){8})(?:max_buffer_size=\d+)?\s*$", re.MULTILINE)
_LAST = "TC Rate Limit"
"""What niccli prints behind all entries of applications: without it some may be missing."""
_BY_DSCP = "5"
"""The selector of an application's entry in IEEE 802.1Qaz that is of a DSCP."""


def of_mlnx_qos(text: str) -> Told:
    """Return what `mlnx_qos -i IF` prints, and scripts that call it; a part that it does not print is absent."""
    known: Told = {}
    if match := re.search(r"^\s*Priority trust state: (\w+)", text, re.MULTILINE):
        known["trust"] = match[1]
    if match := re.search(r"^[ \t]*enabled((?:[ \t]+[01]){8})[ \t]*$", text, re.MULTILINE):
        known["pfc_priorities"] = listed(at for at, flag in enumerate(match[1].split()) if flag == "1")
    if match := re.search(r"^[ \t]*buffer((?:[ \t]+[0-7]){8})[ \t]*$", text, re.MULTILINE):
        known["priority_to_buffer"] = " ".join(match[1].split())
    if match := _BUFFERS.search(text):
        known["buffer_bytes"] = match[1].strip(",").replace(",", " ")
    dscp = {int(one): int(prio) for prio, row in re.findall(r"prio:(\d) dscp:([\d,]+)", text)
            for one in row.split(",") if one}  # fmt: skip
    if dscp:
        known["dscp_to_priority"] = paired(dscp)
    tcs = re.findall(r"^tc: (\d) ratelimit: ([^,]+), tsa: (\w+)((?:.*\n\s+priority:.*)*)", text, re.MULTILINE)
    if tcs:
        of_priority = {int(one): int(tc) for tc, _, _, rows in tcs for one in re.findall(r"priority:\s+(\d)", rows)}
        known["priority_to_tc"] = paired(of_priority)
        known["rate_limits"] = (
            ", ".join(f"tc {tc} {limit}" for tc, limit, _, _ in tcs if limit != "unlimited") or "none"
        )
    if match := re.search(r"^Cable len: (\d+)", text, re.MULTILINE):
        known["cable_m"] = int(match[1])
    return known


def of_niccli(text: str) -> Told:
    """Return what `niccli -dev IF getqos` prints; a part that is not as the program writes it is absent."""
    text = text[: text.rfind("\n") + 1]
    known: Told = {}
    classes = _numbered(_row(text, "PRIO_MAP"), "[0-7]")
    if len(classes) == 8:
        known["priority_to_tc"] = paired({at: int(tc) for at, tc in enumerate(classes)})
    if algorithms := _numbered(_row(text, "TSA_MAP"), "[a-z]+"):
        known["tc_algorithms"] = " ".join(algorithms)
    shares = _percent(_row(text, "TC Bandwidth"))
    if shares and sum(shares) in (0, 100):
        known["tc_shares_percent"] = " ".join(map(str, shares))
    enabled = _row(text, "PFC enabled")
    if re.fullmatch(r"none|[0-7](?:[ ,]+[0-7])*", enabled):
        known["pfc_priorities"] = listed({int(one) for one in re.findall(r"[0-7]", enabled)})
    if (dscp := _applications(text)) and _row(text, _LAST):
        known["dscp_to_priority"] = paired(dscp)
    limits = _percent(_row(text, _LAST))
    if len(limits) == 8:  # of a class that does not exist it says 0 %
        limited = [f"tc {tc} {share}%" for tc, share in enumerate(limits) if 0 < share < 100]
        known["rate_limits"] = ", ".join(limited) or "none"
    return known


def _row(text: str, title: str) -> str:
    """Return what follows a title that one line alone has."""
    rows = re.findall(rf"^[ \t]*{re.escape(title)}:(.*)$", text, re.MULTILINE)
    return str(rows[0]).strip() if len(rows) == 1 else ""


def _numbered(row: str, value: str) -> list[str]:
    """Return the values of `0:ets 1:strict`, whose numbers are in order; of another row none."""
    words = row.split()
    is_plain = all(re.fullmatch(rf"{at}:{value}", word) for at, word in enumerate(words))
    return [word.partition(":")[2] for word in words] if is_plain else []


def _percent(row: str) -> list[int]:
    words = row.split()
    is_plain = all(re.fullmatch(r"[0-9]{1,3}%", word) for word in words)
    shares = [int(word[:-1]) for word in words] if is_plain else []
    return shares if all(one <= 100 for one in shares) else []


def _applications(text: str) -> Mapping[int, int]:
    """Return DSCP to priority of the entries that are of a DSCP; none of them where one is damaged."""
    found: dict[int, int] = {}
    for entry in re.split(r"^[ \t]*APP#[0-9]+:[ \t]*$", text, flags=re.MULTILINE)[1:]:
        pairs = key_values(entry)
        if ("DSCP" in pairs) != (pairs.get("Sel") == _BY_DSCP):
            return {}
        if "DSCP" in pairs:
            dscp, priority = pairs["DSCP"], pairs.get("Priority", "")
            if not (_is_small(dscp, range(64)) and _is_small(priority, range(8))):
                return {}
            found[int(dscp)] = int(priority)
    return found


def _is_small(text: str, wanted: Sequence[int]) -> bool:
    return re.fullmatch(r"[0-9]{1,2}", text) is not None and int(text) in wanted
