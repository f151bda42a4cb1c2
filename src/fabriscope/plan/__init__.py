"""Plans: reading, checking, expanding."""

from fabriscope.plan.added import LEAST_ROOM, blocks_of, most_added_ns, round_of, trials_of
from fabriscope.plan.applications import instruments
from fabriscope.plan.cases import at_size
from fabriscope.plan.duration import (
    application_s,
    around_ns,
    delay_ns,
    expected_by_launch,
    expected_ns,
    least_ns,
    reckoned_ns,
    start_ns,
    timed_ns,
    told_ns,
)
from fabriscope.plan.expand import TYPICAL_BLOCKS, Schedule, expand
from fabriscope.plan.job_hosts import hosts_to_come
from fabriscope.plan.load import Plan, load
from fabriscope.plan.owners import refuse_others
from fabriscope.plan.pilots import FLOOR, Pilots, enough_ns, lengthened, nothing_to_choose, pilots_of
from fabriscope.plan.selections import unmeasured
from fabriscope.plan.settings import values_of as set_values
from fabriscope.plan.tuning import tuned_fabric
from fabriscope.plan.tuning import values_of as tuned_values
from fabriscope.plan.turns import turn_ns_of
from fabriscope.plan.vocabulary import Vocabulary

__all__ = [
    "FLOOR",
    "LEAST_ROOM",
    "TYPICAL_BLOCKS",
    "Pilots",
    "Plan",
    "Schedule",
    "Vocabulary",
    "application_s",
    "around_ns",
    "at_size",
    "blocks_of",
    "delay_ns",
    "enough_ns",
    "expand",
    "expected_by_launch",
    "expected_ns",
    "hosts_to_come",
    "instruments",
    "least_ns",
    "lengthened",
    "load",
    "most_added_ns",
    "nothing_to_choose",
    "pilots_of",
    "reckoned_ns",
    "refuse_others",
    "round_of",
    "set_values",
    "start_ns",
    "timed_ns",
    "told_ns",
    "trials_of",
    "tuned_fabric",
    "tuned_values",
    "turn_ns_of",
    "unmeasured",
]
