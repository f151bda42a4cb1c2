"""All hosts have one congestion control."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "tcp-cc-differs",
    "note",
    "all hosts have one congestion control",
    why="flows share a link unfairly",
    source="majority",
    look=agree(
        r"tcp\.congestion_control",
        "congestion control",
        told_by="sysctl net.ipv4.tcp_congestion_control",
        remedy="sysctl net.ipv4.tcp_congestion_control={usual}",
    ),
)
