"""What a tuning's launches measured: for each point the logarithm of speed, by configuration and block."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabriscope.analysis.comparing.comparisons import curves_of, sign_of
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import planned_cases
from fabriscope.analysis.proof.transport import without_refuted
from fabriscope.analysis.values.launch_values import all_launch_values
from fabriscope.model.run_data import RunData
from fabriscope.model.tuning import Trials


@dataclass(frozen=True)
class Point:
    """A curve of the tuned fabric, as it is, at one size in one metric."""

    curve: Curve
    metric_id: str
    size_bytes: int

    @property
    def is_rate(self) -> bool:
        """Return whether more is faster."""
        return sign_of(self.metric_id) > 0


@dataclass(frozen=True)
class Record:
    """The rounds of a tuning, and what they told of one point."""

    rounds: tuple[Trials, ...]
    blocks: tuple[frozenset[int], ...]
    """Of each round."""
    logs: Mapping[str, Mapping[int, float]]
    """Fabric, as it is or as it was tried, to block to the logarithm of speed."""


Points = dict[Point, dict[str, dict[int, float]]]
"""Point to fabric to block to the logarithm of its speed: of a rate its own, of a time that of its inverse."""


def points_of(run: RunData) -> Points:
    """Return the values of all launches over the tuned fabric, as it is and as it was tried."""
    trials = run.manifest.trials
    if not trials:
        return {}
    base = trials[0].fabric
    tried = {name for one in trials for name in one.configurations}
    found: Points = {}
    values = without_refuted(run, all_launch_values(run, tried=True))
    for key, sizes in curves_of(values).items():
        fabric = key.curve.fabric
        if fabric is None or fabric not in {base, *tried} or key.curve.twin or key.curve.placement != "inter":
            continue
        for size, blocks in sizes.items():
            point = Point(replace(key.curve, fabric=base), key.metric_id, size)
            sign = sign_of(key.metric_id)
            logs = {block: sign * math.log(value) for block, value in blocks.items()}
            found.setdefault(point, {})[fabric] = logs
    return found


def objective_of(run: RunData, points: Points) -> Point | None:
    """Return the point that is to become faster; None where nothing has been measured of it."""
    case_id = run.manifest.trials[0].objective
    case = next((one for one in planned_cases(run) if one.case_id == case_id), None)
    if case is None:
        return None
    return next((one for one in points if (one.curve, one.size_bytes) == (case.curve, case.message_size_bytes)), None)


def record_of(run: RunData, points: Points, point: Point) -> Record:
    """Return what the rounds of a run's tuning told of one point."""
    numbers = [one.round for one in run.manifest.additions if one.trials is not None]
    blocks = {
        number: frozenset(line.block for line in run.manifest.schedule if line.round == number) for number in numbers
    }
    return Record(run.manifest.trials, tuple(blocks.values()), points.get(point, {}))


def is_whole(run: RunData, place: int) -> bool:
    """Return whether all launches of a round, counted from 0 or from the end, have ended, well or not."""
    number = [one.round for one in run.manifest.additions if one.trials is not None][place]
    ended = {record.launch_id for record in run.journal}
    return all(line.launch_id in ended for line in run.manifest.schedule if line.round == number)
