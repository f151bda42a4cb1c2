"""The doctor with a fake engine and a fake mpirun on PATH; the lab is not built here."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fabriscope.cli import _health as health
from fabriscope.cli.doctor import COMMAND
from fabriscope.model.errors import LabError
from fabriscope.model.mpi import MpiStack

# Answers a spec with one block for each case, as the engine does.
ENGINE = r"""#!/bin/sh
case "$*" in *"--rank 1"*) exit 0 ;; esac
[ -n "$ENGINE_DIES" ] && { echo "fabriscope-engine: no route to host" >&2; exit 1; }
echo '{"type":"listening","tcp_port":4242}'
echo '{"type":"header","format":"fabriscope-engine","version":1}'
while read -r word id rest; do
  [ "$word" = end ] && break
  [ "$word" = case ] || continue
  echo '{"type":"block","case":"'"${id#id=}"'","round":0,"burst":0,"phase":"measured","start_ns":0,' \
    '"operations_per_sample":1,"durations_ns":[1000]}'
done
echo '{"type":"footer","status":"ok"}'
"""
MPIRUN = """#!/bin/sh
[ "$1" = --version ] && { echo "mpirun (Open MPI) 5.0.11"; exit; }
while [ "${1##*/}" != fabriscope-engine ]; do shift; done
exec "$@"
"""
MPICXX = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp "$FABRISCOPE_BIN_DIR/fabriscope-engine" "$2"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a machine with an engine, one MPI, and no lab."""
    program(tmp_path / "bin" / "fabriscope-engine", ENGINE)
    program(tmp_path / "path" / "mpirun", MPIRUN)
    program(tmp_path / "path" / "mpicxx", MPICXX)
    (tmp_path / "engine" / "include" / "fabriscope").mkdir(parents=True)
    (tmp_path / "engine" / "src").mkdir()
    (tmp_path / "engine" / "release.flags").write_text("-O3\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    monkeypatch.setenv("FABRISCOPE_BIN_DIR", str(tmp_path / "bin"))
    monkeypatch.setenv("FABRISCOPE_ENGINE_SOURCE", str(tmp_path / "engine"))
    monkeypatch.setenv("FABRISCOPE_MPI_PATH", str(tmp_path / "path" / "mpirun"))
    for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))

    def no_lab(*_: object, **__: object) -> None:
        raise LabError("this kernel does not let us make namespaces", fix="run as root")

    monkeypatch.setattr("fabriscope.lab.up", no_lab)
    return tmp_path


def examine(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(COMMAND, ["--json", *arguments], catch_exceptions=False)
    answer = json.loads(result.stdout)
    return result.exit_code, {check["name"]: check for check in answer["checks"]} | {"can": answer["can_measure"]}


def test_what_works_and_what_does_not_is_told(site: Path) -> None:
    exit_code, checks = examine()
    assert checks["message over loopback"]["status"] == "ok"
    (mpi,) = (check for name, check in checks.items() if name == "openmpi-5.0.11 (5.0.11)")
    assert "passes messages inside this machine" in mpi["text"]
    assert (exit_code, checks["can"]) == (1, False)  # no lab, no main job


def test_an_mpi_is_only_named_when_nothing_may_be_compiled(site: Path) -> None:
    _, checks = examine("--no-mpi")
    assert checks["openmpi-5.0.11 (5.0.11)"]["status"] == "untried"
    assert not (site / "XDG_CACHE_HOME").exists()


def test_modules_are_named_and_tried_only_when_asked_for(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, folder = site / "modulecmd", site / "path"
    load = f"echo 'export PATH={folder}:$PATH S=1'"
    command.write_text(f'#!/bin/sh\n[ "$2" = -t ] && echo openmpi/5 >&2\n[ "$2" = load ] && {load}\n:\n')
    command.chmod(0o755)
    monkeypatch.setenv("LMOD_CMD", str(command))
    monkeypatch.setenv("MODULEPATH", str(site))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    _, checks = examine()
    assert checks["openmpi-5.0.11 (5.0.11)"]["status"] == "ok"
    named = checks["module:openmpi/5 (5.0.11)"]
    assert (named["status"], named["fix"]) == ("untried", "`fabriscope doctor --mpi module:openmpi/5` tries it")
    _, checks = examine("--mpi", "module:openmpi/5", "--mpi", "module:openmpi/6 x")
    assert checks["module:openmpi/5 (5.0.11)"]["status"] == "ok"
    assert "openmpi-5.0.11 (5.0.11)" not in checks


def test_a_missing_engine_comes_with_its_remedy(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "bin" / "fabriscope-engine").unlink()
    monkeypatch.setattr("fabriscope.model.native._INSTALLED", site)  # an installed package would bring its own
    exit_code, checks = examine("--no-mpi")
    assert exit_code == 1
    assert checks["fabriscope-engine"]["status"] == "failed"
    assert "pip" in checks["fabriscope-engine"]["fix"]


def test_an_engine_that_dies_is_quoted(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINE_DIES", "1")
    assert "no route to host" in (health.trial(health.HERE, "tcp") or "")


def test_an_mpi_that_does_not_start_is_a_warning(site: Path) -> None:
    stack = MpiStack("mine", "openmpi5", "5", "/nowhere/mpirun", str(site / "path" / "mpicxx"))
    check = health.mpi_stack(stack, health.HERE, may_compile=True)
    assert check.status == "warning"
    assert "/nowhere/mpirun is not on this machine" in check.text


def test_a_person_gets_a_mark_and_a_sentence_for_everything(site: Path) -> None:
    result = CliRunner().invoke(COMMAND, ["--no-mpi"], catch_exceptions=False)
    assert "✓ message over loopback: arrived" in result.stdout
    assert "? openmpi-5.0.11 (5.0.11)" in result.stdout
    assert result.stdout.rstrip().endswith("put right")
