"""Two ranks find each other and measure while strangers knock at every port of rank 0, as fast as two threads can."""

from __future__ import annotations

import pytest
from campaigns.rendezvous_strangers.__main__ import trial
from campaigns.rendezvous_strangers.kinds import KINDS

from fabriscope import engine_binary


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_among_strangers_completes(kind: str) -> None:
    outcome = trial(str(engine_binary.find_engine()), kind, threads=2, pause_s=0.0, seed=1)
    assert outcome.is_complete, outcome.reason
    assert outcome.connections > 0
