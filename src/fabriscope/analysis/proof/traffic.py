"""What went over each way out of each host in the course of a job: one balance for every interval between readings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabriscope.model.counters import Books, Watch

MOST_SLICES = 300
"""More than a figure can show; longer jobs have longer slices."""
COUNTED = "counted"
"""Stands for a carrier where everything is meant that the interfaces counted, others' traffic and headers included."""


@dataclass(frozen=True)
class Flow:
    """What one carrier of one host moved in one slice of the time."""

    host: str
    carrier: str
    """`tcp over eth0` of the job, or COUNTED."""
    start_s: float
    """Since the first reading."""
    end_s: float
    sent_bytes_per_s: float
    received_bytes_per_s: float


def flows(watches: Mapping[str, Watch], balance: Callable[[Mapping[str, Watch]], Books]) -> list[Flow]:
    """Return the flows of a job, by host and time; `balance` gives the books of some watches."""
    found: list[Flow] = []
    for part in _slices(watches):
        carried = balance(part).carriers
        for host, watch in part.items():
            first, last = watch.readings[0], watch.readings[-1]
            begin_ns = watches[host].readings[0].at_ns
            start_s, end_s = (first.at_ns - begin_ns) / 1e9, (last.at_ns - begin_ns) / 1e9
            seconds = end_s - start_s
            for one in carried:
                if one.host == host and one.sent_bytes is not None and one.received_bytes is not None:
                    rates = (one.sent_bytes / seconds, one.received_bytes / seconds)
                    found.append(
                        Flow(host, f"{one.kind} over {one.name or 'an unknown interface'}", start_s, end_s, *rates)
                    )
            sent, received = _counted(watch)
            found.append(Flow(host, COUNTED, start_s, end_s, sent / seconds, received / seconds))
    return sorted([*found, *_still(found)], key=lambda one: one.start_s)


def _still(found: Sequence[Flow]) -> Iterator[Flow]:
    """Yield what moved nothing in slices in which others of its host did."""
    spans: dict[str, set[tuple[float, float]]] = {}
    known: dict[tuple[str, str], set[tuple[float, float]]] = {}
    for one in found:
        spans.setdefault(one.host, set()).add((one.start_s, one.end_s))
        known.setdefault((one.host, one.carrier), set()).add((one.start_s, one.end_s))
    for (host, carrier), seen in known.items():
        for start_s, end_s in spans[host] - seen:
            yield Flow(host, carrier, start_s, end_s, 0.0, 0.0)


def _slices(watches: Mapping[str, Watch]) -> Iterator[Mapping[str, Watch]]:
    """Yield the watches cut into slices: the n-th of every host, of which all took their readings at one pace."""
    seen = {host: watch for host, watch in watches.items() if len(watch.readings) > 1}
    if not seen:
        return
    count = min(len(watch.readings) for watch in seen.values()) - 1
    step = -(-count // MOST_SLICES)
    for start in range(0, count, step):
        ends = {
            host: len(watch.readings) - 1 if start + step >= count else start + step for host, watch in seen.items()
        }
        part = {host: _cut(watch, start, ends[host]) for host, watch in seen.items()}
        if all(one.readings[-1].at_ns > one.readings[0].at_ns for one in part.values()):
            yield part


def _cut(watch: Watch, start: int, end: int) -> Watch:
    return replace(watch, readings=watch.readings[start : end + 1])


def _counted(watch: Watch) -> tuple[int, int]:
    """Return what the interfaces that have addresses sent and received: ports of bridges would count bytes twice."""
    first, last = watch.readings[0].interfaces, watch.readings[-1].interfaces
    names = [name for name in last if name in first and watch.addresses.get(name)]
    sent, received = (
        sum(max(0, last[name].get(key, 0) - first[name].get(key, 0)) for name in names)
        for key in ("tx_bytes", "rx_bytes")
    )
    return sent, received
