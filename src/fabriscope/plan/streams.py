"""Who sends to whom in many_to_one: hosts of the streams, and what of it cannot be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from fabriscope.model.benchmark_kind import BESIDE, STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import to_one
from fabriscope.plan.benchmark_sections import VictimSection
from fabriscope.plan.ranks import MAX_LAYOUTS, Contradiction
from fabriscope.plan.schema import PlanSection


def stream_layouts(section: PlanSection, hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the host of each rank for each number of streams: first the one that receives, then the senders in turn.

    `hosts` are the plan's. Nothing without a host that sends.
    """
    receiver, sources = _ends(section, hosts)
    if not sources:
        return []
    names = (receiver, *sources)
    counts = section.many_to_one.streams or tuple(range(1, len(sources) + 1))
    return [to_one(count, len(names)).hosts(names) for count in counts]


def victim_layouts(section: PlanSection, hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the host of each rank for each number of streams beside a victim, whose two hosts come first."""
    victim = section.many_to_one.victim
    if victim is None:
        return []
    pair = (unfolded(victim.source)[0], unfolded(victim.to)[0])
    return [(*pair, *rest) for rest in stream_layouts(section, hosts)]


def streams_refuse(patterns: frozenset[str], rank_hosts: Sequence[str], layer: str) -> bool:
    """Return whether a layer cannot start these ranks: MPI's launchers want equally many on each host."""
    is_of_streams = patterns <= {STREAMS, BESIDE}
    return is_of_streams and layer_of(layer).rendezvous == "mpi" and len(set(rank_hosts)) < len(rank_hosts)


def _ends(section: PlanSection, hosts: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    given = section.many_to_one
    receiver = unfolded(given.to)[0] if given.to is not None else hosts[0]
    named = unfolded(given.sources) if given.sources is not None else hosts
    beside = () if given.victim is None or given.sources is not None else _pair(given.victim)
    return receiver, tuple(host for host in named if host != receiver and host not in beside)


def _pair(victim: VictimSection) -> tuple[str, ...]:
    return (*unfolded(victim.source), *unfolded(victim.to))


def contradictions(section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for streams that cannot be."""
    patterns = {kind_of(name).pattern for name in section.benchmarks}
    wanted = bool(patterns & {STREAMS, BESIDE})
    if "many_to_one" in section.model_fields_set and not wanted:
        what = "many_to_one says who sends, and the plan measures no such benchmark"
        yield ("many_to_one",), what, "add for example `benchmarks: {many_to_one: {sizes: [64KiB]}}`, or remove it"
    if not wanted:
        return
    if "inter" not in section.placements:
        yield ("placements",), "many_to_one works only between hosts", "add inter to placements"
    yield from _of_need(section, patterns)
    problems = [*_of_victim(section, hosts), *_of_hosts(section, hosts)]
    yield from problems
    if not problems:
        yield from _of_counts(section, hosts)


def _of_need(section: PlanSection, patterns: Collection[str]) -> Iterator[Contradiction]:
    victim = section.many_to_one.victim
    if victim is not None and BESIDE not in patterns:
        what = "many_to_one names a victim, and the plan measures none"
        yield ("many_to_one", "victim"), what, "add for example `benchmarks: {victim_latency: {sizes: [8]}}`"
    if victim is None and BESIDE in patterns:
        name = next(name for name in section.benchmarks if kind_of(name).pattern == BESIDE)
        what = f"{name} is of a victim beside many to one, and the plan names none"
        yield ("benchmarks", name), what, "add `many_to_one: {victim: {from: HOST, to: HOST}}`"


def _of_victim(section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    given = section.many_to_one
    if given.victim is None:
        return
    ends: list[str] = []
    for key, text in (("from", given.victim.source), ("to", given.victim.to)):
        place = ("many_to_one", "victim", key)
        try:
            named = unfolded(text)
        except HostError as error:
            yield place, error.what, error.fix or "write a host's name"
            return
        if len(named) != 1 or named[0] not in hosts:
            what = f"a victim has one of the plan's hosts at each end, not {', '.join(named[:5]) or 'none'}"
            yield place, what, "name one of the plan's hosts"
            return
        ends += named
    receivers = given.to if given.to is not None else hosts[0]
    if ends[0] == ends[1]:
        yield ("many_to_one", "victim"), f"{ends[0]} is both ends of the victim", "name another host"
    elif receivers in ends:
        what = f"{receivers} receives in many_to_one: a victim there is one more of its streams"
        yield ("many_to_one", "victim"), what, "name a host that does not receive"


def _of_hosts(section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    given = section.many_to_one
    lists: dict[str, tuple[str, ...]] = {}
    for key, text in (("to", given.to), ("from", given.sources)):
        if text is None:
            continue
        try:
            lists[key] = unfolded(text)
        except HostError as error:
            yield ("many_to_one", key), error.what, error.fix or "write it like node[2-5]"
            continue
        strangers = [host for host in lists[key] if host not in hosts]
        if strangers:
            what = f"{', '.join(strangers[:5])} of many_to_one is not among the plan's hosts"
            yield ("many_to_one", key), what, "add it to hosts"
    if len(lists.get("to", ("",))) != 1:
        what = f"many_to_one has one host that receives, not {len(lists['to'])}"
        yield ("many_to_one", "to"), what, "name one host; a plan for each of the others"
    both = [host for host in lists.get("from", ()) if host in lists.get("to", hosts[:1])]
    if both:
        what = f"{', '.join(both)} both sends and receives in many_to_one"
        yield ("many_to_one", "from"), what, "leave it out of one of the two lists"


def _of_counts(section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    _, sources = _ends(section, hosts)
    if not sources:
        yield ("many_to_one",), "many_to_one needs a host that sends beside the one that receives", "add a host"
        return
    counts = section.many_to_one.streams
    if len(counts) > MAX_LAYOUTS:
        what = f"streams asks for {len(counts)} counts, and {MAX_LAYOUTS} are the most"
        yield ("many_to_one", "streams"), what, "write fewer counts"
    for name, benchmark in section.benchmarks.items():
        if benchmark.duration is not None and 2 * benchmark.duration >= section.case_timeout:
            what = f"streams of {benchmark.duration / 1e9:g} s take too long for a case_timeout of"
            yield (
                ("benchmarks", name, "duration"),
                f"{what} {section.case_timeout / 1e9:g} s",
                "choose a shorter duration, or a longer case_timeout",
            )
    over_mpi = all(layer_of(layer).rendezvous == "mpi" for layer in section.layers)
    if over_mpi and counts and min(counts) > len(sources):
        yield (
            ("many_to_one", "streams"),
            f"over MPI each host that sends has one stream, and there are {len(sources)} such hosts",
            "name more hosts, or fewer streams",
        )
