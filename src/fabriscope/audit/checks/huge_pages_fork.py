"""Programs that fork and register huge pages say so to the verbs library."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong

_FORKS = ("RDMAV_FORK_SAFE", "IBV_FORK_SAFE")
_SAFE = "RDMAV_HUGEPAGES_SAFE"


def _judge(place: Place) -> Wrong | None:
    if not place.number("memory.huge_page_count"):
        raise NothingThere
    forking = [name for name in _FORKS if place.text_or(f"environment.{name}", "")]
    if not forking or place.text_or(f"environment.{_SAFE}", ""):
        return None
    seen = [place.witness(f"environment.{forking[0]}", f"echo ${forking[0]}"),
            place.witness("memory.huge_page_count", "sysctl vm.nr_hugepages")]  # fmt: skip
    return Wrong(f"{forking[0]} is set, {_SAFE} is not", f"export {_SAFE}=1", seen)


CHECK = Check(
    "huge-pages-fork",
    "warning",
    "programs that fork and register huge pages say so to the verbs library",
    why="registration of memory in huge pages fails",
    source="openucx/ucx#6985, ofiwg/libfabric#4973",
    look=each(r"environment\.variables", _judge),
)
