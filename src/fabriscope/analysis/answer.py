"""The answer in a few sentences: what a reader should take away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fabriscope.analysis import group_words
from fabriscope.analysis.comparing.findings import Finding
from fabriscope.analysis.frames import Failure
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.groups import Group
from fabriscope.analysis.values.summary import Summary
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import interval_text, rate_text, size_text, time_text
from fabriscope.model.benchmarks import BENCHMARKS

MOST_PAIRS = 3


def answer(
    table: Sequence[Summary],
    found: Sequence[Finding],
    failures: Sequence[Failure],
    estimates: Sequence[GradedEstimate],
    shared: Sequence[Group],
) -> list[str]:
    """Return sentences, the most important first, from the summary, the findings, the failures, the estimates
    and the table of what many ranks did at once."""
    speaks_verbs = any(row.layer == "verbs" for row in table)
    sentences = [
        *_best(table),
        *_verbs(found),
        *_fabrics(found, speaks_verbs),
        *_mpi_cost(found),
        *group_words.sentences(shared),
    ]
    sentences = sentences or [*_others(found, estimates)]
    if failures:
        cases = len({failure.case_id for failure in failures})
        sentences.append(f"{len(failures)} measurements of {cases} cases did not succeed; each is listed below.")
    beyond = sum(row.impossible_launch_count for row in estimates)
    if beyond:
        sentences.append(f"{beyond} launch values lie beyond what wire or memory allow; they are kept but not counted.")
    return sentences or ["Nothing has been measured yet."]


def _best(table: Sequence[Summary]) -> Iterator[str]:
    for placement, words in (("inter", "Between hosts"), ("intra", "Inside one host")):
        part = [row for row in table if row.placement == placement]
        fast = sorted(((row.latency_ns, row) for row in part if row.latency_ns is not None), key=lambda one: one[0])
        rates = ((row.bandwidth_bytes_per_s, row) for row in part if row.bandwidth_bytes_per_s is not None)
        wide = sorted(rates, key=lambda one: one[0], reverse=True)
        if not fast or not wide:
            continue
        (time_ns, least), (rate, most) = fast[0], wide[0]
        share = f", {most.share_of_limit:.0%} of what the wire allows" if most.share_of_limit else ""
        times, speeds = (
            [(row.label(), row.latency) for _, row in fast],
            [(row.label(), row.bandwidth) for _, row in wide],
        )
        yield (
            f"{words}, small messages take least time with {least.label()}: "
            f"{time_text(time_ns)}{_rivals(times, time_text)}; "
            f"the largest ping-pong bandwidth is that of {most.label()}: "
            f"{rate_text(rate)} at {size_text(most.bandwidth_message_size_bytes)}{share}"
            f"{_rivals(speeds, rate_text)}."
        )


def _rivals(ranked: Sequence[tuple[str, Centre]], text: Callable[[float], str]) -> str:
    """Return the best one's interval, and the others whose intervals overlap it: the order may be chance."""
    best = ranked[0][1]
    if best.low is None:
        return ", from one launch" if len(ranked) == 1 else ", from one launch, so the order may be chance"
    interval = f" ({interval_text(best.low, best.high, text)})"
    close = [label for label, centre in ranked[1:] if best.overlaps(centre)]
    return interval + (f", where the interval of {_and(close)} overlaps" if close else "")


def _and(names: list[str]) -> str:
    if len(names) > MOST_PAIRS:
        return f"{len(names)} others"
    return " and ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + names[-1:])


def _verbs(found: Sequence[Finding]) -> Iterator[str]:
    """Yield what RDMA does against TCP on the same wire."""
    pairs = [one for one in found if one.kind == "transport" and one.benchmark == "ping_pong"]
    for one in [one for one in pairs if one.placement == "inter"][:MOST_PAIRS]:
        yield _sentence(one)


def _fabrics(found: Sequence[Finding], speaks_verbs: bool) -> Iterator[str]:
    """Yield fabric against fabric at the layer that tells most: TCP, but where one speaks verbs what goes by them."""
    pairs = [one for one in found if one.kind == "fabric" and one.benchmark == "ping_pong"]
    telling = [one for one in pairs if one.layer == ("mpi" if speaks_verbs else "tcp")] or pairs
    for one in telling[:MOST_PAIRS]:
        yield _sentence(one)


def _others(found: Sequence[Finding], estimates: Sequence[GradedEstimate]) -> Iterator[str]:
    """Yield what there is to say where neither a ping-pong nor what many ranks do was measured."""
    measured = list(dict.fromkeys(row.benchmark for row in estimates if row.layer != "null"))
    if not measured:
        return
    titles = [BENCHMARKS[name].title if name in BENCHMARKS else name for name in measured]
    listed = f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else titles[0]
    leads = [one for one in found if one.has_lead]
    yield f"Measured: {listed}{'' if leads else '; no comparison of them shows a lead'}."
    for one in leads[:MOST_PAIRS]:
        yield _sentence(one)


def _mpi_cost(found: Sequence[Finding]) -> Iterator[str]:
    pairs = [one for one in found if one.kind == "layer" and one.benchmark == "ping_pong"]
    for one in [one for one in pairs if one.placement == "inter"][: 2 * MOST_PAIRS]:
        yield _sentence(one)


def _sentence(one: Finding) -> str:
    where = one.where
    return f"{where[0].upper()}{where[1:]}: {one.text}."
