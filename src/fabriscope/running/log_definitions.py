"""Which of our quantities a table of a log has: as the instrument of the same program keeps them (docs/peers.md).

A definition is the same only where what it depends on is known: the window, the ranks, the barrier before a collective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabriscope.model.benchmarks import COLLECTIVES, REDUCTIONS
from fabriscope.model.case import SocketOptions
from fabriscope.readers.base import Document, Table
from fabriscope.running import log_sockets
from fabriscope.running.log_labels import Said
from fabriscope.running.log_ours import ALL, GROUPS, PAIRS, TWO, Definition, Ours

_TIME, _RATE = "latency_ns", "bandwidth_bytes_per_s"
_MULTI_PAIR = "multi_pair_latency_ns_separate_mean"
_NAGLE = SocketOptions(tcp_nodelay=False)


_WHOSE = {
    "time_ns_mean": "mean", "time_ns_least_rank_mean": "least_rank_mean", "time_ns_most_rank_mean": "most_rank_mean",
}  # fmt: skip
_ALONE = {
    "time_ns_pure": "mean", "time_ns_pure_least_rank_mean": "least_rank_mean",
    "time_ns_pure_most_rank_mean": "most_rank_mean",
}  # fmt: skip
_CHARACTERS, _LONGS = ("MPI_CHAR", "MPI_BYTE"), ("MPI_LONG_LONG_INT", "MPI_LONG_LONG")


def _of_ranks(metric: str, timing: str, columns: Mapping[str, str] = _WHOSE) -> dict[str, str]:
    return {column: f"{metric}_{timing}_{whose}" for column, whose in columns.items()}


def _osu() -> dict[str, Ours]:
    tables = {
        "osu_latency": Ours("ping_pong", {_TIME: "latency_ns_separate_mean"}),
        "osu_bw": Ours("bandwidth", {_RATE: "bandwidth_bytes_per_s"}, has_window=True),
        "osu_bibw": Ours(
            "bidirectional_bandwidth", {_RATE: "bidirectional_bandwidth_bytes_per_s"}, has_window=True
        ),
        "osu_multi_lat": Ours("multi_pair_latency", {_TIME: _MULTI_PAIR}, ranks=PAIRS),
        "osu_mbw_mr": Ours(
            "message_rate",
            {"message_rate_per_s": "message_rate_per_s_mean", _RATE: "multi_pair_bandwidth_bytes_per_s_mean"},
            has_window=True, ranks=PAIRS,
        ),
        "osu_put_latency": Ours("put_latency", {_TIME: "put_local_completion_ns_mean"}),
        "osu_get_latency": Ours("get_latency", {_TIME: "get_latency_ns_mean"}),
        "osu_acc_latency": Ours(
            "accumulate_latency", {_TIME: "accumulate_local_completion_ns_mean"}, datatypes=("MPI_FLOAT",)
        ),
        "osu_get_acc_latency": Ours(
            "get_accumulate_latency", {_TIME: "get_accumulate_of_characters_ns_mean"}, datatypes=_CHARACTERS
        ),
        "osu_fop_latency": Ours("fetch_and_op_latency", {_TIME: "fetch_and_op_latency_ns_mean"}, datatypes=_LONGS),
        "osu_cas_latency": Ours(
            "compare_and_swap_latency", {_TIME: "compare_and_swap_latency_ns_mean"}, datatypes=_LONGS
        ),
        "osu_put_bw": Ours("put_bandwidth", {_RATE: "put_local_bandwidth_bytes_per_s"}, has_window=True),
        "osu_get_bw": Ours("get_bandwidth", {_RATE: "get_bandwidth_bytes_per_s"}, has_window=True),
    }  # fmt: skip
    for name in COLLECTIVES:
        timing = "back_to_back" if name == "barrier" else "barrier"
        types = ("MPI_FLOAT",) if name in REDUCTIONS else _CHARACTERS
        alone = Ours(name, _of_ranks("collective_latency_ns", timing), ranks=ALL, datatypes=types)
        metrics = {
            **_of_ranks("collective_latency_ns", timing, _ALONE),
            "overlap_percent": "overlap_percent_barrier_of_means",
            "time_ns_overlapped": "overlapped_operation_ns_barrier_mean",
        }
        tables[f"osu_{name}"] = alone
        tables[f"osu_i{name}"] = replace(alone, benchmark=f"i{name}", metrics=metrics, datatypes=_CHARACTERS)
    return tables


def _imb() -> dict[str, Ours]:
    ping_pong = {"time_ns": "latency_ns_separate_mean", _RATE: "ping_pong_bandwidth_bytes_per_s_separate_mean"}
    tables = {
        "PingPong": Ours("ping_pong", ping_pong),
        "Multi-PingPong": Ours("multi_pair_latency", {"time_ns_mean": _MULTI_PAIR}, ranks=GROUPS),
        "Uniband": Ours("bandwidth", {_RATE: "bandwidth_bytes_per_s"}, has_window=True),
        "Biband": Ours("bidirectional_bandwidth", {_RATE: "bidirectional_bandwidth_bytes_per_s"}, has_window=True),
        "Sendrecv": Ours("sendrecv", _of_ranks("sendrecv_time_ns", "back_to_back"), ranks=ALL),
        "Exchange": Ours("exchange", _of_ranks("exchange_time_ns", "back_to_back"), ranks=ALL),
        "Barrier": Ours("barrier", _of_ranks("collective_latency_ns", "back_to_back"), ranks=ALL),
        "Unidir_put NON-AGGREGATE": Ours("put_latency", {"time_ns": "put_local_completion_ns_mean"}),
        "Unidir_get NON-AGGREGATE": Ours("get_latency", {"time_ns": "get_latency_ns_mean"}),
        "Unidir_put AGGREGATE": Ours("put_bandwidth", {_RATE: "put_stream_bandwidth_bytes_per_s"}),
        "Unidir_get AGGREGATE": Ours("get_bandwidth", {_RATE: "get_stream_bandwidth_bytes_per_s"}),
        "Accumulate NON-AGGREGATE": Ours("accumulate_latency", {"time_ns": "accumulate_local_completion_ns_mean"}),
        "Get_accumulate NON-AGGREGATE": Ours(
            "get_accumulate_latency", {"time_ns": "get_accumulate_latency_ns_mean"}
        ),
        "Fetch_and_op NON-AGGREGATE": Ours("fetch_and_op_latency", {"time_ns": "fetch_and_op_latency_ns_mean"}),
        "Compare_and_swap NON-AGGREGATE": Ours(
            "compare_and_swap_latency", {"time_ns": "compare_and_swap_latency_ns_mean"}
        ),
    }  # fmt: skip
    for name in COLLECTIVES:
        how = Ours(
            name, _of_ranks("collective_latency_ns", "barrier"), ranks=ALL, is_timed_by_option=True,
            is_share=name == "reduce_scatter",
        )  # fmt: skip
        tables.setdefault(name.capitalize(), how)
        timing = "back_to_back" if name == "barrier" else "barrier"
        alone = _of_ranks("collective_latency_ns", timing)
        beside = {
            "overlap_percent": f"overlap_percent_{timing}_most_rank",
            "time_ns_overlapped": f"overlapped_operation_ns_{timing}_most_rank_mean",
        }
        with_size = replace(how, benchmark=f"i{name}", is_timed_by_option=name != "barrier")
        tables[f"I{name}_pure"] = replace(with_size, metrics=alone)
        tables[f"I{name}"] = replace(with_size, metrics=beside)
    return tables


def _perftest() -> dict[str, Ours]:
    def of(benchmark: str, metric: str, mean: str = "") -> Ours:
        return Ours(benchmark, {_TIME: metric, **({"latency_ns_mean": mean} if mean else {})})

    rates = {
        "Send BW Test": ("bandwidth", "stream_bandwidth_bytes_per_s"),
        "Send Bidirectional BW Test": ("bidirectional_bandwidth", "bidirectional_stream_bandwidth_bytes_per_s"),
        "RDMA_Write BW Test": ("write_bandwidth", "put_stream_bandwidth_bytes_per_s"),
        "RDMA_Read BW Test": ("read_bandwidth", "get_stream_bandwidth_bytes_per_s"),
    }
    return {
        "Send Latency Test": of("ping_pong", "latency_ns_separate", "latency_ns_separate_mean"),
        "RDMA_Write Latency Test": of("write_latency", "put_latency_ns", "put_latency_ns_mean"),
        "RDMA_Read Latency Test": of("read_latency", "get_latency_ns", "get_latency_ns_mean"),
        "Atomic FETCH_AND_ADD Latency Test": of("fetch_add_latency", "fetch_and_op_latency_ns"),
        "Atomic CMP_AND_SWAP Latency Test": of("compare_swap_latency", "compare_and_swap_latency_ns"),
        **{table: Ours(benchmark, {_RATE: metric}) for table, (benchmark, metric) in rates.items()},
    }


_KNOWN: Mapping[str, Mapping[str, Ours]] = {
    "osu": _osu(),
    "imb": _imb(),
    "perftest": _perftest(),
    "netpipe": {
        "ping-pong": Ours(
            "ping_pong",
            {_TIME: "latency_ns_least_mean", _RATE: "ping_pong_bandwidth_bytes_per_s_least_mean"},
        )
    },
    "qperf": {
        "tcp_lat": Ours("ping_pong", {_TIME: "latency_ns_mean"}, socket=_NAGLE),
        "tcp_bw": Ours("bandwidth", {_RATE: "stream_bandwidth_bytes_per_s"}, socket=_NAGLE),
    },
}
_UNNAMED = {("nccl", "collective"): "the log does not say which collective it is of"}
_LAYERS = {"osu": "mpi", "imb": "mpi", "perftest": "verbs", "iperf3": "tcp", "sockperf": "tcp"}
"""Program to the layer of what it has of ours; others have several."""


def definition_of(document: Document, table: Table, beside: Said) -> Definition:
    """Return what a table's numbers are; `beside` is what a user says of them."""
    stated = {one.name: one.value for one in (*document.parameters, *table.parameters)}
    known = _KNOWN.get(document.program, {}).get(table.name)
    layer = _LAYERS.get(document.program)
    unlike = f"the label `layer` says {beside.layer}, and {document.program} measures {layer}"
    is_unlike = None not in (layer, beside.layer) and layer != beside.layer
    if (of_sockets := log_sockets.KNOWN.get((document.program, table.name))) is not None:
        kept_as = log_sockets.definition_of(of_sockets, document.program, table, stated, beside)
        return replace(kept_as, ours=None, why_not=unlike) if is_unlike else kept_as
    if known is None:
        return Definition(why_not=_UNNAMED.get((document.program, table.name), ""))
    if is_unlike:
        return Definition(why_not=unlike)
    if "One Sided" in str(stated.get("title", "")):
        return Definition(why_not="its version does not say how operations were ended, and ours end by a flush")
    window, host_count = beside.window, beside.host_count
    window = window if stated.get("window_size") is None else 1
    is_in_rows = any(column.name == "window_size" for column in table.columns)
    if known.has_window and window is None and not is_in_rows:
        return Definition(why_not="the log does not say its window: the label `window` does")
    if known.datatypes and stated.get("datatype") not in (None, *known.datatypes):
        return Definition(why_not=f"it moved {stated['datatype']}, and ours {known.datatypes[0]}")
    if stated.get("off_cache", "-1") != "-1":
        return Definition(why_not="its buffers move through memory (-off_cache), and ours do not")
    if any(column.name == "group" for column in table.columns):
        return Definition(why_not="each group of ranks has rows of its own (-multi 1)")
    if why := _ranks_unlike(known, stated, host_count):
        return Definition(why_not=why)
    if known.is_timed_by_option:
        return _timed(known, stated)
    has_pairs = known.ranks in (PAIRS, GROUPS) and (host_count or 2) > 2
    return Definition(known, parameters=(("pairing", "half"),) if has_pairs else ())


def _ranks_unlike(known: Ours, stated: Mapping[str, object], host_count: int | None) -> str:
    """Return why the ranks of a table are not known as ours are; nothing where they are."""
    count = stated.get("process_count")
    if known.ranks == TWO:
        if count is None and (host_count or 2) > 2:
            return f"two ranks took part, and the label `hosts` names {host_count}"
        return f"{count} processes took part, and in ours two do" if count not in (None, 2) else ""
    if known.ranks == PAIRS:
        pairs = stated.get("pair_count")
        count = 2 * pairs if isinstance(pairs, int) else None
    if known.ranks == GROUPS:
        pairs = int(str(stated.get("group_count", 0)))
        if count != 2 or stated.get("groups") != "; ".join(f"{rank} {rank + pairs}" for rank in range(pairs)):
            return f"its groups are not rank i with i + {pairs} (-multi 0 -map {pairs}x2)"
        count = 2 * pairs
    if host_count is None:
        return "" if count == 2 else "nobody says which ranks took part: the label `hosts` (a+b) does"
    return (
        f"{count} ranks took part, and the label `hosts` names {host_count}" if count not in (None, host_count) else ""
    )


def _timed(known: Ours, stated: Mapping[str, object]) -> Definition:
    """Return a collective of IMB by its `-sync` and `-root_shift`."""
    sync, count = stated.get("sync"), stated.get("process_count")
    if sync is None:
        return Definition(why_not="the log does not say whether a barrier stood before each operation (-sync)")
    if stated.get("root_shift", "off") not in ("off", "0", "no", "disable"):
        return Definition(why_not="its root moved from operation to operation (-root_shift)")
    factor = int(count) if known.is_share and isinstance(count, int | float) else 1
    if sync == "on":
        return Definition(known, size_factor=factor)
    metrics = {column: metric.replace("_barrier", "_back_to_back") for column, metric in known.metrics.items()}
    return Definition(replace(known, metrics=metrics), size_factor=factor)
