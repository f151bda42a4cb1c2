"""The processes that hold a lab together, and the words that enter its hosts.

One keeper is process 1 of a PID namespace and owns a network, mount, IPC and UTS namespace of its own (and a user
namespace where we are not root). Every host is one more process below it, with network, mount, IPC and UTS namespaces
of its own: an own host name, /dev/shm, /sys and /etc/hosts. All hosts share the keeper's PID namespace, so that the
stand-in for ssh can enter one from the other.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.lab.processes import process_id
from fabriscope.model import native
from fabriscope.model.errors import LabError

_START_TIMEOUT_S = 10.0
_SETUP_TIMEOUT_S = 60.0
_INIT_NAME = "fabriscope-init"
GUEST_MARK = "/run/fabriscope-guest"
"""A file that guests have, and nobody else."""

# $1: the folder of the lab, $2: fabriscope-init, then host names. Prints a line `name pid` for each host.
_HOSTS_SCRIPT = """
set -e
folder=$1 init=$2; shift 2
for host in "$@"; do
  unshare --net --mount --ipc --uts sh -c '
    set -e
    hostname "$1" 2>/dev/null || echo "$1" > /proc/sys/kernel/hostname
    mount -t tmpfs -o mode=1777 shm /dev/shm
    mount -t sysfs sys /sys 2>/dev/null || true
    mount --bind "$2/hosts" /etc/hosts
    ip link set lo up
    exec "$3"' host "$host" "$folder" "$init" </dev/null >/dev/null 2>"$folder/$host.log" &
  echo "$host $!"
done
"""


@dataclass(frozen=True)
class Keeper:
    """The process that everything in the lab is below of."""

    pid: int
    """As seen from outside the lab."""
    is_root: bool
    process: subprocess.Popen[bytes]
    """`unshare`, the keeper's parent; ends with it."""

    def enter(self) -> list[str]:
        """Return the words that run a command in the keeper's namespaces."""
        return ["nsenter", "-t", str(self.pid), *self.user_words(), "-m", "-u", "-i", "-n", "-p", "--"]

    def user_words(self) -> list[str]:
        """Return what nsenter needs to become the root of the lab's user namespace."""
        return [] if self.is_root else ["-U", "--preserve-credentials"]

    def run(self, script: str, *arguments: str) -> str:
        """Run a shell script in the keeper's namespaces and return what it printed; raises LabError."""
        return run_in(self.enter(), script, *arguments)


def run_in(words: Sequence[str], script: str, *arguments: str) -> str:
    """Run a shell script where `words` lead to and return what it printed; raises LabError."""
    argv = [*words, "sh", "-c", script, "sh", *arguments]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SETUP_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        what = f"a step of the set-up by `{words[0]}` did not end in {_SETUP_TIMEOUT_S:.0f} s"
        raise LabError(what, where="lab", fix="is a process of it stopped (state T of `ps`)?") from None
    except OSError as error:
        raise LabError(f"a step of the set-up cannot be started: {error.strerror or error}", where="lab") from error
    if done.returncode != 0:
        evidence = done.stderr.strip().splitlines()[-3:] or [f"exit status {done.returncode}"]
        raise LabError(f"a step of the set-up failed: {'; '.join(evidence)}", where="lab")
    return done.stdout


# Becomes unshare once it is told that it may: by then it is recorded, so that nothing can be left that nobody knows.
_START_SCRIPT = 'read -r go && exec "$@" </dev/null'


def start_keeper(owner_pipe: int | None, record: Callable[[int], object]) -> Keeper:
    """Start the keeper; it ends when the other end of `owner_pipe` closes. Raises LabError.

    `record` is told of its parent, before that has done anything: with it the keeper ends too.
    """
    is_root = os.geteuid() == 0
    argv = ["unshare"] if is_root else ["unshare", "--user", "--map-root-user"]
    argv += ["--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc", "--"]
    argv += [str(native.program(_INIT_NAME))]
    if owner_pipe is not None:
        argv += ["--owner-pipe", str(owner_pipe)]
    process = subprocess.Popen(
        ["/bin/sh", "-c", _START_SCRIPT, "sh", *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=[owner_pipe] if owner_pipe is not None else [],
    )
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    try:
        record(process.pid)
        with contextlib.suppress(BrokenPipeError), process.stdin:  # it has ended: below, its last words say why
            process.stdin.write(b"go\n")
        return Keeper(_keeper_pid(process), is_root, process)
    except BaseException:
        for pid in _children(process.pid):  # they go with it, but for one that was stopped before it was told so
            with contextlib.suppress(LabError):
                process_id(pid).kill()
        process.kill()
        raise


def _keeper_pid(process: subprocess.Popen[bytes]) -> int:
    """Wait until `unshare` has become the parent of the keeper, and return that one's process id."""
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            reason = _last_words(process)
            raise LabError(
                f"this kernel does not let us make namespaces: {reason}",
                fix="run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1,"
                " kernel.apparmor_restrict_unprivileged_userns=0)",
            )
        for pid in _children(process.pid):
            if _command_name(pid) == _INIT_NAME:
                return pid
        time.sleep(0.002)
    what = f"`unshare`, process {process.pid}, did not start the lab's keeper in {_START_TIMEOUT_S:.0f} s"
    raise LabError(f"{what}: {'it is stopped' if _is_stopped(process.pid) else 'it is still at it'}", fix="try again")


def _last_words(process: subprocess.Popen[bytes]) -> str:
    """Return what a process that has ended wrote as its errors; what it started may keep them open."""
    words: bytes | None
    process.stdin = None  # closed already; communicate() would flush it
    try:
        words = process.communicate(timeout=1.0)[1]
    except subprocess.TimeoutExpired as error:
        words = error.stderr
    return (words or b"it says nothing").decode(errors="replace").strip()


def start_hosts(keeper: Keeper, folder: Path, names: Sequence[str]) -> dict[str, int]:
    """Start one process for each host; return host name to process id inside the lab. Raises LabError."""
    printed = keeper.run(_HOSTS_SCRIPT, str(folder), str(native.program(_INIT_NAME)), *names)
    pids = {name: int(pid) for name, pid in (line.split() for line in printed.splitlines())}
    deadline = time.monotonic() + _START_TIMEOUT_S
    while True:
        missing = missing_hosts(keeper.pid, pids)
        if not missing:
            return pids
        if time.monotonic() > deadline:
            name = missing[0]
            log = "; ".join((folder / f"{name}.log").read_text().split("\n")).strip("; ")
            what = f"host {name} did not start by `unshare` in {_START_TIMEOUT_S:.0f} s"
            raise LabError(f"{what}: {log or 'no reason given'}", fix="is a process of it stopped (state T of `ps`)?")
        time.sleep(0.002)


def missing_hosts(keeper_pid: int, pids: Mapping[str, int]) -> list[str]:
    """Return the hosts whose processes do not run below the keeper."""
    standing = {_inner_pid(pid) for pid in _children(keeper_pid) if _command_name(pid) == _INIT_NAME and _runs(pid)}
    return [name for name, pid in pids.items() if pid not in standing]


def host_words(keeper: Keeper, inner_pid: int) -> list[str]:
    """Return the words that run a command on a host, from outside."""
    return [*keeper.enter(), "nsenter", "-t", str(inner_pid), "-m", "-u", "-i", "-n", "--"]


def in_working_folder(words: Sequence[str], client: Sequence[str] = ()) -> tuple[str, ...]:
    """Return words that run a command elsewhere, but in the caller's working directory.

    `client` are the words of a program there that hands the command on, to a guest.
    """
    return (*words, "env", "-C", str(Path.cwd()), *client)


def remote_shell_text(
    keeper: Keeper, pids: dict[str, int], clients: Mapping[str, Sequence[str]], agents: Mapping[str, str]
) -> str:
    """Return the stand-in for ssh: `rsh [OPTIONS] HOST COMMAND...`, from outside and from inside the lab.

    `clients` are the words that run a command on a guest, by its name; `agents` are the addresses by which guests
    reach every host. Both are empty in a lab without guests.
    """
    cases = "\n".join(
        f"  {shlex.quote(name)}) pid={pid} address={agents.get(name, '')} client={shlex.quote(client)} ;;"
        for name, pid in pids.items()
        for client in [shlex.join(clients.get(name, ()))]
    )
    program = next((words[0] for words in clients.values()), "")
    outside = shlex.join(keeper.enter())
    namespace = Path(f"/proc/{keeper.pid}/ns/pid").readlink()
    return f"""#!/bin/sh
# Runs a command on a host of the lab, as ssh would; ssh's options are accepted and have no meaning here.
while [ $# -gt 0 ]; do
  case $1 in
    -[BbcDEeFIiJLlmOoPpQRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || {{ echo "rsh: usage: rsh [OPTIONS] HOST [COMMAND...]" >&2; exit 255; }}
host=${{1#*@}}; shift
[ $# -gt 0 ] || set -- "exec ${{SHELL:-/bin/sh}}"
case $host in
{cases}
  *) echo "rsh: the lab has no host $host" >&2; exit 255 ;;
esac
if [ -e {GUEST_MARK} ]; then exec env -C / {shlex.quote(program)} "$host" "$address" /bin/sh -c "$*"; fi
if [ "$(readlink /proc/self/ns/pid)" = '{namespace}' ]; then outside=; else outside='{outside}'; fi
[ -z "$client" ] || exec $outside env -C / $client /bin/sh -c "$*"
exec $outside nsenter -t "$pid" -m -u -i -n -- env -C / /bin/sh -c "$*"
"""


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _runs(pid: int) -> bool:
    """Return whether a process has not ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _is_stopped(pid: int) -> bool:
    """Return whether a process, or what it started, has been sent SIGSTOP."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state in "Tt" or any(map(_is_stopped, _children(pid)))


def _command_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _inner_pid(pid: int) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), None)
