"""Which transport carried the bytes of a run's launches, and what follows for its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import polars as pl

from fabriscope.analysis.curve import IN_TRUTH
from fabriscope.analysis.frames import planned_cases
from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.flows import LOOPBACK
from fabriscope.model.case import Entry
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED, Books, Expectation
from fabriscope.model.layers import Carrier, layer_of
from fabriscope.model.record import Details, LaunchRecord
from fabriscope.model.run_data import RunData

BADGES = {PROVED: "✓ proved", UNDECIDED: "? undecided", REFUTED: "✗ refuted"}
"""A verdict as it stands beside a number."""
NOT_WATCHED = "not watched"
TRANSPORT_SCHEMA = {
    "launch_id": pl.Int32,
    "block": pl.Int32,
    "entry_id": pl.String,
    "asked": pl.String,
    "verdict": pl.String,
    "carried_by": pl.String,
    "payload_share": pl.Float64,
    "closure_error": pl.Float64,
    "because": pl.String,
}


@dataclass(frozen=True)
class LaunchVerdict:
    """What carried the bytes of one launch: a row of `transport_frame`."""

    launch_id: int
    block: int
    entry_id: str
    asked: str
    """What they were to go over, in words."""
    verdict: str
    carried_by: str
    payload_share: float | None
    closure_error: float | None
    because: str


@dataclass(frozen=True)
class EntryVerdict:
    """What carried the bytes of the launches of one entry: the worst verdict, and of the launches with it the rest."""

    entry: Entry
    asked: str
    counts: Mapping[str, int]
    """Verdict to its number of launches."""
    verdict: str
    carried_by: str
    payload_share: float | None
    """The least."""
    closure_error: float | None
    """The largest, of all launches."""
    because: str
    """Of the first one."""

    @property
    def launch_count(self) -> int:
        """Return how many launches were watched."""
        return sum(self.counts.values())


def expectation(run: RunData, record: LaunchRecord) -> Expectation | None:
    """Return what a launch's bytes were asked to go over, and how many there were; None for one that moves none.

    How many is what the program said itself; other programs than our engine say nothing, nor does it for collectives.
    """
    entry = run.manifest.entries.get(record.entry_id)
    layer = layer_of(entry.layer if entry else "null")
    if entry is None or layer.carrier is Carrier.NOTHING:
        return None
    fabric = run.manifest.fabrics.get(entry.fabric or "")
    hosts = [record.stand_ins.get(host, host) for host in entry.hosts]
    is_inter = entry.placement == "inter"
    transport = layer.carried_by(None if fabric is None else fabric.transport or "tcp", is_inter=is_inter)
    interfaces = {host: name for host, name in (fabric.interfaces if fabric else {}).items() if host in hosts}
    if not is_inter and transport == "tcp":
        interfaces = dict.fromkeys(hosts, LOOPBACK)  # to the host's own address on the fabric: no cable is used
    ports = {
        host: f"{port.device}/{port.hca_port}"
        for host, port in (fabric.rdma_ports if fabric else {}).items()
        if host in hosts and transport != "tcp"
    }
    details = record.details
    payload = _payload(details, hosts)
    return Expectation(
        transport, entry.fabric or "", interfaces, ports, payload_bytes=payload, message_count=details.sent_messages
    )


def _payload(details: Details, hosts: list[str]) -> dict[tuple[str, str], int] | None:
    if details.sent_payload_bytes is None:
        return None
    payload: dict[tuple[str, str], int] = {}
    for (source, target), size in details.sent_payload_bytes.items():
        ends = hosts[source], hosts[target]
        payload[ends] = payload.get(ends, 0) + size
    return payload


def books_of(run: RunData) -> Iterator[tuple[LaunchRecord, Expectation, Books]]:
    """Yield the journal's record, what was asked for and the books of every launch that was watched."""
    idle = run.idle_watches()
    asked = [(record, one) for record in run.journal if (one := expectation(run, record)) is not None]
    of_groups: dict[str | None, set[tuple[str, str]]] = {}
    for record, one in asked:
        of_groups.setdefault(record.details.turn_group, set()).update(one.rdma_ports.items())
    for record, one in asked:
        if watches := run.watches(record):
            group = record.details.turn_group
            others = of_groups[group] - one.rdma_ports.items() if group else ()
            one = replace(one, others_ports=frozenset(others))
            yield record, one, balance(watches, one, idle)


def transport_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each launch that was watched, TRANSPORT_SCHEMA."""
    return pl.DataFrame([asdict(verdict) for verdict in launch_verdicts(run)], schema=TRANSPORT_SCHEMA)


def launch_verdicts(run: RunData) -> list[LaunchVerdict]:
    """Return the verdict on each launch that was watched, in order."""
    return run.once(_launch_verdicts)


def _launch_verdicts(run: RunData) -> list[LaunchVerdict]:
    verdicts = []
    for record, asked, books in books_of(run):
        names = asked.rdma_ports or asked.interfaces
        over = f" over {' and '.join(dict.fromkeys(names.values()))}" if names else ""
        verdicts.append(
            LaunchVerdict(
                record.launch_id,
                record.block,
                record.entry_id,
                "shared memory" if asked.transport == "shm" else f"{asked.transport or 'any transport'}{over}",
                books.verdict,
                books.carried_by,
                books.payload_share,
                books.closure_error,
                books.because,
            )
        )
    return verdicts


def without_refuted(run: RunData, values: pl.DataFrame) -> pl.DataFrame:
    """Return the launch values without those of launches that something else carried than what was asked for."""
    return values.filter(~_is_refuted(run))


def sound_run(run: RunData) -> RunData:
    """Return the run without the samples of refuted launches."""
    return replace(run, samples=run.samples.filter(~_is_refuted(run)))


def refuted_run(run: RunData) -> RunData:
    """Return the run with the samples of refuted launches alone."""
    return replace(run, samples=run.samples.filter(_is_refuted(run)))


def _is_refuted(run: RunData) -> pl.Expr:
    """Return what is true of rows of refuted launches."""
    refuted = [launch.launch_id for launch in launch_verdicts(run) if launch.verdict == REFUTED]
    return pl.col("launch_id").is_in(refuted)


def refuted_values(run: RunData, values: pl.DataFrame) -> pl.DataFrame:
    """Return the values that `without_refuted` leaves out, under a layer's name that says what carried them."""
    refuted = transport_frame(run).filter(pl.col("verdict") == REFUTED).select("launch_id", "carried_by")
    found = values.join(refuted, on="launch_id", how="inner", maintain_order="left")
    truth = pl.format("{}" + IN_TRUTH + "{})", "layer", "carried_by")
    return found.with_columns(truth.alias("layer")).drop("carried_by")


def verdicts(run: RunData, *, of_refuted: bool = False) -> dict[str, tuple[str, str]]:
    """Return case id to verdict and reason of the launches that count; `of_refuted` of those that do not.

    One undecided launch leaves its cases undecided.
    """
    of_launches = {verdict.launch_id: verdict for verdict in launch_verdicts(run)}
    found: dict[str, list[LaunchVerdict]] = {}
    for record in run.journal:
        for case_id in record.results:
            if record.launch_id in of_launches:
                found.setdefault(case_id, []).append(of_launches[record.launch_id])
    together = _refuted if of_refuted else _together
    return {case_id: verdict for case_id, of_case in found.items() if (verdict := together(of_case)) is not None}


def _refuted(launches: list[LaunchVerdict]) -> tuple[str, str] | None:
    return next(((REFUTED, launch.because) for launch in launches if launch.verdict == REFUTED), None)


def _together(launches: list[LaunchVerdict]) -> tuple[str, str] | None:
    counted = [launch for launch in launches if launch.verdict != REFUTED]
    if not counted:
        return None
    undecided = [launch for launch in counted if launch.verdict == UNDECIDED]
    if undecided:
        some = f"in {len(undecided)} of {len(counted)} launches, " if len(undecided) < len(counted) else ""
        return UNDECIDED, f"{some}{undecided[0].because}"
    left = len(launches) - len(counted)
    return PROVED, counted[0].because + (f"; {left} refuted launches are left out" if left else "")


def entry_verdicts(run: RunData) -> list[EntryVerdict]:
    """Return what carried the bytes of each entry that was watched, in the order in which reports show entries."""
    of_entries: dict[str, list[LaunchVerdict]] = {}
    for launch in launch_verdicts(run):
        of_entries.setdefault(launch.entry_id, []).append(launch)
    found = {}
    for entry_id, launches in of_entries.items():
        counts = {name: sum(launch.verdict == name for launch in launches) for name in (PROVED, UNDECIDED, REFUTED)}
        worst = next(name for name in (REFUTED, UNDECIDED, PROVED) if counts[name])
        some = [launch for launch in launches if launch.verdict == worst]
        found[entry_id] = EntryVerdict(
            run.manifest.entries[entry_id],
            launches[0].asked,
            counts,
            worst,
            " or ".join(dict.fromkeys(launch.carried_by for launch in some if launch.carried_by)),
            min((launch.payload_share for launch in some if launch.payload_share is not None), default=None),
            max((launch.closure_error for launch in launches if launch.closure_error is not None), default=None),
            some[0].because,
        )
    order = list(dict.fromkeys(case.entry_id for case in planned_cases(run)))  # not of what a tuning tried
    return [found[entry_id] for entry_id in sorted(found.keys() & set(order), key=order.index)]
