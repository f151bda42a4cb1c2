"""What a log says of its test that tells curves apart: settings under which two numbers are not of one thing.

What a program sets unless it is told otherwise has no words, so that logs that say it and logs that do not are of one
curve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fabriscope.readers.base import Document, Row, Table, Value
from fabriscope.running.log_ours import Ours

_PARAMETERS = (
    "buffers", "source_buffer", "target_buffer", "window_creation", "synchronization", "datatype", "pair_count",
    "process_count", "group_count", "groups", "number_of_sender_threads", "number_of_receiver_threads",
    "number_of_forked_processes_in_sender", "number_of_forked_processes_in_receiver", "suite", "rank", "printed_by",
    "protocol", "stream_count", "reverse", "bidirectional", "asked_rate_bytes_per_s", "asked_rate_per_s", "omitted_s",
    "asked_buffer_bytes", "window", "rank_count", "host_count", "network_host_count", "congestion_host_count", "api",
    "send_memory", "recv_memory", "data_layout", "first_burst", "settings", "connection_type", "queue_pair_count",
    "client_threads", "target_rate_per_s", "reduction_datatype", "threads_per_process", "global_nx", "global_ny",
    "global_nz",
)  # fmt: skip
"""Of tables, and of a report as a whole."""
_OF_BANDWIDTH = ("queue_depth",)
"""Which tell curves apart where more than one message is under way."""
_COLUMNS = (
    "group", "test", "operation", "reported_by", "role", "data_type", "variant", "problem_class", "matrix_order",
    "block_size", "process_rows", "process_columns",
)  # fmt: skip
"""That tell rows of one table apart, beside the message size."""
_COLUMNS_OF: Mapping[str, tuple[str, ...]] = {
    "dfsio": ("file_count", "total_bytes"),
    "hpcc": ("process_count", "hpl_matrix_order"),
    "netperf": ("request_size_bytes", "response_size_bytes"),
    "npb": ("process_count", "thread_count"),
}
_USUAL = {
    ("datatype", "MPI_CHAR"), ("window_creation", "MPI_Win_allocate"), ("synchronization", "MPI_Win_flush"),
    ("protocol", "TCP"), ("stream_count", 1), ("reverse", 0), ("omitted_s", 0), ("omitted_s", 1),
    ("api", "protocol layer"), ("send_memory", "host"), ("recv_memory", "host"), ("data_layout", "(automatic)"),
    ("first_burst", 0), ("connection_type", "RC"), ("queue_pair_count", 1), ("queue_depth", 128),
    ("number_of_sender_threads", 1), ("number_of_receiver_threads", 2),
    ("request_size_bytes", 1), ("response_size_bytes", 1), ("asked_buffer_bytes", 0),
}  # fmt: skip
_LARGER_WINDOW = (2021, 2)
"""The version of IMB since which 256 messages are in flight, and not 64, unless it is told otherwise."""
_LOOKED_AT = ("process_count", "pair_count", "group_count", "groups", "asked_buffer_bytes")
"""What a definition of ours has looked at already."""
_OF_THE_PROGRAM = "(default)"
"""Ends a setting that nobody chose (iperf 2)."""


def of_table(document: Document, table: Table, ours: Ours | None) -> str:
    """Return the words of a table's settings; empty for what is usual."""
    usual = _USUAL | ({("datatype", one) for one in ours.datatypes} if ours is not None else set())
    names = (*_PARAMETERS, *(_OF_BANDWIDTH if "BW" in table.name else ()))
    told = [
        _told(one.name, one.value, is_value_last=True)
        for one in {one.name: one for one in (*document.parameters, *table.parameters)}.values()
        if one.name in names
        and (one.name, one.value) not in usual
        and not (ours is not None and one.name in _LOOKED_AT)
        and not str(one.value).endswith(_OF_THE_PROGRAM)
    ]
    return ", ".join([*told, *_by_version(document, table)])


def _by_version(document: Document, table: Table) -> Iterator[str]:
    """Yield what a version sets where the log does not say it, and an earlier one set otherwise."""
    has_window = document.program == "imb" and table.name.removeprefix("Multi-") in ("Uniband", "Biband")
    if has_window and not any(one.name == "window_size" for one in document.parameters):
        version = re.match(r"(\d{4})(?:\.(\d{1,9}))?", document.version or "")
        if version and (int(version[1]), int(version[2] or 0)) >= _LARGER_WINDOW:
            yield "window of IMB 2021.2 and later"


def of_row(program: str, row: Row, ours: Ours | None) -> Iterator[str]:
    """Yield the words of a row's own settings."""
    known = ("reported_by",) if ours is not None else ()  # whose metric tells the ends apart
    for name in (*_COLUMNS, *_COLUMNS_OF.get(program, ())):
        if name in row.values and name not in known and (name, row.values[name]) not in _USUAL:
            yield _told(name, row.values[name])


def _told(name: str, value: Value, *, is_value_last: bool = False) -> str:
    """Return a setting as words: numbers and parameters with their names, words of rows alone."""
    if isinstance(value, str) and not is_value_last:
        return value
    words = f"{value:g}" if isinstance(value, float) else str(value)
    for end, unit in (("_bytes_per_s", "B/s"), ("_bytes", "B"), ("_per_s", "/s"), ("_s", "s")):
        if name.endswith(end) and not isinstance(value, str):
            return f"{name.removesuffix(end).replace('_', ' ')} {float(value):.15g} {unit}"
    return f"{name.replace('_', ' ')} {words}"
