"""The tables of the experimental set-up, as a paper has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from fabriscope.analysis.sharpening import words_of
from fabriscope.analysis.stopping import UNTIL_DECIDED
from fabriscope.analysis.words import UNKNOWN, interval_text, memory_text, rate_text, size_text, time_text
from fabriscope.model.host import COPY_RATE
from fabriscope.model.lab import fault_words
from fabriscope.model.run_data import RunData
from fabriscope.reports._essence import Essence

MAIN_FACTS = {
    "cpu.model": "CPU",
    "cpu.socket_count": "sockets",
    "cpu.core_count": "cores",
    "cpu.thread_count": "hardware threads",
    "guest.cpu_share": "share of the CPU",
    "cpu.governor": "CPU governor",
    "cpu.turbo_off": "turbo off",
    "memory.total_bytes": "memory",
    COPY_RATE: "copying in memory, one thread",
    "numa.node_count": "NUMA nodes",
    "kernel.distribution": "system",
    "kernel.release": "kernel",
    "tcp.congestion_control": "TCP congestion control",
    "virtualisation.hypervisor": "hypervisor",
}
"""What a paper would tell of a host, in its order and words; the page folds the other facts away."""

_VERBS = {"roce": "RoCE", "iwarp": "iWARP", "ib": "InfiniBand"}

MOST_HOSTS = 16
"""So many hosts have columns of their own."""

Table = dict[str, Any]


def host_table(run: RunData) -> Table:
    """Return the facts of all hosts: `columns`, and `rows` of a name and one value for each column.

    Hosts that agree in a fact share its cell, of many hosts those that agree in all facts a column; `main` marks
    the rows that a reader looks for first.
    """
    facts = _merged({host: _facts_of(about) for host, about in run.manifest["hosts"].items()})
    found = dict.fromkeys(name for of_host in facts.values() for name in of_host)
    names = [*(name for name in MAIN_FACTS if name in found), *(name for name in found if name not in MAIN_FACTS)]
    rows = []
    for name in names:
        cells = [of_host.get(name, UNKNOWN) for of_host in facts.values()]
        label = MAIN_FACTS.get(name, name)
        rows.append({"name": label, "cells": cells, "same": len(set(cells)) == 1, "main": name in MAIN_FACTS})
    return {"columns": list(facts), "rows": rows}


def _merged(facts: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the facts by host; of more than MOST_HOSTS by groups of hosts that agree in all, the largest first."""
    if len(facts) <= MOST_HOSTS:
        return facts
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for host, of_host in facts.items():
        groups.setdefault(tuple(of_host.items()), []).append(host)
    largest = sorted(groups.items(), key=lambda group: -len(group[1]))
    named = {_group_name(hosts): dict(of_all) for of_all, hosts in largest[:MOST_HOSTS]}
    left = sum(len(hosts) for _, hosts in largest[MOST_HOSTS:])
    return named | ({f"{left} more hosts, each otherwise": {}} if left else {})


def _group_name(hosts: list[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts: {hosts[0]} to {hosts[-1]}"


def _facts_of(about: Mapping[str, Any]) -> dict[str, str]:
    return {fact["name"]: _fact_text(fact) for fact in about.get("facts", ())}


def _fact_text(fact: Mapping[str, Any]) -> str:
    value = fact.get("value")
    if value is None:
        reason = fact.get("unknown_because")
        return f"unknown: {reason}" if reason else "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if fact["name"].endswith("_bytes") and isinstance(value, int):
        return memory_text(value)
    if fact["name"] == COPY_RATE and isinstance(value, int | float):
        return f"{value / 1e9:.1f} GB/s"
    if fact["name"].endswith("_hz") and isinstance(value, int | float):
        return f"{value / 1e9:.2f} GHz"
    if fact["name"].endswith("_ns") and isinstance(value, int | float):
        return time_text(value)
    return str(value)


def fabric_table(run: RunData) -> list[Table]:
    """Return one row for each fabric: name, interfaces, rate, MTU, delay, coalescing, buffer, other settings."""
    switches = (run.manifest.get("lab") or {}).get("fabrics") or {}
    rows = []
    for name, fabric in run.manifest["fabrics"].items():
        switch = switches.get(name) or {}
        interfaces = sorted(set((fabric.get("interfaces") or {}).values()))
        # What the switch was asked to be stands in columns of its own.
        settings = {key: value for key, value in (fabric.get("settings") or {}).items() if key not in switch}
        rows.append(
            {
                "name": name,
                "kind": _kind(fabric, switch),
                "interfaces": ", ".join(interfaces) or UNKNOWN,
                "line_rate": _rate(fabric.get("line_rate_bits_per_s")),
                "mtu": UNKNOWN if not fabric.get("mtu_bytes") else f"{fabric['mtu_bytes']} B",
                "delay": time_text(switch["delay_ns"]) if switch.get("delay_ns") else UNKNOWN,
                "buffer": size_text(switch["buffer_bytes"]) if switch.get("buffer_bytes") else UNKNOWN,
                "coalescing": _coalescing(switch),
                "settings": ", ".join([*(f"{key} {value}" for key, value in settings.items()), *fault_words(switch)])
                or UNKNOWN,
            }
        )
    return rows


def _kind(fabric: Mapping[str, Any], switch: Mapping[str, Any]) -> str:
    """Return what carries the bytes: the switch, and the RDMA devices where it speaks verbs."""
    transport = fabric.get("transport", "")
    devices = dict.fromkeys(port["device"] for port in (fabric.get("rdma_ports") or {}).values())
    verbs = f"{_VERBS[transport]} by {', '.join(devices) or 'no device'}" if transport in _VERBS else ""
    wire = f"emulated switch ({switch.get('preset', 'local')})" if switch else "" if verbs else transport
    return ", ".join(part for part in (wire, verbs) if part)


def _rate(bits_per_s: int | None) -> str:
    return "unknown" if not bits_per_s else rate_text(bits_per_s / 8)


def _coalescing(switch: Mapping[str, Any]) -> str:
    if not switch.get("rx_coalesce_ns"):
        return "off" if switch else UNKNOWN
    return f"{time_text(switch['rx_coalesce_ns'])} or {switch.get('rx_coalesce_frames', 1)} frames"


def run_table(essence: Essence) -> list[tuple[str, str]]:
    """Return what the run was: name and value, in the order of reading."""
    manifest = essence.run.manifest
    created = datetime.fromtimestamp(manifest["created_unix_ns"] / 1e9, tz=UTC)
    ids = [line["launch_id"] for line in manifest["schedule"] if not line.get("round")]
    launches = essence.launches.filter(essence.launches["launch_id"].is_in(ids))
    blocks = launches["block"].n_unique()
    ended = launches.filter(launches["status"] != "open").height
    elapsed_ns = int(essence.launches["elapsed_ns"].sum() or 0)
    versions = {"fabriscope": manifest.get("fabriscope_version"), **(manifest.get("versions") or {})}
    samples = essence.estimates.unique(["case_id", "layer"])["sample_count"].sum()
    return [
        ("Measured", f"{created:%-d %B %Y, %H:%M} UTC"),
        (
            "Launches",
            f"{ended} of at most {launches.height}: in each block what still decided something, once"
            if (manifest.get("plan") or {}).get("until") == UNTIL_DECIDED
            else f"{ended} of {launches.height}: every entry once in each of {blocks} blocks, in random order",
        ),
        *_added(manifest),
        ("Cases", f"{essence.cases.height}"),
        ("Samples", f"{samples:,}".replace(",", "\N{THIN SPACE}")),
        ("Time in launches", f"{elapsed_ns / 1e9:.0f} s"),
        ("Intervals and verdicts", essence.rules.words),
        ("Seed", str(manifest.get("seed"))),
        ("Versions", ", ".join(f"{name} {value}" for name, value in versions.items() if value)),
        ("Run", str(manifest.get("run_id"))),
        *_mishaps(essence.run),
    ]


def _added(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the rounds of sharpening added to the plan, and why."""
    for one in manifest.get("additions", ()):
        rows = [line for line in manifest["schedule"] if line.get("round") == one["round"]]
        blocks = len({line["block"] for line in rows})
        where = "; ".join(words_of(near) for near in one["near"])
        head = f"{len(one['case_ids'])} cases, {len(rows)} launches in {blocks} blocks of their own"
        yield f"Sizes added after looking, round {one['round']}", f"{head}: {where}"


def floor_table(essence: Essence) -> list[tuple[str, str, str]]:
    """Return what the instrument itself costs: name, value, what it means."""
    rows = []
    for row in essence.estimates.filter(essence.estimates["layer"] == "null").iter_rows(named=True):
        interval = interval_text(row["low"], row["high"], time_text)
        value = f"{time_text(row['value'])}{f' ({interval})' if interval else ''}"
        if row["metric_id"] == "floor_ns":
            rows.append(("Recording an operation that does nothing", value, "benchmark empty"))
        elif row["metric_id"] == "latency_ns":
            rows.append(("Half a round trip over the null transport", value, "ping-pong without any bytes moved"))
    costs = sorted(cost for record in essence.run.journal if (cost := _clock_cost_ns(record)) is not None)
    if costs:
        middle, name = costs[len(costs) // 2], _clock_name(essence.run)
        rows.append(("Reading the clock once", time_text(middle), f"{name}, median over {len(costs)} launches"))
    return rows


def _clock(record: Mapping[str, Any]) -> Mapping[str, Any]:
    header = (record.get("details") or {}).get("header") or {}
    clock = header.get("clock") if isinstance(header, Mapping) else None
    return clock if isinstance(clock, Mapping) else {}


def _clock_cost_ns(record: Mapping[str, Any]) -> float | None:
    cost = _clock(record).get("cost_ns")
    return float(cost) if isinstance(cost, int | float) else None


def _clock_name(run: RunData) -> str:
    return next((str(_clock(record)["name"]) for record in run.journal if "name" in _clock(record)), "clock")


def _hung_at_its_end(record: Mapping[str, Any]) -> bool:
    """Return whether a job of our MPI engine was ended by us after its footer."""
    details = record.get("details") or {}
    is_mpi = (details.get("header") or {}).get("transport") == "mpi"
    is_whole = (details.get("footer") or {}).get("status") == "ok"
    return is_mpi and is_whole and None in details.get("exit_statuses", ())


def _mishaps(run: RunData) -> Iterator[tuple[str, str]]:
    """Yield what befell the run while it went on, and which hosts stood in for others."""
    for record in (*run.superseded, *run.journal):
        for words in record.get("mishaps", ()):
            yield f"During launch {record['launch_id']}", words
    hung = [record for record in run.journal if _hung_at_its_end(record)]
    if hung:
        which = ", ".join(str(record["launch_id"]) for record in hung)
        yield "MPI_Finalize did not return", f"the results were whole, and we ended the job, in the launches {which}"
    for record in run.superseded:
        bad = sum(one.get("status") != "ok" for one in record["results"].values())
        what = (
            f"attempt {record.get('attempt', 1)} does not count: {bad} of {len(record['results'])} measurements failed"
        )
        yield f"Launch {record['launch_id']} was made again", f"{what} ({record.get('reason')})"
    replaced: dict[tuple[str, str], list[int]] = {}
    for record in run.journal:
        for gone, stand_in in record.get("stand_ins", {}).items():
            replaced.setdefault((gone, stand_in), []).append(record["launch_id"])
    for (gone, stand_in), launches in replaced.items():
        yield f"{stand_in} stood in for {gone}", f"in the launches {', '.join(map(str, launches))}"
