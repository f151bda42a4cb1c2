"""What may be wrong on purpose in a lab, by names that people know it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong."""

    does: str
    seen_by: str
    """The audit's check that finds it, or how it shows."""
    setting: tuple[str, str, str] | None = None
    """Of a host: what it is in words, its file with `{interface}`, and the value that it gets."""
    switch: tuple[tuple[str, Any], ...] = ()
    """Of the switch: fields of what is wrong with a link."""

    @property
    def is_of_fabric(self) -> bool:
        """Return whether it befalls all hosts of a fabric: what every port of the switch is."""
        return any(field in _OF_FABRIC for field, _ in self.switch)


_OF_FABRIC = {"on_full", "rate_bits_per_s", "delay_ns", "buffer_bytes", "rx_coalesce_ns"}


def _mtu(mtu_bytes: int) -> Fault:
    setting = ("the MTU of {interface}", "/sys/class/net/{interface}/mtu", str(mtu_bytes))
    return Fault(f"the host's interface has an MTU of {mtu_bytes}", "mtu-hosts-agree", setting)


_SYSCTL = "/proc/sys/net/ipv4"
FAULTS = {
    "mtu": _mtu(1400),
    "buffers": Fault(
        "TCP's receive buffer ends at 64 KiB",
        "tcp-settings-differ",
        ("TCP's receive buffer", f"{_SYSCTL}/tcp_rmem", "4096\t16384\t65536"),
    ),
    "sack": Fault(
        "TCP repeats all that follows a loss",
        "tcp-settings-differ",
        ("TCP's selective acknowledgements", f"{_SYSCTL}/tcp_sack", "0"),
    ),
    "windows": Fault(
        "TCP's windows end at 64 KiB",
        "tcp-settings-differ",
        ("TCP's window scaling", f"{_SYSCTL}/tcp_window_scaling", "0"),
    ),
    "small-mtu": _mtu(600),
    "arp": Fault(
        "the host answers for addresses of the interface alone",
        "arp-differs",
        ("arp_ignore of {interface}", f"{_SYSCTL}/conf/{{interface}}/arp_ignore", "1"),
    ),
    "loss": Fault(
        "the link loses one frame in a hundred",
        "intervene: true, numbers, and retransmissions",
        switch=(("loss_share", 0.01),),
    ),
    "pause": Fault(
        "a full output pauses its senders",
        "incast, and pauses in `lab status --counters`",
        switch=(("on_full", "pause"),),
    ),
    "slow-wire": Fault(
        "every port has a line rate of 50 Mb/s",
        "intervene: true, and numbers",
        switch=(("rate_bits_per_s", 50_000_000),),
    ),
    "far": Fault(
        "a frame takes 20 ms from host to host",
        "intervene: true, and numbers",
        switch=(("delay_ns", 20_000_000),),
    ),
    "small-buffer": Fault(
        "an output holds 16 KiB",
        "intervene: true, and drops in `lab status --counters`",
        switch=(("buffer_bytes", 16384),),
    ),
    "coalescing": Fault(
        "cards hand frames over after 10 ms, or when 64 have come",
        "intervene: true, and numbers",
        switch=(("rx_coalesce_ns", 10_000_000), ("rx_coalesce_frames", 64)),
    ),
    "cable": Fault("the link is down", "nothing passes", switch=(("is_down", True),)),
    "flaps": Fault(
        "the link is down for 50 ms of each second",
        "numbers, and retransmissions",
        switch=(("flap_period_ns", 10**9), ("flap_down_ns", 50_000_000)),
    ),
}
