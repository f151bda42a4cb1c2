"""May a run go on? Only as what it was: whole, ours, and of the same plan, fabrics, programs and machines."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import stat
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabriscope import engine_binary, store
from fabriscope import plan as plans
from fabriscope.launch.site import Site
from fabriscope.model import units
from fabriscope.model.errors import FabriscopeError, StoreError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact
from fabriscope.model.record import LaunchRecord
from fabriscope.running import osu_builds
from fabriscope.store import checks
from fabriscope.store.differences import Difference, differences, plan_differences
from fabriscope.store.files import COUNTERS_NAME, LOCK_NAME, RAW_NAME, SAMPLES_NAME

DEFINING_FACTS = (
    "cpu.model", "cpu.socket_count", "cpu.core_count", "cpu.thread_count", "numa.node_count", "kernel.release",
    "virtualisation.hypervisor", "guest.cpu_share", "cpu.allowed", "cpu.online", "cpu.isolated", "cpu.smt",
    "cpu.governor", "cpu.turbo_off", "cpu.microcode",
)  # fmt: skip
"""Facts of a host that make it another machine when they change, and with them every setting of TCP; all others (load,
clocks, memory that is free) may change."""
_TCP, _NO_SETTING = "tcp.", "tcp.congestion_control_available"
CHANGING_INTERFACE_FACTS = ("state", "mac", "ipv4", "numa_node")
"""Of the interfaces of the run's fabrics, and of loopback, every fact defines but these."""
_LOOPBACK = "lo"
OLD_DEFAULTS = {"turns": "off", "bind": "default"}
"""Of a plan's keys, in runs that were begun when these keys did not exist."""
_FOLDERS = (SAMPLES_NAME, RAW_NAME, COUNTERS_NAME, "errors")
"""Of a run, which going on writes into."""
MOST_TOLD = 6
"""Differences that one sentence names."""
_RESTORE = "restore it from a copy, or start a new run; `fabriscope verify` lists all that was changed"
_PUT_BACK = "put that back, or start a new run"


def stored_plan(folder: store.RunFolder, vocabulary: plans.Vocabulary) -> plans.Plan:
    """Return the plan of a run folder, spelled as any version let it be that began a run; raises FabriscopeError.

    What it leaves unsaid is what it was then. What it means is compared with what the manifest says, so another meaning
    than that one is never taken.
    """
    with units.old_spellings():
        return _as_begun(plans.load(folder.path / store.PLAN_NAME, vocabulary), folder.manifest.document.get("plan"))


def _as_begun(plan: plans.Plan, kept: object) -> plans.Plan:
    """Return a plan with the defaults that it was begun with, of the keys whose default is another one now."""
    begun = kept if isinstance(kept, dict) else {}
    said = plan.section.model_fields_set
    unsaid = {name: begun.get(name, old) for name, old in OLD_DEFAULTS.items() if name not in said}
    section = plan.section.model_copy(update=unsaid)
    section.model_fields_set.difference_update(unsaid)
    return dataclasses.replace(plan, section=section)


def check_whole(folder: store.RunFolder, load_plan: Callable[[], plans.Plan]) -> None:
    """Raise StoreError where the manifest, the plan, the journal or the seal is not as it was written, or not ours.

    Of a plan that was changed it says which values are others.
    """
    _check_owner(folder.path)
    findings = checks.check_folder(folder.path, with_launches=False).findings
    if not findings:
        _refuse_doubts(folder)
        return
    if any(finding.file == store.PLAN_NAME for finding in findings):
        found: Sequence[Difference] = ()
        with contextlib.suppress(FabriscopeError):  # of a plan that says nothing what the seal says is enough
            found = of_plan(folder, load_plan())
        if found:
            raise _other(folder.path / store.PLAN_NAME, found)
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    raise StoreError(f"the run cannot go on: {findings[0].sentence()}{more}", where=str(folder.path), fix=_RESTORE)


def _refuse_doubts(folder: store.RunFolder) -> None:
    """Raise StoreError where a line has its digest and still cannot be of this run."""
    doubts = folder.doubts()
    if doubts:
        more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
        raise StoreError(f"the run cannot go on: {doubts[0]}{more}", where=str(folder.path), fix=_RESTORE)


def _check_owner(path: Path) -> None:
    """Raise StoreError for a folder of somebody else's: what its plan names would be executed as us."""
    names = (store.PLAN_NAME, "manifest.json", "journal.jsonl", "seal.json", LOCK_NAME, *_FOLDERS)
    for one in (path, *(path / name for name in names)):
        try:
            about = one.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"it cannot be read: {error.strerror}", where=str(one)) from error
        if about.st_uid not in (os.geteuid(), 0):
            what = "it belongs to another user, and going on with it would run what its plan names as you"
            raise StoreError(what, where=str(one), fix="start a run of your own with a copy of the plan")
        if about.st_mode & stat.S_IWOTH and not stat.S_ISLNK(about.st_mode):
            what = "everybody may write to it, and going on with it would run what its plan names as you"
            raise StoreError(what, where=str(one), fix="see to it that it is as it should be, then `chmod -R o-w` it")


def damaged_launches(folder: store.RunFolder, kept: Mapping[int, LaunchRecord]) -> dict[int, str]:
    """Return which of the launches that are kept have files that are not as they were written, and what is wrong."""
    found = {launch_id: folder.damage(record) for launch_id, record in kept.items()}
    return {launch_id: wrong[0] for launch_id, wrong in found.items() if wrong}


def refuse_damaged(path: Path, damaged: Mapping[int, str]) -> None:
    """Raise StoreError where there are any."""
    if not damaged:
        return
    numbers = ", ".join(map(str, list(damaged)[:MOST_TOLD])) + (" ..." if len(damaged) > MOST_TOLD else "")
    raise StoreError(
        f"the run cannot go on: {next(iter(damaged.values()))} (launch{'es' if len(damaged) > 1 else ''} {numbers})",
        where=str(path),
        fix="restore the folder from a copy, or go on with --redo-damaged, which makes such launches again",
    )


def of_plan(folder: store.RunFolder, plan: plans.Plan) -> list[Difference]:
    """Return in what the plan differs from the one that the manifest has."""
    kept = folder.manifest.document
    now, said = (plan.section.model_dump(mode="json", exclude_unset=is_said) for is_said in (False, True))
    found = plan_differences(kept.get("plan") or {}, now, said) if kept.get("plan") else []
    return found + differences(
        {name: kept[name] for name in ("paper",) if kept.get(name) is not None}, {"paper": plan.paper}
    )


def refuse_other_plan(folder: store.RunFolder, plan: plans.Plan) -> None:
    """Raise StoreError where the plan does not mean what the run was begun with."""
    found = of_plan(folder, plan)
    if found:
        raise _other(folder.path / store.PLAN_NAME, found)


def refuse_other_site(folder: store.RunFolder, now: Mapping[str, Any], facts: Mapping[str, Iterable[Fact]]) -> None:
    """Raise StoreError where fabrics, the lab, MPI libraries, programs or hosts are not what the run was begun with.

    `now` has those parts as the manifest of a new run would have them.
    """
    kept = folder.manifest
    parts = {name: part for name in ("fabrics", "lab", "mpi", "versions") if (part := kept.document.get(name))}
    found = differences(parts, now)
    for name, about in kept.hosts.items():
        found += _of_host(name, about.facts, facts.get(name, ()), now["fabrics"])
    if found:
        raise _other(folder.path, found)


def _of_host(
    name: str, kept: Iterable[Fact], now: Iterable[Fact], fabrics: Mapping[str, Fabric]
) -> Iterable[Difference]:
    interfaces = {_LOOPBACK, *(one.interfaces[name] for one in fabrics.values() if name in one.interfaces)}
    known = {fact.name: fact.value for fact in now}
    for fact in kept:
        was, value = fact.value, known.get(fact.name)
        if _defines(fact.name, interfaces) and None not in (was, value) and was != value:
            yield Difference(f"{fact.name} of host {name}", str(was), str(value))


def _defines(fact: str, interfaces: Container[str]) -> bool:
    """Return whether what is measured is something else when this fact of a host changes."""
    group, _, name = fact.partition(".")
    if group == "interface":
        interface, _, what = name.rpartition(".")
        return interface in interfaces and what not in CHANGING_INTERFACE_FACTS
    return fact in DEFINING_FACTS or (fact.startswith(_TCP) and fact != _NO_SETTING)


def versions(site: Site, python: str) -> dict[str, Any]:
    """Return what a manifest says of the programs that measure: an engine with another digest is another instrument."""
    npb = {"npb": {name: engine_binary.build_npb(site.mpi[name]).parent.name for name in site.npb}} if site.npb else {}
    profilers = {name: engine_binary.build_profiler(site.mpi[name]).parent.name for name in site.profilers}
    return {
        **npb,
        **({"profilers": profilers} if profilers else {}),
        **({"osu": osu_builds.digests(site.osu)} if site.osu else {}),
        "python": python,
        "engine": site.engine,
        "engine_sha256": _sha256(engine_binary.find_engine()),
        "mpi_engines": {name: engine_binary.build_mpi_engine(stack).parent.name for name, stack in site.mpi.items()},
        "programs": {name: digest for name, path in site.programs.items() if (digest := _sha256(Path(path)))},
    }


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # a program that other hosts have, and this one has not
        return None


def _other(where: Path, found: Sequence[Difference]) -> StoreError:
    told = "; ".join(one.sentence() for one in found[:MOST_TOLD])
    more = f"; and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
    return StoreError(
        f"the run was begun with something else, and its launches cannot stand beside new ones: {told}{more}",
        where=str(where),
        fix=_PUT_BACK,
    )
