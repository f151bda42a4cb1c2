"""All hosts may sleep equally deep."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "idle-states-differ",
    "note",
    "all hosts may sleep equally deep",
    why="the first message after a pause is slower where processors sleep deeper",
    source="fabriscope docs; majority",
    look=agree(
        r"cpu\.deepest_idle_state",
        "the deepest idle state",
        told_by="cat /sys/module/intel_idle/parameters/max_cstate",
        remedy="hold /dev/cpu_dma_latency open during a run",
    ),
)
