# ruff: noqa: S606
# Runs in the namespaces of a host, fed to `python3 -I -S -c`: becomes the guest's kernel, with a packet socket on each
# interface that its cards stand for. argv: interfaces with commas between, then the kernel's words, in which {0},
# {1} ... stand for the sockets.
import contextlib
import os
import socket
import sys

ETH_P_ALL = 0x0003
SOL_PACKET = 263
PACKET_QDISC_BYPASS = 20
PACKET_IGNORE_OUTGOING = 23
SO_RCVBUFFORCE = 33
WAITING_BYTES = 16 << 20
"""What may wait while the guest has no processor: all that a switch at 1 Gb/s sends in a tenth of a second."""
KERNEL_NICENESS = -10
"""The kernel of a guest and the guest's programs are processes side by side: a program that polls would keep it waiting
for milliseconds, until its slice has ended, while frames lie there. Before them goes the switch, which is the wire."""


def card(interface: str) -> int:
    """Return a socket that takes and gives whole frames of an interface."""
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    one.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    one.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WAITING_BYTES)
    with contextlib.suppress(OSError):  # beyond the machine's limit where that is allowed
        one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, WAITING_BYTES)
    one.bind((interface, ETH_P_ALL))
    os.set_inheritable(one.fileno(), True)
    return one.detach()


def go_before_programs() -> None:
    """Let this process, but none that it begins, go before others, where that is allowed."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, KERNEL_NICENESS)
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))


go_before_programs()
cards = [card(interface) for interface in sys.argv[1].split(",") if interface]
words = [word.format(*cards) if "{" in word else word for word in sys.argv[2:]]
os.execv(words[0], words)
