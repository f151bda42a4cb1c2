"""A plan as text is run, and its data come back."""

from __future__ import annotations

import threading
from pathlib import Path

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.model.run_data import RunData
from fabriscope.progress import QuietProgress
from fabriscope.running import run
from fabriscope.running.vocabulary import vocabulary


def measured(text: str, folder: Path) -> RunData:
    """Return what a run of the plan kept."""
    (folder / "plan.yaml").write_text(text)
    plan = plans.load(folder / "plan.yaml", vocabulary())
    run.start(plan, folder / "run", QuietProgress(), threading.Event())
    return store.open_run(folder / "run").read()
