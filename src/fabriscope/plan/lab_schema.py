"""What a plan may say of an emulated switch."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from fabriscope.model.errors import shown
from fabriscope.model.foreign import is_digits
from fabriscope.model.switch_queues import DSCPS, MOST_ALPHA, PRIORITIES
from fabriscope.plan.names import Label
from fabriscope.plan.section import Section
from fabriscope.plan.values import MAX_OPTION, DurationNs, HostList, RateBitsPerS, Seed, Share, SizeBytes, as_list


def _number(value: Any, limit: int, what: str) -> int:
    text = str(value).strip() if not isinstance(value, bool) else ""
    if not (is_digits(text) and int(text) < limit):
        raise ValueError(f"{shown(value)} is no {what} from 0 to {limit - 1}")
    return int(text)


def _priorities(value: Any) -> str:
    """Return `3/4` of a priority, of a list of them, or of such a text; nothing of `none`."""
    if isinstance(value, str) and re.fullmatch(r"[0-7](?:[-, ]+[0-7])+", value):
        raise ValueError(f"{shown(value)} is no list of priorities: write [{', '.join(re.findall('[0-7]', value))}]")
    items = value.split("/") if isinstance(value, str) else as_list(value)
    if items == ["none"]:
        return ""
    return "/".join(str(one) for one in sorted({_number(item, PRIORITIES, "priority") for item in items}))


def _dscp_map(value: Any) -> str:
    """Return `26:3/48:6` of a mapping, or of such a text."""
    pairs = [part.partition(":")[::2] for part in value.split("/")] if isinstance(value, str) else None
    if pairs is None and not isinstance(value, dict):
        raise ValueError(f"{shown(value)} is no mapping of a DSCP to its priority, as {{26: 3}}")
    items = pairs or value.items()
    read = {_number(one, DSCPS, "DSCP"): _number(other, PRIORITIES, "priority") for one, other in items}
    return "/".join(f"{one}:{other}" for one, other in sorted(read.items()))


_PRIORITY = {"type": "integer", "minimum": 0, "maximum": PRIORITIES - 1}
Priorities = Annotated[
    str,
    BeforeValidator(_priorities),
    WithJsonSchema(
        {"anyOf": [_PRIORITY, {"type": "string", "examples": ["3/4"]}, {"type": "array", "items": _PRIORITY}]}
    ),
]
DscpMap = Annotated[
    str,
    BeforeValidator(_dscp_map),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "examples": ["26:3"]}, {"type": "object", "additionalProperties": _PRIORITY}]}
    ),
]


class LabFabricSection(Section):
    """An emulated switch: a preset, and what is to differ from it."""

    preset: str = Field("local", description="ethernet-100, gige, gige-untuned or local")
    rate: RateBitsPerS | None = Field(None, description="line rate of every port; 0: without limit")
    delay: DurationNs | None = Field(None, description="propagation delay from host to host")
    buffer: SizeBytes | None = Field(None, description="output buffer of every port (tail drop); 0: without end")
    rx_coalesce_time: DurationNs | None = Field(None, description="the longest that a received frame waits for company")
    rx_coalesce_frames: Annotated[int, Field(ge=1, le=MAX_OPTION)] | None = Field(
        None, description="waiting frames delivered at once"
    )
    mtu: SizeBytes | None = Field(None, description="largest IP packet")
    on_full: Literal["drop", "pause"] | None = Field(
        None, description="a full output drops what comes, or pauses the senders before (802.3x)"
    )
    loss: Share | None = Field(None, description="chance of each frame to be lost")
    drop_every: Annotated[int, Field(ge=0, le=MAX_OPTION)] | None = Field(
        None, description="one frame of a port in this many is lost"
    )
    reorder: Share | None = Field(None, description="chance of each frame to be held back, so that others overtake it")
    reorder_delay: DurationNs | None = Field(None, description="how long a frame that loses its place waits")
    flap_period: DurationNs | None = Field(None, description="links are down at the end of every such period")
    flap_down: DurationNs | None = Field(None, description="how long the link stays down")
    fault_seed: Seed | None = Field(None, description="of what happens by chance")
    pfc: Priorities | None = Field(None, description="priorities that are paused instead of dropped (802.1Qbb): [3, 4]")
    xoff: SizeBytes | None = Field(None, description="of each port and such a priority: above it a pause begins")
    xon: SizeBytes | None = Field(None, description="and at this it ends; absent: at half of xoff")
    headroom: SizeBytes | None = Field(
        None, description="for what is still on its way then, beyond the buffer; absent: what full frames need"
    )
    shared_buffer: SizeBytes | None = Field(
        None, description="of all queues of the switch together; absent: each has the port's buffer"
    )
    alpha: Annotated[float, Field(gt=0, le=MOST_ALPHA)] | None = Field(
        None, description="a queue may hold alpha times what is free of the shared buffer; 1"
    )
    ecn_min: SizeBytes | None = Field(None, description="frames that find more in their queue may be marked (RFC 3168)")
    ecn_max: SizeBytes | None = Field(None, description="those that find more than this always are")
    ecn_probability: Share | None = Field(None, description="the chance of a mark just below ecn_max; 100%")
    scheduler: Literal["strict", "fair"] | None = Field(
        None, description="the highest priority first, or equally many bytes of each; strict"
    )
    dscp: DscpMap | None = Field(None, description="DSCP to priority: {26: 3}; of others their upper three bits")
    second_switch: HostList | None = Field(None, description="hosts behind a second switch, one cable further")
    broken: dict[Label, HostList] = Field(
        {}, description="faults of `fabriscope lab break` to the hosts that they befall: {mtu: node2}"
    )


def lab_fabric(value: Any) -> Any:
    """Return a preset's name as a section."""
    return {"preset": value} if isinstance(value, str) else value
