"""How a card corrects errors of its link (forward error correction)."""

from __future__ import annotations

from fabriscope.knobs.knob import of_interface_scripts, one_of

_READ = (
    'text=$(ethtool --show-fec "$1") || exit 1; '
    "kind=$(printf '%s\\n' \"$text\" | sed -n 's/^.*onfigured FEC encodings: *//p' | tr A-Z a-z | sed 's/ *$//'); "
    '[ -n "$kind" ] || { echo "ethtool tells no FEC of $1" >&2; exit 1; }; '
    'echo "$kind" | tr " " +'
)
"""Of several, `auto rs`, all are told, and no value of a plan is that: what cannot be said is not set."""

KNOB = of_interface_scripts(
    "fec",
    "forward error correction: auto, off, rs or baser, at both ends alike; the link goes down for a moment",
    _READ,
    'ethtool --set-fec "$1" encoding $(echo "$2" | tr + " ")',
    one_of("auto", "off", "rs", "baser"),
    is_mild=False,
)
