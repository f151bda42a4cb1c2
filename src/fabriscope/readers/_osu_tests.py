"""What each test of the OSU micro-benchmarks times, by the title that it prints: no column tells which test it is.

Source: the programs of versions 5.3 and 7.4, and `print_only_header` of their `osu_util_mpi.c`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fabriscope.readers.terms import BOTH_WAYS, ONE_WAY, TWO_BUFFERS, Terms

Kind = Literal["ping_pong", "collective", "non_blocking", "one_sided", "bandwidth", "operations", "unknown"]


@dataclass(frozen=True)
class Test:
    """One program."""

    name: str
    kind: Kind
    time: str = ""
    """What its latency is."""
    rate: str = ""
    """What its bandwidth is."""


_HALF = "half of a round trip, the mean over the iterations"
_WINDOW = "bytes of the windows over their time, in which the short answer to each window counts"
_DONE = "of one operation until the synchronisation that the test names has ended, the mean over the iterations"
_RANKS = "of one operation, the mean over the iterations and then over the ranks"

_PAIRS = {
    "Latency": Test("osu_latency", "ping_pong", _HALF),
    "Latency Persistent": Test("osu_latency_persistent", "ping_pong", _HALF),
    "Multi-threaded Latency": Test("osu_latency_mt", "ping_pong", f"{_HALF}, and over the threads"),
    "Multi-process Latency": Test("osu_latency_mp", "ping_pong", f"{_HALF}, and over the processes"),
    "Multi Latency": Test("osu_multi_lat", "ping_pong", f"{_HALF} and then over the pairs"),
    "Bandwidth": Test("osu_bw", "bandwidth", rate=_WINDOW),
    "Bandwidth Persistent": Test("osu_bw_persistent", "bandwidth", rate=_WINDOW),
    "Bi-Directional Bandwidth": Test("osu_bibw", "bandwidth", rate=f"{_WINDOW}; the sum of both directions"),
    "Bi-Directional Bandwidth Persistent": Test(
        "osu_bibw_persistent", "bandwidth", rate=f"{_WINDOW}; the sum of both directions"
    ),
    "Multiple Bandwidth / Message Rate": Test("osu_mbw_mr", "bandwidth", rate=f"{_WINDOW}; the sum over the pairs"),
    "Fan In Bandwidth": Test("osu_bw_fan_in", "bandwidth", rate="the sum over all senders to one receiver"),
    "Fan Out Bandwidth": Test("osu_bw_fan_out", "bandwidth", rate="the sum over all receivers of one sender"),
}
_ONE_SIDED = {
    "Put Latency": "osu_put_latency", "Get Latency": "osu_get_latency", "Accumulate Latency": "osu_acc_latency",
    "Get_accumulate Latency": "osu_get_acc_latency", "Fetch_and_op Latency": "osu_fop_latency",
    "Compare_and_swap Latency": "osu_cas_latency", "Get Multi Latency": "osu_get_multi_lat",
    "Put Multi Latency": "osu_put_multi_lat",
    "Put Bandwidth": "osu_put_bw", "Get Bandwidth": "osu_get_bw", "Put Bi-Directional Bandwidth": "osu_put_bibw",
}  # fmt: skip
_COLLECTIVES = {
    "Allgather": "allgather", "Allgatherv": "allgatherv", "Allreduce": "allreduce", "Barrier": "barrier",
    "All-to-All": "alltoall", "All-to-All Personalized Exchange": "alltoall", "Alltoall": "alltoall",
    "All-to-Allv": "alltoallv", "All-to-Allv Personalized Exchange": "alltoallv", "Alltoallv": "alltoallv",
    "All-to-Allw": "alltoallw", "All-to-Allw Personalized Exchange": "alltoallw", "Alltoallw": "alltoallw",
    "Broadcast": "bcast", "Bcast": "bcast", "Gather": "gather", "Gatherv": "gatherv", "Reduce": "reduce",
    "Reduce_scatter": "reduce_scatter", "Reduce_scatter_block": "reduce_scatter_block", "Scatter": "scatter",
    "Scatterv": "scatterv", "Neighborhood Allgather": "neighbor_allgather",
    "Neighborhood Allgatherv": "neighbor_allgatherv", "Neighborhood Alltoall": "neighbor_alltoall",
    "Neighborhood All-to-Allv": "neighbor_alltoallv", "Neighborhood Alltoallv": "neighbor_alltoallv",
    "Neighborhood Alltoallw": "neighbor_alltoallw",
}  # fmt: skip
_PYTHON = {
    "multi_lat": "Multi Latency", "bw": "Bandwidth", "bibw": "Bi-Directional Bandwidth", "latency": "Latency",
    "multi-latency": "Multi Latency", "bandwidth": "Bandwidth", "bi-bandwidth": "Bi-Directional Bandwidth",
    "bi-directional bandwidth": "Bi-Directional Bandwidth",
}  # fmt: skip
"""What OMB-Py calls the tests of pairs."""

TITLE = re.compile(
    r"(?P<suite>OSU|OMB[- ]Py(?:thon)?)\s+(?:One Sided\s+)?"
    r"(?P<library>MPI|NCCL|RCCL|XCCL|OpenSHMEM|UPC\+\+|UPC)"
    r"(?:(?P<call>_[A-Z][a-z_]+))?"
    r"(?:[-\s]+(?P<buffers>CUDA MANAGED|MANAGED|CUDA|OPENACC|ROCM|CXL|SYCL))?"
    r"\s+(?P<test>\S(?:.*\S)?)\s+Test\b\s*(?P<version>.*)",
    re.IGNORECASE,
)
VERSION = re.compile(r"\(?(?:v|version )?\s*(?P<version>\d+(?:\.\w+)*(?:[-+]\w+)?)\)?", re.IGNORECASE)


def test_of(title: re.Match[str]) -> Test:
    """Return the test of a title; one that nobody knows has the title's own words as its name."""
    words = " ".join(title["test"].split())
    if title["call"]:
        words = f"{title['call'][1:]} {words}"
    if title["library"].upper() in ("OPENSHMEM", "UPC", "UPC++"):
        return Test(f"{title['library']} {words}", "unknown")
    if title["suite"].upper() != "OSU":
        words = _PYTHON.get(words.lower(), words)
    name = next((known for known in _KNOWN if known.lower() == words.lower()), None)
    if name is None and title["suite"].upper() != "OSU":
        name = next((known for known in _KNOWN if known.lower() == f"{words} latency".lower()), None)
    test = _KNOWN[name] if name is not None else Test(words, "unknown")
    library = title["library"].upper()
    if library in ("NCCL", "RCCL", "XCCL") and test.kind != "unknown":
        return Test(test.name.replace("osu_", "osu_xccl_", 1), test.kind, test.time, test.rate)
    return test


def terms_of(name: str) -> Terms:
    """Return the terms of a test by its name; nothing is known of those of which nothing is known here."""
    test = next((one for one in _KNOWN.values() if one.name == name.replace("osu_xccl_", "osu_")), None)
    if test is None or test.kind in ("operations", "unknown") or "_fan_" in name:
        return Terms()
    buffers = "one, which its root sends" if name.endswith("bcast") else TWO_BUFFERS
    if test.kind in ("collective", "non_blocking"):
        return Terms("each call by each rank's own clock, with a barrier before the next one", buffers)
    timing = "the iterations' sum over their number, by the clock of the first rank of a pair"
    if not test.rate or (test.time and "latency" in name):
        return Terms(timing, buffers)
    return Terms(timing, buffers, BOTH_WAYS if "bibw" in name else ONE_WAY)


def _known() -> dict[str, Test]:
    known = dict(_PAIRS)
    for words, name in _ONE_SIDED.items():
        is_both = words.endswith("Bi-Directional Bandwidth")
        rate = "bytes of the windows over their time" + ("; the sum of both directions" if is_both else "")
        known[words] = Test(name, "one_sided", _DONE, rate)
    for words, name in _COLLECTIVES.items():
        known[f"{words} Latency"] = Test(f"osu_{name}", "collective", _RANKS)
        known[f"{words} Persistent Latency"] = Test(f"osu_{name}_persistent", "collective", _RANKS)
        short = f"ineighbor{name.removeprefix('neighbor')}" if name.startswith("neighbor") else f"i{name}"
        known[f"Non-Blocking {words} Latency"] = Test(f"osu_{short}", "non_blocking", _RANKS)
    return known


_KNOWN = _known()
