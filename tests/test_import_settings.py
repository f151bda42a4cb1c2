"""What a log says of its test tells curves apart: numbers under other settings are no replicates and not compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope
from fabriscope.running import importing

PERFTEST = """\
                    Send BW Test
 Number of qps   : {qps}            Transport type : IB
 Connection type : {connection}           Using SRQ      : OFF
 TX depth        : {depth}
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 4096       50000            9.03               9.01               0.274963
"""
OSU = """\
# OSU MPI Multi-threaded Latency Test v5.9
# Number of Sender threads: {senders}
# Number of Receiver threads: {receivers}
# Size          Latency (us)
1                       {time}
2                       3.07
"""
PYTHON = "# {suite} {name} Latency Test\n# Size          Latency (us)\n1                       3.05\n"
RESPONSES = """\
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to b () port 0 AF_INET : first burst {burst}
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 {asked}        {answered}       10.00    20500.75
16384  131072
"""
UCX = """\
+------------------------------+
| API:          {api} |
| Test:         tag match bandwidth |
| Send memory:  {memory} |
| Recv memory:  host |
| Message size: 8 |
| Window size:  {window} |
+------------------------------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
Final:               1000000      2.500     2.500     2.500        3.05       3.05      400000      400000
"""
NCCL = """\
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
# Using devices
{devices}#   size     count   type  redop  root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    50.00   20.97   20.97      0    50.00   20.97   20.97      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 20.97
"""
HADOOP = """\
----- TestDFSIO ----- : write
            Date & time: Mon Jun 02 10:00:00 UTC 2025
        Number of files: {files}
 Total MBytes processed: {megabytes}
      Throughput mb/sec: 80.5
 Average IO rate mb/sec: 81.25
  IO rate std deviation: 4.5
     Test exec time sec: 900.0

"""
YCSB = """\
Command line: -threads {threads} -target 0 -P workloads/workloada -t
[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 1000.0
[READ], Operations, 10000
[READ], AverageLatency(us), 700.5
[READ], MinLatency(us), 200
[READ], MaxLatency(us), 9000
[READ], 95thPercentileLatency(us), 1500
[READ], 99thPercentileLatency(us), 3000
[READ], Return=OK, 10000
"""
NPB = """\
 CG Benchmark Completed.
 Class           =                        S
 Size            =                     1400
 Iterations      =                       15
 Time in seconds =                     0.20
 Total processes =                        {count}
 Active procs    =                        {count}
 Mop/s total     =                   400.00
 Mop/s/process   =                   {each}
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
"""
IPERF = """\
------------------------------------------------------------
Client connecting to 10.0.0.1, TCP port 5001
TCP window size: {window}
------------------------------------------------------------
[  3] local 10.0.0.2 port 40000 connected with 10.0.0.1 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  1.09 GBytes   936 Mbits/sec
"""
IMB = """\
#    Intel(R) MPI Benchmarks {version}, MPI-1 part
# Calling sequence was:

# IMB-MPI1 x

# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   {datatype}
# Benchmarking {test}
# #processes = 2
{head}
# All processes entering MPI_Finalize
"""
UNIBAND = """\
       #bytes #repetitions   Mbytes/sec      Msg/sec
            8         1000        20.00      2500000"""
REDUCE = """\
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         2.00         2.50         2.25"""
OF_UNIBAND = {"version": "2021.1", "datatype": "MPI_FLOAT", "test": "Uniband", "head": UNIBAND}
QP, ASKED, BOX = {"qps": 1, "connection": "RC", "depth": 128}, {"burst": 0, "asked": 1, "answered": 1}, {}
BOX = {"api": "protocol layer", "memory": "host", "window": 32}
RANK = "#  Rank  {} Pid 1 on {} device  0 [0x00] X\n"
CASES = [
    (PERFTEST, QP, {"qps": 4}),
    (PERFTEST, QP, {"connection": "UC"}),
    (PERFTEST, QP, {"depth": 8}),
    (OSU, {"senders": 1, "receivers": 2, "time": "3.05"}, {"receivers": 4}),
    (PYTHON, {"suite": "OSU", "name": "MPI"}, {"suite": "OMB Python"}),
    (RESPONSES, ASKED, {"answered": 1024}),
    (RESPONSES, ASKED, {"burst": 16}),
    (UCX, BOX, {"window": 1}),
    (UCX, BOX, {"memory": "cuda"}),
    (UCX, BOX, {"api": "transport layer"}),
    (NCCL, {"devices": RANK.format(0, "a")}, {"devices": RANK.format(0, "a") + RANK.format(1, "b")}),
    (HADOOP, {"files": 10, "megabytes": 10000}, {"files": 20}),
    (HADOOP, {"files": 10, "megabytes": 10000}, {"megabytes": 20000}),
    (YCSB, {"threads": 8}, {"threads": 64}),
    (NPB, {"count": 4, "each": "100.00"}, {"count": 8, "each": " 50.00"}),
    (IMB, OF_UNIBAND, {"version": "2021.2"}),
    (IMB, OF_UNIBAND | {"test": "Allreduce", "head": REDUCE}, {"datatype": "MPI_DOUBLE"}),
    (IPERF, {"window": "85.0 KByte (default)"}, {"window": "16.0 KByte"}),
]  # fmt: skip


def curves(log: Path, text: str) -> set[tuple[object, ...]]:
    log.write_text(text)
    run = log.with_suffix(".run")
    assert not importing.run([log], run, {}).left_out
    frame = results_of(store.open_run(run).read()).estimates
    return set(frame.select("benchmark", "series", "window_size", "message_size_bytes", "metric_id").iter_rows())


@pytest.mark.parametrize(("form", "usual", "other"), CASES)
def test_a_setting_that_the_log_says_tells_curves_apart(
    tmp_path: Path, form: str, usual: dict[str, object], other: dict[str, object]
) -> None:
    texts = [form.format(**said) for said in (usual, usual, usual | other)]
    found = [curves(tmp_path / f"{place}.log", text) for place, text in enumerate(texts)]
    assert found[0] == found[1]
    assert found[0]
    assert not found[0] & found[2]


def compared(*runs: Path) -> list[str]:
    done = CliRunner().invoke(fabriscope, ["compare", *map(str, runs), "--json"], catch_exceptions=False)
    found = json.loads(done.stdout)
    return [*found["notes"], *(f"verdict {row['verdict']}" for pair in found["pairs"] for row in pair["rows"])]


def test_a_number_of_its_program_alone_is_not_said_to_be_left_out(tmp_path: Path) -> None:
    text = "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1                       3.05\n"
    for name in ("a", "b"):
        curves(tmp_path / f"{name}.log", text)
    said = compared(tmp_path / "a.run", tmp_path / "b.run")
    assert any("osu_bw_bandwidth_bytes_per_s is osu's own number" in one and "window" in one for one in said)
    assert not any("not compared" in one for one in said)
    assert any(one.startswith("verdict") for one in said)


def test_what_shares_nothing_says_what_each_has(tmp_path: Path) -> None:
    curves(tmp_path / "a.log", PYTHON.format(suite="OSU", name="MPI"))
    curves(tmp_path / "b.log", OSU.format(senders=1, receivers=2, time="3.05"))
    said = compared(tmp_path / "a.run", tmp_path / "b.run")
    assert any(one.startswith("no test and quantity is in both: b.run has osu_latency_mt by osu") for one in said)


def test_a_label_that_contradicts_the_program_makes_nothing_ours(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(PYTHON.format(suite="OSU", name="MPI"))
    for layer, metric in (("mpi", "latency_ns_separate_mean"), ("tcp", "osu_latency_latency_ns")):
        importing.run([log], tmp_path / layer, {"layer": layer})
        ids = results_of(store.open_run(tmp_path / layer).read()).estimates["metric_id"].to_list()
        assert ids == [metric]


def test_osu_3_ended_its_one_sided_operations_in_a_way_that_it_does_not_say(tmp_path: Path) -> None:
    text = "# OSU One Sided MPI_Put latency Test v3.1.1\n# Size         Latency (us)\n1                       3.05\n"
    ((*_, metric),) = curves(tmp_path / "a.log", text)
    assert metric == "osu_put_latency_latency_ns"


def test_one_end_of_a_test_both_ways_is_no_sum() -> None:
    row = " 65536      5000             200.00             199.00             0.003184\n"
    head = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
    one = " 65536      5000             100.00             99.50              0.001592\n"
    text = f"                    RDMA_Write Bidirectional BW Test\n{head}{row}\n Local results:\n{head}{one}"
    from fabriscope.readers.perftest import READER

    both, local = READER.read(text).tables
    assert both.terms.bytes_counted == "the sum of both directions"
    assert local.terms.bytes_counted == "once, in one direction"
    assert local.name == "RDMA_Write Bidirectional BW Test, local results"
