"""TCP's buffers let one stream fill the link over a round trip of 50 us."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong

_ROUND_TRIP_S = 50e-6
_FILES = {"receive_buffer": "tcp_rmem", "send_buffer": "tcp_wmem"}


def _judge(place: Place) -> Wrong | None:
    needed = round(place.number("interface.{0}.speed_bits_per_s") / 8 * _ROUND_TRIP_S * 2)
    for name, file in _FILES.items():
        fact = f"tcp.{name}_bytes_max"
        if fact in place.known.values and (size := place.number(fact)) < needed:
            seen = [place.witness(fact, f"sysctl net.ipv4.{file}"),
                    place.witness("interface.{0}.speed_bits_per_s", "ethtool {0}")]  # fmt: skip
            fix = f'sysctl -w net.ipv4.{file}="$(cut -f1,2 /proc/sys/net/ipv4/{file}) {4 * needed}"'
            return Wrong(f"{size:.0f} bytes of {needed} that twice the link times 50 us need", fix, seen)
    return None


CHECK = Check(
    "tcp-buffers",
    "warning",
    "TCP's buffers let one stream fill the link over a round trip of 50 us",
    why="a stream stops at the buffer divided by the round trip",
    source="esnet/iperf#375, #1664",
    look=each(r"interface\.((?!lo\.).+)\.speed_bits_per_s", _judge),
)
