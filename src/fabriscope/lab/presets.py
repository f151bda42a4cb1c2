"""Emulated Ethernets, with the reasons for their numbers."""

from __future__ import annotations

from fabriscope.model.lab import SwitchSpec

# A cable of a few metres takes some 20 ns and a cut of the switch's lookup a few microseconds; 5 us stands for both,
# and lies where small managed switches were measured.
_DELAY_NS = 5_000

PRESETS = {
    "ethernet-100": SwitchSpec("ethernet-100", 100_000_000, _DELAY_NS, 128 << 10),
    "gige": SwitchSpec("gige", 1_000_000_000, _DELAY_NS, 512 << 10),
    # The e325 study's bcm5700 driver by default: receive ticks 80 us, 15 frames; `gige` is its tuned setting,
    # every frame at once.
    "gige-untuned": SwitchSpec("gige-untuned", 1_000_000_000, _DELAY_NS, 512 << 10, 80_000, 15),
    "local": SwitchSpec("local"),
}
DESCRIPTIONS = {
    "ethernet-100": "Fast Ethernet",
    "gige": "Gigabit Ethernet whose card hands every frame over at once",
    "gige-untuned": "Gigabit Ethernet whose card waits up to 80 us or for 15 frames, as bcm5700 did by default",
    "local": "plain veth and bridge, unshaped: as fast as this machine's kernel is",
}
