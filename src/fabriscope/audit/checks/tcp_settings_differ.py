"""All hosts have TCP set alike."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree

_SYSCTLS = {
    "core_rmem_max_bytes": "net.core.rmem_max",
    "core_wmem_max_bytes": "net.core.wmem_max",
    "core_busy_poll_us": "net.core.busy_poll",
    "core_netdev_max_backlog": "net.core.netdev_max_backlog",
    "core_default_qdisc": "net.core.default_qdisc",
}
"""All others are of net.ipv4, with tcp_ before them."""
_NUMBERS = {"yes": "1", "no": "0"}
_BUFFERS = {"receive_buffer_bytes_max": "tcp_rmem", "send_buffer_bytes_max": "tcp_wmem"}
"""Files of three numbers, of which the last is meant."""


def _remedy(parts: Sequence[str], usual: str) -> str:
    if name := _BUFFERS.get(parts[0]):
        return f'sysctl -w net.ipv4.{name}="$(cut -f1,2 /proc/sys/net/ipv4/{name}) {usual}"'
    name = _SYSCTLS.get(parts[0], f"net.ipv4.tcp_{parts[0]}")
    return f"sysctl -w {name}={_NUMBERS.get(usual, usual)}"


CHECK = Check(
    "tcp-settings-differ",
    "warning",
    "all hosts have TCP set alike",
    why="a stream has what both of its ends have: the smaller buffer, and no SACK that one of them lacks",
    source="esnet/iperf#375, #1664",
    look=agree(
        r"tcp\.(receive_buffer_bytes_max|send_buffer_bytes_max|core_rmem_max_bytes|core_wmem_max_bytes|timestamps|sack|window_scaling|ecn|core_busy_poll_us|core_netdev_max_backlog|core_default_qdisc)",
        "the setting",
        told_by="sysctl -a | grep -e tcp -e core",
        remedy=_remedy,
    ),
)
