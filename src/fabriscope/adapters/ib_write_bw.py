"""ib_write_bw of perftest over verbs, for the streams of many to one and many to many.

It writes to the receiver's memory: the receiver's processor has no part in that.
"""

from __future__ import annotations

from fabriscope.adapters._perftest_streams import PerftestStreams

ADAPTER = PerftestStreams("ib_write_bw")
