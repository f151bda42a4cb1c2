"""What a plan may set on the lab's switch while it runs: one table."""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.model.host import Host


@dataclass(frozen=True)
class SwitchSetting:
    """One setting of a fabric's switch."""

    name: str
    """As plans have it."""
    does: str
    word: str
    """The switch's own."""
    values: str
    """Which it takes, for people."""
    keys: tuple[str, ...]
    """Of a plan's `lab:` section, and of `fabriscope lab set`."""
    needs_queues: bool = False
    """Only a switch with priorities has it."""
    parts: int = 1
    """Of a whole: in how many of them the switch counts."""

    @property
    def unit(self) -> str:
        """Return what stands behind a number of it as the switch says it: of rates, times and sizes."""
        return {"a rate": " b/s", "a time": " ns"}.get(self.values, " B" if self.values.startswith("a size") else "")


@dataclass(frozen=True)
class SwitchPlace:
    """Where a fabric's switch is told something."""

    host: Host
    """The lab's own namespaces."""
    socket: str
    """At which it listens there."""
    fabric: str
    """As the switch calls it."""


_TABLE = (
    SwitchSetting("switch_rate", "line rate of every port, as 100Mb/s", "rate", "a rate", ("rate",)),
    SwitchSetting("switch_delay", "delay from host to host, as 50us, or in ns", "delay", "a time", ("delay",)),
    SwitchSetting("switch_buffer", "output buffer of every port; 0: without end", "buffer", "a size", ("buffer",)),
    SwitchSetting("switch_on_full", "what a full output does", "on_full", "drop or pause", ("on_full",)),
    SwitchSetting(
        "switch_loss", "chance of each frame to be lost", "loss_ppb", "a share below 1", ("loss",), parts=10**9
    ),
    SwitchSetting(
        "switch_coalesce", "hosts' cards hand over what has come after the first, or when it is the second", "coalesce",
        "as 80us/15, or none", ("rx_coalesce_time", "rx_coalesce_frames"),
    ),
    SwitchSetting(
        "switch_pfc", "priorities that are paused instead of dropped", "pfc", "as 3/4, or none", ("pfc",), True
    ),
    SwitchSetting(
        "switch_xoff", "above it the other end of a port is stopped", "xoff", "a size, or none", ("xoff",), True
    ),
    SwitchSetting("switch_xon", "at which it goes on", "xon", "a size, or none", ("xon",), True),
    SwitchSetting("switch_headroom", "for what is on its way", "headroom", "a size, or none", ("headroom",), True),
    SwitchSetting("switch_shared_buffer", "of all queues together", "shared", "a size", ("shared_buffer",), True),
    SwitchSetting(
        "switch_alpha", "a queue may hold this times what is free of it", "alpha_ppm", "0.001 to 1000", ("alpha",),
        True, 10**6,
    ),
    SwitchSetting(
        "switch_ecn", "frames are marked above the first, all above the second; one is both", "ecn",
        "as 30KiB/90KiB, 30KiB, or none", ("ecn_min", "ecn_max"), True,
    ),
    SwitchSetting(
        "switch_ecn_probability", "the chance of a mark just below the second", "ecn_ppb", "a share",
        ("ecn_probability",), True, 10**9,
    ),
    SwitchSetting("switch_scheduler", "whose turn it is", "turns", "strict or fair", ("scheduler",), True),
)  # fmt: skip

SWITCH_SETTINGS = {one.name: one for one in _TABLE}
"""Every one by its name."""
