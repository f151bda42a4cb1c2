"""What a plan says of something that it does not measure is refused, and what can hardly be meant is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli import fabriscope
from fabriscope.model.errors import FabriscopeError

PLAN = """name: x
hosts: node[1-2]
fabrics:
  near: {lab: gige}
  far: {lab: ethernet-100}
benchmarks:
  ping_pong: {sizes: [8]}
"""
REAL = PLAN.replace("lab: gige", "interface: eth0").replace("lab: ethernet-100", "interface: eth1")
ODD_SWEEP = "{from: 1, to: 1024, perturbation: 1000000}"


def check(folder: Path, text: str) -> str:
    """Return what `plan check` prints, or the sentence with which it refuses a plan, without the file's name."""
    path = folder / "plan.yaml"
    path.write_text(text)
    try:
        said = CliRunner().invoke(fabriscope, ["plan", "check", str(path)], catch_exceptions=False).output
    except FabriscopeError as error:
        said = error.sentence()
    return said.replace(str(path), "plan")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (
            PLAN + "compare: [mpi]\n",
            "plan:8: the comparison of MPI libraries is to be decided, and the layer mpi is not",
        ),
        (PLAN + "services: {hdfs: {}}\n", "plan:8: the service hdfs is described, and the layer hdfs is not measured"),
        (
            PLAN + "layers: [mpi]\nmpi: [{name: openmpi, over: ucx}]\n",
            "plan:9: over: ucx is what carries openmpi over RDMA, and no fabric of it has `rdma`",
        ),
        (PLAN + "layers: [libfabric-efa]\n", "plan:8: libfabric-efa needs Amazon's Elastic Fabric Adapter, and a lab"),
        (PLAN.replace("lab: gige", "lab: "), "plan:4: fabric 'near': nothing stands behind lab -- write for example"),
        (PLAN + "budget:\n", "plan:8: budget: nothing stands behind it -- write a value, or remove the key"),
        (
            PLAN.replace("[8]", "[8], duration: 5ms"),
            "plan:7: ping_pong takes no duration -- remove it: ping_pong takes",
        ),
        (
            PLAN.replace("[8]", "8,16,32"),
            "plan:7: there is no key '16' here -- put several values of one key in brackets",
        ),
        (PLAN.replace("[8]", "1.."), "'1..' is not a sweep such as 1..1MiB: it needs both of its ends"),
        (PLAN.replace("hosts:", "nodes:"), "plan:2: there is no key 'nodes' here -- did you mean 'hosts'? "),
        (PLAN.replace("ping_pong", "latency"), "there is no benchmark 'latency' -- did you mean 'ping_pong'? "),
        (PLAN + "layers: [TCP]\n", "plan:8: there is no layer 'TCP' -- did you mean 'tcp'? "),
        (PLAN + "submit: {partition: batch}\n", "there is no key 'partition' here -- did you mean 'queue'? "),
        (PLAN + "until: true\n", "plan:8: until: true is not possible -- choose 'launches' or 'decided'"),
        (PLAN + "margin: 0\n", "plan:8: margin: more than 0 is expected, not 0"),
        (PLAN.replace("{lab: gige}", "*x"), "put text with * in quotes"),
        (PLAN.replace("near:", "ne\u200bar:"), "has the character U+200B, which nobody sees -- remove it"),
        (PLAN + "layers: [mpi]\nmpi: [no-such-mpi]\n", "plan:9: there is no MPI library 'no-such-mpi' on this machine"),
    ],
)
def test_it_is_refused_with_its_place(tmp_path: Path, text: str, refused: str) -> None:
    assert refused in check(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (
            PLAN.replace("[8]", ODD_SWEEP),
            "ping_pong: a perturbation of 1000000 B is not less than the last size",
        ),
        (PLAN + "bind: [0, 0]\n", "bind: ranks 1 and 2 of a machine share the processor 0"),
        (PLAN.replace("node[1-2]", "node[1-2],slurm"), "hosts: slurm is a host's name here"),
        (
            PLAN.replace("gige", "{preset: gige, delay: }", 1),
            "near: nothing stands behind delay: as in the preset gige",
        ),
        (PLAN + "launcher: srun\n", "launcher: srun starts MPI jobs, and the layer mpi is not measured"),
        (
            REAL.replace("node[1-2]", "n1:2,n2:2"),
            "hosts: n1:2 is the name of a host here; how many ranks a host has is",
        ),
        (PLAN + "compare: [layer]\n", "compare: the plan has one layer, so that there is nothing to compare it with"),
    ],
)
def test_it_is_asked_about(tmp_path: Path, text: str, asked: str) -> None:
    assert f"look again: {asked}" in check(tmp_path, text)


def test_a_plain_plan_is_not(tmp_path: Path) -> None:
    assert "look again" not in check(tmp_path, PLAN)


def test_a_long_delay_makes_a_launch_long(tmp_path: Path) -> None:
    text = PLAN.replace("{lab: ethernet-100}", "{lab: {preset: gige, delay: 1s}}") + "budget: 10ms\n"
    lines = {line.split(" · ")[0].strip(): line for line in check(tmp_path, text).splitlines() if "a launch" in line}
    assert lines["near"].endswith("about 0.6 s a launch")
    assert lines["far"].endswith("about 14.6 s a launch")
