"""The known traps of what a program of ours prints stand in its launch's details, by metric and case."""

from __future__ import annotations

from tests.adapters.test_osu import launch, of, read

from fabriscope.model.record import Details
from fabriscope.store.shapes import decode

BIBW = """# OSU MPI Bi-Directional Bandwidth Test v7.4
# Size      Bandwidth (MB/s)
65536                 200.00
"""


def test_what_we_launched_has_the_traps_of_its_numbers_and_none_of_a_log_alone() -> None:
    asked = launch(of("bidirectional_bandwidth", 65536, window=64))
    (case,) = asked.cases
    details = read(asked, BIBW).details
    # its window is the plan's, and its table as long as it should be
    assert details["traps"] == {"sum-of-directions": {"bidirectional_bandwidth_bytes_per_s": [case.case_id]}}
    told = decode({"traps": details["traps"]}, Details).traps
    assert told == {"sum-of-directions": {"bidirectional_bandwidth_bytes_per_s": (case.case_id,)}}


def test_what_has_no_trap_says_nothing_of_any() -> None:
    latency = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n65536 200.00\n"
    assert "traps" not in read(launch(of("ping_pong", 65536)), latency).details
