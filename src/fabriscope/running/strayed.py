"""What the lab's switches are, and the plan does not say: of each fabric what a setting could put right."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.hosts import access
from fabriscope.knobs import switch
from fabriscope.launch.site import Site
from fabriscope.model.fabric import Fabric
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.switch_settings import SWITCH_SETTINGS
from fabriscope.plan import Plan
from fabriscope.running.switches import switch_spec

SETTINGS = ("switch_rate", "switch_delay", "switch_buffer", "switch_on_full", "switch_loss", "switch_coalesce")
Stray = tuple[str, str, str]
"""Setting, the value that the plan has, and what is so instead, in words."""


def strayed(plan: Plan, site: Site) -> dict[str, list[Stray]]:
    """Return by fabric of the lab what its switch says of itself and the plan does not; raises as reading a host does.

    What a plan sets itself is no stray.
    """
    found = {}
    for name, section in plan.section.fabrics.items():
        if section.lab is not None and name in site.fabrics:
            found[name] = _of_switch(site.fabrics[name], switch_spec(section.lab), site)
    return found


def _of_switch(fabric: Fabric, planned: SwitchSpec, site: Site) -> list[Stray]:
    place = site.switch_of(fabric)
    if place is None:
        return []
    wanted = {name: value for name, value in _values(planned).items() if name not in fabric.knobs}
    every = {
        name: switch.change(SWITCH_SETTINGS[name], place.fabric, place.socket, value) for name, value in wanted.items()
    }
    commands = tuple(dict.fromkeys(one.read_argv for one in every.values()))
    said = access.read(place.host, access.Wanted(commands=commands))
    strays = []
    for name, one in every.items():
        now = one.value_in(said.output(" ".join(one.read_argv))[0])
        if now is not None and now != one.new:
            unit = SWITCH_SETTINGS[name].unit
            what = f"{name} is {switch.told(SWITCH_SETTINGS[name], now)}{unit}, and {wanted[name]}{unit} in the plan"
            strays.append((name, wanted[name], what))
    return strays


def _values(planned: SwitchSpec) -> Mapping[str, str]:
    """Return what a plan says of a switch, as settings have it; a rate without end is no setting."""
    wait_ns, frames = planned.rx_coalesce_ns, planned.rx_coalesce_frames
    found = {
        "switch_delay": str(planned.delay_ns),
        "switch_buffer": str(planned.buffer_bytes),
        "switch_on_full": planned.on_full,
        "switch_loss": switch.reader(SWITCH_SETTINGS["switch_loss"])(f"{planned.loss_share:.9f}"),
        "switch_coalesce": f"{wait_ns}/{frames}" if wait_ns else "none",
    }
    return found | ({"switch_rate": str(planned.rate_bits_per_s)} if planned.rate_bits_per_s else {})
