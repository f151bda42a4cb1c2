"""Whether anything can still be run on a host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from fabriscope.hosts import access
from fabriscope.model.errors import FabriscopeError
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
        tried = access.run(host, ("true",), PROBE_TIMEOUT_S)
    except FabriscopeError as error:
        return error.what
    return None if tried.exit_status == 0 else f"it cannot be entered ({tried.last_words})"
