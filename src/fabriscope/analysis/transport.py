"""Which transport carried the bytes of a run's launches, and what follows for its numbers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from fabriscope.analysis.books import balance
from fabriscope.analysis.books_flows import LOOPBACK
from fabriscope.analysis.frames import IN_TRUTH, cases_frame
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED, Books, Expectation
from fabriscope.model.layers import Carrier, layer_of
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
_known: dict[int, tuple[weakref.ref[RunData], pl.DataFrame]] = {}


def expectation(run: RunData, record: Mapping[str, Any]) -> Expectation | None:
    """Return what a launch's bytes were asked to go over, and how many there were; None for one that moves none.

    How many is what the program said itself; other programs than our engine say nothing, nor does it for collectives.
    """
    entry = run.manifest["entries"].get(str(record.get("entry_id"))) or {}
    layer, fabric = layer_of(str(entry.get("layer"))), run.manifest["fabrics"].get(entry.get("fabric") or "")
    if not entry.get("layer") or layer.carrier is Carrier.NOTHING:
        return None
    stand_ins = record.get("stand_ins") or {}
    hosts = [str(stand_ins.get(host, host)) for host in entry.get("hosts", ())]
    is_inter = entry.get("placement") == "inter"
    of_fabric = None if fabric is None else str(fabric.get("transport") or "tcp")
    transport = layer.carried_by(of_fabric, is_inter=is_inter)
    interfaces = {host: name for host, name in ((fabric or {}).get("interfaces") or {}).items() if host in hosts}
    if not is_inter and transport == "tcp":
        interfaces = dict.fromkeys(hosts, LOOPBACK)  # to the host's own address on the fabric: no cable is used
    ports = {
        host: f"{port['device']}/{port['hca_port']}"
        for host, port in ((fabric or {}).get("rdma_ports") or {}).items()
        if host in hosts and transport != "tcp"
    }
    details = record.get("details") or {}
    return Expectation(
        transport, str(entry.get("fabric") or ""), interfaces, ports, _payload(details, hosts),
        details.get("sent_messages"),
    )  # fmt: skip


def _payload(details: Mapping[str, Any], hosts: list[str]) -> dict[tuple[str, str], int] | None:
    told = details.get("sent_payload_bytes")
    if not isinstance(told, Mapping):
        return None
    payload: dict[tuple[str, str], int] = {}
    for pair, size in told.items():
        source, _, target = str(pair).partition(">")
        ends = hosts[int(source)], hosts[int(target)]
        payload[ends] = payload.get(ends, 0) + int(size)
    return payload


def books_of(run: RunData) -> Iterator[tuple[Mapping[str, Any], Expectation, Books]]:
    """Yield the journal's record, what was asked for and the books of every launch that was watched."""
    idle = run.idle_watches()
    for record in run.journal:
        watches = run.watches(record)
        asked = expectation(run, record) if watches else None
        if watches and asked is not None:
            yield record, asked, balance(watches, asked, idle)


def transport_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each launch that was watched, TRANSPORT_SCHEMA."""
    kept = _known.get(id(run))
    if kept is None or kept[0]() is not run:
        for gone in [key for key, (reference, _) in _known.items() if reference() is None]:
            del _known[gone]
        kept = _known[id(run)] = (weakref.ref(run), pl.DataFrame(list(_rows(run)), schema=TRANSPORT_SCHEMA))
    return kept[1]


def _rows(run: RunData) -> Iterator[dict[str, Any]]:
    for record, asked, books in books_of(run):
        names = asked.rdma_ports or asked.interfaces
        over = f" over {' and '.join(dict.fromkeys(names.values()))}" if names else ""
        yield {
            "launch_id": record["launch_id"],
            "block": record["block"],
            "entry_id": record["entry_id"],
            "asked": "shared memory" if asked.transport == "shm" else f"{asked.transport or 'any transport'}{over}",
            "verdict": books.verdict,
            "carried_by": books.carried_by,
            "payload_share": books.payload_share,
            "closure_error": books.closure_error,
            "because": books.because,
        }


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
    refuted = transport_frame(run).filter(pl.col("verdict") == REFUTED)["launch_id"]
    return pl.col("launch_id").is_in(refuted.to_list())


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
    rows = {row["launch_id"]: row for row in transport_frame(run).iter_rows(named=True)}
    found: dict[str, list[dict[str, Any]]] = {}
    for record in run.journal:
        for case_id in record.get("results") or {}:
            if record["launch_id"] in rows:
                found.setdefault(case_id, []).append(rows[record["launch_id"]])
    together = _refuted if of_refuted else _together
    return {case_id: verdict for case_id, of_case in found.items() if (verdict := together(of_case)) is not None}


def _refuted(rows: list[dict[str, Any]]) -> tuple[str, str] | None:
    return next(((REFUTED, row["because"]) for row in rows if row["verdict"] == REFUTED), None)


def _together(rows: list[dict[str, Any]]) -> tuple[str, str] | None:
    counted = [row for row in rows if row["verdict"] != REFUTED]
    if not counted:
        return None
    undecided = [row for row in counted if row["verdict"] == UNDECIDED]
    if undecided:
        some = f"in {len(undecided)} of {len(counted)} launches, " if len(undecided) < len(counted) else ""
        return UNDECIDED, f"{some}{undecided[0]['because']}"
    left = len(rows) - len(counted)
    return PROVED, counted[0]["because"] + (f"; {left} refuted launches are left out" if left else "")


def transport_rows(run: RunData) -> list[dict[str, Any]]:
    """Return one row for each entry that was watched: how many launches have which verdict, and the worst of them.

    Keys: `entry_id`, `label`, `asked`, `counts` (verdict to launches), `verdict` (the worst), and of the launches with
    it `carried_by`, the least `payload_share`, the largest `closure_error`, and `because`, the first one's.
    """
    frame = transport_frame(run)
    found = []
    for part in frame.partition_by("entry_id", maintain_order=True):
        rows = part.to_dicts()
        counts = {name: sum(row["verdict"] == name for row in rows) for name in (PROVED, UNDECIDED, REFUTED)}
        worst = next(name for name in (REFUTED, UNDECIDED, PROVED) if counts[name])
        some = [row for row in rows if row["verdict"] == worst]
        shares = [row["payload_share"] for row in some if row["payload_share"] is not None]
        errors = [row["closure_error"] for row in rows if row["closure_error"] is not None]
        entry_id = rows[0]["entry_id"]
        found.append(
            {
                "entry_id": entry_id,
                "label": run.manifest["entries"][entry_id].get("label", entry_id),
                "placement": run.manifest["entries"][entry_id]["placement"],
                "asked": rows[0]["asked"],
                "counts": counts,
                "verdict": worst,
                "carried_by": " or ".join(dict.fromkeys(row["carried_by"] for row in some if row["carried_by"])),
                "payload_share": min(shares, default=None),
                "closure_error": max(errors, default=None),
                "because": some[0]["because"],
            }
        )
    order = cases_frame(run)["entry_id"].unique(maintain_order=True).to_list()
    return sorted(found, key=lambda row: order.index(row["entry_id"]))


def refuted_findings(run: RunData) -> list[dict[str, Any]]:
    """Return a finding for each entry with refuted launches, as `findings` has them; `kind` is `refuted`."""
    return [
        {
            "kind": REFUTED,
            "benchmark": "",
            "placement": row["placement"],
            "where": row["label"],
            "text": f"asked for {row['asked']}, and in truth carried by {row['carried_by']} in {_count(row)}: "
            f"{row['because']}; left out of every comparison",
            "crossovers": [],
            "has_lead": False,
        }
        for row in transport_rows(run)
        if row["verdict"] == REFUTED
    ]


def _count(row: Mapping[str, Any]) -> str:
    total = sum(row["counts"].values())
    refuted = row["counts"][REFUTED]
    return "every launch" if refuted == total else f"{refuted} of {total} launches"


def refuted_sentences(run: RunData) -> list[str]:
    """Return the same as sentences."""
    return [f"Refuted: {one['where']} was {one['text']}." for one in refuted_findings(run)]
