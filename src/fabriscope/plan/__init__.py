"""Plans: reading, checking, expanding."""

from fabriscope.plan.duration import expected_ns
from fabriscope.plan.expand import Schedule, expand
from fabriscope.plan.load import Plan, Vocabulary, hosts_to_come, load

__all__ = ["Plan", "Schedule", "Vocabulary", "expand", "expected_ns", "hosts_to_come", "load"]
