"""How large TCP lets a send buffer grow."""

from __future__ import annotations

from fabriscope.knobs.knob import of_script, size

_PATH = "/proc/sys/net/ipv4/tcp_wmem"
KNOB = of_script(
    "tcp_send_buffer",
    "greatest send buffer that TCP makes by itself, in bytes",
    ("cat", _PATH),
    r"^\d+\s+\d+\s+(\d+)$",
    f'printf "%s\\t%s\\n" "$(cut -f1,2 {_PATH})" "$1" > {_PATH}',
    size(4096),
    "host",
    "tcp.send_buffer_bytes_max",
)
