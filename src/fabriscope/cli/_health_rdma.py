"""Which ways to RDMA are open on this machine: devices, the kernel's own drivers in software, guests, KVM."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from fabriscope.cli._health import Check
from fabriscope.hosts import access
from fabriscope.model import search_paths
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.host import HERE

_KVM_GET_API_VERSION = 0xAE00
_DEVICES = Path("/sys/class/infiniband")
_TIMEOUT_S = 20.0


def ways() -> Iterator[Check]:
    """Look at each way; none of them is needed where no plan speaks verbs."""
    devices = sorted(path.name for path in _DEVICES.glob("*"))
    yield Check("RDMA", "devices", "ok" if devices else "warning", ", ".join(devices) or "none")
    for name, module in (("Soft RoCE", "rdma_rxe"), ("iWARP", "siw")):
        has, why = _has_module(module)
        kind = "soft-roce" if module == "rdma_rxe" else "iwarp"
        fix = f"`fabriscope fabric up {kind} --interface NAME` makes a device" if has else None
        yield Check("RDMA", f"{name} by this kernel", "ok" if has else "warning", why, fix)
    yield _guests()
    yield _kvm()


def _has_module(module: str) -> tuple[bool, str]:
    if Path(f"/sys/module/{module}").exists():
        return True, f"{module} is loaded"
    program = shutil.which("modprobe", path=search_paths.programs())
    if program is None:
        return False, f"{module} is not loaded, and there is no modprobe to look for it"
    if access.run(HERE, (program, "-n", "-q", module), _TIMEOUT_S).exit_status == 0:
        return True, f"{module} can be loaded"
    return False, f"this kernel has no {module}"


def _guests() -> Check:
    from fabriscope.lab import guest_kernel

    try:
        return Check("RDMA", "guests with a kernel of their own", "ok", f"they boot {guest_kernel.find()}")
    except FabriscopeError as error:
        lacking = "; ".join(guest_kernel.missing_programs())
        return Check("RDMA", "guests with a kernel of their own", "warning", error.what, lacking or error.fix)


def _kvm() -> Check:
    """Ask KVM for its version, which is all that can be told without starting a machine."""
    try:
        device = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        return Check("RDMA", "KVM", "warning", f"/dev/kvm cannot be opened: {error.strerror}")
    try:
        version = fcntl.ioctl(device, _KVM_GET_API_VERSION)
    except OSError as error:
        return Check("RDMA", "KVM", "warning", f"/dev/kvm does not answer: {error.strerror}")
    finally:
        os.close(device)
    return Check("RDMA", "KVM", "untried", f"/dev/kvm answers (version {version}); fabriscope does not use it")
