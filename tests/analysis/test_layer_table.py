"""The table of layers: every layer has what the rooms ask of it, and a plug-in's has defaults that refute nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, ROCE, Step, scene, sends, soft, tcp, wire_up
from tests.analysis.hand_watches import SOFT

from fabriscope.adapters.engine import ADAPTER
from fabriscope.analysis.proof.books import balance
from fabriscope.model.case import Entry
from fabriscope.model.counters import PROVED
from fabriscope.model.fabric import RDMA_TRANSPORTS
from fabriscope.model.layers import INTER, INTRA, LAYERS, Carrier, Headers, layer_of, layers_over


def test_layers_stand_in_the_order_of_reports_under_their_own_names() -> None:
    assert list(LAYERS)[:5] == ["tcp", "mpi", "shm", "verbs", "null"]
    assert all(layer.name == name for name, layer in LAYERS.items())
    assert len({layer.label for layer in LAYERS.values()}) == len(LAYERS)


@pytest.mark.parametrize("name", LAYERS)
def test_what_a_layer_is_agrees_with_itself(name: str) -> None:
    layer = LAYERS[name]
    assert set(layer.placements) <= {INTER, INTRA}
    assert layer.carrier is not Carrier.ANY, "of our own we know what carries them"
    assert not layer.needs_rdma or layer.headers is Headers.RDMA
    assert not layer.reaches_itself or INTRA in layer.placements
    if layer.carrier is Carrier.MEMORY:
        assert layer.placements == (INTRA,)
        assert layer.carried_by(None, is_inter=False) == "shm"


def test_libfabric_is_one_transport_of_the_engine_and_a_layer_for_each_provider() -> None:
    names = layers_over("libfabric")
    assert [layer_of(name).provider for name in names] == ["tcp", "shm", "verbs", "efa", "cxi", "opx"]
    assert layers_over("tcp") == ("tcp",)
    assert layers_over("of-a-plug-in") == ("of-a-plug-in",)


@pytest.mark.parametrize(
    ("moved", "carried_by"), [(soft(20 * MB), f"RDMA over {SOFT}"), (tcp(20 * MB), "tcp over eth0")]
)
def test_a_layer_of_a_plug_in_over_roce_is_proved_whichever_way_it_went(moved: Step, carried_by: str) -> None:
    asked = replace(ROCE, transport=layer_of("of-a-plug-in").carried_by("roce", is_inter=True))
    books = balance(scene(moved, wire_up).watches(), sends(asked, 20 * MB))
    assert (books.verdict, books.carried_by) == (PROVED, carried_by), books.because


def test_a_layer_of_a_plug_in_has_defaults_and_its_own_name() -> None:
    layer = layer_of("of-a-plug-in")
    assert (layer.label, layer.transport, layer.placements) == ("of-a-plug-in", "of-a-plug-in", (INTER, INTRA))
    assert Entry("of-a-plug-in", "roce", "inter", ("a", "b")).label() == "roce · of-a-plug-in"
    assert [layer.carried_by(name, is_inter=True) for name in RDMA_TRANSPORTS] == ["", "", ""]
    assert layer.carried_by("tcp", is_inter=True) == "tcp"
    assert layer.copying_threads(INTER) == layer.copying_threads(INTRA) == 0
    assert ADAPTER.layers is None, "the engine measures whatever was added to it"
