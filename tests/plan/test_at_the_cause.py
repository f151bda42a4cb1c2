"""Mistakes in plans that were told in another line, or of something else: each is told of what is wrong, and mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.test_fresh_eyes import PLAN, REAL, checked

from fabriscope.model.errors import PlanError

OF_HOSTS = PLAN.replace(*REAL)
HDFS = """name: x
hosts: node[1-2]
fabrics: {e: {interface: eth0}}
layers: [hdfs]
benchmarks: {hdfs_write: {sizes: [9MiB]}}
"""
REFUSED = [
    (f"{OF_HOSTS}placements: [inter, intra]\nbind: [0]\n", 9, "bind names processors for one rank, and more of them"),
    (f"{OF_HOSTS}bind: [0]\n", 8, "or leave out the floor, which has two ranks on one host: `floor: false`"),
    (f"{OF_HOSTS}ssh: ssh -i $HOME/.ssh/key\n", 8, "such as '$HOME/.ssh/key' are not replaced: write the value itself"),
    (f"{OF_HOSTS}ssh: [ssh, -F, my_config]\n", 8, "not a list -- write `ssh: ssh -F my_config`"),
    (f"{OF_HOSTS}ssh: {{options: -p 2222}}\n", 8, "there is no key 'options' here -- write `ssh: ssh -p 2222`"),
    (f"{OF_HOSTS}ssh: {{port: 2222}}\n", 8, "there is no key 'port' here -- write `ssh: ssh -p 2222`"),
    (HDFS, 2, "3 copies need 3 DataNodes, and there is 1: one on each host but the first -- write `services: {hdfs: "),
    (f"{HDFS}services: {{hdfs: {{replication: 2}}}}\n", 6, "2 copies need 2 DataNodes, and there is 1"),
    (
        OF_HOSTS.replace("node[1-2]", "SLURM"),
        2,
        "'SLURM' is the name of one host here -- write slurm for the hosts of a batch job",
    ),
    ("name: x\nfabrics: {a: {lab: gige} b: {lab: gige}}\n", 2, "no comma stands between '}' and what follows -- put"),
]


@pytest.mark.parametrize(("text", "line", "said"), REFUSED, ids=[row[2] for row in REFUSED])
def test_it_is_refused_with_its_line_and_its_remedy(tmp_path: Path, text: str, line: int, said: str) -> None:
    told = checked(tmp_path, text)
    assert isinstance(told.exception, PlanError), told.output
    sentences = str(told.exception).splitlines()
    assert any(f"plan.yaml:{line}: " in one and said in one for one in sentences), sentences
