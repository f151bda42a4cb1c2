"""Plans: reading, checking, expanding."""

from fabriscope.plan.duration import expected_ns
from fabriscope.plan.expand import Schedule, expand
from fabriscope.plan.load import Plan, Vocabulary, load

__all__ = ["Plan", "Schedule", "Vocabulary", "expand", "expected_ns", "load"]
