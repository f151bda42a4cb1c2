"""The tables of the experimental set-up, as a paper has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from fabriscope.analysis.comparing.pilots import choice_words
from fabriscope.analysis.comparing.shared_noise import shared_noise
from fabriscope.analysis.comparing.sharpening import words_of
from fabriscope.analysis.frames import OPEN
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.running_time import running_ns
from fabriscope.analysis.values.stopping import UNTIL_DECIDED
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.analysis.words import UNKNOWN, memory_text, rate_text, size_text, time_text
from fabriscope.model.case import beside_words
from fabriscope.model.counting import counted
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import COPY_RATE, Fact, HostFacts
from fabriscope.model.lab import SwitchSpec, fault_words
from fabriscope.model.manifest import Manifest, PlanFacts
from fabriscope.model.record import Details
from fabriscope.model.run_data import RunData
from fabriscope.reports._set_words import set_words, told_to_suites

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
"""Hosts with columns of their own, at most."""


@dataclass(frozen=True)
class FactLine:
    """One fact of all hosts."""

    name: str
    cells: list[str]
    """One for each column."""
    same: bool
    """Whether all hosts agree."""
    main: bool
    """Whether a reader looks for it first."""


@dataclass(frozen=True)
class HostTable:
    """The facts of all hosts."""

    columns: list[str]
    """Hosts; of many those that agree in all facts have one column."""
    rows: list[FactLine]


@dataclass(frozen=True)
class FabricLine:
    """What one fabric is."""

    name: str
    kind: str
    interfaces: str
    line_rate: str
    mtu: str
    delay: str
    buffer: str
    coalescing: str
    settings: str


def host_table(run: RunData) -> HostTable:
    """Return the facts of all hosts."""
    facts = _merged({host: _facts_of(about) for host, about in run.manifest.hosts.items()})
    found = dict.fromkeys(name for of_host in facts.values() for name in of_host)
    names = [*(name for name in MAIN_FACTS if name in found), *(name for name in found if name not in MAIN_FACTS)]
    rows = []
    for name in names:
        cells = [of_host.get(name, UNKNOWN) for of_host in facts.values()]
        label = MAIN_FACTS.get(name, name)
        rows.append(FactLine(label, cells, same=len(set(cells)) == 1, main=name in MAIN_FACTS))
    return HostTable(list(facts), rows)


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


def _facts_of(about: HostFacts) -> dict[str, str]:
    return {fact.name: _fact_text(fact) for fact in about.facts}


def _fact_text(fact: Fact) -> str:
    value = fact.value
    if value is None:
        return f"unknown: {fact.unknown_because}" if fact.unknown_because else "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if fact.name.endswith("_bytes") and isinstance(value, int):
        return memory_text(value)
    if fact.name == COPY_RATE and isinstance(value, int | float):
        return f"{value / 1e9:.1f} GB/s"
    if fact.name.endswith("_hz") and isinstance(value, int | float):
        return f"{value / 1e9:.2f} GHz"
    if fact.name.endswith("_ns") and isinstance(value, int | float):
        return time_text(value)
    return str(value)


def fabric_table(run: RunData) -> list[FabricLine]:
    """Return one line for each fabric."""
    rows = []
    for name, fabric in run.manifest.fabrics.items():
        if fabric.tries:
            continue
        switch = run.manifest.switches.get(name)
        interfaces = sorted(set(fabric.interfaces.values()))
        # What the switch was asked to be stands in columns of its own.
        asked = asdict(switch) if switch else {}
        settings = {key: value for key, value in fabric.settings.items() if key not in asked}
        texts = [*set_words(fabric.knobs), *(f"{key} {value}" for key, value in settings.items()), *fault_words(asked)]
        rows.append(
            FabricLine(
                name=name,
                kind=_kind(fabric, switch),
                interfaces=", ".join(interfaces) or UNKNOWN,
                line_rate=_rate(fabric.line_rate_bits_per_s),
                mtu=UNKNOWN if not fabric.mtu_bytes else f"{fabric.mtu_bytes} B",
                delay=time_text(switch.delay_ns) if switch and switch.delay_ns else UNKNOWN,
                buffer=size_text(switch.buffer_bytes) if switch and switch.buffer_bytes else UNKNOWN,
                coalescing=_coalescing(switch),
                settings=", ".join(texts) or UNKNOWN,
            )
        )
    return rows


def _kind(fabric: Fabric, switch: SwitchSpec | None) -> str:
    """Return what carries the bytes: the switch, and the RDMA devices where it speaks verbs."""
    transport = fabric.transport
    devices = dict.fromkeys(port.device for port in fabric.rdma_ports.values())
    verbs = f"{_VERBS[transport]} by {', '.join(devices) or 'no device'}" if transport in _VERBS else ""
    wire = f"emulated switch ({switch.preset})" if switch else "" if verbs else transport
    return ", ".join(part for part in (wire, verbs) if part)


def _rate(bits_per_s: int | None) -> str:
    return "unknown" if not bits_per_s else rate_text(bits_per_s / 8)


def _coalescing(switch: SwitchSpec | None) -> str:
    if switch is None or not switch.rx_coalesce_ns:
        return "off" if switch else UNKNOWN
    return f"{time_text(switch.rx_coalesce_ns)} or {switch.rx_coalesce_frames} frames"


def _version_text(value: object) -> str:
    """Return a version, or those of several by their names, in words."""
    return " and ".join(f"{name} {one}" for name, one in value.items()) if isinstance(value, Mapping) else str(value)


def run_table(results: Results) -> list[tuple[str, str]]:
    """Return what the run was: name and value, in the order of reading."""
    manifest = results.run.manifest
    created = datetime.fromtimestamp((manifest.created_unix_ns or 0) / 1e9, tz=UTC)
    planned = {line.launch_id for line in manifest.planned}
    launches = [launch for launch in results.all_launches if launch.launch_id in planned]
    blocks = len({launch.block for launch in launches})
    ended = sum(launch.status != OPEN for launch in launches)
    versions = {"fabriscope": manifest.fabriscope_version, **manifest.versions}
    samples = sum(part[0].sample_count for part in parts(results.graded, lambda row: (row.case_id, row.layer)))
    return [
        ("Measured" if manifest.plan.imported is None else "Imported", f"{created:%-d %B %Y, %H:%M} UTC"),
        ("Launches", f"{_launches_words(manifest.plan, ended, len(launches), blocks)}{_beside(manifest)}"),
        *([("Blocks", choice_words(manifest.choice))] if manifest.choice is not None else []),
        *_added(manifest),
        ("Cases", f"{results.cases.height}"),
        ("Samples", f"{samples:,}".replace(",", "\N{THIN SPACE}")),
        ("Time in launches", f"{running_ns(results.run.journal) / 1e9:.0f} s"),
        *told_to_suites(manifest.plan),
        *_pools(results.run),
        *_turns(results),
        ("Intervals and verdicts", results.rules.words),
        ("Seed", str(manifest.seed)),
        ("Versions", ", ".join(f"{name} {_version_text(value)}" for name, value in versions.items() if value)),
        ("Run", str(manifest.run_id)),
        *_mishaps(results.run),
    ]


def _launches_words(plan: PlanFacts, ended: int, count: int, blocks: int) -> str:
    if plan.imported is not None:
        return f"{count}, read from {plan.imported} logs; no block paired them"
    if plan.until == UNTIL_DECIDED:
        return f"{ended} of at most {count}: in each block what still decided something, once"
    return f"{ended} of {count}: {counted(blocks, 'block')}, each with every entry once, in random order"


def _beside(manifest: Manifest) -> str:
    """Return which of the launches measure something beside what the plan asks about."""
    entries = (manifest.entries.get(line.entry_id) for line in manifest.planned)
    words = beside_words(entry for entry in entries if entry is not None)
    return f"; among them {words}" if words else ""


def _pools(run: RunData) -> Iterator[tuple[str, str]]:
    """Yield how large the pools of rotating buffers were, of all launches that had some."""
    pools = dict.fromkeys(record.details.pool for record in run.journal if record.details.pool is not None)
    for pool in pools:
        size = pool.last_level_cache_bytes
        cache = memory_text(size) if size else "of a size that nobody says"
        yield "Rotating buffers", f"two pools of {memory_text(pool.pool_bytes)} each rank, last-level cache {cache}"


def _turns(results: Results) -> Iterator[tuple[str, str]]:
    """Yield how much noise turns took out."""
    shared = shared_noise(results.launch_values, results.rules, results.run.once(turn_series))
    if shared is not None:
        yield "Turns", shared.sentence()


def _added(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield what the rounds of sharpening, or of tuning, added to the plan, and why."""
    for added in manifest.additions:
        rows = [line for line in manifest.schedule if line.round == added.round]
        blocks = len({line.block for line in rows})
        where = "; ".join(words_of(near) for near in added.near)
        head = f"{len(added.case_ids)} cases, {len(rows)} launches in {blocks} blocks of their own"
        if added.trials is not None:
            yield f"Tuning, {added.trials.stage}", f"{len(added.trials.configurations)} configurations, {head}"
            continue
        yield f"Sizes added after looking, round {added.round}", f"{head}: {where}"


def _hung_at_its_end(details: Details) -> bool:
    """Return whether a job of our MPI engine was ended by us after its footer."""
    return details.transport == "mpi" and details.is_whole and None in details.exit_statuses


def _mishaps(run: RunData) -> Iterator[tuple[str, str]]:
    """Yield what befell the run while it went on, and which hosts stood in for others."""
    for record in (*run.superseded, *run.journal):
        yield from ((f"During launch {record.launch_id}", words) for words in record.mishaps)
    hung = [record for record in run.journal if _hung_at_its_end(record.details)]
    if hung:
        which = ", ".join(str(record.launch_id) for record in hung)
        yield "MPI_Finalize did not return", f"the results were whole, and we ended the job, in the launches {which}"
    for record in run.superseded:
        bad = len(record.results) - record.ok_count
        what = f"attempt {record.attempt} does not count: {bad} of {len(record.results)} measurements failed"
        yield f"Launch {record.launch_id} was made again", f"{what} ({record.reason})"
    replaced: dict[tuple[str, str], list[int]] = {}
    for record in run.journal:
        for gone, stand_in in record.stand_ins.items():
            replaced.setdefault((gone, stand_in), []).append(record.launch_id)
    for (gone, stand_in), launches in replaced.items():
        yield f"{stand_in} stood in for {gone}", f"in the launches {', '.join(map(str, launches))}"
