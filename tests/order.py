"""A plug-in of pytest: where tests run in several processes, each begins with some of the longest.

xdist hands out the tests in their order, an equal part to each process; one that is done takes from the
end of another's. What is long and comes last is what everybody waits for.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

LONGEST = (
    "tests/test_running_hbase.py",
    "tests/test_running_hdfs.py",
    "tests/test_papers.py::test_sandia_runs",
    "tests/ssh/test_mpi_jobs.py::test_a_job_of_every_mpi",
    "tests/ssh/test_ssh.py::test_a_cut_cable_ends_what_runs_behind_it",
    "tests/test_fault_campaign.py::test_a_fault_becomes_a_recorded_failure_and_leaves_nothing[rank-hangs,host-dies,shared-lab]",
    "tests/test_tune_run.py::test_a_tuning_is_interrupted_goes_on_and_finds_the_larger_mtu",
    "tests/test_tune_run.py::test_a_setting_that_is_slow_now_is_replaced",
    "tests/test_mpi_settings_run.py::test_an_eager_limit_above_the_message_is_found",
    "tests/test_switch_settings_run.py::test_a_slow_switch_is_replaced_by_a_command_of_the_lab",
    "tests/test_switch_settings_run.py::test_a_tuning_finds_the_faster_switch_and_puts_it_back",
    "tests/fuzz/test_fuzz.py::test_no_text_breaks_a_promise[folder]",
    "tests/test_verify.py::test_damaged_folders_end_in_a_sentence_that_names_the_file",
    "tests/test_sharpen_run.py::test_a_run_killed_inside_a_round_goes_on_with_it",
    "tests/test_installed_hbase_run.py",
    "tests/test_run.py::test_launches_of_a_host_that_died_are_made_again_when_it_is_back",
    "tests/test_papers.py::test_softroce_runs",
    "tests/slurm/test_jobs.py::test_a_cancelled_job_is_gone_on_with_in_another_one",
    "tests/profiles/test_profiles_run.py::test_a_plans_profiles_explain_its_applications",
    "tests/test_fault_campaign.py::test_a_fault_becomes_a_recorded_failure_and_leaves_nothing",
    "tests/test_run.py::test_a_run_from_plan_to_report",
    "tests/test_plugins.py",
    "tests/test_injected_failures.py::test_a_call_that_fails_loses_nothing_and_leaves_nothing",
    "tests/test_run.py::test_killed_at_random_moments_nothing_is_lost_and_nothing_stays",
    "tests/test_incast_command.py::test_a_lab_is_measured_and_told",
    "tests/test_papers.py::test_e325_runs_without_mpi",
    "tests/lab/test_streams_over_soft_roce.py::test_several_hosts_receive_at_once_over_verbs_and_libfabric[guests]",
    "tests/lab/test_guests.py",
    "tests/test_examples.py::test_an_example_runs",
)
"""Tests or files, the longest first, as `scripts/test` reports them at its end."""


def spread(names: Sequence[str], process_count: int) -> list[int]:
    """Return the order of tests, as indices: some of LONGEST are first in the part of each process.

    The tests of a file of LONGEST stay together: they share what takes long to start, a Hadoop or an HBase.
    """
    units: dict[tuple[int, int], list[int]] = {}
    others = []
    for index, name in enumerate(names):
        place = next((at for at, one in enumerate(LONGEST) if name.startswith(one)), None)
        if place is None:
            others.append(index)
        else:
            units.setdefault((place, 0 if LONGEST[place].endswith(".py") else index), []).append(index)
    longest = [units[key] for key in sorted(units)]
    order: list[int] = []
    for process in range(process_count):
        mine = [index for unit in longest[process::process_count] for index in unit]
        size = (len(names) - len(order)) // (process_count - process)
        count = max(0, size - len(mine))
        order += [*mine, *others[:count]]
        others = others[count:]
    return order


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests where xdist asks for them; every process finds the same order."""
    if hasattr(config, "workerinput"):
        items[:] = [items[index] for index in spread([one.nodeid for one in items], config.workerinput["workercount"])]
