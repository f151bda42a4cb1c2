"""Makes all checks of a scene."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from fabriscope.audit.check import Check, merged
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import SEVERITIES, Finding, Unseen, Verdict
from fabriscope.model.errors import FabriscopeError, shown
from fabriscope.registry import discover


def checks() -> dict[str, Check]:
    """Return every check by its name."""
    return dict(sorted(discover("audit.checks", "CHECK").plugins.items()))


def audit(scene: Scene, only: Collection[str] = (), skip: Collection[str] = ()) -> Verdict:
    """Return what the checks say of a scene; raises FabriscopeError for names that no check has, or none left."""
    known = checks()
    for name in (*only, *skip):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            fix = f"{meant}`fabriscope audit --list` names all {len(known)}"
            raise FabriscopeError(f"there is no check {shown(name)}", fix=fix)
    chosen = {name: check for name, check in known.items() if (not only or name in only) and name not in skip}
    if not chosen:
        raise FabriscopeError("no check is left", fix="name a check with --only that --skip does not leave out")
    findings: list[Finding] = []
    unseen: list[Unseen] = []
    passed, idle = [], []
    for name, check in chosen.items():
        results = check.results(scene)
        found = [one for one in results if isinstance(one, Finding)]
        unknown = [one for one in results if isinstance(one, Unseen)]
        findings += merged(found)
        unseen += _together(unknown)
        if not results:
            idle.append(name)
        elif not found and not unknown:
            passed.append(name)
    findings.sort(key=lambda one: (SEVERITIES.index(one.severity), one.path, one.check))
    return Verdict(tuple(findings), tuple(unseen), tuple(passed), tuple(idle))


def _together(unknown: list[Unseen]) -> list[Unseen]:
    """Return what is unseen for one reason as one."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in unknown:
        groups.setdefault((one.check, one.reason), []).extend(one.hosts)
    return [Unseen(check, tuple(dict.fromkeys(hosts)), reason) for (check, reason), hosts in groups.items()]
