"""Which priorities a card pauses one by one (PFC), through the kernel's DCB."""

from __future__ import annotations

import re

from fabriscope.knobs.knob import Setting, of_interface_scripts

_READ = (
    'text=$(dcb -j pfc show dev "$1") || exit 1; '
    'flags=$(printf %s "$text" | tr -d " \\n" | sed -n \'s/.*"prio_pfc":\\[\\([a-z,]*\\)\\].*/\\1/p\'); '
    '[ -n "$flags" ] || { echo "dcb tells no priorities of $1" >&2; exit 1; }; '
    "at=0; on=; for flag in $(echo \"$flags\" | tr , ' '); do "
    '[ "$flag" = true ] && on="$on${on:+/}$at"; at=$((at + 1)); done; '
    'echo "${on:-none}"'
)
_SET = (
    'words=all:off; for at in $(echo "$2" | tr / " "); do [ "$at" = none ] || words="$words $at:on"; done; '
    'dcb pfc set dev "$1" prio-pfc $words'
)


def _priorities(value: Setting) -> str:
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"none|[0-7](/[0-7])*", text):
        raise ValueError(f"{text!r} are no priorities from 0 to 7, such as 3 or 3/4, and not none")
    return "none" if text == "none" else "/".join(sorted(set(text.split("/"))))


KNOB = of_interface_scripts(
    "pfc_priorities",
    "priorities that are paused one by one (PFC), as 3/4, or none; the link may go down for a moment",
    _READ,
    _SET,
    _priorities,
    is_mild=False,
)
