"""Sizes of which a benchmark has nothing: one true sentence."""

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
