# ruff: noqa: F821, PTH118, UP031
# (The host's Python may be as old as 3.6; names of the files that are sent before this one are used.)
# mypy: ignore-errors
# Whose sockets of UDP are in a network namespace. Plain Python 3.6, sent to hosts as text.
import os
import socket
import struct

# Tables (/proc/net) of sockets whose bytes the kernel counts for nobody, and the column of the inode.
DATAGRAMS = {"udp": 9, "udp6": 9, "udplite": 9, "udplite6": 9, "raw": 9, "raw6": 9, "packet": 8}


class Datagrams:
    """Who else than the job has sockets of UDP here: the kernel counts the bytes of all of them together."""

    def __init__(self, births):
        self.births = births
        self.known = {}  # cookie to whether it is the job's, or cannot leave this host
        self.others = set()
        self.are_jobs = False  # whether the job had one, be it for a moment
        self.are_strangers = False  # whether it has one that others made

    def look(self, processes):
        """Take note of all that are bound now; `processes` tells whose they are."""
        for family in (socket.AF_INET, socket.AF_INET6):
            request = struct.pack("=BBBBI", family, socket.IPPROTO_UDP, 0, 0, 0xFFFFFFFF) + bytes(48)
            try:
                for kind, content in dump(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, request):
                    if kind == SOCK_DIAG_BY_FAMILY and len(content) >= DIAG.size:
                        self.take(content, processes)
            except OSError:  # a kernel that lists none, or no IPv6
                if family == socket.AF_INET:
                    self.others.add("sockets that the kernel does not list")

    def take(self, content, processes):
        family, _, _, _, port, _, source, _, _, cookie, _, _, _, _, inode = DIAG.unpack_from(content)
        group = dict(attributes(content, DIAG.size)).get(INET_DIAG_CGROUP_ID)
        cookie = int.from_bytes(cookie, "little")
        is_born = bool(self.births.has(cookie)) or (
            group is not None and processes.group is not None and struct.unpack("=Q", group)[0] == processes.group
        )
        is_jobs = inode in processes.owners or is_born
        self.are_strangers |= is_jobs and not is_born
        address = address_of(source, family)
        is_harmless = is_jobs or address == "::1" or address.startswith("127.")
        self.known[cookie] = is_harmless
        self.are_jobs |= is_jobs
        if not is_harmless:
            self.others.add("port %d" % int.from_bytes(port, "big"))
        elif is_jobs:
            self.others.discard("port %d" % int.from_bytes(port, "big"))

    def take_closed(self, content):
        """Take note of one that was closed; one that nobody has seen may have been anybody's."""
        _, _, _, _, port, _, _, _, _, cookie, _, _, _, _, _ = DIAG.unpack_from(content)
        cookie = int.from_bytes(cookie, "little")
        if self.births.has(cookie):
            self.are_jobs = True
        elif port != b"\0\0" and cookie not in self.known:
            self.others.add("port %d, closed before it was seen" % int.from_bytes(port, "big"))


def datagram_sockets(folder):
    """Return inode to kind (`udp`, `raw`, `packet`) of sockets for datagrams that are bound or connected."""
    found = {}
    for name, column in DATAGRAMS.items():
        for line in read(os.path.join(folder, name)).splitlines()[1:]:
            fields = line.split()
            if len(fields) > column and fields[column].isdigit():
                found[int(fields[column])] = name.replace("lite", "").rstrip("6")
    return found
