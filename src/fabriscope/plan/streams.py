"""Who sends to whom in many_to_one and many_to_many: hosts of the streams, and what of it cannot be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from fabriscope.model.benchmark_kind import BESIDE, STREAMS, TO_MANY
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import to_one
from fabriscope.plan.benchmark_sections import ManyToManySection, VictimSection
from fabriscope.plan.ranks import MAX_LAYOUTS, Contradiction
from fabriscope.plan.schema import PlanSection
from fabriscope.plan.stream_counts import MAX_STREAMS


def stream_layouts(section: PlanSection, hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the host of each rank for each number of streams: first the one that receives, then the senders in turn.

    `hosts` are the plan's. Nothing without a host that sends.
    """
    return _layouts(section.many_to_one, hosts, _beside(section))


def many_layouts(section: PlanSection, hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the host of each rank for each number of streams: first those that receive, then their senders in turn.

    The senders of the first one that receives come first; all of them together go round the hosts that send.
    """
    return _layouts(section.many_to_many, hosts)


def receiver_count(section: PlanSection) -> int:
    """Return how many hosts receive in many_to_many."""
    return len(unfolded(section.many_to_many.to)) if section.many_to_many.to is not None else 1


def _layouts(given: ManyToManySection, hosts: Sequence[str], beside: Collection[str] = ()) -> list[tuple[str, ...]]:
    receivers, sources = _ends(given, hosts, beside)
    if not sources:
        return []
    names = (*receivers, *sources)
    counts = given.streams or tuple(range(1, len(sources) + 1))
    return [to_one(count * len(receivers), len(names), len(receivers)).hosts(names) for count in counts]


def victim_layouts(section: PlanSection, hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the host of each rank for each number of streams beside a victim, whose two hosts come first."""
    victim = section.many_to_one.victim
    if victim is None:
        return []
    pair = (unfolded(victim.source)[0], unfolded(victim.to)[0])
    return [(*pair, *rest) for rest in stream_layouts(section, hosts)]


def streams_refuse(patterns: frozenset[str], rank_hosts: Sequence[str], layer: str) -> bool:
    """Return whether a layer cannot start these ranks: MPI's launchers want equally many on each host."""
    is_of_streams = patterns <= {STREAMS, BESIDE, TO_MANY}
    return is_of_streams and layer_of(layer).rendezvous == "mpi" and len(set(rank_hosts)) < len(rank_hosts)


def _ends(
    given: ManyToManySection, hosts: Sequence[str], beside: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who receives and who sends; of those whom nobody named none that is `beside`."""
    receivers = unfolded(given.to) if given.to is not None else tuple(hosts[:1])
    if given.sources is not None:
        return receivers, tuple(host for host in unfolded(given.sources) if host not in receivers)
    return receivers, tuple(host for host in hosts if host not in receivers and host not in beside)


def _beside(section: PlanSection) -> tuple[str, ...]:
    victim = section.many_to_one.victim
    return () if victim is None else _pair(victim)


def _pair(victim: VictimSection) -> tuple[str, ...]:
    return (*unfolded(victim.source), *unfolded(victim.to))


def contradictions(section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for streams that cannot be."""
    patterns = {kind_of(name).pattern for name in section.benchmarks}
    for key, of_key in (("many_to_one", {STREAMS, BESIDE}), ("many_to_many", {TO_MANY})):
        wanted = bool(patterns & of_key)
        if key in section.model_fields_set and not wanted:
            what = f"{key} says who sends, and the plan measures no such benchmark"
            yield (key,), what, f"add for example `benchmarks: {{{key}: {{sizes: [64KiB]}}}}`, or remove it"
        if not wanted:
            continue
        if "inter" not in section.placements:
            yield ("placements",), f"{key} works only between hosts", "add inter to placements"
        problems = [*_of_hosts(key, getattr(section, key), hosts)]
        if key == "many_to_one":
            yield from _of_need(section, patterns)
            problems = [*_of_victim(section, hosts), *problems]
        yield from problems
        if not problems:
            yield from _of_counts(key, section, hosts)
    yield from _of_durations(section)


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


def _of_hosts(key_of: str, given: ManyToManySection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    lists: dict[str, tuple[str, ...]] = {}
    for key, text in (("to", given.to), ("from", given.sources)):
        if text is None:
            continue
        try:
            lists[key] = unfolded(text)
        except HostError as error:
            yield (key_of, key), error.what, error.fix or "write it like node[2-5]"
            continue
        strangers = [host for host in lists[key] if host not in hosts]
        if strangers:
            one = len(strangers) == 1
            what = f"{', '.join(strangers[:5])} of {key_of} {'is' if one else 'are'} not among the plan's hosts"
            yield (key_of, key), what, f"add {'it' if one else 'them'} to hosts"
    if key_of == "many_to_many" and len(lists.get("to", ())) < 2:
        what = f"many_to_many needs several hosts that receive, and {len(lists.get('to', ())) or 'none'} is named"
        place = (key_of, "to") if given.model_fields_set else ("benchmarks", key_of)
        yield place, what, "name them, as in `to: 'node[1-2]'`; with one host it is many_to_one"
    elif key_of == "many_to_one" and len(lists.get("to", ("",))) != 1:
        what = f"many_to_one has one host that receives, not {len(lists['to'])}"
        yield ("many_to_one", "to"), what, "name one host, or measure many_to_many"
    both = [host for host in lists.get("from", ()) if host in lists.get("to", hosts[:1])]
    if both:
        what = f"{', '.join(both)} both sends and receives in {key_of}"
        yield (key_of, "from"), what, "leave it out of one of the two lists"


def _of_counts(key: str, section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    given: ManyToManySection = getattr(section, key)
    receivers, sources = _ends(given, hosts, _beside(section) if key == "many_to_one" else ())
    if not sources:
        yield (key,), f"{key} needs a host that sends beside the one that receives", "add a host"
        return
    counts = given.streams
    if len(counts) > MAX_LAYOUTS:
        what = f"streams asks for {len(counts)} counts, and {MAX_LAYOUTS} are the most"
        yield (key, "streams"), what, "write fewer counts"
    if counts and max(counts) * len(receivers) > MAX_STREAMS:
        what = f"{max(counts)} streams to each of {len(receivers)} hosts are more than {MAX_STREAMS} together"
        yield (key, "streams"), what, "write smaller counts"
    over_mpi = all(layer_of(layer).rendezvous == "mpi" for layer in section.layers)
    if over_mpi and counts and max(counts) * len(receivers) > len(sources):
        yield (
            (key, "streams"),
            f"over MPI each host that sends has one stream, and there are {len(sources)} such hosts",
            "name more hosts, or fewer streams",
        )


def _of_durations(section: PlanSection) -> Iterator[Contradiction]:
    for name, benchmark in section.benchmarks.items():
        if benchmark.duration is not None and 2 * benchmark.duration >= section.case_timeout:
            what = f"streams of {benchmark.duration / 1e9:g} s take too long for a case_timeout of"
            yield (
                ("benchmarks", name, "duration"),
                f"{what} {section.case_timeout / 1e9:g} s",
                "choose a shorter duration, or a longer case_timeout",
            )
