"""What a switch does by priority, in the words of the switch; and what of it cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.switch_queues import SwitchQueues

_WORDS = {
    "pfc": "pfc",
    "xoff_bytes": "xoff",
    "xon_bytes": "xon",
    "headroom_bytes": "headroom",
    "shared_buffer_bytes": "shared",
    "alpha": "alpha_ppm",
    "ecn_min_bytes": "ecn_min",
    "ecn_max_bytes": "ecn_max",
    "ecn_probability": "ecn_ppb",
    "scheduler": "turns",
    "dscp": "dscp",
}
"""Field of SwitchQueues to the switch's key."""
_SCALES = {"alpha": 10**6, "ecn_probability": 10**9}
FIELDS = tuple(_WORDS)
_MOST_BYTES = 10**15
"""What the switch takes (switch/src/words.cc)."""


def switch_words(values: Mapping[str, Any]) -> str:
    """Return values by the fields of SwitchQueues as the switch reads them: `pfc=3/4,xoff=20000`; empty without any."""
    return ",".join(f"{_WORDS[name]}={_word(name, value)}" for name, value in values.items() if name in _WORDS)


def _word(name: str, value: Any) -> str:
    if value is None or value == "":
        return "none"
    return str(round(value * _SCALES[name])) if name in _SCALES else str(value)


def behind_second(queues: SwitchQueues) -> tuple[str, ...]:
    """Return the hosts behind the second switch; raises HostError for what is no host list."""
    return unfolded(queues.second_switch) if queues.second_switch else ()


def problems(switch: SwitchSpec, hosts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the plan's key, what is wrong, and the fix."""
    queues = switch.queues
    if not queues.has_queues:
        return
    if not switch.rate_bits_per_s:
        yield "rate", "a switch with priorities needs a rate", "add `rate:`, or take a preset that has one"
    yield from _of_pauses(switch)
    yield from _of_marks(queues)
    if queues.alpha <= 0:
        yield "alpha", "with an alpha of 0 no frame would be taken", "choose for example 1"
    for key, value in (
        ("xoff", queues.xoff_bytes), ("xon", queues.xon_bytes), ("headroom", queues.headroom_bytes),
        ("shared_buffer", queues.shared_buffer_bytes), ("ecn_min", queues.ecn_min_bytes),
        ("ecn_max", queues.ecn_max_bytes),
    ):  # fmt: skip
        if (value or 0) > _MOST_BYTES:
            yield key, f"{key} is more than 10^15 bytes, the most that the switch takes", "choose less"
    try:
        strangers = [host for host in behind_second(queues) if host not in hosts]
    except HostError as error:
        yield "second_switch", error.what, error.fix or "write it like node[3-4]"
        return
    if strangers:
        yield "second_switch", f"{', '.join(strangers[:5])} behind the second switch is no host", "name the lab's hosts"
    if queues.second_switch and len(behind_second(queues)) >= len(hosts):
        yield "second_switch", "all hosts are behind the second switch", "leave some at the first one"


def _of_pauses(switch: SwitchSpec) -> Iterator[tuple[str, str, str]]:
    queues, pauses_links = switch.queues, switch.on_full == "pause"
    if queues.pfc and pauses_links:
        yield "pfc", "on_full: pause stops whole links and pfc priorities", "choose one of them"
    xoff = queues.xoff_bytes
    if (queues.pfc or pauses_links) and xoff is None and not (queues.shared_buffer_bytes or switch.buffer_bytes):
        yield "xoff", "nothing says when a pause begins", "add `xoff:`, `shared_buffer:` or `buffer:`"
    if xoff is not None and queues.xon_bytes is not None and queues.xon_bytes > xoff:
        yield "xon", f"xon ({queues.xon_bytes} B) is more than xoff ({xoff} B)", "choose less than xoff"
    if xoff is None and not queues.shared_buffer_bytes and (queues.xon_bytes or 0) > switch.buffer_bytes // 2:
        what = f"xon ({queues.xon_bytes} B) is more than half of the buffer, at which a pause begins"
        yield "xon", what, "choose less, or name xoff"
    if xoff is not None and 0 < queues.shared_buffer_bytes < xoff:
        yield "xoff", f"xoff ({xoff} B) is more than the shared buffer", "choose less"


def _of_marks(queues: SwitchQueues) -> Iterator[tuple[str, str, str]]:
    least, most = queues.ecn_min_bytes, queues.ecn_max_bytes
    if (least is None) != (most is None):
        yield "ecn_min", "ecn_min and ecn_max belong together", "give both; alike they are a step"
    elif least is not None and most is not None and least > most:
        yield "ecn_min", f"ecn_min ({least} B) is more than ecn_max ({most} B)", "choose less"
