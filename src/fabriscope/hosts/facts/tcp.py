"""The settings of TCP in the network namespace of the host."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_IPV4 = "/proc/sys/net/ipv4"
_CORE = "/proc/sys/net/core"
_FLAGS = ("tcp_timestamps", "tcp_sack", "tcp_window_scaling", "tcp_slow_start_after_idle", "tcp_no_metrics_save")
_NUMBERS = ("tcp_ecn", "tcp_mtu_probing", "tcp_autocorking", "tcp_min_tso_segs")
_CORE_BYTES = ("rmem_default", "rmem_max", "wmem_default", "wmem_max")


def _facts(reading: Reading) -> list[Fact]:
    facts = [
        reading.fact("tcp.congestion_control", f"{_IPV4}/tcp_congestion_control"),
        reading.fact("tcp.congestion_control_available", f"{_IPV4}/tcp_available_congestion_control"),
        *_buffers(reading, "receive", f"{_IPV4}/tcp_rmem"),
        *_buffers(reading, "send", f"{_IPV4}/tcp_wmem"),
    ]
    facts += [reading.fact(f"tcp.{name[4:]}", f"{_IPV4}/{name}", lambda flag: flag != "0") for name in _FLAGS]
    facts += [reading.fact(f"tcp.{name[4:]}", f"{_IPV4}/{name}", int) for name in _NUMBERS]
    facts += [reading.fact(f"tcp.core_{name}_bytes", f"{_CORE}/{name}", int) for name in _CORE_BYTES]
    facts += [
        reading.fact("tcp.core_busy_poll_us", f"{_CORE}/busy_poll", int),
        reading.fact("tcp.core_busy_read_us", f"{_CORE}/busy_read", int),
        reading.fact("tcp.core_netdev_max_backlog", f"{_CORE}/netdev_max_backlog", int),
        reading.fact("tcp.core_default_qdisc", f"{_CORE}/default_qdisc"),
    ]
    return facts


def _buffers(reading: Reading, direction: str, path: str) -> list[Fact]:
    """Return least, default and greatest buffer from `4096 131072 6291456`."""
    return [
        reading.fact(f"tcp.{direction}_buffer_bytes_{which}", path, lambda text, i=index: int(text.split()[i]))  # type: ignore[misc]
        for index, which in enumerate(("min", "default", "max"))
    ]


FACTS = Group(
    "tcp",
    _facts,
    globs=(
        f"{_IPV4}/tcp_*congestion_control",
        f"{_IPV4}/tcp_rmem",
        f"{_IPV4}/tcp_wmem",
        *(f"{_IPV4}/{name}" for name in (*_FLAGS, *_NUMBERS)),
        *(f"{_CORE}/{name}" for name in (*_CORE_BYTES, "busy_poll", "busy_read", "netdev_max_backlog")),
        f"{_CORE}/default_qdisc",
    ),
)
