# ruff: noqa: F821, PTH111, PTH123
# (The host's Python may be as old as 3.6; names of the facts' collector, of folders.py and of sweep.py are used.)
# mypy: ignore-errors
# A relay's job: what a host is, what it has, and which of our files it sees. Plain Python 3.6, sent as text.
#
# Its request: facts (for the collector), files (path, sha256 and kept_at of each), programs (names), asked (name to
# argv and env: what these print), mark (what carries it is ended once nobody waits any more).
import fcntl
import hashlib
import os
import platform
import shutil
import socket
import struct
import subprocess

SIOCGIFADDR = 0x8915
ASK_TIMEOUT_S = 20


def answer(request, _body):
    return {
        "facts": collect(request["facts"]),
        "addresses": addresses(),
        "node_name": os.uname().nodename,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "home": os.path.expanduser("~"),
        "cpu_count": len(os.sched_getaffinity(0)),
        "files": [seen(file) for file in request["files"]],
        "programs": {name: shutil.which(name, path=search_path()) for name in request["programs"]},
        "said": {name: said(one["argv"], one["env"]) for name, one in request["asked"].items()},
    }


def at_end(request):
    wait_for_guards(request["mark"])
    end_marked(request["mark"])


def addresses():
    """Return the first IPv4 address of every interface that has one."""
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as query:
        for _, name in socket.if_nameindex():
            try:
                told = fcntl.ioctl(query, SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue
            found[name] = socket.inet_ntoa(told[20:24])
    return found


def seen(file):
    """Return whether the host sees the file at our own path (`given`), in its cache (`kept`), or not (None)."""
    if has(file["path"], file["sha256"]):
        return "given"
    kept_at = os.path.expanduser(file["kept_at"])
    # One that others could have put there is not taken for ours: asked to keep it there, `keep` says why it cannot.
    return "kept" if os.access(kept_at, os.X_OK) and problem(kept_at) is None else None


def has(path, sha256):
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as data:
            for part in iter(lambda: data.read(1 << 20), b""):
                digest.update(part)
    except OSError:
        return False
    return digest.hexdigest() == sha256 and os.access(path, os.X_OK)


def said(argv, env):
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, LC_ALL="C", **env),
            timeout=ASK_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
