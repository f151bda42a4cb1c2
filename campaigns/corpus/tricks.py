"""Processes of the transport corpus that hide whose they are, and send all the same; it uses no project package.

python3 -m campaigns.corpus.tricks TRICK PORT BYTES ADDRESS [BYTES ADDRESS ...]   the first by the trick
python3 -m campaigns.corpus.tricks TRICK --serve PORT [ADDRESS]                   plays the trick, then takes bytes
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from campaigns.corpus.tcp import push, send, serve

SHARED = Path("/dev/shm")  # noqa: S108 - a host of a lab has one of its own
NOBODY = 65534
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME, PR_SET_DUMPABLE = 15, 4
NEW_PID, NEW_USER, NEW_NET, NEW_IPC, NEW_UTS, NEW_MOUNT, NEW_CGROUP = (
    0x20000000, 0x10000000, 0x40000000, 0x08000000, 0x04000000, 0x00020000, 0x02000000,
)  # fmt: skip
MAX_S = 20

Work = Callable[[], None]


def own_range(first_field: int) -> tuple[int, int]:
    """Return where the kernel says that words of this process begin and end: fields of /proc/self/stat, from 1."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[first_field - 3]), int(fields[first_field - 2])


def overwrite_environ() -> None:
    """Write over the environment where the kernel shows it, as programs do that set their title."""
    begin, end = own_range(50)
    ctypes.memset(begin, 0, end - begin)
    title = b"redis-server *:6379"[: end - begin]
    ctypes.memmove(begin, title, len(title))


def overwrite_title() -> None:
    """Look like a thread of the kernel: name and command line."""
    LIBC.prctl(PR_SET_NAME, b"kworker/0:1", 0, 0, 0)
    begin, end = own_range(48)
    ctypes.memset(begin, 0, end - begin)


def unshare(flags: int) -> None:
    """Leave namespaces."""
    if LIBC.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


def in_child(work: Work) -> None:
    """Do it in a child."""
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("the child failed")


def alone(leave: Callable[[], object], work: Work) -> None:
    """Leave something, then work."""
    leave()
    work()


def started_again(words: list[str], env: dict[str, str]) -> None:
    """Become this program again, with other words and another environment."""
    os.chdir(Path(__file__).parents[2])
    os.execve(sys.executable, [sys.executable, "-m", "campaigns.corpus.tricks", *words], env)  # noqa: S606 - that is the trick


def detached(words: list[str], *, waits: bool = True) -> None:
    """Start this program again as a daemon: two forks, its own session, an empty environment, nothing inherited."""
    told = SHARED / f"told-{os.getpid()}"
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            started_again([*words, "--tell", str(told)], {})
        os._exit(0)
    os.wait()
    begun_s = time.monotonic()
    while waits and not told.exists():
        if time.monotonic() > begun_s + MAX_S:
            raise SystemExit("the daemon told nothing")
        time.sleep(0.02)


def handed_to_child(port: int, byte_count: int, address: str) -> None:
    """Open a connection, and hand it to a child that was there before by SCM_RIGHTS."""
    ours, its = socket.socketpair()
    pid = os.fork()
    if not pid:
        ours.close()
        _, descriptors, _, _ = socket.recv_fds(its, 1, 1)
        push(socket.socket(fileno=descriptors[0]), byte_count)
        os._exit(0)
    its.close()
    with socket.create_connection((address, port)) as connection:
        socket.send_fds(ours, [b"x"], [connection.fileno()])
    os.waitpid(pid, 0)


def exec_thrice(port: int, byte_count: int, address: str) -> None:
    """Send a third, become another program with the connection left open, and so on; without any environment."""
    connection = socket.create_connection((address, port))
    connection.sendall(b"S" * (byte_count // 3))
    connection.set_inheritable(True)
    pid = os.fork()
    if not pid:
        words = ["exec-on", str(port), str(byte_count // 3), str(connection.fileno()), str(byte_count // 3), "last"]
        started_again(words, {})
    connection.close()
    os.waitpid(pid, 0)


def exec_on(port: str, words: list[str]) -> None:
    """Send on over an inherited connection; become this program once more, unless this is the last time."""
    part, descriptor, rest, what = words
    connection = socket.socket(fileno=int(descriptor))
    if what == "last":
        connection.sendall(b"x" * int(part))
        connection.set_inheritable(True)
        started_again(["exec-on", port, rest, descriptor, "0", "now"], {"TERM": "dumb"})
    push(connection, int(part))


def in_threads(port: int, byte_count: int, address: str) -> None:
    """Send from eight threads at once."""
    threads = [threading.Thread(target=send, args=(port, address, byte_count // 8, False)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def vfork_storm(port: int, byte_count: int, address: str) -> None:
    """Send every part from a process of its own, each the child of the one before."""

    def link(left: int) -> None:
        send(port, address, byte_count // 20, False)
        if left:
            in_child(lambda: link(left - 1))

    in_child(lambda: link(19))


def play(trick: str, port: int, byte_count: int, address: str) -> None:
    """Send by a trick."""

    def plainly() -> None:
        send(port, address, byte_count, False)

    words = [str(port), str(byte_count), address]
    whole = {"handed": handed_to_child, "exec-thrice": exec_thrice, "threads": in_threads, "storm": vfork_storm}
    if trick in whole:
        whole[trick](port, byte_count, address)
    elif trick == "daemon":
        detached(["plain", *words])
    elif trick == "outlive":  # the daemon goes on when the job has ended
        detached(["paced", *words])
        time.sleep(1.2)
    elif trick == "paced":
        send(port, address, byte_count, False, pace=byte_count / 2)
    elif trick == "setsid":
        in_child(lambda: alone(os.setsid, plainly))
    elif trick in _CHILD_UNSHARES:
        in_child(lambda: alone(lambda: unshare(_CHILD_UNSHARES[trick]), lambda: in_child(plainly)))
    else:
        before(trick)
        plainly()


_CHILD_UNSHARES = {
    "new-pid": NEW_PID,
    "new-user": NEW_USER,
    "new-all-but-net": NEW_PID | NEW_IPC | NEW_UTS | NEW_MOUNT | NEW_CGROUP,
}


def before(trick: str) -> None:
    """Do what a trick does before anything is sent."""
    if trick in ("environ", "everything"):
        overwrite_environ()
    if trick in ("title", "everything"):
        overwrite_title()
    if trick in ("undumpable", "everything"):
        LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if trick in ("setuid", "everything"):
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    if trick == "hidden-root":  # /proc of its own mount namespace is empty, and so is its root
        unshare(NEW_MOUNT)
        os.chroot(tempfile.mkdtemp(dir=SHARED))
        os.chdir("/")


def serve_by(trick: str, words: list[str]) -> None:
    """Be a server that plays a trick first; a daemon's parent stays and says that it listens."""
    address = words[1] if len(words) > 1 else "0.0.0.0"  # noqa: S104 - of a lab's host
    if trick == "daemon":
        detached(["plain", "--serve", *words], waits=False)
        time.sleep(0.5)
        print("listening", flush=True)
        time.sleep(MAX_S)
    before(trick)
    serve(int(words[0]), address)


def main() -> None:
    trick, *words = sys.argv[1:]
    "host".encode("idna")  # read while it may be: later this may be nobody's process, or have another root
    told = None
    if words[-2:-1] == ["--tell"]:
        told = Path(words[-1])
        words = words[:-2]
    if words[0] == "--serve":
        serve_by(trick, words[1:])
    if trick == "exec-on":
        exec_on(words[0], words[1:])
        return
    port, pairs = int(words[0]), list(zip(words[1::2], words[2::2], strict=True))
    if told and trick == "paced":
        told.touch()  # it is told that it begins, not that it ends
    play(trick, port, int(pairs[0][0]), pairs[0][1])
    for count, address in pairs[1:]:
        send(port, address, int(count), False)
    if told:
        told.touch()


if __name__ == "__main__":
    main()
