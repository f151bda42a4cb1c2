"""How long libfabric's queues are over verbs: an endpoint of ours speaks to one peer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.adapters.test_foreign import CONTEXT, launch

from fabriscope.adapters.engine import ADAPTER


@pytest.mark.parametrize(
    ("layer", "told"), [("libfabric-verbs", "2"), ("libfabric-tcp", None), ("verbs", None), ("tcp", None)]
)
def test_every_rank_is_told_of_one_peer(layer: str, told: str | None) -> None:
    case = {"benchmark": "many_to_one", "message_size_bytes": 8192}
    asked = launch("engine", layer, case, hosts=("a", "b", "b"))
    commands = ADAPTER.commands(asked, replace(CONTEXT, engine="/x/engine"))
    assert [command.env.get("FI_UNIVERSE_SIZE") for command in commands] == [told] * 3
