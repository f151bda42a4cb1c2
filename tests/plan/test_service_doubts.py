"""Sizes of which a service has nothing, and a rate that all fabrics reach: what `plan check` says of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.test_unused_parts import PLAN, check


@pytest.mark.parametrize(
    ("layers", "benchmark", "said"),
    [
        ("[hdfs]", "hdfs_write: {sizes: [1000]}", "plan:6: hdfs_write needs the size of each file, 1 MiB or more"),
        ("[hbase]", "hbase_get: {sizes: [0]}", "plan:6: hbase_get needs the size of each record"),
    ],
)
def test_a_size_that_is_none_is_told_in_one_sentence(layers: str, benchmark: str, said: str, tmp_path: Path) -> None:
    hosts = PLAN.replace("node[1-2]", "node[1-4]").replace("  far: {lab: ethernet-100}\n", "")
    told = check(tmp_path, hosts.replace("ping_pong: {sizes: [8]}", benchmark) + f"layers: {layers}\n")
    assert told.startswith(said), told
    assert told.count("\n") == 0, told


@pytest.mark.parametrize(("target", "is_asked"), [(20, True), (0, False)])
def test_a_target_rate_is_asked_about_where_fabrics_are_compared(target: int, is_asked: bool, tmp_path: Path) -> None:
    plan = PLAN.replace("node[1-2]", "node[1-4]").replace("ping_pong: {sizes: [8]}", "hbase_get: {sizes: [1000]}")
    told = check(tmp_path, f"{plan}layers: [hbase]\nlaunches: 3\nservices: {{hbase: {{target: {target}}}}}\n")
    assert "a good plan" in told, told
    assert (f"verdicts are of the throughput, which is {target}/s" in " ".join(told.split())) is is_asked, told
