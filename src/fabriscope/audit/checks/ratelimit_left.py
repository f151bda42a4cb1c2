"""No traffic class is limited."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if not str(place.get("interface.{0}.driver")).startswith("mlx"):
        raise NothingThere
    limits = place.text("dcb.{0}.rate_limits")
    if limits == "none":
        return None
    seen = [place.witness("dcb.{0}.rate_limits", "mlnx_qos -i {0}")]
    return Wrong(f"rates are limited: {limits}", "mlnx_qos -i {0} -r 0,0,0,0,0,0,0,0", seen)


CHECK = Check(
    "ratelimit-left",
    "warning",
    "no traffic class is limited",
    why="an exact ceiling below the line rate",
    source="Mellanox/mlnx-tools",
    look=each(r"dcb\.(.+)\.rate_limits", _judge),
)
