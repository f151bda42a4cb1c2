"""Interfaces of one name have one MTU on all hosts."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "mtu-hosts-agree",
    "error",
    "interfaces of one name have one MTU on all hosts",
    why="large messages hang or are retried where one end sends frames that the other does not take",
    source="kvcache-ai/Mooncake#3868, #3878",
    look=agree(
        r"interface\.((?!lo\.).+)\.mtu_bytes",
        "the MTU",
        told_by="ip -j link show dev {0}",
        remedy="ip link set dev {0} mtu {usual}",
    ),
)
