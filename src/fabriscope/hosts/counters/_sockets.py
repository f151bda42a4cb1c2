# ruff: noqa: F821, UP031
# (The host's Python may be as old as 3.6; names of the files that are sent before this one are used.)
# mypy: ignore-errors
# TCP connections of a network namespace. Plain Python 3.6, sent to hosts as text.
#
# The kernel tells every listener the last counters of each connection that is closed (what `ss -E` shows), so that one
# which came and went between two looks is counted too.
import contextlib
import errno
import os
import socket
import struct

DESTROY_GROUPS = 0b1111  # SKNLGRP_INET_TCP_DESTROY, INET_UDP, INET6_TCP, INET6_UDP
RECEIVE_BYTES = 4 << 20
SEARCHES = 3


class Sockets:
    """The TCP connections of this network namespace and those of the job's, those that were closed among them."""

    def __init__(self, problems, births, spaces):
        self.problems, self.spaces = problems, spaces
        self.births, self.processes = births, None
        self.alive = {}
        self.lost = {}  # no more among the living, and the kernel has not told of their end yet: closed, never let go
        self.changed = {}
        self.missing = set()
        self.listeners = {}
        self.datagrams = Datagrams(births)
        self.asked_ports = set()  # where the job's connections went that stayed on this host and are closed
        self.lost_count = self.look_count = 0
        self.listener = None
        try:
            self.listener = self.listen()
        except OSError as error:
            problems["closed connections"] = "the kernel does not tell of them: %s" % error.strerror

    def listen(self):
        listener = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
        for option in (33, socket.SO_RCVBUF):  # SO_RCVBUFFORCE is root's
            try:
                listener.setsockopt(socket.SOL_SOCKET, option, RECEIVE_BYTES)
                break
            except OSError:
                continue
        listener.setblocking(False)
        listener.bind((0, DESTROY_GROUPS))
        return listener

    def hear(self):
        """Take what the kernel said of closed connections; return how many there were."""
        count = self.hear_of(None, self.listener)
        return count + sum(self.hear_of(space, space.listener) for space in self.spaces.entered.values())

    def hear_of(self, space, listener):
        count = 0
        while listener is not None:
            try:
                data = listener.recv(1 << 16)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                self.problems["closed connections"] = "the kernel dropped some: too many were closed at once"
                continue
            for kind, content in messages(data):
                if kind == SOCK_DIAG_BY_FAMILY and len(content) >= DIAG.size:
                    if is_datagrams(content):
                        self.datagrams.take_closed(content)
                    else:
                        count += self.take(content, True, space)
        return count

    def enter(self):
        """Listen in namespaces that the job made meanwhile, and leave those in which nobody of it is any more."""
        for space in self.spaces.left():
            self.hear_of(space, space.listener)
            space.close()
        for space in self.spaces.entered.values():
            if space.listener is None:
                with contextlib.suppress(OSError), self.spaces.inside(space):
                    space.listener = self.listen()
                self.look_into(space)

    def look(self):
        """Take the counters of all connections that are alive."""
        self.hear()
        self.look_count += 1
        seen = self.look_into(None)
        if seen is None:
            return
        for space in self.spaces.entered.values():
            seen.update(self.look_into(space) or ())
        self.hear()
        for cookie in self.missing & set(self.alive) - seen:  # gone for two looks, without a last word
            self.lost[cookie] = self.alive.pop(cookie)
        self.missing = set(self.alive) - seen
        if self.listener is None:  # nobody will tell of them any more
            self.give_up()

    def look_into(self, space):
        """Take the counters of those alive in one namespace; return their cookies, None if they cannot be read."""
        seen = set()
        for family in (socket.AF_INET, socket.AF_INET6):
            request = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << INET_DIAG_INFO - 1, 0, ASKED_STATES)
            try:
                with self.spaces.inside(space):
                    connection = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
                for kind, content in dump(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, request + bytes(48), connection):
                    if kind == SOCK_DIAG_BY_FAMILY:
                        listener = listener_of(content)
                        self.listeners.update([listener] if listener else [])
                        seen.add(self.take(content, False, space))
            except OSError as error:
                if family == socket.AF_INET or error.errno != errno.ENOENT:  # a kernel without IPv6
                    self.problems["connections"] = "sock_diag: %s" % (error.strerror or error)
                return None
        return seen

    def owes(self):
        """Return whether a connection of the job's is gone of which the kernel has yet to say what it moved."""
        gone = [*self.lost.values(), *(self.alive[cookie] for cookie in self.missing & set(self.alive))]
        return self.listener is not None and any(one.owner is not None and one.owner >= THE_JOBS for one in gone)

    def give_up(self):
        """Wait no longer for the last word on those that are lost: what was seen last is what they moved."""
        for cookie, one in self.lost.items():
            one.is_closed = True
            self.changed[cookie] = one
        self.lost_count += len(self.lost)
        self.lost = {}

    def take(self, content, is_closed, space=None):
        """Keep what a message says of a connection; return its cookie (of a closed one, whether it is one)."""
        found = told(content) or (self.broken_off(content) if is_closed else None)
        if found is None:
            return 0
        cookie, ends, inode, counts, uid, group, options = found
        if counts is None:
            if content[1] == ESTABLISHED:  # one that waits for its end (FIN_WAIT2) may lack them anywhere
                self.problems["connections"] = "the kernel does not count their bytes"
            return 0
        one = self.alive.get(cookie) or self.lost.pop(cookie, None) or Connection(cookie, ends, inode)
        one.space = space
        if is_closed:
            self.alive.pop(cookie, None)
            if one.owner is None:
                one.owner = self.by_birth(cookie)
            if one.owner == THE_JOBS and not one.is_known and is_within_host(ends):
                self.asked_ports.add(ends[3])
        else:
            self.alive[cookie] = one
            one.inode, one.uid, one.group, one.unsent = inode, uid, group, unsent_of(content)
        if one.counts != counts or is_closed:
            one.counts, one.is_closed, one.options = counts, is_closed, options
            self.changed[cookie] = one
        return 1 if is_closed else cookie

    def broken_off(self, content):
        """Return what `told` would of a connection of the job's that was broken off: the kernel has forgotten its ends
        and counts by then."""
        if len(content) < DIAG.size:
            return None
        cookie = int.from_bytes(DIAG.unpack_from(content)[9], "little")
        ended = self.births.end_of(cookie)
        one = self.alive.get(cookie) or self.lost.get(cookie)
        return ended and (cookie, ended[0], 0, ended[1], None, None, one.options if one else (None, 0))

    def by_birth(self, cookie):
        """Return whose a connection is that was closed before anybody saw who had it; None for unknown.

        What was not born in the job's group may still be of whoever it talks to, or of one that left the group.
        """
        is_jobs = self.births.has(cookie)
        if is_jobs is False and self.processes is not None and self.processes.has_strayed:
            return None
        return {True: THE_JOBS, False: BORN_ELSEWHERE}.get(is_jobs)

    def confide(self, processes):
        """Find out who is at the other end of the job's connections within this host, and was none of the job's.

        What such a process moves elsewhere may be the job's. Where the other end is closed, whoever listens is meant.
        Return whether there was anybody new.
        """
        here = [one for one in self.alive.values() if one.owner is not None and one.owner >= 0 and not one.is_known]
        if not here and not self.asked_ports:
            return False
        ends = {(one.space, *one.ends): one for one in self.alive.values()}
        inodes = set()
        for one in here:
            one.is_known = True
            other = ends.get((one.space, *one.ends[2:], *one.ends[:2]))
            if other is not None and other.inode and other.owner in (None, SOMEBODY_ELSES, BORN_ELSEWHERE):
                inodes.add(other.inode)
            elif is_within_host(one.ends):
                self.asked_ports.add(one.ends[3])
        inodes |= {inode for inode, port in self.listeners.items() if port in self.asked_ports}
        self.asked_ports = set()
        count = len(processes.confidants)
        processes.look_at_confidants(inodes)
        return len(processes.confidants) > count

    def assign(self, processes):
        """Say whose the connections are: of the process of the job that holds it, or whose the kernel says it is.

        What nobody of the job has at two looks is somebody else's if a process is seen to hold it, or if it belongs to
        a user whose processes we cannot be; else it is open whose it is: a ring of io_uring and the kernel hold
        connections that no process has among its files. What was there at the first look is none of the job's.
        """
        doubtful = []
        self.processes = processes
        for one in self.alive.values():
            owner = processes.owners.get(one.inode) if one.inode else one.owner
            if owner is None and not one.inode and self.is_by_birth(one, processes):
                owner = THE_JOBS  # its process has ended, and the kernel still sends what it left
            if owner is None and one.inode:
                owner = self.owner_of(one, processes)
                if owner is None and one.owner is None and self.look_count > one.unowned_at and one.sought < SEARCHES:
                    one.sought += 1
                    doubtful.append(one)
                is_known = one.owner == CONFIDANTS or (one.owner == SOMEBODY_ELSES and owner == BORN_ELSEWHERE)
                owner = one.owner if owner is None or is_known else owner
            if owner in (None, SOMEBODY_ELSES, BORN_ELSEWHERE) and one.inode in processes.confided:
                owner = CONFIDANTS
            if owner == BORN_ELSEWHERE and one.sought < SEARCHES:
                one.sought += 1
                doubtful.append(one)
            self.give(one, owner)
        held = processes.strangers([one.inode for one in doubtful]) if doubtful else {}
        for one in doubtful:
            is_foreign = one.inode in held or os.geteuid() not in (0, one.uid)
            if one.owner in (None, BORN_ELSEWHERE) and is_foreign:
                self.give(one, CONFIDANTS if processes.may_be_ours(held.get(one.inode)) else SOMEBODY_ELSES)

    def owner_of(self, one, processes):
        """Return whose a connection is that nobody of the job holds, as far as the kernel tells; None for unknown.

        Once a process of the job was moved to another control group, those of others tell nothing.
        """
        if one.unowned_at is None:
            one.unowned_at = self.look_count
        if self.look_count == 1:
            return SOMEBODY_ELSES
        if self.is_by_birth(one, processes):
            return THE_JOBS
        tells = one.group is not None and processes.group is not None and not processes.has_strayed
        return BORN_ELSEWHERE if tells else None

    def is_by_birth(self, one, processes):
        """Return whether the kernel says that a connection is the job's; what was there before it is not."""
        is_of_group = one.group is not None and one.group == processes.group
        return self.look_count > 1 and bool(self.births.has(one.cookie) or is_of_group)

    def give(self, one, owner):
        if owner != one.owner:
            one.owner = owner
            self.changed[one.cookie] = one

    def has_new(self, owners):
        """Return whether there is a connection that nobody has been asked about yet."""
        return any(
            one.owner in (None, THE_JOBS) and one.inode and one.inode not in owners for one in self.alive.values()
        )

    def unsent(self):
        """Return how many bytes of connections wait to be sent or acknowledged: of the job's, and of everybody's."""
        mine = [one for one in self.alive.values() if one.owner is not None and one.owner >= THE_JOBS]
        return sum(one.unsent for one in mine), sum(one.unsent for one in self.alive.values())

    def rows(self):
        """Return what has changed since this was asked last."""
        rows = [one.row() for one in self.changed.values() if one.counts is not None]
        self.changed = {}
        return rows
