"""How many blocks say something: what plans promise and verdicts are taken by."""

from __future__ import annotations

AUTO = "auto"
"""In place of a number of launches: the run chooses it."""
LEAST_BLOCKS = 3
"""Two blocks agree by chance too often: fewer than three decide nothing, and nobody looks before."""
PILOT_BLOCKS = 2
"""Of a run that chooses how many: one cannot tell a launch's own level from its entry's."""
USUAL_BLOCKS = 5
"""Of a plan that does not say how many, and of a run that cannot choose."""
MOST_CHOSEN_BLOCKS = 50
