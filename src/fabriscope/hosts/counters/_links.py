# ruff: noqa: F821, UP031
# (The host's Python may be as old as 3.6; names of the files that are sent before this one are used.)
# mypy: ignore-errors
# The interfaces of a network namespace by rtnetlink(7): their addresses, and which of them stand on which. Plain Python
# 3.6, sent to hosts as text.
import socket
import struct

NETLINK_ROUTE = 0
RTM_GETLINK, RTM_GETADDR, RTM_GETQDISC = 18, 22, 38
TCA_STATS2, TCA_STATS_QUEUE = 7, 3
TRAFFIC = struct.Struct("=B3xi3I")  # struct tcmsg
ROOT = 0xFFFFFFFF  # the parent of an interface's own queue
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTM_DELLINK = 17
IFLA_IFNAME, IFLA_LINK, IFLA_MASTER, IFLA_LINKINFO, IFLA_STATS64, IFLA_LINK_NETNSID = 3, 5, 10, 18, 23, 37
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2
# Kinds of tunnels, and where they say what they stand on: the attribute of the interface, and those of the address
# that they send from.
TUNNELS = {
    b"vxlan": (3, (4, 17)), b"gre": (1, (6,)), b"gretap": (1, (6,)), b"erspan": (1, (6,)),
    b"ip6gre": (1, (6,)), b"ip6gretap": (1, (6,)), b"ipip": (1, (2,)), b"sit": (1, (2,)), b"ip6tnl": (1, (2,)),
}  # fmt: skip


LINK_GROUPS = 0x1 | 0x10 | 0x100  # RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR
FIRST_NAMES = {}  # of interfaces by their numbers: one that is renamed keeps the name by which it was known


class LinkNews:
    """Whether interfaces or their addresses have changed, as the kernel tells: to read them all costs much more.

    `last_counts` has the bytes that interfaces had counted when they were removed, by name.
    """

    def __init__(self):
        self.listener = None
        self.last_counts = {}
        try:
            self.listener = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ROUTE)
            self.listener.setblocking(False)
            self.listener.bind((0, LINK_GROUPS))
        except OSError:
            self.listener = None

    def have_come(self):
        """Return whether anything has changed since this was asked last, or may have."""
        is_news = self.listener is None
        while self.listener is not None:
            try:
                self.note_removals(self.listener.recv(1 << 16))
                is_news = True
            except BlockingIOError:
                break
            except OSError:  # the kernel dropped some
                is_news = True
        return is_news

    def note_removals(self, message):
        while len(message) >= 32:
            length, kind = struct.unpack_from("=IH", message)
            told = dict(attributes(message[:length], 32)) if kind == RTM_DELLINK else {}
            if IFLA_IFNAME in told and len(told.get(IFLA_STATS64, b"")) >= 32:
                name = told[IFLA_IFNAME].rstrip(b"\0").decode(errors="replace")
                self.last_counts[name] = sum(struct.unpack_from("=QQ", told[IFLA_STATS64], 16))
            message = message[max(length, 32) :]


def interface_names():
    """Return number to name of every interface: the first one that it had."""
    found = {}
    for index, name in socket.if_nameindex():
        if index not in FIRST_NAMES:
            FIRST_NAMES[index] = name if name not in FIRST_NAMES.values() else "%s#%d" % (name, index)
        found[index] = FIRST_NAMES[index]
    return found


def first_names():
    """Return name to the first one that the same interface had."""
    numbers = interface_names()
    return {name: numbers[index] for index, name in socket.if_nameindex() if index in numbers}


def interface_addresses():
    """Return interface to its addresses."""
    names = interface_names()
    found = {name: [] for name in names.values()}
    for _, content in dump(NETLINK_ROUTE, RTM_GETADDR, struct.pack("=B3xI", socket.AF_UNSPEC, 0)):
        family, index = content[0], struct.unpack_from("=I", content, 4)[0]
        told = dict(attributes(content, 8))
        raw = told.get(IFA_LOCAL) or told.get(IFA_ADDRESS)
        if raw and index in names and family in (socket.AF_INET, socket.AF_INET6):
            found[names[index]].append(address_of(raw, family))
    return found


def lower_interfaces(addresses):
    """Return interface to those beneath it, which count its bytes too: of a VLAN, a bridge, a tunnel.

    One that a program carries on (TUN, TAP) has nothing beneath it that the kernel could tell.
    """
    names = interface_names()
    found = {}
    for _, content in dump(NETLINK_ROUTE, RTM_GETLINK, struct.pack("=B15x", socket.AF_UNSPEC)):
        index = struct.unpack_from("=i", content, 4)[0]
        told = dict(attributes(content, 16))
        if index not in names:
            continue
        info = dict(attributes(told.get(IFLA_LINKINFO, b""), 0))
        kind = info.get(IFLA_INFO_KIND, b"").rstrip(b"\0")
        if kind in TUNNELS:
            below = beneath_tunnel(TUNNELS[kind], dict(attributes(info.get(IFLA_INFO_DATA, b""), 0)), names, addresses)
        # The other end of a veth is beside it, and what is in another namespace counts nothing here.
        elif IFLA_LINK in told and IFLA_LINK_NETNSID not in told and kind != b"veth":
            below = names.get(struct.unpack("=I", told[IFLA_LINK])[0], "")
        else:
            below = ""
        if kind == b"tun":
            found.setdefault(names[index], [])
        if below not in ("", names[index]):
            found.setdefault(names[index], []).append(below)
        if IFLA_MASTER in told:
            master = struct.unpack("=I", told[IFLA_MASTER])[0]
            if master in names:
                found.setdefault(names[master], []).append(names[index])
    return found


def beneath_tunnel(places, told, names, addresses):
    """Return the interface that a tunnel is bound to, or that has the address it sends from; empty for neither."""
    link, sources = places
    index = struct.unpack("=I", told[link])[0] if len(told.get(link, b"")) == 4 else 0
    if index in names:
        return names[index]
    for raw in (told[source] for source in sources if source in told):
        address = address_of(raw, socket.AF_INET if len(raw) == 4 else socket.AF_INET6)
        for name, every in addresses.items():
            if address in every:
                return name
    return ""


def queued_bytes():
    """Return how many bytes wait in the queues of all interfaces; 0 where the kernel does not tell."""
    total = 0
    try:
        for _, content in dump(NETLINK_ROUTE, RTM_GETQDISC, bytes(TRAFFIC.size)):
            if TRAFFIC.unpack_from(content)[3] == ROOT:
                counts = dict(attributes(dict(attributes(content, TRAFFIC.size)).get(TCA_STATS2, b""), 0))
                queue = counts.get(TCA_STATS_QUEUE, b"")
                total += struct.unpack_from("=I", queue, 4)[0] if len(queue) >= 8 else 0
    except OSError:
        return 0
    return total
