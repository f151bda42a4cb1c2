# (The host's Python may be as old as 3.6.)
# mypy: ignore-errors
# What the kernel says of sockets by sock_diag(7). Plain Python 3.6, sent to hosts as text.
import os
import socket
import struct

NETLINK_SOCK_DIAG = 4
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_DUMP = 0x1, 0x300
SOCK_DIAG_BY_FAMILY = 20
UNIX_DIAG_PEER, SHOW_PEER = 2, 4
UNIX_DIAG = struct.Struct("=4BI2I")  # struct unix_diag_msg
UNIX_REQUEST = struct.pack("=2BH3I2I", socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, SHOW_PEER, 0, 0)  # struct unix_diag_req
INET_DIAG_INFO, INET_DIAG_CGROUP_ID = 2, 21
ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSED, CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING = 1, 4, 5, 7, 8, 9, 10, 11
STATES = sum(1 << state for state in (ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING))
ASKED_STATES = STATES | 1 << LISTEN
FIN_CAME = (CLOSE_WAIT, LAST_ACK, CLOSING)
HEADER = struct.Struct("=IHHII")
DIAG = struct.Struct("=4B2s2s16s16sI8s5I")  # struct inet_diag_msg
COUNTS = struct.Struct("=QQII")  # of struct tcp_info, from tcpi_bytes_acked on
COUNTS_AT, SENT_AT, RETRANSMITTED_AT = 120, 200, 208
OPTIONS_AT, SEGMENT_AT, PATH_AT = 5, 16, 60  # tcpi_options, tcpi_snd_mss, tcpi_pmtu
TIME_STAMPS, TIME_STAMP_BYTES, MOST_OPTION_BYTES = 1, 12, 68  # IP's end at 40, those of TCP beside time stamps at 28
MAPPED = bytes(10) + b"\xff\xff"


def messages(data):
    """Yield type and body of every netlink message."""
    at = 0
    while at + HEADER.size <= len(data):
        size, kind, _, _, _ = HEADER.unpack_from(data, at)
        if size < HEADER.size:
            return
        yield kind, data[at + HEADER.size : at + size]
        at += (size + 3) & ~3


def attributes(data, at):
    """Yield type and value of every attribute that stands from a place on."""
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("=HH", data, at)
        if size < 4:
            return
        yield kind & 0x3FFF, data[at + 4 : at + size]
        at += (size + 3) & ~3


def dump(family, kind, body, connection=None):
    """Yield the answers to a request for everything, `connection` may be in another namespace; raises OSError."""
    with connection or socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as connection:
        connection.settimeout(5)
        connection.send(HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST | NLM_F_DUMP, 1, 0) + body)
        while True:
            for answer, content in messages(connection.recv(1 << 18)):
                if answer == NLMSG_DONE:
                    return
                if answer == NLMSG_ERROR:
                    number = -struct.unpack_from("=i", content)[0]
                    raise OSError(number, os.strerror(number))
                yield answer, content


def address_of(raw, family):
    """Return an address as text; an IPv4 one that an IPv6 socket maps is an IPv4 one."""
    if family == socket.AF_INET or raw.startswith(MAPPED):
        return socket.inet_ntop(socket.AF_INET, raw[12:16] if raw.startswith(MAPPED) else raw[:4])
    return socket.inet_ntop(socket.AF_INET6, raw)


def unix_peers():
    """Return inode to its peer's of connected Unix sockets; nothing where the kernel does not tell."""
    found = {}
    try:
        for _, content in dump(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, UNIX_REQUEST):
            peer = dict(attributes(content, UNIX_DIAG.size)).get(UNIX_DIAG_PEER)
            if peer is not None:
                found[UNIX_DIAG.unpack_from(content)[4]] = struct.unpack("=I", peer)[0]
    except OSError:
        pass
    return found


def is_datagrams(content):
    """Return whether the kernel told of the end of a socket of UDP: of TCP's it tells the counters."""
    return INET_DIAG_INFO not in dict(attributes(content, DIAG.size))


def listener_of(content):
    """Return inode and port of a message of sock_diag on a socket that listens; None for any other."""
    if len(content) < DIAG.size:
        return None
    _, state, _, _, sport, _, _, _, _, _, _, _, _, _, inode = DIAG.unpack_from(content)
    return (inode, int.from_bytes(sport, "big")) if state == LISTEN else None


def told(content):
    """Return cookie, ends, inode, counts, user, control group and options of a message of sock_diag; None for no
    connection.

    Its counts are None where the kernel tells none; its group is None where it was closed, or the kernel is old.
    """
    if len(content) < DIAG.size:
        return None
    family, state, _, _, sport, dport, source, target, _, cookie, _, _, _, uid, inode = DIAG.unpack_from(content)
    if dport == b"\0\0":
        return None
    more = dict(attributes(content, DIAG.size))
    info = more.get(INET_DIAG_INFO, b"")
    counts = counts_of(info, state)
    group = more.get(INET_DIAG_CGROUP_ID)
    ports = [int.from_bytes(port, "big") for port in (sport, dport)]
    ends = [address_of(source, family), ports[0], address_of(target, family), ports[1]]
    group = group and struct.unpack("=Q", group)[0]
    options = options_of(info, family == socket.AF_INET6 and ":" in ends[0]) if counts else (None, 0)
    return int.from_bytes(cookie, "little"), ends, inode, counts, uid, group, options


def unsent_of(content):
    """Return how many bytes of a connection wait to be sent or acknowledged, in a message of sock_diag."""
    return DIAG.unpack_from(content)[12]


def is_within_host(ends):
    """Return whether a connection stays on this host, as far as its addresses tell."""
    return ends[0] == ends[2] or ends[2].startswith("127.") or ends[2] == "::1"


def counts_of(info, state):
    """Return bytes sent and received, segments sent and received, and bytes sent again; kernels before 4.1 lack them.

    Of a connection that is closed, what was sent and never acknowledged is no payload either: it is told with what was
    sent again. What was acknowledged counts the SYN and the FIN as a byte each, what was sent does not: the smaller one
    is payload.
    """
    if len(info) < COUNTS_AT + COUNTS.size:
        return None
    acknowledged, received, segments_out, segments_in = COUNTS.unpack_from(info, COUNTS_AT)
    sent, again = max(acknowledged - 1, 0), None
    if len(info) >= RETRANSMITTED_AT + 8:
        all_sent, again = struct.unpack_from("=QQ", info, SENT_AT)
        sent = min(acknowledged, all_sent - again)
        again = all_sent - sent if state == CLOSED else again
    return [sent, received - (state in FIN_CAME and received > 0), segments_out, segments_in, again]


def options_of(info, is_ipv6):
    """Return whether a connection's packets have time stamps, and how much longer their headers may be than that.

    By so much less than the path takes is sent in one packet: for options of IP or TCP, or as the other end asked.
    """
    has_stamps = bool(info[OPTIONS_AT] & TIME_STAMPS)
    segment, path = (struct.unpack_from("=I", info, at)[0] for at in (SEGMENT_AT, PATH_AT))
    longer = path - segment - (60 if is_ipv6 else 40) - has_stamps * TIME_STAMP_BYTES
    return has_stamps, longer if 0 < longer <= MOST_OPTION_BYTES else 0
