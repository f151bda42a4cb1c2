"""The traffic class of RoCE connections that the kernel's connection manager makes, as cma_roce_tos sets it."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_interface_scripts

_FIND = (
    "for path in /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/0; do "
    '[ "$(cat "$path" 2>/dev/null)" = "$1" ] || continue; '
    "port=${path%/gid_attrs/ndevs/0}; port=${port##*/}; "
    "device=${path#/sys/class/infiniband/}; device=${device%%/*}; break; done; "
    '[ -n "$device" ] || { echo "$1 is the interface of no RDMA device" >&2; exit 1; }; '
    "[ -d /sys/kernel/config/rdma_cm ] || "
    '{ echo "there is no /sys/kernel/config/rdma_cm: load rdma_cm and mount configfs" >&2; exit 1; }; '
    'made=/sys/kernel/config/rdma_cm/$device; mkdir -p "$made" || exit 1; '
    "file=$made/ports/$port/default_roce_tos; "
)
_REMOVE = 'rmdir "$made" 2>/dev/null; '
"""What is made in configfs is a view of the device, which keeps its value when that is removed again."""
_READ = f'{_FIND}value=$(cat "$file") || exit 1; {_REMOVE}echo "$value"'
_SET = f'{_FIND}echo "$2" > "$file"; status=$?; {_REMOVE}exit $status'

KNOB = of_interface_scripts(
    "roce_traffic_class",
    "traffic class (DSCP and ECN bits) of RoCE connections by the kernel's connection manager: 0 to 255",
    _READ,
    _SET,
    number(0, 255),
)
