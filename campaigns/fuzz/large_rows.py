"""Rows of every program's log, as many as are wanted, that contradict neither themselves nor each other."""
# ruff: noqa: E501 - lines as programs print them

from __future__ import annotations

from collections.abc import Callable

_HPL = (
    "HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018\n",
    "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   4.38169623e-03 ...... PASSED\n",
)


def _hpl(number: int) -> str:
    n = 1000 + number
    seconds = round(n * n * (2 / 3 * n + 3 / 2) / 1e9, 2) or 0.01
    rate = n * n * (2 / 3 * n + 3 / 2) / 1e9 / seconds
    return f"WR11C2R4 {n:13} {192:5} {1:5} {2:5} {seconds:18.2f} {rate:22.4e}\n{_HPL[1]}"


ROWS: dict[str, tuple[str, Callable[[int], str], str]] = {
    "dfsio": (
        "", lambda n: f"----- TestDFSIO ----- : write\n            Number of files: 2\n Total MBytes processed: {128 + n}\n"
        f"      Throughput mb/sec: {39 + n}.32\n Average IO rate mb/sec: {39 + n}.32\n  IO rate std deviation: 0.09\n"
        "     Test exec time sec: 44.45\n", "",
    ),
    "fabtests": (
        "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n",
        lambda n: f"{n}      10      =10      1.2k        0.00s      {n / 36:.2f}      36.00       0.03\n", "",
    ),
    "gpcnet": (
        "Network Tests v1.3\n| Isolated Network Tests |\n| Name | Avg | 99% | Units |\n",
        lambda n: f"| RR Two-sided Lat ({n} B) | 1.7 | 2.9 | usec |\n", "",
    ),
    "hpcc": ("", lambda n: f"Begin of Summary section.\nCommWorldProcs={n}\nHPL_Tflops=1\nEnd of Summary section.\n", ""),
    "hpcg": (
        "", lambda n: f"Total Time: 6.05e+01 sec\ntotal = 190.0 GF (1440.8 GB/s Effective)\n"
        f"final = {100 + n % 90}.0 GF (1289.1 GB/s Effective)\n", "",
    ),
    "hpl": (_HPL[0], _hpl, "End of Tests.\n"),
    "imb": (
        "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n# Benchmarking PingPong\n# #processes = 2\n"
        "       #bytes #repetitions      t[usec]   Mbytes/sec\n",
        lambda n: f"{n:13} {1000:12} {4.0:12.2f} {n / 4:12.2f}\n", "# All processes entering MPI_Finalize\n",
    ),
    "iperf2": (
        "Client connecting to 10.0.0.2, TCP port 5001\n[  3] local 10.0.0.1 port 49597 connected with 10.0.0.2 port 5001\n",
        lambda n: f"[  3] {n / 10 - 0.1:4.1f}-{n / 10:4.1f} sec  28.6 MBytes   2.40 Gbits/sec\n", "",
    ),
    "iperf3": (
        "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n",
        lambda n: f"[  5] {n / 10 - 0.1:6.2f}-{n / 10:.2f}  sec  28.6 MBytes  2.40 Gbits/sec    0\n", "",
    ),
    "iperf3-streams": (
        "Connecting to host 10.0.0.2, port 5201\n- - - - - - - - - - - - - - -\n"
        "[ ID] Interval           Transfer     Bitrate         Retr\n",
        lambda n: f"[{n:3}] 0.00-10.00  sec  286 MBytes  240 Mbits/sec    0             sender\n", "",
    ),
    "linktest": (
        "", lambda n: "".join(f"RESULT: {key} Time: 1.00us ( 125.00 MB/s) [iter {n} ]\n" for key in ("Min", "Max", "Avg")), "",
    ),
    "nccl": (
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n",
        lambda n: f"{n * 1000} {n * 250} float sum -1 100.00 {n / 100:.2f} {n / 100:.2f} 0 100.00 {n / 100:.2f} {n / 100:.2f} 0\n",
        "",
    ),
    "netperf": (
        "", lambda n: "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to node2 () port 0 AF_INET\n"
        f"bytes  bytes   bytes    secs.    10^6bits/sec\n 87380  16384  16384    10.00    {2997 + n}.84\n", "",
    ),
    "netperf-datagrams": (
        "", lambda n: "MIGRATED UDP STREAM TEST from 0.0.0.0 () port 0 AF_INET to node2 () port 0 AF_INET\n"
        "bytes   bytes    secs            #      #   10^6bits/sec\n"
        f"212992    1000   10.00     {1000000 + n}      0     {(1000000 + n) * 8e3 / 1e7:.2f}\n"
        f"212992           10.00     {1000000 + n}            {(1000000 + n) * 8e3 / 1e7:.2f}\n", "",
    ),
    "netpipe": (
        "Now starting the main loop\n",
        lambda n: f"{n - 1:3}: {n:7} bytes  21503 times --> {n * 8 / 1.048576:9.2f} Mbps in       1.00 usec\n", "",
    ),
    "netpipe-file": ("", lambda n: f"{n} {n * 8 / 1048576 / 1e-6:.6f} 0.00000100\n", ""),
    "npb": (
        "", lambda n: f" FT Benchmark Completed.\n Class           =                        S\n Time in seconds = 0.05\n"
        f" Total processes =                        2\n Mop/s total     =   {3873 + n}.00\n Verification    = SUCCESSFUL\n", "",
    ),
    "npb-lines": ("", lambda n: f"ft S Time in seconds = 0.12; Total processes = {n}; Mop/s total = 1518.90;\n", ""),
    "osu": (
        "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n", lambda n: f"{n:<10}{n / 100 + 1:20.2f}\n", "",
    ),
    "osu-full": (
        "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n",
        lambda n: f"{n:<10} {n + 1}.00 {n}.00 {n + 2}.00 100\n", "",
    ),
    "osu-tests": (
        "", lambda n: f"# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n{n:<10}{n / 100 + 1:20.2f}\n", "",
    ),
    "perftest": (
        "                    RDMA_Write BW Test\n #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n",
        lambda n: f" {n * 1024}      5000             {n * 9.765625 + 1:.2f}            {n * 9.765625:.2f}                  0.010000\n",
        "",
    ),
    "perftest-latency": (
        "                    Send Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
        "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n",
        lambda n: f" {n}       1000          1.54           2.13         1.58               1.58           0.01     1.70    1.80\n",
        "",
    ),
    "perftest-raw": (
        "                    Send Latency Test\n#, usec\n", lambda n: f"{n}, {1.5 + n % 100 / 100:.2f}\n", "",
    ),
    "qperf": (
        "", lambda n: f"tcp_lat:\n    latency         =     2549 ns\n    msg_rate        =      392311 /sec\n"
        f"    msg_size        =          {n} bytes\n", "",
    ),
    "rping": ("", lambda n: f"ping data: rdma-ping-{n}: ABCDEFGHIJKLMNOPQRSTUVWXYZ\n", ""),
    "sockperf": (
        "", lambda _: "sockperf: == version #3.7-no.git ==\nsockperf: Total of 1000 messages sent in 1.000 sec\n"
        "sockperf: Summary: Message Rate is 1000 [msg/sec]\nsockperf: Summary: BandWidth is 0.061 MBps (0.488 Mbps)\n", "",
    ),
    "sockperf-full": ("sockperf: == version #3.7-no.git ==\nsockperf: [Total Run] RunTime=2.000 sec;\n", lambda n: f"{n}, {n / 1e6:.9f}\n", ""),
    "ucx_perftest": (
        "| # iterations | typical | average | overall |  average |  overall |   average |   overall |\n",
        lambda n: f"{n}     0.840     0.850     0.850        8.98       8.98     1176471     1176471\n", "",
    ),
    "ycsb": (
        "", lambda n: f"[OVERALL], RunTime(ms), {1000 + n}.0\n[OVERALL], Throughput(ops/sec), 10.0\n[READ], Operations, 10\n"
        "[READ], AverageLatency(us), 2218.5\n[READ], MinLatency(us), 554\n[READ], MaxLatency(us), 4634\n", "",
    ),
    "ycsb-buckets": (
        "[OVERALL], RunTime(ms), 1000.0\n[OVERALL], Throughput(ops/sec), 10.0\n[READ], Operations, 10\n",
        lambda n: f"[READ], {n}, 1\n", "",
    ),
    "ycsb-percentiles": (
        "[OVERALL], RunTime(ms), 1000.0\n[OVERALL], Throughput(ops/sec), 10.0\n",
        lambda n: f"[R{n // 9}], Operations, 1\n[R{n // 9}], {n / 1e4:.4f}PercentileLatency(us), {n}\n", "",
    ),
}  # fmt: skip
"""A head, a row by its number, an end."""
