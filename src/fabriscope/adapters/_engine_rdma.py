"""What our engine's ranks are told of RDMA: their port, and how long libfabric makes its queues."""

from __future__ import annotations

from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import Layer


def library_words(layer: Layer) -> dict[str, str]:
    """Return what libfabric is told of its queues over verbs, by its variables.

    Each of our endpoints speaks to one peer. Unless it is told so, libfabric makes its completion queue for 256 peers,
    and Soft RoCE has none that is as long.
    """
    return {"FI_UNIVERSE_SIZE": "2"} if layer.provider == "verbs" else {}


def port_words(fabric: Fabric | None, host: str) -> list[str]:
    """Return which device, port and GID a rank takes, where the fabric says; the engine has a rule of its own."""
    port = fabric.rdma_ports.get(host) if fabric is not None else None
    if port is None:
        return []
    words = ["--rdma-device", port.device, "--hca-port", str(port.hca_port)]
    return words + (["--gid-index", str(port.gid_index)] if port.gid_index is not None else [])
