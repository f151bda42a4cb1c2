"""What a lab's switch is that the plan does not say is changed in launches of its own, and put back."""

from __future__ import annotations

import threading
from pathlib import Path

from fabriscope import store
from fabriscope.model.fabric import Fabric
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running import causes, run
from fabriscope.running.vocabulary import vocabulary

PLAN = """
name: strayed
hosts: node[1-2]
fabrics:
  wire:
    lab:
      preset: ethernet-100
      delay: 2ms
      broken: {far: node2, small-buffer: node1, loss: node1, coalescing: node2}
layers: [tcp]
benchmarks: {ping_pong: {sizes: [8]}}
launches: 1
budget: 1s
intervene: true
floor: false
"""


def test_strays_stand_before_findings_of_hosts_and_need_no_host_that_differs() -> None:
    fabric = Fabric("a", {"n1": "eth0", "n2": "eth0"})
    stray = ("switch_delay", "5000", "switch_delay is 7000 ns, and 5000 ns in the plan")
    (cause,) = causes.found({"a": fabric}, {}, {"a": [stray]})
    assert (cause.setting, cause.value, cause.name) == ("switch_delay", "5000", "a-switch_delay-5000")
    more = causes.with_fabrics({"a": fabric}, [cause])
    assert more["a-switch_delay-5000"].knobs == {"switch_delay": "5000"}
    assert causes.begun(more) == [cause]


def test_a_switch_that_is_not_as_planned(labs: None, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    plan = load(tmp_path / "plan.yaml", vocabulary())
    run.start(plan, tmp_path / "run", QuietProgress(), threading.Event())
    data = store.open_run(tmp_path / "run").read()
    changed = {name: dict(one.knobs) for name, one in data.manifest.fabrics.items() if one.instead_of}
    assert changed == {
        "wire-switch_delay-2000000": {"switch_delay": "2000000"},
        "wire-switch_buffer-131072": {"switch_buffer": "131072"},
        "wire-switch_loss-0": {"switch_loss": "0"},
        "wire-switch_coalesce-none": {"switch_coalesce": "none"},
    }
    assert {record.status for record in data.journal} == {"ok"}
