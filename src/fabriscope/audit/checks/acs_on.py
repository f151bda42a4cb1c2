"""Cards and GPUs reach each other without the processor."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.get("virtualisation.is_guest") is True:
        raise NothingThere  # there ACS is what keeps guests apart
    bridges = place.text("pcie.{0}.acs_redirecting")
    if bridges == "none":
        return None
    if not place.number("pcie.gpu_count"):
        raise NothingThere
    seen = [place.witness("pcie.{0}.acs_redirecting", "lspci -Dvv | grep -e '^[0-9a-f]' -e ACSCtl"),
            place.witness("pcie.gpu_count", "lspci")]  # fmt: skip
    off = "; ".join(f"setpci -s {one} ECAP_ACS+6.w=0000" for one in bridges.split())
    return Wrong(f"ACS redirects requests at {bridges}", f"{off} (after each boot, or off in the BIOS)", seen)


CHECK = Check(
    "acs-on",
    "error",
    "cards and GPUs reach each other without the processor",
    why="RDMA between GPU and card goes by way of the root: a third of the rate, or it hangs",
    source="NVIDIA/nccl#1737, #2079, #489",
    look=each(r"pcie\.(.+)\.acs_redirecting", _judge),
)
