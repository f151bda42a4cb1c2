"""By what a Mellanox card sorts what it receives: the DSCP, or the priority of a tag."""

from __future__ import annotations

from fabriscope.knobs.knob import of_interface_scripts, one_of

_READ = (
    'text=$(mlnx_qos -i "$1") || exit 1; '
    "state=$(printf '%s\\n' \"$text\" | sed -n 's/^ *Priority trust state: \\([a-z]*\\).*/\\1/p'); "
    '[ -n "$state" ] || { echo "mlnx_qos tells no trust of $1" >&2; exit 1; }; '
    'echo "$state"'
)

KNOB = of_interface_scripts(
    "trust",
    "what received frames are sorted by: dscp, or pcp (the priority of a tag)",
    _READ,
    'mlnx_qos -i "$1" --trust "$2"',
    one_of("dscp", "pcp"),
)
