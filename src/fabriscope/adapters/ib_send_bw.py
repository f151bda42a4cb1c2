"""ib_send_bw of perftest over verbs, for the streams of many to one and many to many.

Its messages are received, as those of our engine are; the receiver polls for them.
"""

from __future__ import annotations

from fabriscope.adapters._perftest_streams import PerftestStreams

ADAPTER = PerftestStreams("ib_send_bw")
