"""How large TCP lets a receive buffer grow."""

from __future__ import annotations

from fabriscope.knobs.knob import of_script, size

_PATH = "/proc/sys/net/ipv4/tcp_rmem"
KNOB = of_script(
    "tcp_receive_buffer",
    "greatest receive buffer that TCP makes by itself, in bytes",
    ("cat", _PATH),
    r"^\d+\s+\d+\s+(\d+)$",
    f'printf "%s\\t%s\\n" "$(cut -f1,2 {_PATH})" "$1" > {_PATH}',
    size(4096),
    "host",
    "tcp.receive_buffer_bytes_max",
)
