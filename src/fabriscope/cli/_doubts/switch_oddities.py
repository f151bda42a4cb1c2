"""What a plan says of the lab's switches that is hardly meant: a rate without a unit, keys without effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model.switch_queues import SwitchQueues

if TYPE_CHECKING:
    from fabriscope.model.lab import SwitchSpec
    from fabriscope.plan import Plan

LEAST_BITS_PER_S = 10**6
"""Networks that are compared today are faster: below it a frame of 1500 bytes takes more than 12 ms."""
HEADER_BYTES = 14
_USUAL = SwitchQueues()


def oddities(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield fabric and sentence of each, once, of switches as built, with settings, and as a tuning makes them."""
    from fabriscope.running.switches import variants

    every: dict[str, list[SwitchSpec]] = {}
    said: dict[tuple[str, str], None] = {}
    for one in variants(plan):
        every.setdefault(one.fabric, []).append(one.spec)
        said |= dict.fromkeys((one.fabric, f"{one.fabric}: {sentence}") for sentence in _of_numbers(one.spec))
    yield from said
    for fabric, specs in every.items():
        # What counts with some of the settings is meant for them: only what never counts is asked about.
        idle = [dict.fromkeys(_without_effect(spec)) for spec in specs]
        yield from ((fabric, f"{fabric}: {sentence}") for sentence in _of_none(idle))


def _of_numbers(switch: SwitchSpec) -> Iterator[str]:
    if 0 < switch.rate_bits_per_s < LEAST_BITS_PER_S:
        rate = f"{switch.rate_bits_per_s} b/s"
        yield f"a line rate of {rate}; a number without a unit is in bits per second, as 100Mb/s has one"
    frame_bytes = switch.mtu_bytes + HEADER_BYTES
    if 0 < (shared := switch.queues.shared_buffer_bytes) < frame_bytes:
        yield f"a shared_buffer of {shared} B holds no whole frame of {frame_bytes} B"
    yield from _beyond_buffer(switch)


def _beyond_buffer(switch: SwitchSpec) -> Iterator[str]:
    """Yield thresholds above a buffer that each queue has to itself."""
    queues, buffer_bytes = switch.queues, switch.buffer_bytes
    if queues.shared_buffer_bytes or not buffer_bytes:
        return
    pauses = bool(queues.pfc) or switch.on_full == "pause"
    if pauses and (queues.xoff_bytes or 0) > buffer_bytes:
        what = f"an xoff of {queues.xoff_bytes} B is more than the buffer of {buffer_bytes} B"
        yield f"{what}, which is of what may be dropped: what is paused is held up to the xoff and headroom of a port"
    least = queues.ecn_min_bytes or 0
    if least > buffer_bytes and not pauses:
        yield f"an ecn_min of {least} B is more than the buffer of {buffer_bytes} B: no frame finds so much in a queue"


def _without_effect(switch: SwitchSpec) -> Iterator[tuple[str, str]]:
    """Yield a key, and why it does nothing."""
    queues = switch.queues
    pauses = bool(queues.pfc) or switch.on_full == "pause"
    for key, value in (("xoff", queues.xoff_bytes), ("xon", queues.xon_bytes), ("headroom", queues.headroom_bytes)):
        if value is not None and not pauses:
            yield key, "nothing is paused without `pfc`, or `on_full: pause`"
    if queues.ecn_probability != _USUAL.ecn_probability and queues.ecn_min_bytes is None:
        yield "ecn_probability", "no frame is marked without `ecn_min` and `ecn_max`"
    if queues.alpha != _USUAL.alpha and not queues.shared_buffer_bytes:
        yield "alpha", "it is of a shared buffer, and the switch has none"


def _of_none(idle: list[dict[tuple[str, str], None]]) -> Iterator[str]:
    """Yield what has no effect in any switch that has it; the last one has all settings of its fabric."""
    last = idle[-1]
    for key, why in last:
        if all((key, why) in one for one in idle[1:]):
            yield f"{key} does nothing: {why}"
