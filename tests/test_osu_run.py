"""A suite that stands for OSU's own, built from its sources with a site's MPI, run beside our engine, and reconciled.

Its one program plays a ping-pong and prints it as the documents of OSU say: what is tested is how it is found, built,
started and kept.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
import threading
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests import forked, needs

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.running import osu_builds

DEBIAN_MPICH = "/usr/bin/mpiexec.mpich"
CONFIGURE = """#!/bin/sh
for word; do case $word in CC=*) compiler=${word#CC=};; --prefix=*) prefix=${word#--prefix=};; esac; done
printf 'install:\\n\\tmkdir -p %s/libexec\\n\\t%s -O2 osu_latency.c -o %s/libexec/osu_latency\\n' \\
  "$prefix" "$compiler" "$prefix" > Makefile
"""
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char sent[1 << 16], came[1 << 16];
int main(int argc, char** argv) {
  int rank = 0, least = 0, most = 0, count = 0;
  const char* types = "mpi_float";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "-m") == 0) sscanf(argv[i + 1], "%d:%d", &least, &most);
    if (strcmp(argv[i], "-i") == 0) count = atoi(argv[i + 1]);
  }
  if (rank == 0) printf("# OSU MPI Latency Test v0.%zu\n# Size          Latency (us)\n", strlen(types));
  for (int size = least; size <= most; size *= 2) {
    double start = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      if (rank == 0) MPI_Send(sent, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(came, size, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(sent, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%-10d%18.2f\n", size, (MPI_Wtime() - start) * 1e6 / 2 / count);
    fflush(stdout);
  }
  MPI_Finalize();
}
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where what is built is kept: in a cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fabriscope" / "osu"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return the folder of the sources."""
    folder = tmp_path / "suite-1.0"
    folder.mkdir()
    (folder / "configure").write_text(CONFIGURE)
    (folder / "configure").chmod(0o755)
    (folder / "osu_latency.c").write_text(PROGRAM)
    return folder


@pytest.mark.usefixtures("cache")
def test_an_archive_and_its_folder_are_built_once_each(sources: Path, tmp_path: Path) -> None:
    stack = needs.mpi_library("mpich", DEBIAN_MPICH)
    archive = tmp_path / "suite.tar.gz"
    with tarfile.open(archive, "w:gz") as made:
        made.add(sources, "suite-1.0")
    for source in (archive, sources):
        first = osu_builds.build(source, stack, threading.Event())
        program = first / "libexec" / "osu_latency"
        built_at = program.stat().st_mtime_ns
        assert osu_builds.build(source, stack, threading.Event()) == first
        assert program.stat().st_mtime_ns == built_at
    (sources / "osu_latency.c").write_text(PROGRAM + "\n")
    assert osu_builds.build(sources, stack, threading.Event()) != first
    assert sorted(path.name for path in sources.iterdir()) == ["configure", "osu_latency.c"]  # nothing is left there


def test_sources_that_cannot_be_built_say_why_and_leave_nothing(sources: Path, cache: Path) -> None:
    stack = needs.mpi_library("mpich", DEBIAN_MPICH)
    (sources / "osu_latency.c").write_text("int main(void) { return no_such_thing; }\n")
    with pytest.raises(LaunchError, match=r"OSU cannot be built with it: .*no_such_thing") as error:
        osu_builds.build(sources, stack, threading.Event())
    assert "build.log" in error.value.sentence()
    (kept,) = cache.iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["build.log", "lock"]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("text", ["", "no archive"])
def test_what_is_no_archive_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    stack = needs.mpi_library("mpich", DEBIAN_MPICH)
    (tmp_path / "x.tar.gz").write_text(text)
    with pytest.raises(FabriscopeError, match="no archive of sources"):
        osu_builds.build(tmp_path / "x.tar.gz", stack, threading.Event())


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(words, timeout_s=300)


def plan_of(folder: Path, **more: object) -> Path:
    plan = {
        "name": "two-suites",
        "hosts": "localhost",
        "placements": ["intra"],
        "layers": ["mpi"],
        "mpi": [{"name": "mpich", "path": DEBIAN_MPICH}],
        "instruments": ["engine", "osu"],
        "benchmarks": {"ping_pong": {"sizes": [8, 1024, 16384]}},
        "launches": 3,
        "budget": "2s",
        "floor": False,
        "case_timeout": "60s",  # beside many others
        **more,
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan))
    return path


def test_it_is_measured_beside_ours_and_reconciled(sources: Path, tmp_path: Path) -> None:
    needs.mpi_library("mpich", DEBIAN_MPICH)
    plan = plan_of(tmp_path, osu=str(sources))
    done = run("run", str(plan), "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr + done.stdout
    assert "the OSU micro-benchmarks for mpich" in done.stderr
    folder = store.open_run(tmp_path / "run")
    assert list(folder.manifest.document["versions"]["osu"]) == ["mpich"]
    rows = results_of(folder.read()).estimates.filter(pl.col("instrument") == "osu")
    assert set(rows.select("metric_id", "message_size_bytes", "launch_count").iter_rows()) == {
        ("latency_ns_separate_mean", size, 3) for size in (8, 1024, 16384)
    }
    told = json.loads(run("reconcile", str(tmp_path / "run"), "--json").stdout)
    assert [one["message_size_bytes"] for one in told] == [8, 1024, 16384]
    assert all({said["instrument"] for said in one["statements"]} == {"engine", "osu"} for one in told)


def test_another_suite_is_no_resume_of_the_run(tmp_path: Path) -> None:
    stack = needs.mpi_library("mpich", DEBIAN_MPICH)
    assert stack.mpicxx is not None
    built = tmp_path / "built"
    built.mkdir()

    def build(text: str) -> None:
        (tmp_path / "osu_latency.c").write_text(text)
        compiler = stack.mpicxx.replace("cxx", "cc") if stack.mpicxx else ""
        words = [compiler, str(tmp_path / "osu_latency.c"), "-o", str(built / "osu_latency")]
        subprocess.run(words, check=True, timeout=100)

    build(PROGRAM.replace("%-10d%18.2f", "size %d took %.2f"))  # no row: its measurements are tried again
    plan = plan_of(tmp_path, osu=str(built), instruments=["osu"], launches=1)
    assert run("run", str(plan), "-o", str(tmp_path / "run")).returncode == 10
    build(PROGRAM)
    again = run("run", "--resume", str(tmp_path / "run"))
    assert again.returncode == 8, again.stderr
    assert "osu mpich" in again.stderr.replace(".", " "), again.stderr


def test_a_place_without_it_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    needs.mpi_library("mpich", DEBIAN_MPICH)
    (tmp_path / "empty").mkdir()
    done = run("run", str(plan_of(tmp_path, osu=str(tmp_path / "empty"))), "-o", str(tmp_path / "run"))
    assert done.returncode == 7
    assert "there is no program of the OSU micro-benchmarks" in done.stderr


def test_plan_check_asks_to_look_again_where_it_is_not(sources: Path, tmp_path: Path) -> None:
    there = run("plan", "check", str(plan_of(tmp_path, osu=str(sources))))
    assert "micro-benchmarks" not in there.stdout
    (tmp_path / "empty").mkdir()
    for places in (tmp_path / "empty", tmp_path / "nowhere"):
        told = run("plan", "check", str(plan_of(tmp_path, osu=str(places))))
        assert f"mpich: there is no program of the OSU micro-benchmarks in {places}; name the folder" in told.stdout


@pytest.mark.parametrize(
    ("more", "line", "what"),
    [
        ({"osu": "/opt/osu", "instruments": ["engine"]}, "osu", "nothing runs them"),
        ({"osu": {"openmpi": "/opt/osu"}}, "openmpi", "there is no MPI library openmpi in this plan"),
        ({"osu": "osu-7.4"}, "osu", "is no path from / on"),
    ],
)
def test_a_plan_that_names_it_wrongly_is_answered(
    tmp_path: Path, more: dict[str, object], line: str, what: str
) -> None:
    plan = plan_of(tmp_path, **more)
    done = run("plan", "check", str(plan))
    assert done.returncode == 2
    number = next(n for n, text in enumerate(plan.read_text().splitlines(), start=1) if text.strip().startswith(line))
    assert f"plan.yaml:{number}" in done.stderr
    assert what in done.stderr
