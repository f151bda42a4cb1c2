"""How wide are the intervals of the three rules? Computed; nothing is drawn by chance.

python -m campaigns.statistics.widths

The first column is half of Student's 95 % interval of a mean, in standard deviations between blocks. The others say how
many times as wide an interval is: by the group-sequential t of a plan of at most 10 and of at most 50 blocks,
anytime-valid at 95 %, and anytime-valid at 99.5 %, which a lead needs in a run that has not ended. A dash: no interval.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

from fabriscope.analysis.numbers.evidence import ANYTIME, CONFIDENCE, SEQUENTIAL, half_width
from fabriscope.analysis.values.stopping import ON_THE_WAY

BLOCKS = (2, 3, 4, 5, 10, 30, 50)
PLANS = (10, 50)
NOTHING = "\N{EN DASH}"


def times_as_wide(blocks: int, method: str, confidence: float = CONFIDENCE, horizon: int = 0) -> str:
    """Return how many times as wide as Student's 95 % interval another is; NOTHING where there is none."""
    width = half_width(blocks, 1.0, method, confidence, horizon) / half_width(blocks, 1.0)
    return f"{width:.2f}" if math.isfinite(width) else NOTHING


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    plans = [f"group-sequential, at most {most}" for most in PLANS]
    on_the_way = 1 - ON_THE_WAY
    heads = ["blocks", "Student's, half", *plans, "anytime-valid", f"anytime-valid, {on_the_way:.1%}"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for blocks in BLOCKS:
        cells = [str(blocks), f"{half_width(blocks, 1.0):.2f}"]
        for most in PLANS:
            cells.append(times_as_wide(blocks, SEQUENTIAL, horizon=most) if blocks <= most else NOTHING)
        cells += [times_as_wide(blocks, ANYTIME), times_as_wide(blocks, ANYTIME, on_the_way)]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    sys.stdout.writelines(f"{line}\n" for line in lines())


if __name__ == "__main__":
    main()
