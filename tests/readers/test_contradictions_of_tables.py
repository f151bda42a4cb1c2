"""Golden texts of which one number, unit or row was changed, and what is said of it: programs that print tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.readers.test_golden import DATA, read

CHANGED = [
    ("nccl/all_reduce", "   460.87   36.40", "   46.087   36.40", "16777216 B in 46.087 us are not 36.40 GB/s"),
    (
        "nccl/all_reduce",
        "(GB/s)  (GB/s)             (us)",
        "(MB/s)  (GB/s)             (us)",
        "are not those that are known",
    ),
    ("nccl/all_reduce", "#wrong     time", "#right     time", "the column '#right' is not known"),
    ("nccl/all_reduce", "   54.60", "   94.60", "the average bus bandwidth is"),
    ("iperf2/client", "223 MBytes   935", "223 MBytes   395", "223 MBytes in 2 sec are not 395 Mbits/sec"),
    (
        "iperf2/client",
        "Transfer     Bandwidth",
        "Transfer     Bandwidth    Ponies",
        "the columns 'Ponies' are not known",
    ),
    ("iperf2/udp", "5/895 (0.56%)", "55/895 (0.56%)", "55 of 895 packets are said to be lost, and 0.56 %"),
    ("ycsb/histogram", "[READ], 2, 4", "[READ], 2, 5", "the buckets have 11 operations, and 10 were made"),
    ("ycsb/histogram", "MinLatency(us), 554", "MinLatency(us), 5554", "the least, the mean and the most are 5554"),
    ("ycsb/mix", "99thPercentileLatency(us)", "99thPercentileLatency(eons)", "is not known"),
    ("hpcg/yaml", "Raw Total: 12", "Raw Total: 13", "7.26e+11 operations in 60.5 s are not 13 GFLOP/s"),
    ("hpcc/run", "HPL_time=0.049151", "HPL_time=0.49151", "N = 600 in 0.49151 s are not 0.00294074 Tflop/s"),
    ("gpcnet/load", "1.4X", "1.4", "does not end in X"),
    ("ucx_perftest/older", "1169591", "116959", "operations of 0.855 usec are not 116959 a second"),
    ("netperf/stream", "10^6bits/sec", "furlongs/sec", "the throughput is in 'furlongs', which is not known"),
    ("netpipe/file", "0.00000533", "0.00005330", "1 B in 0.00005330 s are not 1.430184 Mbps"),
]


@pytest.mark.parametrize(("name", "old", "new", "says"), CHANGED, ids=lambda part: str(part)[:24])
def test_what_contradicts_itself_is_refused_in_its_line(name: str, old: str, new: str, says: str) -> None:
    text = (DATA / f"{name}.txt").read_text()
    assert old in text
    program = Path(name).parent.name
    assert not [problem for problem in read(program, text).problems if problem.kind == "refused"]
    (problem,) = [one for one in read(program, text.replace(old, new, 1)).problems if one.kind == "refused"]
    assert says in problem.text
    assert 0 < problem.line <= text.count("\n") + 1
