"""Plans: reading, checking, expanding."""

from fabriscope.plan.expand import Schedule, expand, expected_ns
from fabriscope.plan.load import Plan, Vocabulary, load

__all__ = ["Plan", "Schedule", "Vocabulary", "expand", "expected_ns", "load"]
