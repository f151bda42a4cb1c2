"""Plans that are right, and were refused or asked about: whoever wrote them meant what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.plan.test_fresh_eyes import PING_PONG, PLAN, REAL, checked

from fabriscope.cli import fabriscope
from fabriscope.hosts import allocation
from fabriscope.model.errors import HostError, PlanError
from fabriscope.plan import load
from fabriscope.running.vocabulary import vocabulary

OF_HOSTS = PLAN.replace(*REAL)
OF_A_JOB = OF_HOSTS.replace("node[1-2]", "slurm")


@pytest.fixture(autouse=True)
def _outside_of_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "find", lambda: None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (OF_A_JOB, "2 nodes"),
        (OF_A_JOB.replace("slurm", "'@allocation'"), "2 nodes"),
        (OF_A_JOB.replace(PING_PONG, "incast: {}") + "ranks: [2, 3]\n", "3 nodes"),
        (OF_A_JOB + "placements: [intra]\n", "1 node"),
        (OF_A_JOB.replace(PING_PONG, "hdfs_write: {sizes: [9MiB]}") + "layers: [hdfs]\n", "4 nodes"),
    ],
)
def test_a_plan_of_a_job_is_checked_outside_of_it(tmp_path: Path, text: str, count: str) -> None:
    told = checked(tmp_path, text)
    assert told.exit_code == 0, told
    nodes = count.partition(" ")[0]
    assert f"  checked for a job of {count}: `fabriscope submit PLAN --nodes {nodes}` asks for one\n" in told.output


def test_what_needs_the_hosts_of_a_job_refuses_it_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(OF_A_JOB)
    for words, error, said in [
        (["submit", str(path)], PlanError, "means the hosts of a batch job, and nobody says of how many -- write"),
        (["hosts", "check", str(path)], HostError, "its hosts are those of a batch job, and we are in none"),
        (["run", str(path), "-o", str(tmp_path / "run")], HostError, "runs on the hosts of a batch job, and we are in"),
    ]:
        told = CliRunner().invoke(fabriscope, words)
        assert isinstance(told.exception, error), told
        assert "plan.yaml:2: " in str(told.exception)
        assert said in str(told.exception)
    assert not (tmp_path / "run").exists()


def test_a_variables_number_stays_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(f"{OF_HOSTS}layers: [mpi]\nmpi: [{{name: m, env: {{OMPI_MCA_btl_tcp_sndbuf: 256000, X: 1.50}}}}]\n")
    assert load(path, vocabulary()).section.mpi[0].env == {"OMPI_MCA_btl_tcp_sndbuf": "256000", "X": "1.50"}


@pytest.mark.parametrize(
    "text",
    [
        f"{OF_HOSTS}bind: [0]\nfloor: false\n",
        f"{OF_HOSTS}ssh: ssh -o 'ProxyCommand nc $GATE %h'\n",
        f"{OF_HOSTS}turns: auto\n",
        f"{OF_HOSTS}submit: {{nodes: 2, attributes: {{nodelist: 'node1,node2'}}}}\n",
        OF_HOSTS.replace("[8]", "{from: 1, to: 4, perturbation: 3}"),
        PLAN.replace("{lab: ethernet-100}", "{lab: gige, settings: {switch_rate: 500Mb/s}}"),
    ],
)
def test_it_is_not_asked_about(tmp_path: Path, text: str) -> None:
    told = checked(tmp_path, text)
    assert told.exit_code == 0, told
    assert [one for one in told.output.splitlines() if one.startswith("look again: ")] == []
