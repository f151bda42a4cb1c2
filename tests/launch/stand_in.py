"""A stand-in for ssh that reaches "hosts" without any: each is this machine, entered with a clean environment."""

from __future__ import annotations

import os
from pathlib import Path

from fabriscope.model.host import Host

# As sshd does: its words joined to one line of the login shell, none of our variables, a greeting, and a session apart
# from the client's: what ends the client's process group is seen there as the end of the input.
_TEXT = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -o) shift 2 ;;
    --) shift; break ;;
    *) break ;;
  esac
done
host=$1; shift
case $host in
  closed*) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255 ;;
  bare*) echo "sh: 1: python3: not found" >&2; exit 127 ;;
esac
mkdir -p '@homes@'/"$host"
from=$SSH_HOST
exec setsid -w env -i PATH="$PATH" SHELL=/bin/sh HOME='@homes@'/"$host" SSH_HOST="$host" SSH_FROM="$from" \\
  sh -c "echo welcome to $host; $*"
"""


def make_ssh(folder: Path) -> str:
    """Return the path of a stand-in; its hosts have their homes below the folder."""
    path = folder / "ssh"
    path.write_text(_TEXT.replace("@homes@", str(folder / "homes")))
    path.chmod(0o755)
    return str(path)


def far_host(ssh: str, name: str = "far") -> Host:
    """Return a host that the stand-in reaches."""
    return Host(name, access=(ssh, "--", name), mark=f"test-{os.getpid()}-{name}")
