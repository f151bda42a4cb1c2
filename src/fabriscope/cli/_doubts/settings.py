"""Settings of a plan that its hosts cannot have, and values that are hardly meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabriscope.model.counting import listed

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.plan import Plan
    from fabriscope.plan.yaml_places import Place

POLICIES = Path("/sys/devices/system/cpu/cpufreq")
CONGESTION_CONTROLS = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno", "scalable",
    "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
"""Those of the kernel's own sources."""
_INSTEAD = {
    **dict.fromkeys(("rx_coalesce_time", "rx_coalesce_frames", "rx_coalesce_adaptive"), "`switch_coalesce: 80us/15`"),
    **dict.fromkeys(("tx_coalesce_time", "tx_coalesce_frames"), "`switch_coalesce: 80us/15`"),
    **dict.fromkeys(("rx_pause", "tx_pause"), "`switch_on_full: pause`"),
    **dict.fromkeys(("rx_ring", "tx_ring"), "`switch_buffer: 64KiB`"),
    "pfc_priorities": "`pfc: 3` in its `lab:`",
    "lro": "`gro: on`",
}
"""What the lab has of what a card has: its switch is the card of its hosts, too."""


def doubts(plan: Plan) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    yield from (*_of_bare_times(plan), *_of_cards(plan), *_of_governors(plan), *_of_rdma(plan))
    yield from _of_congestion_controls(plan)


def _of_rdma(plan: Plan) -> Iterator[Doubt]:
    """Yield classes of RoCE where nothing speaks it."""
    if any(fabric.rdma for fabric in plan.section.fabrics.values()):
        return
    for place, settings, _ in _given(plan):
        if "roce_traffic_class" in settings:
            what = "roce_traffic_class does nothing: it is of what RDMA sends, and no fabric has `rdma`"
            yield (*place, "roce_traffic_class"), f"{what}; leave it out"


def _of_congestion_controls(plan: Plan) -> Iterator[Doubt]:
    """Yield what no kernel has, where the hosts are not this machine: of that its own kernel is asked."""
    from fabriscope.cli._doubts import machine

    for place, settings, _ in _given(plan) if not machine.is_this(plan) else ():
        for name in _values(settings, "congestion_control"):
            near = difflib.get_close_matches(name, CONGESTION_CONTROLS, n=1)
            if name not in CONGESTION_CONTROLS:
                meant = f"did you mean {near[0]!r}? " if near else ""
                what = f"congestion_control: Linux has no {name!r} of its own"
                yield (*place, "congestion_control"), f"{what}; {meant}it has {listed(list(CONGESTION_CONTROLS))}"


def _given(plan: Plan) -> Iterator[tuple[Place, Mapping[str, object], bool]]:
    """Yield the places where a plan names settings, the settings, and whether interfaces there are of a lab alone."""
    section = plan.section
    of_lab = {name for name, one in section.fabrics.items() if one.lab is not None}
    for name, fabric in section.fabrics.items():
        yield ("fabrics", name, "settings"), fabric.settings, name in of_lab
    for at, stack in enumerate(section.mpi):
        yield ("mpi", at, "settings"), stack.settings, bool(of_lab) and set(stack.fabrics or section.fabrics) <= of_lab
    if section.tune is not None:
        name = section.tune.fabric or next(iter(section.fabrics), "")
        yield ("tune", "knobs"), section.tune.knobs, name in of_lab


def _values(settings: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return the values of a setting, of which a tuning has several."""
    value = settings.get(name, ())
    return tuple(map(str, value if isinstance(value, tuple) else (value,)))


def _of_bare_times(plan: Plan) -> Iterator[Doubt]:
    """Yield settings in microseconds without a unit: in `lab:` the same number would be of seconds."""
    from fabriscope.knobs import knobs
    from fabriscope.knobs.knob import microseconds

    times = [name for name, knob in knobs().items() if knob.value is microseconds]
    for place, settings, _ in _given(plan):
        for name in (name for name in times if name in settings):
            bare = [value for value in _values(settings, name) if value.isdecimal()]
            if bare and bare[-1] != "0":
                what = f"{name}: a number without a unit is in microseconds here, and in `lab:` in seconds"
                yield (*place, name), f"{what}; write {bare[-1]}us"


def _of_cards(plan: Plan) -> Iterator[Doubt]:
    """Yield settings of a card that interfaces of the lab's hosts lack; a guest's is a card, as its kernel sees it."""
    from fabriscope.knobs import knobs

    if plan.guests:
        return
    for place, settings, is_of_lab in _given(plan):
        for name in (name for name in settings if is_of_lab and name in knobs() and knobs()[name].needs_card):
            what = f"{name}: it is of a real card, and hosts of a lab have none (veth): its launches would fail"
            instead = f"write {_INSTEAD[name]}, which a lab has, or " if name in _INSTEAD else ""
            yield (*place, name), f"{what}; {instead}leave it out"


def _of_governors(plan: Plan) -> Iterator[Doubt]:
    """Yield governors that this machine's processors do not have, where all hosts are on it."""
    from fabriscope.cli._doubts import machine

    if not machine.is_this(plan):
        return
    known = [file.read_text().split() for file in sorted(POLICIES.glob("policy*/scaling_available_governors"))]
    for place, settings, _ in _given(plan):
        for name in _values(settings, "governor"):
            what = None
            if not known:
                what = "this machine's processors have none that could be set"
            elif absent := [one for one in known if name not in one]:
                what = f"this machine's processors have {listed(absent[0])}, and not {name!r}"
            if what is not None:
                yield (*place, "governor"), f"governor: {what}: its launches would fail; leave it out"
                break
