"""Which layouts of ranks a plan asks for, and what of it cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.model.benchmark_kind import APPLICATION, GROUP, PAIR, PAIRS, SERVICE
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.errors import PlanError
from fabriscope.model.ranks import BLOCK, Layout
from fabriscope.plan.schema import PlanSection

MAX_LAYOUTS = 500
MAX_ALL_RANKS = 65_536
"""Of a layout: `all` and `half` count what no list of the plan bounds."""
Contradiction = tuple[tuple[str | int, ...], str, str]


def patterns(section: PlanSection) -> tuple[str, ...]:
    """Return the patterns of what a plan measures, in its order."""
    of_applications = [APPLICATION] if section.applications.npb or section.applications.hpl else []
    return tuple(dict.fromkeys([*(kind_of(name).pattern for name in section.benchmarks), *of_applications]))


def layouts(section: PlanSection, pattern: str, placement: str, host_count: int, cores: int | None) -> list[Layout]:
    """Return the layouts for benchmarks of a pattern: pairs in `pairs`, groups and applications in `ranks`, others two.

    `cores` is the number of cores of a host, where it is known. Raises PlanError if it is needed and is not.
    """
    if pattern == PAIR:
        return [Layout(2, 1 if placement == "inter" else 2)]
    if pattern == SERVICE:
        return [Layout(host_count, 1)] if host_count >= section.services.least_hosts(section.layers) else []
    if pattern == PAIRS:
        found = list(_pair_layouts(section, placement, cores))
    elif placement == "intra":
        found = [Layout(count, count) for count in _rank_counts(section, 1, cores)]
    else:
        found = list(_group_layouts(section, host_count, cores))
    for layout in found:
        if layout.rank_count > MAX_ALL_RANKS:
            raise PlanError(
                f"{layout.rank_count} ranks are more than {MAX_ALL_RANKS}", fix="choose fewer ranks or hosts"
            )
    return list(dict.fromkeys(found))


def _pair_layouts(section: PlanSection, placement: str, cores: int | None) -> Iterator[Layout]:
    for wanted in section.pairs:
        if placement == "intra":  # both ranks of a pair need a core of the same host
            count = _cores(wanted, cores, ranks_per_core=2)
            yield Layout(2 * count, 2 * count)
            continue
        count = _cores(wanted, cores)
        for arrangement in section.arrangement:
            yield Layout(2 * count, count, arrangement if count > 1 else BLOCK)


def _group_layouts(section: PlanSection, host_count: int, cores: int | None) -> Iterator[Layout]:
    for per_host in section.ranks_per_host or (None,):
        most = None if per_host is None else _cores(per_host, cores)
        for count in _rank_counts(section, host_count, cores, most):
            ranks_per_host = most or _fewest(count, host_count)
            if count % ranks_per_host or not 2 <= count // ranks_per_host <= host_count:
                continue
            for arrangement in section.arrangement:
                yield Layout(count, ranks_per_host, arrangement if ranks_per_host > 1 else BLOCK)


def _rank_counts(section: PlanSection, host_count: int, cores: int | None, per_host: int | None = None) -> list[int]:
    """Return the counts of `ranks`; `all` is every host with its ranks, and inside one host a rank for each core."""
    whole = host_count * per_host if per_host else host_count
    if host_count == 1 and "all" in _wanted(section):
        whole = max(2, _cores("all", cores))
    return [whole if count == "all" else int(count) for count in _wanted(section)]


def _wanted(section: PlanSection) -> tuple[int | str, ...]:
    """Return `ranks`; who says only how many there are on each host means every host."""
    return ("all",) if section.ranks_per_host and "ranks" not in section.model_fields_set else section.ranks


def _fewest(count: int, host_count: int) -> int:
    """Return the fewest ranks on a host, with equally many on as many hosts as there are."""
    hosts = next(hosts for hosts in range(min(count, host_count), 0, -1) if count % hosts == 0)
    return count // hosts


def _cores(wanted: int | str, cores: int | None, ranks_per_core: int = 1) -> int:
    """Return the number that `half` or `all` stands for, at least 1."""
    if isinstance(wanted, int):
        return wanted
    if cores is None:
        raise PlanError(f"{wanted!r} counts the cores of a host, and they are not known", fix="write a number")
    return max(1, cores // ranks_per_core // (2 if wanted == "half" else 1))


def contradictions(section: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for ranks that no benchmark of the plan can have."""
    known = set(patterns(section))
    given = section.model_fields_set
    for key, of_key, who in (
        ("ranks", {GROUP, APPLICATION}, "collectives, incast and applications"),
        ("ranks_per_host", {GROUP, APPLICATION}, "collectives, incast and applications"),
        ("pairs", {PAIRS}, "multi_pair_latency and message_rate"),
    ):
        if key in given and not of_key & known:
            yield (key,), f"{key} is for {who}, and the plan measures none", f"add such a benchmark, or remove {key}"
    yield from _too_many(section)
    if "arrangement" in given and not known & {GROUP, PAIRS, APPLICATION}:
        yield ("arrangement",), "two ranks have only one arrangement", "remove it, or add a collective"
    if known & {GROUP, APPLICATION} and "inter" in section.placements and len(hosts) > 1:
        yield from _counts_that_do_not_fit(section, len(hosts))


def _too_many(section: PlanSection) -> Iterator[Contradiction]:
    of_groups = len(_wanted(section)) * max(1, len(section.ranks_per_host))
    for key, count in (("ranks", of_groups), ("pairs", len(section.pairs))):
        if (whole := count * len(section.arrangement)) > MAX_LAYOUTS:
            yield (key,), f"{key} asks for {whole} layouts, and {MAX_LAYOUTS} are the most", "write fewer counts"


def _counts_that_do_not_fit(section: PlanSection, host_count: int) -> Iterator[Contradiction]:
    per_hosts = [count for count in section.ranks_per_host if isinstance(count, int)]
    if len(per_hosts) < len(section.ranks_per_host):
        return  # whether `half` or `all` fits is known when the cores are
    for index, count in enumerate(_wanted(section)):
        if count == "all":
            continue
        tried = per_hosts or [_fewest(int(count), host_count)]
        if any(int(count) % per_host == 0 and 2 <= int(count) // per_host <= host_count for per_host in tried):
            continue
        hosts = "2 hosts" if host_count == 2 else f"2 to {host_count} hosts"
        each = f", {' or '.join(map(str, per_hosts))} on each" if per_hosts else ""
        yield (
            ("ranks", index),
            f"{count} ranks cannot be spread evenly over {hosts}{each}",
            "choose a count that is a multiple of the ranks on each host, or name more hosts",
        )
