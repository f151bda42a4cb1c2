"""A fast card asks for 4 KiB of memory at once."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong

_FAST_BITS_PER_S = 10**11
_LARGEST_BYTES = 4096


def _judge(place: Place) -> Wrong | None:
    if place.get("virtualisation.is_guest") is True:
        raise NothingThere  # its hypervisor's business
    size = place.number("pcie.{0}.max_read_request_bytes")
    if size >= _LARGEST_BYTES or place.number("interface.{0}.speed_bits_per_s") < _FAST_BITS_PER_S:
        return None
    address = place.text("pcie.{0}.address")
    seen = [place.witness("pcie.{0}.max_read_request_bytes", f"lspci -vvs {address}"),
            place.witness("interface.{0}.speed_bits_per_s", "ethtool {0}")]  # fmt: skip
    fix = f"setpci -s {address} CAP_EXP+8.w=5000:7000 (after each boot, or in the BIOS)"
    return Wrong(f"the card reads {size:.0f} B at once", fix, seen)


CHECK = Check(
    "max-read-request",
    "warning",
    "a fast card asks for 4 KiB of memory at once",
    why="what it sends is read in many small pieces: below line rate",
    source="ROCm/gpu-cluster-networking; PCI Express, Device Control register",
    look=each(r"pcie\.(.+)\.max_read_request_bytes", _judge),
)
