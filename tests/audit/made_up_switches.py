"""Running configurations of five systems in which all is well for RoCE v2 on priority 3, and what breaks one port."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

Edit = Callable[[str, str], str]
"""Text and port to the text in which something of the port is wrong."""
_EOS = """   mtu 9214
   no switchport
   speed forced 100gfull
   error-correction encoding reed-solomon
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   priority-flow-control pause watchdog
   tx-queue 3
      bandwidth percent 50
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100
!
"""
_NXOS_HEAD = """version 9.3(10) Bios:version 05.45
feature lldp
priority-flow-control watch-dog-interval on
class-map type qos match-all ROCE
  match dscp 26
policy-map type network-qos NQ
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
policy-map type qos IN
  class ROCE
    set qos-group 3
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn
system qos
  service-policy type network-qos NQ
  service-policy type queuing output OUT
"""
_NXOS = """  speed 100000
  priority-flow-control mode on
  priority-flow-control watch-dog-interval on
  mtu 9216
  fec rs-fec
  service-policy type qos input IN
"""
_ONYX = (
    "speed 100G force", "mtu 9216 force", "fec-override rs-fec force", "qos trust L3", "pfc-wd",
    "traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
    "dcb priority-flow-control mode on force",
)  # fmt: skip
_ONYX_ALL = ("dcb priority-flow-control enable force", "dcb priority-flow-control priority 3 enable")
_PRIORITY = "cli default prefix-modes enable"


def eos(ports: Sequence[str]) -> str:
    lines = "".join(f"interface {port}\n{_EOS}" for port in ports)
    return f"! device: leaf (DCS-7060CX2-32S, EOS-4.28.3M)\n{lines}end\n"


def nxos(ports: Sequence[str]) -> str:
    return _NXOS_HEAD + "".join(f"interface {port}\n{_NXOS}" for port in ports) + "line console\n"


def onyx(ports: Sequence[str]) -> str:
    of_ports = [f"interface {port.lower().replace('t1', 't 1')} {line}" for port in ports for line in _ONYX]
    body = "".join(f"   {line}\n" for line in (*of_ports, *_ONYX_ALL))
    return f"##\nno {_PRIORITY}\n{body}{_PRIORITY}\n"


def sonic(ports: Sequence[str]) -> str:
    quality = {"pfc_enable": "3", "pfcwd_sw_enable": "3", "dscp_to_tc_map": "ROCE"}
    marks = {"ecn": "ecn_all", "wred_green_enable": "true",
             "green_min_threshold": "153600", "green_max_threshold": "1536000"}  # fmt: skip
    whole: dict[str, Any] = {
        "DEVICE_METADATA": {"localhost": {"hwsku": "X"}},
        "PORT": {port: {"mtu": "9216", "speed": "100000", "fec": "rs", "admin_status": "up"} for port in ports},
        "PORT_QOS_MAP": dict.fromkeys(ports, quality),
        "DSCP_TO_TC_MAP": {"ROCE": {str(at): str(at // 8) for at in range(64)},
                           "AZURE": {str(at): str(at if at in (3, 4) else 1) for at in range(64)}},
        "QUEUE": {f"{port}|3": {"wred_profile": "R"} for port in ports},
        "WRED_PROFILE": {"R": marks},
        "BUFFER_PG": {f"{port}|3": {"profile": "NULL"} for port in ports},
        "PFC_WD": {port: {"action": "drop"} for port in ports},
    }  # fmt: skip
    return json.dumps(whole)


def cumulus(ports: Sequence[str]) -> str:
    link = "        link:\n          mtu: 9216\n          fec: rs\n          speed: 100G\n"
    guard = "        qos:\n          pfc-watchdog:\n            state: enable\n"
    body = "".join(f"      {port}:\n{link}{guard}        type: swp\n" for port in ports)
    return f"- set:\n    interface:\n{body}    qos:\n      roce:\n        enable: on\n        mode: lossless\n"


def line(old: str, new: str, *, is_everywhere: bool = False) -> Edit:
    """Return what changes a line of a port's part, or of the whole text."""

    def edit(text: str, port: str) -> str:
        head = "" if is_everywhere else f"interface {port}\n" if "interface " in text else f"      {port}:\n"
        at = text.index(head)
        changed = text[:at] + text[at:].replace(old, new, 1)
        assert changed != text
        return changed

    return edit


def field(table: str, key: str, name: str, value: str | None) -> Edit:
    """Return what changes a field of SONiC's database; None takes the row away. `PORT` stands for the port."""

    def edit(text: str, port: str) -> str:
        whole = json.loads(text)
        row = key.replace("PORT", port)
        if value is None:
            del whole[table][row]
        else:
            whole[table][row] = {**whole[table][row], name: value}
        return json.dumps(whole)

    return edit


def of_onyx(old: str, new: str) -> Edit:
    """Return what changes one line of a port of Onyx."""

    def edit(text: str, port: str) -> str:
        head = f"interface {port.lower().replace('t1', 't 1')} "
        assert f"{head}{old}\n" in text
        return text.replace(f"   {head}{old}\n", f"   {head}{new}\n" if new else "")

    return edit
