"""Settings that cannot be beside what else a plan says are refused when it is checked, in one sentence each."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.knobs import readers
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import PlanError
from fabriscope.plan import Vocabulary, load

WORDS = Vocabulary(
    frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp", "mpi"}), frozenset({"gige"}), knobs=readers()
)
HEAD = "name: x\nhosts: node[1-2]\nlayers: [tcp, mpi]\nbenchmarks: {ping_pong: {sizes: [8]}}\n"
EAGER = "ompi_btl_tcp_eager_limit: 64KiB"


def fabric(settings: str, lab: str = "gige", rest: str = "") -> str:
    return f"fabrics:\n  plain: {{lab: gige}}\n  other: {{lab: {lab}, settings: {{{settings}}}{rest}}}\n"


def tune(knobs: str, layer: str) -> str:
    objective = f"{{benchmark: ping_pong, size: 8, layer: {layer}, mpi: openmpi}}".replace(
        ", mpi: openmpi", ", mpi: openmpi" if layer == "mpi" else ""
    )
    return f"fabrics: {{other: {{lab: gige}}}}\ntune: {{knobs: {{{knobs}}}, objective: {objective}, budget: 9min}}\n"


def check(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(HEAD + text)
    load(path, WORDS)


MPI = "mpi: [openmpi]\n"
BOTH = "mpi: [{name: openmpi, env: {OMPI_MCA_btl_tcp_eager_limit: '9'}}]\n"
OWN = f"mpi: [{{name: openmpi, env: {{OMPI_MCA_btl_tcp_eager_limit: '9'}}, settings: {{{EAGER}}}}}]\n"

WRONG = [
    (MPI + fabric(EAGER, rest=", layers: [tcp]"), "none is measured over other"),
    (BOTH + fabric(EAGER), "set by env of openmpi and by ompi_btl_tcp_eager_limit in the settings of other"),
    (OWN + fabric("mtu: 1400"), "in the settings of the library"),
    (MPI + fabric("switch_buffer: 100"), "no whole frame of 1514 bytes fits into a switch_buffer of 100"),
    (MPI + fabric("switch_buffer: 9000", "{preset: gige, mtu: 9000}"), "no whole frame of 9014 bytes"),
    (MPI + fabric("switch_buffer: 0, switch_on_full: pause"), "a switch pauses when its buffer fills"),
    (MPI + fabric("switch_buffer: 0", "{preset: gige, on_full: pause}"), "a switch pauses when its buffer fills"),
    (MPI + tune("switch_buffer: [100, 64KiB]", "tcp"), "no whole frame of 1514 bytes fits"),
    (MPI + tune("ompi_btl_tcp_eager_limit: [4KiB, 64KiB]", "tcp"), "is measured over tcp"),
]
GOOD = [
    MPI + fabric(EAGER, rest=", layers: [mpi]"),
    "mpi: [{name: openmpi, env: {OMPI_MCA_btl_tcp_links: '2'}}]\n" + fabric(EAGER),
    "mpi: [{name: openmpi, fabrics: [plain], env: {OMPI_MCA_btl_tcp_eager_limit: '9'}}, mpich]\n" + fabric(EAGER),
    MPI + fabric("switch_buffer: 1514"),
    MPI + fabric("switch_buffer: 0"),
    MPI + fabric("switch_buffer: 0, switch_on_full: drop", "{preset: gige, on_full: pause}"),
    MPI + tune("switch_buffer: [16KiB, 64KiB]", "tcp"),
    MPI + tune("ompi_btl_tcp_eager_limit: [4KiB, 64KiB]", "mpi"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_what_cannot_be_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        check(tmp_path, text)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", GOOD)
def test_what_can_be_is_taken(tmp_path: Path, text: str) -> None:
    check(tmp_path, text)
