"""The plan that a few words ask for: which fabrics, on which hosts, through what, for how long."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from fabriscope.cli import _usage
from fabriscope.model.errors import HostError
from fabriscope.model.foreign import is_digits
from fabriscope.model.host_lists import unfolded
from fabriscope.model.units import parse_duration_ns

_SIZES = [1, 64, "1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB"]
_ALLOCATION = "@allocation"
_UNNAMED = re.compile(r"[^A-Za-z0-9._-]+")
_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS = (
    click.argument("fabrics", metavar="[FABRIC]...", nargs=-1),
    click.option("--hosts", metavar="HOSTS", help="Two or more, as in node[1-4]  [default: those of the batch job]."),
    click.option("--lab", is_flag=True, help="Build the FABRICs here: each is one of `fabriscope lab presets`."),
    click.option("--mpi", "mpis", multiple=True, metavar="NAME", help="Also by this MPI library; may be repeated."),
    click.option("--rdma", multiple=True, metavar="FABRIC=roce|ib", help="Also by verbs over this FABRIC."),
    click.option("--for", "budget", default="1min", show_default=True, metavar="TIME", help="Measuring time, at most."),
    click.option("--launches", default="5", show_default=True, metavar="N", help="Of each entry: the replicates."),
)


def options(command: _F) -> _F:
    """Give a command the words that make a plan."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def text(
    name: str,
    fabrics: tuple[str, ...],
    hosts: str | None,
    lab: bool,
    mpis: tuple[str, ...],
    rdma: tuple[str, ...],
    budget: str,
    launches: str,
) -> str:
    """Return the plan as YAML; raises UsageError for words that make none."""
    import yaml

    _check_time(budget)
    sections = _fabrics(fabrics, is_lab=lab)
    layers = ["tcp", *(["mpi"] if mpis else [])]
    for one in rdma:
        of, equals, kind = one.partition("=")
        if not equals or of not in sections or lab:
            what = "it is of hosts' own devices, not of a lab" if lab else "one of the FABRICs, as in ib0=ib"
            raise click.UsageError(f"--rdma {one}: {what}")
        sections[of]["rdma"] = kind
    plan: dict[str, Any] = {
        "name": _UNNAMED.sub("-", name).strip("-.") or "plan",
        "hosts": _hosts(hosts, lab, bool(sections)),
    }
    if sections:
        plan["fabrics"] = sections
        plan["layers"] = [*layers, *(["verbs"] if rdma else [])]
    else:
        plan["placements"] = ["intra"]
        plan["layers"] = [*layers, "shm"]
    if mpis:
        plan["mpi"] = list(mpis)
    plan["benchmarks"] = {
        "ping_pong": {"sizes": list(_SIZES)},
        "bandwidth": {"sizes": ["64KiB", "1MiB"], "window": 16},
    }
    plan |= {"launches": int(launches) if is_digits(launches) else launches, "budget": budget}
    return yaml.safe_dump(plan, sort_keys=False, default_flow_style=None, width=120)


def _check_time(budget: str) -> None:
    with _usage.checked("--for"):
        if not parse_duration_ns(budget):
            raise ValueError(f"{budget} is no time to measure in: write 30s or 5min")


def _fabrics(words: tuple[str, ...], *, is_lab: bool) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for word in words:
        label, equals, place = word.partition("=")
        if label in found:
            raise click.UsageError(f"{label} is named twice")
        found[label] = {"lab" if is_lab else "interface": place if equals else label}
    return found


def _hosts(hosts: str | None, is_lab: bool, has_fabrics: bool) -> str:
    if not has_fabrics:
        if hosts is not None or is_lab:
            raise click.UsageError("name the FABRICs that are compared: interfaces of the hosts, or presets with --lab")
        return "localhost"
    if hosts is None and not is_lab:
        from fabriscope.hosts import allocation

        if allocation.find() is None:
            raise click.UsageError("give --hosts, two or more, or --lab to build the FABRICs on this machine")
        return _ALLOCATION
    with contextlib.suppress(HostError):  # the plan's check says it
        if hosts is not None and len(unfolded(hosts)) < 2:
            raise click.UsageError(f"--hosts {hosts}: two hosts or more: FABRICs are compared between hosts")
    return hosts or "node[1-2]"
