"""Logs of others, where they are at hand: how much is read of each, and a number of its last row, taken by eye."""

from __future__ import annotations

import pytest
from campaigns.fuzz.targets import SAMPLES
from tests.needs import NO_LOGS_OF_OTHERS

from fabriscope.readers import log
from fabriscope.registry import discover

LOGS = SAMPLES / "logs"
READERS = discover("readers", "READER").plugins
MIB = float(1 << 20)
EXPECTED = {
    "dfsio/ssm_results.log": ("dfsio", 1, "bandwidth_bytes_per_s", 81.64 * MIB),
    "fabtests/modal_pingpong_efa.md": ("fabtests", 8, "bandwidth_bytes_per_s", 215.58e6),
    "gpcnet/sb_network_load.log": ("gpcnet", 25, "congestion_impact_p99", 0.0),
    "hpcc/ezibenroc_hpccoutf.txt": ("hpcc", 4, "hpl_time_s", 1.30516),
    "hpcc/pkb_hpcc_sample.txt": ("hpcc", 2, "ping_pong_latency_ns_least", 304.646),
    "hpcg/pkb_hpcg_1.txt": ("hpcg", 1, "rating_flop_per_s", 202.6e9),
    "hpl/kempner_nvidia_1gpu.out": ("hpl", 1, "rate_flop_per_s", 4.208e13),
    "hpl/stackhpc_intel_csd3.out": ("hpl", 1, "rate_flop_per_s", 2.51037e12),
    "hpl/stackhpc_single_roce.out": ("hpl", 1, "time_s", 1278.63),
    "hpl/vc_arm.txt": ("hpl", 2, "rate_flop_per_s", 2.9874e10),
    "imb/azurehpc_simple_pingpong.md": ("imb", 24, "bandwidth_bytes_per_s", 3625.31e6),
    "imb/pkb_pingpong.txt": ("imb", 2, "time_ns_most_rank_mean", 68790.0),
    "imb/pkb_reduce.txt": ("imb", 2, "time_ns_mean", 14110.0),
    "imb/stackhpc_pingpong_impi.out": ("imb", 24, "bandwidth_bytes_per_s", 6241.24e6),
    "imb/stackhpc_uniband_64.out": ("imb", 24, "message_rate_per_s", 2947.0),
    "iperf2/moler_basic_client.txt": ("iperf2", 11, "bandwidth_bytes_per_s", 222e6 / 8),
    "iperf2/moler_tcp_ipv6_server.txt": ("iperf2", 5, "bandwidth_bytes_per_s", 25.3e9 / 8),
    "iperf3/moler_basic_client.txt": ("iperf3", 2, "duration_s", 10.05),
    "iperf3/moler_multi_udp_server.txt": ("iperf3", 4, "packet_count", 90.0),
    "iperf3/thiezn_results.json": ("iperf3", 1, "total_bytes", 1518193248.0),
    "nccl/pkb_allreduce_na.txt": ("nccl", 11, "out_of_place_time_ns", 1752724e3),
    "netperf/hp_doc_stream_samples.txt": ("netperf", 2, "bandwidth_bytes_per_s", 2997.84e6 / 8),
    "netperf/pkb_rr_stream.json": ("netperf", 10, "bandwidth_bytes_per_s", 1802.72e6 / 8),
    "npb/vc_ft_mpi.txt": ("npb", 1, "operation_rate_per_s", 3873.74e6),
    "osu/pkb_bibw.txt": ("osu", 2, "bandwidth_bytes_per_s", 3.84e6),
    "osu/stackhpc_alltoall_impi.out": ("osu", 21, "time_ns_mean", 221031920.0),
    "osu/vc_bw_bom.txt": ("osu", 23, "bandwidth_bytes_per_s", 3455.26e6),
    "perftest/dgx_run_infinitely_2.md": ("perftest", 6, "bandwidth_bytes_per_s", 97.28e9 / 8),
    "sockperf/aks_ipoib_pp_and_tp.md": ("sockperf", 2, "message_count", 593671.0),
    "ucx_perftest/ucxpy_debug_ib.rst": ("ucx_perftest", 1, "bandwidth_bytes_per_s", 10474.41 * MIB),
    "ycsb/pkb_errors_5.dat": ("ycsb", 3, "not_ok_count", 50.0),
    "ycsb/pkb_histogram_2.dat": ("ycsb", 2, "latency_ns_p99", 7e6),
    "ycsb/pkb_timeseries_2.dat": ("ycsb", 1, "latency_ns_mean", 4328690.0),
}
"""File to its program, how many rows are read, a column and its number in the last row."""
ROUNDED = 1e-3
"""IMB prints time and rate, of which the finer gives both; YCSB prints more digits than stand here."""


@pytest.mark.skipif(not LOGS.is_dir(), reason=NO_LOGS_OF_OTHERS)
@pytest.mark.parametrize("name", EXPECTED)
def test_a_log_of_others_is_read_as_it_stands(name: str) -> None:
    program, row_count, column, value = EXPECTED[name]
    documents = log.documents(log.read_text(LOGS / name, name), READERS, name)
    (document,) = [one for one in documents if one.program == program]
    assert not [problem for problem in document.problems if problem.kind != "said"]
    assert len(document.rows()) == row_count
    assert document.rows()[-1].number(column) == pytest.approx(value, rel=ROUNDED)


@pytest.mark.skipif(not LOGS.is_dir(), reason=NO_LOGS_OF_OTHERS)
def test_a_table_of_placeholders_is_refused() -> None:
    path = LOGS / "nccl/gct_placeholder_xxx_ultra.md"
    (document,) = log.documents(log.read_text(path, path.name), READERS, path.name)
    (problem,) = document.problems
    assert (problem.line, problem.kind) == (9, "refused")
    assert not document.rows()
