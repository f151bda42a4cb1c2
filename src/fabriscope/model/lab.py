"""What a lab is asked to be: hosts and the switches between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fabriscope.model.limits import Count, DurationNs, Ordinal, Seed, Share, SizeBytes, Whole32, Within
from fabriscope.model.switch_queues import SwitchQueues, queue_words


@dataclass(frozen=True)
class SwitchSpec:
    """One emulated switch; every port and both directions are alike."""

    preset: str = "local"
    """The preset that the numbers came from; `local` is a plain bridge without any shaping."""
    rate_bits_per_s: Annotated[int, Within(0, 10**18)] = 0
    """Line rate of each port; 0 is unlimited."""
    delay_ns: DurationNs = 0
    """Propagation delay from host to host, serialisation not included."""
    buffer_bytes: SizeBytes = 0
    """Output buffer of each port, tail drop; 0 is unlimited."""
    rx_coalesce_ns: DurationNs = 0
    """The longest that a received frame waits for company; 0 delivers at once."""
    rx_coalesce_frames: Whole32 = 1
    """Waiting frames delivered at once."""
    mtu_bytes: Ordinal = 1500
    on_full: str = "drop"
    """What an output does whose buffer is full: `drop`, or `pause` (it stops the senders before, as 802.3x does)."""
    loss_share: Share = 0.0
    """Chance of each frame to be lost on its way out of the switch."""
    drop_every: Count = 0
    """One frame out of a port in this many is lost; 0: none."""
    reorder_share: Share = 0.0
    """Chance of each frame to wait aside for `reorder_delay_ns`, while others overtake it."""
    reorder_delay_ns: DurationNs = 0
    flap_period_ns: DurationNs = 0
    """Every link is down at the end of each such period; 0: never."""
    flap_down_ns: DurationNs = 0
    """How long."""
    fault_seed: Seed = 1
    """Of what happens by chance."""
    queues: SwitchQueues = field(default_factory=SwitchQueues)
    """What it does by priority."""

    @property
    def is_shaped(self) -> bool:
        """Return whether a switch process is needed: a bridge will do for `local` as it comes."""
        return self.preset != "local" or self != SwitchSpec(mtu_bytes=self.mtu_bytes)


RDMA_DRIVERS = {"soft-roce": "rxe", "iwarp": "siw"}
"""What a fabric that speaks verbs in software is called, and the kernel's driver of it."""

LEAST_CPU_SHARE = 0.05
"""Of a guest: with less it would not boot in time."""


@dataclass(frozen=True)
class LabSpec:
    """A whole lab: host names, and one switch for each fabric name, in the order of eth0, eth1 ..."""

    hosts: tuple[str, ...]
    fabrics: Mapping[str, SwitchSpec] = field(default_factory=dict)
    congestion_control: str = "reno"
    """TCP's default on the hosts. Not the machine's own, which may be bbr: its pacing lets a ping-pong wait for
    milliseconds. cubic cannot be the default of a namespace, and acts as reno at a lab's round-trip times."""
    guests: tuple[str, ...] = ()
    """Those of the hosts that have a kernel of their own."""
    cpu_shares: Mapping[str, float] = field(default_factory=dict)
    """Guest to its share of one processor's time; guests that are not in it have all that they can get."""
    guest_memory_bytes: int = 1 << 30
    """Of each guest; taken from the machine as it is used."""
    rdma: Mapping[str, str] = field(default_factory=dict)
    """Fabric name to the kernel driver that makes an RDMA device of its interfaces on guests, one of RDMA_DRIVERS."""


def fault_words(switch: Mapping[str, Any]) -> list[str]:
    """Return what is wrong on purpose with a switch, for people; `switch` holds fields of SwitchSpec."""
    said = {
        "on_full": "pauses senders instead of dropping" if switch.get("on_full") == "pause" else "",
        "loss_share": f"loses {100 * switch.get('loss_share', 0):.4g} % of all frames",
        "drop_every": f"loses one frame in {switch.get('drop_every')}",
        "reorder_share": f"holds {100 * switch.get('reorder_share', 0):.4g} % of all frames"
        f" back for {switch.get('reorder_delay_ns', 0) / 1000:g} µs",
        "flap_period_ns": f"links are down for {switch.get('flap_down_ns', 0) / 1e6:g} ms"
        f" of every {switch.get('flap_period_ns', 0) / 1e6:g} ms",
    }
    words = [words for field_name, words in said.items() if switch.get(field_name) and words]
    queues = switch.get("queues")
    return [*words, *(queue_words(queues) if isinstance(queues, Mapping) else ())]
