"""How often a poll that finds nothing is repeated before interrupts are on again."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "napi_defer_irqs",
    "empty polls before interrupts are on again",
    "/sys/class/net/{interface}/napi_defer_hard_irqs",
    number(0, 10**6),
    "interface",
    "",
)
