"""What is no plain file is refused at once where a file is named, and nothing is read without end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import forked

from fabriscope.hosts import allocation, launcher_words
from fabriscope.model import plain_files
from fabriscope.model.errors import FabriscopeError, HostError, StoreError

RUN = Path(__file__).parent / "store" / "data" / "run-before-ranks"
LOG = Path(__file__).parent / "adapters" / "data" / "netpipe" / "nptcp.txt"
TIMEOUT_S = 60


@pytest.fixture(params=["pipe", "socket", "folder", "device"])
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Yield the path of something that is no plain file."""
    path = tmp_path / "odd"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    elif request.param == "device":
        path.symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        if request.param == "socket":
            here = Path.cwd()
            os.chdir(tmp_path)  # a socket's path must be short
            bound.bind("odd")
            os.chdir(here)
        yield path


def fabriscope(*words: str | Path, stdin: int | None = None) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(words, timeout_s=TIMEOUT_S, stdin=stdin)


def test_only_plain_files_are_read(odd: Path) -> None:
    with pytest.raises(OSError):
        plain_files.read(odd, 10)
    with pytest.raises(StoreError, match=r"odd: it cannot be read: |odd: this cannot be read: "):
        plain_files.text(odd, 10, error=StoreError, what="this")


def test_no_more_is_read_than_the_limit(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 100)
    assert plain_files.read(tmp_path / "long", 10) == b"x" * 11
    with pytest.raises(FabriscopeError, match="more than"):
        plain_files.text(tmp_path / "long", 10, error=FabriscopeError, what="this")
    assert plain_files.read(Path("/proc/self/status"), 1 << 20).startswith(b"Name:")


@pytest.mark.parametrize("name", ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"])
def test_a_schedulers_list_of_hosts_is_a_plain_file(name: str, odd: Path) -> None:
    with pytest.raises(HostError, match="the hosts of this batch job cannot be told"):
        allocation.find({name: str(odd)})


def test_a_launchers_host_file_is_a_plain_file(odd: Path) -> None:
    with pytest.raises(HostError, match="the host file cannot be read"):
        launcher_words.hosts_of(["mpirun", "-hostfile", str(odd), "true"])


def test_a_log_is_a_plain_file_or_what_somebody_writes_to_us(odd: Path) -> None:
    done = fabriscope("read", odd)
    assert done.returncode in (2, 6)
    assert len(done.stderr.strip().splitlines()) <= 4
    assert "Traceback" not in done.stderr
    for name in ("-", "/dev/stdin"):
        with subprocess.Popen(["cat", LOG], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            piped = fabriscope("read", name, stdin=writer.stdout.fileno())
        assert piped.returncode == 0, piped.stderr


def _as_page(run: Path, odd: Path) -> tuple[str | Path, ...]:
    (run / "report").mkdir()
    shutil.move(odd, run / "report" / "report.html")
    return ("verify", run)


def _as_record_of_a_job(run: Path, odd: Path) -> tuple[str | Path, ...]:
    run.with_name("run.job").mkdir()
    shutil.move(odd, run.with_name("run.job") / "job.json")
    return ("submit", "--status", run)


def _as_junit(run: Path, odd: Path) -> tuple[str | Path, ...]:
    return ("compare", run, "--left", "a", "--right", "b", "--junit", odd)


@pytest.mark.parametrize("command", [_as_page, _as_record_of_a_job, _as_junit])
def test_a_pipe_in_a_folder_of_somebodys_hangs_nothing(command: Callable[..., tuple[str, ...]], tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    os.mkfifo(tmp_path / "pipe")
    done = fabriscope(*command(tmp_path / "run", tmp_path / "pipe"))
    assert done.returncode != 0
    assert "pipe" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
