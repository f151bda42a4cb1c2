"""The switches of a plan's lab: as they are built, and as settings and a tuning make them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabriscope.knobs import readers
from fabriscope.knobs.switch_after import after
from fabriscope.model.errors import PlanError
from fabriscope.model.lab import LabSpec, SwitchSpec
from fabriscope.model.switch_queues import SwitchQueues
from fabriscope.model.switch_settings import SWITCH_SETTINGS
from fabriscope.plan import Plan, set_values, tuned_fabric, tuned_values
from fabriscope.plan.lab_schema import LabFabricSection

_MOST_TRIED = 2000
"""Of all that a tuning may make of a switch, how many are looked at."""


@dataclass(frozen=True)
class Variant:
    """A fabric's switch with settings."""

    fabric: str
    spec: SwitchSpec
    settings: Mapping[str, str]
    """Those of switches that make it, as hosts say them; nothing for the switch as it is built."""
    tuned: frozenset[str] = frozenset()
    """Those of them that a tuning tries."""


def variants(plan: Plan) -> Iterator[Variant]:
    """Yield each fabric's switch of the lab as it is built, with the fabric's settings, and as a tuning makes it."""
    for name, section in plan.section.fabrics.items():
        if section.lab is None:
            continue
        built, given = switch_spec(section.lab), _of_switches(set_values(section, readers()))
        yield Variant(name, built, {})
        if given:
            yield Variant(name, after(built, given), given)
        tune = plan.section.tune
        if tune is None or tuned_fabric(plan.section) != name:
            continue
        tried = {knob: values for knob, values in tuned_values(tune, readers()).items() if knob in SWITCH_SETTINGS}
        for values in itertools.islice(itertools.product(*tried.values()), _MOST_TRIED if tried else 0):
            chosen = given | dict(zip(tried, values, strict=True))
            yield Variant(name, after(built, chosen), chosen, frozenset(tried))


def check_settings(plan: Plan) -> None:
    """Raise PlanError where settings or a tuning make a switch that cannot be; as it is built it is not looked at."""
    from fabriscope.lab import limits

    for one in variants(plan):
        if not one.settings:
            continue
        for problem in limits.problems(LabSpec(plan.hosts, {one.fabric: one.spec})):
            setting = _guilty(one.settings, problem.key)
            is_tuned = setting in one.tuned
            place = ("tune", "knobs", setting) if is_tuned else ("fabrics", one.fabric, "settings", setting)
            what = f"with {setting}: {one.settings[setting]} {problem.what}"
            raise PlanError(what, where=plan.where(*place), fix=problem.fix)


def _of_switches(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if name in SWITCH_SETTINGS}


def _guilty(settings: Mapping[str, str], key: str) -> str:
    """Return the setting that a problem with a key of a plan's `lab:` is about, or else the last one."""
    return next((name for name in settings if key in SWITCH_SETTINGS[name].keys), list(settings)[-1])


def switch_spec(section: LabFabricSection) -> SwitchSpec:
    """Return the preset with the plan's changes."""
    from fabriscope.lab.presets import PRESETS

    changes: dict[str, Any] = {
        "rate_bits_per_s": section.rate,
        "delay_ns": section.delay,
        "buffer_bytes": section.buffer,
        "rx_coalesce_ns": section.rx_coalesce_time,
        "rx_coalesce_frames": section.rx_coalesce_frames,
        "mtu_bytes": section.mtu,
        "on_full": section.on_full,
        "loss_share": section.loss,
        "drop_every": section.drop_every,
        "reorder_share": section.reorder,
        "reorder_delay_ns": section.reorder_delay,
        "flap_period_ns": section.flap_period,
        "flap_down_ns": section.flap_down,
        "fault_seed": section.fault_seed,
    }
    return dataclasses.replace(
        PRESETS[section.preset],
        queues=_queues(section),
        **{key: value for key, value in changes.items() if value is not None},
    )


def _queues(section: LabFabricSection) -> SwitchQueues:
    """Return what the switch does by priority."""
    asked: dict[str, Any] = {
        "pfc": section.pfc,
        "xoff_bytes": section.xoff,
        "xon_bytes": section.xon,
        "headroom_bytes": section.headroom,
        "shared_buffer_bytes": section.shared_buffer,
        "alpha": section.alpha,
        "ecn_min_bytes": section.ecn_min,
        "ecn_max_bytes": section.ecn_max,
        "ecn_probability": section.ecn_probability,
        "scheduler": section.scheduler,
        "dscp": section.dscp,
        "second_switch": section.second_switch,
    }
    return SwitchQueues(**{key: value for key, value in asked.items() if value is not None})
