"""The campaign of random incasts: plans that can be run, and one of them measured."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from campaigns.incast import headroom, knee
from campaigns.incast.__main__ import Point, drawn

from fabriscope import plan as plans
from fabriscope.running.vocabulary import vocabulary

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("number", range(1, 31))
def test_what_is_drawn_is_a_plan(number: int, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(drawn(number, 2026)))
    assert drawn(number, 2026) == drawn(number, 2026) != drawn(number, 1)
    assert len(plans.load(path, vocabulary()).section.fabrics) == 3


@pytest.mark.parametrize(
    ("sent", "carried", "again", "impossible", "count"),
    [
        (1000, 1000, 0, False, 0),
        (1000, 1009, 0, False, 0),
        (1000, 1011, 0, False, 1),
        (1000, 1500, 600, False, 0),
        (1000, 1700, 600, False, 1),
        (1000, 900, 600, False, 1),
        (0, 0, 0, False, 1),
        (None, 1000, 0, False, 0),
        (1000, 1000, 0, True, 1),
    ],
)
def test_a_point_is_judged(sent: int | None, carried: int, again: int, impossible: bool, count: int) -> None:
    point = Point(1, "a.tcp.inter", 8, 2, "holds", 0.9, impossible, sent, carried, again)
    assert len(list(point.problems())) == count


@pytest.mark.parametrize(("buffer_bytes", "senders"), [(17_176, 3), (32 << 10, 3), (64 << 10, 5), (96 << 10, 7)])
def test_the_knee_of_a_buffer_by_hand(buffer_bytes: int, senders: int) -> None:
    # An answer is 4 messages of 4096 bytes in three segments each: 4 (4096 + 3 * 66) = 17,176 bytes in the buffer.
    assert knee.by_formula(buffer_bytes) == senders


def test_the_plan_of_headrooms_is_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(headroom.plan(50, 3)))
    assert set(plans.load(path, vocabulary()).section.fabrics) == {"enough", "little"}


@pytest.mark.parametrize(
    ("share", "dropped", "of_little", "said"),
    [
        (0.98, 0, 5, []),
        (0.96, 0, 5, ["enough headroom: [0.96] of the wire at 8 B"]),
        (0.98, 1, 5, ["enough headroom dropped 1 frames with 2 streams"]),
        (0.98, 0, 0, ["too little headroom dropped nothing"]),
    ],
)
def test_headrooms_are_judged(share: float, dropped: int, of_little: int, said: list[str]) -> None:
    point = {"size_bytes": 8, "streams": 2, "share_of_wire": share}
    points = [{**point, "fabric": "enough", "dropped_frames": dropped}]
    points.append({**point, "fabric": "little", "dropped_frames": of_little})
    assert headroom.problems(points) == said
