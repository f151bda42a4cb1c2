"""A lab of somebody who is not root: the same, in a user namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import needs

import fabriscope
from fabriscope.model import native

NOBODY = 12345
SCRIPT = """
import subprocess, sys
from fabriscope import lab
from fabriscope.lab import state
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec
from tests.lab.on_hosts import exchange, on
built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"], "plain": PRESETS["local"]}))
exchange(built, "a", "b", "eth0", count=5)
exchange(built, "b", "a", "eth1", count=5)
assert built.counters()["ports"][0]["up"]["frames"] == 5
assert on(built, "a", "hostname").stdout == "a\\n"
assert on(built, "a", str(built.remote_shell), "b", "hostname").stdout == "b\\n"
done = subprocess.run([str(built.remote_shell), "b", "hostname"], capture_output=True, text=True)
assert done.stdout == "b\\n", done.stderr
assert on(built, "a", "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &").returncode == 0
built.sweep("a")
keeper = built.state.keeper
built.down()
assert not keeper.is_alive() and not built.state.folder.exists()
assert built.name not in [record.name for record in lab.recorded()]
print("good", state.state_root())
"""


@pytest.fixture
def public_copy() -> Iterator[Path]:
    """Copy what is needed to where everybody may read it: a checkout may lie in a folder of root's own."""
    folder = Path(tempfile.mkdtemp(prefix="fabriscope-"))
    try:
        folder.chmod(0o755)
        package = Path(fabriscope.__file__).parent
        for room in ("lab", "model"):
            shutil.copytree(package / room, folder / "fabriscope" / room)
        shutil.copy(package / "__init__.py", folder / "fabriscope")
        (folder / "tests" / "lab").mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("on_hosts.py"), folder / "tests" / "lab")
        (folder / "bin").mkdir()
        for name in ("fabriscope-init", "fabriscope-switch"):
            shutil.copy(native.program(name), folder / "bin")
        yield folder
    finally:
        shutil.rmtree(folder)


def test_a_lab_without_root(public_copy: Path) -> None:
    needs.root("we are not root, so every other test is this one")
    needs.program("setpriv")
    runtime = public_copy / "run"
    runtime.mkdir()
    os.chown(runtime, NOBODY, NOBODY)
    environment = {
        "XDG_RUNTIME_DIR": str(runtime),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(public_copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "FABRISCOPE_BIN_DIR": str(public_copy / "bin"),
    }
    # The shell in between: setpriv itself still starts programs with the rights of root.
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", "sh", "-c", 'exec "$0" "$@"']

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*nobody, *words], env=environment, cwd=public_copy, capture_output=True, text=True, timeout=60, check=False
        )

    if run("unshare", "--user", "--map-root-user", "--net", "true").returncode != 0:
        needs.skip("this kernel forbids user namespaces", "allow them")
    interpreters = [path for path in (sys.executable, "/usr/bin/python3") if Path(path).exists()]
    tried = {path: run(path, "-c", "import fabriscope.lab, tests.lab.on_hosts") for path in interpreters}
    good = [path for path, done in tried.items() if done.returncode == 0]
    if not good:
        reasons = "; ".join(f"{path}: {done.stderr.strip().splitlines()[-1:]}" for path, done in tried.items())
        needs.skip(f"no interpreter that others may use can run a lab: {reasons}", "install the Debian package python3")
    done = run(good[0], "-c", SCRIPT)
    assert done.stdout == f"good {runtime}/fabriscope\n", done.stderr
