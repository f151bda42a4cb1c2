"""Plans: reading, checking, expanding."""

from fabriscope.plan.duration import expected_ns, start_ns
from fabriscope.plan.expand import TYPICAL_BLOCKS, Schedule, expand
from fabriscope.plan.load import Plan, Vocabulary, hosts_to_come, load

__all__ = [
    "TYPICAL_BLOCKS",
    "Plan",
    "Schedule",
    "Vocabulary",
    "expand",
    "expected_ns",
    "hosts_to_come",
    "load",
    "start_ns",
]
