"""Host lists: one reading of them, wherever one is given."""

from __future__ import annotations

import pytest

from fabriscope.hosts import allocation, launcher_words
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded


def test_a_list_is_unfolded_in_order_and_each_host_once() -> None:
    assert unfolded("node[1-3],head,node2") == ("head", "node1", "node2", "node3")
    assert unfolded(" r[1-2]n[01-02]\n") == ("r1n01", "r1n02", "r2n01", "r2n02")


@pytest.mark.parametrize(("text", "what"), [("node[1-", "'node[1-' is no host list"), ("", "the host list is empty")])
def test_what_is_no_list_has_one_error(text: str, what: str) -> None:
    with pytest.raises(HostError, match=r"write it like node\[1-4\],head") as caught:
        unfolded(text)
    assert caught.value.what.startswith(what)


def test_what_a_scheduler_or_a_launcher_says_knows_no_groups() -> None:
    with pytest.raises(HostError, match=r"hosts of this batch job cannot be told: 'node\[1-' is no host list"):
        allocation.find({"SLURM_JOB_NODELIST": "node[1-"})
    with pytest.raises(HostError, match=r"'node\[1-' is no host list.* -- give --hosts"):
        launcher_words.hosts_of(["mpirun", "-H", "node[1-", "true"])
    assert launcher_words.hosts_of(["mpirun", "-H", "a:2,,b,", "true"]) == ("a", "b")
    with pytest.raises(HostError, match=r"'@all' is no host's name -- give --hosts"):
        launcher_words.hosts_of(["mpirun", "-H", "@all", "true"])
