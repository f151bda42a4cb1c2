"""Interfaces of one name answer ARP alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "arp-differs",
    "note",
    "interfaces of one name answer ARP alike",
    why="the wrong port answers on some hosts",
    source="NVIDIA/nccl#1269",
    look=agree(
        r"ip\.(.+)\.(rp_filter|arp_ignore|arp_announce)",
        "the setting",
        told_by="sysctl net.ipv4.conf.{0}.{1}",
        remedy="sysctl net.ipv4.conf.{0}.{1}={usual}",
    ),
)
