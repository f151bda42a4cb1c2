"""Every name that a switch's configuration uses is defined."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_device
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    names = place.text("device.undefined_names")
    if names == "none":
        return None
    seen = [place.device_witness("undefined_names")]
    return Wrong(f"used and not defined: {names}", "define the name, or bind the one that was meant", seen)


CHECK = Check(
    "policy-dangling",
    "error",
    "every name that a switch's configuration uses is defined",
    why="a policy that does not exist does nothing, without a word",
    source="AzureStack network switch configuration samples",
    look=each_device("device.undefined_names", _judge),
)
