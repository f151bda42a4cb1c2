"""A small cluster for tests: hosts of a lab, each with a real sshd; we are on the host `head`, which runs none."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests import forked, needs

from fabriscope import lab
from fabriscope.lab import Lab
from fabriscope.model.lab import LabSpec, SwitchSpec

HEAD = "head"
TIMEOUT_S = 200.0
_READY_TIMEOUT_S = 60.0

_SSHD = """Port 22
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/client_key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv HOME={home} TMPDIR={temporary}
LogLevel ERROR
"""
_CLIENT = """Host *
  IdentityFile {folder}/client_key
  IdentitiesOnly yes
  KexAlgorithms curve25519-sha256
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""
# $1: a folder for its home, which is its own; then folders that it does not see. sshd wants a folder in /run.
_FURNISH = """
set -e
mount -t tmpfs home "$1"; shift
for folder in "$@"; do mount -t tmpfs -o ro none "$folder"; done
[ -d /run/sshd ] || { mount -t tmpfs run /run; mkdir -m 755 /run/sshd; }
"""
# argv: seconds, then hosts. Ends when all of them listen.
_WAIT = """
import socket, sys, time
deadline = time.monotonic() + float(sys.argv[1])
for host in sys.argv[2:]:
    while True:
        try:
            socket.create_connection((host, 22), timeout=5).close()
            break
        except OSError:
            if time.monotonic() > deadline:
                sys.exit("no sshd listens on " + host)
            time.sleep(0.02)
"""


class Cluster:
    """Hosts with sshd in a lab."""

    def __init__(self, built: Lab, folder: Path, names: Sequence[str], temporary: Path) -> None:
        self.lab = built
        self.folder = folder
        self.names = tuple(names)
        self.home = folder / "home"
        self.temporary = temporary
        self.ssh = f"ssh -F {folder}/ssh_config"

    def on(self, host: str, *words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command on a host to its end, not over ssh."""
        return subprocess.run(
            self.argv(host, *words), capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=env
        )

    def argv(self, host: str, *words: str) -> list[str]:
        """Return the words of a command on a host."""
        return [*self.lab.host(host).access, *words]

    def start(self, *words: str | Path, env: Mapping[str, str]) -> forked.Command:
        """Start fabriscope on the head, in a session of its own."""
        return forked.Command(words, env, session=True, inside=forked.process_of(HEAD, self.lab))

    def fabriscope(self, *words: str | Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run fabriscope on the head to its end."""
        return forked.fabriscope(words, env, TIMEOUT_S, inside=forked.process_of(HEAD, self.lab))


def need_sshd() -> None:
    """Skip the test where no sshd can run in a lab."""
    needs.root("sshd changes users, which only root can")
    needs.lab()
    for program in ("ssh", "sshd"):
        needs.program(program)
    needs.file("/usr/bin/python3")  # sshd's own PATH has no other


@contextmanager
def cluster(
    folder: Path, names: Sequence[str], fabrics: Mapping[str, SwitchSpec], hidden: Sequence[Path] = ()
) -> Iterator[Cluster]:
    """Yield a cluster; its hosts have homes of their own and do not see the `hidden` folders."""
    need_sshd()
    temporary = Path(tempfile.mkdtemp())  # short: MPI libraries put sockets into it
    _write_keys(folder, names, temporary)
    built = lab.up(LabSpec((HEAD, *names), dict(fabrics)))
    try:
        one = Cluster(built, folder, names, temporary)
        for name in names:
            _start_sshd(one, name, hidden)
        _wait_for_sshd(one)
        yield one
    finally:
        built.down()
        shutil.rmtree(temporary, ignore_errors=True)


def _write_keys(folder: Path, names: Sequence[str], temporary: Path) -> None:
    for key in ("host_key", "client_key"):
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(argv, check=True, timeout=60, stdin=subprocess.DEVNULL)
    public = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text("".join(f"{name} {public}" for name in names))
    (folder / "ssh_config").write_text(_CLIENT.format(folder=folder))
    (folder / "home").mkdir()
    (folder / "sshd_config").write_text(_SSHD.format(folder=folder, home=folder / "home", temporary=temporary))


def _start_sshd(one: Cluster, name: str, hidden: Sequence[Path]) -> None:
    done = one.on(name, "sh", "-c", _FURNISH, "sh", str(one.home), *map(str, hidden))
    assert done.returncode == 0, done.stderr
    with (one.folder / f"sshd-{name}.log").open("w") as out:  # the lab's end is its end
        subprocess.Popen(
            one.argv(name, "/usr/sbin/sshd", "-D", "-e", "-f", str(one.folder / "sshd_config")),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


def _wait_for_sshd(one: Cluster) -> None:
    done = one.on(HEAD, sys.executable, "-I", "-S", "-c", _WAIT, str(_READY_TIMEOUT_S), *one.names)
    logs = [(one.folder / f"sshd-{name}.log").read_text() for name in one.names]
    assert done.returncode == 0, [done.stderr, *filter(None, logs)]
