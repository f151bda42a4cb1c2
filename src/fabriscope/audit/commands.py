"""What is typed on a switch to put right what a check found, in the words of its system.

From the vendors' guides; nothing of it is sent to a switch.
"""

from __future__ import annotations

from fabriscope.audit.place import Place

_ONYX_LIMITS = "minimum-absolute 150 maximum-absolute 1500"
_ELSEWHERE = "as the switch's manual has it"


def _of(place: Place, words: dict[str, str]) -> str:
    system = place.device.system if place.device else ""
    port = place.port.replace("Ethernet", "ethernet ") if system == "onyx" else place.port
    return words.get(system, _ELSEWHERE).replace("PORT", port)


def mtu(place: Place, size_bytes: int) -> str:
    """Return how a port carries payloads of a size."""
    words = {
        "eos": f"interface PORT; mtu {size_bytes}",
        "nxos": f"interface PORT; mtu {max(size_bytes, 9216)}, and `mtu 9216` in each class of the network-qos policy",
        "sonic": f"config interface mtu PORT {size_bytes}",
        "onyx": f"interface PORT mtu {size_bytes} force",
        "cumulus": f"nv set interface PORT link mtu {size_bytes}; nv config apply",
    }
    return _of(place, words)


def pfc(place: Place, host_priorities: str, switch_priorities: str) -> str:
    """Return how both ends get PFC on the same priority."""
    wanted = (host_priorities if host_priorities != "none" else switch_priorities).partition(",")[0]
    if host_priorities == "none":
        return f"dcb pfc set dev {place.parts[0]} prio-pfc {wanted}:on"
    words = {
        "eos": f"interface PORT; priority-flow-control on; priority-flow-control priority {wanted} no-drop",
        "nxos": f"`pause pfc-cos {wanted}` in the network-qos policy; interface PORT; priority-flow-control mode on",
        "sonic": f"config interface pfc priority PORT {wanted} on",
        "onyx": f"dcb priority-flow-control priority {wanted} enable; interface PORT dcb priority-flow-control mode on",
        "cumulus": f"nv set qos pfc default-global switch-priority {wanted}; nv config apply",
    }
    return _of(place, words)


def pfc_mode(place: Place) -> str:
    """Return how PFC operates without a peer that speaks DCBX."""
    words = {
        "eos": "interface PORT; priority-flow-control on",
        "nxos": "interface PORT; priority-flow-control mode on",
        "onyx": "interface PORT dcb priority-flow-control mode on force",
    }
    return _of(place, words)


def pfc_globally(place: Place) -> str:
    """Return how PFC is switched on for a whole switch."""
    words = {"eos": "no priority-flow-control all off", "onyx": "dcb priority-flow-control enable force"}
    return _of(place, words)


def trust(place: Place) -> str:
    """Return how a port trusts DSCP."""
    words = {
        "eos": "interface PORT; qos trust dscp",
        "onyx": "interface PORT qos trust L3",
        "sonic": "dscp_to_tc_map of PORT in PORT_QOS_MAP; config qos reload",
    }
    return _of(place, words)


def watchdog(place: Place) -> str:
    """Return how a port gets a watchdog of PFC."""
    words = {
        "eos": "interface PORT; priority-flow-control pause watchdog",
        "nxos": "priority-flow-control watch-dog-interval on, for the switch and in interface PORT",
        "sonic": "config pfcwd start --action drop PORT 400 --restoration-time 400",
        "onyx": "interface PORT pfc-wd",
    }
    return _of(place, words)


def ecn(place: Place, queue: int) -> str:
    """Return how a queue marks; the thresholds are vendors' usual ones for 100 Gb/s."""
    limits = "minimum-threshold 150 kbytes maximum-threshold 1500 kbytes"
    words = {
        "eos": f"interface PORT; tx-queue {queue}; random-detect ecn {limits} max-mark-probability 100",
        "nxos": f"class c-out-8q-q{queue} of the queuing policy: random-detect {limits} drop-probability 100 ecn",
        "sonic": f"a wred_profile with ecn_all for PORT|{queue} in QUEUE; config qos reload",
        "onyx": f"interface PORT traffic-class {queue} congestion-control ecn {_ONYX_LIMITS}",
        "cumulus": f"nv set qos congestion-control default-global traffic-class {queue} ecn enable; nv config apply",
    }
    return _of(place, words)
