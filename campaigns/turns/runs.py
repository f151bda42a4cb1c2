"""Small real runs in the lab, one after the other, and what their launches say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from fabriscope import store
from fabriscope.analysis.comparing.comparisons import KINDS, curves_of, families
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import NO_TURNS, turn_series
from fabriscope.model.run_data import RunData

TIMEOUT_S = 900
Point = tuple[str, str, int]
"""What is measured, in words, its metric and message size."""


def measured(plan: Mapping[str, Any], folder: Path, name: str) -> RunData:
    """Return a new run of a plan; a measurement that fails ends the campaign."""
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({**plan, "name": name}))
    words = [sys.executable, "-m", "fabriscope", "run", str(path), "-o", str(folder / name), "-q"]
    subprocess.run(words, check=True, capture_output=True, timeout=TIMEOUT_S)
    return store.open_run(folder / name).read()


def medians(run: RunData) -> dict[Point, float]:
    """Return the median launch of every point."""
    curves = curves_of(launch_values(run))
    return {
        (key.curve.label(), key.metric_id, size): float(np.median(list(of_blocks.values())))
        for key, points in curves.items()
        for size, of_blocks in points.items()
    }


def control_spreads(run: RunData) -> dict[Point, tuple[float, float]]:
    """Return the deviation between blocks of the log ratio of a thing with itself: of launches, and of turns."""
    values, found = launch_values(run), {}
    plain = families(values, KINDS[CONTROL], Rules(), NO_TURNS)
    in_turns = families(values, KINDS[CONTROL], Rules(), turn_series(run))
    for of_launches, of_turns in zip(plain, in_turns, strict=True):
        for one, other in zip(of_launches.spots, of_turns.spots, strict=True):
            place = (of_launches.pair.left_curve.label(), of_launches.pair.metric_id, one.size_bytes)
            found[place] = (one.evidence.spread, other.evidence.spread)
    return found


def load() -> str:
    """Return the machine's load, as the docs state it."""
    return " ".join(f"{one:.1f}" for one in os.getloadavg())
