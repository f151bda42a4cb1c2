"""An ordinary user without XDG_RUNTIME_DIR, and a temporary folder with what a stranger would like us to believe."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.lab.on_hosts import COMMAND_TIMEOUT_S

from fabriscope.model import native

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two other users")

VICTIM, STRANGER = 54322, 54321

# Everything that is used is imported while we are root: a checkout may lie where nobody else can read it.
PRELUDE = f"""
import ctypes, os, subprocess, sys, tempfile
import fabriscope.cli.lab, fabriscope.cli._lab_words, fabriscope.engine_binary, fabriscope.lab, fabriscope.lab.presets
import fabriscope.lab.guest_kernel, fabriscope.launch._guard, fabriscope.launch.environment, fabriscope.launch.processes
import fabriscope.hosts.mpi_wheels, fabriscope.model.host_lists, fabriscope.plan.schema, fabriscope.running.site
from click.testing import CliRunner
from fabriscope.model.command import Command
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack
fabriscope.cli._lab_words.fabrics_of(("gige", "local"))
fabriscope.model.host_lists.unfolded("a")
os.setgroups([]); os.setgid({VICTIM}); os.setuid({VICTIM}); os.umask(0o022)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: our own /proc is ours again
os.chdir("/")
def run(*words):
    result = CliRunner().invoke(fabriscope.cli.lab.COMMAND, words)
    return (result.output + str(result.exception or "")).strip()
def refusal(call):
    try:
        return f"NOT REFUSED: {{call()}}"
    except FabriscopeError as error:
        return error.sentence()
"""


@dataclass
class Place:
    """A temporary folder for everybody, a home of the victim's, and what the stranger put there."""

    base: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def temporary(self) -> Path:
        return self.base / "tmp"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def proof(self) -> Path:
        """What the stranger's words would make, if we ran them."""
        return self.base / "tmp" / "executed"

    def as_victim(self, code: str, **env: str) -> str:
        """Return what a program of the victim's prints."""
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + code],
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def plant_lab(self, root: Path, keeper_pid: int = 1) -> None:
        """Put a folder of labs there, with a lab whose words make the proof."""
        folder = root / "evil"
        folder.mkdir(parents=True, mode=0o755)
        words = ["/bin/sh", "-c", f"touch {self.proof}", "sh"]
        program = folder / "run"
        program.write_text(f"#!/bin/sh\ntouch {self.proof}\n")
        program.chmod(0o755)
        ticks = Path(f"/proc/{keeper_pid}/stat").read_text().rpartition(")")[2].split()[19]
        host = {"name": "node1", "access": words, "client": [], "addresses": {}, "kind": "namespace"}
        details = {
            "pids": {"node1": 2}, "network_namespaces": {}, "switch_arguments": [], "keeper_words": words,
            "remote_shell": str(program), "hosts": [{**host, "management_interface": "mgmt0"}],
            "guests": {}, "agents": {}, "fabrics": {}, "since_unix_s": 1.0,
        }  # fmt: skip
        keeper = {"pid": keeper_pid, "start_ticks": int(ticks)}
        owner = {"pid": 2**22 - 1, "start_ticks": 1} if keeper_pid != 1 else None
        record = {"name": "evil", "folder": str(folder), "owner": owner, "keeper": keeper, "details": details}
        (folder / "state.json").write_text(json.dumps(record))
        give(root, STRANGER)


def give(path: Path, user: int) -> None:
    """Let everything there belong to a user."""
    for one in (path, *path.rglob("*")):
        os.lchown(one, user, user)


@pytest.fixture
def place() -> Iterator[Place]:
    base = Path(tempfile.mkdtemp(prefix="fabriscope-hostile-"))
    try:
        base.chmod(0o755)
        there = Place(base)
        there.temporary.mkdir()
        there.temporary.chmod(0o1777)
        there.home.mkdir(mode=0o700)
        os.chown(there.home, VICTIM, VICTIM)
        (base / "bin").mkdir()
        for name in ("fabriscope-init", "fabriscope-switch"):
            shutil.copy(native.program(name), base / "bin")
        there.env = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
        there.env |= {"HOME": str(there.home), "TMPDIR": str(there.temporary), "FABRISCOPE_BIN_DIR": str(base / "bin")}
        yield there
        assert not there.proof.exists(), "the stranger's words were run"
    finally:
        shutil.rmtree(base)


@pytest.fixture
def planted(place: Place) -> Place:
    place.plant_lab(place.temporary / f"fabriscope-{VICTIM}")
    return place


def test_a_strangers_lab_is_not_seen(planted: Place) -> None:
    said = planted.as_victim("print(run('status')); print(run('exec', 'node1', '--', 'id'))")
    assert "no lab stands" in said
    assert "no labs stand, and none was named" in said


def test_what_a_stranger_names_is_not_killed_and_a_lab_of_our_own_stands_elsewhere(place: Place) -> None:
    sleeper = subprocess.Popen(["sleep", "600"], user=VICTIM, group=VICTIM, extra_groups=[])
    try:
        place.plant_lab(place.temporary / f"fabriscope-{VICTIM}", sleeper.pid)
        code = """
print(run('up', '--hosts', 'a', '--fabric', 'local', '--name', 'own'))
print(fabriscope.lab.state.state_root())
print(run('status'))
print(run('down'))
"""
        said = place.as_victim(code)
        assert sleeper.poll() is None
        if "this kernel does not let us make namespaces" not in said:
            assert "own stands: a on local" in said
            assert "removed own" in said
        root = next(Path(line) for line in said.splitlines() if line.startswith(str(place.base)))
        assert root.parent == place.home / ".local" / "state" / "fabriscope"
        assert root.stat().st_mode & 0o777 == 0o700
        assert list(root.iterdir()) == []
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_link_of_a_strangers_is_not_followed(place: Place) -> None:
    (place.temporary / f"fabriscope-{VICTIM}").symlink_to(place.home)
    os.lchown(place.temporary / f"fabriscope-{VICTIM}", STRANGER, STRANGER)
    place.plant_lab(place.temporary / "theirs")
    (place.temporary / "runtime").symlink_to(place.temporary / "theirs")
    os.lchown(place.temporary / "runtime", STRANGER, STRANGER)
    code = "print(fabriscope.lab.state.state_root()); print(run('status'))"
    said = place.as_victim(code, XDG_RUNTIME_DIR=str(place.temporary / "runtime"))
    assert said.startswith(str(place.home / ".local" / "state" / "fabriscope"))
    assert "no lab stands" in said
    assert not list(place.home.iterdir())


@pytest.mark.parametrize("variable", ["XDG_RUNTIME_DIR", "XDG_STATE_HOME"])
def test_a_variable_that_leads_to_a_strangers_folder(variable: str, place: Place) -> None:
    there = place.temporary / "theirs"
    place.plant_lab(there / "fabriscope")
    give(there, STRANGER)
    code = """
root = fabriscope.lab.state.state_root()
print(root)
print(run('status'))
print(run('up', '--hosts', 'a', '--name', 'own'))
print(run('down', '--all'))
"""
    said = place.as_victim(code, **{variable: str(there)})
    if variable == "XDG_RUNTIME_DIR":
        assert said.startswith(str(place.home)), "ignored, as it is not ours"
    else:
        refused = f"labs that are recorded there are not trusted: {there} belongs to user {STRANGER}, not to us -- "
        assert said.count(refused) == 3


def test_a_folder_of_ours_that_others_can_write_is_refused(place: Place) -> None:
    (place.home / "state" / "fabriscope").mkdir(parents=True)
    give(place.home, VICTIM)
    (place.home / "state").chmod(0o777)
    code = """
os.makedirs(fabriscope.lab.state.state_root())
for words in (('status',), ('exec', 'node1', 'id'), ('down',), ('up', '--hosts', 'a')):
    print(run(*words))
"""
    said = place.as_victim(code, XDG_STATE_HOME=str(place.home / "state")).splitlines()
    assert len(said) == 4
    for line in said:
        assert "labs that are recorded there are not trusted: " in line
        assert f"{place.home / 'state'} can be written by other users (mode 0777)" in line


def test_records_that_are_not_ours_or_of_other_types_are_refused(place: Place) -> None:
    """In a folder that is ours: by a mistake, a damaged disk, or an older version."""
    code = """
import json, pathlib
root = fabriscope.lab.state.state_root()
def process(pid, **more):
    return {"pid": pid, "start_ticks": 1, **more}
good = {"name": "", "folder": "", "owner": None, "keeper": process(os.getpid()), "details": {}}
wrong = {
    "list": [], "text": "x", "other": {**good, "name": "else"}, "string": {**good, "keeper": process("1")},
    "truth": {**good, "keeper": process(True)}, "negative": {**good, "keeper": process(-1)},
    "more": {**good, "keeper": process(5, x=1)}, "details": {**good, "details": {"pids": ["x"]}},
    "none": {**good, "details": None}, "owner": {**good, "owner": 7},
}
for name, record in wrong.items():
    (root / name).mkdir(parents=True)
    record = {**record, "name": record["name"] or name} if isinstance(record, dict) else record
    (root / name / "state.json").write_text(json.dumps(record))
(root / "deep").mkdir(); (root / "deep" / "state.json").write_text("[" * 100000)
(root / "pipe").mkdir(); os.mkfifo(root / "pipe" / "state.json")
(root / "link").mkdir(); (root / "link" / "state.json").symlink_to("/etc/passwd")
(root / "open").mkdir(); (root / "open" / "state.json").write_text("{}"); (root / "open" / "state.json").chmod(0o666)
os.chmod(root, 0o700)
print(run('status'))
"""
    said = place.as_victim(code).splitlines()
    assert "no lab stands" in said
    refused = {Path(line.split(": ")[1]).name for line in said if "this is no record of a lab" in line}
    assert refused == {
        "list", "text", "other", "string", "truth", "negative", "more", "details", "none", "owner", "deep", "pipe",
        "link", "open",
    }  # fmt: skip


def test_a_process_of_somebody_elses_is_passed_by(place: Place) -> None:
    code = """
from fabriscope.lab import state
keeper = state.process_id(int(os.environ["THEIRS"]))
folder = state.new_folder("odd")
state.LabState("odd", folder, state.ProcessId(2**22 - 1, 1), keeper, {}).write()
told = []
print(state.remove_left_overs(told.append), *told)
"""
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        said = place.as_victim(code, THEIRS=str(sleeper.pid))
        assert f"[] lab odd: its keeper, process {sleeper.pid}, is not ours to end" in said
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_strangers_engine_kernel_or_mpi_is_not_run(place: Place) -> None:
    cache = place.temporary / "cache"
    (cache / "fabriscope").mkdir(parents=True)
    (cache / "fabriscope").chmod(0o777)
    give(cache, STRANGER)
    code = """
import pathlib
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "fabriscope"
from fabriscope import engine_binary
from fabriscope.lab import guest_kernel
from fabriscope.hosts import mpi_wheels
engine_binary.engine_source = lambda: pathlib.Path("/nowhere")
print(refusal(lambda: engine_binary.build_mpi_engine(MpiStack("x", "mpich", "5", "/bin/true", "/bin/true"))))
kernel = cache / "kernels" / "linux-1"
kernel.mkdir(parents=True)
(kernel / "kernel.json").write_text("{}")
print(refusal(guest_kernel.kept_kernels))
wheels = cache / "mpi" / "mpich"
wheels.mkdir(parents=True)
(wheels / "fabriscope-mpi.json").write_text("{}")
print(refusal(lambda: mpi_wheels.add("mpich")))
print(*mpi_wheels.added(), *mpi_wheels.refused().values())
"""
    said = place.as_victim(code, XDG_CACHE_HOME=str(cache), XDG_DATA_HOME=str(cache)).splitlines()
    assert len(said) == 4
    assert said[3] == f"{cache} belongs to user {STRANGER}, not to us"
    for line in said[:3]:
        assert f"what is kept there is not executed: {cache} belongs to user {STRANGER}, not to us -- " in line


def test_a_launch_has_a_folder_that_nobody_could_have_made(place: Place) -> None:
    """Also where the temporary folder itself is the stranger's, who could replace whatever is in it."""
    code = """
from fabriscope.launch.processes import run_commands
command = Command(("/bin/sh", "-c", 'echo "$TMPDIR"; stat -c %a "$TMPDIR"'), "here")
(outcome,) = run_commands([command], {"here": Host("here")}, timeout_s=50)
print(outcome.stdout.decode())
"""
    told, mode = place.as_victim(code).split()
    assert (Path(told).parent, mode) == (place.temporary, "700")
    assert list(place.temporary.iterdir()) == []
    theirs = place.temporary / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    os.chown(theirs, STRANGER, STRANGER)
    told, mode = place.as_victim(code, TMPDIR=str(theirs)).split()
    assert (Path(told).parent, mode) == (Path("/tmp"), "700")  # noqa: S108 - compared, not used
    assert not Path(told).exists()
    assert list(theirs.iterdir()) == []


def test_a_strangers_socket_is_not_spoken_to(planted: Place) -> None:
    path = planted.temporary / f"fabriscope-{VICTIM}" / "evil" / "_switch.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        listener.listen(8)
        listener.setblocking(False)
        assert "no lab stands" in planted.as_victim("print(run('status', '--counters'))")
        with pytest.raises(BlockingIOError):
            listener.accept()
