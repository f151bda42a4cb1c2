"""Settings of MPI libraries in plans: checked, shown, read back, refused, and tuned in a lab."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import needs
from tests.small_plans import refused, written
from tests.test_sharing import launch

from fabriscope import store
from fabriscope.analysis.tuning.tuned import NOTHING_TO_TRY, tuning_of
from fabriscope.cli.plan import COMMAND as PLAN
from fabriscope.cli.show import COMMAND as SHOW
from fabriscope.hosts.access import journal
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HERE
from fabriscope.model.mpi import MpiStack
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running import library_settings, run
from fabriscope.running.sharing import sharing_of
from fabriscope.running.vocabulary import vocabulary

pytestmark = pytest.mark.usefixtures("state")

TEXT = """
name: eager
hosts: node[1-2]
fabrics:
  far: {lab: {preset: gige, delay: 5ms}}
layers: [mpi]
mpi: [openmpi]
benchmarks: {ping_pong: {sizes: [8, 16KiB]}}
launches: 1
budget: 400ms
floor: false
tune:
  knobs: {ompi_btl_tcp_eager_limit: [4KiB, 64KiB], ompi_btl_tcp_links: [1, 2]}
  objective: {benchmark: ping_pong, size: 16KiB}
  budget: 3min
"""
"""16 KiB are longer than one limit and not than the other; what is announced takes two more ways of 5 ms."""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[4KiB, 64KiB]", "[0]", "ompi_btl_tcp_eager_limit: 0 B, which is not from 1 to 2147483647 B"),
        ("ompi_btl_tcp_links", "ompi_btl_tcp_link", "did you mean 'ompi_btl_tcp_links'?"),
        ("layers: [mpi]", "layers: [tcp]", "is a setting of an MPI library, and none is measured over far"),
        (
            "gige, delay: 5ms}}",
            "gige, delay: 5ms}, layers: [tcp], settings: {ucx_rndv_scheme: fast}}",
            "ucx_rndv_scheme: 'fast' is none of auto, get_zcopy, put_zcopy, am",
        ),
        (
            "mpi: [openmpi]",
            "mpi: [{name: openmpi, settings: {ompi_btl_tcp_links: 2}}]",
            "ompi_btl_tcp_links is set for every launch of openmpi, whatever is tried",
        ),
    ],
)
def test_what_cannot_be_set_is_answered_with_its_line(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    assert why in refused(TEXT.replace(old, new), tmp_path)


def stacks(**kinds: str) -> dict[str, MpiStack]:
    return {name: MpiStack(name, kind, "4.1", "/x/bin/mpirun", None, device="ch4:ofi") for name, kind in kinds.items()}


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("ompi_btl_tcp_links", "ucx_rndv_thresh", 13, "of what runs over UCX, and here there are openmpi over tcp"),
        (
            "gige, delay: 5ms}}",
            "gige, delay: 5ms}, settings: {mpich_ofi_eager_limit: 1}}",
            5,
            "MPICH over libfabric, and",
        ),
        (
            "mpi: [openmpi]",
            "mpi: [{name: openmpi, settings: {ompi_btl_sm_eager_limit: 1}}]",
            7,
            "of Open MPI inside a host, and here there are openmpi over tcp",
        ),
    ],
)
def test_what_counts_in_no_launch_is_refused(old: str, new: str, line: int, why: str, tmp_path: Path) -> None:
    plan = load(written(TEXT.replace(old, new), tmp_path), vocabulary())
    with pytest.raises(PlanError) as caught:
        library_settings.check(plan, stacks(openmpi="openmpi4"), {"far": "tcp"})
    assert f"plan.yaml:{line}" in str(caught.value)
    assert why in str(caught.value)


def test_what_counts_in_one_of_several_libraries_is_not_refused(tmp_path: Path) -> None:
    text = TEXT.replace("mpi: [openmpi]", "mpi: [openmpi, mpich]").replace(
        "ping_pong, size", "ping_pong, mpi: mpich, size"
    )
    plan = load(written(text, tmp_path), vocabulary())
    library_settings.check(plan, stacks(openmpi="openmpi4", mpich="mpich"), {"far": "tcp"})
    inside = TEXT.replace("layers", "placements: [inter, intra]\nlayers")
    inside = inside.replace("mpi: [openmpi]", "mpi: [{name: openmpi, settings: {ompi_btl_sm_eager_limit: 1}}]")
    library_settings.check(load(written(inside, tmp_path), vocabulary()), stacks(openmpi="openmpi5"), {"far": "tcp"})


def test_plan_check_says_what_launches_get(tmp_path: Path) -> None:
    needs.mpi_library("openmpi")
    text = TEXT.replace("5ms}}", "5ms}}\n  near: {lab: gige, settings: {fi_tcp_zerocopy_size: 1MiB}}")
    text = text.replace("mpi: [openmpi]", "mpi: [openmpi, mpich]").replace("tune:", "tune:\n  fabric: far")
    text = text.replace("{benchmark", "{mpi: openmpi, benchmark")
    result = CliRunner().invoke(PLAN, ["check", str(written(text, tmp_path))])
    assert (
        "sets ompi_btl_tcp_eager_limit to 4096 or 65536 by OMPI_MCA_btl_tcp_eager_limit in launches that tune far,"
        " as far as they are of Open MPI over TCP\n" in result.output
    ), result.output
    assert (
        "sets fi_tcp_zerocopy_size to 1048576 by FI_TCP_ZEROCOPY_SIZE in launches over near, as far as they are of what"
        " runs over libfabric's tcp; nothing tells what the library makes of it\n" in result.output
    )
    assert "puts it back" not in result.output


def test_nothing_is_set_on_hosts_so_launches_measure_in_turns() -> None:
    of_library = Fabric("early", {"a": "eth0", "b": "eth0"}, knobs={"ompi_btl_tcp_eager_limit": "1"})
    of_host = replace(of_library, name="small", knobs={**of_library.knobs, "mtu": "600"})
    block = [launch(1, "tcp", "early"), launch(2, "shm", None, "aa"), launch(3, "tcp", "small")]
    sharing = sharing_of(block, {"early": of_library, "small": of_host})
    assert sharing.groups == ((0, 1),)
    assert sharing.alone == {2: "what its fabric sets holds for whole hosts"}


PRINTED = {
    "ompi_info": 'printf "mca:btl:tcp:param:btl_tcp_eager_limit:value:%s\\n" "${OMPI_MCA_btl_tcp_eager_limit:-65536}"',
    "mpivars": 'echo "  MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE = ${MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE:--1}"',
    "ucx_info": 'echo "UCX_RNDV_THRESH=${SAYS:-auto}"; echo "UCX_RNDV_SCHEME=get_zcopy"',
}


@pytest.fixture
def library(tmp_path: Path) -> MpiStack:
    """Return a library whose programs are stand-ins; SAYS is what its UCX reads."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, line in PRINTED.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return MpiStack("stand-in", "openmpi4", "4.1.4", str(folder / "mpirun"), None)


@pytest.mark.parametrize(
    ("name", "value", "says", "told"),
    [
        ("ompi_btl_tcp_eager_limit", "4096", "", ("4096", "")),
        ("ompi_btl_tcp_eager_limit", None, "", ("65536", "")),
        ("ompi_btl_tcp_links", "2", "", (None, "stand-in (4.1.4) knows no OMPI_MCA_btl_tcp_links")),
        ("mpich_ofi_eager_limit", "8192", "", ("8192", "")),
        ("mpich_ofi_eager_limit", None, "", ("-1", "")),
        ("ucx_rndv_thresh", None, "", ("auto", "")),
        ("ucx_rndv_thresh", "65536", "64K", ("65536", "")),
        ("ucx_rndv_thresh", "65536", "8K", ("8192", "stand-in reads UCX_RNDV_THRESH as 8192 after 65536 was set")),
        ("ucx_rndv_thresh", "inf", "INF", ("inf", "")),
        (
            "ucx_rndv_scheme",
            "am",
            "",
            ("get_zcopy", "stand-in reads UCX_RNDV_SCHEME as get_zcopy after am was set"),
        ),
        ("fi_tcp_zerocopy_size", "1", "", (None, "")),
    ],
)
def test_what_a_library_tells(
    name: str, value: str | None, says: str, told: tuple[str | None, str], library: MpiStack
) -> None:
    asked = replace(library, env={"SAYS": says} if says else {})
    found = library_settings.told(HERE, asked, MPI_SETTINGS[name], value)
    assert (found.value, found.problem) == told


def test_where_its_program_fails_nothing_is_told(library: MpiStack) -> None:
    Path(library.mpirun).with_name("mpivars").write_text("#!/bin/sh\nexit 1\n")
    gone = replace(library, mpirun="/nowhere/mpirun", env={"PATH": "/nowhere"})
    for one, name in ((library, "mpich_shm_cells"), (gone, "ompi_btl_tcp_eager_limit")):
        setting = MPI_SETTINGS[name]
        assert library_settings.told(HERE, replace(one, env={"PATH": "/nowhere"}), setting, "1").problem == ""


RULE = "-" * 74
REFUSED = f"""{RULE}
The "eager limit" MCA parameter in the tcp BTL was set to a value which
is too low for Open MPI to function properly.  Please re-run your job

  MCA parameter name:      btl_tcp_eager_limit
{RULE}
{RULE}
It looks like MPI_INIT failed for some reason; your parallel process is
{RULE}
"""
"""As Open MPI 5.0 says it of 1 B, shortened."""


def test_what_a_library_says_of_a_value_is_one_sentence() -> None:
    settings = {"ompi_btl_tcp_links": "1", "ompi_btl_tcp_eager_limit": "1", "ucx_rndv_thresh": "5"}
    assert list(library_settings.refusals(settings, ["", REFUSED])) == [
        'ompi_btl_tcp_eager_limit 1 is refused by the library: The "eager limit" MCA parameter in the tcp BTL was'
        " set to a value which is too low for Open MPI to function properly"
    ]
    line = "[1] parser.c:99 UCX  ERROR Invalid value for UCX_RNDV_THRESH: '5'. Expected: memory units"
    assert list(library_settings.refusals(settings, [f"first\n{line}\nlast\n"])) == [
        "ucx_rndv_thresh 5 is refused by the library: [1] parser.c:99 UCX ERROR Invalid value for UCX_RNDV_THRESH: '5'"
    ]
    assert list(library_settings.refusals({}, [REFUSED])) == []


def ran(text: str, path: Path, tmp_path: Path) -> run.RunSummary:
    return run.start(load(written(text, tmp_path), vocabulary()), path, QuietProgress(), threading.Event())


@pytest.mark.timeout(1200)  # beside many others
def test_an_eager_limit_above_the_message_is_found(labs: None, tmp_path: Path) -> None:
    needs.mpi_library("openmpi")
    path = tmp_path / "run"
    summary = ran(TEXT.replace("1, 2]", "1]").replace("3min", "90s"), path, tmp_path)
    assert (summary.failed_cases, summary.is_complete) == (0, True)
    data = store.open_run(path).read()
    tuning = tuning_of(data)
    assert tuning is not None
    assert tuning.screening.current["ompi_btl_tcp_eager_limit"] == {"openmpi": "65536"}
    assert tuning.screening.levels["ompi_btl_tcp_eager_limit"] == ("4096", "65536")
    (effect,) = tuning.effects
    assert effect.effect.log > 0.3, "one way instead of three"
    assert "ompi_btl_tcp_links is left out: 1 is what is set already, and nothing else is to be tried" in (
        tuning.screening.left_out
    )
    assert "ompi_btl_tcp_eager_limit 65536 against 4096:" in CliRunner().invoke(SHOW, [str(path)]).output
    assert journal.entries() == []


@pytest.mark.timeout(1200)  # beside many others
def test_what_does_not_count_in_the_objective_is_left_out(labs: None, tmp_path: Path) -> None:
    needs.mpi_library("openmpi")
    needs.mpi_library("mpich")
    head, _, _ = TEXT.replace("[openmpi]", "[openmpi, mpich]").partition("tune:")
    objective = "{benchmark: ping_pong, size: 16KiB, mpi: openmpi}"
    text = f"{head}tune: {{knobs: {{mpich_ofi_eager_limit: [4KiB, 64KiB]}}, objective: {objective}, budget: 3min}}\n"
    path = tmp_path / "run"
    ran(text, path, tmp_path)
    tuning = tuning_of(store.open_run(path).read())
    assert tuning is not None
    assert tuning.state == NOTHING_TO_TRY
    assert (
        "mpich_ofi_eager_limit is left out: it counts in launches of MPICH over libfabric, and what is to become faster"
        " is measured by openmpi over tcp" in tuning.screening.left_out
    )


@pytest.mark.timeout(1200)  # beside many others
def test_a_value_that_the_library_refuses_fails_its_launches_alone(labs: None, tmp_path: Path) -> None:
    needs.mpi_library("openmpi")
    text = TEXT.partition("tune:")[0].replace("delay: 5ms}}", "delay: 5ms}}\n  tiny: {lab: gige, settings: {SET: 1}}")
    path = tmp_path / "run"
    summary = ran(text.replace("SET", "ompi_btl_tcp_eager_limit"), path, tmp_path)
    assert summary.is_complete
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    by_fabric = {line["entry_id"].partition(".")[0]: line for line in lines}
    assert by_fabric["far"]["status"] == "ok"
    assert by_fabric["tiny"]["status"] == "failed"
    assert by_fabric["tiny"]["reason"].startswith("ompi_btl_tcp_eager_limit 1 is refused by the library: The "), (
        by_fabric
    )
