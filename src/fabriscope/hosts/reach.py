"""Whether anything can still be run on a host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from fabriscope.model.host import Host

PROBE_TIMEOUT_S = 20.0
"""Longer than ssh takes to give up (launch/ssh.py)."""
_MAX_AT_ONCE = 16


def gone(hosts: Iterable[Host]) -> Mapping[str, str]:
    """Return the hosts on which nothing can be run any more, by name, and why."""
    hosts = list(hosts)
    with ThreadPoolExecutor(_MAX_AT_ONCE) as pool:
        reasons = pool.map(_why_gone, hosts)
        return {host.name: why for host, why in zip(hosts, reasons, strict=True) if why is not None}


def _why_gone(host: Host) -> str | None:
    if not host.access:
        return None
    try:
        tried = subprocess.run(
            [*host.access, "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return f"it does not answer within {PROBE_TIMEOUT_S:.0f} s"
    except OSError as error:
        return f"{host.access[0]} cannot be started: {error.strerror}"
    if tried.returncode == 0:
        return None
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    return f"it cannot be entered ({said[-1] if said else f'exit status {tried.returncode}'})"
