"""What hosts are given: programs copied by their content, compiled there where ours do not run, and nothing twice."""

from __future__ import annotations

import dataclasses
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.launch.stand_in import make_ssh
from tests.launch.test_processes import is_gone

from fabriscope import engine_binary
from fabriscope.launch.on_host.sweep import MARK_VARIABLE, folder_prefix
from fabriscope.launch.ssh import Ssh
from fabriscope.model.errors import HostError
from fabriscope.model.mpi import MpiStack
from fabriscope.running import fleet, real_site
from fabriscope.running.fleet import Fleet, Program

HOSTS = ("n1", "n2")
# A compiler's words in these tests: {compiler} SOURCE {output}.
COMPILER = '#!/bin/sh\n[ -f "$1" ] || exit 1\necho compiled >> {folder}/count\ncp {folder}/good "$2"\n'


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Fleet]:
    with fleet.connected(Ssh((make_ssh(tmp_path),))) as one:
        yield one


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return a program that runs nowhere but can be compiled."""
    source = tmp_path / "engine"
    (source / "include" / "fabriscope").mkdir(parents=True)
    (source / "src").mkdir()
    (source / "third_party").mkdir()
    (source / "src" / "main.cc").write_text("int main() {}")
    monkeypatch.setenv(engine_binary.SOURCE_VARIABLE, str(source))
    script(tmp_path / "good", "exit 0")
    compiler = tmp_path / "compiler"
    compiler.write_text(COMPILER.format(folder=tmp_path))
    compiler.chmod(0o755)
    path = script(tmp_path / "prog", "echo 'version GLIBC_2.99 not found' >&2; exit 1")
    words = ("{compiler}", "src/main.cc", "{output}")
    return Program(path, ("{program}", "--list"), (), words, ("no-such-compiler", str(compiler)))


def look_apart(opened: Fleet, *programs: Program) -> None:
    """Look at hosts as if they shared no folder with us."""
    opened.look(HOSTS, programs=programs)
    opened.check()
    for name, seen in opened.seen.items():
        files = [None if one == "given" else one for one in seen.files]
        opened.seen[name] = dataclasses.replace(seen, files=files)


def homes(tmp_path: Path, path: str) -> list[Path]:
    return [tmp_path / "homes" / name / path.removeprefix("~/") for name in HOSTS]


def test_what_a_shared_folder_holds_is_used_where_it_is(opened: Fleet, program: Program) -> None:
    opened.look(HOSTS, programs=[program])
    assert opened.place(program, is_needed_here=False) == str(program.path)


def test_a_program_that_runs_is_copied_once(opened: Fleet, program: Program, tmp_path: Path) -> None:
    good = dataclasses.replace(program, path=tmp_path / "good")
    look_apart(opened, good)
    path = opened.place(good, is_needed_here=False)
    assert path.startswith("~/.cache/fabriscope/bin/")
    for kept in homes(tmp_path, path):
        assert kept.read_text() == good.path.read_text()
        assert kept.stat().st_mode & 0o777 == 0o700
        kept.touch()
    times = [kept.stat().st_mtime_ns for kept in homes(tmp_path, path)]
    look_apart(opened, good)
    assert [seen.files for seen in opened.seen.values()] == [[None], [None]]  # given, which these tests hide
    assert opened.place(good, is_needed_here=False) == path
    assert times == [kept.stat().st_mtime_ns for kept in homes(tmp_path, path)]


def test_what_is_in_the_cache_is_seen(opened: Fleet, program: Program, tmp_path: Path) -> None:
    good = dataclasses.replace(program, path=script(tmp_path / "moved", "exit 0"))
    look_apart(opened, good)
    opened.place(good, is_needed_here=False)
    text = good.path.read_text()
    away = dataclasses.replace(good, path=tmp_path / "elsewhere" / "moved")
    away.path.parent.mkdir()
    away.path.write_text(text)  # the same content, but no host sees it run: it may not be executed
    opened.look(HOSTS, programs=[away])
    assert [seen.files for seen in opened.seen.values()] == [["kept"], ["kept"]]


def test_a_program_that_does_not_run_is_compiled_there(opened: Fleet, program: Program, tmp_path: Path) -> None:
    look_apart(opened, program)
    path = opened.place(program, is_needed_here=False)
    assert all(kept.read_text() == (tmp_path / "good").read_text() for kept in homes(tmp_path, path))
    assert (tmp_path / "count").read_text() == "compiled\n" * len(HOSTS)
    opened.place(program, is_needed_here=False)
    assert (tmp_path / "count").read_text() == "compiled\n" * len(HOSTS)


def test_without_a_compiler_one_sentence_says_what_is_wrong(opened: Fleet, program: Program) -> None:
    bare = dataclasses.replace(program, compilers=("no-such-compiler",))
    look_apart(opened, bare)
    with pytest.raises(HostError) as caught:
        opened.place(bare, is_needed_here=False)
    sentence = str(caught.value).splitlines()[0]
    assert sentence.startswith("host n1: prog cannot be had: it does not run there: version GLIBC_2.99 not found; ")
    assert "there is no C++ compiler (no-such-compiler)" in sentence


def test_for_another_version_of_an_mpi_only_the_hosts_can_compile(
    opened: Fleet, program: Program, tmp_path: Path
) -> None:
    good = dataclasses.replace(program, path=tmp_path / "good")
    opened.look(HOSTS, programs=[good])
    path = opened.place(good, other_mpi="Version: 9", is_needed_here=False)
    assert path != opened.place(good, is_needed_here=False)
    assert (tmp_path / "count").read_text() == "compiled\n" * len(HOSTS)
    assert all(kept.is_file() for kept in homes(tmp_path, path))


def test_hosts_without_the_mpi_or_with_several_are_refused(opened: Fleet, tmp_path: Path) -> None:
    mpirun = script(tmp_path / "mpirun", 'echo "Version: $SSH_HOST"')
    stack = MpiStack("own", "mpich", "1", str(mpirun), None)
    opened.look(HOSTS, asked={"own": ((str(mpirun), "--version"), {})})
    with pytest.raises(HostError, match="several versions"):
        real_site._other_version(stack, opened)
    opened.look(HOSTS, asked={"own": (("/no/such/mpirun",), {})})
    with pytest.raises(HostError, match=r"hosts n1, n2: there is no .*/mpirun"):
        real_site._other_version(stack, opened)


def test_what_carries_our_mark_is_ended_on_request(opened: Fleet) -> None:
    opened.look(HOSTS)
    host = opened.host("n1")
    assert host.addresses["lo"] == "127.0.0.1"
    stray = f"{MARK_VARIABLE}={host.mark}.1 setsid sleep 600 >/dev/null 2>&1 & echo $!"
    said = subprocess.run([*host.access, stray], capture_output=True, text=True, timeout=60, check=True)
    pid = int(said.stdout.split()[-1])
    assert Path(f"/proc/{pid}").exists()
    left = [
        Path(tempfile.gettempdir()) / f"{folder_prefix(mark)}{secrets.token_hex(4)}" for mark in (host.mark, "another")
    ]
    for folder in left:
        (folder / "session").mkdir(parents=True)
    opened.sweep(["n1"])
    assert is_gone(pid)
    assert [folder.exists() for folder in left] == [False, True]
    shutil.rmtree(left[1])


def test_what_others_could_have_put_into_a_hosts_cache_is_not_executed(
    opened: Fleet, program: Program, tmp_path: Path
) -> None:
    good = dataclasses.replace(program, path=script(tmp_path / "fine", "exit 0"), compile_words=())
    look_apart(opened, good)
    kept = homes(tmp_path, opened.place(good, is_needed_here=False))
    kept[1].write_text("#!/bin/sh\ntouch " + str(tmp_path / "executed") + "\n")
    kept[1].parent.chmod(0o777)
    look_apart(opened, good)
    with pytest.raises(HostError) as refused:
        opened.place(good, is_needed_here=False)
    why = f"{kept[1].parent} can be written by other users (mode 0777), so nothing is executed from there"
    assert f"host n2: fine cannot be had: {why}" in str(refused.value)
    assert "n1" not in str(refused.value)
    assert not (tmp_path / "executed").exists()


def test_a_cache_that_others_can_write_holds_nothing_of_ours(opened: Fleet, program: Program, tmp_path: Path) -> None:
    good = dataclasses.replace(program, path=script(tmp_path / "moved", "exit 0"))
    look_apart(opened, good)
    kept = homes(tmp_path, opened.place(good, is_needed_here=False))
    kept[0].chmod(0o777)
    away = dataclasses.replace(good, path=tmp_path / "elsewhere" / "moved")
    away.path.parent.mkdir()
    away.path.write_text(good.path.read_text())
    opened.look(HOSTS, programs=[away])
    assert [seen.files for seen in opened.seen.values()] == [[None], ["kept"]]
