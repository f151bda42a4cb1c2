"""What a person writes of labs, read; and what a lab is, written for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabriscope.model.counting import counted

if TYPE_CHECKING:
    from fabriscope.model.lab import SwitchSpec


_RATES = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
NO_AMOUNT = "none"
"""What takes a threshold of `lab set` back."""


def fabrics_of(texts: tuple[str, ...]) -> dict[str, SwitchSpec]:
    """Return the fabrics that `--fabric` asks for; raises LabError."""
    from fabriscope.model.errors import LabError

    fabrics: dict[str, SwitchSpec] = {}
    for text in texts:
        head, *changes = text.split(",")
        name, _, preset = head.partition("=")
        if name in fabrics:
            raise LabError(f"two fabrics have the name {name!r}", fix="write --fabric OTHER=PRESET")
        fabrics[name] = _switch(f"--fabric {text}", preset or name, changes)
    return fabrics


def _switch(asked: str, preset: str, changes: list[str]) -> SwitchSpec:
    """Return a preset with changes, by the words and the checks of a plan; raises LabError that says where it stands.

    `asked` is what was written, of which the error is.
    """
    from pydantic import ValidationError

    from fabriscope.lab.presets import PRESETS
    from fabriscope.model.errors import LabError
    from fabriscope.plan import mistakes
    from fabriscope.plan.lab_schema import LabFabricSection
    from fabriscope.running import site

    if preset not in PRESETS:
        raise LabError(f"there is no preset {preset!r}", where=asked, fix=f"presets: {', '.join(PRESETS)}")
    pairs = dict(change.partition("=")[::2] for change in changes)
    if len(pairs) < len(changes) or "preset" in pairs:
        raise LabError("a key stands twice, or names the preset again", where=asked, fix="write NAME=PRESET,KEY=VALUE")
    try:
        return site.switch_spec(LabFabricSection.model_validate({**pairs, "preset": preset}))
    except ValidationError as error:
        what, fix = mistakes.described(error.errors()[0])
        keys = ", ".join(key for key in LabFabricSection.model_fields if key != "preset")
        raise LabError(what, where=asked, fix=fix or f"keys: {keys}") from error


def fault_values(fabric: str, wanted: dict[str, str]) -> dict[str, Any]:
    """Return what was asked for, by the fields of SwitchSpec, by the words and the checks of a plan."""
    from dataclasses import asdict

    fields = {"loss": "loss_share", "reorder": "reorder_share"}
    fields |= {key: f"{key}_ns" for key in ("reorder_delay", "flap_period", "flap_down")}
    fields |= {"rate": "rate_bits_per_s", "delay": "delay_ns", "buffer": "buffer_bytes"}
    fields |= {"rx_coalesce_time": "rx_coalesce_ns"}
    fields |= {key: f"{key}_bytes" for key in ("xoff", "xon", "headroom", "shared_buffer", "ecn_min", "ecn_max")}
    asked = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in wanted.items())
    said = [f"{key}={value}" for key, value in wanted.items() if value != NO_AMOUNT or key == "pfc"]
    spec = asdict(_switch(f"{fabric} {asked}", "local", said))
    changed = spec | spec.pop("queues")
    return {name: changed[name] for name in (fields.get(key, key) for key in wanted)}


def shares_of(texts: tuple[str, ...]) -> dict[str, float]:
    """Return host to its share of a processor, as `--cpu-share g2=50%` asks for it; raises LabError."""
    from fabriscope.model.errors import LabError
    from fabriscope.model.units import parse_share

    shares = {}
    for text in texts:
        host, _, share = text.partition("=")
        try:
            shares[host] = parse_share(share)
        except ValueError as error:
            raise LabError(str(error), where=f"--cpu-share {text}", fix="write --cpu-share HOST=50%") from error
    return shares


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Return a number in the largest of its units that it has one of: `1 Gb/s`, `5 ms`."""
    factor, unit = next((one for one in units if value >= one[0]), units[-1])
    return f"{value / factor:g} {unit}"


def numbers_of(switch: dict[str, Any]) -> str:
    """Return a switch's numbers for people."""
    from fabriscope.analysis.words import size_text
    from fabriscope.model.lab import SwitchSpec, fault_words
    from fabriscope.model.switch_queues import SwitchQueues

    if not SwitchSpec(**{**switch, "queues": SwitchQueues(**switch.get("queues", {}))}).is_shaped:
        return f"unshaped, MTU {switch['mtu_bytes']} B"
    rate = _scaled(switch["rate_bits_per_s"], _RATES) if switch["rate_bits_per_s"] else "any rate"
    buffer = size_text(switch["buffer_bytes"]) if switch["buffer_bytes"] else "unlimited"
    delay = f"delay {_scaled(switch['delay_ns'], _TIMES)}" if switch["delay_ns"] else "no delay"
    text = f"{rate}, {delay}, buffer {buffer}, MTU {switch['mtu_bytes']} B"
    if switch["rx_coalesce_ns"]:
        after = _scaled(switch["rx_coalesce_ns"], _TIMES)
        text += f", hands over after {after} or {counted(switch['rx_coalesce_frames'], 'frame')}"
    return ", ".join([text, *fault_words(switch)])
