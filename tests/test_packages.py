"""scripts/packages: what is missing is installed as root, or named in one line; and tests know the table's names."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests import needs

TABLE = """
# what for  probe  package  what is skipped
build  {bin}/compiler  g++  everything
lab  {bin}/ip  iproute2  labs
test  {bin}/srun  slurm-client  Slurm
test  {bin}/gone  only-in-an-old-release  Slurm
test  no-such-program-{{}}  lmod  modules
""".replace("-{{}}", "-of-ours")
# Installs what it knows, a file named after the package's probe; one name that it does not know fails the whole call.
APT = """#!/bin/sh
echo "$*" >> "{log}"
for word; do case $word in
  only-in-*|lmod) echo "E: Unable to locate package $word"; exit 100 ;;
esac; done
for word; do case $word in
  g++) touch "{bin}/compiler" ;; iproute2) touch "{bin}/ip" ;; slurm-client) touch "{bin}/srun" ;;
esac; done
"""


class Machine:
    """A copy of the script with a table of its own; `id` and `apt-get` are stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.log = folder / "bin", folder / "apt.log"
        (folder / "usr" / "sbin").mkdir(parents=True)
        self.bin.mkdir()
        self.script = Path(shutil.copy(needs.ROOT / "scripts" / "packages", folder))
        (folder / "packages.txt").write_text(TABLE.format(bin=self.bin).lstrip())
        self.folder = folder
        self._put("apt-get", APT.format(log=self.log, bin=self.bin))

    def _put(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def packages(self, user_id: int, *words: str) -> subprocess.CompletedProcess[str]:
        self._put("id", f"#!/bin/sh\necho {user_id}\n")
        env = {"PATH": f"{self.bin}:/usr/bin:/bin", "DPKG_ROOT": str(self.folder)}
        return subprocess.run(
            [str(self.script), *words], env=env, capture_output=True, text=True, timeout=60, check=False
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_ordinary_user_is_told_in_one_line(machine: Machine) -> None:
    done = machine.packages(1000, "build", "--", "lab", "test")
    assert done.returncode == 7
    (line,) = done.stderr.splitlines()
    names = "g++ iproute2 lmod only-in-an-old-release slurm-client"
    assert line == (
        f"missing packages: {names} -- install them (sudo apt-get install {names}) and try again: g++ must be there"
    )
    (machine.bin / "compiler").touch()
    done = machine.packages(1000, "build", "--", "lab", "test")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("missing packages: iproute2 lmod only-in-an-old-release slurm-client -- going on without")
    assert line.endswith("; skipped: Slurm, labs, modules")
    assert not machine.log.exists()


def test_nothing_is_said_where_nothing_is_missing(machine: Machine) -> None:
    (machine.bin / "compiler").touch()
    done = machine.packages(0, "build")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.log.exists()


def test_a_package_that_this_release_does_not_have_keeps_no_other_away(machine: Machine) -> None:
    done = machine.packages(0, "build", "lab", "--", "test")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in machine.bin.iterdir()} >= {"compiler", "ip", "srun"}
    assert "scripts/packages: lmod: E: Unable to locate package lmod" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("missing packages: lmod only-in-an-old-release -- going on")
    assert list((machine.folder / "usr" / "sbin").iterdir()) == []


def test_what_is_needed_and_cannot_be_had_is_an_error(machine: Machine) -> None:
    done = machine.packages(0, "build", "test")
    assert done.returncode == 7
    assert "lmod only-in-an-old-release must be there" in done.stderr


def test_the_table_has_every_name_that_tests_use() -> None:
    asked = set()
    for path in (needs.ROOT / "tests").rglob("*.py"):
        asked |= set(re.findall(r"needs\.(?:program|file)\(\"([^\"]+)\"\)", path.read_text()))
    assert asked
    assert asked <= set(needs.packages())


def test_spacks_recipe_needs_what_the_project_declares() -> None:
    recipe = (needs.ROOT / "packaging/spack/spack_repo/fabriscope/packages/fabriscope/package.py").read_text()
    project = tomllib.loads((needs.ROOT / "pyproject.toml").read_text())["project"]
    declared = {
        re.sub(r">=(.*)", r"@\1:", f"py-{text.lower()}")
        for text in (*project["dependencies"], *project["optional-dependencies"]["submit"])
    }
    asked = re.findall(r'depends_on\("(py-[^"]+)", type=\("build", "run"\)', recipe)
    assert sorted(asked) == sorted(declared)
    assert f'depends_on("python@{project["requires-python"].removeprefix(">=")}:"' in recipe


def test_type_checkers_of_others_read_our_types() -> None:
    root = Path(__file__).parents[1]
    assert (root / "src" / "fabriscope" / "py.typed").is_file()
    assert tomllib.loads((root / "pyproject.toml").read_text())["tool"]["scikit-build"]["wheel"]["packages"] == [
        "src/fabriscope"
    ]
