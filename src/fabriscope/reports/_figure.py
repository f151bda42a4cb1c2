"""One figure, before it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.papers.selections import SIZE
from fabriscope.analysis.values.launch_values import LaunchValue
from fabriscope.analysis.values.trust import GradedEstimate

CURVES = "curves"


@dataclass(frozen=True)
class Figure:
    """One figure: what it shows and of what it is drawn."""

    figure_id: str
    title: str
    kind: str
    """CURVES, or the kind of the comparison."""
    metric_id: str
    rows: Sequence[GradedEstimate] = ()
    values: Sequence[LaunchValue] = ()
    """Of every launch, for curves."""
    ratios: Sequence[Compared] = ()
    """What a figure of a comparison is drawn of, in place of the rows."""
    by_series: bool = False
    """Colours tell settings apart, not fabrics."""
    axis: str = SIZE
    """What the message size of the rows and values holds, where a figure has another axis."""
    hues: Mapping[tuple[str | None, str], str] = field(default_factory=dict)
    """Fabric and ranks to what a colour stands for, where neither alone tells it."""

    def hue_of(self, case: PlannedCase) -> str | None:
        """Return what the colour of a case stands for, where that is not its fabric or its setting."""
        return self.hues.get((case.fabric, case.ranks))
