"""What is typed to put right what a check found: on a switch in the words of its system, on a host as a shell takes it.

From the vendors' guides; nothing of it is sent to a switch.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.audit.place import Place

_ELSEWHERE = "as the switch's manual has it"
_LIMITS = "minimum-threshold 150 kbytes maximum-threshold 1500 kbytes"
"""Vendors' usual ones for 100 Gb/s."""
_NETWORK_CLASS = "policy-map type network-qos POLICY; class type network-qos CLASS"
_NXOS_WATCHDOG = "priority-flow-control watch-dog-interval on"
_WORDS: Mapping[str, Mapping[str, str]] = {
    "mtu": {
        "eos": "interface PORT; mtu {size}",
        "nxos": f"interface PORT; mtu {{size}}; {_NETWORK_CLASS}; mtu 9216",
        "sonic": "config interface mtu PORT {size}",
        "onyx": "interface PORT mtu {size} force",
        "cumulus": "nv set interface PORT link mtu {size}; nv config apply",
    },
    "pfc on": {
        "eos": "interface PORT; priority-flow-control on; priority-flow-control priority {priority} no-drop",
        "nxos": f"{_NETWORK_CLASS}; pause pfc-cos {{priority}}; interface PORT; priority-flow-control mode on",
        "sonic": "config interface pfc priority PORT {priority} on",
        "onyx": "dcb priority-flow-control priority {priority} enable;"
        " interface PORT dcb priority-flow-control mode on",
        "cumulus": "nv set qos pfc default-global switch-priority {priority}; nv config apply",
    },
    "pfc off": {
        "eos": "interface PORT; priority-flow-control priority {priority} drop",
        "nxos": f"{_NETWORK_CLASS}; no pause pfc-cos {{priority}}",
        "sonic": "config interface pfc priority PORT {priority} off",
        "onyx": "no dcb priority-flow-control priority {priority} enable",
        "cumulus": "nv unset qos pfc default-global switch-priority {priority}; nv config apply",
    },
    "pfc mode": {
        "eos": "interface PORT; priority-flow-control on",
        "nxos": "interface PORT; priority-flow-control mode on",
        "onyx": "interface PORT dcb priority-flow-control mode on force",
    },
    "pfc globally": {"eos": "no priority-flow-control all off", "onyx": "dcb priority-flow-control enable force"},
    "trust": {
        "eos": "interface PORT; qos trust dscp",
        "onyx": "interface PORT qos trust L3",
        "sonic": "sonic-db-cli CONFIG_DB hset 'PORT_QOS_MAP|PORT' dscp_to_tc_map AZURE",
    },
    "watchdog": {
        "eos": "interface PORT; priority-flow-control pause watchdog",
        "nxos": f"{_NXOS_WATCHDOG}; interface PORT; {_NXOS_WATCHDOG}",
        "sonic": "config pfcwd start --action drop PORT 400 --restoration-time 400",
        "onyx": "interface PORT pfc-wd",
    },
    "ecn": {
        "eos": f"interface PORT; tx-queue {{queue}}; random-detect ecn {_LIMITS} max-mark-probability 100",
        "nxos": "policy-map type queuing POLICY; class type queuing c-out-8q-q{queue};"
        f" random-detect {_LIMITS} drop-probability 100 ecn",
        "sonic": "a wred_profile with ecn_all for PORT|{queue} in QUEUE; config qos reload",
        "onyx": "interface PORT traffic-class {queue} congestion-control ecn"
        " minimum-absolute 150 maximum-absolute 1500",
        "cumulus": "nv set qos congestion-control default-global traffic-class {queue} ecn enable; nv config apply",
    },
}
"""What is set to the system to the words."""


def on_switch(place: Place, what: str, **values: int) -> str:
    """Return how something is set on the switch of a place."""
    system = place.device.system if place.device else ""
    port = place.port.replace("Ethernet", "ethernet ") if system == "onyx" else place.port
    return _WORDS[what].get(system, _ELSEWHERE).format(**values).replace("PORT", port)


def pfc(place: Place, on_host: set[int], on_port: set[int]) -> str:
    """Return how both ends get PFC on the same priorities: those of the host, or the switch's where it has none."""
    if not on_host:
        return host_pfc(place.parts[0], on_port)
    steps = [on_switch(place, "pfc on", priority=one) for one in sorted(on_host - on_port)]
    steps += [on_switch(place, "pfc off", priority=one) for one in sorted(on_port - on_host)]
    return "; ".join(dict.fromkeys(steps))


def host_pfc(interface: str, wanted: set[int]) -> str:
    """Return how an interface of a host gets PFC on some priorities alone."""
    return " ".join((f"dcb pfc set dev {interface} prio-pfc all:off", *(f"{one}:on" for one in sorted(wanted))))
