"""All hosts have TCP set alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "tcp-settings-differ",
    "warning",
    "all hosts have TCP set alike",
    why="a stream stops at the smaller buffer of its two ends",
    source="esnet/iperf#375, #1664",
    look=agree(
        r"tcp\.(receive_buffer_bytes_max|send_buffer_bytes_max|core_rmem_max_bytes|core_wmem_max_bytes|timestamps|sack|window_scaling|ecn|core_busy_poll_us|core_netdev_max_backlog|core_default_qdisc)",
        "the setting",
        told_by="sysctl -a | grep -e tcp -e core",
        remedy="set {0} as on the others, {usual}",
    ),
)
