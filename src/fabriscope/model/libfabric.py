"""The layers of libfabric: one for each of its providers, as each of them is another way for the bytes."""

from __future__ import annotations

PREFIX = "libfabric-"
TRANSPORT = "libfabric"
"""What the engine calls all of them; the provider is an option of the case."""
PROVIDERS = ("tcp", "shm", "verbs", "efa", "cxi", "opx")
"""As `fi_info -l` lists them. opx is Omni-Path's, cxi Slingshot's."""
LAYERS = tuple(PREFIX + provider for provider in PROVIDERS)
LABELS = {layer: f"libfabric ({provider})" for layer, provider in zip(LAYERS, PROVIDERS, strict=True)}


def provider_of(layer: str | None) -> str | None:
    """Return the provider that a layer names; None for a layer that is not libfabric's."""
    return layer.removeprefix(PREFIX) if layer is not None and layer in LAYERS else None


def placements_of(layer: str) -> tuple[str, ...]:
    """Return where the ranks of a layer may be: memory is of one host, and a network card is for two."""
    if layer in ("shm", PREFIX + "shm"):
        return ("intra",)
    return ("inter", "intra") if provider_of(layer) in (None, "tcp") else ("inter",)
