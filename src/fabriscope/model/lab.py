"""What a lab is asked to be: hosts and the switches between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SwitchSpec:
    """One emulated switch; every port and both directions are alike."""

    preset: str = "local"
    """The preset that the numbers came from; `local` is a plain bridge without any shaping."""
    rate_bits_per_s: int = 0
    """Line rate of each port; 0 is unlimited."""
    delay_ns: int = 0
    """Propagation delay from host to host, serialisation not included."""
    buffer_bytes: int = 0
    """Output buffer of each port, tail drop; 0 is unlimited."""
    rx_coalesce_ns: int = 0
    """A received frame waits at most so long for company; 0 delivers at once."""
    rx_coalesce_frames: int = 1
    """So many waiting frames are delivered at once."""
    mtu_bytes: int = 1500

    @property
    def is_shaped(self) -> bool:
        """Return whether a switch process is needed."""
        return self.preset != "local"


@dataclass(frozen=True)
class LabSpec:
    """A whole lab: host names, and one switch for each fabric name, in the order of eth0, eth1 ..."""

    hosts: tuple[str, ...]
    fabrics: Mapping[str, SwitchSpec] = field(default_factory=dict)
    congestion_control: str = "reno"
    """TCP's default on the hosts. Not the machine's own, which may be bbr: its pacing lets a ping-pong wait for
    milliseconds. cubic cannot be the default of a namespace, and acts as reno at a lab's round-trip times."""
