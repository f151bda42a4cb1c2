"""The names that plans may use in this installation."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope import engine_binary
from fabriscope import plan as plans
from fabriscope.hosts import allocation
from fabriscope.knobs import readers
from fabriscope.lab.broken import FAULTS
from fabriscope.lab.presets import PRESETS
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.layers import LAYERS, Carrier, layers_over
from fabriscope.registry import discover


def vocabulary() -> plans.Vocabulary:
    """Return the names that plans may use in this installation, the engine's own plug-ins among them."""
    job = allocation.find()
    instruments = discover("adapters", "ADAPTER")
    built_in = engine_binary.list_plugins()
    transports = built_in.transports | {"tcp", "shm", "mpi"}
    services = {name for name, layer in LAYERS.items() if layer.instrument}
    ours = {layer.transport for layer in LAYERS.values() if layer.carrier is not Carrier.NOTHING} - services
    left_out = {
        name: built_in.left_out.get(name) or f"it does not know the transport {name}: install a newer one"
        for name in {*ours, *built_in.left_out} - transports
    }
    return plans.Vocabulary(
        benchmarks=frozenset(BENCHMARKS) | built_in.benchmarks,
        instruments=frozenset(instruments.plugins),
        layers=frozenset(_by_layer(dict.fromkeys(transports - {"null"}, ""))) | services,
        presets=frozenset(PRESETS),
        allocation=job.hosts if job else None,
        instrument_layers={name: one.layers for name, one in instruments.plugins.items() if one.layers is not None},
        faults=frozenset(FAULTS),
        knobs=readers(),
        left_out=_by_layer(left_out),
        missing_here=_by_layer(built_in.missing_library),
    )


def _by_layer(of_transports: Mapping[str, str]) -> dict[str, str]:
    """Return what is said of the engine's transports, said of the layers of plans, of which libfabric has several."""
    return {layer: text for name, text in of_transports.items() for layer in layers_over(name)}
