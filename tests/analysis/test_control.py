"""The A/A control: it stays out of every table, and shouts when something differs from itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import compare_all, compared_all
from fabriscope.analysis.comparing.control import control_of
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.model.case import Case, Entry
from fabriscope.model.run_data import RunData
from fabriscope.reports.markdown_page import page_text

SLOW = Entry("tcp", "ethernet-100", "inter", HOSTS)
TWIN = replace(TCP, twin=True)
WOBBLE = (1.0, 1.002, 0.999, 1.001, 1.0005)


def run_with(factor: float) -> RunData:
    """Return a run in which gige, entered a second time, takes `factor` times as long."""
    times = {TCP: 1.0, TWIN: factor, SLOW: 5.0}
    return run_of(
        {
            Case(entry, "ping_pong", size): [[[1e6 * time * wobble ** (1 + index)]] for wobble in WOBBLE]
            for index, (entry, time) in enumerate(times.items())
            for size in (8, 1024)
        }
    )


def test_the_twin_is_another_case_with_a_name_of_its_own() -> None:
    assert TWIN.entry_id == "gige.tcp.inter.again"
    assert TWIN.label() == "gige · TCP, again"
    assert Case(TWIN, "ping_pong", 8).case_id != Case(TCP, "ping_pong", 8).case_id


def test_ids_are_those_from_before_there_was_a_control() -> None:
    assert Case(TCP, "ping_pong", 8).case_id == "58c10df5ac18"


def test_a_control_that_holds() -> None:
    run = run_with(1.0)
    control = control_of(compared_all(launch_values(run)))
    assert control is not None
    assert (control.is_failed, control.equivalent_count, control.size_count) == (False, 2, 2)
    results = results_of(run)
    assert results.answer[-1] == control.sentence()
    assert "entered twice, is shown equivalent to itself at 2 of 2" in results.answer[-1]
    assert results.estimates["entry_id"].unique().sort().to_list() == ["ethernet-100.tcp.inter", "gige.tcp.inter"]
    assert results.comparisons["kind"].unique(maintain_order=True).to_list() == ["fabric", "control"]


def test_a_control_that_fails_is_told_first() -> None:
    run = run_with(1.1)
    results = results_of(run)
    assert results.control is not None
    assert results.control.is_failed
    assert results.answer[0].startswith(
        "The A/A control failed: gige · TCP, entered twice, differs from itself at 2 of 2"
    )
    assert "by 10" in results.answer[0]
    assert "no verdict of this run can be trusted" in page_text(results).split("##")[0]


def test_without_a_control_nothing_is_said() -> None:
    run = run_of({Case(TCP, "ping_pong", 8): [[[1e6]], [[1e6]]]})
    assert control_of(compared_all(launch_values(run))) is None
    assert not any("control" in sentence for sentence in results_of(run).answer)


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_the_floor_and_other_pairs_do_not_see_the_twin(factor: float) -> None:
    frame = compare_all(launch_values(run_with(factor)))
    assert frame.filter(frame["kind"] == "fabric")["right_twin"].unique().to_list() == [""]
