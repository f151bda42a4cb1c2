"""A machine that others used: the answer says so, and who loses most by it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.test_comparisons import run_with

from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.busy import busy_sentences, busy_words
from fabriscope.model.host import Fact, HostFacts


def host(load: float) -> HostFacts:
    return HostFacts((Fact("load.mean_1min", load), Fact("cpu.thread_count", 2)))


def test_the_answer_names_the_busiest_host() -> None:
    run = run_with(lambda _: 2.0)
    assert not [one for one in results_of(run).answer if "Others used" in one]
    hosts = {"node1": host(3.0), "node2": host(13.0)}
    busy = replace(run, manifest=replace(run.manifest, hosts=hosts))
    (said,) = [one for one in results_of(busy).answer if "Others used" in one]
    words = "node2 and node1: a load of up to 13 on 2 processors before the run"
    assert said.startswith(f"Others used the machine ({words})")


@pytest.mark.parametrize(
    ("names", "text"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a and 3 more hosts")],
)
def test_a_few_hosts_are_named_and_of_more_the_busiest(names: str, text: str) -> None:
    said = busy_words(dict.fromkeys(names, host(13.0))) or ""
    assert said.startswith(f"{text}: a load of 13 on 2 processors before the run. ")


def test_a_quiet_one_is_not_mentioned() -> None:
    assert busy_sentences({"node1": host(0.9)}) == []
