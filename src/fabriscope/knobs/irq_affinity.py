"""Which processors take the interrupts of a card."""

from __future__ import annotations

from fabriscope.knobs.knob import Setting, of_interface_scripts
from fabriscope.model import processors

_EACH = (
    'for path in /sys/class/net/"$1"/device/msi_irqs/*; do number=${path##*/}; '
    '[ "$number" != "*" ] || { echo "$1 has no interrupts of its own" >&2; exit 1; }; '
)
_FILE = '/proc/irq/"$number"/smp_affinity_list'
_READ = (
    f"every=$({_EACH}cat {_FILE} || exit 1; done) || exit 1; "
    'first=$(echo "$every" | head -n 1); '
    'if echo "$every" | grep -qvxF -- "$first"; then echo "$every" | paste -sd / -; else echo "$first"; fi'
)
"""Prints what all interrupts have, else what each has: what is put back must be the same for each of them."""
_SET = (
    f"rest=$2; {_EACH}"
    "part=${rest%%/*}; "
    '[ "$part" = "$rest" ] || rest=${rest#*/}; '
    f'echo "$part" > {_FILE} || exit 1; done'
)


def _affinity(value: Setting) -> str:
    """Return the processors of all interrupts, or of each one, as the kernel writes lists; raises ValueError."""
    if isinstance(value, bool):
        raise ValueError(f"{value!r} are no processors, such as 0-3")
    parts = [processors.listed(sorted(set(processors.numbers(part)))) for part in str(value).split("/")]
    return parts[0] if len(set(parts)) == 1 else "/".join(parts)


KNOB = of_interface_scripts(
    "irq_affinity",
    "processors that take its interrupts, as 0-3 for all of them, or 0/1/2/3 for each",
    _READ,
    _SET,
    _affinity,
)
