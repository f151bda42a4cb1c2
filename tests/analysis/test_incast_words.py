"""What of many to one stands in the first sentences: each fabric's state, and the windows that are refused."""

from __future__ import annotations

import pytest

from fabriscope.analysis.answer import answer
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.incast.evidence import Evidence
from fabriscope.analysis.incast.incast_words import incast_sentences, refused_sentence
from fabriscope.analysis.incast.points import UNDECIDED, UNFAIR, IncastCurve, IncastPoint
from fabriscope.analysis.incast.states import knee_of, state_of
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.streams import StreamWindow

MS = 1_000_000
MB_PER_S = 125_000.0
DROPS = Evidence(9487, 0, 0, 14_347_474)


def points(fairness: float, half: float = 0.4) -> tuple[IncastPoint, ...]:
    """Return 1 and 8 streams whose sum falls from 775 to 549 Mb/s, which the launches do not tell from chance."""
    values = ((1, 775 * MB_PER_S, 1.0, 775 * MB_PER_S), (8, 549 * MB_PER_S, fairness, 0.535 * MB_PER_S))
    return tuple(
        IncastPoint(
            "c", streams, Centre(rate, rate * (1 - half), rate * (1 + half)), 941 * MB_PER_S, slowest, jain, 1000.0,
            1.0, 3, 0, DROPS,
        )
        for streams, rate, jain, slowest in values
    )  # fmt: skip


def curve(fabric: str, fairness: float, size: int = 65536) -> IncastCurve:
    told = points(fairness)
    knee = knee_of(told)
    state, because = state_of(told, knee)
    of = Curve("inter", fabric, "tcp", None, "engine", "many_to_one", "", "", "")
    return IncastCurve(of, size, told, knee, state, because)


def window(launch_id: int, skew_ms: int) -> StreamWindow:
    return StreamWindow(
        launch_id, 1, "c", 1, 300 * MS, 10 * MS, 0, (0,), skew_ms * MS, {1: (1,), 2: (1,)}, {1: 0, 2: 0}
    )  # fmt: skip


def test_streams_are_unfair_though_the_launches_do_not_tell_whether_the_sum_falls() -> None:
    one = curve("shallow", 0.35)
    assert one.state == UNFAIR
    assert "Jain's index is 0.35 with 8 streams, the slowest of which has 535 kb/s; the aggregate falls" in one.because
    assert "the launches do not tell whether it did; 18974 frames dropped, 28.7 MB sent again" in one.because
    assert curve("deep", 0.86).state == UNDECIDED


def test_the_lead_sets_the_fabrics_beside_each_other_the_worst_first() -> None:
    (said,) = incast_sentences([curve("deep", 0.86), curve("shallow", 0.35)])
    assert said == (
        "Many to one, 64 KiB: shallow · TCP is unfair (549 Mb/s with 8 streams, Jain's index 0.35, the slowest stream "
        "535 kb/s); deep · TCP is undecided, the aggregate falls from 775 Mb/s with 1 to 549 Mb/s with 8, and the "
        "launches do not tell whether it did (549 Mb/s with 8 streams, Jain's index 0.86, the slowest stream 535 kb/s)."
    )
    assert answer([], [], [], [], [], [curve("deep", 0.86), curve("shallow", 0.35)])[0] == said
    many = list(incast_sentences([curve("deep", 0.86, size) for size in (1024, 2048, 4096)]))
    assert many[-1] == "1 more result of many to one in their table."


@pytest.mark.parametrize(
    ("skews", "said"),
    [
        ({1: (0, 29), 2: (3,)}, ""),
        ({1: (0,), 2: (145,)}, "1 of 2 windows is refused, and launch 2 lacks an aggregate: all streams were sent at"),
        ({1: (40, 145), 2: (60,), 3: (0,)}, "3 of 4 windows are refused, and launches 1 and 2 lack an aggregate: all"),
        ({1: (0, 145)}, "1 of 2 windows is refused: all streams were sent at once in less than 90% of the window (at"),
        (
            dict.fromkeys(range(1, 9), (145,)),
            "8 of 8 windows are refused, and launches 1, 2, 3, 4, 5, 6 and 2 more lack",
        ),
    ],
)
def test_what_is_refused_is_counted_with_its_launches_and_the_reason(
    skews: dict[int, tuple[int, ...]], said: str
) -> None:
    told = refused_sentence({(launch, "c"): [window(launch, one) for one in of] for launch, of in skews.items()})
    assert told.startswith(said)
    assert bool(told) is bool(said)
    if said and max(max(of) for of in skews.values()) == 145:
        assert told.endswith(
            "(at worst 52% of 300 ms), so that their sum is none; a longer `duration` or a quieter machine helps."
        )
