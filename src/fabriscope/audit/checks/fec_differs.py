"""Links of one name correct errors alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "fec-differs",
    "warning",
    "links of one name correct errors alike",
    why="FEC adds latency, and a link without it retries",
    source="vendors' guides; majority",
    look=agree(
        r"link\.(.+)\.fec_active",
        "FEC",
        told_by="ethtool --show-fec {0}",
        remedy="ethtool --set-fec {0} encoding {usual} (the link goes down for a moment)",
    ),
)
