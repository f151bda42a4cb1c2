"""What all adapters of perftest's programs tell them of queue pairs and ports, and what they take of their tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fabriscope.adapters._foreign import text_of
from fabriscope.model.case import Case
from fabriscope.model.command import Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.fabric import Fabric
from fabriscope.readers.base import Row, Table
from fabriscope.readers.perftest import READER, SIZE

LARGEST_MESSAGE_BYTES = 1 << 30
OPTIONS = {
    "device": "-d",
    "hca_port": "-i",
    "gid_index": "-x",
    "path_mtu_bytes": "-m",
    "service_level": "-S",
    "traffic_class": "--tclass",
    "inline_limit": "-I",
    "queue_depth": "-t",
    "signal_every": "-Q",
    "ack_timeout": "-u",
}
FLAGS = {("completion", "event"): "-e", ("connection", "manager"): "-R"}
DEFAULTS = {"completion": "polling", "connection": "exchange", "buffers": "separate"}
UNBUFFERED = ("stdbuf", "-oL")
"""Before a server, whose words are waited for."""
SERVES, HEAD = "Waiting for client", "#bytes"
"""A server says so shortly before it listens; a client's output comes when it ends, with this in it."""
TITLES = {"send": "Send", "write": "RDMA_Write", "read": "RDMA_Read", "atomic": "Atomic"}
UNTITLED = ("results", "report")
"""Tables that do not say of which test they are."""


def is_server(outcome: Outcome) -> bool:
    """Return whether a process was a server; a stored command says it by its words alone."""
    return outcome.command.is_server or outcome.command.argv[: len(UNBUFFERED)] == UNBUFFERED


def size_problem(case: Case) -> str | None:
    """Return why no program of perftest can send a case's messages, None if one can."""
    return None if 1 <= case.message_size_bytes <= LARGEST_MESSAGE_BYTES else "perftest's messages have 1 byte to 1 GiB"


def queue_words(case: Case, *besides: str) -> Iterator[str]:
    """Yield what the case says of queue pairs, without the parameters that are told `besides`."""
    for name, value in case.parameters:
        if name in OPTIONS and name not in besides:
            yield from (OPTIONS[name], value)
        elif (name, value) in FLAGS:
            yield FLAGS[name, value]


def end_words(case: Case, fabric: Fabric | None, host: str) -> tuple[str, ...]:
    """Return what the fabric says of this end and of what is sent, where the case does not say it itself."""
    port = fabric.rdma_ports.get(host) if fabric is not None else None
    words: dict[str, object] = {}
    if port is not None:
        words |= {"device": port.device, "hca_port": port.hca_port}
        words |= {} if port.gid_index is None else {"gid_index": port.gid_index}
    if fabric is not None:
        words |= {"service_level": fabric.service_level} if fabric.service_level else {}
        words |= {"traffic_class": fabric.traffic_class} if fabric.traffic_class else {}
    given = [word for name in words if name not in case.parameter_map for word in (OPTIONS[name], str(words[name]))]
    is_managed = fabric is not None and fabric.transport == "iwarp" and "connection" not in case.parameter_map
    return (*given, *(["-R"] if is_managed else []))


def result_of(outcome: Outcome | None) -> Table | None:
    """Return the table of one row that a client prints; None where it ended badly or before that.

    Raises ParseError for a text that contradicts itself, or has several results.
    """
    if outcome is None or outcome.exit_status != 0:
        return None
    document = READER.read(text_of(outcome.stdout))
    document.check("perftest")
    tables = [table for table in document.tables if table.rows]
    count = sum(len(table.rows) for table in tables)
    if count > 1:
        raise ParseError(f"{count} results stand in the output of one test", where="perftest")
    return tables[0] if tables else None


def check_size(row: Row, case: Case) -> None:
    """Raise ParseError where a result is not of the case's messages."""
    size = row.number(SIZE)
    if math.isnan(size):
        raise ParseError("its result does not say of which size it is (#bytes)", where="perftest")
    if size != case.message_size_bytes:
        raise ParseError(f"{size:.0f} B were measured, and {case.message_size_bytes} B asked for", where="perftest")


def number_of(row: Row, name: str, head: str, program: str) -> float | None:
    """Return a number that is finite and above 0; None where the program found no clock to divide by.

    Raises ParseError where the result has no such column.
    """
    if name not in row.values:
        raise ParseError(f"its result has no {head}, which {program} states", where="perftest")
    value = row.number(name)
    return value if math.isfinite(value) and value > 0 else None


def no_clock(row: Row, name: str, head: str, program: str) -> str:
    """Return the reason of a case without such a number.

    perftest measures the processor's clock by a straight line, and goes on without one where that fails.
    """
    return f"{program} prints {row.number(name)} as {head}: it did not find the processor's clock"


def check_title(table: Table, program: str, kind: str) -> None:
    """Raise ParseError where a result is of another test than its program's; `kind` is BW or Latency."""
    verb = TITLES[program.split("_")[1]]
    if table.name not in UNTITLED and not (table.name.startswith(verb) and f" {kind} " in table.name):
        raise ParseError(f"its result is of {table.name!r}, and {program} was asked for", where="perftest")


def queue_depth_of(table: Table) -> float | str | None:
    """Return how many messages the program says to have under way."""
    return next((one.value for one in table.parameters if one.name == "queue_depth"), None)
